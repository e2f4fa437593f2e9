"""Voters that are not as the quorum knows them: no quorum is lost by that, but it can't count them.
Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kafka_unclean_recovery.cluster.wire.dial import address_text
from kafka_unclean_recovery.log_dir.small_files.properties_files import MetaProperties
from kafka_unclean_recovery.metadata_quorum.compared_copies import Copies
from kafka_unclean_recovery.metadata_quorum.copies import Voter, same_directory

_BY_KAFKAS_TOOL = "(kafka-metadata-quorum.sh remove-controller, add-controller)"


def stuck_voters(compared: Copies) -> tuple[str, ...]:
    """Return sentences on voters that are not as the quorum knows them: in another log directory,
    or at another address."""
    return (*_other_directories(compared), *_other_addresses(compared))


def _other_directories(compared: Copies) -> Iterator[str]:
    """Yield findings on directories, by the best copy and by what the node itself knows."""
    newest = compared.best.voters if compared.best else ()
    for copy in compared.copies:
        if copy.owner is not None:
            yield from _as_voter(copy.name, copy.owner, {*newest, *copy.voters})
    for where, owner in compared.without_copy:
        yield from _as_voter(f"node {owner.node_id} ({where})", owner, newest)


def _as_voter(name: str, owner: MetaProperties, voters: Iterable[Voter]) -> Iterator[str]:
    for voter in sorted(voters, key=lambda each: str(each.directory_id)):
        if voter.id == owner.node_id and not same_directory(voter, owner):
            yield (
                f"{name} is voter {voter.id} in the log with directory id {voter.directory_id}, and"
                f" its meta.properties says {owner.directory_id}: it does not count as that voter;"
                " where a majority lives, remove the voter and add it again"
                f" {_BY_KAFKAS_TOOL}"
            )
            return


def _other_addresses(compared: Copies) -> Iterator[str]:
    for voter in compared.best.voters if compared.best else ():
        registered = compared.image.controllers.get(voter.id, ())
        now = {(listener.host, listener.port) for listener in registered}
        known = {(listener.host, listener.port) for listener in voter.listeners}
        if voter.directory_id is not None and now and known and not now & known:
            yield (
                f"voter {voter.id} is known at {_addresses(known)}, and registered at"
                f" {_addresses(now)}: the others don't find it while nobody leads; let it be"
                f" reached at the old address, or update the voter {_BY_KAFKAS_TOOL}"
            )


def _addresses(found: Iterable[tuple[str, int]]) -> str:
    return ", ".join(address_text(*each) for each in sorted(found))
