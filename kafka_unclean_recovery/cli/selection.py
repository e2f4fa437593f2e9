"""Flags select the partitions that a command looks at, and name brokers."""

from __future__ import annotations

import re
import warnings
from collections.abc import Container
from dataclasses import dataclass
from pathlib import Path

from kafka_unclean_recovery.cli.terminal.console import read_input
from kafka_unclean_recovery.errors import Exit, usage
from kafka_unclean_recovery.model import TopicPartition

_INT32_MAX = 2**31 - 1
_BROKER_ID = re.compile("[0-9]{1,10}")


@dataclass(frozen=True, slots=True)
class Selection:
    """A choice of partitions: a partition must match both fields; None matches every partition.

    topics: matches the whole name of a topic. partitions: the partitions of a file.
    """

    topics: re.Pattern[str] | None = None
    partitions: frozenset[TopicPartition] | None = None

    def includes(self, partition: TopicPartition) -> bool:
        if self.partitions is not None and partition not in self.partitions:
            return False
        return self.topics is None or self.topics.fullmatch(partition.topic) is not None

    @property
    def everything(self) -> bool:
        return self.topics is None and self.partitions is None

    @property
    def hint(self) -> str:
        """Return advice to append to the sentence that nothing was found."""
        if self.topics is None:
            return ""
        given = self.topics.pattern
        return (
            f": --topics {given} matches whole names of topics, so {given}.* takes all that begin"
            f" like this, and .*{given}.* all that have it anywhere"
        )

    @property
    def named(self) -> frozenset[TopicPartition]:
        """Return the partitions that the file names and `topics` matches."""
        return frozenset(filter(self.includes, self.partitions or ()))


def selection(topics: str | None, path_to_json_file: Path | None) -> Selection:
    """Return the selection that --topics and --path-to-json-file make. Raises Exit(2)."""
    return Selection(
        None if topics is None else _pattern(topics),
        None if path_to_json_file is None else frozenset(read_partitions(path_to_json_file)),
    )


def read_partitions(path: Path) -> tuple[TopicPartition, ...]:
    """Return the partitions of --path-to-json-file, in the order of the file. Raises Exit(2)."""
    from kafka_unclean_recovery.documents.manual_recovery import parse_partitions

    return parse_partitions(read_input(path, "--path-to-json-file"), str(path))


def broker_ids(text: str | None, flag: str, alternative: str = "") -> frozenset[int]:
    """Return the broker ids of a flag such as 1,2; none when the flag is absent.

    alternative: the other values that the flag takes, for the error. Raises Exit(2).
    """
    if text is None:
        return frozenset()
    parts = [part.strip() for part in text.split(",")]
    if not all(map(_BROKER_ID.fullmatch, parts)) or max(map(int, parts)) > _INT32_MAX:
        raise usage(f"{flag} {text}: give broker ids as in 1,2{alternative}")
    return frozenset(map(int, parts))


def refuse_live(flag: str, named: frozenset[int], live: Container[int]) -> None:
    """Refuse brokers that are named as down, and are not. Raises Exit(2)."""
    if living := [broker for broker in sorted(named) if broker in live]:
        raise usage(f"{flag}: broker {living[0]} is live; leave it out")


def _pattern(text: str) -> re.Pattern[str]:
    try:
        with warnings.catch_warnings():
            # Python only warns about [[:alpha:]] and the like, whose meaning differs in Python.
            warnings.simplefilter("error")
            return re.compile(text)
    except re.error as error:
        raise _no_pattern(text, error.msg, error.pos) from None
    except (Warning, OverflowError, RecursionError) as error:
        raise _no_pattern(text, str(error), None) from None


def _no_pattern(text: str, why: str, position: int | None) -> Exit:
    where = "" if position is None else f" at character {position + 1}"
    return usage(f"--topics {text}: no regular expression of Python's re: {why}{where}")
