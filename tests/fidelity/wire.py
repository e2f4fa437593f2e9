"""One blocking connection that carries one request at a time."""

from __future__ import annotations

import socket
from typing import Any, Self

from kafka_unclean_recovery.cluster.wire import frames

TIMEOUT = 60.0
_CHUNK = 64 << 10


class Wire:
    """Frames to and from one node. A time-out or a closed connection raises OSError."""

    def __init__(self, host: str, port: int) -> None:
        self._socket = socket.create_connection((host, port), TIMEOUT)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._buffer = bytearray()
        self._sent = 0

    def ask(self, request: Any, version: int) -> Any:
        """Return the decoded answer. The version must be one that the node speaks."""
        self._sent += 1
        self._socket.sendall(frames.encode_request(request, version, self._sent, "fidelity"))
        length = frames.frame_length(self._take(4))
        frame = self._take(length)
        if frames.correlation_id_of(frame) != self._sent:
            raise ConnectionError("the answer is to another request")
        return frames.decode_answer(request, version, frame)

    def _take(self, length: int) -> bytes:
        while len(self._buffer) < length:
            chunk = self._socket.recv(_CHUNK)
            if not chunk:
                raise ConnectionResetError("the node closed the connection")
            self._buffer += chunk
        taken = bytes(self._buffer[:length])
        del self._buffer[:length]
        return taken

    def close(self) -> None:
        self._socket.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
