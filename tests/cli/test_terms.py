"""The plan that a run is bound to, and who approved it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from kafka_unclean_recovery.cli.commands.approve import Options, approve
from kafka_unclean_recovery.cli.terminal.console import Console
from kafka_unclean_recovery.cli.terms import check_terms, read_terms, user_name
from kafka_unclean_recovery.documents.approval import Approval, approval_json
from kafka_unclean_recovery.documents.plan import plan_json, read_plan
from kafka_unclean_recovery.errors import USAGE, Exit
from kafka_unclean_recovery.model import Cluster
from tests.reports import plan

PLAN = plan_json(Cluster("c-1", {}), [plan()], "2026-01-02T03:04:05+00:00")
SIGNED = Approval(read_plan(PLAN, "p").digest, "c-1", "somebody else", "2026-01-02T03:04:06+00:00")


def _terms(directory: Path, approval: Approval) -> None:
    (directory / "plan").write_text(PLAN)
    (directory / "approval").write_text(approval_json(approval))
    terms = read_terms([], directory / "plan", directory / "approval")
    assert terms.approval == approval
    assert not terms.refused([plan()])
    check_terms(terms, "c-1")


def test_a_plan_that_somebody_else_approved_is_carried_out(tmp_path: Path) -> None:
    _terms(tmp_path, SIGNED)


@pytest.mark.parametrize(
    ("approval", "says"),
    [
        (replace(SIGNED, plan_digest="sha256:1"), "approves another plan (sha256:1) than --plan"),
        (replace(SIGNED, cluster_id="c-2"), "approves another plan"),
        (replace(SIGNED, approved_by=user_name()), "approved it and runs it; have another user"),
    ],
)
def test_any_other_approval_is_none(tmp_path: Path, approval: Approval, says: str) -> None:
    with pytest.raises(Exit) as raised:
        _terms(tmp_path, approval)
    assert raised.value.code == USAGE
    assert says in str(raised.value)


def test_the_plan_of_another_cluster_is_not_carried_out(tmp_path: Path) -> None:
    (tmp_path / "plan").write_text(PLAN)
    with pytest.raises(Exit, match="--plan is of cluster c-1, and this is c-2"):
        check_terms(read_terms([], tmp_path / "plan"), "c-2")


def test_a_plan_that_elects_nobody_is_not_approved(
    tmp_path: Path,
) -> None:
    nobody = plan_json(Cluster("c-1", {}), [plan(designated=None)], "2026-01-02T03:04:05+00:00")
    (tmp_path / "plan").write_text(nobody)
    with pytest.raises(
        Exit, match="designates no leader, so there is nothing to approve"
    ) as raised:
        approve(Console("approve"), Options(plan=tmp_path / "plan", output=tmp_path / "new"))
    assert raised.value.code == USAGE
