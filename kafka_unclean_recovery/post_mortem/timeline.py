"""The timeline has a sentence for each line of a journal, and one for many decisions in a row."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from kafka_unclean_recovery.documents.journal_entries import (
    AftercareJson,
    BeforeStartJson,
    BeginJson,
    CommitsJson,
    ElectJson,
    EndJson,
    MarkedJson,
    MarkersJson,
    MoveJson,
    ObservedJson,
    OutcomeJson,
    OutcomeRowJson,
    ReduceJson,
    ReorderJson,
    ReplayedJson,
    ResetsJson,
    RestoredJson,
    SalvagedJson,
    SalvageJson,
    SeededJson,
    SeedJson,
    SentJson,
    SurpriseJson,
    VerifiedJson,
    VerifiedRowJson,
    WaveJson,
)
from kafka_unclean_recovery.documents.plan import PartitionJson
from kafka_unclean_recovery.documents.reading.json_text import JsonObject
from kafka_unclean_recovery.documents.values import Entry
from kafka_unclean_recovery.model import MoveKind
from kafka_unclean_recovery.post_mortem.story import Moment
from kafka_unclean_recovery.wording import count_text, ids_text, one_line

_TOLD = ("v", "at", "at_ms", "event")
_LONGEST = 300
_LISTED = 8
# An answer is the normal case, so it has no sentence; where none came, the outcome says so.
UNTOLD = frozenset({"answered"})


@dataclass(slots=True)
class Timeline:
    """The moments so far. _decisions: the decisions in a row, as (ms of the first, how many, how
    many with a designated leader)."""

    _moments: list[Moment] = field(default_factory=list)
    _decisions: tuple[int, int, int] | None = None

    def add(self, event: str, at_ms: int, line: Entry | JsonObject) -> None:
        """Add the moment of a line, read by its type in EVENTS, or as it is where it has none."""
        if isinstance(line, PartitionJson):
            since, count, designated = self._decisions or (at_ms, 0, 0)
            self._decisions = (since, count + 1, designated + (line.designated_leader is not None))
            return
        if event in UNTOLD:
            return
        self._tell_decisions()
        text, alarm = TEXTS.get(event, _other)(line)
        self._moments.append(Moment(at_ms, event, text, alarm))

    def torn(self) -> None:
        """Add the moment of a last line that was cut off."""
        self._tell_decisions()
        at_ms = self._moments[-1].at_ms if self._moments else 0
        text = "or later: the last line is cut off, for the tool or its machine stopped writing it"
        self._moments.append(Moment(at_ms, "torn", text, alarm=True))

    def moments(self) -> tuple[Moment, ...]:
        self._tell_decisions()
        return tuple(self._moments)

    def _tell_decisions(self) -> None:
        if self._decisions is None:
            return
        since, count, designated = self._decisions
        self._decisions = None
        text = f"decided on {count_text(count, 'partition')}: {designated} with a designated leader"
        without = count - designated
        text += f", {without} without" if without else ""
        self._moments.append(Moment(since, "decision", text, alarm=bool(without)))


Told = tuple[str, bool]
"""A sentence, and whether the reader should be alarmed at it."""


def _begin(line: BeginJson) -> Told:
    of = f" {line.version}" if isinstance(line.version, str) else ""
    return f"{line.command}{of} began", False


def _observed(line: ObservedJson) -> Told:
    brokers = [broker.id for broker in line.brokers]
    silent = line.silent_brokers
    text = f"looked at {count_text(line.partitions, 'partition')}: live brokers"
    text += f" {ids_text(brokers)}, fenced {ids_text(line.fenced)}"
    text += "".join(f"; broker {id_} gave no replica info: {why}" for id_, why in silent.items())
    text += "".join(f"; {problem}" for problem in line.problems)
    missing = len(line.missing)
    text += f"; {count_text(missing, 'partition')} not there" if missing else ""
    return text, bool(silent or missing)


def _consent(values: JsonObject) -> Told:
    return f"consent: {consent_text(values)}", False


def _wave(line: WaveJson) -> Told:
    return f"wave {line.number} of {line.of}: {count_text(line.partitions, 'partition')}", False


def _surprise(line: SurpriseJson) -> Told:
    return f"no further wave is begun: {line.reason}", True


def _salvage(line: SalvageJson) -> Told:
    saved = sum(row.saved for row in line.partitions)
    lost = len(line.partitions) - saved
    text = f"saved {count_text(saved, 'tail')} of live replicas in {line.directory}"
    return (f"{text}; {lost} could not be saved" if lost else text), bool(lost)


def _reorder(line: ReorderJson) -> Told:
    return f"writes the replica orders of {count_text(len(line.partitions), 'partition')}", False


def _reduce(line: ReduceJson) -> Told:
    gone = sorted({broker for row in line.partitions for broker in row.unregistered})
    which = f"unregistered broker{'s' if len(gone) > 1 else ''} {ids_text(gone)}"
    return f"writes {count_text(len(line.partitions), 'replica set')} without the {which}", True


def _move(line: MoveJson) -> Told:
    empty = sum(row.kind is MoveKind.EMPTY for row in line.partitions)
    back = len(line.partitions) - empty
    told = [f"gives {count_text(empty, 'partition')} new replicas, empty"] * bool(empty)
    told += [f"ends the reassignment of {count_text(back, 'partition')}"] * bool(back)
    return "; ".join(told), bool(empty)


def _elect(line: ElectJson) -> Told:
    how = " by ElectLeaders 3" if line.method == "designated" else ""
    return f"elects the leaders of {count_text(len(line.partitions), 'partition')}{how}", False


def _sent(line: SentJson) -> Told:
    what = f"{line.request} of {count_text(line.partitions, 'partition')}"
    return f"sends {what} to {line.broker}", False


def _settled(_: JsonObject) -> Told:
    return (
        "what was sent before can be carried out no more, but by a broker that was not reached",
        False,
    )


def _restored(line: RestoredJson) -> Told:
    alone = line.left_alone
    orders = count_text(len(line.partitions) - len(alone), "replica order")
    return "; ".join([f"{orders} as before, or gone with the topic", *alone]), bool(alone)


def _outcome(line: OutcomeJson) -> Told:
    return _read_back(line.partitions, "read back")


def _verified(line: VerifiedJson) -> Told:
    text, alarm = _read_back(line.partitions, "in the end, of all that was asked for")
    return (f"{text}; interrupted", True) if line.interrupted else (text, alarm)


def _read_back(rows: Sequence[OutcomeRowJson | VerifiedRowJson], when: str) -> Told:
    counts = Counter(row.outcome.value if row.outcome else "nothing to do" for row in rows)
    told = ", ".join(f"{count} {kind}" for kind, count in sorted(counts.items())) or "nothing"
    return f"{when}: {told}", bool(counts.keys() - {"elected", "already_online"})


def _markers(line: MarkersJson) -> Told:
    return f"ends {count_text(len(line.partitions), 'hanging transaction')}", False


def _marked(line: MarkedJson) -> Told:
    failed = sum(row.problem is not None for row in line.partitions)
    text = f"{count_text(len(line.partitions) - failed, 'transaction')} ended"
    return (f"{text}, {failed} not" if failed else text), bool(failed)


def _resets(line: ResetsJson) -> Told:
    return f"sets {count_text(len(line.partitions), 'share group')} back", False


def _reset(line: MarkedJson) -> Told:
    failed = sum(row.problem is not None for row in line.partitions)
    text = f"{count_text(len(line.partitions) - failed, 'share group')} set back"
    return (f"{text}, {failed} not" if failed else text), bool(failed)


def _aftercare(line: AftercareJson) -> Told:
    text = f"aftercare looked at {count_text(line.looked_at, 'partition')}: "
    left = f"not over, {len(line.partitions)} with something left"
    return text + ("it is over" if line.over else left), not line.over


def _seed(line: SeedJson) -> Told:
    return f"writes the log directory of a new controller: {line.directory}", False


def _seeded(line: SeededJson) -> Told:
    if line.exit_code == 0:
        return "it is written, whole, and read back", False
    return f"it is not written: {line.reason or 'the journal does not tell why'}", True


def _before_start(line: BeforeStartJson) -> Told:
    beyond = sum(row.beyond or 0 for row in line.partitions)
    unknown = sum(row.beyond is None for row in line.partitions)
    text = f"before-start: the start of broker {line.broker} would delete"
    text += f" {count_text(beyond, 'record')} of {count_text(len(line.partitions), 'partition')}"
    more = f", and what it does to {unknown} is unknown" if unknown else ""
    return text + more, bool(beyond or unknown)


def _salvaged(line: SalvagedJson) -> Told:
    saved = sum(row.saved for row in line.partitions)
    gone = sum(row.beyond - row.saved for row in line.partitions if row.beyond is not None)
    text = f"salvage saved {count_text(saved, 'record')} in {line.directory}"
    return (f"{text}; {gone} could not be read" if gone else text), bool(gone)


def _replayed(line: ReplayedJson) -> Told:
    produced = sum(row.produced for row in line.partitions)
    how = "" if line.whole else ", not of all that is there"
    return (
        f"salvage replay produced {count_text(produced, 'record')} of {line.directory}{how}",
        False,
    )


def _commits(line: CommitsJson) -> Told:
    what = count_text(line.brought_back, "commit")
    return f"salvage offsets brought back {what} of consumer groups", False


def _end(line: EndJson) -> Told:
    return f"ended with exit code {line.exit_code}", line.exit_code != 0


def _other(values: JsonObject) -> Told:
    return f"{values['event']}: {fields_text(values)}", False


def consent_text(values: Mapping[str, object]) -> str:
    """Return how somebody consented, to what, and who approved."""
    approval = values.get("approval")
    text = fields_text({key: value for key, value in values.items() if key != "approval"})
    if not isinstance(approval, dict):
        return text
    who, when = approval.get("approved_by"), approval.get("approved_at")
    return one_line(f"{text}; approved by {who} at {when}")


def fields_text(values: Mapping[str, object]) -> str:
    """Return the fields of an event as a short text, where nested values are counted."""
    told = [
        f"{key}: {_value_text(value)}"
        for key, value in values.items()
        if key not in _TOLD and value is not None
    ]
    text = one_line("; ".join(told))
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def _value_text(value: object) -> str:
    if not isinstance(value, (list, dict)):
        return str(value)
    inner = value.values() if isinstance(value, dict) else value
    if len(value) > _LISTED or any(isinstance(each, (list, dict)) for each in inner):
        return str(len(value))
    pairs = [f"{k} {v}" for k, v in value.items()] if isinstance(value, dict) else map(str, value)
    return ", ".join(pairs) or "none"


TEXTS: dict[str, Callable[[Any], Told]] = {
    "begin": _begin,
    "observed": _observed,
    "consent": _consent,
    "wave": _wave,
    "surprise": _surprise,
    "salvage": _salvage,
    "reorder": _reorder,
    "reduce": _reduce,
    "move": _move,
    "elect": _elect,
    "sent": _sent,
    "settled": _settled,
    "restored": _restored,
    "outcome": _outcome,
    "verified": _verified,
    "markers": _markers,
    "marked": _marked,
    "resets": _resets,
    "reset": _reset,
    "aftercare": _aftercare,
    "seed": _seed,
    "seeded": _seeded,
    "before_start": _before_start,
    "salvaged": _salvaged,
    "replayed": _replayed,
    "commits": _commits,
    "end": _end,
}
