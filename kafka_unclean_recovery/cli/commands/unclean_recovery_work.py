"""kafka-unclean-recovery without a command observes and plans, elects, or resumes an earlier
run."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from kafka_unclean_recovery.cli import RECOVERY
from kafka_unclean_recovery.cli.commands.unclean_recovery import Options
from kafka_unclean_recovery.cli.flags import ReplicaFormat
from kafka_unclean_recovery.cli.recovery_inputs import (
    Inputs,
    afterwards,
    asked_for,
    bounds_an_election,
    gives_up,
    next_command,
    outputs_of,
    read_inputs,
    sources_of,
)
from kafka_unclean_recovery.cli.selection import refuse_live
from kafka_unclean_recovery.cli.session import Session, finish, journal_of, run, warn_of_unfinished
from kafka_unclean_recovery.cli.terminal.consenting import ToSave, consent_to
from kafka_unclean_recovery.cli.terminal.console import Console
from kafka_unclean_recovery.cli.terminal.output import (
    exit_code_of,
    failures,
    import_report,
    print_report,
)
from kafka_unclean_recovery.cli.terms import check_terms
from kafka_unclean_recovery.documents.journal_lines import Reordered, half_done
from kafka_unclean_recovery.errors import NOT_ALL, OK, Exit, usage
from kafka_unclean_recovery.files.journal import Journal
from kafka_unclean_recovery.mechanisms import Wishes
from kafka_unclean_recovery.model import Cluster, PartitionPlan, PartitionReport
from kafka_unclean_recovery.recovery.recover import Power, Save, Unsaved, look
from kafka_unclean_recovery.recovery.recover import recover as recover_partitions
from kafka_unclean_recovery.recovery.views import Wanted, unknown_brokers

if TYPE_CHECKING:
    from kafka_unclean_recovery.cli.live_salvaging import SalvageFirst


def recover(console: Console, options: Options) -> int:
    """Run the command and return its exit code. Raises Exit."""
    if options.resume is not None:
        return _resume(console, options, options.resume)
    if options.keep_order:
        raise usage("--keep-order goes with --resume")
    inputs = read_inputs(console, options)
    return run(
        console,
        options.bootstrap_server,
        options.command_config,
        lambda session: _recover(session, inputs),
        inputs.wishes,
    )


def _resume(console: Console, options: Options, path: Path) -> int:
    """Finish what the journal's run left, and nothing else. Raises Exit."""
    chosen = (
        options.all_offline_partitions,
        options.path_to_json_file,
        options.automated_recovery,
        options.salvage_dir,
        options.ignore_journal,
        options.allow_loss,
        options.raw_only,
        options.gone,
        bounds_an_election(options),
        gives_up(options),
    )
    if any(chosen) or sources_of(options).any or asked_for(options) != Wishes():
        raise usage("--resume stands alone: it only finishes what the journal's run left")
    if not path.is_file():
        raise usage(f"--resume {path}: there is no such journal")

    async def work(session: Session) -> int:
        cluster = await session.cluster()
        session.stop.leaves_a_journal()
        with Journal.open(path) as journal:
            left = half_done(journal.lines)
            found = await finish(session, journal, cluster.cluster_id, options.keep_order or ())
            done = found.back
        if journal.failure is not None:
            raise Exit(NOT_ALL, f"{journal.failure}: run with --resume again")
        if found.stuck:
            raise Exit(NOT_ALL, f"{path}: not all is put back")
        if not left:
            console.say(f"{path}: nothing is left to finish")
        if options.format is ReplicaFormat.JSON:
            console.artefact(resumed_json(cluster.cluster_id, path, done))
        return OK

    return run(console, options.bootstrap_server, options.command_config, work)


def resumed_json(cluster_id: str, journal: Path, done: Sequence[Reordered]) -> str:
    """Return an object of schemas/resume-1.schema.json. done: the replica orders that were put
    back."""
    # Imported for this line alone: most recoveries resume nothing.
    from kafka_unclean_recovery.documents.printed import ResumeJson
    from kafka_unclean_recovery.documents.reading.codec import json_line
    from kafka_unclean_recovery.documents.shared import TopicPartitionJson

    put_back = tuple(TopicPartitionJson(*each.topic_partition) for each in done)
    return json_line(ResumeJson(cluster_id=cluster_id, journal=str(journal), put_back=put_back))


async def _recover(session: Session, inputs: Inputs) -> int:
    cluster = await session.cluster()
    if inputs.aim.disks is not None:
        from kafka_unclean_recovery.planning.merged_scans import check_cluster

        check_cluster(inputs.aim.disks, cluster.cluster_id)
    check_terms(inputs.terms, cluster.cluster_id)
    await _check_named(session, cluster, inputs.aim.wanted)
    options = inputs.options
    if not options.automated_recovery:
        warn_of_unfinished(session, cluster.cluster_id)
        return await _look(session, inputs)
    ignored = options.ignore_journal or ()
    async with journal_of(
        session, options.journal, cluster.cluster_id, RECOVERY, ignored
    ) as journal:
        code = await _elect(session, inputs, journal)
        journal.end(session.exit_code(code))
        return code


async def _look(session: Session, inputs: Inputs) -> int:
    """Observe and plan without electing, and return the exit code."""
    options = inputs.options
    publish = partial(outputs_of(options).write, session.console)
    result = await look(session.new_run(publish), inputs.aim)
    plans = [row.plan for row in result.report.partitions if row.plan is not None]
    electable = any(plan.designated_leader is not None for plan in plans)
    below = [f"next: {next_command(options)}"] if electable else []
    all_planned = all(plan.designated_leader is not None for plan in plans)
    rows = result.report.partitions
    missing = any(row.state is None for row in rows)
    # Somebody elected a leader meanwhile that lacks what a broker told of in this run.
    lost = replace(result.report, partitions=tuple(filter(_has_lost, rows)))
    below += failures(session.console, lost)
    how = options.format
    print_report(session.console, result.shown, how, options.show_replica_info, below)
    good = all_planned and not missing and not lost.partitions and not result.report.problems
    return OK if good else NOT_ALL


def _has_lost(row: PartitionReport) -> bool:
    """Return True for a partition that is led again, and lacks records or may lack them."""
    return row.outcome is not None and bool(row.outcome.lost or row.outcome.in_doubt)


async def _elect(session: Session, inputs: Inputs, journal: Journal) -> int:
    """Elect the leaders that the run plans, and return the exit code."""
    options = inputs.options
    to_save: ToSave | None = None
    save: Save | None = None
    if inputs.salvage is not None:
        to_save, save = _saving(session, inputs.salvage, inputs.aim.seconds, journal)
    power = Power(
        journal,
        session.wishes,
        inputs.terms,
        lambda: session.elector(journal, options.recovery_election_attempts, inputs.pace),
        lambda shown, electable: consent_to(
            session.console, session.stop, shown, electable, to_save, yes=options.yes
        ),
        save,
    )
    publish = partial(outputs_of(options).write, session.console)
    import_report(options.format)
    result = await recover_partitions(session.new_run(publish), inputs.aim, power)
    below = failures(session.console, result.report)
    if session.console.rewrites:
        below += afterwards(options, result.report, journal.path)
    how = options.format
    print_report(session.console, result.shown, how, options.show_replica_info, below)
    return exit_code_of(result.report)


def _saving(
    session: Session, first: SalvageFirst, seconds: float, journal: Journal
) -> tuple[ToSave, Save]:
    # The readers of disks and records, for which a run without --salvage-dir should not wait.
    from kafka_unclean_recovery.cli.live_salvaging import consent_notes, save_tails

    async def save(cluster: Cluster, plans: Sequence[PartitionPlan]) -> Unsaved:
        return await save_tails(session, first, cluster, plans, journal, seconds)

    return partial(consent_notes, first), save


async def _check_named(session: Session, cluster: Cluster, wanted: Wanted) -> None:
    """Check that each broker that is awaited or gone exists, and none lives that is gone. Raises
    Exit(2)."""
    for flag, named in (("--wait-for-brokers", wanted.wait_for), ("--gone", wanted.gone)):
        looking = unknown_brokers(session.reader, cluster, named)
        strangers = await session.stop.unless(looking)
        if strangers:
            raise usage(
                f"{flag}: there is no broker {', '.join(map(str, strangers))}: none is"
                " registered by that id, and nothing that this user may see has a replica on it"
            )
    refuse_live("--gone", wanted.gone, cluster.brokers)
