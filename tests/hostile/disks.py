"""Commands on disks whose names, small files and metadata are changed in one place."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import count
from pathlib import Path

from tests.cli.disks import SEGMENT, log_directory
from tests.hostile.odd import TEXTS
from tests.log_dir.cluster_metadata_encoder import (
    batch,
    config,
    feature,
    leader_change,
    partition,
    topic,
)
from tests.log_dir.segments import checkpoint, v2
from tests.metadata_quorum.disks import METADATA

SMALL_FILES = (
    "meta.properties",
    "orders-0/partition.metadata",
    "orders-0/leader-epoch-checkpoint",
    "replication-offset-checkpoint",
    "recovery-point-offset-checkpoint",
    "log-start-offset-checkpoint",
    ".kafka_cleanshutdown",
    "__cluster_metadata-0/quorum-state",
)
_NUMBERS = ("-1", "9223372036854775807", "9223372036854775808", "9" * 5000, "NaN", "1e400", "")
_VOTED = '"votedId":-1,"votedDirectoryId":"AAAAAAAAAAAAAAAAAAAAAA"'
# How each small file says what it says, with {} for a value.
_LINES = {
    "meta.properties": (
        "version={}\nnode.id=1\ncluster.id=c\n",
        "version=1\nnode.id={}\ncluster.id=c\n",
        "version=1\nnode.id=1\ncluster.id={}\n",
        "version=1\nnode.id=1\ncluster.id=c\ndirectory.id={}\n",
    ),
    "partition.metadata": ("version: {}\ntopic_id: x\n", "version: 0\ntopic_id: {}\n"),
    "leader-epoch-checkpoint": ("{}\n1\n0 0\n", "0\n{}\n0 0\n", "0\n1\n{} 0\n", "0\n1\n0 {}\n"),
    ".kafka_cleanshutdown": (
        '{{"version":{},"brokerEpoch":1}}',
        '{{"version":0,"brokerEpoch":{}}}',
    ),
    "quorum-state": (
        f'{{{{"leaderId":{{}},"leaderEpoch":1,{_VOTED},"data_version":1}}}}',
        f'{{{{"leaderId":1,"leaderEpoch":1,{_VOTED},"data_version":{{}}}}}}',
    ),
}
_OFFSETS = ("{}\n1\norders 0 1\n", "0\n{}\norders 0 1\n", "0\n1\n{} 0 1\n", "0\n1\norders 0 {}\n")


def trials(directory: Path, texts: tuple[str, ...]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield (what was changed, the command)."""
    roots = (directory / f"disk-{number}" for number in count())
    names = {**{what: TEXTS[what] for what in texts}, "no UTF-8": "x\udcff\udc80"}
    for what, text in names.items():
        for name, root in _named(roots, text):
            yield f"{name}: {what}", ("scan-log-dirs", str(root))
    values = {**{what: TEXTS[what] for what in texts}, **{n[:30]: n for n in _NUMBERS}}
    for file in SMALL_FILES:
        for template in _LINES.get(file.rpartition("/")[2], _OFFSETS):
            for what, value in values.items():
                root = next(roots)
                _disk(root)
                (root / file).parent.mkdir(exist_ok=True)
                (root / file).write_text(template.format(value), errors="surrogateescape")
                yield f"{file}: {template!r}: {what}", ("scan-log-dirs", str(root))
    for command in (("scan-log-dirs",), ("quorum", "inspect")):
        for name, log in _metadata_logs(texts):
            _disk(root := next(roots))
            (root / METADATA).mkdir()
            (root / METADATA / SEGMENT).write_bytes(log)
            yield f"{METADATA}: {name}", (*command, str(root))


def _metadata_logs(texts: tuple[str, ...]) -> Iterator[tuple[str, bytes]]:
    """Yield metadata logs whose records, or times, are odd."""
    begin = batch(0, leader_change()) + batch(1, feature("metadata.version", 30))
    for what in texts:
        text = TEXTS[what]
        for name, written in (
            ("a topic", (topic(text), partition(0, (1, 2)))),
            ("a config", (topic("orders"), config(2, text, text, text))),
            ("a feature", (feature(text, 1),)),
            ("no record", (text.encode()[:100_000] or b"\0",)),
        ):
            yield f"{name}: {what}", begin + batch(2, *written)
    for number in (-(2**63), 2**63 - 1):
        yield f"a time of {number}", begin + batch(2, topic("orders"), time_ms=number)
    for number in (-(2**31), 2**31 - 1):
        yield f"a partition {number}", begin + batch(2, topic("orders"), partition(number, (1,)))
        replicas = batch(2, topic("orders"), partition(0, (number, number)))
        yield f"a replica {number}", begin + replicas
        yield f"an epoch {number}", begin + batch(2, topic("orders"), epoch=number)


def _disk(root: Path) -> Path:
    return log_directory(root, 1, {"orders-0": 10})


def _named(roots: Iterator[Path], text: str) -> Iterator[tuple[str, Path]]:
    """Yield disks with this name in each place where a name can stand."""
    name = os.fsdecode(os.fsencode(text.replace("/", "").replace("\0", ""))[:200])
    if not name:
        return
    root = next(roots)
    (root / name).mkdir(parents=True)
    (root / name / SEGMENT).touch()
    (root / f"link{name}").symlink_to("/nonexistent")
    yield "names where no log directory is", root
    for place in (f"{name}-0", f"{name}.0123456789abcdef0123456789abcdef-delete", name):
        _disk(root := next(roots))
        (root / place).mkdir()
        (root / place / SEGMENT).write_bytes(v2(0, 5))
        (root / place / "leader-epoch-checkpoint").write_bytes(checkpoint("0 0"))
        yield f"a directory {place[-20:]!r}", root
    _disk(root := next(roots))
    (root / "orders-0" / name).touch()
    os.mkfifo(root / "orders-0" / f"{name[:100]}.log")
    yield "files of a replica", root
    yield "a path that is not there", next(roots) / name
