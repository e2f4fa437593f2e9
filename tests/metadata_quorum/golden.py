"""Documents of `quorum`, whose bytes may not change."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from kafka_unclean_recovery.cluster.requests.quorum_state import Fetcher, Quorum
from kafka_unclean_recovery.documents.quorum import QuorumPlanJson, SeedFileJson, SeedJson
from kafka_unclean_recovery.documents.reading.codec import json_line
from kafka_unclean_recovery.documents.shared import FindingJson
from kafka_unclean_recovery.log_dir.local_folder import LocalLocation
from kafka_unclean_recovery.log_dir.metadata.cluster_metadata import SnapshotId
from kafka_unclean_recovery.log_dir.metadata.image import MetadataImage
from kafka_unclean_recovery.log_dir.metadata.parting import Parting, Relation
from kafka_unclean_recovery.log_dir.small_files.properties_files import MetaProperties
from kafka_unclean_recovery.log_dir.small_files.quorum_state import QuorumState
from kafka_unclean_recovery.metadata_quorum.compared_copies import Compared, Copies
from kafka_unclean_recovery.metadata_quorum.control_batch import forced_batch
from kafka_unclean_recovery.metadata_quorum.copies import Copy, Listener, Voter
from kafka_unclean_recovery.metadata_quorum.data_signs import Signs
from kafka_unclean_recovery.metadata_quorum.document import copies_json, inspect_json
from kafka_unclean_recovery.metadata_quorum.log_end import LogEnd
from kafka_unclean_recovery.metadata_quorum.places import CopyPlace
from kafka_unclean_recovery.metadata_quorum.proof import verdict
from kafka_unclean_recovery.metadata_quorum.prospects import prospects
from kafka_unclean_recovery.metadata_quorum.seed_plan import plan_text, voter_json, with_digest
from kafka_unclean_recovery.metadata_quorum.wishes import Wishes
from kafka_unclean_recovery.model import Severity

AT = "2026-01-01T00:00:00+00:00"
QUORUM_COPY = Copy(
    CopyPlace(LocalLocation(Path("/data/1"))),
    MetaProperties(1, 1, "cluster-1", "00000000-0000-8000-0000-000000000001"),
    SnapshotId(100, 3),
    90,
    3,
    120,
    1_700_000_000_000,
    LogEnd(f"{90:020}.log", 2048, torn=7),
    1,
    (Voter(101, "00000000-0000-8000-0000-000000000065", (Listener("CONTROLLER", "h", 9093),)),),
    QuorumState(1, 4, None, ()),
    4711,
    ("an old snapshot was passed over",),
)
BEHIND = replace(
    QUORUM_COPY, place=CopyPlace(LocalLocation(Path("/data/2"))), owner=None, end_offset=110
)
COPIES = Copies(
    QUORUM_COPY,
    MetadataImage(),
    (Compared(BEHIND, Parting(Relation.PREFIX, 110), ("topic late created",), ()),),
    (),
    ("/data/3: it is not there",),
)
SIGNS = Signs(("/data/2/late-0 is unknown",), ("/data/2/moved-0",), (), 2)
WISHES = Wishes(
    Voter(200, "00000000-0000-8000-0000-0000000000c8", (Listener("CONTROLLER", "h", 9093),)),
    frozenset({101}),
)
SEED = SeedJson(
    *("/data/1/__cluster_metadata-0", 1, 3, 120, 1_700_000_000_000, 1, 1),
    (SeedFileJson(f"{90:020}.log", 2048, 2055, "0" * 64),),
    f"{90:020}.log",
)
QUORUM_PLAN = with_digest(
    QuorumPlanJson(
        *(1, "quorum-plan", "cluster-1", AT, SEED, voter_json(WISHES.new), 1004),
        *(forced_batch(WISHES.new, 120, 1004, 1_700_000_000_000).hex(), (), (101,)),
        (FindingJson("metadata_gap_not_known", Severity.UNKNOWN, "it is not known"),),
        ("stop nothing that runs",),
        tuple(prospects(COPIES, WISHES)),
        tuple(copies_json(COPIES)),
        "",
        ("old-0.0123456789abcdef0123456789abcdef-stray",),
        (1,),
    )
)
QUORUM = Quorum(200, 124, (Fetcher(200, 1, 124),), (Fetcher(1, 1, 124),), True, 1005)

QUORUM_WRITTEN: dict[str, Callable[[], str]] = {
    "quorum-inspect": lambda: json_line(inspect_json(COPIES, SIGNS)),
    "quorum-plan": lambda: plan_text(QUORUM_PLAN),
    "quorum-verify": lambda: json_line(verdict(QUORUM_PLAN, QUORUM, None)),
}
