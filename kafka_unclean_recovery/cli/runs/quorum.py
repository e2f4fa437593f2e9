"""kafka-unclean-recovery quorum: inspect, plan, seed and verify."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from kafka_unclean_recovery import __version__
from kafka_unclean_recovery.cli.commands.quorum import (
    InspectOptions,
    PlanOptions,
    SeedOptions,
    VerifyOptions,
)
from kafka_unclean_recovery.cli.console import (
    Console,
    ask,
    check_new_directory,
    check_output,
    is_terminal,
    read_input,
    write_new,
)
from kafka_unclean_recovery.cli.exits import NOT_ALL, OK, Exit, usage
from kafka_unclean_recovery.cli.pulse import Pulse, clocked
from kafka_unclean_recovery.cli.scan_watch import Signals
from kafka_unclean_recovery.cli.selection import broker_ids
from kafka_unclean_recovery.cli.session import client_config, own_state_directory
from kafka_unclean_recovery.cluster.config.client_config import ClientConfig
from kafka_unclean_recovery.cluster.wire.bootstrap import Address, parse_bootstrap
from kafka_unclean_recovery.cluster.wire.dial import address_text
from kafka_unclean_recovery.cluster.wire.errors import ConfigError
from kafka_unclean_recovery.cluster.wire.knocking import Knocked, knock
from kafka_unclean_recovery.deadline import Deadline
from kafka_unclean_recovery.errors import InputError
from kafka_unclean_recovery.files.codec import json_text, to_json
from kafka_unclean_recovery.files.journal import Journal
from kafka_unclean_recovery.files.journal_lines import JournalError
from kafka_unclean_recovery.files.quorum_plan_file import read_quorum_plan
from kafka_unclean_recovery.files.state_directory import new_path
from kafka_unclean_recovery.formats.quorum import QuorumPlanJson, QuorumVerifyJson
from kafka_unclean_recovery.log_dir.local_folder import LocalLocation
from kafka_unclean_recovery.log_dir.tree import Unreadable
from kafka_unclean_recovery.planning.findings import by_gravity
from kafka_unclean_recovery.quorum.copies import Listener, Voter
from kafka_unclean_recovery.quorum.data_signs import Signs, signs_of
from kafka_unclean_recovery.quorum.document import (
    copies_json,
    inspect_json,
    render_findings,
    render_inspect,
    render_verify,
)
from kafka_unclean_recovery.quorum.live import ahead_of, ask_brokers, ask_controller
from kafka_unclean_recovery.quorum.proof import verdict
from kafka_unclean_recovery.quorum.refusals import (
    Wishes,
    findings,
    refusals,
    voters_before,
)
from kafka_unclean_recovery.quorum.seed import SeedRefused, check_plan, kafka_uuid, write_seed
from kafka_unclean_recovery.quorum.seed_plan import Made, plan_text, quorum_plan
from kafka_unclean_recovery.quorum.survey import Survey, survey

_ASK_SECONDS = 15.0
_LOOK_AGAIN_SECONDS = 0.5
_RESERVED_IDS = 100  # DirectoryId of Kafka.


def inspect(console: Console, options: InspectOptions) -> int:
    """Run the command and return its exit code. Raises Exit."""
    found = survey(_locations(options.directories), clocked(Pulse(console)))
    if not found.copies:
        for problem in found.problems:
            console.say(problem)
        raise usage("no copy of __cluster_metadata-0 could be read in these directories")
    signs = _signs(found, options.bootstrap_server, options.command_config)
    seen = inspect_json(found, signs)
    console.artefact(json_text(seen) + "\n" if options.format.is_json else render_inspect(seen))
    damaged = any(copy.damage or copy.relation == "diverges" for copy in seen.copies)
    return NOT_ALL if seen.problems or seen.ahead or seen.stuck or damaged else OK


def plan(console: Console, options: PlanOptions) -> int:
    """Run the command and return its exit code. Raises Exit."""
    check_output(options.plan_output_file, "--plan-output-file")
    wishes = _wishes(options)
    found = survey(_locations(options.directories), clocked(Pulse(console)))
    for problem in found.problems:
        console.say(problem)
    signs = _signs(found, options.bootstrap_server, options.command_config)
    wishes = _knocked(found, wishes, _config(options.command_config))
    refused = refusals(found, signs, wishes)
    console.artefact(_shown(found, signs, options))
    if refused:
        console.show(render_findings(by_gravity(refused)) + "\n")
        raise Exit(NOT_ALL, "no plan was written: see the findings above")
    made = _plan(found, signs, wishes)
    write_new(options.plan_output_file, plan_text(made), "--plan-output-file")
    console.show(render_findings(by_gravity(findings(found, signs, wishes))) + "\n")
    for number, step in enumerate(made.steps, 1):
        console.say(f"step {number}: {step}")
    return OK


def _shown(found: Survey, signs: Signs, options: PlanOptions) -> str:
    seen = inspect_json(found, signs)
    return json_text(seen) + "\n" if options.format.is_json else render_inspect(seen)


def _plan(found: Survey, signs: Signs, wishes: Wishes) -> QuorumPlanJson:
    weighed = by_gravity(findings(found, signs, wishes))
    now = datetime.now(UTC)
    made = Made(now.isoformat(timespec="seconds"), time.time_ns() // 1_000_000)
    try:
        return quorum_plan(found, wishes, weighed, copies_json(found), made)
    except Unreadable as error:
        raise Exit(NOT_ALL, f"{error}; nothing was written") from None


def _locations(paths: Sequence[Path]) -> list[LocalLocation]:
    return [LocalLocation(path.absolute()) for path in paths]


def _signs(found: Survey, servers: str | None, config: Path | None) -> Signs:
    """Hold the best copy against the disks, and against the brokers that are named."""
    signs = signs_of(found.log_directories, found.image)
    if servers is None:
        return signs
    addresses, known = _addresses(servers), _config(config)
    live = asyncio.run(ask_brokers(addresses, known, Deadline.after(_ASK_SECONDS)))
    problems = () if live.problem is None else (f"--bootstrap-server: {live.problem}",)
    return replace(
        signs,
        ahead=(*signs.ahead, *ahead_of(live, found.image)),
        problems=(*signs.problems, *problems),
    )


def _config(path: Path | None) -> ClientConfig:
    try:
        return client_config(path)
    except ConfigError as error:
        raise usage(str(error)) from None


def _addresses(text: str) -> tuple[Address, ...]:
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
    )


def _voter(text: str, flag: str, listener: str) -> Voter:
    id_, _, address = text.partition("@")
    if not address or not id_.isdecimal() or "," in address:
        raise usage(f"{flag} {text}: write ID@HOST:PORT, as controller.quorum.voters does")
    ((host, port),) = _addresses(address)
    (number,) = broker_ids(id_, flag)
    return Voter(number, None, (Listener(listener, host, port),))


def _new_directory_id() -> str:
    """Return a UUID that Kafka could have made: it gives out none that begins with a dash."""
    while True:
        found = uuid.uuid4()
        if found.int >= _RESERVED_IDS and not kafka_uuid(str(found)).startswith("-"):
            return str(found)


def _knocked(found: Survey, wishes: Wishes, config: ClientConfig) -> Wishes:
    """Knock where lost controllers listened, and where the new one is to listen."""
    lost = [voter for voter in voters_before(found, wishes) if voter.id in wishes.lost]
    asked = [*lost, wishes.new]
    answering = asyncio.run(_knock_all(asked, config))
    silent = frozenset(voter.id for voter in lost if not voter.listeners)
    return replace(wishes, answering=answering, not_asked=silent)


async def _knock_all(voters: Sequence[Voter], config: ClientConfig) -> dict[int, str]:
    deadline = Deadline.after(_ASK_SECONDS)
    asked = [(v.id, address_text(e.host, e.port)) for v in voters for e in v.listeners]
    said = await asyncio.gather(*(knock(address, config, deadline) for _, address in asked))
    alive = (Knocked.RUNS, Knocked.SILENT)
    return {id_: at for (id_, at), how in zip(asked, said, strict=True) if how in alive}


def seed(console: Console, options: SeedOptions) -> int:
    """Run the command and return its exit code. Raises Exit."""
    check_new_directory(options.output_dir, "--output-dir")
    planned = _read_plan(options.plan)
    signals = Signals(
        console, "stopping: what was written is removed", "stopped at once; a .partial may be left"
    )
    asyncio.run(_consent(console, planned, options.yes))
    directory = options.output_dir.absolute()
    with _journal(options, planned) as journal, signals.taken():
        journal.write(
            "seed",
            directory=str(directory),
            plan_digest=planned.digest,
            source=planned.seed.directory,
            epoch=planned.epoch,
        )
        code = _seed(console, planned, directory, signals)
        journal.note("seeded", directory=str(directory), exit_code=code)
        journal.end(code)
    return code


def _seed(console: Console, planned: QuorumPlanJson, directory: Path, signals: Signals) -> int:
    def interrupt() -> None:
        if signals.stopped:
            raise Exit(signals.exit_code or NOT_ALL, "interrupted: nothing is left")

    try:
        write_seed(planned, directory, interrupt)
    except SeedRefused as error:
        console.say(f"{error}; nothing was written")
        return NOT_ALL
    except Exit as ended:
        console.say(str(ended))
        return ended.code
    console.say(f"written and read back: {directory}")
    for number, step in enumerate(planned.steps, 1):
        console.say(f"step {number}: {step}")
    return OK


def _journal(options: SeedOptions, planned: QuorumPlanJson) -> Journal:
    path = options.journal or new_path(own_state_directory(planned.cluster_id or "unknown"))
    try:
        journal = Journal.open(path)
        journal.write(
            "begin",
            version=__version__,
            cluster_id=planned.cluster_id,
            command="kafka-unclean-recovery quorum seed",
        )
    except JournalError as error:
        raise usage(str(error)) from None
    return journal


async def _consent(console: Console, planned: QuorumPlanJson, yes: bool) -> None:
    """Have the epoch typed on a terminal. Raises Exit."""
    if yes:
        return
    if not is_terminal():
        raise usage("give --yes where no terminal is: the plan may lose metadata")
    from kafka_unclean_recovery.shutdown import Interrupted, Stop

    for finding in planned.findings:
        console.show(f"{finding.severity.value} {finding.code}: {finding.message}\n")
    stop = Stop(lambda _: None)
    stop.install()
    typed = ""
    with suppress(Interrupted):
        typed = await ask(
            console, f"to write the new quorum, type its epoch ({planned.epoch}): ", stop
        )
    stop.let_go()
    if typed != str(planned.epoch):
        raise Exit(stop.exit_code or NOT_ALL, "the epoch was not typed, and nothing was written")


def _read_plan(path: Path) -> QuorumPlanJson:
    try:
        planned = read_quorum_plan(read_input(path, "--plan"), f"--plan {path}")
        check_plan(planned, f"--plan {path}")
    except InputError as error:
        raise usage(str(error)) from None
    return planned


def verify(console: Console, options: VerifyOptions) -> int:
    """Run the command and return its exit code. Raises Exit."""
    planned = _read_plan(options.plan)
    config = _config(options.command_config)
    controllers = _addresses(options.bootstrap_controller)
    servers = None if options.bootstrap_server is None else _addresses(options.bootstrap_server)
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
