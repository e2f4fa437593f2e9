"""Where the journals of one cluster lie, and those there in which something is left."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

from kafka_unclean_recovery.documents.journal import VERSION, Later, later
from kafka_unclean_recovery.documents.journal_lines import (
    LARGEST_JOURNAL,
    JournalError,
    parse,
    unfinished,
    untorn,
)
from kafka_unclean_recovery.files.plain_files import open_plain, read_plain
from kafka_unclean_recovery.files.private_files import why_not_ours
from kafka_unclean_recovery.files.sync_directory import sync_directory

# Without a home, as in a bare container.
_NO_HOME = "/tmp"  # noqa: S108 - nothing there is used that is not ours alone
# The long lines, as `note` writes them; all but their event.
_DECISION = re.compile(r'^(\{"v":1,)"at":"[^"\n]*","at_ms":\d+,("event":"decision"),.*$', re.M)
# Quotes within a value are escaped, so that no text of somebody else looks like an event.
_ELECTS = re.compile(rb'^\{"v":1,"at":"[^"\n]*","at_ms":\d+,"event":"elect",', re.M)
# Kafka's cluster ids have 22 characters; a name in a directory may have 255.
_LONGEST_NAME = 100
# More than a line "end" is long.
_LAST_LINE = 1024


def state_directory(environment: Mapping[str, str], cluster_id: str) -> Path:
    """Return where this user's journals of one cluster lie (XDG base directories)."""
    # Kafka's cluster ids are base64url; another one must not lead out of the directory.
    name = re.sub(r"[^A-Za-z0-9_-]", "_", cluster_id)
    if len(name) > _LONGEST_NAME:
        digest = sha256(cluster_id.encode("utf-8", "surrogatepass")).hexdigest()
        name = f"{name[:_LONGEST_NAME]}-{digest}"
    return all_clusters(environment) / name


def all_clusters(environment: Mapping[str, str]) -> Path:
    """Return where this user's files on all clusters lie."""
    home = environment.get("HOME") or _NO_HOME
    base = environment.get("XDG_STATE_HOME") or str(Path(home) / ".local" / "state")
    return Path(base) / "kafka-unclean-recovery"


def why_not_to_use(environment: Mapping[str, str], directory: Path) -> str | None:
    """Return why a state directory may hold what somebody else put there; None where that can't be,
    or whoever runs this has chosen the place."""
    if environment.get("HOME") or environment.get("XDG_STATE_HOME"):
        return None
    return why_not_ours(directory, below=Path(_NO_HOME))


def new_path(directory: Path) -> Path:
    """Return a name for a new journal, or another file of a run, that sorts by time."""
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
    return directory / f"{stamp}-{os.getpid()}.jsonl"


def link_to(path: Path, directory: Path) -> Path:
    """Make a link in the directory by which later runs find a journal that lies elsewhere."""
    link = new_path(directory)
    link.symlink_to(path.resolve())
    sync_directory(directory)
    return link


def last_elected(environment: Mapping[str, str]) -> tuple[Path | None, dict[Path, str]]:
    """Return (the journal of this user's last run that began an election, by the time in its name;
    why later ones can't be read). A look, a refusal or a wrong answer is passed over."""
    complaints: dict[Path, str] = {}
    found = all_clusters(environment).glob("*/*.jsonl")
    for path in sorted(found, key=lambda each: each.name, reverse=True):
        if (why := why_not_to_use(environment, path.parent)) is not None:
            complaints[path] = why
            continue
        try:
            if _ELECTS.search(read_plain(path, LARGEST_JOURNAL)):
                return path, complaints
        except OSError as error:
            complaints[path] = f"{_pointed(path)}: {error.strerror}"
    return None, complaints


def unfinished_journals(
    directory: Path, left: Callable[[Sequence[Mapping[str, Any]]], object] = unfinished
) -> tuple[list[Path], dict[Path, str]]:
    """Return (the journals in the directory that have something `left`, oldest first; why others
    can't be read)."""
    found: list[Path] = []
    complaints: dict[Path, str] = {}
    for path in sorted(directory.glob("*.jsonl")):
        try:
            if _nothing_is_left(path):
                continue
            # Nothing hangs on what was known.
            text = _DECISION.sub(
                r"\1\2}", untorn(read_plain(path, LARGEST_JOURNAL).decode(errors="replace"))
            )
            if left(parse(text[: text.rfind("\n") + 1], str(path))):
                found.append(path)
        except JournalError as error:
            complaints[path] = str(error)
        except OSError as error:
            complaints[path] = f"{_pointed(path)}: {error.strerror}"
    return found, complaints


def _nothing_is_left(path: Path) -> bool:
    """Return True where the last line says that its run left nothing. Every run comes by every
    journal, and most are megabytes, so only that line is read. Raises OSError."""
    with open_plain(path) as file:
        file.seek(max(file.seek(0, os.SEEK_END) - _LAST_LINE, 0))
        *_, last, behind = (b"", *file.read().split(b"\n"))
    try:
        line = json.loads(last)
    except (ValueError, RecursionError):
        return False
    known = isinstance(line, dict) and line.get("v") == VERSION and not behind
    return known and later(line) is Later.SKIP_FILE and line.get("half_done") is False


def _pointed(path: Path) -> str:
    """Return the path, and where it leads if it is a link: it may outlive a journal elsewhere."""
    return f"{path}, a link to {path.readlink()}" if path.is_symlink() else str(path)
