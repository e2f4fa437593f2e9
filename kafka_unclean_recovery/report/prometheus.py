"""Metrics are written in the text format of Prometheus, which node_exporter's textfile collector
reads.

Source: prometheus.io, "Exposition formats", version 0.0.4. This module does no I/O.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

Labels = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Sample:
    value: float
    labels: Labels = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric; a metric without samples is not written. kind: gauge or counter."""

    name: str
    help: str
    samples: tuple[Sample, ...]
    kind: str = "gauge"


def gauge(name: str, help_: str, value: float | None) -> Metric:
    """Return a metric of one sample without labels; None is unknown and gives no sample."""
    return Metric(name, help_, () if value is None else (Sample(value),))


def gauges(name: str, help_: str, label: str, values: Mapping[str, float]) -> Metric:
    """Return a metric with a sample for each value of one label."""
    return Metric(name, help_, tuple(Sample(v, {label: key}) for key, v in values.items()))


def labelled(metrics: Iterable[Metric], labels: Labels) -> Iterator[Metric]:
    """Return the metrics with these labels put before the labels of each sample."""
    for metric in metrics:
        samples = tuple(replace(each, labels={**labels, **each.labels}) for each in metric.samples)
        yield replace(metric, samples=samples)


def exposition(metrics: Iterable[Metric]) -> str:
    return "".join(f"{line}\n" for metric in metrics if metric.samples for line in _lines(metric))


def _lines(metric: Metric) -> Iterator[str]:
    if metric.help:
        yield f"# HELP {metric.name} {_escaped(metric.help)}"
    yield f"# TYPE {metric.name} {metric.kind}"
    for sample in metric.samples:
        yield f"{metric.name}{_labels(sample.labels)} {sample.value}"


def _labels(labels: Labels) -> str:
    if not labels:
        return ""
    pairs = (f'{name}="{_quoted(value)}"' for name, value in labels.items())
    return f"{{{','.join(pairs)}}}"


def _quoted(value: str) -> str:
    return _escaped(value).replace('"', r"\"")


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace("\n", r"\n")
