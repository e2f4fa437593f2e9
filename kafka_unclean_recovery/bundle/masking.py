"""Names in documents are replaced by numbered words, the same one wherever a name stands. Pure.

Names are learnt from the fields that hold names, and from the lists of a cluster; then they are
looked for in each value, sentences too. What a program reads (codes, ids, times, digests) stays.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from kafka_unclean_recovery.documents.reading.codec import json_text
from kafka_unclean_recovery.documents.writing import plan_digest

# What the fields are called that hold a name, and the word that stands for one.
_NAMES = {
    "topic": "topic",
    "name": "topic",
    "target_topic": "topic",
    "unclean_topics": "topic",
    "group": "group",
    "transactional_id": "transactional-id",
    "host": "host",
    "rack": "rack",
    "approved_by": "user",
    "directory": "path",
    "file": "path",
    "records_file": "path",
    "journal": "path",
}
# Fields whose keys are topics.
_KEYED_BY_TOPIC = ("min_isr_of_topics",)
# What programs read as it is: codes, ids, times, digests.
_TIME = "_at"
_KEPT = frozenset(
    {
        *(
            "at",
            "v",
            "kind",
            "format_version",
            "event",
            "code",
            "severity",
            "outcome",
            "mode",
            "status",
        ),
        *("effect", "worst", "release", "version", "transport", "election_method", "dialect"),
        *("move", "digest", "plan_digest", "topic_id", "directory_id", "cluster_id", "evidence"),
    }
)
# These sentences may name groups that no field names.
_UNKNOWN = "unknown"
_UNTOLD = "a sentence that may name groups was left out"
_ADDRESS = re.compile(
    r"\b\d{1,3}(?:\.\d{1,3}){3}\b|\[?(?:[0-9a-fA-F]{0,4}:){3,7}[0-9a-fA-F]{0,4}\]?"
)
# What a name may stand in, and before the number of a partition.
_TOKEN = re.compile(r"[\w.-]+")
_OF_PARTITION = re.compile(r"(.+)(-\d+)")
_PATH = re.compile(r"(?<![\w/.])/[\w.@+-]+(?:/[\w.@+-]+)+")


class NotMasked(Exception):
    """A file is no JSON, so that names can't be found in it."""


@dataclass(slots=True)
class Masks:
    """The words that stand for names. words: name to word."""

    words: dict[str, str] = field(default_factory=dict)
    _counts: dict[str, int] = field(default_factory=dict)
    _odd: re.Pattern[str] | None = None
    _ends_of_names: Sequence[tuple[int, int]] = ()

    def learn(self, kind: str, names: Iterable[str]) -> None:
        """Give a word to each name that has none yet."""
        for name in names:
            if name and name not in self.words:
                number = self._counts[kind] = self._counts.get(kind, 0) + 1
                self.words[name] = f"{kind}-{number}"
                self._odd = None

    def learn_from(self, content: bytes) -> None:
        """Learn the names that a file of JSON documents, one or a line each, has in fields. Raises
        NotMasked."""
        for document in _documents(content):
            self._learn(document, "")

    def masked(self, content: bytes) -> bytes:
        """Return the file with words instead of names, and a plan with the digest that it has then.
        Raises NotMasked."""
        return b"".join(
            f"{json_text(self.masked_document(each))}\n".encode() for each in _documents(content)
        )

    def masked_document(self, document: Any) -> Any:
        told = self._masked(document, "")
        if isinstance(told, dict) and told.get("kind") == "plan" and "digest" in told:
            told["digest"] = plan_digest(told)
        return told

    def text(self, text: str) -> str:
        """Return a sentence with words instead of names, addresses and paths."""
        if self._odd is None:
            self._odd = _alternatives(n for n in self.words if not _TOKEN.fullmatch(n))
            ends = {_ends(name) for name in self.words}
            # Before the number of a partition a name ends where it wants.
            ends |= {(begins, 0) for begins, _ in ends} | {(0, 0)}
            self._ends_of_names = sorted(ends, key=sum, reverse=True)
        told = "".join(
            self.words[piece] if number % 2 else _TOKEN.sub(self._of_token, piece)
            for number, piece in enumerate(self._odd.split(text))
        )
        return _PATH.sub("path", _ADDRESS.sub("address", told))

    def _of_token(self, found: re.Match[str]) -> str:
        """Return what stands for a name, alone or before the number of a partition."""
        whole = found[0]
        for before, part, after in _cuts(whole, self._ends_of_names):
            if part in self.words:
                return f"{before}{self.words[part]}{after}"
            parted = _OF_PARTITION.fullmatch(part)
            if parted and parted[1] in self.words:
                return f"{before}{self.words[parted[1]]}{parted[2]}{after}"
        return whole

    def _learn(self, value: Any, key: str) -> None:
        if isinstance(value, dict):
            if key in _KEYED_BY_TOPIC:
                self.learn("topic", value)
            for name, inner in value.items():
                self._learn(inner, name)
        elif isinstance(value, list):
            for inner in value:
                self._learn(inner, key)
        elif isinstance(value, str) and key in _NAMES:
            self.learn(_NAMES[key], [value])

    def _masked(self, value: Any, key: str) -> Any:
        if isinstance(value, dict):
            topics = key in _KEYED_BY_TOPIC
            return {
                (self.words[name] if topics else name): self._masked(inner, name)
                for name, inner in value.items()
            }
        if isinstance(value, list):
            return [self._masked(inner, key) for inner in value]
        if not isinstance(value, str) or key in _KEPT or key.endswith(_TIME):
            return value
        if key in _NAMES:
            return self.words.get(value, value)
        return _UNTOLD if key == _UNKNOWN else self.text(value)


def _documents(content: bytes) -> list[Any]:
    """Return the documents of a file: one, or one in each line."""
    try:
        text = content.decode()
        try:
            return [json.loads(text)]
        except ValueError:
            return [json.loads(line) for line in text.splitlines()]
    except (ValueError, RecursionError):
        raise NotMasked("it is no JSON") from None


def _ends(name: str) -> tuple[int, int]:
    """Return how many points and hyphens a text begins and ends with."""
    return len(name) - len(name.lstrip(".-")), len(name) - len(name.rstrip(".-"))


def _cuts(token: str, ends: Iterable[tuple[int, int]]) -> Iterator[tuple[str, str, str]]:
    """Yield what may be a name in a token, with what stands before and after it: the whole, then
    with as many points and hyphens as names end with; the others are the sentence's."""
    yield "", token, ""
    first, last = _ends(token)
    if first < len(token):
        for begins, stops in ends:
            if begins <= first and stops <= last:
                begin, end = first - begins, len(token) - last + stops
                yield token[:begin], token[begin:end], token[end:]


def _alternatives(names: Iterable[str]) -> re.Pattern[str]:
    """Return what parts a text at names that have other characters than a topic's: those are
    few."""
    longest_first = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
    return re.compile(rf"(?<!\w)({longest_first or '(?!)'})(?!\w)")
