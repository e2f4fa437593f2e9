"""A proxy in front of a store: counts what is asked of it, and answers amiss when told to."""

from __future__ import annotations

import http.client
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote, urlsplit

SLOW_DOWN = (
    b'<?xml version="1.0" encoding="UTF-8"?><Error><Code>SlowDown</Code>'
    b"<Message>Please reduce your request rate.</Message></Error>"
)
DENIED = (
    b'<?xml version="1.0" encoding="UTF-8"?><Error><Code>AccessDenied</Code>'
    b"<Message>Access Denied</Message></Error>"
)


@dataclass(frozen=True, slots=True)
class Asked:
    """A request. key: what follows the bucket, or the prefix that is listed."""

    method: str
    key: str
    listing: bool
    range: str | None


@dataclass(frozen=True, slots=True)
class Answer:
    """What the store says, `content` being all of a body that has `length` bytes by its header."""

    status: int
    headers: tuple[tuple[str, str], ...]
    content: bytes
    length: int | None = None


Fault = Callable[[Asked, Callable[[], Answer]], Answer | None]
"""(request, how to have the store answer it) -> what to answer, None for nothing at all."""


@dataclass
class Proxy:
    """port: of loopback. page: how many keys a listing gives at once. `fault` is asked about every
    request; `closing` ends what it waits for."""

    upstream: int
    port: int = 0
    fault: Fault | None = None
    page: int = 1000
    asked: list[Asked] = field(default_factory=list)
    closing: threading.Event = field(default_factory=threading.Event)

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def count(self, below: str = "") -> Counter[str]:
        """Return the requests by LIST, HEAD and GET, of keys that begin so."""
        return Counter(
            "LIST" if a.listing else a.method for a in self.asked if a.key.startswith(below)
        )

    def reset(self) -> None:
        self.fault = None
        self.page = 1000
        self.asked.clear()

    def _paged(self, target: str) -> str:
        return target.replace("max-keys=1000", f"max-keys={self.page}")

    def answer(self, asked: Asked, target: str, headers: dict[str, str]) -> Answer | None:
        self.asked.append(asked)

        def pass_on() -> Answer:
            store = http.client.HTTPConnection("127.0.0.1", self.upstream, timeout=20)
            try:
                store.request(asked.method, self._paged(target), headers=headers)
                told = store.getresponse()
                return Answer(told.status, tuple(told.getheaders()), told.read())
            finally:
                store.close()

        return pass_on() if self.fault is None else self.fault(asked, pass_on)


@contextmanager
def proxy_of(upstream: int) -> Iterator[Proxy]:
    """Yield a proxy of the store on this port."""
    proxy = Proxy(upstream)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        # Answers of small writes must not wait for each other's acknowledgements.
        disable_nagle_algorithm = True
        wbufsize = -1

        def do_GET(self) -> None:
            asked = _asked(self)
            answer = proxy.answer(asked, self.path, dict(self.headers))
            if answer is None:
                self.close_connection = True
                return
            self.send_response_only(answer.status)
            for name, value in answer.headers:
                if name.lower() not in ("content-length", "connection", "transfer-encoding"):
                    self.send_header(name, value)
            length = dict(answer.headers).get("Content-Length", str(len(answer.content)))
            self.send_header(
                "Content-Length", length if answer.length is None else str(answer.length)
            )
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(answer.content)
                self.close_connection = answer.length not in (None, len(answer.content))

        do_HEAD = do_GET  # noqa: N815 - the name that http.server looks for

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    proxy.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield proxy
    finally:
        proxy.closing.set()
        server.shutdown()
        thread.join()
        server.server_close()


def _asked(request: BaseHTTPRequestHandler) -> Asked:
    parts = urlsplit(request.path)
    query = dict(pair.partition("=")[::2] for pair in parts.query.split("&"))
    listing = "list-type" in query
    key = query.get("prefix", "") if listing else parts.path.partition("/")[2].partition("/")[2]
    return Asked(request.command, unquote(key), listing, request.headers.get("Range"))


def xml(status: int, content: bytes) -> Answer:
    return Answer(status, (("Content-Type", "application/xml"),), content)


@dataclass
class Instead:
    """A fault: the first so many of the wanted requests are answered this instead."""

    wanted: Callable[[Asked], bool]
    answer: Answer
    left: int = 10**6

    def __call__(self, asked: Asked, pass_on: Callable[[], Answer]) -> Answer:
        if self.left == 0 or not self.wanted(asked):
            return pass_on()
        self.left -= 1
        return self.answer
