"""Real shells, TAB pressed: words that a running cluster knows, and what odd names come to."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TypeVar

import pytest

from completions.commands import PROGRAMS
from completions.generate import HERE
from kafka_unclean_recovery.emulator import Cluster, Options
from tests.cluster.certificates import authority, issue
from tests.real.waiting import wait_until
from tests.typed import TypedShell

T = TypeVar("T")

BIN = Path(sys.executable).parent
HOSTILE = ["ev`touch pwned`il", "ev$(touch pwned)il", "ev il", "ev*l", "ev'il", "ev;touch pwned"]


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    """Yield the bootstrap servers of four brokers, of which 1 and 4 are down."""
    with Cluster(Options(brokers=4)) as running:
        for topic in ("orders", "orders.eu", "payments"):
            running.create_topic(topic, assignment=[(1, 2, 4, 3)])
        for broker in (1, 4):
            running.kill(broker)
            running.fence(broker)
        yield running.bootstrap_servers


def _in_the_end(complete: Callable[[], T], expected: T) -> None:
    """Check what comes in the end: a busy machine may need more than the second given."""
    found: list[T] = []

    def again() -> bool:
        found.append(complete())
        return found[-1] == expected

    wait_until(again, 60.0, lambda: f"{expected}: {found}")


def _last_word(shell: TypedShell, line: str) -> str:
    return shell.words_after_tab(line)[-1]


def _needed(shell: str) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed; apt-get install {shell} enables this test")


@contextmanager
def _shell(name: str, home: Path, programs: Path = BIN) -> Iterator[TypedShell]:
    """Yield a shell with our completions as packages install them; `home` is empty."""
    _needed(name)
    env = {
        "HOME": str(home),
        "PATH": f"{programs}:{os.environ['PATH']}",
        "INPUTRC": "/dev/null",
        # The shell inherits what other tests of this process may have set.
        "XDG_STATE_HOME": "",
        "XDG_CONFIG_HOME": "",
    }
    if name == "bash":
        command = ["bash", "--norc", "--noprofile", "-i"]
        setup = [f"source {HERE}/{program}.bash" for program in PROGRAMS]
        settings = ("enable-bracketed-paste off", "bell-style none", "show-all-if-ambiguous on")
        setup += [f"bind 'set {setting}'" for setting in settings]
    else:
        command = ["zsh", "-f", "-i"]
        functions = home / "functions"
        functions.mkdir()
        for program in PROGRAMS:
            (functions / f"_{program}").symlink_to(HERE / f"{program}.zsh")
        setup = ["unsetopt prompt_sp beep", f"fpath=({functions} $fpath)"]
        setup += ["autoload -Uz compinit", "compinit -u -D", "bindkey -e"]
    with TypedShell(command, setup, home, env) as shell:
        yield shell


@pytest.mark.parametrize("name", ["bash", "zsh"])
def test_tab_completes_what_a_cluster_knows(name: str, cluster: str, tmp_path: Path) -> None:
    ours = f"kafka-unclean-recovery --bootstrap-server {cluster}"
    care = f"kafka-unclean-recovery aftercare --bootstrap-server={cluster}"
    elect = f"{BIN}/kafka-elect-leaders --bootstrap-server '{cluster}'"
    start = f"kafka-unclean-recovery start-order --bootstrap-server {cluster}"
    stop = f"kafka-unclean-recovery ok-to-stop --bootstrap-server {cluster}"
    named = "kafka-unclean-recovery aftercare --cluster prod"
    _name(cluster, tmp_path)
    with _shell(name, tmp_path) as shell:
        for line, last in (
            (f"{ours} --wait-for-brokers 1,", "1,4"),
            (f"{care} --topics=pay", "--topics=payments"),
            (f"{care} --topics orders.", "orders.eu"),
            (f"{elect} --topic pa", "payments"),
            (f"{ours} --format=js", "--format=json"),
            (f"{start} --gone 1,", "1,4"),
            (f"{stop} --brokers 1,3,4,", "1,3,4,2"),
            (f"{named} --topics orders.", "orders.eu"),
            ("kafka-unclean-recovery aftercare --cluster pro", "prod"),
        ):
            _in_the_end(partial(_last_word, shell, line), last)
    assert not (tmp_path / ".local").exists()


@pytest.mark.parametrize("name", ["bash", "zsh"])
def test_tab_offers_the_journals_of_all_clusters_and_files(name: str, tmp_path: Path) -> None:
    journal = tmp_path / ".local/state/kafka-unclean-recovery/mzpOjM8TQAODl/20261128.jsonl"
    line = "kafka-unclean-recovery aftercare --journal "
    with _shell(name, tmp_path) as shell:
        journal.parent.mkdir(parents=True)
        journal.touch()
        (tmp_path / "here.jsonl").touch()
        shell.words_after_tab(line)
        wait_until(lambda: journal.name in shell.screen(), 60.0, shell.screen)
        _in_the_end(partial(_last_word, shell, f"{line}he"), "here.jsonl")


def _name(cluster: str, home: Path) -> None:
    """Let clusters.toml have the cluster as prod."""
    path = home / ".config" / "kafka-unclean-recovery" / "clusters.toml"
    path.parent.mkdir(parents=True)
    path.write_text(f'[prod]\nbootstrap-server = "{cluster}"\n')


def test_nobody_is_asked_for_a_passphrase_on_the_terminal(cluster: str, tmp_path: Path) -> None:
    identity = issue(authority())
    (tmp_path / "key.pem").write_text(identity.certificate_pem + identity.key_pem("secret"))
    config = tmp_path / "client.properties"
    config.write_text(
        f"security.protocol=SSL\nssl.keystore.type=PEM\nssl.keystore.location={tmp_path}/key.pem\n"
    )
    line = (
        f"kafka-unclean-recovery aftercare --bootstrap-server {cluster} --command-config {config}"
    )
    with _shell("bash", tmp_path) as shell:
        assert shell.words_after_tab(f"{line} --topics pay")[-1] == "pay"
        assert "phrase" not in shell.screen()


@pytest.mark.parametrize("name", ["bash", "zsh", "fish"])
def test_a_name_is_never_evaluated(name: str, tmp_path: Path) -> None:
    """Should the entry ever print such a name: it is one word, quoted, or nothing. A file's name
    is what it is."""
    programs = tmp_path / "programs"
    programs.mkdir()
    stand_in = programs / "kafka-unclean-recovery"
    stand_in.write_text(f"#!/bin/sh\ncat {tmp_path}/name\n")
    stand_in.chmod(0o700)
    line = "kafka-unclean-recovery aftercare --topics ev"
    home = tmp_path / "home"
    home.mkdir()
    with contextlib.ExitStack() as stack:
        shell = None if name == "fish" else stack.enter_context(_shell(name, home, programs))
        for hostile in HOSTILE:
            (tmp_path / "name").write_text(f"{hostile}\n")
            if shell is None:
                assert _fish(line, programs, home) == [hostile]
            else:
                assert shell.words_after_tab(line)[-1] == ("ev" if name == "bash" else hostile)
                (home / hostile).touch()
                files = "kafka-unclean-recovery aftercare --journal ev"
                assert shell.words_after_tab(files)[-1] == hostile
                (home / hostile).unlink()
    assert not list(home.rglob("pwned"))


def _fish(line: str, programs: Path, home: Path) -> list[str]:
    """Return what fish offers behind the line."""
    _needed("fish")
    code = "".join(f"source {HERE}/{program}.fish\n" for program in PROGRAMS)
    done = subprocess.run(
        ["fish", "--no-config", "-c", f"{code}complete -C $argv[1]", line],
        env={"HOME": str(home), "PATH": f"{programs}:{os.environ['PATH']}"},
        cwd=home,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stderr == ""
    return [offered.split("\t")[0] for offered in done.stdout.splitlines()]


def test_fish_completes_what_a_cluster_knows(cluster: str, tmp_path: Path) -> None:
    ours = f"kafka-unclean-recovery --bootstrap-server {cluster}"
    care = f"kafka-unclean-recovery aftercare --bootstrap-server={cluster}"
    elect = f"kafka-elect-leaders --bootstrap-server {cluster}"
    journal = tmp_path / ".local/state/kafka-unclean-recovery/mzpOjM8TQAODl/20261128.jsonl"
    journal.parent.mkdir(parents=True)
    journal.touch()
    _name(cluster, tmp_path)
    for line, offered in (
        (f"{ours} --wait-for-brokers ", ["1", "4", "all"]),
        (f"{care} --topics=ord", ["--topics=orders", "--topics=orders.eu"]),
        (f"{elect} --topic pa", ["payments"]),
        ("kafka-unclean-recovery ok-to-stop --cluster prod --brokers 4,", ["4,1", "4,2", "4,3"]),
        ("kafka-unclean-recovery doctor --cluster ", ["prod"]),
        (f"{care} --journal ", [str(journal)]),
    ):
        _in_the_end(partial(_fish, line, BIN, tmp_path), offered)
