"""A Spark session may be kept from beginning, and these checks find out why before Spark is asked
for one.

Spark itself tries a server that is not there for minutes, and says in a hundred lines of a JVM, or
not at all, what was missing.
"""

from __future__ import annotations

import os
import shutil
import socket
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import urlsplit

from kafka_unclean_recovery.errors import InputError

CONNECT = "sc://"
_STANDALONE = "spark://"
_YARN = "yarn"
_OF_YARN = ("HADOOP_CONF_DIR", "YARN_CONF_DIR")
_INSTALLED = ("SPARK_HOME", "SPARK_CONF_DIR")
_DEFAULT_PORTS = {CONNECT: 15002, _STANDALONE: 7077}
_SECONDS = 10.0
_OLDEST = 4
# gRPC goes by these proxies. Then only the proxy can tell whether the server is there.
_PROXIES = ("grpc_proxy", "https_proxy", "http_proxy")


def check_release(what: str, version: str) -> None:
    """Check the release of PySpark, or of the Spark that a session is of. Raises InputError before
    4.0: a scan by 3.5 works, and the plan ends with an error of Python's."""
    major = version.partition(".")[0]
    if not major.isdecimal() or int(major) < _OLDEST:
        raise InputError(
            f"{what} is {version}, and {_OLDEST}.0 or newer is needed: install pyspark>={_OLDEST}"
            " where this command runs, and give a --master of such a release"
        )


def check_java(environment: Mapping[str, str]) -> None:
    """Look for Java, for a session whose JVM is still to be started. Raises InputError."""
    home = environment.get("JAVA_HOME")
    if home:
        java = Path(home) / "bin" / "java"
        if not os.access(java, os.X_OK):
            raise InputError(
                f"Spark needs Java (17 or newer), and there is no {java}: set JAVA_HOME to where"
                " Java is, or unset it and have java on the PATH"
            )
    elif shutil.which("java", path=environment.get("PATH")) is None:
        raise InputError(
            "Spark needs Java (17 or newer), and there is no java on the PATH: install it, or set"
            " JAVA_HOME to where it is"
        )


def check_yarn(master: str, environment: Mapping[str, str]) -> None:
    """Look for what Spark reads to find the cluster of --master yarn. Raises InputError, but where
    the spark-env.sh of an installation may tell it."""
    if master == _YARN and not any(environment.get(name) for name in (*_OF_YARN, *_INSTALLED)):
        raise InputError(
            f"no Spark session of --master {_YARN}: set {' or '.join(_OF_YARN)} to the directory"
            " with the configuration files of the cluster"
        )


def check_reachable(master: str, environment: Mapping[str, str]) -> None:
    """Try the addresses in sc://HOST:PORT and spark://HOST:PORT,..., each for 10 s, and nothing
    else. Raises InputError when none of them takes a connection."""
    if master.startswith(CONNECT) and any(environment.get(name) for name in _PROXIES):
        return
    failures = []
    for host, port in _addresses(master):
        try:
            socket.create_connection((host, port), _SECONDS).close()
        except OSError as error:
            failures.append(f"{host}:{port}: {error.strerror or error}")
        else:
            return
    if failures:
        raise InputError(
            f"no Spark session of --master {without_token(master)}: {'; '.join(failures)}"
        )


def _addresses(master: str) -> Iterator[tuple[str, int]]:
    for scheme, default in _DEFAULT_PORTS.items():
        if master.startswith(scheme):
            for one in master.removeprefix(scheme).partition("/")[0].split(","):
                try:
                    parts = urlsplit(f"//{one}")
                    host, port = parts.hostname, parts.port
                except ValueError as error:
                    raise InputError(f"--master {without_token(master)}: {error}") from None
                if not host:
                    raise InputError(f"--master {without_token(master)}: it names no host")
                yield host, port or default


def without_token(master: str) -> str:
    """Return the master without the part behind the address of sc://, which may hold a secret."""
    return master.partition("/;")[0]
