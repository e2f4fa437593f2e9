"""The scripts of .ci/dist as modules; they belong to no package."""

from __future__ import annotations

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

DIST_SCRIPTS = Path(__file__).parents[1] / ".ci" / "dist"


def dist_script(name: str) -> ModuleType:
    spec = spec_from_file_location(name, DIST_SCRIPTS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
