"""An identity provider: keys that brokers know, signed tokens, and a token endpoint over HTTPS."""

from __future__ import annotations

import base64
import json
import ssl
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)

AUDIENCE, ISSUER = "kafka", "https://issuer.example"
_KEY_ID = "test"
_KEY, _KEYS = "issuer.pem", "jwks.json"


def write_keys(directory: Path) -> Path:
    """Return the file of public keys for brokers, made if need be."""
    keys = directory / _KEYS
    if not keys.exists():
        key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        (directory / _KEY).write_bytes(pem)
        numbers = key.public_key().public_numbers()
        public = {name: _number(getattr(numbers, name)) for name in ("n", "e")}
        entry = {"kty": "RSA", "alg": "RS256", "use": "sig", "kid": _KEY_ID, **public}
        keys.write_text(json.dumps({"keys": [entry]}))
    return keys


@dataclass
class IdentityProvider:
    """Of the cluster in `directory`. Signs for whoever shows a secret of `clients`; what it was
    asked for is in `scopes`."""

    directory: Path
    clients: Mapping[str, str]
    lifetime: float = 600.0
    scopes: list[str] = field(default_factory=list)

    def token(self, subject: str, audience: str = AUDIENCE, **claims: object) -> str:
        """Return a JWT, RS256."""
        now = time.time()
        issued = {"iss": ISSUER, "iat": now, "exp": now + self.lifetime}
        known = {"sub": subject, "aud": audience, **issued}
        header = {"alg": "RS256", "typ": "JWT", "kid": _KEY_ID}
        signed = f"{_json(header)}.{_json({**known, **claims})}"
        key = load_pem_private_key((self.directory / _KEY).read_bytes(), None)
        assert isinstance(key, rsa.RSAPrivateKey)
        signature = key.sign(signed.encode(), padding.PKCS1v15(), hashes.SHA256())
        return f"{signed}.{_base64url(signature)}"

    @contextmanager
    def endpoint(self) -> Iterator[str]:
        """Yield its URL, with the certificate of the brokers."""
        server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.directory / "broker.pem")
        server.socket = context.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"https://localhost:{server.server_address[1]}/token"
        finally:
            server.shutdown()
            thread.join()
            server.server_close()

    def answer(self, authorization: str, body: str) -> tuple[int, Mapping[str, object]]:
        """Answer as RFC 6749, 4.4 and 5.2 say."""
        user, _, secret = base64.b64decode(authorization.removeprefix("Basic ")).partition(b":")
        if self.clients.get(user.decode()) != secret.decode():
            return 401, {"error": "invalid_client", "error_description": secret.decode()}
        asked = parse_qs(body)
        assert asked["grant_type"] == ["client_credentials"]
        self.scopes += asked.get("scope", [""])
        token = self.token(user.decode())
        return 200, {"access_token": token, "token_type": "Bearer", "expires_in": self.lifetime}


def _handler(provider: IdentityProvider) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            status, document = provider.answer(self.headers["Authorization"], body)
            text = json.dumps(document).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, *_: object) -> None:
            """Print nothing to stderr."""

    return Handler


def _number(value: int) -> str:
    return _base64url(value.to_bytes((value.bit_length() + 7) // 8, "big"))


def _json(value: object) -> str:
    return _base64url(json.dumps(value).encode())


def _base64url(value: bytes) -> str:
    return base64.urlsafe_b64encode(value).decode().rstrip("=")
