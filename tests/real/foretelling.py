"""`before-start` run on the disk of a dead broker, its document held against the schema."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.real.cli import Cli, Finished
from tests.real.cluster import KafkaCluster
from tests.real.recipes import TOPIC
from tests.schemas import schema_of, validated

Row = dict[str, Any]
Rows = Mapping[int, Row]


def before_start(home: Path, cluster: KafkaCluster, broker: int, *flags: str) -> Finished:
    own = ("--log-dirs", str(cluster.log_dir(broker)))
    done = Cli(home).offline("before-start", *own, *flags, "--format", "json")
    assert schema_of(validated(done.stdout)) == "before-start-1.schema.json"
    return done


def foretold(home: Path, cluster: KafkaCluster, broker: int, *flags: str) -> tuple[Rows, Finished]:
    """Return what is said of TOPIC's partitions, by number, and all that is said."""
    where = ("--bootstrap-server", cluster.bootstrap_servers)
    done = before_start(home, cluster, broker, *where, *flags)
    rows = done.json["partitions"]
    return {row["partition"]: row for row in rows if row["topic"] == TOPIC}, done


def said_since(cluster: KafkaCluster, broker: int, since: int) -> str:
    """Return what a broker printed after so many bytes of its output."""
    return cluster.output(broker).read_bytes()[since:].decode()
