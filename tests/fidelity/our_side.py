"""Our controller as a place where the same events happen."""

from __future__ import annotations

from dataclasses import replace

from kafka_unclean_recovery.kraft_rules import events as ev
from kafka_unclean_recovery.kraft_rules.machine import step
from kafka_unclean_recovery.kraft_rules.releases import RELEASES
from kafka_unclean_recovery.kraft_rules.state import ControllerFault, State
from kafka_unclean_recovery.log_dir.metadata.image import BROKER_RESOURCE, MetadataImage
from tests.fidelity.states import FAILED, ClusterState, broker_view, partition_view


class OurSide:
    """Begins where the real one does, which wrote some configs when it was formatted."""

    def __init__(self, version: str, image: MetadataImage, end_offset: int) -> None:
        configs = dict(image.configs.get((BROKER_RESOURCE, ""), {}))
        self._state = State(RELEASES[version], end_offset, cluster_configs=configs)

    def happen(self, event: ev.Event) -> ev.AnyResponse:
        """Let it happen, with the real one's epochs and offsets: both write alike so far."""
        try:
            response = step(self._state, event)
        except ControllerFault:
            return FAILED
        if isinstance(response, ev.ElectLeadersResponse):
            return replace(response, results=tuple(sorted(response.results)))
        return response

    def state(self) -> ClusterState:
        state = self._state
        return ClusterState(
            {
                (topic.name, number): partition_view(found)
                for topic in state.topics.values()
                for number, found in topic.partitions.items()
            },
            {broker: broker_view(found) for broker, found in state.brokers.items()},
            state.end_offset,
            int(state.release.elr),
        )
