"""The planner, one scenario a file in testdata/plan; its name is the rule it shows.

    partition leader_epoch=7 replicas=1,2,4,3 isr=1 elr=2 last_known_elr= offline=1,2 tiered=why
    broker=3 epochs=0:0-1000,2:1000-1100 high_watermark=1000
    broker=4 problem=timed_out
    broker=1 epochs=0:0-1000 unproven=no_right

A broker that has a line is live unless `dead` stands in it. `end=` and `start=` serve for logs
whose lineage is unknown or empty. `mode=fast|recover|deep` makes it a log read from a disk, with
`suspect=why`, `certain=N`, `damage=what` and `stop=clean|killed` as a scan finds them; `_` stands
for a blank. Groups are `commit group=g offset=1500 epoch=0`, those of old clients without the
epoch.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from kafka_unclean_recovery.mechanisms import ScanMode
from kafka_unclean_recovery.model import (
    NO_LEADER,
    Commit,
    EpochSpan,
    Loss,
    PartitionPlan,
    PartitionState,
    ReplicaLog,
    Scanned,
    TopicPartition,
)
from kafka_unclean_recovery.planning.broker_return import effect_text
from kafka_unclean_recovery.planning.plan import plan_partition
from kafka_unclean_recovery.planning.reach import deleted_below
from tests.transcript import check, scenarios


@pytest.mark.parametrize("path", scenarios("plan"), ids=lambda p: p.name)
def test_plan(path: Path, request: pytest.FixtureRequest) -> None:
    check(path, _run, rewrite=bool(request.config.getoption("--rewrite")))


def test_there_are_enough_scenarios() -> None:
    assert len(scenarios("plan")) >= 45


def _run(given: str) -> str:
    lines = [line for line in given.splitlines() if line and not line.startswith("#")]
    try:
        logs = [_log(line) for line in lines[1:] if line.startswith("broker=")]
        commits = [_commit(line) for line in lines[1:] if line.startswith("commit ")]
        assert len(logs) + len(commits) == len(lines) - 1
        plan = plan_partition(_state(lines[0]), logs, commits)
    except ValueError as error:
        return f"ERROR: {error}"
    return _show(plan)


def _fields(line: str) -> dict[str, str]:
    pairs = (word.partition("=") for word in line.split())
    return {key: value for key, _, value in pairs}


def _ids(text: str) -> tuple[int, ...]:
    return tuple(int(i) for i in text.split(",") if i)


def _state(line: str) -> PartitionState:
    given = _fields(line)
    return PartitionState(
        topic="orders",
        topic_id="t",
        partition=0,
        leader=int(given.get("leader", NO_LEADER)),
        leader_epoch=int(given["leader_epoch"]),
        replicas=_ids(given["replicas"]),
        isr=_ids(given.get("isr", "")),
        elr=_ids(given.get("elr", "")),
        last_known_elr=_ids(given.get("last_known_elr", "")),
        offline_replicas=_ids(given.get("offline", "")),
        adding_replicas=_ids(given.get("adding", "")),
        removing_replicas=_ids(given.get("removing", "")),
        tiered=_text(given, "tiered"),
    )


def _span(text: str) -> EpochSpan:
    epoch, _, offsets = text.partition(":")
    start, _, end = offsets.partition("-")
    return EpochSpan(int(epoch), int(start), int(end))


def _number(given: dict[str, str], key: str, default: int | None) -> int | None:
    return int(given[key]) if key in given else default


def _log(line: str) -> ReplicaLog:
    given = _fields(line)
    spans = tuple(_span(s) for s in given.get("epochs", "").split(",") if s)
    return ReplicaLog(
        broker=int(given["broker"]),
        live="dead" not in given,
        last_written_leader_epoch=_number(given, "epoch", spans[-1].epoch if spans else None),
        log_start_offset=_number(given, "start", spans[0].start_offset if spans else None),
        high_watermark=_number(given, "high_watermark", None),
        log_end_offset=_number(given, "end", spans[-1].end_offset if spans else None),
        epochs=spans if "epochs" in given else None,
        problem=_text(given, "problem"),
        unproven=_text(given, "unproven"),
        suspect=_text(given, "suspect"),
        certain_end_offset=_number(given, "certain", None),
        scanned=_scanned(given),
    )


def _commit(line: str) -> Commit:
    given = _fields(line)
    where = TopicPartition("orders", 0)
    return Commit(given["group"], where, int(given["offset"]), _number(given, "epoch", None))


def _scanned(given: dict[str, str]) -> Scanned | None:
    if "mode" not in given:
        return None
    stops = {"clean": True, "killed": False}
    return Scanned(
        ScanMode(given["mode"]),
        "/data/orders-0",
        damage=_text(given, "damage"),
        stopped_clean=stops.get(given.get("stop", "")),
    )


def _text(given: dict[str, str], key: str) -> str | None:
    return given[key].replace("_", " ") if key in given else None


def _show(plan: PartitionPlan) -> str:
    leader = "none" if plan.designated_leader is None else plan.designated_leader
    lines = [f"designated_leader={leader} order={','.join(map(str, plan.order))}"]
    if plan.refusal:
        lines.append(f"refused: {plan.refusal}")
    for place, candidate in enumerate(plan.ranking, 1):
        log = candidate.log
        cuts = "".join(
            f" broker {d.broker} truncated to {d.offset} (-{d.records})"
            for d in candidate.divergences
        )
        lines.append(
            f"{place}. broker={log.broker} epoch={log.last_written_leader_epoch}"
            f" end={log.log_end_offset} {_loss(candidate.loss)}{cuts}"
        )
    for waiting in plan.waiting:
        evidence = ", ".join(waiting.evidence) or "none"
        told = f"{effect_text(waiting)} (evidence: {evidence}): {waiting.why}"
        lines.append(f"if broker {waiting.broker} returns: {told}")
    return "\n".join([*lines, *(f"{f.severity} {f.code}: {f.message}" for f in plan.findings)])


def _loss(loss: Loss) -> str:
    def show(number: int | None) -> str:
        return "unknown" if number is None else str(number)

    at_least = "" if loss.at_least is None else f" at_least={loss.at_least}"
    return f"certain={show(loss.certain)} possible={show(loss.possible)}{at_least}"


def test_a_log_whose_start_is_not_known_tells_of_no_deleted_record() -> None:
    log = _log("broker=1 epochs=0:0-10")
    assert deleted_below([replace(log, log_start_offset=None)]) == 0
    assert deleted_below([replace(log, log_start_offset=3)]) == 3
