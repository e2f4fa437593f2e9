"""Formats the directories of a new cluster: StorageTool for every node, all at once."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.real import jvm, security
from tests.real.properties import ClusterSpec, node_directory
from tests.real.tools import tool_command

TIMEOUT = 60.0


def format_nodes(spec: ClusterSpec, directory: Path) -> None:
    """Every node has its server.properties by now."""
    users = security.format_arguments() if spec.secured else ()
    running: dict[Path, subprocess.Popen[bytes]] = {}
    try:
        for node in (*spec.controller_ids, *spec.broker_ids):
            home = node_directory(directory, node)
            arguments = ("format", "-t", spec.cluster_id, "-c", str(home / "server.properties"))
            command = tool_command(spec.version, "kafka-storage", *arguments, *users)
            log = home / "format.log"
            running[log] = jvm.spawn(command, log)
        for log, process in running.items():
            if process.wait(TIMEOUT) != 0:
                raise RuntimeError(f"formatting failed\n{jvm.tail(log)}")
    finally:
        for process in running.values():
            jvm.kill(process)
