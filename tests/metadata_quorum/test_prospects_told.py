"""What is said of the nodes after a plan."""

from __future__ import annotations

from msgspec.structs import replace

from kafka_unclean_recovery.cli.commands.quorum_plan import prospect_sentences
from kafka_unclean_recovery.documents.quorum import ProspectJson
from tests.metadata_quorum.golden import QUORUM_PLAN


def test_nodes_of_which_the_same_becomes_are_told_together() -> None:
    wills = [(1, "follows"), (2, "ends"), (3, "follows"), (None, "follows")]
    nodes = tuple(ProspectJson(node, "broker", None, will) for node, will in wills)
    assert list(prospect_sentences(replace(QUORUM_PLAN, prospects=nodes))) == [
        "nodes 1,3,unknown: each follows",
        "node 2 ends",
    ]
