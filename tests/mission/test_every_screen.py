"""Each command that shows rows fits into a window of 80 by 24 and of 200 by 50, however many rows
there are: all of them counted, and what to do last."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import dropwhile
from pathlib import Path

import pytest

from benchmarks.outage_process import SETTINGS, make
from kafka_unclean_recovery.emulator import Cluster, Options
from tests.cli.in_process import RECOVERY, invoke
from tests.mission.terminal import TIMEOUT, Screen, Terminal, assert_fits, shows
from tests.mission.test_screens import ELECT, LOOK, SIZES

# Of these sizes the largest takes minutes, and runs with all releases alone (tests/runs.py).
PARTITIONS = (1, 36, 400, 1200)
# For each partition `salvage` brings a file to the disk, which waits for what others write.
SECONDS_A_PARTITION = 0.1


@dataclass(frozen=True)
class Incident:
    """An outage of so many partitions that was ended by an election; broker 1, with the longest
    logs, is still down, and its disk was saved."""

    partitions: int
    cluster: Cluster
    before: Screen
    examined: Screen
    journal: Path
    saved: Path
    plan: Path

    @property
    def server(self) -> tuple[str, str]:
        return "--bootstrap-server", self.cluster.bootstrap_servers

    @property
    def disk(self) -> tuple[str, str]:
        return "--log-dirs", str(self.cluster.log_directory(1))

    def commands(self, home: Path) -> dict[str, tuple[str, ...]]:
        journal = ("--journal", str(self.journal))
        manual = ("--manual-recovery-output-file", str(home / "manual.json"))
        other = ("--log-dirs", str(self.cluster.log_directory(2)))
        return {
            "plan": (*self.disk, *other, *manual),
            "scan-log-dirs": self.disk[1:],
            "start-order": (*self.server, *self.disk),
            "before-start": (*self.server, *self.disk, *journal),
            "salvage": (*self.disk, *journal, "--output", str(home / "saved")),
            "salvage replay": (str(self.saved), *self.server),
            "aftercare": (*self.server, *journal),
            "report": journal[1:],
            "bundle": (*self.server, "--output", str(home / "bundle.tar.gz")),
            "doctor": self.server,
            "watch": (*self.server, "--duration-ms", "1"),
            "quorum inspect": self.disk[1:],
            "ok-to-stop": (*self.server, "--brokers", "2"),
        }


@pytest.fixture(scope="module", params=PARTITIONS)
def incident(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Incident]:
    home = tmp_path_factory.mktemp("incident")
    with (
        Cluster(Options(brokers=3, settings=SETTINGS)) as cluster,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setenv("XDG_STATE_HOME", str(home / "state"))
        make(cluster, request.param)
        for broker in (2, 3):
            cluster.start(broker)
        cluster.wait_until(lambda e: all(map(e.state.active, (2, 3))))
        disk = ("--log-dirs", str(cluster.log_directory(1)))
        server = ("--bootstrap-server", cluster.bootstrap_servers)
        before = Terminal((80, 24), "before-start", *server, *disk).finish()
        examined = Terminal((80, 24), "doctor", *server).finish()
        plan = home / "plan.json"
        assert invoke(RECOVERY, *server, *LOOK, "--plan-output-file", str(plan)).code == 0
        assert invoke(RECOVERY, *server, *ELECT, "--accept-loss", "*").code == 0
        (journal,) = (home / "state").rglob("*.jsonl")
        saved = home / "saved"
        done = invoke(RECOVERY, "salvage", *disk, "--journal", str(journal), "--output", str(saved))
        assert done.code == 0, done.stderr
        yield Incident(request.param, cluster, before, examined, journal, saved, plan)


def _fits(screen: Screen) -> None:
    """Check the window in the end; what is said before the rows may have left it."""
    assert_fits(
        screen, list(dropwhile(lambda line: line.startswith(f"{RECOVERY}: "), screen.lines))
    )


@SIZES
@pytest.mark.parametrize(
    "command",
    [
        *("plan", "scan-log-dirs", "start-order", "before-start", "salvage", "salvage replay"),
        *("aftercare", "ok-to-stop", "report", "doctor", "watch", "quorum inspect", "bundle"),
    ],
)
def test_its_rows_are_one_screen(
    incident: Incident, command: str, size: tuple[int, int], tmp_path: Path
) -> None:
    words = (*command.split(), *incident.commands(tmp_path)[command])
    seconds = TIMEOUT + incident.partitions * SECONDS_A_PARTITION
    screen = Terminal(size, *words, seconds=seconds).finish()
    assert screen.code in (0, 1), screen.text
    _fits(screen)


def test_a_start_that_destroys_nothing_is_one_screen_too(incident: Incident) -> None:
    _fits(incident.before)
    count = "1 replica" if incident.partitions == 1 else f"{incident.partitions} replicas"
    assert f"broker 1: {count}: {incident.partitions} leads" in incident.before.text


@SIZES
def test_who_approves_a_plan_sees_one_screen(
    incident: Incident, size: tuple[int, int], tmp_path: Path
) -> None:
    approval = tmp_path / "approval"
    run = Terminal(size, "approve", str(incident.plan), "--output", str(approval))
    asked = run.answer(f"partitions, {incident.partitions}: ", f"{incident.partitions}\n")
    assert shows(asked.window, asked.text.splitlines()), asked.text
    assert all(len(line) <= size[0] for line in asked.text.splitlines())
    done = run.finish()
    assert (done.code, approval.exists()) == (0, True), done.text
    assert f"total: {incident.partitions} partition" in asked.text


@SIZES
def test_the_list_of_codes_is_one_screen(size: tuple[int, int]) -> None:
    codes = Terminal(size, "explain").finish()
    _fits(codes)
    assert codes.lines[0].startswith("loss: live_records_truncated, ")


def test_doctor_fits_during_the_outage_too(incident: Incident) -> None:
    _fits(incident.examined)
    assert incident.examined.lines[-1].endswith("may fail or do harm by what is named")


def test_a_report_ends_with_the_commands_that_come_next(incident: Incident, tmp_path: Path) -> None:
    screen = Terminal((200, 50), "report", *incident.commands(tmp_path)["report"]).finish()
    hint = next(n for n, line in enumerate(screen.lines) if "--format markdown" in line)
    commands = [line for line in screen.lines[hint:] if RECOVERY in line]
    assert commands[0].startswith(f"  {RECOVERY} aftercare --bootstrap-server ")
    assert commands[1].startswith(f"  {RECOVERY} salvage replay /")
    leaders = "1 leader" if incident.partitions == 1 else f"{incident.partitions} leaders"
    assert f"{leaders} elected" in screen.text
    whole = Terminal((80, 24), "report", str(incident.journal), "--format", "markdown").finish()
    last = f"topic-{(incident.partitions - 1) // 1000:03}-{(incident.partitions - 1) % 1000}"
    assert last in whole.text


def test_a_start_tells_what_it_destroys_first_and_where_the_commands_are(
    incident: Incident, tmp_path: Path
) -> None:
    words = incident.commands(tmp_path)["before-start"]
    screen = Terminal((80, 24), "before-start", *words).finish()
    assert f"the start deletes {incident.partitions} record" in " ".join(screen.lines)
    assert "next, to save what their leaders lack: kafka-unclean-recovery salvage" in screen.text
    wide = Terminal((80, 24), "before-start", *words, "--format", "wide").finish()
    assert wide.text.count("mkdir -p") == incident.partitions
    assert "the commands below the table" in wide.text
    if incident.partitions > 1:
        assert screen.lines[0].endswith(f"{incident.partitions} records deleted")
        assert "mkdir -p" not in screen.text
        assert "the commands of --format wide" in screen.text
