"""What a release is made by: targets of the Makefile, and the scripts of .ci/dist as modules, which
belong to no package."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).parents[1]
DIST_SCRIPTS = ROOT / ".ci" / "dist"
BUILD_TIMEOUT = 500.0


def make(target: str, directory: Path, *more: str) -> None:
    """Write what `make` makes of this target into the directory."""
    done = run_make(target, f"DIST={directory}", *more)
    assert done.returncode == 0, done.stderr


def run_make(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["make", f"PYTHON={sys.executable}", *arguments],
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=BUILD_TIMEOUT,
        check=False,
    )


def dist_script(name: str) -> ModuleType:
    spec = spec_from_file_location(name, DIST_SCRIPTS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
