"""kafka-unclean-recovery quorum verify proves that the new quorum works."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from kafka_unclean_recovery.cli.commands.quorum import VerifyOptions
from kafka_unclean_recovery.cli.exits import NOT_ALL, OK
from kafka_unclean_recovery.cli.runs.quorum import addresses_of, config_of, locations
from kafka_unclean_recovery.cli.runs.quorum_seed import read_plan
from kafka_unclean_recovery.cli.terminal.console import Console, Pulse, clocked
from kafka_unclean_recovery.cluster.config.client_config import ClientConfig
from kafka_unclean_recovery.cluster.requests.quorum_state import Quorum
from kafka_unclean_recovery.cluster.wire.bootstrap import Address
from kafka_unclean_recovery.deadline import Deadline
from kafka_unclean_recovery.documents.quorum import QuorumPlanJson
from kafka_unclean_recovery.documents.reading.codec import json_line
from kafka_unclean_recovery.metadata_quorum.document import render_verify
from kafka_unclean_recovery.metadata_quorum.live import Live, ask_brokers, ask_controller
from kafka_unclean_recovery.metadata_quorum.proof import verdict
from kafka_unclean_recovery.metadata_quorum.put_aside import put_aside
from kafka_unclean_recovery.survey import budgets

_LEAST_SECONDS = 1.0
_LOOK_AGAIN_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class _Asked:
    """Who is asked, and how; no addresses where the user named none."""

    addresses: tuple[Address, ...]
    config: ClientConfig


def verify(console: Console, options: VerifyOptions) -> int:
    """Run the command and return its exit code. Raises Exit."""
    planned = read_plan(options.plan)
    servers = options.bootstrap_server
    brokers = _Asked(
        () if servers is None else addresses_of(servers), config_of(options.command_config)
    )
    of_controllers = options.controller_command_config or options.command_config
    controllers = _Asked(addresses_of(options.bootstrap_controller), config_of(of_controllers))
    deadline = Deadline.after(options.timeout_ms / 1000)
    progress = clocked(Pulse(console))
    quorum, live = asyncio.run(_waited(planned, controllers, brokers, deadline, progress))
    # A broker that follows has looked for strays at its start; so the disks come last.
    aside = put_aside(locations(options.log_dirs)) if options.log_dirs else None
    proved = verdict(planned, quorum, live, aside)
    console.artefact(json_line(proved) if options.format.is_json else render_verify(proved))
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
