"""The timeline has a sentence for each line of a journal, and one for many decisions in a row."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from kafka_unclean_recovery.files.json_fields import Fields
from kafka_unclean_recovery.post_mortem.story import Moment
from kafka_unclean_recovery.wording import count_text, ids_text, one_line

_TOLD = ("v", "at", "at_ms", "event")
_LONGEST = 300
_LISTED = 8
# An answer is the normal case, so it has no sentence; where none came, the outcome says so.
_UNTOLD = {"answered"}


@dataclass(slots=True)
class Timeline:
    """The moments so far. _decisions: the decisions in a row, as (ms of the first, how many, how
    many with a designated leader)."""

    _moments: list[Moment] = field(default_factory=list)
    _decisions: tuple[int, int, int] | None = None

    def add(self, event: str, at_ms: int, line: Fields) -> None:
        if event == "decision":
            since, count, designated = self._decisions or (at_ms, 0, 0)
            self._decisions = (since, count + 1, designated + line.known("designated_leader"))
            return
        if event in _UNTOLD:
            return
        self._tell_decisions()
        text, alarm = _TEXTS.get(event, _other)(line)
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


def _count(line: Fields, key: str = "partitions") -> int:
    return sum(1 for _ in line.items(key))


def _begin(line: Fields) -> Told:
    version = line.values.get("version")
    of = f" {version}" if isinstance(version, str) else ""
    return f"{line.values.get('command', 'a run')}{of} began", False


def _observed(line: Fields) -> Told:
    brokers = [broker.int32("id") for broker in line.objects("brokers")]
    fenced, silent = line.broker_ids("fenced"), line.object_at("silent_brokers").values
    text = f"looked at {count_text(line.int32('partitions'), 'partition')}: live brokers"
    text += f" {ids_text(brokers)}, fenced {ids_text(fenced)}"
    text += "".join(f"; broker {id_} gave no replica info: {why}" for id_, why in silent.items())
    text += "".join(f"; {problem}" for problem in line.texts("problems"))
    missing = _count(line, "missing")
    text += f"; {count_text(missing, 'partition')} not there" if missing else ""
    return text, bool(silent or missing)


def _consent(line: Fields) -> Told:
    return f"consent: {consent_text(line.values)}", False


def _wave(line: Fields) -> Told:
    which = f"wave {line.int32('number')} of {line.int32('of')}"
    return f"{which}: {count_text(line.int32('partitions'), 'partition')}", False


def _surprise(line: Fields) -> Told:
    return f"no further wave is begun: {line.text('reason')}", True


def _salvage(line: Fields) -> Told:
    saved = [row.flag("saved") for row in line.objects("partitions")]
    lost = saved.count(False)
    text = f"saved {count_text(saved.count(True), 'tail')} of live replicas"
    text += f" in {line.text('directory')}"
    return (f"{text}; {lost} could not be saved" if lost else text), bool(lost)


def _reorder(line: Fields) -> Told:
    return f"writes the replica orders of {count_text(_count(line), 'partition')}", False


def _elect(line: Fields) -> Told:
    how = " by ElectLeaders 3" if line.values.get("method") == "designated" else ""
    return f"elects the leaders of {count_text(_count(line), 'partition')}{how}", False


def _sent(line: Fields) -> Told:
    what = f"{line.text('request')} of {count_text(line.int32('partitions'), 'partition')}"
    return f"sends {what} to {line.text('broker')}", False


def _settled(_: Fields) -> Told:
    return (
        "what was sent before can be carried out no more, but by a broker that was not reached",
        False,
    )


def _restored(line: Fields) -> Told:
    alone = line.texts("left_alone") if "left_alone" in line.values else ()
    orders = count_text(_count(line) - len(alone), "replica order")
    return "; ".join([f"{orders} as before, or gone with the topic", *alone]), bool(alone)


def _outcomes(line: Fields) -> dict[str, int]:
    counts: dict[str, int] = {}
    for row in line.objects("partitions"):
        kind = row.text_or_unknown("outcome") or "nothing to do"
        counts[kind] = counts.get(kind, 0) + 1
    return counts


def _outcome(line: Fields) -> Told:
    return _read_back(line, "read back")


def _verified(line: Fields) -> Told:
    text, alarm = _read_back(line, "in the end, of all that was asked for")
    interrupted = line.flag("interrupted")
    return f"{text}; interrupted" if interrupted else text, alarm or interrupted


def _read_back(line: Fields, when: str) -> Told:
    counts = _outcomes(line)
    told = ", ".join(f"{count} {kind}" for kind, count in sorted(counts.items())) or "nothing"
    return f"{when}: {told}", bool(counts.keys() - {"elected", "already_online"})


def _markers(line: Fields) -> Told:
    return f"ends {count_text(_count(line), 'hanging transaction')}", False


def _marked(line: Fields) -> Told:
    rows = list(line.objects("partitions"))
    failed = sum(row.known("problem") for row in rows)
    text = f"{count_text(len(rows) - failed, 'transaction')} ended"
    return (f"{text}, {failed} not" if failed else text), bool(failed)


def _aftercare(line: Fields) -> Told:
    over = line.flag("over")
    looked_at, left = line.int32("looked_at"), _count(line)
    text = f"aftercare looked at {count_text(looked_at, 'partition')}: "
    return text + ("it is over" if over else f"not over, {left} with something left"), not over


def _end(line: Fields) -> Told:
    code = line.int32("exit_code")
    return f"ended with exit code {code}", code != 0


def _other(line: Fields) -> Told:
    return f"{line.text('event')}: {fields_text(line.values)}", False


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


_TEXTS: dict[str, Callable[[Fields], Told]] = {
    "begin": _begin,
    "observed": _observed,
    "consent": _consent,
    "wave": _wave,
    "surprise": _surprise,
    "salvage": _salvage,
    "reorder": _reorder,
    "elect": _elect,
    "sent": _sent,
    "settled": _settled,
    "restored": _restored,
    "outcome": _outcome,
    "verified": _verified,
    "markers": _markers,
    "marked": _marked,
    "aftercare": _aftercare,
    "end": _end,
}
