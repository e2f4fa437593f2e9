"""The Jobs: valid by the schemas of Kubernetes and Strimzi, understood by our parser, and run."""

from __future__ import annotations

import copy
import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from kafka_unclean_recovery.emulator import Cluster, Options, Security
from tests.command_lines import ROOT, parse
from tests.emulator.secured import PASSWORD, USER, Papers
from tests.examples.programs import PATH_WITH_OURS
from tests.examples.schemas import complaints

KUBERNETES = ROOT / "examples" / "kubernetes"
FILES = sorted(KUBERNETES.glob("*.yaml"))


def _documents(path: Path) -> list[Any]:
    return list(yaml.safe_load_all(path.read_text()))


def _job(path: Path) -> Any:
    (job,) = (document for document in _documents(path) if document["kind"] == "Job")
    return job


def _container(path: Path) -> Any:
    (container,) = _job(path)["spec"]["template"]["spec"]["containers"]
    return container


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_each_document_is_valid(path: Path) -> None:
    if "kafka.strimzi.io" in path.read_text() and shutil.which("mvn") is None:
        pytest.skip("Maven fetches what Strimzi says of its resources; install it and Java")
    for document in _documents(path):
        assert complaints(document) == []
        # A schema that accepts anything would prove nothing.
        wrong = copy.deepcopy(document)
        wrong["spec"]["unheardOf"] = True
        assert any("unheardOf" in complaint for complaint in complaints(wrong))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_each_job_has_what_it_mounts_and_no_more_than_it_needs(path: Path) -> None:
    pod = _job(path)["spec"]["template"]["spec"]
    container = _container(path)
    mounted = {mount["name"]: mount["mountPath"] for mount in container["volumeMounts"]}
    assert {volume["name"] for volume in pod["volumes"]} == mounted.keys()
    claims = {each["metadata"]["name"] for each in _documents(path) if "storage" in str(each)}
    for volume in pod["volumes"]:
        if "persistentVolumeClaim" in volume:
            assert volume["persistentVolumeClaim"]["claimName"] in claims
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert container["securityContext"]["readOnlyRootFilesystem"] is True
    # Where the image keeps journals.
    dockerfile = (ROOT / "examples" / "container" / "Dockerfile").read_text()
    assert f"XDG_STATE_HOME={mounted['state']}\n" in dockerfile
    assert f"ARG UID={pod['securityContext']['runAsUser']}\n" in dockerfile


def test_the_job_is_understood_by_our_parser() -> None:
    container = _container(KUBERNETES / "job.yaml")
    parse(["kafka-unclean-recovery", *container["args"]])
    config = dict(
        each.removeprefix("--").split("=", 1) for each in container["args"] if "=" in each
    )
    assert Path(config["command-config"]).parent == Path("/etc/kafka-client")


@pytest.fixture
def papers(tmp_path: Path) -> Papers:
    return Papers.made(tmp_path)


@pytest.fixture
def outage(papers: Papers) -> Iterator[Cluster]:
    """The partition orders-0 has no leader; logins by SCRAM, the rights are those of the user."""
    (user,) = (each for each in _documents(KUBERNETES / "strimzi.yaml") if "acls" in str(each))
    rights = [
        f"{acl['resource']['type'].title()}{_name(acl['resource'])}:{operation.upper()}"
        for acl in user["spec"]["authorization"]["acls"]
        for operation in acl["operations"]
    ]
    security = Security("SASL_SSL", tls=papers.tls(), users={USER: PASSWORD}, rights={USER: rights})
    with Cluster(Options(brokers=2, security=security)) as cluster:
        cluster.create_topic("orders", assignment=[(1, 2)], configs={"min.insync.replicas": "1"})
        cluster.produce("orders", 0, 10)
        cluster.kill(2)
        cluster.fence(2)
        cluster.produce("orders", 0, 10)
        cluster.kill(1)
        cluster.fence(1)
        cluster.start(2)
        yield cluster


def _name(resource: Any) -> str:
    return f"({resource['name']})" if "name" in resource else ""


def test_the_script_of_the_strimzi_job_recovers_with_the_rights_of_its_user(
    outage: Cluster, papers: Papers, tmp_path: Path
) -> None:
    jaas = tmp_path / "sasl.jaas.config"
    quoted = PASSWORD.replace("\\", "\\\\\\\\")
    jaas.write_text(
        "org.apache.kafka.common.security.scram.ScramLoginModule required"
        f' username="{USER}" password="{quoted}";'
    )
    container = _container(KUBERNETES / "strimzi.yaml")
    (tmp_path / "tmp").mkdir()
    values = {
        "CLUSTER_CA": str(papers.path("ca")),
        "JAAS_CONFIG": str(jaas),
        "BOOTSTRAP_SERVER": outage.bootstrap_servers,
        "RECOVERY_DURATION_MS": "1000",
    }
    assert {each["name"] for each in container["env"]} == values.keys()
    done = subprocess.run(
        container["command"],
        env={
            **os.environ,
            "PATH": PATH_WITH_OURS,
            **values,
            "XDG_STATE_HOME": str(tmp_path / "state"),
            "TMPDIR": str(tmp_path / "tmp"),
        },
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert [row["leader"] for row in json.loads(done.stdout)["partitions"]] == [2]
    (config,) = (tmp_path / "tmp").iterdir()
    assert config.stat().st_mode & 0o777 == 0o600
