"""One trial after the other, and the table of them."""

from __future__ import annotations

import resource
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from unittest.mock import patch

from tests.cli.in_process import ELECTION, RECOVERY, invoke
from tests.hostile import journals
from tests.hostile.answers import HOSTILE, OF_ONE, Outage, outage, replica_logs
from tests.hostile.answers import trials as answer_trials
from tests.hostile.disks import trials as disk_trials
from tests.hostile.documents import NUMBERS, documents, new_names
from tests.hostile.documents import trials as document_trials
from tests.hostile.odd import Said, wrong

MOST_MEMORY_KIB = 600 << 10
QUICK = ("all at once",)
_JOURNAL_WORDS = ("report", "aftercare", "--html", "--json")


@dataclass(slots=True)
class Table:
    """What was tried, by source and command, and what went wrong."""

    tried: Counter[tuple[str, str]] = field(default_factory=Counter)
    seconds: Counter[tuple[str, str]] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    peak: int = field(default_factory=lambda: peak_kib())

    def note(self, source: str, command: str, what: str, said: Said) -> None:
        self.tried[source, command] += 1
        self.seconds[source, command] += int(said.seconds * 1000)
        found = wrong(said)
        if (now := peak_kib()) > max(self.peak, MOST_MEMORY_KIB):
            found.append(f"{now >> 10} MiB of memory")
        self.peak = max(self.peak, now)
        if found:
            self.wrong.append(f"{command}, {what}: {', '.join(found)}: {said.stderr[-300:]!r}")

    def lines(self) -> Iterator[str]:
        yield f"{'source':<10} {'command':<12} {'trials':>7} {'seconds':>8}"
        for (source, command), number in sorted(self.tried.items()):
            spent = self.seconds[source, command] / 1000
            yield f"{source:<10} {command:<12} {number:>7} {spent:>8.1f}"
        tried = sum(self.tried.values())
        yield f"{len(self.wrong)} wrong of {tried}; at most {self.peak >> 10} MiB"


def peak_kib() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def said_by(words: tuple[str, ...], state: Path) -> Said:
    begun = time.monotonic()
    program, words = (ELECTION, words[1:]) if words[0] == ELECTION else (RECOVERY, words)
    try:
        done = invoke(program, *words, env={"XDG_STATE_HOME": str(state)})
    except Exception:  # noqa: BLE001 - whatever a command raises is what is looked for
        return Said(1, "", traceback.format_exc(), time.monotonic() - begun)
    return Said(done.code, done.stdout, done.stderr, time.monotonic() - begun)


def try_answers(table: Table, found: Outage, command: str, texts: tuple[str, ...]) -> None:
    for trial in answer_trials(found.asked_by(command), texts):
        found.lie(trial.at, trial.value)
        table.note("answers", command, f"{trial.at.name}: {trial.what}", found.run(command))


def try_one_broker(table: Table, found: Outage, texts: tuple[str, ...]) -> None:
    """Check that what one broker says of itself changes nothing of what the others say."""
    found.cluster.clear_intercepts()
    before = replica_logs(found.run("json"))
    for trial in answer_trials(found.asked_by("json") & set(OF_ONE), texts):
        found.lie(trial.at, trial.value, HOSTILE)
        said = found.run("json")
        what = f"{trial.at.name}: {trial.what}"
        table.note("one broker", "json", what, said)
        if said.code > 1 or (now := replica_logs(said)) != before:
            differs = said.stderr[-300:] if said.code > 1 else f"{before} became {now}"
            table.wrong.append(
                f"{what} of one broker changed what is said of the others: {differs}"
            )


def try_documents(table: Table, directory: Path, texts: tuple[str, ...]) -> None:
    names = new_names(directory)
    for document in documents(directory):
        for what, text in document_trials(document, texts):
            document.file.write_text(text)
            said = said_by(document.words(document.file, next(names)), directory)
            table.note("documents", document.name, what, said)


def try_journals(table: Table, directory: Path, texts: tuple[str, ...]) -> None:
    lines = journals.sample(directory)
    path = directory / "journal.jsonl"
    quick = texts == QUICK
    numbers = ("beyond",) if quick else tuple(NUMBERS)
    for what, text in journals.trials(lines, texts, numbers):
        path.write_text(text)
        for words in journals.COMMANDS[:: 3 if quick else 1]:
            said = said_by(tuple(str(path) if word == "{}" else word for word in words), directory)
            table.note("journals", " ".join(w for w in words if w in _JOURNAL_WORDS), what, said)


async def _nothing_typed(*_: object) -> tuple[str, None]:
    return "", None


def try_approvals(table: Table, directory: Path, texts: tuple[str, ...]) -> None:
    """Check that who is asked to approve a plan sees the line that tells the loss, as its last."""
    (plan,) = (each for each in documents(directory) if each.name == "plan")
    approve = "kafka_unclean_recovery.cli.commands.approve"
    with (
        patch(f"{approve}.is_terminal", lambda: True),
        patch(f"{approve}.typed", _nothing_typed),
    ):
        for what, text in document_trials(plan, texts):
            plan.file.write_text(text)
            words = ("approve", str(plan.file), "--output", str(directory / "approval"))
            said = said_by(words, directory)
            table.note("documents", "approve", what, said)
            if said.code == 1 and not said.stderr.splitlines()[-2].startswith("total: "):
                table.wrong.append(f"approve, {what}: {said.stderr[-300:]!r}")


def try_disks(table: Table, directory: Path, texts: tuple[str, ...]) -> None:
    for what, words in disk_trials(directory, texts):
        table.note("disks", words[0], what, said_by(words, directory))


def try_all(directory: Path, commands: tuple[str, ...], texts: tuple[str, ...]) -> Table:
    table = Table()
    for part in ("documents", "approvals", "disks", "journals", "state"):
        (directory / part).mkdir()
    try_documents(table, directory / "documents", texts)
    try_journals(table, directory / "journals", texts)
    try_approvals(table, directory / "approvals", texts)
    try_disks(table, directory / "disks", texts)
    with outage(directory / "state") as found:
        for command in commands:
            try_answers(table, found, command, texts)
        try_one_broker(table, found, texts)
    return table
