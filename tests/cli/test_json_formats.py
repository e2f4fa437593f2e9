"""--format json of every command, in one outage from look to aftercare, against its schema.

The commands of Spark are in tests/spark/test_json_formats.py, which shares their session.
"""

from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from kafka_unclean_recovery.cli.environment import options_of
from kafka_unclean_recovery.documents.approval import Approval, approval_json
from kafka_unclean_recovery.documents.spark_tables import ROWS
from tests.cli.in_process import ELECTION, RECOVERY, commands, invoke
from tests.cli.run import RECOVERY as MODULE
from tests.cli.run import command_line
from tests.metadata_quorum.disks import static_log, write_node
from tests.metadata_quorum.planning import ALL_LOST
from tests.real.watching import make_older
from tests.schemas import SCHEMAS, schema_of, validated

SCENARIO = "stale-tail"
ALL = ("--all-offline-partitions",)
DESIGNATED = ("--election-type", "designated", "--path-to-json-file", "leaders.json")

Said = dict[str, list[Any]]
"""Documents, validated, by the command that wrote them."""


@contextmanager
def _emulator(place: Path) -> Iterator[str]:
    """Yield the first line of an emulator."""
    flags = ("--scenario", SCENARIO, "--data-dir", "data", "--format", "json")
    process = subprocess.Popen(
        command_line(MODULE, "emulator", *flags),
        stdout=subprocess.PIPE,
        text=True,
        cwd=place,
    )
    assert process.stdout is not None
    try:
        yield process.stdout.readline()
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> Said:
    place = tmp_path_factory.mktemp("place")
    found: Said = {}

    def run(name: str, *words: str, code: int = 0) -> Any:
        flags = (*words, "--format", "json")
        done = invoke(name, *flags, cwd=place, env={"XDG_STATE_HOME": str(place / "state")})
        assert done.code == code, done.stderr
        document = validated(done.stdout)
        known = [*dict(commands())]
        command = " ".join([name, *words[:2]])
        command = next(c for c in (command, command.rpartition(" ")[0], name) if c in known)
        found.setdefault(command, []).append(document)
        return document

    with _emulator(place) as line:
        emulator = validated(line)
        found[f"{RECOVERY} emulator"] = [emulator]
        where = ("--bootstrap-server", ",".join(emulator["bootstrap_servers"]))
        ctl = ("emulator", "ctl", "--data-dir", "data")

        run(RECOVERY, *ctl, "status")
        run(RECOVERY, *ctl, "flush", "1")
        run(RECOVERY, "doctor", *where, code=1)
        run(RECOVERY, "bundle", *where, "--output", "ticket.tar.gz")
        run(RECOVERY, "explain", "lossless")
        run(RECOVERY, "explain")
        run(RECOVERY, "emulator", "scenarios")
        files = ("--manual-recovery-output-file", "leaders.json", "--plan-output-file", "plan.json")
        run(RECOVERY, *where, *ALL, "--show-replica-info", *files)
        found["files"] = [validated((place / name).read_text()) for name in files[1::2]]
        run(RECOVERY, "scan-log-dirs", "data", "--output", "info.json")
        found["files"].append(validated((place / "info.json").read_text()))
        new = ("--manual-recovery-output-file", "new.json")
        run(RECOVERY, "plan", "--replica-info-file", "info.json", *new)
        own = ("--log-dirs", "data/broker-2")
        run(RECOVERY, "before-start", *own, "--replica-info-file", "info.json")
        run(RECOVERY, "start-order", "--replica-info-file", "info.json", code=1)
        run(RECOVERY, "salvage", "--log-dirs", "data", "--plan", "plan.json", "--output", "saved")
        found["files"].append(validated((place / "saved" / "manifest.json").read_text()))
        run(RECOVERY, "salvage", "replay", "saved", *where, code=1)
        # The emulator has no topic of the groups, so nothing of it was saved.
        run(RECOVERY, "salvage", "offsets", "saved", *where, code=1)

        approval = _approved(found["files"][1])
        (place / "approved").write_text(approval)
        found["files"].append(validated(approval))
        bound = ("--plan", "plan.json", "--require-approval", "approved")
        run(RECOVERY, *where, *ALL, "--automated-recovery", "--journal", "journal", *bound)
        _cut(place / "journal", "sent")
        run(RECOVERY, *where, "--resume", "journal")
        run(RECOVERY, "before-start", *own, *where, code=1)
        run(RECOVERY, "aftercare", *where, code=1)
        run(RECOVERY, "report", "journal")
        run(ELECTION, *where, "--election-type", "unclean", "--topic", "orders", "--partition", "0")
        run(ELECTION, *where, *DESIGNATED)
        run(RECOVERY, *ctl, "create-topic", "orders.salvaged")
        run(RECOVERY, "salvage", "replay", "saved", *where, "--execute")
        nobody = ("--election-type", "preferred", "--topic", "nobody", "--partition", "0")
        run(ELECTION, *where, *nobody, code=1)
        _stops(place, where, run, found)
    _metadata_quorum(place, run, found)
    return found


def _stops(place: Path, where: tuple[str, ...], run: Callable[..., Any], found: Said) -> None:
    run(RECOVERY, "ok-to-stop", *where, "--brokers", "1", "--save", "seen.json")
    run(RECOVERY, "ok-to-stop", *where, "--brokers", "1", "--after")
    run(RECOVERY, "ok-to-stop", "--what-if", "seen.json", "--brokers", "1")
    found["files"].append(validated((place / "seen.json").read_text()))
    run(RECOVERY, "watch", *where, "--duration-ms", "1")


def _metadata_quorum(place: Path, run: Callable[..., Any], found: Said) -> None:
    """Plan for a quorum that is gone, whose disks are here; no new controller is started."""
    for node in (1, 2):
        write_node(place / "disks", node, static_log())
    run(RECOVERY, "quorum", "inspect", "disks")
    new = ("--new-controller", "101@127.0.0.1:1", "--plan-output-file", "quorum.json")
    run(RECOVERY, "quorum", "plan", "disks", *new, *ALL_LOST)
    found["files"].append(validated((place / "quorum.json").read_text()))
    nobody = ("--bootstrap-controller", "127.0.0.1:1", "--timeout-ms", "1")
    run(RECOVERY, "quorum", "verify", "--plan", "quorum.json", *nobody, code=1)


def _approved(plan: dict[str, Any]) -> str:
    """Return the approval as somebody else writes it, on a terminal."""
    signed = (plan["digest"], plan["cluster_id"], "somebody else", plan["created_at"])
    return approval_json(Approval(*signed))


def _cut(journal: Path, event: str) -> None:
    """Cut the journal as if the run had died right after that line, an hour ago."""
    lines = journal.read_text().splitlines(keepends=True)
    last = next(n for n, line in enumerate(lines) if json.loads(line)["event"] == event)
    journal.write_text("".join(lines[: last + 1]))
    make_older(journal, 3600)


def test_every_command_with_results_has_them_as_json(said: Said) -> None:
    # Whoever approves is asked, and gets a file; complete is for shells; a seed is a directory.
    names = ("spark", "approve", "complete", "quorum", "quorum seed")
    without = {f"{RECOVERY} {name}" for name in names}
    for words, command in commands():
        formats = [option for option in options_of(command) if "--format" in option.opts]
        assert bool(formats) == (words not in without), words
        if not words.startswith(f"{RECOVERY} spark"):
            assert words in said or words in without, f"{words}: run it here, too"


def test_every_schema_is_of_something(said: Said) -> None:
    used = {schema_of(document) for documents in said.values() for document in documents}
    of_spark = {
        f"{name}-1.schema.json" for name in ("spark-scan", "spark-salvage", "loss-by-topic", *ROWS)
    }
    assert used | of_spark == SCHEMAS.keys()
    assert not used & of_spark


def test_nothing_is_said_beyond_what_a_schema_knows() -> None:
    for name, schema in SCHEMAS.items():
        assert schema["$schema"].endswith("2020-12/schema")
        assert schema["title"]
        assert schema.get("additionalProperties") is False or name == "manual-recovery.schema.json"


def test_what_they_say(said: Said) -> None:
    status, flushed, _ = said[f"{RECOVERY} emulator ctl"]
    assert status["answer"]["partitions"][0]["leader"] is None
    assert {each["process"] for each in status["answer"]["brokers"]} == {"running", "dead"}
    assert flushed["command"] == ["flush", "1"]
    assert flushed["answer"] == ""
    looked, elected, resumed = said[RECOVERY]
    assert looked["partitions"][0]["designated_leader"] == 4
    assert elected["summary"]["outcomes"]["elected"] == 1
    assert resumed["put_back"] == [{"topic": "orders", "partition": 0}]
    unclean, designated, preferred = said[ELECTION]
    # Kafka's answer where a leader is already there.
    assert [each["error"] for each in unclean["elections"]] == ["ELECTION_NOT_NEEDED"]
    assert designated["summary"]["outcomes"]["already_online"] == 1
    assert [each["error"] for each in preferred["elections"]] == ["UNKNOWN_TOPIC_OR_PARTITION"]
    one, every = said[f"{RECOVERY} explain"]
    assert one["entries"] in [[each] for each in every["entries"]]
    (scenarios,) = said[f"{RECOVERY} emulator scenarios"]
    assert "stale-tail" in {each["name"] for each in scenarios["scenarios"]}
    refused, produced = said[f"{RECOVERY} salvage replay"]
    assert not refused["executed"]
    assert "no such topic" in refused["refusals"][0]
    assert produced["executed"]
    assert produced["partitions"][0]["produced"] == produced["partitions"][0]["to_produce"] > 0
