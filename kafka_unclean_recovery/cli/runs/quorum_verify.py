"""kafka-unclean-recovery quorum verify proves that the new quorum works."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from kafka_unclean_recovery.cli.commands.quorum import (
    VerifyOptions,
)
from kafka_unclean_recovery.cli.console import (
    Console,
)
from kafka_unclean_recovery.cli.exits import NOT_ALL, OK
from kafka_unclean_recovery.cli.pulse import Pulse, clocked
from kafka_unclean_recovery.cli.runs.quorum import addresses_of, config_of
from kafka_unclean_recovery.cli.runs.quorum_seed import read_plan
from kafka_unclean_recovery.cluster.config.client_config import ClientConfig
from kafka_unclean_recovery.cluster.wire.bootstrap import Address
from kafka_unclean_recovery.deadline import Deadline
from kafka_unclean_recovery.files.codec import json_text, to_json
from kafka_unclean_recovery.formats.quorum import QuorumPlanJson, QuorumVerifyJson
from kafka_unclean_recovery.quorum.document import (
    render_verify,
)
from kafka_unclean_recovery.quorum.live import ask_brokers, ask_controller
from kafka_unclean_recovery.quorum.proof import verdict

_ASK_SECONDS = 15.0
_LOOK_AGAIN_SECONDS = 0.5


def verify(console: Console, options: VerifyOptions) -> int:
    """Run the command and return its exit code. Raises Exit."""
    planned = read_plan(options.plan)
    config = config_of(options.command_config)
    controllers = addresses_of(options.bootstrap_controller)
    servers = None if options.bootstrap_server is None else addresses_of(options.bootstrap_server)
    progress = clocked(Pulse(console))
    deadline = Deadline.after(options.timeout_ms / 1000)
    proved = asyncio.run(_proved(planned, controllers, servers, config, deadline, progress))
    console.artefact(
        json_text(to_json(proved)) + "\n" if options.format.is_json else render_verify(proved)
    )
    return OK if proved.proven else NOT_ALL


async def _proved(
    planned: QuorumPlanJson,
    controllers: tuple[Address, ...],
    servers: tuple[Address, ...] | None,
    config: ClientConfig,
    deadline: Deadline,
    progress: Callable[[str], None],
) -> QuorumVerifyJson:
    """Look again until all holds or the deadline is over; what can't change is no reason to wait
    on."""
    while True:
        within = deadline.within(_ASK_SECONDS).at_least(1.0)
        live = None if servers is None else await ask_brokers(servers, config, within)
        quorum = await ask_controller(controllers, config, within)
        found = verdict(planned, quorum, live)
        waits_for = [proof.what for proof in found.proofs if proof.holds is False]
        if (not waits_for and (found.proven or live is None)) or deadline.expired:
            return found
        progress(f"waiting: {'; '.join(waits_for) or 'for the brokers'}")
        await asyncio.sleep(min(_LOOK_AGAIN_SECONDS, deadline.remaining()))
