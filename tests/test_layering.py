"""Who may import whom: the architecture section of the README, as a test."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "kafka_unclean_recovery"
NAME = "kafka_unclean_recovery"

# Each part may import itself and the parts named; "kafka" is kafka-python.
PURE = {
    "choices": set(),
    "model": {"choices"},
    "deadline": set(),
    "errors": set(),
    "lineage": {"model"},
    "reach": {"model", "lineage"},
    "commits": {"lineage", "model"},
    "waiting": {"lineage", "model", "reach", "report_text"},
    "disk_findings": {"choices", "model", "reach", "report_text"},
    "findings": {"model", "commits", "disk_findings", "reach", "report_text", "waiting"},
    "plan": {"model", "lineage", "reach", "commits", "findings", "waiting"},
    "trust": {"model"},
    "json_text": {"errors"},
    "json_fields": {"json_text"},
    "plan_reading": {"model", "json_fields", "json_text", "plan_file", "report_text"},
    "approval": {"errors", "json_fields", "json_text", "plan_file"},
    "loss_limits": {"model", "errors", "plan_file", "report_text"},
    "waves": {"model"},
    "replica_info": {
        "choices",
        "model",
        "errors",
        "json_fields",
        "json_text",
        "plan_file",
        "plan_reading",
    },
    "disks": {"choices", "model", "errors", "trust"},
    "disk_plan": {"model", "disks", "findings", "plan"},
    "replica_info_table": {"model", "report_table", "report_text"},
    "election_rules": {"model", "findings", "waiting"},
    "partitions_file": {"model", "errors", "json_text"},
    "plan_file": {"model", "errors", "json_text"},
    "report": {"model", "plan_file", "report_text", "waiting"},
    "loss_by_topic": {"plan_file", "report_table", "report_text"},
    "ladder": {"model", "lineage", "reach", "report_text"},
    "ladder_text": {"ladder", "model", "report_table", "report_text"},
    "html_page": {"report_text"},
    "ladder_picture": {"html_page", "ladder"},
    "loss_page": {
        "html_page",
        "ladder",
        "ladder_picture",
        "loss_by_topic",
        "model",
        "report_text",
    },
    "report_text": {"model"},
    "metrics_text": set(),
    "run_metrics": {"metrics_text", "model", "report"},
    "report_table": {"choices", "model", "plan_file", "report", "report_text", "waiting"},
    "consent": {"model", "plan_file", "report_text", "waiting"},
}
RIM = {
    "boot_clock": set(),
    "private_files": set(),
    "locking": set(),
    "journal": {"boot_clock", "locking", "model", "private_files", "sync_directory"},
    "log_dir": {"choices", "model", "errors", "signals", "trust"},
    "messages": {"choices"},
    "sync_directory": set(),
    "salvage": {
        "locking",
        "private_files",
        "sync_directory",
        "choices",
        "model",
        "errors",
        "json_fields",
        "json_text",
        "lineage",
        "log_dir",
        "plan_file",
        "report_table",
        "report_text",
    },
    "replay": {
        "locking",
        "private_files",
        "deadline",
        "sync_directory",
        "model",
        "errors",
        "json_fields",
        "json_text",
        "plan_file",
        "cluster",
        "report_table",
        "report_text",
        "salvage",
    },
    "spark": {
        "locking",
        "private_files",
        "choices",
        "disk_plan",
        "disks",
        "errors",
        "findings",
        "json_fields",
        "json_text",
        "log_dir",
        "loss_by_topic",
        "model",
        "plan",
        "plan_file",
        "report_text",
        "salvage",
        "stores",
        "sync_directory",
        "trust",
    },
    "stores": {"errors", "log_dir"},
    "live_salvage": {
        "cluster",
        "deadline",
        "log_dir",
        "model",
        "private_files",
        "report_text",
        "salvage",
    },
    "emulator": {"choices", "deadline", "locking", "log_dir", "messages", "metrics_text"},
    "pytest_plugin": {"emulator"},
    "signals": set(),
    "stopping": {"signals"},
    "cluster": {"choices", "model", "deadline", "messages"},
    "transport": {
        "boot_clock",
        "choices",
        "model",
        "deadline",
        "cluster",
        "messages",
        "journal",
        "election_rules",
        "report_text",
        "stopping",
        "waves",
    },
    "doctor": {
        "choices",
        "model",
        "deadline",
        "cluster",
        "dead_leaders",
        "metrics_text",
        "report_text",
        "transport",
    },
    "gather": {"model", "deadline", "cluster", "transport"},
    "waits": {"model", "report_text"},
    "dead_leaders": {"model", "report_text"},
    "witnessing": {"model", "deadline", "cluster", "report_text"},
    "hidden_topics": {"model", "deadline", "cluster"},
    "observation": {
        "dead_leaders",
        "model",
        "hidden_topics",
        "deadline",
        "cluster",
        "transport",
        "gather",
        "stopping",
        "waits",
        "witnessing",
    },
    "aftercare": {
        "model",
        "commits",
        "reach",
        "transport",
        "trust",
        "deadline",
        "cluster",
        "metrics_text",
        "plan_file",
        "report_table",
        "report_text",
    },
    "recovery": {
        "model",
        "cluster",
        "dead_leaders",
        "disks",
        "election_rules",
        "observation",
        "plan",
        "waiting",
    },
    "post_mortem": {
        "errors",
        "html_page",
        "journal",
        "json_fields",
        "json_text",
        "ladder",
        "ladder_picture",
        "loss_by_topic",
        "loss_page",
        "model",
        "plan_file",
        "plan_reading",
        "replica_info",
        "report",
        "report_text",
    },
    "evidence": {
        "aftercare",
        "choices",
        "journal",
        "model",
        "observation",
        "plan_file",
        "report",
    },
}
ALLOWED: dict[str, set[str]] = {**PURE, **RIM}

# Third parties that only these parts may import.
THIRD_PARTIES = {
    "kafka": {"cluster", "emulator", "messages", "salvage"},
    "typer": {"cli"},
    "tabulate": {"report_table"},
    "tenacity": {"gather"},
    "crc32c": {"emulator", "log_dir"},
    "pyspark": {"spark"},
    "pyarrow": {"spark", "salvage", "replay", "stores"},
    "confluent_kafka": {"replay"},
}


def _part(module: Path) -> str:
    return module.relative_to(PACKAGE).parts[0].removesuffix(".py")


def _imports(module: Path) -> set[str]:
    names = set()
    for node in ast.walk(ast.parse(module.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


MODULES = sorted(PACKAGE.rglob("*.py"))


@pytest.mark.parametrize("module", MODULES, ids=lambda m: str(m.relative_to(PACKAGE)))
def test_imports_point_one_way(module: Path) -> None:
    part = _part(module)
    if part in ("__init__", "__main__", "cli"):
        return
    assert part in ALLOWED, f"{part} is new: say what it may import"
    ours = {name.split(".")[1] for name in _imports(module) if name.startswith(f"{NAME}.")}
    files = {p.stem for p in PACKAGE.iterdir()}
    assert (ours & files) - {part} <= ALLOWED[part]


@pytest.mark.parametrize("module", MODULES, ids=lambda m: str(m.relative_to(PACKAGE)))
def test_third_parties_stay_where_they_belong(module: Path) -> None:
    for name in {name.split(".")[0] for name in _imports(module)} & THIRD_PARTIES.keys():
        assert _part(module) in THIRD_PARTIES[name], f"only {THIRD_PARTIES[name]} import {name}"


def test_the_emulator_shares_no_rule_with_what_it_judges() -> None:
    # A wrong ranking must not be confirmed by its own judge.
    assert not ALLOWED["emulator"] & {"plan", "findings", "lineage"}


def test_the_emulated_controller_imports_nothing_but_itself() -> None:
    # No socket, no file, no codec: events in, records out.
    for module in (PACKAGE / "emulator" / "controller").glob("*.py"):
        ours = {name for name in _imports(module) if name.startswith(f"{NAME}.")}
        assert all(name.startswith(f"{NAME}.emulator.controller") for name in ours), module.name


def test_only_the_command_line_prints_or_exits() -> None:
    for module in MODULES:
        if _part(module) in ("cli", "__main__"):
            continue
        calls = {
            node.func.id
            for node in ast.walk(ast.parse(module.read_text()))
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        }
        assert not calls & {"print", "input", "exit"}, module.name


HEAVY = {"kafka", "tabulate", "tenacity", "asyncio", "pyarrow", "pyspark", "confluent_kafka"}


def _heavy(*modules: str) -> set[str]:
    """What a fresh process imports with these."""
    code = f"import sys, {', '.join(modules)}; print(*{HEAVY} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_help_imports_no_codec() -> None:
    assert _heavy(f"{NAME}.cli.unclean_recovery", f"{NAME}.cli.elect_leaders") == set()


def test_every_pytest_run_on_the_machine_imports_no_codec() -> None:
    # Its entry point is loaded whether a test uses the fixture or not.
    assert _heavy(f"{NAME}.pytest_plugin") <= _heavy("pytest")


def test_ctl_imports_no_codec() -> None:
    assert _heavy(f"{NAME}.cli.emulator_ctl", f"{NAME}.emulator.commands") <= {"asyncio"}
