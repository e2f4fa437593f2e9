"""Makes tests/log_dir/cluster_metadata_vectors.jsonl: every record of the metadata log, in every
version, as Kafka's own code writes it.

    python -m tests.real.cluster_metadata_vectors 3.6.2 3.9.1 4.3.1 4.4.0    (needs a JDK)

What is in a record comes from the definitions that Kafka's jars carry, with made-up values: in
the first sample everything that may be null or unwritten is, in the second nothing is, and in the
third there are long strings and arrays. Kafka makes the bytes and the JSON that is expected.
"""

from __future__ import annotations

import base64
import json
import random
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any
from zipfile import ZipFile

from tests.real.jars import class_path, jars

SOURCE = Path(__file__).with_name("ClusterMetadataVectors.java")
TARGET = Path(__file__).parents[1] / "log_dir" / "cluster_metadata_vectors.jsonl"
CONTROL = {
    "LeaderChangeMessage": 2,
    "SnapshotHeaderRecord": 3,
    "SnapshotFooterRecord": 4,
    "KRaftVersionRecord": 5,
    "VotersRecord": 6,
}
BITS = {"int8": 8, "int16": 16, "int32": 32, "int64": 64}
BARE, FULL, LONG = "bare", "full", "long"
Definition = Mapping[str, Any]


def definitions(version: str) -> Iterator[tuple[str, int, Definition]]:
    """Yield ("metadata" or the control record's class, key, definition)."""
    for jar in sorted(jars(version).glob("kafka-[cm]*.jar")):
        with ZipFile(jar) as archive:
            for entry in sorted(archive.namelist()):
                if re.fullmatch(r"common/(metadata|message)/\w+\.json", entry):
                    found = _definition(archive.read(entry).decode())
                    name = found["name"]
                    if found["type"] == "metadata":
                        yield "metadata", found["apiKey"], found
                    elif name in CONTROL:
                        yield name, CONTROL[name], found


def _definition(text: str) -> Definition:
    parsed: Definition = json.loads(re.sub(r"^\s*//.*$", "", text, flags=re.MULTILINE))
    return parsed


def _includes(versions: str, version: int) -> bool:
    if versions.endswith("+"):
        return version >= int(versions[:-1])
    low, _, high = versions.partition("-")
    return versions != "none" and int(low) <= version <= int(high or low)


class Values:
    """Made-up values; the same ones for the same record, version and sample."""

    def __init__(self, definition: Definition, version: int, sample: str) -> None:
        self._random = random.Random(f"{definition['name']} {version} {sample}")
        self._structs = {s["name"]: s["fields"] for s in definition.get("commonStructs", ())}
        self._version = version
        self._sample = sample
        self._depth = 0

    def struct(self, fields: list[Definition]) -> dict[str, Any]:
        found = {}
        for field in fields:
            # Not every definition states it of a field that is in every version.
            if not _includes(field.get("versions", "0+"), self._version):
                continue
            name = field["name"][0].lower() + field["name"][1:]
            tagged = _includes(field.get("taggedVersions", "none"), self._version)
            nullable = _includes(field.get("nullableVersions", "none"), self._version)
            if self._sample == BARE and tagged:
                continue
            found[name] = (
                None if self._sample == BARE and nullable else self._value(field["type"], field)
            )
        return found

    def _value(self, kind: str, field: Definition) -> Any:
        if kind.startswith("[]"):
            element = kind[2:]
            count = self._length() if element in BITS else min(3, self._length())
            self._depth += 1
            found = [self._value(element, field) for _ in range(count)]
            self._depth -= 1
            return found
        if kind in BITS:
            limit = 1 << (BITS[kind] - 1)
            return self._random.choice([limit - 1, -limit, self._random.randrange(limit)])
        simple: Mapping[str, Callable[[], Any]] = {
            "uint16": lambda: self._random.choice([0xFFFF, 9092]),
            "bool": lambda: self._random.random() < 0.5,
            "float64": lambda: self._random.choice([1e300, -2.5, 1048576.0]),
            "uuid": lambda: self._base64(16, urlsafe=True),
            "bytes": lambda: self._base64(self._length()),
            "string": lambda: "".join(self._random.choices("azAZ09._-äß", k=self._length())),
        }
        if kind in simple:
            return simple[kind]()
        return self.struct(field.get("fields") or self._structs[kind])

    def _length(self) -> int:
        if self._sample == BARE:
            return 0
        # Beyond 126 a length takes two bytes; not in arrays of structs, lest they explode.
        return 130 if self._sample == LONG and not self._depth else self._random.randrange(1, 4)

    def _base64(self, length: int, *, urlsafe: bool = False) -> str:
        encoded = base64.b64encode(self._random.randbytes(length)).decode()
        return encoded.translate(str.maketrans("+/", "-_", "=")) if urlsafe else encoded


def made(version: str) -> Iterator[dict[str, Any]]:
    wanted = [
        (name, key, definition, number, sample)
        for name, key, definition in definitions(version)
        for number in range(100)
        if _includes(definition["validVersions"], number)
        for sample in (BARE, FULL, LONG)
    ]
    lines = []
    for name, key, definition, number, sample in wanted:
        values = Values(definition, number, sample).struct(definition["fields"])
        if name != "metadata":
            values["version"] = number
        lines.append(f"{name}\t{key}\t{number}\t{json.dumps(values, ensure_ascii=False)}\n")
    command = ["java", "-Xmx256m", "-cp", class_path(version), str(SOURCE)]
    done = subprocess.run(
        command, input="".join(lines), stdout=subprocess.PIPE, check=True, text=True, timeout=300
    )
    for (name, key, definition, number, _), line in zip(
        wanted, done.stdout.splitlines(), strict=True
    ):
        encoded, written = line.split("\t", 1)
        kind = "metadata" if name == "metadata" else "control"
        yield {
            "kind": kind,
            "name": definition["name"],
            "key": key,
            "version": number,
            "data": json.loads(written),
            "bytes": encoded,
        }


if __name__ == "__main__":
    every = [json.dumps(one) for version in sys.argv[1:] for one in made(version)]
    TARGET.write_text("".join(f"{line}\n" for line in dict.fromkeys(every)))
    print(len(every), "made,", len(dict.fromkeys(every)), "of them different")
