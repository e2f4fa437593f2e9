"""What Kubernetes, Strimzi and Compose say of their files: fetched once into .cache, not ours.

Each out of a package registry: PyPI has the JSON schemas of Kubernetes (kubernetes-validate) and of
Compose (docker-compose), Maven Central the classes of which Strimzi makes its resource definitions,
and what makes them.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import yaml
from jsonschema import Draft7Validator
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT7

from tests.real.cache import CACHE, made_once

_FETCH_TIMEOUT = 300.0
_KUBERNETES = "kubernetes-validate==1.37.0"
# Strict: what is not in it is an error.
_KUBERNETES_FILES = "kubernetes_validate/kubernetes-json-schema/v1.37.0-local-strict"
_COMPOSE = "docker-compose==1.29.2"
_STRIMZI_API = "io.strimzi:api:0.51.0"
# The last one on Maven Central that brings all it needs.
_STRIMZI_GENERATOR = "io.strimzi:crd-generator:0.45.0"
_STRIMZI_KINDS = {"KafkaUser": "io.strimzi.api.kafka.model.user.KafkaUser"}


def complaints(document: Any) -> list[str]:
    """Return what is wrong with a resource of Kubernetes or of Strimzi, by its kind."""
    if document["kind"] in _STRIMZI_KINDS:
        found = list(_strimzi(document))
    else:
        found = list(_said(_kubernetes(document["apiVersion"], document["kind"]), document))
    return found


def compose_complaints(document: Any) -> list[str]:
    with ZipFile(_wheel(_COMPOSE)) as wheel:
        schema = json.loads(wheel.read("compose/config/compose_spec.json"))
    return list(_said(Draft7Validator(schema), document))


def _said(validator: Any, document: Any) -> Iterator[str]:
    for error in validator.iter_errors(document):
        yield f"{'.'.join(map(str, error.absolute_path))}: {error.message}"


@cache
def _kubernetes(version: str, kind: str) -> Any:
    group, _, number = version.rpartition("/")
    name = "-".join(part for part in (kind.lower(), group, number) if part)
    with ZipFile(_wheel(_KUBERNETES)) as wheel:
        schema = json.loads(wheel.read(f"{_KUBERNETES_FILES}/{name}.json"))
        definitions = json.loads(wheel.read(f"{_KUBERNETES_FILES}/_definitions.json"))
    resource: Resource[Any] = DRAFT7.create_resource(definitions)
    registry: Registry[Any] = Registry().with_resource("_definitions.json", resource)
    return Draft7Validator(schema, registry=registry)


def _strimzi(document: Any) -> Iterator[str]:
    definition = yaml.safe_load(_strimzi_definition(document["kind"]).read_text())["spec"]
    versions = {each["name"]: each for each in definition["versions"] if each["served"]}
    group, _, version = document["apiVersion"].partition("/")
    if group != definition["group"] or version not in versions:
        yield f"apiVersion: {document['apiVersion']} is none of {group}/{'|'.join(versions)}"
        return
    schema = versions[version]["schema"]["openAPIV3Schema"]
    yield from _said(Draft7Validator(_closed(schema)), document)


def _closed(schema: Any) -> Any:
    """Return the schema with unnamed fields as errors: Kubernetes would drop them."""
    if isinstance(schema, list):
        return [_closed(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    named = {key: _closed(value) for key, value in schema.items()}
    if isinstance(schema.get("properties"), dict) and schema.get("type") == "object":
        named.setdefault("additionalProperties", False)
    return named


def _wheel(requirement: str) -> Path:
    def fetch(made: Path) -> None:
        arguments = ["download", "--quiet", "--no-deps", "--only-binary=:all:", "--dest", made]
        _run([sys.executable, "-m", "pip", *map(str, arguments), requirement])

    directory = made_once(CACHE / "schemas" / requirement, fetch)
    return next(directory.glob("*.whl"))


def _strimzi_definition(kind: str) -> Path:
    api = _STRIMZI_API.rpartition(":")[2]

    def make(made: Path) -> None:
        jars = made.with_suffix(".jars")
        for artifact in (_STRIMZI_GENERATOR, _STRIMZI_API):
            copy = [f"-Dartifact={artifact}", f"-DoutputDirectory={jars}"]
            _run(["mvn", "-q", "-B", "dependency:copy", *copy])
        generator = ["java", "-cp", f"{jars}/*", "io.strimzi.crdgenerator.CrdGenerator", "--yaml"]
        _run([*generator, f"{_STRIMZI_KINDS[kind]}={made}"])

    return made_once(CACHE / "schemas" / f"strimzi-{api}-{kind}.yaml", make)


def _run(command: list[str]) -> None:
    subprocess.run(command, check=True, timeout=_FETCH_TIMEOUT, capture_output=True)
