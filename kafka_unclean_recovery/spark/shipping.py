"""Executors that don't have our own code get it from here.

A function runs there that is pickled whole. It unpacks nothing itself: Spark unpacks the archive
that went with the session (this package, kafka-python, and crc32c and msgspec with their C
extensions, which Python can't import from a zip), and the function puts it on sys.path where our
package is not installed.
"""

from __future__ import annotations

import json
import tarfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib.metadata import distribution
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from zipfile import ZipFile
from zipimport import zipimporter

from kafka_unclean_recovery import __version__
from kafka_unclean_recovery.errors import InputError

# The code on executors imports these, besides what Spark itself needs there (pyarrow, pandas).
_PACKAGES = ("kafka_unclean_recovery", "crc32c", "kafka", "msgspec")
# These distributions look up their own version when they are imported.
_DISTRIBUTIONS = ("crc32c", "kafka-python")
_NAME = f"kafka-unclean-recovery-{__version__}"
_PREFIX = "kafka-unclean-recovery-"

# The archives stay, by session, up to the end of the process: executors that start later fetch them
# too.
_shipped: dict[str, TemporaryDirectory[str]] = {}

HOST = "kafka-unclean-recovery: this task ran on "
"""Begins a line behind the error of a task, and ends with its host: over Spark Connect nothing else
tells it."""

Batches = Iterator[Any]
"""An iterator over pyarrow record batches."""

Work = Callable[[Batches], Batches]
"""A function as DataFrame.mapInArrow takes it."""


def build_archive(directory: Path) -> Path:
    """Build a .tar.gz with our package and those it needs beside pyarrow. Raises InputError."""
    archive = directory / f"{_NAME}.tar.gz"
    with tarfile.open(archive, "w:gz") as tar:
        for package in _PACKAGES:
            tar.add(_home_of(package, directory), arcname=package, filter=_wanted)
        for name in _DISTRIBUTIONS:
            home = _metadata_of(name)
            tar.add(home.resolve(), arcname=home.name, filter=_wanted)
    return archive


def _home_of(package: str, scratch: Path) -> Path:
    """Return the directory of a package. scratch: where one that was imported from a zip, as
    spark-submit has it by --py-files, is unpacked."""
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise InputError(f"{package} can't be sent to executors: it is not installed as a package")
    home = Path(next(iter(spec.submodule_search_locations)))
    if not isinstance(spec.loader, zipimporter):
        return home.resolve()
    inside = home.relative_to(spec.loader.archive)
    with ZipFile(spec.loader.archive) as archive:
        for name in archive.namelist():
            if Path(name).is_relative_to(inside):
                archive.extract(name, scratch / "unzipped")
    return scratch / "unzipped" / inside


def _metadata_of(name: str) -> Path:
    found = distribution(name).locate_file("")
    homes = list(Path(str(found)).glob(f"{name.replace('-', '_')}-*.dist-info"))
    if not homes:
        raise InputError(f"{name} can't be sent to executors: it was installed without metadata")
    return homes[0]


def _wanted(entry: tarfile.TarInfo) -> tarfile.TarInfo | None:
    return None if Path(entry.name).name == "__pycache__" else entry


def ship(spark: Any) -> None:
    """Have the session send the archive to every executor, once."""
    key = _identity(spark)
    if key not in _shipped:
        _shipped[key] = directory = TemporaryDirectory(prefix=_PREFIX)
        archive = build_archive(Path(directory.name))
        spark.addArtifacts(f"{archive}#{_NAME}", archive=True)


def is_connect(spark: Any) -> bool:
    """Return whether the session is one over Spark Connect, whose driver is elsewhere."""
    return type(spark).__module__.startswith("pyspark.sql.connect.")


def _identity(spark: Any) -> str:
    return str(spark.session_id if is_connect(spark) else spark.sparkContext.applicationId)


def reaching() -> Callable[[], None]:
    """Return a function that lets an executor find our package where it is not installed. The
    function is pickled whole."""
    name, packages = _NAME, _PACKAGES

    def reach() -> None:
        import os
        import sys
        from importlib.util import find_spec

        # The directory that Python was started in may hold one of the packages, and not the others.
        if None in map(find_spec, packages):
            from pyspark.core.files import SparkFiles

            places = (SparkFiles.get(name), os.path.abspath(name))  # noqa: PTH100
            sys.path.extend(place for place in places if os.path.isdir(place))  # noqa: PTH112

    return reach


def on_executors(entry: str, settings: Mapping[str, object] | None = None) -> Work:
    """Return a function for executors that calls `entry`, "module:function", with the settings,
    which must be JSON, and the batches. Nothing of ours is pickled by its name."""
    module, _, function = entry.partition(":")
    told = json.dumps(settings or {})
    reach, host = reaching(), HOST

    def run(batches: Iterable[Any]) -> Iterator[Any]:
        import gc
        import importlib
        import json
        import os

        try:
            reach()
            work = getattr(importlib.import_module(module), function)
            # The worker collects garbage between tasks, and need not look at the modules that were
            # imported.
            gc.freeze()
            yield from work(json.loads(told), batches)
        except Exception as error:
            error.add_note(f"{host}{os.uname().nodename}")
            raise

    return run
