"""kafka-elect-leaders is the command of KIP-966 and KIP-1275; it makes designated elections on
today's Kafka."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from kafka_unclean_recovery.cli import ELECTION, metrics_file
from kafka_unclean_recovery.cli.clusters import ClusterName
from kafka_unclean_recovery.cli.command import Command
from kafka_unclean_recovery.cli.flags import (
    AcceptLoss,
    BootstrapServer,
    Canary,
    ElectionAttempts,
    Format,
    HowElected,
    HowSeen,
    IgnoreJournals,
    JournalFile,
    MetricsFile,
    OutputFormat,
    ReplicaFormat,
    ReplicaLogInfoDialect,
    WaveSize,
    version_flag,
    wishes_of,
)
from kafka_unclean_recovery.cli.session import Session, journal_of, run
from kafka_unclean_recovery.cli.terminal.colour import Color, ColorFlag
from kafka_unclean_recovery.cli.terminal.console import Console, read_input
from kafka_unclean_recovery.cli.terminal.log_format import LogFormat, LogFormatFlag
from kafka_unclean_recovery.cli.terminal.output import (
    exit_code_of,
    failures,
    import_report,
    print_report,
)
from kafka_unclean_recovery.cli.terms import read_terms
from kafka_unclean_recovery.cluster.requests.controller_requests import (
    PREFERRED,
    UNCLEAN,
    PartitionResult,
    elect_leaders,
    left_out,
)
from kafka_unclean_recovery.cluster.wire.error_codes import error_name
from kafka_unclean_recovery.documents.manual_recovery import (
    check_topic,
    parse_elections,
    parse_undesignated,
)
from kafka_unclean_recovery.documents.printed import AnswerJson, ElectionsJson
from kafka_unclean_recovery.documents.reading.codec import json_line
from kafka_unclean_recovery.documents.reading.json_text import Place
from kafka_unclean_recovery.errors import NOT_ALL, OK, Exit, usage
from kafka_unclean_recovery.files.journal import Journal
from kafka_unclean_recovery.kafka_names import Errors
from kafka_unclean_recovery.mechanisms import ElectionMethod, Transport, Wishes
from kafka_unclean_recovery.model import OutcomeKind, TopicPartition
from kafka_unclean_recovery.planning.waves import Pace
from kafka_unclean_recovery.recovery.consent import Consent
from kafka_unclean_recovery.recovery.recover import Aim, Power, recover
from kafka_unclean_recovery.recovery.terms import Terms
from kafka_unclean_recovery.recovery.views import Wanted
from kafka_unclean_recovery.report.run_metrics import outcome_metrics
from kafka_unclean_recovery.shown import shown_lines
from kafka_unclean_recovery.transport.electing import sentence


class ElectionType(StrEnum):
    PREFERRED = "preferred"
    UNCLEAN = "unclean"
    DESIGNATED = "designated"


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Elect leaders: preferred, unclean, or exactly the one designated."""

    bootstrap_server: BootstrapServer
    election_type: Annotated[
        ElectionType,
        typer.Option(
            case_sensitive=False,
            help="Which replica is elected. preferred: the first replica, if another one leads."
            " unclean: the first live replica of a partition without a leader. designated: exactly"
            " the replica that --path-to-json-file names, of a partition without a leader.",
        ),
    ]
    command_config: Annotated[
        Path | None,
        typer.Option(
            "--command-config",
            "--admin.config",
            metavar="FILE",
            help="Java client properties file for the connection, such as TLS and SASL; by default"
            " connections are plaintext.",
        ),
    ] = None
    path_to_json_file: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help='Only the partitions in this JSON file: {"partitions": [{"topic": "foo",'
            ' "partition": 1, "designatedLeader": 0}]}. Designated elections need designatedLeader'
            " (or desiredLeader) for each partition; other elections refuse it.",
        ),
    ] = None
    topic: Annotated[
        str | None,
        typer.Option(metavar="TOPIC", help="Topic of the one partition; needs --partition."),
    ] = None
    partition: Annotated[
        int | None,
        typer.Option(min=0, metavar="N", help="Number of the one partition; needs --topic."),
    ] = None
    all_topic_partitions: Annotated[
        bool,
        typer.Option("--all-topic-partitions", help="All partitions of all topics."),
    ] = False
    recovery_duration_ms: Annotated[
        int,
        typer.Option(
            min=1,
            metavar="MS",
            help="How long brokers may take to say how far their replicas go, in milliseconds; only"
            " for designated elections.",
        ),
    ] = 30_000
    recovery_election_attempts: ElectionAttempts = 3
    format: OutputFormat = Format.TABLE
    accept_loss: AcceptLoss = None
    canary: Canary = None
    wave_size: WaveSize = None
    journal: JournalFile = None
    ignore_journal: IgnoreJournals = None
    transport: HowSeen = Transport.AUTO
    election_method: HowElected = ElectionMethod.AUTO
    replica_log_info_dialect: ReplicaLogInfoDialect = None
    metrics_file: MetricsFile = None
    cluster: ClusterName = None
    log_format: LogFormatFlag = LogFormat.TEXT
    color: ColorFlag = Color.AUTO
    version: Annotated[bool, version_flag(ELECTION)] = False


Leaders = Mapping[TopicPartition, int | None]


def elect(console: Console, options: Options) -> int:
    """Run the command and return its exit code. Raises Exit(2)."""
    chosen = _chosen(options)
    wishes = _wishes(options)
    terms = read_terms(options.accept_loss or ())

    async def work(session: Session) -> int:
        if options.election_type != "designated":
            return await _by_the_controller(session, options, chosen)
        assert chosen is not None
        return await _designated(session, options, chosen, terms)

    return run(console, options.bootstrap_server, options.command_config, work, wishes)


def _wishes(options: Options) -> Wishes:
    """Check the flags and return the wished mechanisms. Raises Exit(2)."""
    wishes = wishes_of(options.transport, options.election_method, options.replica_log_info_dialect)
    if options.election_type == "designated":
        return wishes
    if wishes != Wishes():
        raise usage(
            "--transport, --election-method and --replica-log-info-dialect go with --election-type"
            " designated: who leads otherwise is the controller's choice"
        )
    if options.accept_loss or _pace(options).careful:
        raise usage(
            "--accept-loss, --canary and --wave-size go with --election-type designated: of other"
            " elections nobody knows the loss, and the controller makes them all at once"
        )
    return wishes


def _pace(options: Options) -> Pace:
    return Pace(options.canary, options.wave_size)


def _chosen(options: Options) -> Leaders | None:
    """Return the partitions and their designated leaders; None means every partition. Raises
    Exit(2)."""
    one = options.topic is not None or options.partition is not None
    ways = (one, options.path_to_json_file is not None, options.all_topic_partitions)
    if sum(ways) != 1:
        raise usage(
            "give exactly one of --topic with --partition, --path-to-json-file and"
            " --all-topic-partitions"
        )
    if options.election_type == "designated" and options.path_to_json_file is None:
        raise usage("a designated election needs --path-to-json-file with the designated leaders")
    if options.path_to_json_file is not None:
        return _read_file(options.path_to_json_file, options.election_type)
    if options.all_topic_partitions:
        return None
    if options.topic is None or options.partition is None:
        raise usage("--topic and --partition go together")
    check_topic(options.topic, Place("--topic"))
    return {TopicPartition(options.topic, options.partition): None}


def _read_file(path: Path, election_type: str) -> Leaders:
    text = read_input(path, "--path-to-json-file")
    if election_type != "designated":
        return dict.fromkeys(sorted(parse_undesignated(text, str(path))))
    leaders = dict(sorted(parse_elections(text, str(path))))
    nobody = next((tp for tp, leader in leaders.items() if leader is None), None)
    if nobody is not None:
        raise usage(f"{path}: {nobody} has no designatedLeader; a designated election needs one")
    return leaders


async def _by_the_controller(session: Session, options: Options, chosen: Leaders | None) -> int:
    """Make preferred or unclean elections as Kafka's own script does: the controller chooses."""
    kind = PREFERRED if options.election_type == "preferred" else UNCLEAN
    wanted = None if chosen is None else list(chosen)
    await session.cluster()

    async def unless_stopped(_: str) -> None:
        # To open the connection may have taken a minute.
        if session.stop.requested:
            raise Exit(session.exit_code(NOT_ALL), "interrupted: no election was sent")

    answers = await session.controller.ask(
        lambda connection, deadline: elect_leaders(connection, kind, wanted, deadline),
        unless_stopped,
    )
    # When every partition is asked for, the missing answers are not known.
    answers = left_out(wanted or ()) | answers
    metrics_file.found(outcome_metrics(_kind(answer) for answer in answers.values()))
    if options.format.is_json:
        session.console.artefact(elections_json(options.election_type, answers))
    else:
        session.console.reading([_answers_text(options.election_type, answers)])
    for tp, answer in sorted(answers.items()):
        if answer.error not in (Errors.NONE, Errors.ELECTION_NOT_NEEDED):
            session.console.say(f"{tp}: {sentence(answer)}")
    done = all(
        answer.error in (Errors.NONE, Errors.ELECTION_NOT_NEEDED) for answer in answers.values()
    )
    return OK if done else NOT_ALL


def _kind(answer: PartitionResult) -> OutcomeKind:
    if answer.error == Errors.ELECTION_NOT_NEEDED:
        return OutcomeKind.ALREADY_ONLINE
    return OutcomeKind.ELECTED if answer.error == Errors.NONE else OutcomeKind.FAILED


def elections_json(election_type: str, answers: Mapping[TopicPartition, PartitionResult]) -> str:
    """Return an object of schemas/elections-1.schema.json, in one line."""
    rows = (_answer_json(tp, answer) for tp, answer in sorted(answers.items()))
    return json_line(ElectionsJson(election_type=election_type, elections=tuple(rows)))


def _answer_json(tp: TopicPartition, answer: PartitionResult) -> AnswerJson:
    error = None if answer.error == Errors.NONE else error_name(answer.error)
    return AnswerJson(tp.topic, tp.partition, error, answer.message)


def _answers_text(election_type: str, answers: Mapping[TopicPartition, PartitionResult]) -> str:
    elected = sorted(tp for tp, answer in answers.items() if answer.error == Errors.NONE)
    noop = sorted(
        tp for tp, answer in answers.items() if answer.error == Errors.ELECTION_NOT_NEEDED
    )
    lines = []
    if elected:
        lines.append(f"{election_type} leader elected: {', '.join(map(str, elected))}")
    if noop:
        lines.append(f"a valid leader was there already: {', '.join(map(str, noop))}")
    return shown_lines([*lines, ""])


async def _designated(session: Session, options: Options, leaders: Leaders, terms: Terms) -> int:
    cluster = await session.cluster()
    ignored = options.ignore_journal or ()
    async with journal_of(
        session, options.journal, cluster.cluster_id, ELECTION, ignored
    ) as journal:
        code = await _elect_designated(session, options, leaders, terms, journal)
        journal.end(session.exit_code(code))
        return code


async def _elect_designated(
    session: Session, options: Options, leaders: Leaders, terms: Terms, journal: Journal
) -> int:
    aim = Aim(
        Wanted(tuple(leaders), will_elect=True),
        options.recovery_duration_ms / 1000,
        leaders={tp: leader for tp, leader in leaders.items() if leader is not None},
    )
    power = Power(
        journal,
        session.wishes,
        terms,
        lambda: session.elector(journal, options.recovery_election_attempts, _pace(options)),
        _consented_by_hand,
    )
    how = ReplicaFormat(options.format.value)
    import_report(how)
    result = await recover(session.new_run(_publish_nothing), aim, power)
    below = failures(session.console, result.report)
    print_report(session.console, result.shown, how, False, below)
    return exit_code_of(result.report)


async def _consented_by_hand(*_: object) -> Consent:
    """Return the consent that the author of the file of leaders has given by writing the file."""
    return Consent(given=True, how="by hand")


def _publish_nothing(*_: object) -> None:
    """Write no plan: the leaders came from a file."""


COMMAND = Command(Options, elect, ELECTION)
