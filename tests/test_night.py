"""`make test-all` with small parts, in a repository of its own."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tests.night.__main__ import count_of, main
from tests.night.parts import PARTS, Part, chosen
from tests.night.stamps import Stamps
from tests.real.waiting import wait_until

ROOT = Path(__file__).parents[1]
TIMEOUT = 60.0
# Each run of a part leaves a line with its name; `red` fails while there is a file `broken`.
LEAVES_A_LINE = "echo {name} >> ../ran; echo '=== {count} passed in 1.20s ==='; {then}"


def _part(name: str, count: int, then: str = "true") -> Part:
    script = LEAVES_A_LINE.format(name=name, count=count, then=then)
    return Part(name, f"what {name} shows", ("sh", "-c", script))


GREEN, LAST = _part("green", 3), _part("last", 4)
RED = _part("red", 20, "[ ! -e ../broken ]")
SMALL = (GREEN, RED, LAST)


@pytest.fixture
def stamps(tmp_path: Path) -> Stamps:
    root = tmp_path / "root"
    root.mkdir()
    _git(root, "init", "--quiet")
    _commit(root)
    return Stamps(root, tmp_path / "stamps")


def _git(root: Path, *arguments: str) -> None:
    who = ("-c", "user.name=Nobody", "-c", "user.email=nobody@localhost")
    subprocess.run(["git", *who, *arguments], cwd=root, check=True)


def _commit(root: Path) -> None:
    _git(root, "commit", "--quiet", "--allow-empty", "--message", "Change nothing")


def _ran(stamps: Stamps) -> list[str]:
    """Return the parts that ran since this was asked last."""
    file = stamps.root.parent / "ran"
    names = file.read_text().split() if file.exists() else []
    file.unlink(missing_ok=True)
    return names


def test_what_passed_on_this_commit_is_not_run_again_unless_asked(stamps: Stamps) -> None:
    for arguments, expected in (
        ([], ["green", "red", "last"]),
        ([], []),
        (["last", "green"], ["green", "last"]),
        (["--again"], ["green", "red", "last"]),
    ):
        assert main(arguments, SMALL, stamps) == 0
        assert _ran(stamps) == expected
    _commit(stamps.root)
    assert main([], SMALL, stamps) == 0
    assert _ran(stamps) == ["green", "red", "last"]


def test_a_part_that_failed_stops_no_other_and_is_run_again(
    stamps: Stamps, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = stamps.root.parent / "broken"
    broken.touch()
    assert main([], SMALL, stamps) == 1
    assert _ran(stamps) == ["green", "red", "last"]
    assert "FAILED" in capsys.readouterr().out
    broken.unlink()
    assert main([], SMALL, stamps) == 0
    assert _ran(stamps) == ["red"]
    *rows, total = capsys.readouterr().out.splitlines()[-4:]
    assert [row.split("  ")[1].split()[0] for row in rows] == ["green", "red", "last"]
    assert [row.count("passed before") for row in rows] == [1, 0, 1]
    assert total.startswith("27 tests passed")


def test_of_a_changed_tree_nothing_is_kept(
    stamps: Stamps, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([GREEN.name], SMALL, stamps) == 0
    (stamps.root / "new").touch()
    for _ in range(2):
        _ran(stamps)
        assert main([], SMALL, stamps) == 0
        assert _ran(stamps) == ["green", "red", "last"]
    assert "The tree has changes" in capsys.readouterr().out


def test_a_part_in_whose_time_the_tree_changed_is_not_kept(stamps: Stamps) -> None:
    changes = _part("changes", 1, "touch new")
    assert main([], (GREEN, changes), stamps) == 0
    (stamps.root / "new").unlink()
    _ran(stamps)
    assert main([], (GREEN, changes), stamps) == 0
    assert _ran(stamps) == ["changes"]


# A shell that is told to end just before it forks `sleep` sees it only when that has ended. This
# one holds the signal back until it asks for it.
WAITS = """
import os, signal, sys
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
print(os.getpid(), "waits", flush=True)
signal.sigwait({signal.SIGINT})
print("cleared")
sys.exit(1)
"""


def test_stopped_it_ends_the_part_and_says_what_is_left(tmp_path: Path) -> None:
    waits, too = (
        Part(name, "what waits shows", (sys.executable, "-c", WAITS), cores=1)
        for name in ("waits", "too")
    )
    script = (
        "import sys; from pathlib import Path; from tests.night.__main__ import *;"
        f"sys.exit(main([], {(GREEN, waits, too, LAST)!r}, Stamps(Path({str(tmp_path / 'root')!r}),"
        f" Path({str(tmp_path / 'stamps')!r}))))"
    )
    (tmp_path / "root").mkdir()
    _git(tmp_path / "root", "init", "--quiet")
    _commit(tmp_path / "root")
    said = tmp_path / "said"
    with said.open("w") as shown:
        run = subprocess.Popen([sys.executable, "-c", script], cwd=ROOT, stdout=shown)
    # By what the run shows of it: the part is running, and the run no longer starts it.
    wait_until(lambda: said.read_text().count(" waits\n") == 2, TIMEOUT, said.read_text)
    groups = [int(group) for group in re.findall(r"(\d+) waits\n", said.read_text())]
    run.send_signal(signal.SIGINT)
    assert run.wait(TIMEOUT) == 130
    assert said.read_text().count("cleared") == 2
    assert said.read_text().splitlines()[-1] == "Stopped. Left: waits, too, last"
    for group in groups:
        with pytest.raises(ProcessLookupError):
            os.killpg(group, 0)


# It ends well once another one is there at the same time.
MEETS = "touch {name}; for _ in $(seq 600); do [ -e {other} ] && exit; sleep 0.1; done; exit 1"


def test_parts_of_one_core_run_by_twos_and_others_alone(stamps: Stamps) -> None:
    left, right = (
        Part(
            name, name, ("sh", "-c", MEETS.format(name=f"../{name}", other=f"../{other}")), cores=1
        )
        for name, other in (("left", "right"), ("right", "left"))
    )
    third = replace(_part("third", 1, "[ ! -e ../wide ]"), cores=1)
    wide = _part("wide", 1, "[ -e ../right ] && touch ../wide; sleep 0.5; rm ../wide")
    assert main([], (left, right, wide, third), stamps) == 0
    assert _ran(stamps) == ["wide", "third"]


def test_what_one_of_two_says_is_told_by_its_name(
    stamps: Stamps, capsys: pytest.CaptureFixture[str]
) -> None:
    says = Part("says", "words", ("printf", "one\ntwo"), cores=1)
    assert main([], (says,), stamps) == 0
    assert "says: one\nsays: two\n\n  says" in capsys.readouterr().out


def test_no_part_is_taken_for_another(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["gren"], SMALL)
    assert "no part is called gren; there are green, red, last" in capsys.readouterr().err


def test_the_parts_have_names_of_their_own_and_are_listed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["--list"]) == 0
    listed = [line.split()[0] for line in capsys.readouterr().out.splitlines()]
    assert listed == [part.name for part in PARTS]
    assert len(set(listed)) == len(listed)


def test_named_parts_come_in_their_order_whatever_passed() -> None:
    assert chosen(SMALL, ["last", "green"], ["last"], again=False) == [GREEN, LAST]


@pytest.mark.parametrize(
    ("closing", "count"),
    [
        ("==== 8790 passed, 3 skipped in 1203.61s (0:20:03) ====", 8790),
        ("== 2 failed, 40 passed, 7 deselected in 3.00s ==", 40),
        ("12 passed in 0.31s", 12),
        ('{"runs": 20, "passed": 3}', 0),
    ],
)
def test_tests_are_counted_by_pytests_closing_line(closing: str, count: int) -> None:
    assert count_of(closing) == count
