"""Log directories in random states: what Kafka's own classes make of them and what we say. For
longer: `python -m tests.fidelity.disk`."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import NamedTuple

import pytest
from msgspec import structs

from kafka_unclean_recovery.log_dir.start.fate import Cause, DirectoryStart, EndsBroker, Fate
from kafka_unclean_recovery.mechanisms import ScanMode
from kafka_unclean_recovery.model import EpochSpan, ReplicaLog, Scanned
from tests.fidelity.disk.comparing import OurStart, differences, foretold
from tests.fidelity.disk.oracle import KafkaLog, KafkaStart
from tests.fidelity.disk.runs import judged_states
from tests.real.releases import ONE, TESTED

SEED = 1


class States(NamedTuple):
    version: str
    number: int

    def __str__(self) -> str:
        return f"{self.version}-{self.number} states"


OTHERS = [version for version in TESTED if version != ONE]


@pytest.mark.real
@pytest.mark.parametrize(
    "told", [States(ONE, 300), *(States(version, 60) for version in OTHERS)], ids=str
)
def test_a_start_on_a_random_disk_is_foretold(told: States) -> None:
    seen: Counter[str] = Counter()
    found = []
    for judged in judged_states(told.version, SEED, told.number):
        found += [f"{judged.state}: {difference}" for difference in judged.differences]
        seen[_outcome(judged.kafka)] += 1
    assert found == []
    assert seen.total() == told.number
    # Each outcome comes about, and what is not foretold stays rare.
    assert min(seen[each] for each in ("starts", "offline", "ends")) >= told.number / 30
    assert seen["not foretold"] <= told.number / 30


def _outcome(kafka: KafkaStart) -> str:
    if not foretold(kafka):
        return "not foretold"
    return "ends" if kafka.ends else "offline" if kafka.offline else "starts"


LOG = ReplicaLog(
    1,
    live=False,
    log_start_offset=0,
    log_end_offset=30,
    epochs=(EpochSpan(0, 0, 10), EpochSpan(2, 10, 30)),
    scanned=Scanned(ScanMode.RECOVER, "/d/t-0"),
)
KAFKA = KafkaStart(
    None, offline=frozenset(), logs={"t-0": KafkaLog(0, 30, ((0, 0), (2, 10)), (0,))}
)


def ours(log: ReplicaLog = LOG, fate: Fate = Fate.STARTS) -> OurStart:
    causes = () if fate is Fate.STARTS else (Cause(fate, "/d/x", "why", "how"),)
    rows = {"t-0": {ScanMode.RECOVER: log}}
    return OurStart((DirectoryStart("/d", causes),), rows, frozenset())


def kafka(start: int = 0, end: int = 30, second: int = 10) -> KafkaStart:
    log = KafkaLog(start, end, ((0, 0), (2, second)), (0,))
    return replace(KAFKA, logs={"t-0": log})


ENDS = replace(KAFKA, ends="an exception")
ENDED = structs.replace(LOG, problem=str(EndsBroker("why")), log_end_offset=None)


@pytest.mark.parametrize(
    ("theirs", "own", "differ"),
    [
        (KAFKA, ours(), False),
        (kafka(end=29), ours(), True),
        (kafka(start=1), ours(), True),
        (kafka(second=11), ours(), True),
        (kafka(end=29), ours(structs.replace(LOG, suspect="why")), True),
        (KAFKA, ours(structs.replace(LOG, problem="why", log_end_offset=None)), True),
        (ENDS, ours(), True),
        (ENDS, ours(fate=Fate.ENDS), False),
        (ENDS, ours(ENDED), False),
        (KAFKA, ours(ENDED), True),
        (KAFKA, ours(fate=Fate.ENDS), True),
        (replace(KAFKA, offline=frozenset(["/d"])), ours(), True),
        (replace(KAFKA, offline=frozenset(["/d"])), ours(fate=Fate.OFFLINE), False),
        (KAFKA, ours(fate=Fate.OFFLINE), True),
    ],
)
def test_a_difference_is_seen(theirs: KafkaStart, own: OurStart, differ: bool) -> None:
    assert bool(list(differences(theirs, own))) is differ
