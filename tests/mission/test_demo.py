"""`make demo` needs no Java, and little of what the tests need: it runs as its reader would run it,
where nothing but that is installed."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.metadata import packages_distributions, requires
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
INSTALLED = "kafka-unclean-recovery[demo]"
# Python runs a module of this name at its start.
HIDING = """
import sys

class Absent:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name in {hidden}:
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, Absent)
"""


def _installed(requirement: Requirement) -> set[str]:
    """Return the packages that come with one."""
    found: set[str] = {canonicalize_name(requirement.name)}
    for line in requires(requirement.name) or ():
        needed = Requirement(line)
        extras = ("", *requirement.extras)
        if needed.marker is None or any(needed.marker.evaluate({"extra": e}) for e in extras):
            found |= _installed(needed)
    return found


def _hidden() -> set[str]:
    """Return the modules of all other packages that this Python has."""
    kept = _installed(Requirement(INSTALLED))
    return {
        module
        for module, packages in packages_distributions().items()
        if not kept.intersection(map(canonicalize_name, packages))
    }


def test_the_demo_recovers_an_emulated_cluster(tmp_path: Path) -> None:
    hidden = _hidden()
    assert {"kio", "pyarrow", "pytest"} <= hidden
    assert hidden.isdisjoint({"confluent_kafka", "kafka", "kafka_unclean_recovery", "msgspec"})
    (tmp_path / "sitecustomize.py").write_text(HIDING.format(hidden=hidden))
    done = subprocess.run(
        [sys.executable, "-m", "examples.demo"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "orders-0 has no leader" in done.stdout
    assert '"partition": 0, "designatedLeader": 3' in done.stdout
    assert "1 partition: 1 online, 0 offline; 1 elected" in done.stdout
    assert "1500 records: all that a live broker held." in done.stdout
