"""A ReadAhead makes few large reads out of many small ones, where every read is a request. Pure but
for `fetch`."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

# An index or a small segment is read whole, by one request.
WHOLE = 1 << 20
# A first read fetches so many bytes, as for the end of a segment, from its last index entry on.
FIRST = 256 << 10
# Each read that follows on doubles up to so many bytes.
LARGEST = 8 << 20
# A walk needs one piece; the search for the end of a preallocated index also needs the index's
# beginning and end.
_HELD = 3

Fetch = Callable[[int, int], bytes]
"""A Fetch takes (position, length) and returns exactly that many bytes, all of them in the file.
Its errors go through."""


@dataclass(frozen=True, slots=True)
class _Piece:
    start: int
    content: bytes

    @property
    def end(self) -> int:
        return self.start + len(self.content)


@dataclass(slots=True)
class ReadAhead:
    """A file of `size` bytes. At most three pieces are held, each of 9 MiB or as asked for."""

    fetch: Fetch
    size: int
    _held: deque[_Piece] = field(default_factory=lambda: deque(maxlen=_HELD), init=False)

    def read_at(self, position: int, length: int) -> bytes:
        """Return bytes of the file; fewer than asked for only at its end."""
        stop = min(position + length, self.size)
        if stop <= position:
            return b""
        piece = self._piece(position, stop)
        return piece.content[position - piece.start : stop - piece.start]

    def _piece(self, position: int, stop: int) -> _Piece:
        before = next((p for p in reversed(self._held) if p.start <= position <= p.end), None)
        if before is not None and stop <= before.end:
            return before
        found = (
            self._somewhere(position, stop) if before is None else self._on(before, position, stop)
        )
        self._held.append(found)
        return found

    def _somewhere(self, position: int, stop: int) -> _Piece:
        if self.size <= WHOLE:
            return _Piece(0, self.fetch(0, self.size))
        start = 0 if position < FIRST else position
        end = min(max(start + FIRST, stop), self.size)
        return _Piece(start, self.fetch(start, end - start))

    def _on(self, before: _Piece, position: int, stop: int) -> _Piece:
        end = min(max(before.end + min(2 * len(before.content), LARGEST), stop), self.size)
        more = self.fetch(before.end, end - before.end)
        return _Piece(position, before.content[position - before.start :] + more)
