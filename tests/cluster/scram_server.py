"""The broker's side of RFC 5802, written from the RFC."""

from __future__ import annotations

import base64
import hashlib
import hmac
import re

ITERATIONS = 4096
SALT = b"a salt of some bytes"


class ScramServer:
    """Two steps: client-first to server-first, client-final to server-final.

    A wrong proof raises PermissionError. With `impostor`, the server's own signature is wrong.
    iterations: as they are written, the last of them in force.
    """

    def __init__(
        self,
        mechanism: str,
        name: str,
        password: str,
        impostor: bool = False,
        iterations: str = str(ITERATIONS),
    ) -> None:
        self.hash = {"SCRAM-SHA-256": "sha256", "SCRAM-SHA-512": "sha512"}[mechanism]
        self.name = name
        self.impostor = impostor
        self.salted = hashlib.pbkdf2_hmac(
            self.hash, password.encode(), SALT, self._count(iterations)
        )
        self.iterations = iterations
        self.messages: list[str] = []

    def step(self, message: bytes) -> bytes:
        text = message.decode()
        return (self._final(text) if self.messages else self._first(text)).encode()

    def _first(self, text: str) -> str:
        header, bare = text[:3], text[3:]
        attributes = _attributes(bare)
        name = attributes["n"].replace("=2C", ",").replace("=3D", "=")
        assert header == "n,,"
        assert not re.search("=(?!2C|3D)", attributes["n"])
        if name != self.name:
            raise PermissionError("no such user")
        nonce = attributes["r"] + "server"
        first = f"r={nonce},s={base64.b64encode(SALT).decode()},i={self.iterations}"
        self.messages = [bare, first]
        return first

    def _final(self, text: str) -> str:
        without_proof, _, proof = text.rpartition(",p=")
        signed = ",".join([*self.messages, without_proof]).encode()
        client_key = self._hmac(self.salted, b"Client Key")
        stored_key = hashlib.new(self.hash, client_key).digest()
        expected = _xor(client_key, self._hmac(stored_key, signed))
        if not hmac.compare_digest(expected, base64.b64decode(proof)):
            raise PermissionError("wrong proof")
        signature = self._hmac(self._hmac(self.salted, b"Server Key"), signed)
        if self.impostor:
            signature = _xor(signature, signature)
        return f"v={base64.b64encode(signature).decode()}"

    @staticmethod
    def _count(iterations: str) -> int:
        return int(re.findall(r"(?:^|i=)([0-9]+)", iterations)[-1])

    def _hmac(self, key: bytes, message: bytes) -> bytes:
        return hmac.new(key, message, self.hash).digest()


def _attributes(text: str) -> dict[str, str]:
    return dict(pair.split("=", 1) for pair in text.split(","))


def _xor(left: bytes, right: bytes) -> bytes:
    return bytes(a ^ b for a, b in zip(left, right, strict=True))
