"""Partitions that brokers put aside: `quorum plan` keeps them, and `quorum verify` judges."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from kafka_unclean_recovery.documents.quorum import read_quorum_plan
from kafka_unclean_recovery.documents.reading.codec import to_json
from kafka_unclean_recovery.documents.reading.json_text import JsonObject
from kafka_unclean_recovery.documents.writing import plan_digest
from kafka_unclean_recovery.log_dir.local_folder import LocalLocation
from kafka_unclean_recovery.metadata_quorum.document import render_verify
from kafka_unclean_recovery.metadata_quorum.proof import verdict
from kafka_unclean_recovery.metadata_quorum.put_aside import PutAside, Stray, put_aside
from tests.metadata_quorum.disks import CLUSTER, METADATA, dynamic_log, write_node
from tests.metadata_quorum.golden import QUORUM, QUORUM_PLAN
from tests.metadata_quorum.planning import ALL_LOST, plan, quorum
from tests.metadata_quorum.test_proof import LIVE

(OLD,) = QUORUM_PLAN.put_aside
NEW = f"late-0.{7:032x}-stray"
NONE = PutAside(nodes=frozenset({1}), clusters=frozenset({"cluster-1"}))


def _stray(name: str) -> Stray:
    return Stray(name, f"/data/{name}")


@pytest.mark.parametrize(
    ("aside", "holds"),
    [
        (NONE, True),
        (replace(NONE, strays=(_stray(OLD),)), True),
        (replace(NONE, strays=(_stray(OLD), _stray(NEW))), False),
        (replace(NONE, strays=(_stray(NEW),), problems=("/data/2: is not there",)), False),
        (replace(NONE, problems=("/data/2: is not there",)), None),
        (replace(NONE, clusters=frozenset({"cluster-1", "another"})), None),
    ],
    ids=["none", "as planned", "a new one", "a new one at least", "unread", "another cluster"],
)
def test_strays_that_the_plan_does_not_have_disprove(aside: PutAside, holds: bool | None) -> None:
    found = verdict(QUORUM_PLAN, QUORUM, LIVE, aside)
    proof = found.proofs[-1]
    assert (proof.holds, found.proven, found.not_looked_at) == (holds, holds is True, ())
    assert (NEW in proof.found) == (holds is False)
    assert OLD not in proof.found


def test_disks_that_were_not_given_are_told_and_disprove_nothing() -> None:
    found = verdict(QUORUM_PLAN, QUORUM, LIVE)
    assert found.proven
    assert len(found.not_looked_at) == 1
    assert "not looked at  no broker whose log directories were given" in render_verify(found)


@pytest.fixture
def disks(tmp_path: Path) -> Path:
    for broker in (1, 2):
        write_node(tmp_path / "disks", broker, dynamic_log())
    return tmp_path / "disks"


def test_strays_are_known_by_their_directories(disks: Path) -> None:
    for name in (NEW, "orders-0", f"gone-0.{1:032x}-delete", f"moves-0.{1:032x}-future"):
        (disks / "node-2" / name).mkdir()
    (disks / "node-1" / f"file-0.{1:032x}-stray").write_text("")
    (disks / "node-1" / METADATA / f"inner-0.{1:032x}-stray").mkdir()
    found = put_aside([LocalLocation(disks), LocalLocation(disks / "node-2")])
    assert found == PutAside(
        (Stray(NEW, str(disks / "node-2" / NEW)),), frozenset({1, 2}), frozenset({CLUSTER})
    )


def test_a_directory_that_tells_nothing_is_a_problem(disks: Path) -> None:
    (disks / "empty").mkdir()
    (disks / "node-1" / "meta.properties").write_text("node.id=one\n")
    roots = [disks / "empty", disks / "node-1", disks / "missing"]
    found = put_aside(map(LocalLocation, roots))
    assert found.nodes == set()
    assert [problem.partition(":")[0] for problem in found.problems] == [
        *(str(disks / "empty"), str(disks / "missing"), str(disks / "node-1"))
    ]


def test_the_plan_keeps_what_was_aside_before_and_the_command_passes_over_it(disks: Path) -> None:
    (disks / "node-1" / OLD).mkdir()
    assert plan(disks, *ALL_LOST).code == 0
    planned = disks.parent / "plan.json"
    assert read_quorum_plan(planned.read_text(), "plan").put_aside == (OLD,)
    # Nobody leads: of the disks it tells all the same.
    nobody = ("--bootstrap-controller", "127.0.0.1:1", "--timeout-ms", "1")
    asked = ("verify", "--plan", planned, *nobody)
    given = ("--log-dirs", disks / "node-1", "--log-dirs", disks / "node-2")
    assert "holds  no broker whose log directories were given" in quorum(*asked, *given).stdout
    (disks / "node-2" / NEW).mkdir()
    said = quorum(*asked, *given).stdout
    assert "does not hold  no broker whose log directories were given" in said
    assert str(disks / "node-2" / NEW) in said
    assert "not looked at" in quorum(*asked).stdout


def test_a_plan_of_before_strays_were_kept_is_read() -> None:
    told = {k: v for k, v in to_json(QUORUM_PLAN).items() if k not in ("put_aside", "digest")}
    document = JsonObject({**told, "digest": plan_digest(JsonObject({**told, "digest": ""}))})
    assert read_quorum_plan(json.dumps(document), "plan").put_aside == ()
