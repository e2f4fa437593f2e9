"""Formats the directories of a new cluster: copies of what StorageTool wrote once.

StorageTool takes half a second of a core for each node, and for nodes of one kind it writes the
same but for the ids in meta.properties, the time, and the salts of passwords.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from tests.real.cache import CACHE, made_once
from tests.real.properties import (
    FIRST_CONTROLLER,
    ClusterPorts,
    ClusterSpec,
    log_dirs,
    new_uuid,
    write_server_properties,
)
from tests.real.saved import digest_of
from tests.real.storage import run_storage_tool

# What a template depends on besides its spec; a change here makes it anew.
SOURCES = ("formatting.py", "properties.py", "security.py", "storage.py")
# Of what a cluster sets for its nodes, StorageTool heeds these. No template has them.
HEEDED = frozenset(
    {"inter.broker.protocol.version", "metadata.log.dir", "unstable.feature.versions.enable"}
)
IDS = re.compile(r"^(cluster\.id|directory\.id|node\.id)=.*$", re.MULTILINE)


def format_nodes(spec: ClusterSpec, ports: ClusterPorts, directory: Path) -> None:
    """Every node has its server.properties by now."""
    alike = _alike(spec)
    run_storage_tool(spec, ports, directory, [id_ for id_ in spec.node_ids if id_ not in alike])
    if alike:
        made = template(spec)
        for node in alike:
            _copy(made, spec, directory, node)


def template(spec: ClusterSpec) -> Path:
    """The directory of a formatted cluster of this kind, with one node of each role."""
    like = _like(spec)
    name = f"{spec.version}-{digest_of(SOURCES, repr(like))}"
    return made_once(CACHE / "formatted" / name, lambda made: _make(like, made))


def _alike(spec: ClusterSpec) -> tuple[int, ...]:
    """The nodes that differ by their ids alone: voters of a dynamic quorum hold its addresses."""
    if HEEDED & spec.properties.keys():
        return ()
    voters = spec.controller_ids if spec.dynamic_quorum else ()
    return tuple(node for node in spec.node_ids if node not in voters)


def _like(spec: ClusterSpec) -> ClusterSpec:
    """With all that decides what StorageTool writes."""
    return ClusterSpec(
        version=spec.version,
        cluster_id="",
        brokers=1,
        log_dirs_per_broker=spec.log_dirs_per_broker,
        secured=spec.secured,
        dynamic_quorum=spec.dynamic_quorum,
        combined=spec.combined,
    )


def _make(like: ClusterSpec, directory: Path) -> None:
    """Nothing ever listens at the ports."""
    spec = replace(like, cluster_id=new_uuid())
    ports = ClusterPorts.assign(spec, tuple(range(1, spec.ports_needed + 1)))
    directory.mkdir()
    for node in _alike(spec):
        write_server_properties(spec, ports, directory, node)
    run_storage_tool(spec, ports, directory, _alike(spec))


def _copy(made: Path, spec: ClusterSpec, directory: Path, node: int) -> None:
    role = 1 if node in spec.broker_ids else FIRST_CONTROLLER
    sources, targets = log_dirs(_like(spec), made, role), log_dirs(spec, directory, node)
    for source, target in zip(sources, targets, strict=True):
        shutil.copytree(source, target)
        # The cluster has an id of its own: a copied one would be let in on a port that is used
        # again.
        ids = {"cluster.id": spec.cluster_id, "directory.id": new_uuid(), "node.id": str(node)}
        _write_ids(target / "meta.properties", ids)


def _write_ids(properties: Path, ids: Mapping[str, str]) -> None:
    """Those that are there: directories have had an id since 3.7."""
    text = properties.read_text()
    properties.write_text(IDS.sub(lambda found: f"{found[1]}={ids[found[1]]}", text))
