"""What benchmarks measure is the wheel of this checkout as users have it, never an older one."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from importlib.util import cache_from_source
from pathlib import Path
from zipfile import ZipFile

import pytest

import kafka_unclean_recovery
from benchmarks import installed
from benchmarks.installed import CORE, EXTRAS, KEPT_IN, built, digest, environment
from benchmarks.measure import ours, run
from tests.real.cache import ROOT

# Where the command's interpreter finds things; the package is the one that its script imports.
LOOK = """
import json, os, sys, kafka_unclean_recovery.cli.entry as entry
from importlib.util import find_spec
names = ("pyarrow", "confluent_kafka", "msgspec")
found = {name: spec and spec.origin for name in names for spec in [find_spec(name)]}
written = sys.dont_write_bytecode, *(name for name in os.environ if name.startswith("PYTHON"))
print(json.dumps([entry.__file__, entry.__cached__, found, written]))
"""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Return a copy of what the wheel is made of."""
    copy = tmp_path / "tree"
    for name in installed._SOURCES:
        place = ROOT / name
        if place.is_dir():
            shutil.copytree(place, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            copy.mkdir(exist_ok=True)
            shutil.copy(place, copy)
    return copy


@pytest.mark.parametrize("kind", [CORE, EXTRAS])
def test_a_measured_command_runs_as_installed_with_byte_code(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    (script,) = ours("kafka-unclean-recovery", kind=kind)
    # As the script has it: its first line, and its directory before all others.
    shebang, *_ = Path(script).read_text().splitlines()
    look, said = tmp_path / "look.py", tmp_path / "said"
    look.write_text(LOOK)
    assert run([shebang.removeprefix("#!"), str(look)], said).code == 0
    place, compiled, found, written = json.loads(said.read_text())
    home = environment(kind)
    assert Path(script).is_relative_to(home)
    assert Path(place).is_relative_to(home)
    assert Path(compiled).is_file()
    # Those that nothing has imported yet, too.
    modules = list(Path(place).parents[1].rglob("*.py"))
    assert Path(place) in modules
    assert [path for path in modules if not Path(cache_from_source(str(path))).exists()] == []
    assert written == [False]
    # Only the one that is for extras has any, and those are of the environment that runs this.
    assert {name for name, origin in found.items() if origin} == (
        {"msgspec"} if kind == CORE else set(found)
    )
    assert Path(found["msgspec"]).is_relative_to(home if kind == CORE else sys.prefix)


def test_a_benchmark_says_which_code_it_measured(tmp_path: Path) -> None:
    version = kafka_unclean_recovery.__version__
    assert installed.told_of_processes() == {
        "installed": True,
        "bytecode": True,
        "version": version,
    }
    code = "import json; from benchmarks.installed import told_of_this_process as told\n"
    code += "print(json.dumps(told()))"
    done = subprocess.run(
        [sys.executable, "-X", f"pycache_prefix={tmp_path}", "-B", "-c", code],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    )
    assert json.loads(done.stdout) == {"installed": False, "bytecode": False, "version": version}


def test_the_same_sources_are_built_once_wherever_they_are(tree: Path) -> None:
    (tree / "kafka_unclean_recovery" / "__pycache__").mkdir()
    (tree / "kafka_unclean_recovery" / "__pycache__" / "x.pyc").write_bytes(b"x")
    assert built(tree) == built()
    assert built().is_relative_to(KEPT_IN / digest(ROOT))


def test_a_changed_source_is_built_anew(tree: Path, tmp_path: Path) -> None:
    changed = tree / "kafka_unclean_recovery" / "cli" / "start.py"
    changed.write_text(f"{changed.read_text()}\nCHANGED = True\n")
    kept = tmp_path / "kept"
    wheel = built(tree, kept)
    assert wheel.is_relative_to(kept / digest(tree))
    assert digest(tree) != digest(ROOT)
    with ZipFile(wheel) as archive:
        assert b"CHANGED = True" in archive.read("kafka_unclean_recovery/cli/start.py")


@pytest.mark.parametrize(
    "name", ["pyproject.toml", "completions/kafka-elect-leaders.fish", "kafka_unclean_recovery/new"]
)
def test_whatever_the_wheel_is_made_of_counts(tree: Path, name: str) -> None:
    before = digest(tree)
    with (tree / name).open("a") as file:
        file.write("\n")
    assert digest(tree) != before


def test_few_are_kept(tmp_path: Path) -> None:
    for number in range(installed.KEPT + 2):
        (tmp_path / str(number)).mkdir()
        os.utime(tmp_path / str(number), (number, number))
    installed._forget_old(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["2", "3", "4"]
