"""The real controller as a place where events happen, one at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace

from kafka.protocol.admin.cluster import UpdateFeaturesRequest

from kafka_unclean_recovery.kafka_names import Errors
from kafka_unclean_recovery.kraft_rules import events as ev
from kafka_unclean_recovery.log_dir.metadata.image import MetadataImage
from tests.fidelity.metadata_tail import MetadataTail
from tests.fidelity.real_controller import RealController, real_controller
from tests.fidelity.relative import absolute
from tests.fidelity.requests import REQUESTS, Context, update_feature, updated
from tests.fidelity.states import FAILED, ClusterState, state_of
from tests.fidelity.wire import Wire
from tests.messages.building import build
from tests.real.waiting import wait_until

START_TIMEOUT = 30.0


class RealSide:
    """Sends events as brokers and admins would; `image` is what the controller wrote by then."""

    def __init__(self, controller: RealController, wire: Wire, tail: MetadataTail) -> None:
        self._controller = controller
        self._wire = wire
        self._tail = tail
        # Which a controller writes soon after it begins to answer.
        wait_until(self._has_registered, START_TIMEOUT, lambda: "no RegisterControllerRecord")
        # A broker knows what its software knows, whatever is switched off meanwhile.
        self._known_features = dict(self.image.features)

    @property
    def image(self) -> MetadataImage:
        return self._tail.image

    def happen(self, event: ev.Event) -> tuple[ev.Event, ev.AnyResponse]:
        """Let a relative event happen, and return it as it was sent, a new topic with its id."""
        sent = absolute(event, self)
        make, version, read = REQUESTS[type(event)]
        context = self._context()
        response = self._wire.ask(make(sent, context), version)
        self._tail.catch_up()
        answer = read(response)
        if Errors.UNKNOWN_SERVER_ERROR in _errors(answer):
            answer = FAILED
        return self._as_happened(sent), answer

    def update_feature(self, name: str, level: int, upgrade_type: int) -> Errors:
        """Update another feature than ELR, which no event stands for."""
        request = build(UpdateFeaturesRequest, update_feature(name, level, upgrade_type))
        response = self._wire.ask(request, 1)
        self._tail.catch_up()
        return updated(response).error

    def catch_up(self) -> None:
        """See what happened without a request."""
        self._tail.catch_up()

    def state(self) -> ClusterState:
        return state_of(self.image, self._tail.end_offset)

    @property
    def last_offset(self) -> int:
        return self._tail.end_offset - 1

    def broker_epoch(self, broker: int) -> int | None:
        found = self.image.brokers.get(broker)
        return None if found is None else found.epoch

    def partition_epochs(self, topic: str, partition: int) -> tuple[int, int] | None:
        for topic_id, name in self.image.topics.items():
            if name == topic:
                found = self.image.partitions[topic_id].get(partition)
                return None if found is None else (found.leader_epoch, found.partition_epoch)
        return None

    def _has_registered(self) -> bool:
        self._tail.catch_up()
        return "RegisterControllerRecord" in self._tail.seen

    def _context(self) -> Context:
        topic_ids = {name: topic_id for topic_id, name in self.image.topics.items()}
        return Context(self._controller.cluster_id, self._known_features, topic_ids)

    def _as_happened(self, event: ev.Event) -> ev.Event:
        if not isinstance(event, ev.CreateTopic):
            return event
        topic_ids = {name: topic_id for topic_id, name in self.image.topics.items()}
        return replace(event, topic_id=topic_ids.get(event.name, event.topic_id))


def _errors(answer: ev.AnyResponse) -> Iterator[Errors]:
    yield answer.error
    if isinstance(answer, ev.AlterPartitionResponse):
        yield answer.partition_error
    if isinstance(answer, ev.ElectLeadersResponse):
        yield from (error for _, _, error in answer.results)
    if isinstance(answer, ev.AlterPartitionsResponse):
        yield from (each.partition_error for each in answer.results)


@contextmanager
def real_side(version: str, properties: Mapping[str, str] = {}) -> Iterator[RealSide]:
    """Yield a fresh real controller of this Kafka, to let events happen on."""
    with (
        real_controller(version, properties) as controller,
        Wire(controller.host, controller.port) as wire,
        MetadataTail(controller.metadata_log) as tail,
    ):
        yield RealSide(controller, wire, tail)
