"""A broker's metadata.version tells its release of Kafka, and some releases have election bugs that
are known. This module does no I/O.

A broker does not say its release, only the highest metadata.version that it supports: that of the
last production version of its release (org.apache.kafka.server.common.MetadataVersion). Patch
releases can't be told apart.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping

METADATA_VERSION = "metadata.version"
ELR_VERSION = "eligible.leader.replicas.version"

# These are the last metadata.version of each release from 3.3 on, read from the jars of 4.4.0.
_LAST = (
    (7, "3.3"),
    (8, "3.4"),
    (11, "3.5"),
    (14, "3.6"),
    (19, "3.7"),
    (20, "3.8"),
    (21, "3.9"),
    (25, "4.0"),
    (27, "4.1"),
    (29, "4.2"),
    (30, "4.3"),
    (33, "4.4"),
)

TESTED = ("3.9", "4.3", "4.4")
"""The releases that this tool's tests run on (tests/real/releases.py)."""


def release_of(metadata_version: int) -> str:
    """Return the release as text such as "4.3", "before 3.3" or "after 4.4"."""
    levels = [level for level, _ in _LAST]
    if metadata_version < levels[0]:
        return f"before {_LAST[0][1]}"
    if metadata_version > levels[-1]:
        return f"after {_LAST[-1][1]}"
    return _LAST[bisect_left(levels, metadata_version)][1]


_FENCED = (
    "Kafka 4.0 with ELR may elect a last known leader that is fenced (KAFKA-19522)",
    "look at who leads after each election, or upgrade to 4.1 or newer before electing",
)
_RESIGNS = (
    (
        "the active controller of Kafka 4.3 and 4.4 resigns, again after each restart, when"
        " min.insync.replicas of a topic with a non-empty ELR was changed, the topic deleted, and"
        " a former ELR member then starts uncleanly"
    ),
    "during the incident, neither change min.insync.replicas nor delete topics",
)
_WITH_ELR = {"4.0": (_FENCED,), "4.3": (_RESIGNS,), "4.4": (_RESIGNS,)}


def known_bugs(release: str, finalized: Mapping[str, int]) -> tuple[tuple[str, str], ...]:
    """Return (what elections of a release may do, what to do about it), for a cluster with these
    features.

    KAFKA-19522 is fixed in 4.1.0. The other bug was reproduced on 4.3.1 and 4.4.0; whether other
    releases with ELR have it was not tried.
    """
    return _WITH_ELR.get(release, ()) if finalized.get(ELR_VERSION, 0) > 0 else ()
