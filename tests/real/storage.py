"""StorageTool, which formats the directories of a node; of all nodes at once."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable
from pathlib import Path

from tests.real import jvm, security
from tests.real.properties import (
    ClusterPorts,
    ClusterSpec,
    new_uuid,
    node_directory,
    server_properties,
)
from tests.real.tools import tool_command

TIMEOUT = 60.0


def run_storage_tool(
    spec: ClusterSpec, ports: ClusterPorts, directory: Path, nodes: Iterable[int]
) -> None:
    """Each of these nodes has its server.properties by now."""
    users = security.format_arguments() if spec.secured else ()
    voters = initial_voters(spec, ports)
    running: dict[Path, subprocess.Popen[bytes]] = {}
    try:
        for node in nodes:
            quorum = voters if node in spec.controller_ids else outside(voters)
            command = format_command(spec, server_properties(directory, node), *users, *quorum)
            log = node_directory(directory, node) / "format.log"
            running[log] = jvm.spawn(command, log)
        for log, process in running.items():
            if process.wait(TIMEOUT) != 0:
                raise RuntimeError(f"formatting failed\n{jvm.tail(log)}")
    finally:
        for process in running.values():
            jvm.kill(process)


def format_command(spec: ClusterSpec, properties: Path, *more: str) -> list[str]:
    """The command that formats the directories of a node of this cluster."""
    arguments = ("format", "-t", spec.cluster_id, "-c", str(properties))
    return tool_command(spec.version, "kafka-storage", *arguments, *more)


def initial_voters(spec: ClusterSpec, ports: ClusterPorts) -> tuple[str, ...]:
    """How a dynamic quorum begins; directory ids are what only the voters themselves have."""
    if not spec.dynamic_quorum:
        return ()
    voters = (
        f"{id_}@{spec.host}:{ports.controller[id_]}:{new_uuid()}" for id_ in spec.controller_ids
    )
    return ("--initial-controllers", ",".join(voters))


def outside(voters: tuple[str, ...]) -> tuple[str, ...]:
    """The same for a node that is none of them."""
    return ("--no-initial-controllers",) if voters else ()
