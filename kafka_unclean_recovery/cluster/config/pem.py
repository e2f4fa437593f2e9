"""Parse PEM as Kafka's client files carry it; no I/O."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

# A body has no five dashes: so an end that is missing is not looked for in all that follows. It is
# not possessive, as Python before 3.11.5 does not match such a pattern.
_BODY = r"[^-]*(?:-(?!----)[^-]*)*"
_BLOCK = re.compile(rf"-----BEGIN ([A-Z0-9 ]+)-----({_BODY})-----END \1-----")
_LINE = 64


@dataclass(frozen=True, slots=True)
class PemBlock:
    label: str
    text: str = field(repr=False)
    """The whole block, BEGIN to END, in lines that OpenSSL reads."""

    @property
    def is_certificate(self) -> bool:
        return self.label in ("CERTIFICATE", "X509 CERTIFICATE", "TRUSTED CERTIFICATE")

    @property
    def is_private_key(self) -> bool:
        return self.label.endswith("PRIVATE KEY")


def pem_blocks(text: str) -> list[PemBlock]:
    """Return every block in a text, without the text between the blocks.

    Bodies are wrapped anew: continued lines of a properties file collapse to one line with blanks,
    which Java reads and OpenSSL does not.
    """
    return [PemBlock(label, _wrapped(label, body)) for label, body in _BLOCK.findall(text)]


def _wrapped(label: str, body: str) -> str:
    headers, base64 = _headers_and_base64(body.split())
    lines = [base64[at : at + _LINE] for at in range(0, len(base64), _LINE)]
    begin, end = f"-----BEGIN {label}-----", f"-----END {label}-----"
    return "\n".join([begin, *headers, *lines, end, ""])


def _headers_and_base64(words: list[str]) -> tuple[list[str], str]:
    """Return the headers and the base64 of a block. Encrypted keys of the old kind carry
    `Proc-Type: ...` and `DEK-Info: ...` before the base64."""
    headers = list(_headers(words))
    base64 = "".join(words[2 * len(headers) :])
    return ([*headers, ""] if headers else []), base64


def _headers(words: list[str]) -> Iterator[str]:
    for name, value in zip(words[::2], words[1::2], strict=False):
        if not name.endswith(":"):
            return
        yield f"{name} {value}"
