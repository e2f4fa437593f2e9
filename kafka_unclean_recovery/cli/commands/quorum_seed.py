"""kafka-unclean-recovery quorum seed writes the log directory of the new controller."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from kafka_unclean_recovery import __version__
from kafka_unclean_recovery.cli import RECOVERY
from kafka_unclean_recovery.cli.command import Command
from kafka_unclean_recovery.cli.commands.quorum import PLAN_FILE, RequireApproval
from kafka_unclean_recovery.cli.flags import JournalFile
from kafka_unclean_recovery.cli.session import own_state_directory
from kafka_unclean_recovery.cli.terminal.colour import Color, ColorFlag
from kafka_unclean_recovery.cli.terminal.consenting import typed
from kafka_unclean_recovery.cli.terminal.console import (
    Console,
    check_new_directory,
    is_terminal,
    read_input,
)
from kafka_unclean_recovery.cli.terminal.log_format import LogFormat, LogFormatFlag
from kafka_unclean_recovery.cli.terminal.scan_watch import Signals
from kafka_unclean_recovery.cli.terms import approval_of
from kafka_unclean_recovery.cluster.wire.dial import address_text
from kafka_unclean_recovery.documents.journal_lines import JournalError
from kafka_unclean_recovery.documents.quorum import QuorumPlanJson, read_quorum_plan
from kafka_unclean_recovery.errors import NOT_ALL, OK, Exit, usage
from kafka_unclean_recovery.files.journal import Journal
from kafka_unclean_recovery.files.state_directory import new_path
from kafka_unclean_recovery.metadata_quorum.seed import SeedRefused, check_plan, write_seed
from kafka_unclean_recovery.metadata_quorum.steps import (
    NEW_DIRECTORY,
    SEED,
    VERIFY,
    after_seed,
    between,
)
from kafka_unclean_recovery.shown import shell_join, shown


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Write the log directory of the new controller, as the plan says, and read it back.

    The copy that it begins from is only read. Nothing is started, and no cluster is contacted.
    """

    plan: Annotated[Path, PLAN_FILE]
    output_dir: Annotated[
        Path,
        typer.Option(
            metavar="NEWDIR",
            help="Write it to this new directory: log.dirs of the new controller.",
        ),
    ]
    require_approval: RequireApproval = None
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask on a terminal.")] = False
    journal: JournalFile = None
    log_format: LogFormatFlag = LogFormat.TEXT
    color: ColorFlag = Color.AUTO


def seed(console: Console, options: Options) -> int:
    """Run the command and return its exit code. Raises Exit."""
    check_new_directory(options.output_dir, "--output-dir")
    planned = read_plan(options.plan)
    if options.require_approval is not None:
        approval_of(options.require_approval, planned.digest, planned.cluster_id)
    signals = Signals(
        console, "stopping: what was written is removed", "stopped at once; a .partial may be left"
    )
    asyncio.run(_consent(console, planned, options.yes))
    directory = options.output_dir.absolute()
    with _journal(options, planned) as journal, signals.taken():
        code, reason = _seed(console, planned, directory, signals)
        if code == OK:
            for line in _next(options.plan, planned, journal.path):
                console.say(line)
        journal.note("seeded", directory=str(directory), exit_code=code, reason=reason)
        journal.end(code)
    return code


def _seed(
    console: Console, planned: QuorumPlanJson, directory: Path, signals: Signals
) -> tuple[int, str | None]:
    """Return the exit code, and why nothing was written."""

    def interrupt() -> None:
        if signals.stopped:
            raise Exit(signals.exit_code or NOT_ALL, "interrupted: nothing is left")

    try:
        write_seed(planned, directory, interrupt)
    except SeedRefused as error:
        console.say(f"{error}; nothing was written")
        return NOT_ALL, str(error)
    except Exit as ended:
        console.say(str(ended))
        return ended.code, str(ended)
    console.say(f"written and read back: {directory}")
    for step in between(planned.steps, SEED, VERIFY):
        console.say(step.replace(NEW_DIRECTORY, str(directory)))
    return OK, None


def _next(path: Path, planned: QuorumPlanJson, journal: Path) -> list[str]:
    (listener,) = planned.new_controller.listeners
    address = address_text(listener.host, listener.port)
    verify = [RECOVERY, "quorum", "verify", "--plan", str(path), "--bootstrap-controller", address]
    return [
        f"next, once it is started: {shell_join([*verify, '--bootstrap-server', 'BROKERS'])}",
        f"in the end: {shell_join([RECOVERY, 'report', str(journal)])}",
    ]


def _journal(options: Options, planned: QuorumPlanJson) -> Journal:
    path = options.journal or new_path(own_state_directory(planned.cluster_id or "unknown"))
    try:
        journal = Journal.open(path)
        journal.write(
            "begin",
            version=__version__,
            cluster_id=planned.cluster_id,
            command="kafka-unclean-recovery quorum seed",
        )
        journal.write("seed", directory=str(options.output_dir.absolute()), **_noted(planned))
    except JournalError as error:
        raise usage(str(error)) from None
    return journal


def _noted(planned: QuorumPlanJson) -> dict[str, object]:
    """Return what the journal has of the plan."""
    (listener,) = planned.new_controller.listeners
    return {
        "plan_digest": planned.digest,
        "source": planned.seed.directory,
        "epoch": planned.epoch,
        "end_offset": planned.seed.end_offset,
        "new_controller": {
            "id": planned.new_controller.id,
            "host": listener.host,
            "port": listener.port,
        },
        "lost": list(planned.lost),
        "steps_left": list(after_seed(planned.steps)),
    }


async def _consent(console: Console, planned: QuorumPlanJson, yes: bool) -> None:
    """Have the epoch typed on a terminal. Raises Exit."""
    if yes:
        return
    if not is_terminal():
        raise usage("give --yes where no terminal is: the plan may lose metadata")
    for finding in planned.findings:
        console.show_person(
            shown(f"{finding.severity.value} {finding.code}: {finding.message}") + "\n"
        )
    question = f"to write the new quorum, type its epoch ({planned.epoch}): "
    answer, interrupted = await typed(console, question)
    if answer != str(planned.epoch):
        raise Exit(interrupted or NOT_ALL, "the epoch was not typed, and nothing was written")


def read_plan(path: Path) -> QuorumPlanJson:
    planned = read_quorum_plan(read_input(path, "--plan"), f"--plan {path}")
    check_plan(planned, f"--plan {path}")
    return planned


COMMAND = Command(Options, seed, "kafka-unclean-recovery quorum seed")
