"""What kafka-unclean-recovery aftercare does once its flags are parsed."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from kafka_unclean_recovery.aftercare.groups import GroupBeyond
from kafka_unclean_recovery.aftercare.looking import Asked, look
from kafka_unclean_recovery.aftercare.report import render_json
from kafka_unclean_recovery.aftercare.result import Aftercare
from kafka_unclean_recovery.aftercare.table import render_aftercare
from kafka_unclean_recovery.cli.console import Console, read_input
from kafka_unclean_recovery.cli.exits import NOT_ALL, OK, Exit, usage
from kafka_unclean_recovery.cli.selection import selection
from kafka_unclean_recovery.cli.session import Session, run
from kafka_unclean_recovery.journal import JournalError, elected, parse
from kafka_unclean_recovery.model import TopicPartition
from kafka_unclean_recovery.report_text import count_text

NAME = "kafka-unclean-recovery"
_ANSWER_SECONDS = 10.0
_COMMANDS_SHOWN = 10


@dataclass(frozen=True, slots=True)
class Options:
    """The flags of the command, by their names."""

    bootstrap_server: str
    command_config: Path | None
    journal: Path | None
    topics: str | None
    path_to_json_file: Path | None
    as_json: bool

    @property
    def config(self) -> str | None:
        return None if self.command_config is None else str(self.command_config)

    @property
    def connection(self) -> list[str]:
        config = [] if self.config is None else ["--command-config", self.config]
        return ["--bootstrap-server", self.bootstrap_server, *config]


@dataclass(frozen=True, slots=True)
class Chosen:
    """cluster_id: of the journal, None without one."""

    asked: Asked
    cluster_id: str | None = None


def run_aftercare(options: Options) -> int:
    """The exit code of one run."""
    console = Console(NAME)
    try:
        chosen = _chosen(options)
    except Exit as error:
        console.say(str(error))
        return error.code
    return run(
        console,
        options.bootstrap_server,
        options.config,
        lambda session: _care(session, options, chosen),
    )


def _chosen(options: Options) -> Chosen:
    """Raises Exit(2)."""
    if options.journal is not None and options.path_to_json_file is not None:
        raise usage("--journal and --path-to-json-file exclude each other")
    selected = selection(options.topics, options.path_to_json_file)
    if options.journal is None:
        return Chosen(Asked(selected.includes, selected.partitions))
    cluster_id, partitions = _read_journal(options.journal)
    return Chosen(Asked(selected.includes, partitions, partitions), cluster_id)


def _read_journal(path: Path) -> tuple[str, frozenset[TopicPartition]]:
    """(its cluster, what it elected). Raises Exit(2)."""
    text = read_input(path, "--journal")
    try:
        # A torn last line was never acted on.
        lines = parse(text[: text.rfind("\n") + 1], f"--journal {path}")
        clusters = {line["cluster_id"] for line in lines if line["event"] == "begin"}
        partitions = elected(lines)
    except JournalError as error:
        raise usage(str(error)) from None
    except (KeyError, TypeError):
        raise usage(f"--journal {path}: not as it was written; leave it out") from None
    if len(clusters) != 1 or not partitions:
        raise usage(f"--journal {path}: it tells of no election; name another, or leave it out")
    return clusters.pop(), partitions


async def _care(session: Session, options: Options, chosen: Chosen) -> int:
    found = await _look(session, chosen)
    session.console.artefact(render_json(found) if options.as_json else render_aftercare(found))
    for sentence in _advice(options, found):
        session.console.say(sentence)
    return OK if found.over else NOT_ALL


async def _look(session: Session, chosen: Chosen) -> Aftercare:
    """Raises Exit(2) for the journal of another cluster."""
    looking = look(session.nodes, session.reader, chosen.asked, _ANSWER_SECONDS)
    found = await session.stop.unless(looking)
    if chosen.cluster_id not in (None, found.cluster_id):
        raise usage(f"--journal is of cluster {chosen.cluster_id}, not of {found.cluster_id}")
    return found


def _advice(options: Options, found: Aftercare) -> Iterator[str]:
    if any(found.hanging()):
        yield (
            "keep the producers of hanging transactions stopped until these are ended: the next"
            " transaction of a producer ends the hanging one with its own result"
        )
    beyond = list(found.groups())
    if beyond:
        yield "before writers and these groups go on, set the groups to where the log parts:"
        yield from (_reset(options, each) for each in islice(beyond, _COMMANDS_SHOWN))
        if len(beyond) > _COMMANDS_SHOWN:
            yield f"and {len(beyond) - _COMMANDS_SHOWN} more, which --format json lists"
    dead = {b for row in found.partitions for b in row.state.offline_replicas}
    if dead:
        yield (
            f"{count_text(len(dead), 'broker')} may come back and then delete what the leaders"
            " lack: salvage it, or move the partitions' directories aside, before they start"
        )


def _reset(options: Options, found: GroupBeyond) -> str:
    where = found.commit.topic_partition
    which = ["--group", found.commit.group, "--topic", f"{where.topic}:{where.partition}"]
    how = ["--reset-offsets", "--to-offset", str(found.resume), "--execute"]
    return shlex.join(["kafka-consumer-groups.sh", *options.connection, *which, *how])
