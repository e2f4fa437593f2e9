"""As much of Google's and of Azure's stores as a reader asks for, over a directory.

    python -m tests.stores.fake_stores gs|abfs DIRECTORY

serves its files, read-only, as the bucket or container `disks`, and prints the port. It is a
process of its own: pyarrow holds the interpreter's lock during some requests. A file named *.short
is cut off halfway, with a header that is honest about it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape

_WHEN = "Thu, 01 Jan 2026 00:00:00 GMT"


class Store:
    def __init__(self, root: Path) -> None:
        self._root = root

    def size(self, key: str) -> int | None:
        path = self._root / key
        return path.stat().st_size if path.is_file() else None

    def content(self, key: str) -> bytes:
        return (self._root / key).read_bytes()

    def listed(self, prefix: str, delimiter: str) -> tuple[list[str], list[str]]:
        """Return (keys, prefixes that end with the delimiter)."""
        keys, prefixes = [], dict[str, None]()
        for path in sorted(self._root.rglob("*")):
            key = str(path.relative_to(self._root))
            if path.is_file() and key.startswith(prefix):
                first, found, _ = key[len(prefix) :].partition(delimiter or "\0")
                if found:
                    prefixes[prefix + first + found] = None
                else:
                    keys.append(key)
        return keys, list(prefixes)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    store: Store

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        query = {name: values[-1] for name, values in parse_qs(parts.query).items()}
        self.answer(parts.path, query)

    def do_HEAD(self) -> None:
        self.do_GET()

    def answer(self, path: str, query: dict[str, str]) -> None:
        raise NotImplementedError

    def reply(self, status: int, body: bytes, *headers: tuple[str, str], length: int = -1) -> None:
        self.send_response_only(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body) if length < 0 else length))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def media(self, key: str, ranged: str | None, *headers: tuple[str, str]) -> None:
        content = self.store.content(key)
        if ranged is None:
            self.reply(200, content, *headers)
            return
        first, _, last = ranged.removeprefix("bytes=").partition("-")
        begin, end = int(first), min(int(last or len(content)) + 1, len(content))
        where = ("Content-Range", f"bytes {begin}-{end - 1}/{len(content)}")
        part = content[begin:end]
        if key.endswith(".short"):
            part = part[: len(part) // 2]
        self.reply(206, part, where, *headers)

    def log_message(self, *_: object) -> None:
        pass


class Google(Handler):
    """The JSON API of storage v1."""

    def answer(self, path: str, query: dict[str, str]) -> None:
        start, _, key = path.partition("/storage/v1/b/disks/o")
        key = unquote(key.removeprefix("/"))
        if start:
            self.reply(404, b"{}")
        elif not key:
            keys, prefixes = self.store.listed(query.get("prefix", ""), query.get("delimiter", ""))
            items = [self._metadata(key) for key in keys]
            self._json({"kind": "storage#objects", "items": items, "prefixes": prefixes})
        elif self.store.size(key) is None:
            self.reply(404, json.dumps({"error": {"code": 404, "message": "none"}}).encode())
        elif query.get("alt") == "media":
            self.media(key, self.headers.get("Range"))
        else:
            self._json(self._metadata(key))

    def _metadata(self, key: str) -> dict[str, object]:
        return {
            "kind": "storage#object",
            "name": key,
            "bucket": "disks",
            "size": str(self.store.size(key)),
            "generation": "1",
        }

    def _json(self, document: object) -> None:
        self.reply(200, json.dumps(document).encode(), ("Content-Type", "application/json"))


class Azure(Handler):
    """Blobs of a flat namespace, of the account `account` by its path."""

    def answer(self, path: str, query: dict[str, str]) -> None:
        key = unquote(path.removeprefix("/account/disks").removeprefix("/"))
        if query.get("comp") == "list":
            self._list(query.get("prefix", ""), query.get("delimiter", ""))
        elif self.store.size(key) is None:
            missing = ("x-ms-error-code", "BlobNotFound")
            self.reply(404, b"", missing)
        else:
            blob = (
                ("x-ms-blob-type", "BlockBlob"),
                ("Last-Modified", _WHEN),
                ("ETag", '"1"'),
                ("x-ms-creation-time", _WHEN),
                ("x-ms-server-encrypted", "true"),
                ("x-ms-lease-state", "available"),
                ("x-ms-lease-status", "unlocked"),
                ("Content-Type", "application/octet-stream"),
            )
            if self.command == "HEAD":
                self.reply(200, b"", *blob, length=self.store.size(key) or 0)
            else:
                self.media(key, self.headers.get("x-ms-range"), *blob)

    def _list(self, prefix: str, delimiter: str) -> None:
        keys, prefixes = self.store.listed(prefix, delimiter)
        self.reply(
            200, "".join(self._xml(keys, prefixes)).encode(), ("Content-Type", "application/xml")
        )

    def _xml(self, keys: list[str], prefixes: list[str]) -> Iterator[str]:
        yield '<?xml version="1.0" encoding="utf-8"?>'
        yield '<EnumerationResults ContainerName="disks"><Blobs>'
        for prefix in prefixes:
            yield f"<BlobPrefix><Name>{escape(prefix)}</Name></BlobPrefix>"
        for key in keys:
            yield (
                f"<Blob><Name>{escape(key)}</Name><Properties><Last-Modified>{_WHEN}</Last-Modified>"
                f"<Etag>1</Etag><Content-Length>{self.store.size(key)}</Content-Length>"
                "<BlobType>BlockBlob</BlobType></Properties></Blob>"
            )
        yield "</Blobs><NextMarker /></EnumerationResults>"


def main(kind: str, root: str) -> None:
    handler = {"gs": Google, "abfs": Azure}[kind]
    handler.store = Store(Path(root))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    print(server.server_address[1], flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main(*sys.argv[1:])
