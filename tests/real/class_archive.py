"""The classes of a Kafka node, parsed and verified once (AppCDS).

Measured on two cores: 0.9 s instead of 1.7 s of CPU until a node is up, 0.3 s instead of 0.45 s
a tool; making the archive takes 5 s, once per version. A JVM that cannot use it ignores it.

    python -m tests.real.class_archive 4.4.0 4.3.1 3.9.1
"""

from __future__ import annotations

import hashlib
import shutil
import sys
from functools import cache
from pathlib import Path

from tests.real.cache import CACHE, made_once
from tests.real.jars import main_class
from tests.real.jvm import java_command, kill, run, spawn, tail
from tests.real.ports import LOOPBACK, PortLease, answers
from tests.real.waiting import wait_until

TIMEOUT = 60.0
ONE_NODE = """\
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@{host}:{controller}
controller.listener.names=CONTROLLER
listeners=PLAINTEXT://{host}:{broker},CONTROLLER://{host}:{controller}
log.dirs={data}
"""


@cache
def class_archive(version: str) -> Path:
    """Return the archive, under a name that another JVM or other jars would not share."""
    java = shutil.which("java")
    if java is None:
        raise RuntimeError("no java on the PATH")
    binary = Path(java).resolve()
    identity = f"{binary} {binary.stat().st_mtime_ns}"
    digest = hashlib.sha256(identity.encode()).hexdigest()[:12]
    target = CACHE / "kafka" / version / f"classes-{digest}.jsa"
    return made_once(target, lambda made: _dump_classes(version, made))


def _dump_classes(version: str, archive: Path) -> None:
    """Run one node until its broker answers; its JVM writes the archive as it ends."""
    directory = archive.parent
    lease = PortLease.of(2)
    try:
        properties = directory / "server.properties"
        _format(version, properties, lease.ports)
        dump = f"-XX:ArchiveClassesAtExit={archive}"
        log = directory / "output.log"
        command = java_command(
            version, "kafka.Kafka", str(properties), heap_mb=384, options=(dump,)
        )
        node = spawn(command, log)
        try:
            wait_until(
                lambda: node.poll() is not None or answers(lease.ports[0]),
                TIMEOUT,
                lambda: f"the broker did not answer\n{tail(log)}",
            )
            node.terminate()
            node.wait(TIMEOUT)
        finally:
            kill(node)
        if not archive.exists():
            raise RuntimeError(f"no class archive was written\n{tail(log)}")
    finally:
        lease.release()


def _format(version: str, properties: Path, ports: tuple[int, ...]) -> None:
    data = properties.parent / "data"
    broker, controller = ports
    properties.write_text(
        ONE_NODE.format(host=LOOPBACK, broker=broker, controller=controller, data=data)
    )
    release, tool = main_class(version, "kafka.tools.StorageTool")
    arguments = ("format", "-t", "zgn977kFTUKlmvkmv3DyYA", "-c", str(properties))
    done = run(java_command(release, tool, *arguments, heap_mb=128), TIMEOUT)
    if done.returncode != 0:
        raise RuntimeError(f"formatting failed\n{done.stdout}\n{done.stderr}")


if __name__ == "__main__":
    for release in sys.argv[1:]:
        class_archive(release)
