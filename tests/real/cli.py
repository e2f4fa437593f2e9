"""Our console scripts, run the way a user runs them: as processes, but for what only asks."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema

import kafka_unclean_recovery
from tests import forked
from tests.real import in_process
from tests.real.cluster import KafkaCluster

RECOVERY = "kafka-unclean-recovery"
ELECTION = "kafka-elect-leaders"
TIMEOUT = 120.0


@dataclass(frozen=True, slots=True)
class Finished:
    """What a run left: its exit code (negative: the signal that killed it) and its output."""

    code: int
    stdout: str
    stderr: str

    @property
    def json(self) -> Any:
        """Return stdout, which holds one JSON text and nothing else."""
        try:
            return json.loads(self.stdout)
        except json.JSONDecodeError as error:
            raise AssertionError(f"{error}: {self}") from None

    @property
    def report(self) -> dict[str, Any]:
        """Return the report of `--format json`, valid by its schema."""
        report: dict[str, Any] = self.json
        jsonschema.validate(report, _schema("report-1"))
        return report

    @property
    def replica_info(self) -> dict[str, Any]:
        """Return what `scan-log-dirs --format json` says, valid by its schema."""
        info: dict[str, Any] = self.json
        jsonschema.validate(info, _schema("replica-info-1"))
        return info

    def partitions(self, topic: str) -> dict[int, dict[str, Any]]:
        """Return the report's rows of a topic by partition number."""
        rows = self.report["partitions"]
        return {row["partition"]: row for row in rows if row["topic"] == topic}


@dataclass(frozen=True, slots=True)
class Mechanism:
    """How replicas are seen and leaders elected: flags, and what the journal of an election has
    between its "begin" and its "outcome"."""

    flags: tuple[str, ...] = ()
    steps: tuple[str, ...] = ("reorder", "elect", "restored")

    def flags_of(self, command: str, arguments: Sequence[str]) -> tuple[str, ...]:
        """Return the flags; whatever elects nobody in particular takes none, nor does --resume."""
        recovers = command == RECOVERY and "--resume" not in arguments
        return self.flags if recovers or "designated" in arguments else ()


TODAYS = Mechanism()


@dataclass(frozen=True, slots=True)
class Running:
    """A run that is still under way."""

    process: subprocess.Popen[str]

    def signal(self, number: int) -> None:
        self.process.send_signal(number)

    def finish(self, timeout: float = TIMEOUT) -> Finished:
        """Wait for its end; a run that outlives the timeout is killed, and that is a failure."""
        try:
            stdout, stderr = self.process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            self.process.kill()
            stdout, stderr = self.process.communicate()
            raise TimeoutError(f"not done within {timeout:g} s: {stdout}{stderr}") from None
        return Finished(self.process.returncode, stdout, stderr)


@dataclass(frozen=True, slots=True)
class Cli:
    """A user of the commands with a home of his own, under the test's `tmp_path`.

    No terminal is attached, so nothing is asked.
    """

    home: Path
    mechanism: Mechanism = TODAYS

    @property
    def journals(self) -> list[Path]:
        """Return the journals in the default place, oldest first."""
        return sorted(self.home.rglob("*.jsonl"))

    def recover(self, cluster: KafkaCluster, *arguments: str, timeout: float = TIMEOUT) -> Finished:
        """Run kafka-unclean-recovery against every broker of the cluster, dead or alive."""
        return self._run(RECOVERY, self._at(RECOVERY, cluster, arguments), timeout)

    def elect(self, cluster: KafkaCluster, *arguments: str, timeout: float = TIMEOUT) -> Finished:
        """Run kafka-elect-leaders against every broker of the cluster, dead or alive."""
        return self._run(ELECTION, self._at(ELECTION, cluster, arguments), timeout)

    def offline(self, *arguments: str, timeout: float = TIMEOUT) -> Finished:
        """Run a command of kafka-unclean-recovery that needs no cluster."""
        return self._run(RECOVERY, arguments, timeout)

    def process(self, *arguments: str, timeout: float = TIMEOUT) -> Finished:
        """Run a command of kafka-unclean-recovery that needs no cluster, always as a process."""
        return self._spawn(RECOVERY, arguments).finish(timeout)

    def start(
        self,
        command: str,
        cluster: KafkaCluster,
        *arguments: str,
        environment: Mapping[str, str] = {},
    ) -> Running:
        """Begin a run of a console script, a process whatever it does; `--bootstrap-server` names
        every broker."""
        return self._spawn(command, self._at(command, cluster, arguments), environment)

    def _at(self, command: str, cluster: KafkaCluster, arguments: Sequence[str]) -> tuple[str, ...]:
        servers = ("--bootstrap-server", cluster.bootstrap_servers)
        return (*servers, *arguments, *self.mechanism.flags_of(command, arguments))

    def _run(self, command: str, arguments: Sequence[str], timeout: float) -> Finished:
        if in_process.suits(arguments):
            done = in_process.invoke(command, arguments, self._state, timeout)
            return Finished(done.code, done.stdout, done.stderr)
        variables = {**os.environ, **self._state}
        ended = forked.run(
            command, *arguments, variables=variables, timeout=timeout, stdin=subprocess.DEVNULL
        )
        return Finished(ended.returncode, ended.stdout, ended.stderr)

    @property
    def _state(self) -> dict[str, str]:
        return {"XDG_STATE_HOME": str(self.home / "state")}

    def _spawn(
        self, command: str, arguments: Sequence[str], environment: Mapping[str, str] = {}
    ) -> Running:
        script = Path(sys.executable).with_name(command)
        process = subprocess.Popen(
            [str(script), *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, **self._state, **environment},
        )
        return Running(process)


@cache
def _schema(name: str) -> Any:
    package = Path(kafka_unclean_recovery.__file__).parent
    return json.loads((package / "schemas" / f"{name}.schema.json").read_text())
