"""Copies of one metadata log are replayed once, and what is said of them is the same as if each
were."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_unclean_recovery.log_dir.local_folder import LocalLocation
from kafka_unclean_recovery.log_dir.metadata import newest
from kafka_unclean_recovery.log_dir.metadata.newest import NewestMetadata, newest_metadata
from tests.log_dir.cluster_metadata_encoder import NO_OP, leader_change, snapshot, topic
from tests.metadata_quorum.disks import METADATA, SEGMENT, TIME_MS, Batches, static_log, write_node

LONGEST = 12


def _log(epoch: int, parts: int) -> Batches:
    """Return a log of which the last part begins an epoch of its own."""
    log = static_log()
    for number in range(LONGEST):
        log = log.and_then(1, topic(f"t-{number}"))
    log = log.and_then(epoch, leader_change(101, (101,))).and_then(epoch, topic(f"in-{epoch}"))
    return Batches(log.parts[:parts])


@dataclass(frozen=True)
class Copy:
    """parts: of the log, batches. torn: bytes of the last one that are missing. flipped: the place
    of a bit that is another. rolled: batches in the first segment. begins: batches that are in a
    snapshot alone; damaged: the snapshot is not whole."""

    epoch: int
    parts: int
    torn: int = 0
    flipped: int | None = None
    rolled: int | None = None
    begins: int | None = None
    damaged: bool = False

    def write(self, root: Path, node: int) -> None:
        log = _log(self.epoch, self.parts)
        batches = log.encoded()
        bases = [sum(len(w) for _, w in log.parts[:n]) for n in range(len(batches) + 1)]
        home = write_node(root, node, log, data=b"") / METADATA
        (home / SEGMENT).unlink()
        start = min(self.begins or 0, len(batches))
        if start:
            found = snapshot(bases[start], topic("old"), epoch=1, time_ms=TIME_MS)
            size = found.size - 9 if self.damaged else found.size
            (home / found.name).write_bytes(found.read_at(0, size))
        middle = max(start, min(self.rolled or 0, len(batches)))
        for first, end in ((start, middle), (middle, len(batches))):
            if first < end:
                (home / f"{bases[first]:020}.log").write_bytes(b"".join(batches[first:end]))
        self._damage(sorted(home.glob("*.log")))

    def _damage(self, segments: Sequence[Path]) -> None:
        if segments and self.torn:
            data = segments[-1].read_bytes()
            segments[-1].write_bytes(data[: max(0, len(data) - self.torn)])
        if segments and self.flipped is not None:
            altered = bytearray(segments[0].read_bytes())
            if altered:
                altered[self.flipped % len(altered)] ^= 1
            segments[0].write_bytes(altered)


_parts = len(_log(9, 99).parts)
copies = st.builds(
    Copy,
    epoch=st.sampled_from([9, 9, 9, 8]),
    parts=st.integers(1, _parts),
    torn=st.sampled_from([0, 0, 0, 1, 40, 300]),
    flipped=st.one_of(st.none(), st.none(), st.integers(0, 2000)),
    rolled=st.one_of(st.none(), st.integers(1, _parts)),
    begins=st.one_of(st.none(), st.integers(1, _parts)),
    damaged=st.booleans(),
)


@contextmanager
def _each_replayed() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(newest, "repeats", lambda *_: False)
        yield


def _newest(root: Path, order: Sequence[int] = ()) -> NewestMetadata:
    nodes = sorted(root.iterdir())
    return newest_metadata([LocalLocation(nodes[n]) for n in order or range(len(nodes))])


@settings(max_examples=150, deadline=None)
@given(st.lists(copies, min_size=1, max_size=5), st.randoms())
def test_what_is_told_is_what_replaying_every_copy_tells(
    given_: list[Copy], random: object
) -> None:
    with TemporaryDirectory() as directory:
        root = Path(directory)
        for node, copy in enumerate(given_, 1):
            copy.write(root, node)
        found = _newest(root)
        with _each_replayed():
            truth = _newest(root)
        assert found == truth
        backwards = _newest(root, range(len(given_))[::-1])
        assert (backwards.metadata is None) == (found.metadata is None)
        if found.metadata is not None and backwards.metadata is not None:
            assert backwards.metadata.authority == found.metadata.authority


@pytest.mark.parametrize("rolled", [None, 4])
def test_of_many_copies_one_is_replayed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rolled: int | None
) -> None:
    for node in range(1, 21):
        Copy(9, _parts - node % 3, rolled=rolled).write(tmp_path, node)
    replayed: list[str] = []
    read = newest.read_node

    def counted(location: LocalLocation) -> object:
        replayed.append(str(location))
        return read(location)

    monkeypatch.setattr(newest, "read_node", counted)
    found = _newest(tmp_path)
    assert found.metadata is not None
    assert found.metadata.end_offset == _log(9, _parts).end
    assert (len(found.read), found.problems, len(replayed)) == (20, (), 1)


def test_of_two_that_go_as_far_the_whole_one_counts(tmp_path: Path) -> None:
    Copy(9, _parts).write(tmp_path, 1)
    Copy(9, _parts).write(tmp_path, 2)
    torn = tmp_path / "node-2" / METADATA / SEGMENT
    torn.write_bytes(torn.read_bytes() + b"\0" * 80)
    found = _newest(tmp_path)
    assert (found.problems, found.ends_early, len(found.read)) == ((), None, 2)


def test_of_half_a_batch_nothing_is_read_and_an_empty_log_is_one(tmp_path: Path) -> None:
    Copy(9, _parts).write(tmp_path, 1)
    for node, size in ((2, 30), (3, 0)):
        Copy(9, _parts).write(tmp_path, node)
        segment = tmp_path / f"node-{node}" / METADATA / SEGMENT
        segment.write_bytes(segment.read_bytes()[:size])
    found = _newest(tmp_path)
    assert found.read == {LocalLocation(tmp_path / f"node-{node}") for node in (1, 3)}
    (problem,) = found.problems
    assert problem.startswith(str(tmp_path / "node-2"))


def test_a_no_op_more_is_a_newer_log(tmp_path: Path) -> None:
    Copy(9, _parts).write(tmp_path, 1)
    longer = _log(9, _parts).and_then(9, NO_OP)
    write_node(tmp_path, 2, longer)
    found = _newest(tmp_path)
    assert found.metadata is not None
    assert found.metadata.end_offset == longer.end
