"""kafka-unclean-recovery bundle writes all that tells of an outage into one archive."""

from __future__ import annotations

import asyncio
import os
import sys
import tarfile
import time
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from platform import node, python_version
from typing import Annotated

import typer

from kafka_unclean_recovery.bundle.archive import Archive, Of
from kafka_unclean_recovery.bundle.masking import Masks
from kafka_unclean_recovery.cli.clusters import ClusterName
from kafka_unclean_recovery.cli.command import Command
from kafka_unclean_recovery.cli.commands.doctor import room_here
from kafka_unclean_recovery.cli.flags import (
    BootstrapServer,
    CommandConfig,
    Format,
    OutputFormat,
    ReplicaInfoFiles,
)
from kafka_unclean_recovery.cli.session import Session, run
from kafka_unclean_recovery.cli.terminal.colour import Color, ColorFlag
from kafka_unclean_recovery.cli.terminal.console import Console, check_output, read_bytes
from kafka_unclean_recovery.cli.terminal.log_format import LogFormat, LogFormatFlag
from kafka_unclean_recovery.cli.terminal.output import print_text
from kafka_unclean_recovery.cli.terminal.output_files import partial_of
from kafka_unclean_recovery.cli.terms import user_name
from kafka_unclean_recovery.cluster.wire.bootstrap import parse_bootstrap
from kafka_unclean_recovery.cluster.wire.error_codes import error_name
from kafka_unclean_recovery.doctor.diagnosis import diagnose
from kafka_unclean_recovery.doctor.diagnosis import render_json as doctor_json
from kafka_unclean_recovery.doctor.examine import Patient, examine
from kafka_unclean_recovery.documents.bundle import (
    ConfigJson,
    LibraryJson,
    TopicConfigsJson,
)
from kafka_unclean_recovery.documents.journal_lines import LARGEST_JOURNAL
from kafka_unclean_recovery.documents.plan import plan_json
from kafka_unclean_recovery.errors import NOT_ALL, OK, usage
from kafka_unclean_recovery.files.plain_files import read_plain
from kafka_unclean_recovery.files.private_files import open_private
from kafka_unclean_recovery.files.state_directory import state_directory, why_not_to_use
from kafka_unclean_recovery.kafka_names import Errors
from kafka_unclean_recovery.model import Cluster, PartitionPlan
from kafka_unclean_recovery.recovery.recover import Aim, look
from kafka_unclean_recovery.recovery.views import MissingRight, QuorumSilent, Wanted
from kafka_unclean_recovery.report.document import json_parts
from kafka_unclean_recovery.survey.any_broker import FAILURES
from kafka_unclean_recovery.wording import count_text, one_line

_LIBRARIES = ("typer", "click", "kafka-python", "confluent-kafka", "msgspec", "cramjam", "pyarrow")
_SECONDS = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Write an archive for a ticket, a second pair of eyes or a post-mortem, and change nothing.

    It has what doctor and a look say, the plan, the journals of this user for the cluster, the
    scans that are named, and the configs of topics with an offline partition. An index tells what
    each file is, and what could not be had. Client files and passwords are not in it.
    """

    output: Annotated[
        Path,
        typer.Option(metavar="NEWFILE", help="Write the archive (.tar.gz) to this new file."),
    ]
    bootstrap_server: BootstrapServer
    command_config: CommandConfig = None
    replica_info_file: ReplicaInfoFiles = None
    mask_names: Annotated[
        bool,
        typer.Option(
            "--mask-names",
            help="Write topic-1, group-1, host-1 and so on instead of names, also in sentences.",
        ),
    ] = False
    recovery_duration_ms: Annotated[
        int,
        typer.Option(
            min=1,
            metavar="MS",
            help="How long brokers may take to say how far their replicas go, in milliseconds.",
        ),
    ] = 30_000
    format: OutputFormat = Format.TABLE
    cluster: ClusterName = None
    log_format: LogFormatFlag = LogFormat.TEXT
    color: ColorFlag = Color.AUTO


def bundle(console: Console, options: Options) -> int:
    """Run the command and return its exit code. Raises Exit."""
    check_output(options.output, "--output")
    named = options.replica_info_file or ()
    scans = [(path, read_bytes(path, "--replica-info-file")) for path in named]
    return run(
        console,
        options.bootstrap_server,
        options.command_config,
        lambda session: _bundle(session, options, scans),
    )


async def _bundle(session: Session, options: Options, scans: Sequence[tuple[Path, bytes]]) -> int:
    cluster = await session.cluster()
    now = datetime.now(UTC)
    partial = partial_of(options.output)
    try:
        with open_private(partial, "xb") as out:
            with tarfile.open(fileobj=out, mode="w:gz") as tar:
                masks = _masks(cluster, options) if options.mask_names else None
                archive = Archive(tar, int(now.timestamp()), masks)
                topics = await _ask(session, options, archive, now)
                _add_files(archive, cluster.cluster_id, scans)
                of = Of(cluster.cluster_id, now.isoformat(timespec="seconds"), tuple(_libraries()))
                index = archive.finish(of, topics)
            out.flush()
            os.fsync(out.fileno())
        # A link, unlike a rename, replaces nothing that came there meanwhile.
        os.link(partial, options.output)
    except OSError as error:
        raise usage(f"--output {options.output}: {error.strerror}") from None
    finally:
        partial.unlink(missing_ok=True)
    _tell(session.console, options, archive, index)
    return NOT_ALL if archive.lacking else OK


async def _ask(
    session: Session, options: Options, archive: Archive, now: datetime
) -> tuple[TopicConfigsJson, ...]:
    """Add what the cluster tells, and return the configs of the topics concerned."""
    session.console.progress("asking as doctor does")
    await _add_doctor(session, options, archive, now)
    try:
        topics = await _add_look(session, options, archive, now)
    except (MissingRight, QuorumSilent, *FAILURES) as error:
        archive.lacks("look.json", str(error))
        return ()
    return await _configs(session, archive, topics)


async def _add_look(
    session: Session, options: Options, archive: Archive, now: datetime
) -> list[str]:
    """Add the look and its plan, and return the topics concerned."""
    found: list[tuple[Cluster, Collection[PartitionPlan]]] = []
    run = session.new_run(lambda cluster, plans: found.append((cluster, plans)))
    result = await look(run, Aim(Wanted(None), options.recovery_duration_ms / 1000))
    report = "".join(json_parts(result.shown)).encode()
    archive.add("look.json", "how far each surviving replica of offline partitions goes", report)
    for problem in result.report.problems:
        archive.lacks("part of the look", problem)
    at = now.isoformat(timespec="seconds")
    for cluster, plans in found:
        if plans:
            text = plan_json(cluster, list(plans), at)
            archive.add("plan.json", "the plan, for --plan of a run or of salvage", text.encode())
    return sorted({row.topic_partition.topic for row in result.report.partitions})


async def _add_doctor(session: Session, options: Options, archive: Archive, now: datetime) -> None:
    servers = parse_bootstrap(options.bootstrap_server)
    patient = Patient(servers, session.nodes.config, session.wishes, _SECONDS)
    asking = examine(patient, lambda id_: room_here(id_, Path()), lambda: time.time_ns() // 10**6)
    try:
        facts = await session.stop.unless(asking)
    except FAILURES as error:
        archive.lacks("doctor.json", str(error))
        return
    if archive.masks is not None:
        archive.masks.learn("topic", (topic.name for topic in facts.topics.value or ()))
    told = doctor_json(diagnose(facts, now.isoformat(timespec="seconds")))
    archive.add(
        "doctor.json", "what doctor says of cluster, rights and this machine", told.encode()
    )


async def _configs(
    session: Session, archive: Archive, topics: Sequence[str]
) -> tuple[TopicConfigsJson, ...]:
    if not topics:
        return ()
    try:
        async with asyncio.timeout(_SECONDS):
            told = await session.stop.unless(session.reader.configs_set(topics))
    except (TimeoutError, *FAILURES) as error:
        archive.lacks("configs of topics", str(error) or f"no answer within {_SECONDS:.0f} s")
        return ()
    for topic in topics:
        code = told[topic].error if topic in told else None
        if code != Errors.NONE:
            why = "it is not in the answer" if code is None else error_name(code)
            archive.lacks(f"configs of topic {topic}", why)
    return tuple(
        TopicConfigsJson(topic, tuple(ConfigJson(*each) for each in sorted(found.configs.items())))
        for topic, found in sorted(told.items())
        if found.error == Errors.NONE
    )


def _add_files(archive: Archive, cluster_id: str, scans: Sequence[tuple[Path, bytes]]) -> None:
    for number, (path, content) in enumerate(scans, 1):
        if archive.masks is None:
            archive.add(f"scans/{number}-{path.name}", f"a scan of disks: {path}", content)
        else:
            archive.add(f"scans/{number}.json", "a scan of disks", content)
    directory = state_directory(os.environ, cluster_id)
    if (why := why_not_to_use(os.environ, directory)) is not None:
        archive.lacks("journals", why)
        return
    for path in sorted(directory.glob("*.jsonl")):
        try:
            journal = read_plain(path, LARGEST_JOURNAL)
        except OSError as error:
            archive.lacks(f"journals/{path.name}", error.strerror or str(error))
        else:
            archive.add(f"journals/{path.name}", "the journal of a run on this cluster", journal)


def _masks(cluster: Cluster, options: Options) -> Masks:
    """Return masks for what the cluster and this machine are called."""
    masks = Masks()
    brokers = (*cluster.brokers.values(), *cluster.fenced_at.values())
    masks.learn("host", sorted({broker.host for broker in brokers}))
    masks.learn("host", (host for host, _ in parse_bootstrap(options.bootstrap_server)))
    masks.learn("host", [node()])
    masks.learn("user", [user_name()])
    return masks


def _libraries() -> Iterator[LibraryJson]:
    yield LibraryJson("Python", f"{python_version()} on {sys.platform}")
    for name in _LIBRARIES:
        try:
            yield LibraryJson(name, version(name))
        except PackageNotFoundError:
            continue


def _tell(console: Console, options: Options, archive: Archive, index: str) -> None:
    width = max((len(each.name) for each in archive.files), default=0)
    lines = [f"{one_line(each.name):<{width}}  {one_line(each.what)}\n" for each in archive.files]
    print_text(console, index if options.format.is_json else "".join(lines), options.format)
    for each in archive.lacking:
        console.say(f"not in it: {each.what}: {each.why}")
    console.say(f"{options.output}: {count_text(len(archive.files), 'file')} and an index")


COMMAND = Command(Options, bundle, "kafka-unclean-recovery bundle")
