"""The answer as lines for a terminal; no I/O."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice

from kafka_unclean_recovery.documents.ok_to_stop import (
    BackAfterStopJson,
    OkToStopJson,
    PredictedJson,
    ScenarioJson,
)
from kafka_unclean_recovery.ok_to_stop.prediction import Class
from kafka_unclean_recovery.report.prometheus import Metric, gauges
from kafka_unclean_recovery.wording import count_text, ids_text, one_line

_SHOWN = 10
_RACY = "what a broker does a moment later is not in it"


def render_answer(found: OkToStopJson) -> str:
    return "".join(f"{one_line(line) if line else ''}\n" for line in _answer(found))


def _answer(found: OkToStopJson) -> Iterator[str]:
    yield f"cluster {found.cluster_id} as of {found.observed_at}: {_RACY}"
    whom = f"brokers {ids_text(found.brokers)}"
    if found.controllers:
        whom += f" and controllers {ids_text(found.controllers)}"
    yield f"stop {whom}: {_said(found.stop)}"
    yield f"kill {whom}: {_said(found.kill)}"
    yield ""
    for each in Class:
        for how, scenario in (("a stop", found.stop), ("a kill", found.kill)):
            # A kill does what a stop does, and more to the ELR.
            if how == "a stop" or each is Class.LEAVES_ELR:
                yield from _rows(scenario.partitions, each, how)
    yield from _listed(
        f"{count_text(len(found.already), 'partition')} bad already, whatever you do",
        [f"{row.topic}-{row.partition}: {row.because}" for row in found.already],
    )
    yield from _listed(
        f"not known of {count_text(len(found.not_known), 'partition')}",
        [f"{row.topic}-{row.partition}: {row.why}" for row in found.not_known],
    )
    yield from _listed("not known", found.problems)
    if found.largest is not None:
        yield f"largest set that can be stopped together: {ids_text(found.largest)}"
    yield found.verdict


def _said(scenario: ScenarioJson) -> str:
    counts = ", ".join(f"{scenario.counts[c]} {c}" for c in Class if c in scenario.counts)
    lost = "" if scenario.quorum is None else f"; the metadata quorum is lost: {scenario.quorum}"
    return f"{scenario.verdict}{': ' if counts else ''}{counts}{lost}"


def _rows(rows: Iterable[PredictedJson], of: Class, how: str) -> Iterator[str]:
    """Yield the partitions of this class, of which it is the gravest, or LEAVES_ELR."""
    alike = [
        row
        for row in rows
        if row.classes[0] == of or (of is Class.LEAVES_ELR and of in row.classes)
    ]
    texts = [
        f"{row.topic}-{row.partition}{' (internal)' if row.internal else ''}: {row.because}"
        for row in sorted(alike, key=lambda row: not row.internal)
    ]
    yield from _listed(f"{of}, by {how}", texts)


def _listed(title: str, texts: Iterable[str]) -> Iterator[str]:
    texts = list(texts)
    if not texts:
        return
    yield f"{title}:"
    yield from (f"- {text}" for text in islice(texts, _SHOWN))
    if len(texts) > _SHOWN:
        yield f"- and {len(texts) - _SHOWN} more, which --format json lists"


def render_back(found: BackAfterStopJson) -> str:
    return "".join(f"{one_line(line)}\n" for line in _back(found))


def _back(found: BackAfterStopJson) -> Iterator[str]:
    yield f"cluster {found.cluster_id} as of {found.observed_at}: {_RACY}"
    if found.down:
        yield f"not back: brokers {ids_text(found.down)}"
    yield from _listed(
        f"{count_text(len(found.missing), 'replica')} not in the ISR",
        [
            f"{r.topic}-{r.partition} on {r.broker}: {r.why.replace('_', ' ')}"
            for r in found.missing
        ],
    )
    if found.not_leading:
        count = count_text(found.not_leading, "partition")
        yield f"{count} that they lead by preference: others lead"
    yield from _listed("not known", found.problems)
    yield f"brokers {ids_text(found.brokers)} are back: {found.verdict}"


def answer_metrics(found: OkToStopJson) -> list[Metric]:
    """Return the number of partitions of each class, for a stop and for a kill, and the verdict."""
    name = "kafka_unclean_recovery_ok_to_stop"
    helps = "Partitions by what this way to stop would do to them."
    verdicts = {each: float(each == found.verdict) for each in ("yes", "no", "unknown")}
    return [
        gauges(
            f"{name}_verdict", "The verdicts: 1 is the one that was given.", "verdict", verdicts
        ),
        *(
            gauges(f"{name}_{how}_partitions", helps, "class", _counted(scenario))
            for how, scenario in (("stop", found.stop), ("kill", found.kill))
        ),
    ]


def _counted(scenario: ScenarioJson) -> dict[str, float]:
    return {str(each): float(scenario.counts.get(each, 0)) for each in Class}
