"""What Spark says of a failure is kept whole in a file, where a screen has one sentence."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from kafka_unclean_recovery.errors import NOT_ALL, Exit, usage
from kafka_unclean_recovery.files.private_files import make_private_directory, open_private
from kafka_unclean_recovery.files.state_directory import all_clusters, new_path, why_not_to_use

if TYPE_CHECKING:
    from kafka_unclean_recovery.spark.running import JobFailed
    from kafka_unclean_recovery.spark.session import NoSession

KEPT = 20
"""So many files are kept, the newest."""

# Spark hides the values of settings with such names in its own texts (spark.redaction.regex).
_SECRET = re.compile("secret|password|token|access[.]?key", re.IGNORECASE)
_HIDDEN = "*********(redacted)"
_LONGEST = 1_000_000


def job_failed(error: JobFailed, conf: Sequence[str], again: str) -> Exit:
    """Return how a command ends whose job failed. conf: words of --conf. again: how to go on."""
    said = _without_secrets(str(error), conf)
    return Exit(NOT_ALL, f"the Spark job failed: {said}; {again}{_and_where(error.whole, conf)}")


def no_session(error: NoSession, conf: Sequence[str], master: str | None) -> Exit:
    """Return how a command ends that got no session. conf: words of --conf."""
    # sc://HOST:PORT/;token=SECRET;KEY=VALUE
    secrets = (*conf, *(master or "").split(";")[1:])
    said = _without_secrets(str(error), secrets)
    more = "\n" in error.whole.strip()
    return usage(f"{said}{_and_where(error.whole, secrets) if more else ''}")


def _and_where(whole: str, conf: Sequence[str]) -> str:
    """Keep all that Spark said, and return how a sentence that names the file ends."""
    kept = _kept(os.environ, _without_secrets(whole, conf))
    return "" if kept is None else f"; all that Spark said is in {kept}"


def _without_secrets(text: str, conf: Sequence[str]) -> str:
    for word in conf:
        key, _, value = word.partition("=")
        if value and _SECRET.search(key):
            text = text.replace(value, _HIDDEN)
    return text


def _kept(environment: Mapping[str, str], text: str) -> Path | None:
    """Return the file, which only its owner can read; None where none can be written."""
    directory = all_clusters(environment) / "spark-failures"
    path = new_path(directory).with_suffix(".txt")
    try:
        if why_not_to_use(environment, directory) is not None:
            return None
        make_private_directory(directory)
        _make_room(directory)
        with open_private(path, "wb") as file:
            file.write(f"{text[:_LONGEST]}\n".encode(errors="replace"))
    except OSError:
        with suppress(OSError):
            path.unlink()
        return None
    return path


def _make_room(directory: Path) -> None:
    for old in sorted(directory.glob("*.txt"))[: -KEPT + 1]:
        # Another run may have been quicker.
        old.unlink(missing_ok=True)
