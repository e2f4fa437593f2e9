"""kafka-unclean-recovery quorum inspect and plan compare the copies of the metadata log."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from kafka_unclean_recovery.cli.commands.quorum import (
    InspectOptions,
    PlanOptions,
)
from kafka_unclean_recovery.cli.disk_sources import read_info
from kafka_unclean_recovery.cli.exits import NOT_ALL, OK, UNREACHABLE, Exit, usage
from kafka_unclean_recovery.cli.selection import Selection, broker_ids
from kafka_unclean_recovery.cli.session import client_config
from kafka_unclean_recovery.cli.terminal.console import (
    Console,
    Pulse,
    check_output,
    clocked,
    write_new,
)
from kafka_unclean_recovery.cluster.config.client_config import ClientConfig
from kafka_unclean_recovery.cluster.wire.bootstrap import Address, parse_bootstrap
from kafka_unclean_recovery.cluster.wire.dial import address_text
from kafka_unclean_recovery.cluster.wire.errors import ConfigError
from kafka_unclean_recovery.cluster.wire.knocking import Knocked, knock
from kafka_unclean_recovery.documents.quorum import QuorumPlanJson
from kafka_unclean_recovery.documents.reading.codec import json_line
from kafka_unclean_recovery.log_dir.local_folder import LocalLocation
from kafka_unclean_recovery.log_dir.metadata.parting import Relation
from kafka_unclean_recovery.log_dir.small_files.properties_files import kafka_uuid
from kafka_unclean_recovery.log_dir.tree import Unreadable
from kafka_unclean_recovery.metadata_quorum.compared_copies import Copies, compared_copies
from kafka_unclean_recovery.metadata_quorum.copies import Listener, Voter
from kafka_unclean_recovery.metadata_quorum.data_signs import Signs, joined, signs_of, signs_of_scan
from kafka_unclean_recovery.metadata_quorum.document import (
    copies_json,
    inspect_json,
    render_findings,
    render_inspect,
)
from kafka_unclean_recovery.metadata_quorum.growing import growing
from kafka_unclean_recovery.metadata_quorum.led import Running, registered, whether_led
from kafka_unclean_recovery.metadata_quorum.live import Live, ahead_of, ask_brokers
from kafka_unclean_recovery.metadata_quorum.put_aside import put_aside
from kafka_unclean_recovery.metadata_quorum.refusals import findings, refusals
from kafka_unclean_recovery.metadata_quorum.seed_plan import (
    Made,
    cluster_id,
    plan_text,
    quorum_plan,
)
from kafka_unclean_recovery.metadata_quorum.still_led import Heard
from kafka_unclean_recovery.metadata_quorum.wishes import Wishes, voters_before
from kafka_unclean_recovery.model import Finding
from kafka_unclean_recovery.planning.findings import by_gravity
from kafka_unclean_recovery.survey import budgets

_RESERVED_IDS = 100  # DirectoryId of Kafka.
_At = tuple[int, str, Knocked]
"""Of a controller: its id, an address of it, and what came of knocking there."""


def inspect(console: Console, options: InspectOptions) -> int:
    """Run the command and return its exit code. Raises Exit."""
    found = compared_copies(locations(options.directories), clocked(Pulse(console)))
    if not found.copies:
        for problem in found.problems:
            console.say(problem)
        raise usage("no copy of __cluster_metadata-0 could be read in these directories")
    signs, _ = _signs(found, options)
    seen = inspect_json(found, signs)
    console.artefact(json_line(seen) if options.format.is_json else render_inspect(seen))
    apart = (Relation.DIVERGES, Relation.OTHER_HISTORY)
    damaged = any(copy.damage or copy.relation in apart for copy in seen.copies)
    damaged |= any(copy.fatal for copy in found.copies)
    return NOT_ALL if seen.problems or seen.ahead or seen.stuck or damaged else OK


def plan(console: Console, options: PlanOptions) -> int:
    """Run the command and return its exit code. Raises Exit."""
    check_output(options.plan_output_file, "--plan-output-file")
    wishes = _wishes(options)
    found = compared_copies(locations(options.directories), clocked(Pulse(console)))
    for problem in found.problems:
        console.say(problem)
    signs, live = _signs(found, options)
    wishes = _of_cluster(wishes, live)
    heard = asyncio.run(_heard(found, wishes, live, options))
    refused = refusals(found, signs, wishes, heard)
    console.artefact(_shown(found, signs, options))
    if refused:
        console.show(render_findings(by_gravity(refused)) + "\n")
        raise Exit(NOT_ALL, "no plan was written: see the findings above")
    weighed = by_gravity(findings(found, signs, wishes, heard))
    made = _plan(found, wishes, weighed)
    write_new(options.plan_output_file, plan_text(made), "--plan-output-file")
    console.show(render_findings(weighed) + "\n")
    for each in made.prospects:
        console.say(f"node {'unknown' if each.node is None else each.node} {each.will}")
    for number, step in enumerate(made.steps, 1):
        console.say(f"step {number}: {step}")
    return OK


def _shown(found: Copies, signs: Signs, options: PlanOptions) -> str:
    seen = inspect_json(found, signs)
    return json_line(seen) if options.format.is_json else render_inspect(seen)


def _plan(found: Copies, wishes: Wishes, weighed: Sequence[Finding]) -> QuorumPlanJson:
    now = datetime.now(UTC)
    made = Made(now.isoformat(timespec="seconds"), _now_ms())
    try:
        before = put_aside(found.log_directories)
        return quorum_plan(found, wishes, weighed, copies_json(found), before, made)
    except Unreadable as error:
        raise Exit(NOT_ALL, f"{error}; nothing was written") from None


def locations(paths: Sequence[Path]) -> list[LocalLocation]:
    return [LocalLocation(path.absolute()) for path in paths]


def _signs(found: Copies, options: InspectOptions | PlanOptions) -> tuple[Signs, Live | None]:
    """Hold the best copy against the disks, the scans, and the brokers that are named; return what
    these told, too. Raises Exit(2), also where none of those brokers answers: what they know would
    stay unknown."""
    scans = [read_info(path, Selection()) for path in options.replica_info_file or ()]
    disks = signs_of(found.log_directories, found.image)
    signs = joined([disks, *(signs_of_scan(info, found.image) for info in scans)])
    if options.bootstrap_server is None:
        return signs, None
    addresses, config = addresses_of(options.bootstrap_server), config_of(options.command_config)
    live = asyncio.run(ask_brokers(addresses, config, budgets.LOST_QUORUM.deadline()))
    if live.problem is not None:
        raise Exit(UNREACHABLE, f"--bootstrap-server: {live.problem}; leave it out if none runs")
    ahead = (*signs.ahead, *ahead_of(live, found.image))
    return replace(signs, ahead=ahead, problems=(*signs.problems, *live.untold)), live


def config_of(path: Path | None) -> ClientConfig:
    try:
        return client_config(path)
    except ConfigError as error:
        raise usage(str(error)) from None


def addresses_of(text: str) -> tuple[Address, ...]:
    try:
        return parse_bootstrap(text)
    except ConfigError as error:
        raise usage(str(error)) from None


def _wishes(options: PlanOptions) -> Wishes:
    """Read the flags. Raises Exit(2)."""
    name = options.controller_listener_name
    new = _voter(options.new_controller, "--new-controller", name)
    static = [
        _voter(each.strip(), "--controller-quorum-voters", name)
        for each in options.controller_quorum_voters.split(",")
        if each.strip()
    ]
    return Wishes(
        replace(new, directory_id=_new_directory_id()),
        broker_ids(options.lost_controllers or None, "--lost-controllers"),
        tuple(static),
        broker_ids(options.without_copies_of or None, "--without-copies-of"),
        broker_ids(options.unreachable_controllers or None, "--unreachable-controllers"),
        options.untried_metadata_version,
        options.cluster_id,
    )


def _voter(text: str, flag: str, listener: str) -> Voter:
    id_, _, address = text.partition("@")
    if not address or not id_.isdecimal() or "," in address:
        raise usage(f"{flag} {text}: write ID@HOST:PORT, as controller.quorum.voters does")
    ((host, port),) = addresses_of(address)
    (number,) = broker_ids(id_, flag)
    return Voter(number, None, (Listener(listener, host, port),))


def _new_directory_id() -> str:
    """Return a UUID that Kafka could have made: it gives out none that begins with a dash."""
    while True:
        found = uuid.uuid4()
        if found.int >= _RESERVED_IDS and not kafka_uuid(found).startswith("-"):
            return str(found)


def _of_cluster(wishes: Wishes, live: Live | None) -> Wishes:
    """Take the cluster's id from brokers that run. Raises Exit(2) where another one was named."""
    if live is None or live.cluster_id is None:
        return wishes
    if wishes.cluster_id not in (None, live.cluster_id):
        raise usage(f"--cluster-id {wishes.cluster_id}: the brokers are of {live.cluster_id}")
    return replace(wishes, cluster_id=live.cluster_id)


async def _heard(found: Copies, wishes: Wishes, live: Live | None, options: PlanOptions) -> Heard:
    """Knock where lost controllers listened, and where the new one is to listen; ask the brokers
    that were named, and those that the best copy knows, whether a controller leads; and see
    whether a copy grows."""
    config = config_of(options.command_config)
    lost = [voter for voter in voters_before(found, wishes) if voter.id in wishes.lost]
    named = addresses_of(options.bootstrap_server) if options.bootstrap_server else ()
    listed = () if live is None else live.addresses.items()
    brokers = (
        *(Running(address) for address in named),
        *(Running(address, id_) for id_, address in listed),
        *registered(found.image),
    )
    cluster = cluster_id(found, wishes) or None
    at_lost, at_new, told, grows = await asyncio.gather(
        _knock_all(lost, config),
        _knock_all([wishes.new], config),
        whether_led(brokers, cluster, config, budgets.LOST_QUORUM.deadline()),
        asyncio.to_thread(lambda: tuple(growing(found.copies, _now_ms))),
    )
    return Heard(
        answering=_answering([*at_lost, *at_new]),
        unreachable=_unreachable(at_lost),
        not_asked=frozenset(voter.id for voter in lost if not voter.listeners),
        led=(*told.led, *grows),
        not_told=told.not_told,
    )


def _answering(knocked: Sequence[_At]) -> dict[int, str]:
    return {id_: at for id_, at, how in knocked if how in (Knocked.RUNS, Knocked.SILENT)}


def _unreachable(knocked: Sequence[_At]) -> dict[int, str]:
    """Return the voters of which no address took or refused a connection."""
    heard = {id_ for id_, _, how in knocked if how is not Knocked.UNREACHABLE}
    return {id_: at for id_, at, _ in knocked if id_ not in heard}


async def _knock_all(voters: Sequence[Voter], config: ClientConfig) -> list[_At]:
    deadline = budgets.LOST_QUORUM.deadline()
    asked = dict.fromkeys((v.id, address_text(e.host, e.port)) for v in voters for e in v.listeners)
    said = await asyncio.gather(*(knock(address, config, deadline) for _, address in asked))
    return [(id_, at, how) for (id_, at), how in zip(asked, said, strict=True)]


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
