"""Share groups that have come further than the leader's log goes are set back, each directly after
a last look at it.

The look that chose a group may be minutes old, as its disks are read too. The coordinator itself
refuses a group that has members; that one went on and left, or was set by somebody else, only
another look tells.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from kafka_unclean_recovery.aftercare.share_groups import share_commits
from kafka_unclean_recovery.cluster.nodes import Nodes
from kafka_unclean_recovery.cluster.requests.share_groups import (
    SharePosition,
    set_share_group,
    share_positions,
)
from kafka_unclean_recovery.cluster.wire.error_codes import error_name
from kafka_unclean_recovery.cluster.wire.errors import ConnectionFailed
from kafka_unclean_recovery.deadline import Deadline
from kafka_unclean_recovery.kafka_names import Errors
from kafka_unclean_recovery.model import Broker, GroupBeyond, PartitionState
from kafka_unclean_recovery.survey.any_broker import FAILURES
from kafka_unclean_recovery.survey.reading import Reader

_CHANGED = "it changed meanwhile, so it was left alone: look again"


@dataclass(frozen=True, slots=True)
class SetBack:
    """The result for one share group on one partition. problem: why it is not known to be set back,
    None when it was."""

    found: GroupBeyond
    problem: str | None


@dataclass(frozen=True, slots=True)
class SettingBack:
    """The means to set share groups back. brokers: the live ones, by id. timeout: seconds for each
    group."""

    nodes: Nodes
    reader: Reader
    brokers: Mapping[int, Broker]
    timeout: float

    async def set_back(
        self, chosen: Sequence[tuple[PartitionState, GroupBeyond]], going_on: Callable[[], bool]
    ) -> list[SetBack]:
        """Set the share groups back, one after the other. chosen: each with the partition as it was
        when the group was looked at. `going_on` is asked before each, and ends the work when it is
        false."""
        done = []
        for state, found in chosen:
            if not going_on():
                break
            done.append(SetBack(found, await self._set_back(state, found)))
        return done

    async def _set_back(self, state: PartitionState, found: GroupBeyond) -> str | None:
        """Ask one broker after the other until the group's coordinator has answered. Return why the
        group is not known to be set back, or None."""
        deadline = Deadline.after(self.timeout)
        commit, why = found.commit, "no live broker coordinates it"
        for broker in self.brokers.values():
            try:
                connection = await self.nodes.broker(broker, deadline)
                told = await share_positions(connection, [commit.group], deadline)
            except ConnectionFailed as error:
                why = str(error)
                continue
            code = told.errors.get(commit.group, Errors.NONE)
            if code == Errors.NOT_COORDINATOR:
                continue
            if code != Errors.NONE:
                return f"it could not be looked at again: {error_name(code)}"
            if (changed := await self._changed(state, found, told.found)) is not None:
                return changed
            if (unproven := self.nodes.unproven(broker.id)) is not None:
                return unproven
            try:
                code = await set_share_group(
                    connection, commit.group, commit.topic_partition, found.reset_to, deadline
                )
            except ConnectionFailed as error:
                return f"{error}; look again to see whether it was set"
            return (
                None if code == Errors.NONE else f"broker {broker.id} refused: {error_name(code)}"
            )
        return why

    async def _changed(
        self, state: PartitionState, found: GroupBeyond, positions: Sequence[SharePosition]
    ) -> str | None:
        """Return why the group is to be left alone: it, or what leads the partition, is not as it
        was looked at, or nobody tells. None where all is the same."""
        tp = found.commit.topic_partition
        mine = [p for p in positions if p.topic_partition == tp and p.topic_id == state.topic_id]
        try:
            now = (await self.reader.partitions([tp])).get(tp)
        except FAILURES as error:
            return f"it could not be looked at again: {error}"
        if not mine or now is None or _led(now) != _led(state):
            return _CHANGED
        brokers = self.brokers.values()
        commits, unknown = await share_commits(self.nodes, brokers, mine, self.timeout)
        if unknown:
            return f"it could not be looked at again: {unknown[0]}"
        return None if commits == [found.commit] else _CHANGED


def _led(state: PartitionState) -> tuple[str, int, int]:
    """Return what a log is told apart by from that of another leader."""
    return state.topic_id, state.leader, state.leader_epoch
