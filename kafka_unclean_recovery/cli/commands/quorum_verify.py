"""kafka-unclean-recovery quorum verify proves that the new quorum works."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from kafka_unclean_recovery.cli.clusters import ClusterName
from kafka_unclean_recovery.cli.command import Command
from kafka_unclean_recovery.cli.commands.quorum import PLAN_FILE, RunningBrokers
from kafka_unclean_recovery.cli.commands.quorum_inspect import locations
from kafka_unclean_recovery.cli.commands.quorum_seed import read_plan
from kafka_unclean_recovery.cli.connecting import client_config
from kafka_unclean_recovery.cli.flags import CommandConfig, Format, OutputFormat
from kafka_unclean_recovery.cli.terminal.colour import Color, ColorFlag
from kafka_unclean_recovery.cli.terminal.console import Console, Pulse, clocked
from kafka_unclean_recovery.cli.terminal.log_format import LogFormat, LogFormatFlag
from kafka_unclean_recovery.cli.terminal.output import print_text
from kafka_unclean_recovery.cluster.config.client_config import ClientConfig
from kafka_unclean_recovery.cluster.requests.quorum_state import Quorum
from kafka_unclean_recovery.cluster.wire.bootstrap import Address, parse_bootstrap
from kafka_unclean_recovery.deadline import Deadline
from kafka_unclean_recovery.documents.quorum import QuorumPlanJson
from kafka_unclean_recovery.documents.reading.codec import json_line
from kafka_unclean_recovery.errors import NOT_ALL, OK
from kafka_unclean_recovery.metadata_quorum.document import render_verify
from kafka_unclean_recovery.metadata_quorum.live import Live, ask_brokers, ask_controller
from kafka_unclean_recovery.metadata_quorum.proof import verdict
from kafka_unclean_recovery.metadata_quorum.put_aside import put_aside
from kafka_unclean_recovery.metadata_quorum.steps import VERIFY, between
from kafka_unclean_recovery.survey import budgets


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Prove that the new quorum works, once its controller is started.

    Nothing is changed. Without --bootstrap-server it is not known whether the brokers follow, and
    the exit code is 1.
    """

    plan: Annotated[Path, PLAN_FILE]
    bootstrap_controller: Annotated[
        str, typer.Option(metavar="HOST:PORT[,...]", help="The new controller.")
    ]
    bootstrap_server: RunningBrokers = None
    command_config: CommandConfig = None
    controller_command_config: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Java client properties file for the controllers; by default that of"
            " --command-config.",
        ),
    ] = None
    log_dirs: Annotated[
        list[Path] | None,
        typer.Option(
            "--log-dirs",
            metavar="DIR",
            help="Log directory of a broker on this host, or a directory that holds several: is"
            " there a partition that the broker put aside (-stray)? Only read; by default none is"
            " looked at. Can be repeated.",
        ),
    ] = None
    timeout_ms: Annotated[
        int,
        typer.Option(min=1, metavar="MS", help="How long to wait until all holds."),
    ] = 30_000
    format: OutputFormat = Format.TABLE
    cluster: ClusterName = None
    log_format: LogFormatFlag = LogFormat.TEXT
    color: ColorFlag = Color.AUTO


_LEAST_SECONDS = 1.0
_LOOK_AGAIN_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class _Asked:
    """Who is asked, and how; no addresses where the user named none."""

    addresses: tuple[Address, ...]
    config: ClientConfig


def verify(console: Console, options: Options) -> int:
    """Run the command and return its exit code. Raises Exit."""
    planned = read_plan(options.plan)
    servers = options.bootstrap_server
    brokers = _Asked(
        () if servers is None else parse_bootstrap(servers), client_config(options.command_config)
    )
    of_controllers = options.controller_command_config or options.command_config
    controllers = _Asked(
        parse_bootstrap(options.bootstrap_controller), client_config(of_controllers)
    )
    deadline = Deadline.after(options.timeout_ms / 1000)
    progress = clocked(Pulse(console))
    quorum, live = asyncio.run(_waited(planned, controllers, brokers, deadline, progress))
    # A broker that follows has looked for strays at its start; so the disks come last.
    aside = put_aside(locations(options.log_dirs)) if options.log_dirs else None
    proved = verdict(planned, quorum, live, aside)
    text = json_line(proved) if options.format.is_json else render_verify(proved)
    coming = between(planned.steps, VERIFY, None) if proved.proven else ()
    print_text(console, text, options.format, coming)
    return OK if proved.proven else NOT_ALL


async def _waited(
    planned: QuorumPlanJson,
    controllers: _Asked,
    brokers: _Asked,
    deadline: Deadline,
    progress: Callable[[str], None],
) -> tuple[Quorum | str, Live | None]:
    """Look again until all holds or the deadline is over; brokers that nobody named are not waited
    for."""
    while True:
        within = deadline.within(budgets.LOST_QUORUM.seconds).at_least(_LEAST_SECONDS)
        asked = brokers.addresses
        live = await ask_brokers(asked, brokers.config, within) if asked else None
        quorum = await ask_controller(controllers.addresses, controllers.config, within)
        found = verdict(planned, quorum, live)
        waits_for = [proof.what for proof in found.proofs if proof.holds is False]
        if (not waits_for and (found.proven or live is None)) or deadline.expired:
            return quorum, live
        progress(f"waiting: {'; '.join(waits_for) or 'for the brokers'}")
        await asyncio.sleep(min(_LOOK_AGAIN_SECONDS, deadline.remaining()))


COMMAND = Command(Options, verify, "kafka-unclean-recovery quorum verify")
