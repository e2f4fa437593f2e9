"""The wheel of this checkout, installed as users have it: not editable, with byte code, in an
environment of its own under .cache.

What is made is kept by what the wheel is made of, so that no older one is ever measured. In the
environment `CORE` is the wheel and what pip finds that it depends on, and nothing else. In `EXTRAS`
is the wheel alone, and Python looks for all else in the environment that runs this: what needs an
extra, and who wants to see that an extra which is there is left alone.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import ModuleType

import kafka_unclean_recovery
from tests.real.cache import CACHE, ROOT, locked, made_once

HERE = Path(__file__).parent
KEPT_IN = CACHE / "benchmarks"
CORE, EXTRAS = "core", "extras"
# Of earlier sources; each is some 35 MiB.
KEPT = 3
_SOURCES = ("kafka_unclean_recovery", "completions", "pyproject.toml", "README.md", "LICENSE")
_WHEEL, _COMPLETE = "wheel", ".complete"


def python(*arguments: str, kind: str = CORE) -> list[str]:
    """Return the call of the environment's interpreter. With -P it knows our package as it is
    installed; without, it looks in the directory we are in, or that of its script, first."""
    return [str(environment(kind) / "bin" / "python"), *arguments]


def script(name: str, *arguments: str) -> list[str]:
    """Return the call of a module of this directory, which imports our package alone."""
    return python("-P", str(HERE / f"{name}.py"), *arguments)


def plain_environ() -> dict[str, str]:
    """Return the environment without what changes how Python starts, as a user's is."""
    return {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}


@cache
def told_of_processes() -> dict[str, object]:
    """Return, for a benchmark's JSON, which code the processes that it measured ran."""
    code = "import kafka_unclean_recovery as ours; from os.path import exists\n"
    code += "print(ours.__version__, exists(ours.__cached__), ours.__file__)"
    done = subprocess.run(
        python("-P", "-c", code), env=plain_environ(), capture_output=True, text=True, check=True
    )
    version, compiled, place = done.stdout.strip().split(maxsplit=2)
    installed = Path(place).is_relative_to(environment())
    return {"installed": installed, "bytecode": compiled == "True", "version": version}


def told_of_this_process(package: ModuleType = kafka_unclean_recovery) -> dict[str, object]:
    """Return, for a benchmark's JSON, which code this process ran."""
    (place,) = package.__path__
    return {
        "installed": not Path(place).is_relative_to(ROOT / package.__name__),
        "bytecode": Path(package.__cached__).exists(),
        "version": package.__version__,
    }


@cache
def environment(kind: str = CORE) -> Path:
    """Return the directory of a virtual environment, which has bin/ and share/."""
    wheel = built()
    home = wheel.parent.parent / kind
    with locked(home.with_name(f".{kind}.lock")):
        if not (home / _COMPLETE).exists():
            shutil.rmtree(home, ignore_errors=True)
            _install(wheel, home, kind)
            (home / _COMPLETE).touch()
    return home


def built(root: Path = ROOT, kept_in: Path = KEPT_IN) -> Path:
    """Return the wheel of this tree, made now unless there is one of the same sources."""
    home = kept_in / digest(root)
    made = made_once(home / _WHEEL, lambda wheel: _build(root, wheel))
    os.utime(home)
    _forget_old(kept_in)
    (wheel,) = made.glob("*.whl")
    return wheel


def digest(root: Path) -> str:
    """Return a digest of the interpreter and every file of the wheel, by name and content."""
    hashed = hashlib.sha256(f"{sys.version} {sys.base_prefix}".encode())
    for file in _sources(root):
        content = file.read_bytes()
        hashed.update(f"\0{file.relative_to(root)}\0{len(content)}\0".encode() + content)
    return hashed.hexdigest()[:12]


def _sources(root: Path) -> Iterator[Path]:
    for name in _SOURCES:
        place = root / name
        for file in sorted(place.rglob("*")) if place.is_dir() else [place]:
            if file.is_file() and file.parent.name != "__pycache__":
                yield file


def _build(root: Path, wheel: Path) -> None:
    _pip("wheel", "--no-deps", "--wheel-dir", str(wheel), str(root))


def _install(wheel: Path, home: Path, kind: str) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(home)], check=True)
    into = ("--python", str(home / "bin" / "python"), "install", "--compile")
    if kind == CORE:
        _pip(*into, str(wheel))
        return
    _pip(*into, "--no-deps", str(wheel))
    (site,) = home.glob("lib/python*/site-packages")
    # A directory that is named so comes after this one, and no .pth file of its own is read: the
    # editable install there stays unseen.
    (site / "beside.pth").write_text(f"{sysconfig.get_path('purelib')}\n")


def _pip(*words: str) -> None:
    subprocess.run(
        [sys.executable, "-m", "pip", "--quiet", *words], env=plain_environ(), check=True
    )


def _forget_old(kept_in: Path) -> None:
    homes = [path for path in kept_in.iterdir() if path.is_dir()]
    for old in sorted(homes, key=lambda path: path.stat().st_mtime)[:-KEPT]:
        shutil.rmtree(old, ignore_errors=True)
