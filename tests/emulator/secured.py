"""Emulated clusters behind TLS and logins, their clients' files, and our tool run against them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kafka_unclean_recovery.emulator import Cluster, Options, Security, Tls
from tests.cli.in_process import RECOVERY, invoke
from tests.cluster.certificates import Identity, authority, issue
from tests.real.records import create_topic, produce_many

USER, PASSWORD = "sre", "sre-secret, =\\"
WRONG = "not-the-password"
TOPIC = "orders"
ON_2, ON_1 = 30, 50
NUMBERS = range(ON_2)


@dataclass(frozen=True)
class Papers:
    """ca.pem, and certificates of it: server.pem (loopback), elsewhere.pem (another host), sre.pem;
    stranger.pem is another authority's."""

    directory: Path

    @classmethod
    def made(cls, directory: Path) -> Papers:
        ours = authority()
        _write(directory / "ca.pem", ours, key=False)
        _write(directory / "stranger.pem", authority("stranger"), key=False)
        _write(directory / "server.pem", issue(ours, dns=["localhost"]))
        _write(directory / "elsewhere.pem", issue(ours, dns=["elsewhere.example"], ips=[]))
        _write(directory / "sre.pem", issue(ours, name=USER))
        return cls(directory)

    def path(self, name: str) -> Path:
        return self.directory / f"{name}.pem"

    def tls(self, name: str = "server", *, mutual: bool = False) -> Tls:
        return Tls(self.path(name), client_authorities=self.path("ca") if mutual else None)

    def client_file(self, directory: Path, settings: Mapping[str, str]) -> Path:
        path = directory / "client.properties"
        path.write_text("".join(f"{key}={value}\n" for key, value in settings.items()))
        return path


def _write(path: Path, identity: Identity, *, key: bool = True) -> None:
    path.write_text(identity.certificate_pem + (identity.key_pem() if key else ""))


@dataclass(frozen=True)
class Way:
    """One way to connect. mechanism: of SASL, empty for none."""

    protocol: str
    mechanism: str = ""
    mutual: bool = False

    def __str__(self) -> str:
        return "-".join(filter(None, (self.protocol, self.mechanism, "mutual" * self.mutual)))

    def security(self, papers: Papers, **more: Any) -> Security:
        return Security(
            self.protocol,
            papers.tls(mutual=self.mutual) if self.protocol.endswith("SSL") else None,
            users={USER: PASSWORD} if self.mechanism else {},
            **more,
        )

    def java(self, papers: Papers, password: str = PASSWORD) -> dict[str, str]:
        """Return the properties for Kafka's own tools, and ours."""
        settings = {"security.protocol": self.protocol}
        if self.protocol.endswith("SSL"):
            settings["ssl.truststore.type"] = "PEM"
            settings["ssl.truststore.location"] = str(papers.path("ca"))
        if self.mutual:
            settings["ssl.keystore.type"] = "PEM"
            settings["ssl.keystore.location"] = str(papers.path(USER))
        if self.mechanism:
            settings["sasl.mechanism"] = self.mechanism
            # Java's Properties take one backslash away, and JAAS the next.
            quoted = password.replace("\\", "\\\\\\\\")
            settings["sasl.jaas.config"] = (
                f'LoginModule required username="{USER}" password="{quoted}";'
            )
        return settings

    def librdkafka(self, papers: Papers) -> dict[str, str]:
        settings = {"security.protocol": self.protocol}
        if self.protocol.endswith("SSL"):
            settings["ssl.ca.location"] = str(papers.path("ca"))
        if self.mutual:
            settings["ssl.certificate.location"] = str(papers.path(USER))
            settings["ssl.key.location"] = str(papers.path(USER))
        if self.mechanism:
            settings["sasl.mechanism"] = self.mechanism
            settings["sasl.username"], settings["sasl.password"] = USER, PASSWORD
        return settings

    def kafka_python(self, papers: Papers) -> dict[str, Any]:
        settings: dict[str, Any] = {"security_protocol": self.protocol}
        if self.protocol.endswith("SSL"):
            settings["ssl_cafile"] = str(papers.path("ca"))
        if self.mutual:
            settings["ssl_certfile"] = str(papers.path(USER))
        if self.mechanism:
            settings["sasl_mechanism"] = self.mechanism
            settings["sasl_plain_username"], settings["sasl_plain_password"] = USER, PASSWORD
        return settings


WAYS = (
    Way("PLAINTEXT"),
    Way("SSL"),
    Way("SSL", mutual=True),
    Way("SASL_PLAINTEXT", "PLAIN"),
    Way("SASL_PLAINTEXT", "SCRAM-SHA-512"),
    Way("SASL_SSL", "SCRAM-SHA-256"),
    Way("SASL_SSL", "SCRAM-SHA-512", mutual=True),
)


def cluster(security: Security, **more: Any) -> Cluster:
    return Cluster(Options(brokers=2, security=security, **more))


def make_outage(running: Cluster, connection: str | Mapping[str, str]) -> None:
    """Make an outage: broker 1 is dead; 2 is back with `NUMBERS`, but is not in the ISR."""
    create_topic(connection, TOPIC, [[1, 2]], {"min.insync.replicas": "1"})
    produce_many(connection, TOPIC, {0: NUMBERS})
    lose(running, 2)
    produce_many(connection, TOPIC, {0: range(ON_2, ON_1)})
    lose(running, 1)
    running.start(2)


def lose(running: Cluster, broker: int) -> None:
    running.kill(broker)
    running.fence(broker)


@dataclass(frozen=True)
class Done:
    code: int
    stdout: str
    stderr: str

    @property
    def report(self) -> Any:
        return json.loads(self.stdout)


def tool(servers: str, config: Path | None, *flags: str) -> Done:
    """Run our command in this process. XDG_STATE_HOME must be the test's."""
    more: Sequence[str] = () if config is None else ("--command-config", str(config))
    arguments = ["--bootstrap-server", servers, *more, *flags]
    done = invoke(RECOVERY, *arguments)
    return Done(done.code, done.stdout, done.stderr)
