"""Nothing that is secret is ever said, written, or seen by others: each command, well and badly."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from kafka_unclean_recovery.emulator import Cluster
from tests.cli.in_process import ELECTION, invoke
from tests.cli.run import RECOVERY, main_of
from tests.cluster.certificates import authority, issue
from tests.emulator.secured import Papers, Way, cluster, make_outage
from tests.salvage.batches import numbered
from tests.salvage.replay.saved import salvaged

USER, PASSWORD = "sre", "Sesame-of-the-user"
WRONG, PHRASE = "Sesame-that-is-wrong", "Sesame-of-the-key"
CLIENT_SECRET, TOKEN = "Sesame-of-the-client", "U2VzYW1l.VG9rZW4.c2lnbmVk"
WAY = Way("SASL_SSL", "SCRAM-SHA-512")
CONFIG = "org.apache.kafka.common.config.provider"
OAUTH = "org.apache.kafka.common.security.oauthbearer"
KEY = issue(authority(), name=USER)
KEY_LINE = KEY.key_pem().splitlines()[1]
SECRETS = (PASSWORD, WRONG, PHRASE, CLIENT_SECRET, TOKEN, KEY_LINE)


@dataclass(frozen=True)
class Home:
    """A cluster behind a login, and `work`, which holds nothing but what commands leave."""

    directory: Path
    cluster: Cluster

    @property
    def work(self) -> Path:
        return self.directory / "work"

    def config(self, changed: Mapping[str, str | None]) -> Path:
        """Write the client file that works, with other values; None leaves a key out."""
        papers = Papers(self.directory)
        settings: dict[str, str | None] = {
            **WAY.java(papers),
            "sasl.jaas.config": _jaas(PASSWORD),
            "ssl.keystore.certificate.chain": _inline(KEY.certificate_pem),
            "ssl.keystore.key": _inline(KEY.key_pem(PHRASE)),
            "ssl.key.password": PHRASE,
            "request.timeout.ms": "2000",
            **changed,
        }
        token = str(self.directory / "token")
        kept = {k: v.replace("{token}", token) for k, v in settings.items() if v is not None}
        return papers.client_file(self.directory, kept)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Home]:
    papers = Papers.made(tmp_path)
    (tmp_path / "work").mkdir()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "work" / "state"))
    monkeypatch.setenv("SECRET_PASSWORD", PASSWORD)
    monkeypatch.chdir(tmp_path / "work")
    salvaged(tmp_path / "work", {1: numbered(0, 10) + numbered(10, 5)})
    (tmp_path / "token").write_text(TOKEN)
    security = WAY.security(papers)
    assert security.tls is not None
    with cluster(type(security)("SASL_SSL", security.tls, users={USER: PASSWORD})) as running:
        settings = WAY.librdkafka(papers) | {"sasl.password": PASSWORD}
        make_outage(running, {"bootstrap.servers": running.bootstrap_servers, **settings})
        yield Home(tmp_path, running)


def _jaas(password: str) -> str:
    return f'a.Module required username="{USER}" password="{password}";'


def _inline(pem: str) -> str:
    return pem.replace("\n", "\\n")


def _bearer(url: str) -> Mapping[str, str]:
    return {
        "sasl.mechanism": "OAUTHBEARER",
        "sasl.login.callback.handler.class": f"{OAUTH}.OAuthBearerLoginCallbackHandler",
        "sasl.oauthbearer.token.endpoint.url": url,
        "sasl.jaas.config": f'a.Module required clientId=me clientSecret="{CLIENT_SECRET}";',
    }


BAD: Mapping[str, Mapping[str, str | None]] = {
    "wrong password": {"sasl.jaas.config": _jaas(WRONG)},
    "wrong pass phrase": {"ssl.key.password": WRONG},
    "no pass phrase": {"ssl.key.password": None},
    "no semicolon": {"sasl.jaas.config": _jaas(PASSWORD).rstrip(";")},
    "no user": {"sasl.jaas.config": f'a.Module required password="{PASSWORD}";'},
    "values in the wrong places": {
        "security.protocol": PASSWORD,
        "sasl.mechanism": WRONG,
        "request.timeout.ms": PHRASE,
    },
    "mechanism": {"sasl.mechanism": PASSWORD},
    "escape": {"sasl.jaas.config": f"\\u{PASSWORD}"},
    "line ends": {"sasl.jaas.config": f'a.M required\n{PASSWORD}\npassword="{WRONG}";'},
    "key": {"ssl.keystore.key": KEY.key_pem()},
    "variable": {"config.providers": "env", "client.id": "${env:SECRET_PASSWORD}"},
    "variable of a file": {
        "config.providers": "file",
        "config.providers.file.class": f"{CONFIG}.FileConfigProvider",
        "ssl.key.password": "${file:{token}:password}",
    },
    "token endpoint": _bearer("https://127.0.0.1:1/token"),
    "token": _bearer("file://{token}"),
    "url": _bearer(f"https://me:{CLIENT_SECRET}@127.0.0.1:1/token"),
}

_WHICH = ("--all-offline-partitions",)
COMMANDS: Mapping[str, Sequence[str]] = {
    "look": (*_WHICH, "--show-replica-info", "--format", "json"),
    "doctor": ("doctor", "--format", "json"),
    "bundle": ("bundle", "--output", "ticket.tar.gz"),
    "aftercare": ("aftercare",),
    "replay": ("salvage", "replay", "saved", "--execute"),
    "elect": ("--election-type", "unclean", "--topic", "none", "--partition", "0"),
    "recover": (
        *(*_WHICH, "--automated-recovery", "--yes", "--plan-output-file", "plan.json"),
        *("--salvage-dir", "tails", "--journal", "journal.jsonl"),
    ),
}


def _words(home: Home, command: str, config: Path, servers: str | None = None) -> list[str]:
    words = list(COMMANDS[command])
    at = 2 if words[0] == "salvage" else int(not words[0].startswith("-"))
    where = servers or home.cluster.bootstrap_servers
    words[at:at] = ["--bootstrap-server", where, "--command-config", str(config)]
    return words


def _run(home: Home, command: str, config: Path, servers: str | None = None) -> tuple[int, str]:
    program = ELECTION if command == "elect" else RECOVERY
    done = invoke(program, *_words(home, command, config, servers))
    return done.code, done.stdout + done.stderr


def _secrets_in(*texts: str) -> list[str]:
    return [secret for secret in SECRETS if any(secret in text for text in texts)]


def _left(home: Home) -> list[str]:
    """Return what is in every file that a command wrote, and in archives among them."""
    files = [path for path in home.work.rglob("*") if path.is_file()]
    read = [gzip.decompress if path.suffix == ".gz" else bytes for path in files]
    left = zip(files, read, strict=True)
    return [unfold(path.read_bytes()).decode("latin-1") for path, unfold in left]


def test_nothing_secret_is_said_or_written(home: Home) -> None:
    for name, changed in BAD.items():
        config = home.config(changed)
        for command in COMMANDS:
            code, said = _run(home, command, config)
            assert code in (2, 3), (name, command, said)
            assert said, (name, command)
            assert _secrets_in(said) == [], (name, command, said)
    for command in COMMANDS:
        code, said = _run(home, command, home.config({}), "127.0.0.1:1")
        assert code == 3, (command, said)
        assert _secrets_in(said) == []
    for command in COMMANDS:
        # What went on without a backslash is a key by itself.
        stray = home.config({"client.id": f"me\n{PASSWORD}\n{KEY_LINE}"})
        code, said = _run(home, command, stray)
        assert code in (0, 1), (command, said)
        assert _secrets_in(said) == []
    assert (home.work / "journal.jsonl").exists()
    assert (home.work / "plan.json").exists()
    assert (home.work / "ticket.tar.gz").exists()
    assert _secrets_in(*_left(home)) == []


def test_a_crash_and_the_process_table_show_nothing(home: Home) -> None:
    """It fails in the middle of a login; and it is looked at while it hangs there."""
    config = home.config({})
    crash = (
        "from kafka_unclean_recovery.cluster.wire import sasl\n"
        "async def crash(ask, credentials, address, deadline):\n"
        "    raise RuntimeError(f'forced: {credentials!r} {ask!r}')\n"
        "sasl.log_in = crash\n"
    )
    hang = crash.replace("raise RuntimeError(f'forced: {credentials!r} {ask!r}')", "{}").format(
        "import asyncio; print('here', flush=True); await asyncio.sleep(60)"
    )
    for command in ("look", "doctor"):
        argv = ["kafka-unclean-recovery", *_words(home, command, config)]
        start = f"import sys; sys.argv = {argv!r}\n"
        end = main_of(RECOVERY)
        done = subprocess.run(
            [sys.executable, "-c", f"{start}{crash}{end}"],
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        assert "forced: SaslCredentials(mechanism='SCRAM-SHA-512'" in done.stderr
        assert _secrets_in(done.stdout, done.stderr) == []
    environment = {k: v for k, v in os.environ.items() if k != "SECRET_PASSWORD"}
    with ExitStack() as stack:
        hanging = [sys.executable, "-c", f"{start}{hang}{end}"]
        process = stack.enter_context(
            subprocess.Popen(hanging, stdout=subprocess.PIPE, text=True, env=environment)
        )
        stack.callback(process.kill)
        assert process.stdout is not None
        assert process.stdout.readline() == "here\n"
        seen = [Path(f"/proc/{process.pid}/{name}").read_text() for name in ("cmdline", "environ")]
        assert str(config) in seen[0]
        assert _secrets_in(*seen) == []
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
        assert children.read_text() == ""
