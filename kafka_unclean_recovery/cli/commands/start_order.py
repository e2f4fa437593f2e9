"""kafka-unclean-recovery start-order tells which broker to start first after a power cut."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from msgspec import structs

from kafka_unclean_recovery.cli.clusters import ClusterName
from kafka_unclean_recovery.cli.command import Command
from kafka_unclean_recovery.cli.connecting import check_connection, client_config, connection_flags
from kafka_unclean_recovery.cli.disk_sources import Sources, read_sources
from kafka_unclean_recovery.cli.flags import (
    CommandConfig,
    Format,
    Gone,
    LogDirs,
    OutputFormat,
    ReplicaInfoFiles,
)
from kafka_unclean_recovery.cli.selection import broker_ids, refuse_live, selection
from kafka_unclean_recovery.cli.session import Session, run
from kafka_unclean_recovery.cli.terminal.colour import Color, ColorFlag
from kafka_unclean_recovery.cli.terminal.console import Console, check_output
from kafka_unclean_recovery.cli.terminal.log_format import LogFormat, LogFormatFlag
from kafka_unclean_recovery.cli.terminal.output import give
from kafka_unclean_recovery.cli.terminal.output_files import write_new
from kafka_unclean_recovery.cluster.wire.bootstrap import parse_bootstrap
from kafka_unclean_recovery.errors import CANNOT_TELL, NOT_ALL, OK, UNREACHABLE, Exit, usage
from kafka_unclean_recovery.model import PartitionState, ReplicaInfo, TopicPartition
from kafka_unclean_recovery.planning.merged_scans import merge_infos, metadata_age
from kafka_unclean_recovery.shown import shell_join
from kafka_unclean_recovery.start_order.controllers import ask_controllers
from kafka_unclean_recovery.start_order.looking import look
from kafka_unclean_recovery.start_order.report import render_json
from kafka_unclean_recovery.start_order.result import StartOrder, start_order
from kafka_unclean_recovery.start_order.screen import render_start_order
from kafka_unclean_recovery.start_order.situation import Situation, from_disks
from kafka_unclean_recovery.survey import budgets

_NAME = "kafka-unclean-recovery"
_ELECTIONS = "--elections-file"
_CONTROLLERS = "--bootstrap-controller"
_NEWER = "a scan has a newer metadata log than the active controller, which has lost records"


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Tell in which order to start brokers that are down, and when to elect in between.

    The command only reads. Before any broker runs: give the scans of all disks, and one of a
    controller's, or --bootstrap-controller; who may lead is foretold until the controllers have
    fenced the brokers.
    Later, with --bootstrap-server, it asks the brokers that run, and needs the scans of those that
    are down.
    The exit code is 0 when any order is safe, 1 when some order loses records, or a broker may lead
    too early at a cost that is not known, and 4 when something else is not known.
    """

    bootstrap_server: Annotated[
        str | None,
        typer.Option(
            metavar="HOST:PORT[,...]",
            help="Brokers to contact first, to find the others. Without it no broker runs yet.",
        ),
    ] = None
    bootstrap_controller: Annotated[
        str | None,
        typer.Option(
            metavar="HOST:PORT[,...]",
            help="Controllers to ask before any broker runs, in place of a scan of a controller's"
            " log directory: give all of them.",
        ),
    ] = None
    command_config: CommandConfig = None
    replica_info_file: ReplicaInfoFiles = None
    log_dirs: LogDirs = None
    gone: Gone = None
    later: Annotated[
        str | None,
        typer.Option(
            metavar="IDS",
            help="Ids of brokers that can be started only after all others, such as 1,2; by default"
            " none.",
        ),
    ] = None
    elections_file: Annotated[
        Path | None,
        typer.Option(
            metavar="NEWFILE",
            help="Write the partitions of the first election to this new file, for"
            " --path-to-json-file.",
        ),
    ] = None
    format: OutputFormat = Format.TABLE
    cluster: ClusterName = None
    log_format: LogFormatFlag = LogFormat.TEXT
    color: ColorFlag = Color.AUTO


def tell(console: Console, options: Options) -> int:
    """Run the command and return its exit code. Raises Exit."""
    sources = Sources(options.replica_info_file or (), options.log_dirs or ())
    gone = broker_ids(options.gone, "--gone")
    later = broker_ids(options.later, "--later")
    _check_flags(options, sources, gone, later)
    disks = read_sources(console, sources, selection(None, None)) if sources.any else None
    server = options.bootstrap_server
    if server is None:
        told = disks if options.bootstrap_controller is None else _of_controllers(options, disks)
        assert told is not None
        states = (part.state for part in told.partitions if part.state is not None)
        _check_brokers(states, gone, later)
        found = from_disks(told, gone, later)
        asked = options.bootstrap_controller is not None
        return _tell(console, options, sources, replace(found, rests_on=None) if asked else found)

    async def ask(session: Session) -> int:
        seconds = budgets.BEFORE_START.seconds
        live = (await session.cluster()).brokers
        for flag, named in (("--gone", gone), ("--later", later)):
            refuse_live(flag, named, live)
        seen = await look(session.observer(), session.reader, seconds, disks, gone, later)
        if seen.parts:
            _check_brokers((part.state for part in seen.parts), gone, later)
        return _tell(console, options, sources, seen)

    return run(console, server, options.command_config, ask)


def _of_controllers(options: Options, disks: ReplicaInfo | None) -> ReplicaInfo:
    """Return the disks with what the active controller tells. Raises Exit where none does, or
    brokers run."""
    addresses = parse_bootstrap(options.bootstrap_controller or "")
    config = client_config(options.command_config)
    deadline = budgets.METADATA_LOG.deadline()
    found = asyncio.run(ask_controllers(addresses, config, deadline))
    if isinstance(found, str):
        raise Exit(UNREACHABLE, f"{_CONTROLLERS}: no active controller tells who may lead: {found}")
    if found.living:
        raise usage(
            f"{_CONTROLLERS} is for the time before any broker runs, and broker {found.living[0]}"
            " runs; give --bootstrap-server"
        )
    if disks is None:
        return found.info
    newer = [_NEWER] if metadata_age(disks) > metadata_age(found.info) else []
    info = structs.replace(found.info, problems=(*found.info.problems, *newer))
    return merge_infos([(_CONTROLLERS, info), ("disks", disks)])


def _check_flags(
    options: Options, sources: Sources, gone: frozenset[int], later: frozenset[int]
) -> None:
    """Check the flags. Raises Exit(2)."""
    server = options.bootstrap_server or options.bootstrap_controller
    if options.bootstrap_server is not None and options.bootstrap_controller is not None:
        raise usage(
            f"give either --bootstrap-server or {_CONTROLLERS}: brokers that run tell who leads"
        )
    if server is not None:
        check_connection(server, options.command_config)
    elif options.command_config is not None:
        raise usage(f"--command-config goes with --bootstrap-server or {_CONTROLLERS}")
    elif not sources.any:
        raise usage(
            f"give --bootstrap-server, {_CONTROLLERS}, or at least one of --replica-info-file and"
            " --log-dirs"
        )
    if gone & later:
        raise usage(f"broker {min(gone & later)} is named in --gone and in --later; name it once")
    check_output(options.elections_file, _ELECTIONS)


def _tell(console: Console, options: Options, sources: Sources, situation: Situation) -> int:
    found = start_order(situation)
    elections = _first_elections(found)
    try:
        if options.elections_file is not None and elections:
            write_new(options.elections_file, _partitions_file(elections), _ELECTIONS)
    finally:
        command = partial(_elect, options, sources, found)
        told = render_json(found) if options.format.is_json else render_start_order(found, command)
        give(console, told, options.format)
    if options.elections_file is not None and not elections:
        console.say(f"{_ELECTIONS}: nothing is to be elected, so it was not written")
    return exit_code(found)


def _check_brokers(
    states: Iterable[PartitionState], gone: frozenset[int], later: frozenset[int]
) -> None:
    """Check that each named broker has a replica of some partition. Raises Exit(2)."""
    known = {broker for state in states for broker in state.replicas}
    for flag, named in (("--gone", gone), ("--later", later)):
        for stranger in sorted(named - known):
            told = ", ".join(map(str, sorted(known))) or "none"
            raise usage(f"{flag}: no partition is on broker {stranger}; brokers: {told}")


def _first_elections(found: StartOrder) -> tuple[TopicPartition, ...]:
    every = (found.elected_after(step) for step in range(found.steps + 1))
    return next(filter(None, every), ())


def _partitions_file(partitions: Iterable[TopicPartition]) -> str:
    by_topic: dict[str, list[int]] = {}
    for tp in sorted(partitions):
        by_topic.setdefault(tp.topic, []).append(tp.partition)
    rows = [{"topic": topic, "partitions": numbers} for topic, numbers in by_topic.items()]
    return json.dumps({"partitions": rows}) + "\n"


def _elect(options: Options, sources: Sources, found: StartOrder, step: int) -> str:
    """Return the command line that elects after a step."""
    server = ["--bootstrap-server", "HOST:PORT"]
    if options.bootstrap_server is not None:
        server = connection_flags(options.bootstrap_server, options.command_config)
    chosen = ["--all-offline-partitions"]
    if not found.all_elected_after(step):
        first = found.elected_after(step) == _first_elections(found)
        file = options.elections_file if first else None
        chosen = ["--path-to-json-file", str(file or "FILE")]
    chosen += [] if options.gone is None else ["--gone", options.gone]
    return shell_join([_NAME, *server, *chosen, "--automated-recovery", *sources.flags()])


def exit_code(found: StartOrder) -> int:
    """Return the exit code: what is known to be lost counts before what is not known."""
    if found.loses:
        return NOT_ALL
    return CANNOT_TELL if found.unknown else OK


COMMAND = Command(Options, tell)
