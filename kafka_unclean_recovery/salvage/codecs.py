"""Batches are decompressed up to a bound, because a few kilobytes may unfold to gigabytes.

gzip is Python's own; snappy, lz4 and zstd are pyarrow's (the extra [salvage]), which is imported
only when a batch needs it.
"""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Iterator
from typing import Any

from kafka_unclean_recovery.log_dir.errors import BadFormat
from kafka_unclean_recovery.log_dir.segments.batches import CODECS

_STEP = 1 << 20
_GZIP = 16 + zlib.MAX_WBITS
# Java's snappy streams begin with a magic, then two versions. Blocks follow, each behind its
# length. librdkafka writes one block without magic, versions or length.
_XERIAL = b"\x82SNAPPY\x00"
_XERIAL_HEADER = 16
_BLOCK_LENGTH = struct.Struct(">i")


def decompress(codec: str, data: bytes, most: int) -> bytes:
    """Return the data decompressed; `codec` is one of `CODECS`. Raises BadFormat for data that
    can't be decompressed, and for more than `most` bytes."""
    if codec == "none":
        return data
    if codec not in CODECS[:5]:
        raise BadFormat("batch codec", f"{codec} is not known")
    try:
        return _bounded(_pieces(codec, data, most), most)
    except (zlib.error, OSError, EOFError, struct.error) as error:
        raise BadFormat("batch codec", f"{codec}: {error}") from None


def _bounded(pieces: Iterator[bytes], most: int) -> bytes:
    whole = io.BytesIO()
    for piece in pieces:
        if whole.tell() + len(piece) > most:
            raise BadFormat("batch codec", f"it unfolds to more than {most} bytes")
        whole.write(piece)
    return whole.getvalue()


def _pieces(codec: str, data: bytes, most: int) -> Iterator[bytes]:
    if codec == "gzip":
        return _gunzip(data)
    if codec == "snappy":
        return _unsnap(data, most)
    return _stream(codec, data)


def _gunzip(data: bytes) -> Iterator[bytes]:
    stream = zlib.decompressobj(_GZIP)
    while not stream.eof:
        piece = stream.decompress(data, _STEP)
        data = stream.unconsumed_tail
        if not piece and not data and not stream.eof:
            raise EOFError("the stream ends too early")
        yield piece


def _stream(codec: str, data: bytes) -> Iterator[bytes]:
    arrow: Any = _pyarrow()
    with arrow.CompressedInputStream(arrow.BufferReader(data), codec) as stream:
        while piece := stream.read(_STEP):
            yield piece


def _unsnap(data: bytes, most: int) -> Iterator[bytes]:
    arrow: Any = _pyarrow()
    codec = arrow.Codec("snappy")
    for block in _snappy_blocks(data):
        size = _snappy_size(block)
        if size > most:
            raise BadFormat("batch codec", f"it unfolds to more than {most} bytes")
        yield codec.decompress(block, decompressed_size=size, asbytes=True)


def _snappy_blocks(data: bytes) -> Iterator[bytes]:
    if not data.startswith(_XERIAL):
        yield data
        return
    position = _XERIAL_HEADER
    while position < len(data):
        (length,) = _BLOCK_LENGTH.unpack_from(data, position)
        position += _BLOCK_LENGTH.size
        if not 0 < length <= len(data) - position:
            raise BadFormat("batch codec", f"a snappy block of {length} bytes")
        yield data[position : position + length]
        position += length


def _snappy_size(block: bytes) -> int:
    """Return the size that a block unfolds to, which is the varint at its beginning."""
    size = 0
    for place, byte in enumerate(block[:5]):
        size |= (byte & 0x7F) << 7 * place
        if byte < 0x80:
            return size
    raise BadFormat("batch codec", "a snappy block without its length")


def _pyarrow() -> Any:
    # The import takes a tenth of a second, and not every user has pyarrow.
    import pyarrow

    return pyarrow
