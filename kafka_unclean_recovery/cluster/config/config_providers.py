"""A client file may take values from elsewhere, as ${file:/path:key}, ${env:NAME} or
${directory:/path:name}; this module looks them up (KIP-297, KIP-421, KIP-887).

As in Kafka, only variables of providers that `config.providers` declares are looked up; any other
${...} is a plain value. Where a value is not found, Kafka leaves the variable standing and the
login fails with it; this module raises ConfigError instead.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from kafka_unclean_recovery.cluster.config.named_files import read_text
from kafka_unclean_recovery.cluster.config.properties import parse_properties
from kafka_unclean_recovery.errors import ConfigError

PROVIDERS = "config.providers"
_PACKAGE = "org.apache.kafka.common.config.provider."
_FILE, _ENVIRONMENT, _DIRECTORY = (
    f"{_PACKAGE}{name}ConfigProvider" for name in ("File", "EnvVar", "Directory")
)


@dataclass(frozen=True, slots=True)
class _Variable:
    """One ${provider:path:wanted} that stands in the value of `key`."""

    provider: str
    path: str
    wanted: str
    source: str
    key: str

    @property
    def place(self) -> str:
        return f"{self.key}: ${{{self.provider}:...}}"

    def error(self, problem: str) -> ConfigError:
        return ConfigError(f"{self.source}: {self.place} {problem}")

    def read(self, path: str) -> str:
        return read_text(path, self.place, self.source, "utf-8")


def declares_providers(key: str) -> bool:
    return key == PROVIDERS or key.startswith(f"{PROVIDERS}.")


def resolve(
    properties: Mapping[str, str], source: str, environment: Mapping[str, str]
) -> dict[str, str]:
    """Return the properties with every variable of a declared provider replaced.

    A value that was looked up is not searched for more variables. Raises ConfigError.
    """
    declared = {name.strip() for name in properties.get(PROVIDERS, "").split(",")}

    def resolved(key: str, value: str) -> str:
        def found(provider: str, path: str, wanted: str) -> str | None:
            if provider not in declared:
                return None
            variable = _Variable(provider, path, wanted, source, key)
            return _look_up(variable, properties, environment)

        return value if declares_providers(key) else replaced(value, found)

    return {key: resolved(key, value) for key, value in properties.items()}


def replaced(value: str, found: Callable[[str, str, str], str | None]) -> str:
    """Return the value with each variable replaced by what `found` returns for its provider, path
    and name; None leaves it as it stands.

    It matches what Kafka's ConfigTransformer.DEFAULT_PATTERN matches, which as a pattern here would
    take hours for a large file of nothing but "${".
    """
    *closed, last = value.split("}")
    made = []
    for part in closed:
        before, opened, inside = part.partition("${")
        provider, colon, rest = inside.partition(":")
        path, _, wanted = rest.partition(":") if ":" in rest else ("", "", rest)
        text = found(provider, path, wanted) if opened and colon else None
        made.append(f"{part}}}" if text is None else f"{before}{text}")
    return "".join([*made, last])


def _look_up(
    variable: _Variable, properties: Mapping[str, str], environment: Mapping[str, str]
) -> str:
    provider = f"{PROVIDERS}.{variable.provider}"
    kind = properties.get(f"{provider}.class", "").strip()
    if kind == _ENVIRONMENT:
        pattern = properties.get(f"{provider}.param.allowlist.pattern", "")
        return _of_environment(variable, environment, pattern)
    if kind not in (_FILE, _DIRECTORY):
        raise variable.error(
            f"can't be looked up: set {provider}.class to one of {_FILE}, {_ENVIRONMENT}, "
            f"{_DIRECTORY}"
        )
    _check_allowed(variable, properties.get(f"{provider}.param.allowed.paths", ""))
    return _of_file(variable) if kind == _FILE else _of_directory(variable)


def _of_environment(variable: _Variable, environment: Mapping[str, str], pattern: str) -> str:
    name = variable.wanted
    if variable.path:
        raise variable.error("has a path, and variables of the environment have none")
    try:
        allowed = re.fullmatch(pattern or ".*", name)
    except (re.error, OverflowError, RecursionError):
        raise variable.error("has an allowlist.pattern that is no regular expression") from None
    if not allowed:
        raise variable.error(f"asks for {name}, which allowlist.pattern does not let in")
    if name not in environment:
        raise variable.error(f"asks for {name}, which is not in the environment: export it")
    value = environment[name]
    if any("\ud800" <= character <= "\udfff" for character in value):
        # So Python keeps bytes that are none; a login could not be written.
        raise variable.error(f"asks for {name}, whose value is not UTF-8 text")
    return value


def _check_allowed(variable: _Variable, allowed: str) -> None:
    if not variable.path:
        raise variable.error("has no path: write the provider, the path and the key")
    if not allowed:
        return
    try:
        asked = Path(variable.path).resolve()
        parents = [Path(each.strip()).resolve() for each in allowed.split(",")]
    except (OSError, RuntimeError, ValueError):  # a loop of links, or no name of a file
        raise variable.error("can't be held against allowed.paths: correct the paths") from None
    if not any(map(asked.is_relative_to, parents)):
        raise variable.error(f"asks for {variable.path}, which lies outside of allowed.paths")


def _of_file(variable: _Variable) -> str:
    values = parse_properties(variable.read(variable.path), variable.path)
    if variable.wanted not in values:
        raise variable.error(f"asks for {variable.wanted!r}, which {variable.path} does not have")
    return values[variable.wanted]


def _of_directory(variable: _Variable) -> str:
    """Return all of the file that the variable names, its last line end included, as Kafka does."""
    if variable.wanted in ("", ".", "..") or "/" in variable.wanted:
        raise variable.error(f"names no file in {variable.path}")
    return variable.read(str(Path(variable.path, variable.wanted)))
