"""Prometheus' own parser reads back what was written, also of names that hold anything."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from prometheus_client.parser import text_string_to_metric_families

from kafka_unclean_recovery.report.prometheus import Metric, Sample, exposition, gauge, labelled

VALUES = st.one_of(st.integers(0, 2**53), st.floats(allow_nan=False))
# Lines of the format end with a line feed alone, and so do those of Prometheus' parser.
TEXTS = st.text(st.characters(exclude_categories=["Cs"]))


@given(TEXTS, TEXTS, VALUES)
def test_it_is_read_back(topic: str, command: str, value: float) -> None:
    metric = Metric("a_metric", "Some \\ help\nin two lines.", (Sample(value, {"topic": topic}),))
    text = exposition(labelled([metric, gauge("unknown", "Left out.", None)], {"command": command}))
    (read,) = text_string_to_metric_families(text)
    assert (read.name, read.type) == ("a_metric", "gauge")
    assert read.documentation == "Some \\ help\nin two lines."
    assert read.samples[0].labels == {"command": command, "topic": topic}
    assert read.samples[0].value == value
