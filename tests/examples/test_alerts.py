"""The alert rules, by promtool where it is, and in any case their metrics: each is one of ours."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from kafka_unclean_recovery.documents.margin import MarginJson
from kafka_unclean_recovery.ok_to_stop.margin_text import margin_metrics
from kafka_unclean_recovery.report.run_metrics import run_metrics
from tests.ok_to_stop.looks import looked
from tests.ok_to_stop.observations import cluster, partition, topic

RULES = Path(__file__).parents[2] / "examples" / "prometheus" / "alerts.yaml"
NAME = re.compile(r"kafka_unclean_recovery_\w+")
LABELS = re.compile(r"(\w+)=\"([^\"]*)\"")


def _rules() -> list[Any]:
    (group,) = yaml.safe_load(RULES.read_text())["groups"]
    return list(group["rules"])


def _seen() -> MarginJson:
    """Return metrics in which whatever an alert is about is so somewhere."""
    lags = partition((1, 2, 3), (1,), (2,))
    topics = (
        topic("blocked", lags, min_isr=2),
        topic("unclean", lags, unclean=True),
        topic("well", partition((1, 2, 3))),
    )
    return looked(cluster(*topics))


@pytest.mark.parametrize("rule", _rules(), ids=lambda rule: rule["alert"])
def test_a_rule_is_about_metrics_that_there_are(rule: Any) -> None:
    metrics = {m.name: m for m in (*margin_metrics(_seen()), *run_metrics("v", 0.0, 0.0, 0, {}))}
    names = NAME.findall(rule["expr"])
    assert names
    assert set(names) <= metrics.keys()
    wanted = dict(LABELS.findall(rule["expr"]))
    wanted.pop("command", None)
    assert any(wanted.items() <= sample.labels.items() for sample in metrics[names[0]].samples), (
        "no sample has these labels"
    )
    assert rule["annotations"]["summary"]


def test_promtool_takes_them() -> None:
    promtool = shutil.which("promtool")
    if promtool is None:
        pytest.skip("promtool is not here (Debian: prometheus); the test above reads the rules")
    done = subprocess.run(
        [promtool, "check", "rules", str(RULES)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
