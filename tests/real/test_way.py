"""One real outage from the first look to the post-mortem, in the order of the README: each command
that is printed is carried out as printed; a person fills in only what stands in capitals."""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.run import RECOVERY
from tests.command_lines import CommandLine, check
from tests.mission.terminal import Screen, Terminal
from tests.real.cluster import KafkaCluster
from tests.real.outages import Outage, last_replica_standing

WINDOW = (1000, 60)
_COMMAND = re.compile(rf": ({RECOVERY} \S.*)$", re.MULTILINE)
_SCRIPT = re.compile(r": (kafka-topics\.sh \S.*)$", re.MULTILINE)


class Operator:
    """Somebody in front of a terminal who carries out what is printed, and knows what the words in
    capitals stand for."""

    def __init__(self, **knows: str) -> None:
        self._knows = knows
        self.commands: list[str] = []

    def run(self, line: str, answer: str = "") -> Screen:
        """Carry out a line and keep the commands that it prints."""
        for word, value in self._knows.items():
            line = re.sub(rf"\b{word}\b", shlex.quote(value), line)
        check(CommandLine("printed", line))
        program, *words = shlex.split(line)
        assert program == RECOVERY
        terminal = Terminal(WINDOW, *words)
        if answer:
            terminal.answer(": ", answer)
        screen = terminal.finish()
        self.commands = _COMMAND.findall(screen.text)
        return screen

    def printed(self, words: str) -> str:
        """Return the one command that was printed last and begins so."""
        (line,) = (line for line in self.commands if line.startswith(f"{RECOVERY} {words} "))
        return line


def test_every_printed_command_leads_on_to_the_post_mortem(
    restored: Callable[[Outage], KafkaCluster], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    cluster = restored(last_replica_standing())
    servers = ",".join(map(cluster.address, cluster.live_brokers))
    operator = Operator(DIR=str(cluster.log_dir(1)), NEWDIR=str(tmp_path / "saved here"))

    look = f"{RECOVERY} --bootstrap-server {servers} --all-offline-partitions --show-replica-info"
    assert operator.run(look).code == 0
    (elect,) = operator.commands
    assert operator.run(elect, "24\n").code == 0

    # The journal goes to the host of broker 1, where the same path holds a copy.
    care, report = operator.printed("aftercare"), operator.printed("report")
    (journal,) = (tmp_path / "state").rglob("*.jsonl")
    kept = Path(shutil.copy(journal, tmp_path / "kept.jsonl"))
    destroys = operator.run(operator.printed("before-start"))
    assert (destroys.code, "deletes 24000 records" in destroys.text) == (1, True)
    assert operator.run(operator.printed("salvage")).code == 0
    looked = operator.run(operator.printed("salvage replay"))
    (create,) = _SCRIPT.findall(looked.text)
    script, *words = shlex.split(create)
    cluster.script(script.removesuffix(".sh"), *words)
    assert operator.run(operator.printed("salvage replay")).code == 0
    # What was found there comes back as a copy.
    os.rename(journal, tmp_path / "from broker 1.jsonl")  # noqa: PTH104
    os.rename(kept, journal)  # noqa: PTH104

    cluster.start([1, 2])
    assert operator.run(care).code in (0, 1)
    found = "Found since, on the disks of broker 1: 24000 records beyond the elected logs"
    copied = f"{report} --copy 'from broker 1.jsonl'"
    alone, both = (" ".join(operator.run(line).text.split()) for line in (report, copied))
    assert (found in alone, found in both) == (False, True)
    told = operator.run(f"{copied} --format markdown")
    assert told.code == 0
    for sentence in ("24000 records", "1000 saved in", "0 gone"):
        assert sentence in told.text
