"""Write the log directory of a controller that begins from the best copy, as a plan says.

It is made under another name beside its place, read back by our own reader, and moved to its place
in one step once all of it is on the disk. So there is a whole directory under its name, or none. A
run that is killed leaves `.NAME.HEX.partial`, which gets its meta.properties last of all: without
one no node starts.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import uuid
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from kafka_unclean_recovery.documents.quorum import QuorumPlanJson, SeedFileJson
from kafka_unclean_recovery.errors import InputError
from kafka_unclean_recovery.files.private_files import open_private
from kafka_unclean_recovery.files.sync_directory import sync_directory
from kafka_unclean_recovery.log_dir.errors import BadFormat
from kafka_unclean_recovery.log_dir.local_folder import LocalLocation
from kafka_unclean_recovery.log_dir.metadata.newest import CLUSTER_METADATA
from kafka_unclean_recovery.log_dir.small_files.properties_files import (
    META_PROPERTIES,
    PARTITION_METADATA,
    kafka_uuid,
)
from kafka_unclean_recovery.log_dir.small_files.quorum_state import (
    QUORUM_STATE,
    quorum_state_json,
)
from kafka_unclean_recovery.log_dir.tree import Folder, OpenFile, Unreadable
from kafka_unclean_recovery.metadata_quorum.copies import Copy, read_copy
from kafka_unclean_recovery.metadata_quorum.places import CopyPlace

_AT_ONCE = 1 << 20
# The topic id of __cluster_metadata (Uuid.METADATA_TOPIC_ID).
_METADATA_TOPIC = "version: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAAAQ"

Interrupt = Callable[[], None]
"""Called between two pieces; what it raises ends the work, and what was written is removed."""


class SeedRefused(Exception):
    """The seed was not written; the message says why. Nothing is left."""


def write_seed(plan: QuorumPlanJson, target: Path, interrupt: Interrupt) -> None:
    """Write the directory. Raises SeedRefused, and whatever `interrupt` does."""
    partial = target.with_name(f".{target.name}.{os.urandom(8).hex()}.partial")
    try:
        _write(plan, partial, interrupt)
        _read_back(plan, partial)
        _write_file(partial / META_PROPERTIES, _meta_properties(plan))
        _give_away(partial, Path(plan.seed.directory))
        sync_directory(partial)
        if os.path.lexists(target):
            raise SeedRefused(f"{target}: it was made meanwhile, and nothing is overwritten")
        partial.rename(target)
        sync_directory(target.parent)
    except (OSError, BadFormat, Unreadable) as error:
        raise SeedRefused(f"{target}: {error}") from None
    finally:
        with suppress(FileNotFoundError):
            shutil.rmtree(partial)


def _write(plan: QuorumPlanJson, partial: Path, interrupt: Interrupt) -> None:
    metadata = partial / CLUSTER_METADATA
    partial.mkdir(mode=0o700)
    metadata.mkdir(mode=0o700)
    with LocalLocation(Path(plan.seed.directory)).open() as source:
        _stands_still(plan, source)
        for wanted in plan.seed.files:
            with source.opened(wanted.name) as file:
                _copy(plan, wanted, file, metadata / wanted.name, interrupt)
    _write_file(metadata / PARTITION_METADATA, _METADATA_TOPIC.encode())
    _write_file(metadata / QUORUM_STATE, quorum_state_of(plan))
    sync_directory(metadata)


def _stands_still(plan: QuorumPlanJson, source: Folder) -> None:
    """Check that the copy has not grown since the plan: then somebody leads. Raises SeedRefused."""
    sizes = {file.name: file.found_size for file in plan.seed.files}
    for entry in source.entries():
        grew = entry.name in sizes and entry.size != sizes[entry.name]
        if grew or (entry.name.endswith(".log") and entry.name not in sizes):
            raise SeedRefused(
                f"{plan.seed.directory}/{entry.name}: it was written since the plan was made, so"
                " somebody leads: see who, and make a new plan"
            )


def quorum_state_of(plan: QuorumPlanJson) -> bytes:
    voters = None if plan.seed.kraft_version > 0 else [plan.new_controller.id]
    return quorum_state_json(plan.epoch, voters)


def _copy(
    plan: QuorumPlanJson, wanted: SeedFileJson, file: OpenFile, to: Path, interrupt: Interrupt
) -> None:
    """Copy the bytes that the plan names. Raises SeedRefused where they are other bytes now."""
    hashed = hashlib.sha256()
    with open_private(to, "xb") as copy:
        position = 0
        while position < wanted.size:
            interrupt()
            part = file.read_at(position, min(_AT_ONCE, wanted.size - position))
            if not part:
                break
            hashed.update(part)
            copy.write(part)
            position += len(part)
        if hashed.hexdigest() != wanted.sha256:
            raise SeedRefused(
                f"{plan.seed.directory}/{wanted.name}: is not as it was when the plan was made;"
                " make a new plan"
            )
        if wanted.name == plan.seed.last_segment and plan.control_batch is not None:
            copy.write(bytes.fromhex(plan.control_batch))
        copy.flush()
        os.fsync(copy.fileno())


def _meta_properties(plan: QuorumPlanJson) -> bytes:
    new = plan.new_controller
    lines = {
        "version": "1",
        "cluster.id": plan.cluster_id,
        "node.id": str(new.id),
        "directory.id": kafka_uuid(uuid.UUID(new.directory_id)),
    }
    return "".join(f"{key}={value}\n" for key, value in lines.items()).encode()


def _write_file(path: Path, data: bytes) -> None:
    with open_private(path, "xb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _give_away(partial: Path, source: Path) -> None:
    """Give all to the owner of the source where we are root: that is who runs Kafka."""
    if os.geteuid() == 0:
        owner = source.stat()
        for path in (partial, *partial.rglob("*")):
            os.chown(path, owner.st_uid, owner.st_gid)


def _read_back(plan: QuorumPlanJson, partial: Path) -> None:
    """Read what was written as any copy is read. Raises SeedRefused where it is not as planned."""
    copy, _ = read_copy(CopyPlace(LocalLocation(partial / CLUSTER_METADATA), alone=True))
    for what, wanted, found in _differences(plan, copy):
        if wanted != found:
            raise SeedRefused(f"read back, its {what} is {found}, and not {wanted} as planned")


def _differences(plan: QuorumPlanJson, copy: Copy) -> list[tuple[str, object, object]]:
    state = copy.quorum_state
    dynamic = plan.control_batch is not None
    expected: list[tuple[str, object, object]] = [
        ("damage", None, copy.end.damage),
        ("torn end", 0, copy.end.torn),
        ("record that ends a controller", None, copy.fatal),
        ("end offset", plan.seed.end_offset + (2 if dynamic else 0), copy.end_offset),
        ("last epoch", plan.epoch if dynamic else plan.seed.last_epoch, copy.last_epoch),
        ("kraft.version", plan.seed.kraft_version, copy.kraft_version),
        ("epoch of quorum-state", plan.epoch, None if state is None else state.leader_epoch),
    ]
    if dynamic:
        new = plan.new_controller
        voters = [(voter.id, voter.directory_id) for voter in copy.voters]
        expected.append(("voters", [(new.id, new.directory_id)], voters))
    return expected


def check_plan(plan: QuorumPlanJson, source: str) -> None:
    """Refuse a plan that no run of ours made although its digest agrees. Raises InputError."""
    if len(plan.new_controller.listeners) != 1 or plan.new_controller.directory_id is None:
        raise InputError(f"{source}: new_controller: has one listener and a directory id")
    if any("/" in file.name or file.name.startswith(".") for file in plan.seed.files):
        raise InputError(f"{source}: seed: files: are names in one directory")
    try:
        uuid.UUID(plan.new_controller.directory_id)
        bytes.fromhex(plan.control_batch or "")
    except ValueError as error:
        raise InputError(f"{source}: {error}") from None
    named = {file.name for file in plan.seed.files}
    if plan.control_batch is not None and plan.seed.last_segment not in named:
        raise InputError(f"{source}: seed: last_segment: is none of its files")
