"""What server.properties says besides, for nodes that have a network of their own.

Clients on the host reach a broker at a published port of the loopback, as they reach one that is
a process; nodes reach each other by name.
"""

from __future__ import annotations

from pathlib import Path

from tests.real import security
from tests.real.properties import ClusterPorts, ClusterSpec

# Below all ports of tests.real.ports: free in every container.
INTERNAL_PORT = 9094
_PLAIN = ("CONTROLLER:PLAINTEXT", "PLAINTEXT:PLAINTEXT")
_SASL_SSL = "listener.name.sasl_ssl.scram"


def host_name(node: int) -> str:
    return f"node-{node}"


def overrides(spec: ClusterSpec, ports: ClusterPorts, directory: Path, node: int) -> dict[str, str]:
    """Return the properties that differ; the last line that names a key counts."""
    voters = (f"{id_}@{host_name(id_)}:{ports.listener[id_]}" for id_ in spec.controller_ids)
    settings = {"controller.quorum.voters": ",".join(voters)}
    if node in spec.controller_ids:
        return settings | {"listeners": f"CONTROLLER://{host_name(node)}:{ports.listener[node]}"}
    return settings | _broker(spec, ports, node) | _secured(spec, directory)


def _broker(spec: ClusterSpec, ports: ClusterPorts, node: int) -> dict[str, str]:
    name = "SASL_SSL" if spec.secured else "PLAINTEXT"
    published = {name: ports.listener[node]}
    if spec.secured:
        published["MTLS"] = ports.mtls[node]
    internal = f"INTERNAL://{host_name(node)}:{INTERNAL_PORT}"
    bound = (f"{name}://0.0.0.0:{port}" for name, port in published.items())
    advertised = (f"{name}://{spec.host}:{port}" for name, port in published.items())
    protocols = security.LISTENER_PROTOCOLS if spec.secured else _PLAIN
    return {
        "listeners": ",".join((*bound, internal)),
        "advertised.listeners": ",".join((*advertised, internal)),
        "inter.broker.listener.name": "INTERNAL",
        "listener.security.protocol.map": ",".join((*protocols, f"INTERNAL:{name}")),
    }


def _secured(spec: ClusterSpec, directory: Path) -> dict[str, str]:
    """Return the properties by which brokers log in to each other as without containers."""
    if not spec.secured:
        return {}
    theirs = security.server_properties(directory, broker=True)
    return {
        "listener.name.internal.sasl.enabled.mechanisms": "SCRAM-SHA-512",
        **{
            key.replace(_SASL_SSL, "listener.name.internal.scram"): value
            for key, value in theirs.items()
            if key.startswith(_SASL_SSL)
        },
    }
