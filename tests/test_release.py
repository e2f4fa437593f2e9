"""What `make release-check` finds in a tree, and in what was built of it."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from types import ModuleType

import pytest

from kafka_unclean_recovery import __version__
from tests.dist_scripts import dist_script

ROOT = Path(__file__).parents[1]
CHANGELOG = f"## [Unreleased]\n\n## [{__version__}] - 2026-12-01\n"


@pytest.fixture(scope="module")
def check() -> ModuleType:
    return dist_script("check_release")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name in ("README.md", "docs", "examples", "kafka_unclean_recovery/man"):
        source, target = ROOT / name, tmp_path / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copytree(source, target) if source.is_dir() else shutil.copy(source, target)
    package = tmp_path / "kafka_unclean_recovery" / "__init__.py"
    package.write_text(f'__version__ = "{__version__}"\n')
    (tmp_path / "CHANGELOG.md").write_text(CHANGELOG)
    return tmp_path


def test_the_version_is_the_same_wherever_it_is_named(check: ModuleType, tree: Path) -> None:
    assert list(check.disagreements(tree)) == []


def test_a_version_that_was_forgotten_is_found(check: ModuleType, tree: Path) -> None:
    package = tree / "kafka_unclean_recovery" / "__init__.py"
    package.write_text('__version__ = "9.9.9"\n')
    found = list(check.disagreements(tree))
    assert f"examples/kubernetes/job.yaml: names version {__version__}" in found
    assert found[-1].startswith("CHANGELOG.md: no section [9.9.9] with its date")


def test_a_changelog_without_the_date_is_no_release(check: ModuleType, tree: Path) -> None:
    (tree / "CHANGELOG.md").write_text(f"## [{__version__}]\n")
    (found,) = check.disagreements(tree)
    assert found.startswith("CHANGELOG.md: no section")


def test_what_was_not_built_is_found(check: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "wheelhouse").mkdir()
    (found,) = check.unlike(tmp_path, __version__)
    assert found == f"{tmp_path / 'wheelhouse'}: does not install without a network"


def test_a_program_that_tells_another_version_is_found(check: ModuleType, tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_text(f"#!{sys.executable}\nprint('program 0.0.1')\n")
    program.chmod(0o700)
    assert list(check._versions([program], "0.0.1")) == []
    (found,) = check._versions([program], "0.0.2")
    assert found.endswith("tells 'program 0.0.1' as its version, not 0.0.2")
    (missing,) = check._versions([tmp_path / "nothing"], "0.0.2")
    assert "tells 'nothing'" in missing
