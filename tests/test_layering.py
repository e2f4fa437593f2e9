"""Which package may import which: docs/architecture.md as a test."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections import defaultdict
from fnmatch import fnmatch
from pathlib import Path

import pytest

from tests.structure import imports, modules_below

PACKAGE = Path(__file__).parent.parent / "kafka_unclean_recovery"
NAME = "kafka_unclean_recovery"

ARCHITECTURE = (PACKAGE.parent / "docs" / "architecture.md").read_text()


def _rooms(text: str) -> dict[str, set[str]]:
    """Return what each room of a table may look at beside itself."""
    rows = re.findall(r"^\| `([a-z_/]+?)(?:\.py|/)` \|.*\|(.*)\|$", text, re.MULTILINE)
    return {room: set(re.findall(r"`([a-z_/]+)`", named)) for room, named in rows}


GROUND, ABOVE = map(_rooms, ARCHITECTURE.split("## A run")[0].split("\nAbove it"))
EVERYBODY = set(re.findall(r"`([a-z_]+)`", re.findall(r"\nAbove it (.*)", ARCHITECTURE)[0]))

# Third parties that only these parts may import.
THIRD_PARTIES = {
    # Values are Structs anywhere; only these make JSON of them, or the reverse.
    "msgspec": {"documents", "documents/reading"},
    "kafka": {"cluster", "emulator", "messages", "salvage"},
    "typer": {"cli"},
    "tabulate": {"report"},
    "tenacity": {"recovery"},
    "crc32c": {"emulator", "log_dir"},
    "pyspark": {"spark"},
    "pyarrow": {"spark", "salvage", "salvage/replay", "stores"},
    "confluent_kafka": {"salvage/offsets", "salvage/replay"},
}

STRUCTS = {"Struct", "field", "structs", "structs.replace"}


def _part(module: Path) -> str:
    parts = module.relative_to(PACKAGE).with_suffix("").parts
    within = "/".join(parts[:2])
    return within if within in ABOVE else parts[0]


def _imports(module: Path) -> set[str]:
    names = set()
    for node in ast.walk(ast.parse(module.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def _file(name: str) -> Path | None:
    """Return the file of one of our modules."""
    path = PACKAGE.parent.joinpath(*name.split("."))
    if not name.startswith(NAME):
        return None
    return next((p for p in (path.with_suffix(".py"), path / "__init__.py") if p.is_file()), None)


MODULES = sorted(PACKAGE.rglob("*.py"))


@pytest.mark.parametrize("module", MODULES, ids=lambda m: str(m.relative_to(PACKAGE)))
def test_imports_point_one_way(module: Path) -> None:
    part = _part(module)
    if part in ("__init__", "__main__", "cli"):
        return
    assert part in GROUND | ABOVE, f"{part} is new: say what it may look at"
    ours = {_part(found) for found in map(_file, _imports(module)) if found is not None}
    may = GROUND[part] if part in GROUND else ABOVE[part] | EVERYBODY
    if "documents" in may | {part}:
        may = {*may, "documents/reading"}
    assert ours - {part, "__init__"} <= may


def test_each_look_that_the_tables_allow_is_taken() -> None:
    taken: dict[str, set[str]] = defaultdict(set)
    for module in MODULES:
        taken[_part(module)] |= {_part(f) for f in map(_file, _imports(module)) if f is not None}
    idle = {room: may - taken[room] for room, may in (GROUND | ABOVE).items()}
    assert not any(idle.values()), idle


@pytest.mark.parametrize("module", MODULES, ids=lambda m: str(m.relative_to(PACKAGE)))
def test_third_parties_stay_where_they_belong(module: Path) -> None:
    names = _imports(module)
    of_msgspec = {name.partition(".")[2] for name in names if name.partition(".")[0] == "msgspec"}
    if of_msgspec & STRUCTS and of_msgspec <= STRUCTS | {""}:
        names -= {"msgspec", *(f"msgspec.{each}" for each in STRUCTS)}
    for name in {name.split(".")[0] for name in names} & THIRD_PARTIES.keys():
        assert _part(module) in THIRD_PARTIES[name], f"only {THIRD_PARTIES[name]} import {name}"


def test_the_emulator_shares_no_rule_with_what_it_judges() -> None:
    # A wrong ranking must not be confirmed by its own judge.
    assert not ABOVE["emulator"] & {"planning", "recovery", "transport"}


def test_only_the_emulator_and_what_predicts_use_the_controllers_rules() -> None:
    # The emulator judges planning, recovery and transport by these rules.
    assert {part for part in ABOVE if "kraft_rules" in ABOVE[part]} == {
        "emulator",
        "ok_to_stop",
        "start_order",
    }


def test_nothing_that_brokers_say_is_decoded_by_what_bounds_nothing() -> None:
    # kafka-python makes whatever an answer says, in any number.
    for module in (PACKAGE / "cluster").rglob("*.py"):
        assert not [n for n in _imports(module) if n.startswith("kafka.protocol")], module.name


# Modules of fewer lines with one importer at most, and why they are not part of it.
FEW_LINES = 60
ON_THEIR_OWN = {
    "__main__": "python -m",
    "before_start/hidden": "a question of its own, and before_start/looking is long",
    "cli/commands/*": "a command",
    "cluster/wire/login_apis": "the layouts of messages stand apart from their use",
    "cluster/wire/scram": "a rule of RFC 5802",
    "log_dir/metadata/registration_table": "a table of Kafka's",
    "emulator/apis/*": "an API",
    "kraft_rules/features": "Kafka's FeatureControlManager",
    "log_dir/metadata/loading/*": "a class of Kafka's that loads records",
    "messages/*": "an API",
    "metadata_quorum/stuck": "a rule: voters that are not as the quorum knows them",
    "post_mortem/copies": "a rule: how copies of a journal become one",
    "planning/last_look": "a rule: docs/architecture.md",
    "planning/lost_disks": "a rule: what nobody has any more",
    "recovery/writable": "a question of its own, and recovery/recover is long",
    "survey/answering": "a question to brokers",
}


def test_a_crumb_has_a_reason() -> None:
    modules = modules_below(PACKAGE)
    targets = [target for found in imports(modules).values() for target in found]
    few = {
        module.name.removeprefix(f"{NAME}.").replace(".", "/")
        for module in modules
        if module.lines < FEW_LINES and targets.count(module.name) < 2
    }
    assert [name for name in few if not any(fnmatch(name, each) for each in ON_THEIR_OWN)] == []
    assert [each for each in ON_THEIR_OWN if not any(fnmatch(name, each) for name in few)] == []


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


HEAVY = {
    "kafka",
    "msgspec",
    "tabulate",
    "tenacity",
    "asyncio",
    "pyarrow",
    "pyspark",
    "confluent_kafka",
}


def _heavy(*modules: str) -> set[str]:
    """Return what a fresh process imports with these."""
    code = f"import sys, {', '.join(modules)}; print(*{HEAVY} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


GROUPS = ("unclean_recovery", "salvage", "spark", "quorum", "emulator")


def test_the_flags_of_groups_import_no_codec() -> None:
    # Those of a group are parsed for each of its commands.
    assert _heavy(f"{NAME}.cli.entry", *(f"{NAME}.cli.commands.{each}" for each in GROUPS)) == set()


@pytest.mark.parametrize("line", ["", "salvage", "spark", "quorum", "emulator"])
def test_the_help_of_a_group_imports_none_of_its_commands(line: str) -> None:
    words = [*line.split(), "--help"]
    code = f"import sys; from {NAME}.cli.entry import run; run('kafka-unclean-recovery', {words})"
    code += "; print(*sys.modules, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    commands = f"{NAME}.cli.commands."
    imported = {name for name in done.stderr.split() if name.startswith(commands)}
    assert imported == {f"{commands}unclean_recovery", *({commands + line} if line else ())}


def test_a_recovery_without_disks_imports_no_reader_of_disks() -> None:
    code = f"import sys, {NAME}.cli.commands.unclean_recovery_work; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    ours = {name.removeprefix(f"{NAME}.").split(".")[0] for name in done.stdout.split()}
    assert not ours & {"log_dir", "salvage", "stores", "spark", "pyarrow", "pyspark"}


def test_every_pytest_run_on_the_machine_imports_no_codec() -> None:
    # Its entry point is loaded whether a test uses the fixture or not.
    assert _heavy(f"{NAME}.emulator.pytest_plugin") <= _heavy("pytest")


def test_ctl_imports_no_codec_but_what_the_model_is_made_of() -> None:
    # Structs and msgspec take half of the time that dataclasses took to be made.
    assert _heavy(f"{NAME}.cli.commands.emulator_ctl", f"{NAME}.emulator.control.commands") <= {
        "asyncio",
        "msgspec",
    }


def test_each_file_that_the_architecture_names_is_there() -> None:
    named = set(re.findall(r"`((?:[a-z_]+/)+[a-z_]+\.py)", ARCHITECTURE))
    assert len(named) > 30
    roots = (PACKAGE, PACKAGE.parent)
    assert [name for name in named if not any((root / name).is_file() for root in roots)] == []


def test_a_replicas_log_passes_no_file_twice() -> None:
    way = ARCHITECTURE.split("One `ReplicaLog`")[1].split("`--recovery-duration-ms`")[0]
    files = re.findall(r"`([a-z_/]+\.py)`", way)
    assert len(files) == len(set(files)) <= 25
