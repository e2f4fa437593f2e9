"""What a run does to the cluster, on the disk before it is done: JSON lines.

A line is {"v": 1, "at": ISO 8601 UTC, "at_ms": ms since the Unix epoch, "event": name, ...}:

    begin     version, cluster_id, command
    observed  what was seen before planning: brokers: [{id, host, port}] that are live, fenced: ids,
              silent_brokers: {id: reason}, problems; groups_asked, unknown: which could not be;
              partitions: how many, missing: [{topic, partition, reason}]; transport,
              election_method, dialect: as asked for
    decision  of one partition: an entry of the rich plan (plan_file.py), and leader,
              offline_replicas, adding_replicas, removing_replicas; waiting, groups_beyond: as in
              the report's JSON. The last one before an `elect` of the partition is what that rests
              on, but for what was looked at again just before
    consent   how: "y", "number typed", "--yes", "no terminal", "by hand" (kafka-elect-leaders);
              partitions: how many; accept_loss: as given; plan_digest: of --plan, or null;
              approval: {plan_digest, cluster_id, approved_by, approved_at}, or null
    wave      number (from 1), of, partitions: how many; with --canary or --wave-size
    surprise  reason why no further wave is begun
    reorder   partitions: [{topic, topic_id, partition, original, written, designated_leader}]
    elect     partitions: [{topic, partition, designated_leader}], method: "designated" when
              not by reorder
    salvage   directory; partitions: [{topic, partition, broker, start_offset, end_offset, saved,
              reason}], the tails of live replicas that were saved before electing, or not
    sent      number (from 1), request: its name, partitions: how many, broker: address; boot_id
              and boot_ms: since which boot of this machine for how long, null where not known
    answered  number: of a `sent` whose answer leaves open nothing; without it, it may still be
              carried out
    settled   nothing that was sent before can be carried out any more
    outcome   partitions: [{topic, partition, outcome, reason}]
    restored  partitions: [{topic, partition}]
    verified  what the run found in the end: partitions: [{topic, partition, outcome, reason,
              leader, leader_epoch, isr}], all that were asked for; problems, interrupted
    markers   partitions: [{topic, partition, producer_id, producer_epoch, start_offset,
              transactional_id, ending: "commit" or "abort"}], of aftercare
    marked    partitions: [{topic, partition, producer_id, problem: null when it was written}]
    aftercare cluster_id, over, unknown, looked_at: how many partitions; partitions: those where
              something is left, as rows of schemas/aftercare-1.schema.json without producers
    end       exit_code; half_done: false when nothing in this file is left to be finished

The time that counts for what may still happen is that since the boot: the wall clock jumps.

A partition in a `reorder` with no later `restored` may have its replicas in our order still:
`unfinished` lists those, and the next run puts the original order back. Who reads a journal passes
over events that he does not know.
"""

from __future__ import annotations

import json
import os
import re
import stat
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

from kafka_unclean_recovery.boot_clock import BootTime
from kafka_unclean_recovery.files.locking import lock
from kafka_unclean_recovery.files.private_files import make_private_directory, why_not_ours
from kafka_unclean_recovery.files.sync_directory import sync_directory
from kafka_unclean_recovery.model import TopicPartition

VERSION = 1
# Without a home, as in a bare container.
_NO_HOME = "/tmp"  # noqa: S108 - nothing there is used that is not ours alone
# The long lines, as `note` writes them; all but their event.
_DECISION = re.compile(r'^(\{"v":1,)"at":"[^"\n]*","at_ms":\d+,("event":"decision"),.*$', re.M)

# More than a line "end" is long.
_LAST_LINE = 1024
# Of each line; after a crash of the machine zeros may stand where one was to come.
_BEGIN = b'{"v":'
_LINE_BEGINS = '{"v":1,"at":"'


class JournalError(Exception):
    """A journal can't be used; the message names the file and what to do."""


class JournalBusy(JournalError):
    """Another run is writing it."""


@dataclass(frozen=True, slots=True)
class Reordered:
    """A replica set that was to be written as `written` and belongs back to `original`."""

    topic_partition: TopicPartition
    topic_id: str
    original: tuple[int, ...]
    written: tuple[int, ...]
    at_ms: int


class Journal:
    """One file, appended to by one process at a time.

    failure: why a line is missing in it, None while none is. A journal that lost one is not relied
    on any more: `write` refuses, so nothing else is begun.
    """

    def __init__(self, path: Path, descriptor: int, lines: list[dict[str, Any]]) -> None:
        self.path = path
        self.lines = lines
        self.failure: str | None = None
        self._descriptor = descriptor
        self._whole = os.fstat(descriptor).st_size
        self._torn = False
        self._entered = False

    @classmethod
    def open(cls, path: Path) -> Self:
        """Open or make the journal and lock it. Raises JournalError."""
        descriptor = _open(path)
        try:
            _lock(path, descriptor)
            lines = _read_whole_lines(path, descriptor)
            return cls(path, descriptor, lines)
        except OSError as error:
            os.close(descriptor)
            raise JournalError(f"journal {path}: {error.strerror}; choose another") from None
        except BaseException:
            os.close(descriptor)
            raise

    def note(self, event: str, **fields: object) -> bool:
        """Append one line, on which nothing that is done hangs: True when it is written. It is on
        the disk with the next `write`, or when the journal is closed."""
        now_ms = time.time_ns() // 1_000_000
        at = datetime.fromtimestamp(now_ms / 1000, UTC).isoformat(timespec="milliseconds")
        line = {"v": VERSION, "at": at, "at_ms": now_ms, "event": event, **fields}
        data = json.dumps(line, separators=(",", ":")).encode() + b"\n"
        if not self._append(data):
            return False
        self.lines.append(line)
        return True

    def write(self, event: str, **fields: object) -> None:
        """Append one line and wait for the disk. Raises JournalError when it, or a line before it,
        could not be written: then what it announces must not be done."""
        if self.failure is None and self.note(event, **fields):
            self._sync()
        if self.failure is not None:
            raise JournalError(self.failure)

    def end(self, exit_code: int) -> None:
        """Note the end of a run. Where it leaves nothing to be finished, later runs read no more
        than this line."""
        left = self.failure is not None or half_done(self.lines)
        self.note("end", exit_code=exit_code, half_done=left)

    def _append(self, data: bytes) -> bool:
        """The whole line, or nothing of it: the next one would be glued to a part."""
        if self._torn:
            return False
        left = data
        try:
            while left:
                left = left[os.write(self._descriptor, left) :]
        except OSError as error:
            self._failed(error)
            self._cut_off()
            return False
        self._whole += len(data)
        return True

    def _cut_off(self) -> None:
        try:
            os.ftruncate(self._descriptor, self._whole)
        except OSError:
            # Who opens it next cuts it off; until then nothing may come behind it.
            self._torn = True

    def _sync(self) -> None:
        try:
            os.fsync(self._descriptor)
            if not self._entered:
                # A new file survives a crash only when its directory entry does.
                sync_directory(self.path.parent)
                self._entered = True
        except OSError as error:
            # A later fsync may succeed without what this one lost.
            self._failed(error)

    def _failed(self, error: OSError) -> None:
        self.failure = self.failure or f"journal {self.path}: {error.strerror}"

    def close(self) -> None:
        """Never raises: `failure` tells what is not on the disk."""
        self._sync()
        os.close(self._descriptor)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@contextmanager
def only_holder(path: Path) -> Iterator[None]:
    """Holds the lock of a file, which it makes. Raises JournalBusy, JournalError."""
    descriptor = _open(path)
    try:
        _lock(path, descriptor)
        yield
    finally:
        os.close(descriptor)


def _open(path: Path) -> int:
    try:
        make_private_directory(path.parent)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise JournalError(f"journal {path}: {error.strerror}; choose another") from None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise JournalError(f"journal {path}: not a plain file; choose another")
    return descriptor


def _lock(path: Path, descriptor: int) -> None:
    try:
        ours = lock(descriptor)
    except OSError as error:
        raise JournalError(f"journal {path}: {error.strerror}") from None
    if not ours:
        raise JournalBusy(f"journal {path}: another run is writing it; wait for it")


def _read_whole_lines(path: Path, descriptor: int) -> list[dict[str, Any]]:
    """All lines; a torn last one is cut off, for nothing was done on its account."""
    data = os.pread(descriptor, os.fstat(descriptor).st_size, 0)
    whole = data.rfind(b"\n") + 1
    lines = parse(data[:whole].decode(errors="replace"), str(path))
    # What was never a journal is not for us to cut off.
    if not whole and not _BEGIN.startswith(data.strip(b"\0")[: len(_BEGIN)]):
        raise JournalError(f"journal {path}: not a journal; choose another")
    if whole < len(data):
        os.ftruncate(descriptor, whole)
    return lines


def untorn(text: str) -> str:
    """The lines of a journal without beginnings of lines that another line is glued to.

    A full disk left such a part behind, and nothing was done on its account. A line begins as no
    value within one can: quotes in texts are escaped, and nothing in a line has a version.
    """
    return "".join(map(_without_torn, text.splitlines(keepends=True)))


def _without_torn(line: str) -> str:
    glued = line.rfind(_LINE_BEGINS)
    if glued < 1 or not line.startswith("{"):
        return line
    try:
        json.loads(line[:glued])
    except ValueError:
        return line[glued:]
    return line  # what came before is whole, so it was no write that failed


def parse(text: str, source: str) -> list[dict[str, Any]]:
    """The lines of a journal. Raises JournalError naming the line that is not one."""
    lines = []
    for number, line in enumerate(untorn(text).splitlines(), 1):
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            value = None
        if not isinstance(value, dict) or "event" not in value:
            raise JournalError(f"{source}, line {number}: not a line of a journal; restore it")
        if value.get("v") != VERSION:
            raise JournalError(
                f"{source}, line {number}: journal version {value.get('v')!r}, this tool reads"
                f" {VERSION}"
            )
        if not _is_whole(value):
            raise JournalError(f"{source}, line {number}: not as it was written; restore the file")
        lines.append(value)
    return lines


def _is_whole(line: Mapping[str, Any]) -> bool:
    """Whether what orders are put back by, and elections known by, is there and can be true."""
    if line["event"] not in ("reorder", "restored", "elect"):
        return True
    partitions = line.get("partitions")
    if not isinstance(partitions, list) or not isinstance(line.get("at_ms", 0), int):
        return False
    if line["event"] == "reorder" and "at_ms" not in line:
        return False
    return all(
        isinstance(p, dict)
        and isinstance(p.get("topic"), str)
        and _is_int32(p.get("partition"))
        and (line["event"] != "reorder" or _is_order(p))
        for p in partitions
    )


def _is_order(p: Mapping[str, Any]) -> bool:
    """Both orders are of the same brokers, each once."""
    orders = (p.get("original"), p.get("written"))
    brokers = [
        sorted(order) for order in orders if isinstance(order, list) and all(map(_is_int32, order))
    ]
    same = len(brokers) == 2 and brokers[0] == brokers[1] == sorted(set(brokers[0]))
    return same and isinstance(p.get("topic_id"), str)


def _is_int32(value: object) -> bool:
    return type(value) is int and 0 <= value < 2**31


def unfinished(lines: Iterable[Mapping[str, Any]]) -> tuple[Reordered, ...]:
    """Reordered partitions that are not known to have their order back, by topic and partition.

    The first `original` of several reorders counts: a later one may have seen our own order.
    """
    open_steps: dict[TopicPartition, Reordered] = {}
    for line in lines:
        if line["event"] == "reorder":
            for p in line["partitions"]:
                step = _reordered(p, line["at_ms"])
                before = open_steps.get(step.topic_partition)
                original = before.original if before else step.original
                open_steps[step.topic_partition] = Reordered(
                    step.topic_partition, step.topic_id, original, step.written, step.at_ms
                )
        elif line["event"] == "restored":
            for p in line["partitions"]:
                open_steps.pop(TopicPartition(p["topic"], p["partition"]), None)
    return tuple(open_steps[tp] for tp in sorted(open_steps))


@dataclass(frozen=True, slots=True)
class Outstanding:
    """A request that may still be carried out, as far as its journal knows. broker: its address;
    at: when it was sent. None is not known."""

    broker: str | None
    at: BootTime | None


def outstanding(lines: Iterable[Mapping[str, Any]]) -> tuple[Outstanding, ...]:
    """Requests without an answer that leaves open nothing. Of a run that did not note what it sent
    there is one of which nothing is known, while it left orders."""
    lines = list(lines)
    sent: dict[object, Outstanding] = {}
    for line in lines:
        if line["event"] == "sent":
            sent[line.get("number")] = _outstanding(line)
        elif line["event"] == "answered":
            sent.pop(line.get("number"), None)
        elif line["event"] == "settled":
            sent.clear()
    if not any(line["event"] in ("sent", "settled") for line in lines) and unfinished(lines):
        return (Outstanding(None, None),)
    return tuple(sent.values())


def _outstanding(line: Mapping[str, Any]) -> Outstanding:
    broker, boot_id, ms = (line.get(key) for key in ("broker", "boot_id", "boot_ms"))
    at = BootTime(boot_id, ms) if isinstance(boot_id, str) and isinstance(ms, int) else None
    return Outstanding(broker if isinstance(broker, str) else None, at)


def half_done(lines: Sequence[Mapping[str, Any]]) -> bool:
    """Whether a run ended while something of it was left to be finished, or on its way."""
    return bool(unfinished(lines) or outstanding(lines))


def elected(lines: Iterable[Mapping[str, Any]]) -> frozenset[TopicPartition]:
    """Partitions whose election was begun; whether by ours or not, they may have a new leader."""
    return frozenset(
        TopicPartition(p["topic"], p["partition"])
        for line in lines
        if line["event"] == "elect"
        for p in line["partitions"]
    )


def _reordered(p: Mapping[str, Any], at_ms: int) -> Reordered:
    return Reordered(
        TopicPartition(p["topic"], p["partition"]),
        p["topic_id"],
        tuple(p["original"]),
        tuple(p["written"]),
        at_ms,
    )


def state_directory(environment: Mapping[str, str], cluster_id: str) -> Path:
    """Where this user's journals of one cluster lie (XDG base directories)."""
    home = environment.get("HOME") or _NO_HOME
    base = environment.get("XDG_STATE_HOME") or str(Path(home) / ".local" / "state")
    # Kafka's cluster ids are base64url; another one must not lead out of the directory.
    name = re.sub(r"[^A-Za-z0-9_-]", "_", cluster_id)
    return Path(base) / "kafka-unclean-recovery" / name


def why_not_to_use(environment: Mapping[str, str], directory: Path) -> str | None:
    """Why a state directory may hold what somebody else put there; None where that can't be, or
    whoever runs this has chosen the place."""
    if environment.get("HOME") or environment.get("XDG_STATE_HOME"):
        return None
    return why_not_ours(directory, below=Path(_NO_HOME))


def new_path(directory: Path) -> Path:
    """A name for a new journal that sorts by time."""
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
    return directory / f"{stamp}-{os.getpid()}.jsonl"


def link_to(path: Path, directory: Path) -> Path:
    """A new entry in the directory by which later runs find a journal that lies elsewhere."""
    link = new_path(directory)
    link.symlink_to(path.resolve())
    sync_directory(directory)
    return link


def unfinished_journals(
    directory: Path, left: Callable[[Sequence[Mapping[str, Any]]], object] = unfinished
) -> tuple[list[Path], dict[Path, str]]:
    """(journals in the directory, oldest first, in whose lines there is something `left`; why
    others can't be read)."""
    found: list[Path] = []
    complaints: dict[Path, str] = {}
    for path in sorted(directory.glob("*.jsonl")):
        try:
            if _nothing_is_left(path):
                continue
            # Nothing hangs on what was known.
            text = _DECISION.sub(r"\1\2}", untorn(path.read_text(errors="replace")))
            if left(parse(text[: text.rfind("\n") + 1], str(path))):
                found.append(path)
        except JournalError as error:
            complaints[path] = str(error)
        except OSError as error:
            complaints[path] = f"{_pointed(path)}: {error.strerror}"
    return found, complaints


def _nothing_is_left(path: Path) -> bool:
    """True where the last line says that its run left nothing: every run comes by every journal,
    and most are megabytes. Raises OSError."""
    with path.open("rb") as file:
        file.seek(max(file.seek(0, os.SEEK_END) - _LAST_LINE, 0))
        *_, last, behind = (b"", *file.read().split(b"\n"))
    try:
        line = json.loads(last)
    except ValueError:
        return False
    known = isinstance(line, dict) and line.get("v") == VERSION and not behind
    return known and line.get("event") == "end" and line.get("half_done") is False


def _pointed(path: Path) -> str:
    """A link by which a journal elsewhere is found outlives it when somebody takes it away."""
    return f"{path}, a link to {path.readlink()}" if path.is_symlink() else str(path)
