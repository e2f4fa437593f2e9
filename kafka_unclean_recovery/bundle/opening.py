"""An archive of `bundle` is read in memory, and only what its index vouches for is believed."""

from __future__ import annotations

import gzip
import hashlib
import tarfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, BinaryIO, cast

from kafka_unclean_recovery.bundle.archive import INDEX
from kafka_unclean_recovery.documents.bundle import BundleJson
from kafka_unclean_recovery.documents.reading.codec import decode_newer, load_kind
from kafka_unclean_recovery.documents.reading.json_text import Place
from kafka_unclean_recovery.documents.writing import digest_text
from kafka_unclean_recovery.errors import InputError
from kafka_unclean_recovery.files.plain_files import open_plain

# What is unpacked may be a thousand times as large as the file.
LARGEST = 1 << 30
_GIVE = "give a file of bundle --output"


@dataclass(frozen=True, slots=True)
class Opened:
    """An archive. files: the content of those that were asked for and are there, by name."""

    index: BundleJson
    files: Mapping[str, bytes]


@dataclass(slots=True)
class _Bounded:
    """A file that may not have more than so many bytes, whatever it says of itself."""

    file: gzip.GzipFile
    source: str
    left: int

    def read(self, size: int) -> bytes:
        """Read as a file does. Raises InputError for a file that has more."""
        data = self.file.read(size)
        self.left -= len(data)
        if self.left < 0:
            raise InputError(f"{self.source}: holds more than {LARGEST} bytes; {_GIVE}")
        return data


def open_archive(path: Path, wanted: frozenset[str], source: str) -> Opened:
    """Read the index, and the files that are wanted. Raises InputError, which names `source`, for
    what is no whole archive, or holds more than LARGEST bytes."""
    try:
        with open_plain(path) as file:
            found = _read(file, wanted | {INDEX}, source)
    except (tarfile.TarError, EOFError, zlib.error) as error:
        raise InputError(f"{source}: not an archive of bundle, or cut off ({error})") from None
    except OSError as error:
        raise InputError(f"{source}: {error.strerror or error}") from None
    if INDEX not in found:
        raise InputError(f"{source}: it has no {INDEX}, so it was cut off; {_GIVE}")
    index = _index(found.pop(INDEX), f"{source}: {INDEX}")
    for name, content in found.items():
        _check(name, content, index, source)
    return Opened(index, found)


def _read(file: BinaryIO, wanted: frozenset[str], source: str) -> dict[str, bytes]:
    """Return the wanted files. Nothing is written, and nothing that is not plain is looked at."""
    found: dict[str, bytes] = {}
    with (
        gzip.open(file) as unpacked,
        tarfile.open(
            fileobj=cast("IO[bytes]", _Bounded(unpacked, source, LARGEST)), mode="r|"
        ) as archive,
    ):
        for member in archive:
            content = archive.extractfile(member) if member.isreg() else None
            if content is None or member.name not in wanted:
                continue
            if member.name in found:
                raise InputError(f"{source}: has {member.name} twice; {_GIVE}")
            found[member.name] = content.read()
    return found


def _index(content: bytes, source: str) -> BundleJson:
    use = "use the version of this tool that wrote the archive"
    document = load_kind(text_of(content, source), source, "bundle", _GIVE, use)
    return decode_newer(document, BundleJson, Place(source))


def text_of(content: bytes, source: str) -> str:
    """Return the text of a file in UTF-8. Raises InputError."""
    try:
        return content.decode()
    except UnicodeDecodeError:
        raise InputError(f"{source}: is not UTF-8") from None


def _check(name: str, content: bytes, index: BundleJson, source: str) -> None:
    digest = digest_text(hashlib.sha256(content))
    if not any((row.name, row.digest) == (name, digest) for row in index.files):
        raise InputError(
            f"{source}: {name} is not as the index has it, so it was changed; take it from whoever"
            " wrote the archive"
        )
