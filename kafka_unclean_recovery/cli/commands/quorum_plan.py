"""kafka-unclean-recovery quorum plan plans a new quorum from the best copy."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from kafka_unclean_recovery.cli import RECOVERY
from kafka_unclean_recovery.cli.clusters import ClusterName
from kafka_unclean_recovery.cli.command import Command
from kafka_unclean_recovery.cli.commands.quorum import Directories, RunningBrokers, Scans
from kafka_unclean_recovery.cli.commands.quorum_inspect import locations, shown, signs_told
from kafka_unclean_recovery.cli.connecting import client_config
from kafka_unclean_recovery.cli.flags import CommandConfig, Format, OutputFormat
from kafka_unclean_recovery.cli.selection import broker_ids
from kafka_unclean_recovery.cli.terminal.colour import Color, ColorFlag
from kafka_unclean_recovery.cli.terminal.console import Console, Pulse, check_output, clocked
from kafka_unclean_recovery.cli.terminal.log_format import LogFormat, LogFormatFlag
from kafka_unclean_recovery.cli.terminal.output import print_text, window_above
from kafka_unclean_recovery.cli.terminal.output_files import write_new
from kafka_unclean_recovery.cluster.config.client_config import ClientConfig
from kafka_unclean_recovery.cluster.wire.bootstrap import parse_bootstrap
from kafka_unclean_recovery.cluster.wire.dial import address_text
from kafka_unclean_recovery.cluster.wire.knocking import Knocked, knock
from kafka_unclean_recovery.documents.quorum import QuorumInspectJson, QuorumPlanJson
from kafka_unclean_recovery.errors import NOT_ALL, OK, Exit, usage
from kafka_unclean_recovery.log_dir.small_files.properties_files import kafka_uuid
from kafka_unclean_recovery.log_dir.tree import Unreadable
from kafka_unclean_recovery.metadata_quorum.compared_copies import Copies, compared_copies
from kafka_unclean_recovery.metadata_quorum.copies import Listener, Voter
from kafka_unclean_recovery.metadata_quorum.document import (
    copies_json,
    copies_line,
    inspect_json,
    render_findings,
)
from kafka_unclean_recovery.metadata_quorum.led import Running, growing, registered, whether_led
from kafka_unclean_recovery.metadata_quorum.live import Live
from kafka_unclean_recovery.metadata_quorum.put_aside import put_aside
from kafka_unclean_recovery.metadata_quorum.refusals import findings, refusals
from kafka_unclean_recovery.metadata_quorum.seed_plan import (
    Made,
    cluster_id,
    plan_text,
    quorum_plan,
)
from kafka_unclean_recovery.metadata_quorum.steps import SEED, between
from kafka_unclean_recovery.metadata_quorum.still_led import Heard
from kafka_unclean_recovery.metadata_quorum.wishes import Wishes, voters_before
from kafka_unclean_recovery.model import Finding
from kafka_unclean_recovery.planning.findings import by_gravity
from kafka_unclean_recovery.shown import shell_join
from kafka_unclean_recovery.survey import budgets


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Plan a new metadata quorum that begins from the best copy, or say why there must be none.

    Files are only read. Of the network only the addresses of lost controllers are knocked at, and
    the brokers that you name, or that the best copy knows, are asked.
    """

    directories: Directories
    new_controller: Annotated[
        str,
        typer.Option(
            metavar="ID@HOST:PORT",
            help="Controller to be made. It must listen where a lost one used to, and where the"
            " voters are in the configuration it must have that one's id.",
        ),
    ]
    plan_output_file: Annotated[
        Path, typer.Option(metavar="NEWFILE", help="Write the plan to this new file.")
    ]
    lost_controllers: Annotated[
        str,
        typer.Option(metavar="ID[,...]", help="Voters that are gone for good."),
    ] = ""
    without_copies_of: Annotated[
        str,
        typer.Option(
            metavar="ID[,...]",
            help="Brokers and controllers whose copies can't be read. One that runs and knows more"
            " than the best copy dies at once when it follows.",
        ),
    ] = ""
    unreachable_controllers: Annotated[
        str,
        typer.Option(
            metavar="ID[,...]",
            help="Lost controllers that are known to be gone although their addresses can't be"
            " reached from here. If a majority of them runs, the new controller ends the quorum"
            " that lives.",
        ),
    ] = ""
    controller_quorum_voters: Annotated[
        str,
        typer.Option(
            metavar="ID@HOST:PORT[,...]",
            help="The line controller.quorum.voters of the lost cluster; needed where its log does"
            " not tell the voters or their addresses.",
        ),
    ] = ""
    controller_listener_name: Annotated[
        str, typer.Option(metavar="NAME", help="The name in controller.listener.names.")
    ] = "CONTROLLER"
    cluster_id: Annotated[
        str | None,
        typer.Option(
            metavar="ID",
            help="The cluster.id of any node's meta.properties; needed where metadata directories"
            " alone are given and no broker runs.",
        ),
    ] = None
    untried_metadata_version: Annotated[
        int | None,
        typer.Option(
            metavar="LEVEL",
            help="Plan although the recovery was not tried with this level of metadata.version.",
        ),
    ] = None
    replica_info_file: Scans = None
    bootstrap_server: RunningBrokers = None
    command_config: CommandConfig = None
    format: OutputFormat = Format.TABLE
    cluster: ClusterName = None
    log_format: LogFormatFlag = LogFormat.TEXT
    color: ColorFlag = Color.AUTO


_RESERVED_IDS = 100  # DirectoryId of Kafka.
_At = tuple[int, str, Knocked]
"""Of a controller: its id, an address of it, and what came of knocking there."""


def plan(console: Console, options: Options) -> int:
    """Run the command and return its exit code. Raises Exit."""
    check_output(options.plan_output_file, "--plan-output-file")
    wishes = _wishes(options)
    found = compared_copies(locations(options.directories), clocked(Pulse(console)))
    for problem in found.problems:
        console.say(problem)
    signs, live = signs_told(
        found, options.replica_info_file, options.bootstrap_server, options.command_config
    )
    wishes = _of_cluster(wishes, live)
    heard = asyncio.run(_heard(found, wishes, live, options))
    refused = refusals(found, signs, wishes, heard)
    seen = inspect_json(found, signs)
    if refused:
        _tell(console, seen, by_gravity(refused), (), [_REFUSED], options.format)
        return NOT_ALL
    weighed = by_gravity(findings(found, signs, wishes, heard))
    made = _plan(found, wishes, weighed)
    write_new(options.plan_output_file, plan_text(made), "--plan-output-file")
    coming = [
        *between(made.steps, None, SEED),
        _LATER,
        _next(options.plan_output_file, made),
    ]
    _tell(console, seen, weighed, list(prospect_sentences(made)), coming, options.format)
    return OK


_LATER = "the later steps are in the plan, too"
_REFUSED = "no plan was written: see the findings above"


def _tell(
    console: Console,
    seen: QuorumInspectJson,
    weighed: Sequence[Finding],
    prospects: Sequence[str],
    below: Sequence[str],
    how: Format,
) -> None:
    """Print the copies, the findings, what becomes of the nodes, and the sentences below them. A
    terminal shows of the copies only how many there are: `quorum inspect` tells the others."""
    told = render_findings(weighed)
    if window_above(console, how, below) is not None:
        parts = (copies_line(seen), told, "\n".join(prospects))
        print_text(console, "\n\n".join(filter(None, parts)) + "\n", how, below)
        return
    print_text(console, shown(seen, how), how)
    console.show(f"{told}\n")
    for sentence in (*prospects, *below):
        console.say(sentence)


def prospect_sentences(made: QuorumPlanJson) -> Iterator[str]:
    """Yield what becomes of the nodes, once for all of which it is the same."""
    nodes: dict[str, list[str]] = {}
    for each in made.prospects:
        nodes.setdefault(each.will, []).append("unknown" if each.node is None else str(each.node))
    for will, of in nodes.items():
        yield f"node {of[0]} {will}" if len(of) == 1 else f"nodes {','.join(of)}: each {will}"


def _next(path: Path, made: QuorumPlanJson) -> str:
    (listener,) = made.new_controller.listeners
    host = address_text(listener.host, listener.port)
    seed = shell_join([RECOVERY, "quorum", "seed", "--plan", str(path), "--output-dir", "NEWDIR"])
    return f"next, on the host of {host}, with the copy where the plan has it: {seed}"


def _plan(found: Copies, wishes: Wishes, weighed: Sequence[Finding]) -> QuorumPlanJson:
    now = datetime.now(UTC)
    made = Made(now.isoformat(timespec="seconds"), _now_ms())
    try:
        before = put_aside(found.log_directories)
        return quorum_plan(found, wishes, weighed, copies_json(found), before, made)
    except Unreadable as error:
        raise Exit(NOT_ALL, f"{error}; nothing was written") from None


def _wishes(options: Options) -> Wishes:
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
    ((host, port),) = parse_bootstrap(address)
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


async def _heard(found: Copies, wishes: Wishes, live: Live | None, options: Options) -> Heard:
    """Knock where lost controllers listened, and where the new one is to listen; ask the brokers
    that were named, and those that the best copy knows, whether a controller leads; and see
    whether a copy grows."""
    config = client_config(options.command_config)
    lost = [voter for voter in voters_before(found, wishes) if voter.id in wishes.lost]
    named = parse_bootstrap(options.bootstrap_server) if options.bootstrap_server else ()
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


COMMAND = Command(Options, plan, "kafka-unclean-recovery quorum plan")
