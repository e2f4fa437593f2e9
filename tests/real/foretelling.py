"""`before-start` run on the disk of a dead broker, its document held against the schema."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jsonschema

import kafka_unclean_recovery
from tests.real.cli import Cli, Finished
from tests.real.cluster import KafkaCluster
from tests.real.recipes import TOPIC

SCHEMA = Path(kafka_unclean_recovery.__file__).parent / "schemas" / "before-start-1.schema.json"
Row = dict[str, Any]
Rows = Mapping[int, Row]


def before_start(home: Path, cluster: KafkaCluster, broker: int, *flags: str) -> Finished:
    own = ("--log-dirs", str(cluster.log_dir(broker)))
    done = Cli(home).offline("before-start", *own, *flags, "--format", "json")
    jsonschema.validate(done.json, json.loads(SCHEMA.read_text()))
    return done


def foretold(home: Path, cluster: KafkaCluster, broker: int, *flags: str) -> tuple[Rows, Finished]:
    """What is said of TOPIC's partitions, by number, and all that is, with the cluster asked."""
    where = ("--bootstrap-server", cluster.bootstrap_servers)
    done = before_start(home, cluster, broker, *where, *flags)
    rows = done.json["partitions"]
    return {row["partition"]: row for row in rows if row["topic"] == TOPIC}, done
