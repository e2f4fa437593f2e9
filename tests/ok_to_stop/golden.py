"""Documents of `ok-to-stop` and `watch`, whose bytes may not change."""

from __future__ import annotations

from collections.abc import Callable

from kafka_unclean_recovery.documents.reading.codec import json_line
from kafka_unclean_recovery.ok_to_stop.answer import Question, answer, back
from tests.ok_to_stop.looks import looked
from tests.ok_to_stop.observations import cluster, partition, topic

OBSERVED = cluster(
    topic("__consumer_offsets", partition((1, 2, 3)), min_isr=2, source="all_brokers"),
    topic(
        "orders",
        partition((1, 2), (1,), (2,), offline=(2,)),
        partition((3, 1), number=1, adding=(1,)),
        unclean=True,
    ),
    topic("hidden", min_isr=None, problem="TOPIC_AUTHORIZATION_FAILED; grant Topic:DESCRIBE"),
    fenced=(2,),
    racks={1: "a"},
    silent={4: "timed out"},
    own_min_isr={1: 1},
    voters={101: True, 102: None},
    problems=("reassignments are not known",),
)
_BEFORE = cluster(topic("orders", partition((1, 2)), partition((3, 1), number=1)))
_QUESTION = Question(frozenset({1}), frozenset({101}), 1)

OK_TO_STOP_WRITTEN: dict[str, Callable[[], str]] = {
    "cluster-observation": lambda: json_line(OBSERVED),
    "ok-to-stop": lambda: json_line(answer(OBSERVED, _QUESTION, {1, 3})),
    "margin": lambda: json_line(looked(OBSERVED, _BEFORE)),
    "ok-to-stop-after": lambda: json_line(back(OBSERVED, frozenset({2}))),
}
