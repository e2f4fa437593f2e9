"""What kafka-unclean-recovery does once its flags are parsed."""

from __future__ import annotations

from pathlib import Path

from kafka_unclean_recovery.cli.console import Console
from kafka_unclean_recovery.cli.electing import recover_automatically
from kafka_unclean_recovery.cli.exits import NOT_ALL, OK, USAGE, Exit, usage
from kafka_unclean_recovery.cli.flags import ReplicaFormat
from kafka_unclean_recovery.cli.looking import only_plan
from kafka_unclean_recovery.cli.recover_options import NAME, Inputs, Options, read_inputs
from kafka_unclean_recovery.cli.resumed import resumed_json
from kafka_unclean_recovery.cli.session import (
    Session,
    finish,
    journal_of,
    run,
    warn_of_unfinished,
)
from kafka_unclean_recovery.errors import InputError
from kafka_unclean_recovery.files.journal import Journal, half_done
from kafka_unclean_recovery.mechanisms import Wishes
from kafka_unclean_recovery.model import Cluster, ReplicaInfo
from kafka_unclean_recovery.planning.merged_scans import check_cluster
from kafka_unclean_recovery.recovery.observe import Wanted, unknown_brokers


def recover(options: Options) -> int:
    """The exit code of one run."""
    console = Console(NAME)
    try:
        inputs = read_inputs(console, options)
    except Exit as error:
        console.say(str(error))
        return error.code
    return run(
        console,
        options.bootstrap_server,
        options.config,
        lambda session: _recover(session, inputs),
        inputs.wishes,
    )


def resume_journal(options: Options, path: Path) -> int:
    """Finish what the run of a journal left, and nothing else."""
    console = Console(NAME)
    chosen = (
        options.all_offline_partitions,
        options.path_to_json_file,
        options.automated_recovery,
        options.salvage_dir,
        options.ignore_journals,
        options.allow_loss,
        options.bounds_an_election,
    )
    if any(chosen) or options.sources.any or options.wishes != Wishes():
        console.say("--resume stands alone: it only finishes what the journal's run left")
        return USAGE
    if not path.is_file():
        console.say(f"--resume {path}: there is no such journal")
        return USAGE

    async def work(session: Session) -> int:
        cluster = await session.cluster()
        session.stop.leaves_a_journal()
        with Journal.open(path) as journal:
            left = half_done(journal.lines)
            done = await finish(session, journal, cluster.cluster_id)
        if journal.failure is not None:
            raise Exit(NOT_ALL, f"{journal.failure}: run with --resume again")
        if not left:
            console.say(f"{path}: nothing is left to finish")
        if options.format is ReplicaFormat.JSON:
            console.artefact(resumed_json(cluster.cluster_id, path, done))
        return OK

    return run(console, options.bootstrap_server, options.config, work)


async def _recover(session: Session, inputs: Inputs) -> int:
    cluster = await session.cluster()
    if inputs.disks is not None:
        _check_cluster(inputs.disks, cluster.cluster_id)
    inputs.terms.check_cluster(cluster.cluster_id)
    await _check_awaited(session, cluster, inputs.wanted)
    options = inputs.options
    if not options.automated_recovery:
        warn_of_unfinished(session, cluster.cluster_id)
        return await only_plan(session, inputs)
    ignored = options.ignore_journals
    async with journal_of(session, options.journal, cluster.cluster_id, NAME, ignored) as journal:
        code = await recover_automatically(session, inputs, journal)
        journal.note("end", exit_code=session.exit_code(code))
        return code


async def _check_awaited(session: Session, cluster: Cluster, wanted: Wanted) -> None:
    """Whoever is waited for is somebody. Raises Exit(2)."""
    looking = unknown_brokers(session.reader, cluster, wanted.wait_for)
    strangers = await session.stop.unless(looking)
    if strangers:
        raise usage(
            f"--wait-for-brokers: there is no broker {', '.join(map(str, strangers))}: none is"
            " registered by that id, and nothing that this user may see has a replica on it"
        )


def _check_cluster(disks: ReplicaInfo, cluster_id: str) -> None:
    """Raises Exit(2)."""
    try:
        check_cluster(disks, cluster_id)
    except InputError as error:
        raise usage(str(error)) from None
