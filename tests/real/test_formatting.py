"""A new cluster is made of copies, which hold what StorageTool would have written."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from kafka.record import MemoryRecords

from tests.real.formatting import format_nodes
from tests.real.properties import (
    ClusterPorts,
    ClusterSpec,
    log_dirs,
    new_uuid,
    node_directory,
    write_server_properties,
)
from tests.real.releases import ONE, READ_ONLY, TESTED
from tests.real.storage import run_storage_tool

# How a record of the metadata log begins that is a SCRAM user: its frame, API key, version.
SCRAM_USER = bytes((1, 11, 0))
Files = dict[Path, Any]


@pytest.mark.parametrize("version", [*TESTED, READ_ONLY])
@pytest.mark.parametrize(
    "kind",
    [
        pytest.param({"log_dirs_per_broker": 2}, id="plain"),
        pytest.param({"secured": True}, id="secured"),
        pytest.param({"combined": True, "log_dirs_per_broker": 2}, id="combined"),
    ],
)
def test_a_copy_holds_what_storage_tool_writes(
    tmp_path: Path, version: str, kind: dict[str, Any]
) -> None:
    spec = _spec(version, **kind)
    _format(spec, tmp_path / "copied")
    assert _by_storage_tool(spec, tmp_path / "copied") == set()
    ports = _configure(spec, tmp_path / "written")
    # Of its own ids, a template has neither 2 nor 102.
    nodes = {2, max(spec.node_ids)}
    run_storage_tool(spec, ports, tmp_path / "written", nodes)
    for node in nodes:
        for copied, written in zip(
            log_dirs(spec, tmp_path / "copied", node),
            log_dirs(spec, tmp_path / "written", node),
            strict=True,
        ):
            assert _files(copied) == _files(written)
            assert _ids(copied).keys() == _ids(written).keys()
            assert _ids(copied)["node.id"] == _ids(written)["node.id"] == str(node)
            assert _ids(copied)["cluster.id"] == _ids(written)["cluster.id"] == spec.cluster_id


@pytest.mark.parametrize("version", [*TESTED, READ_ONLY])
def test_each_directory_has_an_id_of_its_own(tmp_path: Path, version: str) -> None:
    spec = _spec(version, log_dirs_per_broker=2)
    found: list[dict[str, str]] = []
    for directory in (tmp_path / "one", tmp_path / "other"):
        _format(spec, directory)
        for node in spec.node_ids:
            found += [_ids(log_dir) for log_dir in log_dirs(spec, directory, node)]
    own = {ids["directory.id"] for ids in found if "directory.id" in ids}
    # Two brokers with two each, and two controllers, twice. 3.6.2 knows no such ids.
    assert len(own) == (0 if version == READ_ONLY else 12)


@pytest.mark.parametrize("version", TESTED)
def test_voters_of_a_dynamic_quorum_are_formatted_by_storage_tool(
    tmp_path: Path, version: str
) -> None:
    spec = _spec(version, dynamic_quorum=True)
    _format(spec, tmp_path)
    assert _by_storage_tool(spec, tmp_path) == set(spec.controller_ids)


def test_so_is_a_cluster_with_a_property_that_storage_tool_heeds(tmp_path: Path) -> None:
    heeded = {"unstable.feature.versions.enable": "true"}
    spec = ClusterSpec(ONE, new_uuid(), brokers=1, properties=heeded)
    _format(spec, tmp_path)
    assert _by_storage_tool(spec, tmp_path) == set(spec.node_ids)


def _spec(version: str, **kind: Any) -> ClusterSpec:
    return ClusterSpec(version, new_uuid(), brokers=2, controllers=2, **kind)


def _configure(spec: ClusterSpec, directory: Path) -> ClusterPorts:
    """Write the configurations; nothing listens at these ports."""
    directory.mkdir(exist_ok=True)
    ports = ClusterPorts.assign(spec, tuple(range(1, spec.ports_needed + 1)))
    for node in spec.node_ids:
        write_server_properties(spec, ports, directory, node)
    return ports


def _format(spec: ClusterSpec, directory: Path) -> None:
    format_nodes(spec, _configure(spec, directory), directory)


def _by_storage_tool(spec: ClusterSpec, directory: Path) -> set[int]:
    """Return the nodes for which it left a log."""
    return {
        node for node in spec.node_ids if (node_directory(directory, node) / "format.log").exists()
    }


def _ids(log_dir: Path) -> dict[str, str]:
    """Return all of meta.properties."""
    lines = (log_dir / "meta.properties").read_text().splitlines()
    return dict(line.split("=") for line in lines if not line.startswith("#"))


def _files(log_dir: Path) -> Files:
    """Return what is in each file but meta.properties; of a checkpoint, its records."""
    files = (path for path in log_dir.rglob("*") if path.name != "meta.properties")
    return {path.relative_to(log_dir): _content(path) for path in files}


def _content(path: Path) -> Any:
    if path.is_dir():
        return None
    return list(_records(path)) if path.suffix == ".checkpoint" else path.read_bytes()


def _records(checkpoint: Path) -> Iterator[tuple[int, bytes | None, bytes]]:
    """Yield offset, key, and value, apart from the time and what comes of chance."""
    records: Any = MemoryRecords(checkpoint.read_bytes())  # type: ignore[no-untyped-call]
    while (batch := records.next_batch()) is not None:
        for record in batch:
            hide = _without_the_time if batch.is_control_batch else _without_salt
            yield record.offset, record.key, hide(record.value)


def _without_the_time(header: bytes) -> bytes:
    """Return a snapshot's header without the last record's time, which is behind 2 versions."""
    return header[:3] + header[11:]


def _without_salt(record: bytes) -> bytes:
    """Return a SCRAM user without chance and the iterations: a name and a mechanism."""
    if not record.startswith(SCRAM_USER):
        return record
    name_end = len(SCRAM_USER) + record[len(SCRAM_USER)]
    return record[: name_end + 1] + record[-5:]
