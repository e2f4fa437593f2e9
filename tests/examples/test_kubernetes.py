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
STRIMZI = KUBERNETES / "strimzi.yaml"
BACKSLASH = "\\"
DEBUG = KUBERNETES / "debug.yaml"
FILES = sorted(path for path in KUBERNETES.glob("*.yaml") if path != DEBUG)


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
        wrong.get("spec", wrong)["unheardOf"] = True
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


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_each_job_is_understood_by_our_parser(path: Path) -> None:
    container = _container(path)
    parse(["kafka-unclean-recovery", *container["args"]])
    (config,) = _values(container["args"], "--command-config")
    mounted = {Path(mount["mountPath"]) for mount in container["volumeMounts"]}
    assert Path(config).parent in mounted


def test_the_debugging_container_is_valid_and_may_do_no_more_than_a_job() -> None:
    """kubectl puts it into a container of the pod."""
    (partial,) = _documents(DEBUG)
    job = _job(KUBERNETES / "job.yaml")
    (container,) = job["spec"]["template"]["spec"]["containers"]
    own = partial["securityContext"]
    assert container["securityContext"].items() <= own.items()
    container["securityContext"] = own
    assert complaints(job) == []
    own["unheardOf"] = True
    assert any("unheardOf" in complaint for complaint in complaints(job))


def _values(args: list[str], flag: str) -> list[str]:
    return [each.partition("=")[2] for each in args if each.startswith(f"{flag}=")]


@pytest.fixture
def papers(tmp_path: Path) -> Papers:
    return Papers.made(tmp_path)


@pytest.fixture
def outage(papers: Papers) -> Iterator[Cluster]:
    """Yield an outage: orders-0 has no leader; logins are by SCRAM, with the user's rights."""
    (user,) = (each for each in _documents(STRIMZI) if "acls" in str(each))
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


def test_the_strimzi_job_recovers_with_the_rights_of_its_user(
    outage: Cluster, papers: Papers, tmp_path: Path
) -> None:
    """With its volumes mounted elsewhere, and the address of the emulated cluster."""
    mounts = tmp_path / "mounts"
    for name in ("client", "cluster-ca", "user"):
        (mounts / name).mkdir(parents=True)
    (config,) = (each for each in _documents(STRIMZI) if each["kind"] == "ConfigMap")
    for name, text in config["data"].items():
        (mounts / "client" / name).write_text(text.replace("/etc/strimzi", str(mounts)))
    shutil.copy(papers.path("ca"), mounts / "cluster-ca" / "ca.crt")
    # As Strimzi's user operator writes it, and Kubernetes mounts it: through links.
    (mounts / "user" / "..data").symlink_to("..2026")
    (mounts / "user" / "..2026").mkdir()
    (mounts / "user" / "sasl.jaas.config").symlink_to("..data/sasl.jaas.config")
    (mounts / "user" / "..data" / "sasl.jaas.config").write_text(
        "org.apache.kafka.common.security.scram.ScramLoginModule required"
        f' username="{USER}" password="{PASSWORD.replace(BACKSLASH, BACKSLASH * 2)}";'
    )
    elsewhere = {
        "/etc/strimzi": str(mounts),
        "my-cluster-kafka-bootstrap:9093": outage.bootstrap_servers,
        # Nobody comes back here.
        "ms=300000": "ms=1000",
    }
    args = _container(STRIMZI)["args"]
    for there, here in elsewhere.items():
        args = [arg.replace(there, here) for arg in args]
    done = subprocess.run(
        ["kafka-unclean-recovery", *args],
        env={**os.environ, "PATH": PATH_WITH_OURS, "XDG_STATE_HOME": str(tmp_path / "state")},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert [row["leader"] for row in json.loads(done.stdout)["partitions"]] == [2]
