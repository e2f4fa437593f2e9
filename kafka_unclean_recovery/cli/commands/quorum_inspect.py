"""kafka-unclean-recovery quorum inspect compares the copies of the metadata log."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from kafka_unclean_recovery.cli.clusters import ClusterName
from kafka_unclean_recovery.cli.command import Command
from kafka_unclean_recovery.cli.commands.quorum import Directories, RunningBrokers, Scans
from kafka_unclean_recovery.cli.connecting import client_config
from kafka_unclean_recovery.cli.disk_sources import read_info
from kafka_unclean_recovery.cli.flags import CommandConfig, Format, OutputFormat
from kafka_unclean_recovery.cli.selection import Selection
from kafka_unclean_recovery.cli.terminal.colour import Color, ColorFlag
from kafka_unclean_recovery.cli.terminal.console import Console, Pulse, clocked
from kafka_unclean_recovery.cli.terminal.log_format import LogFormat, LogFormatFlag
from kafka_unclean_recovery.cli.terminal.output import columns_to_fit, print_text
from kafka_unclean_recovery.cluster.wire.bootstrap import parse_bootstrap
from kafka_unclean_recovery.documents.quorum import QuorumInspectJson
from kafka_unclean_recovery.documents.reading.codec import json_line
from kafka_unclean_recovery.errors import NOT_ALL, OK, UNREACHABLE, Exit, usage
from kafka_unclean_recovery.log_dir.local_folder import LocalLocation
from kafka_unclean_recovery.log_dir.metadata.parting import Relation
from kafka_unclean_recovery.metadata_quorum.compared_copies import Copies, compared_copies
from kafka_unclean_recovery.metadata_quorum.data_signs import Signs, joined, signs_of, signs_of_scan
from kafka_unclean_recovery.metadata_quorum.document import inspect_json, render_inspect
from kafka_unclean_recovery.metadata_quorum.live import Live, ahead_of, ask_brokers
from kafka_unclean_recovery.survey import budgets


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Show how far each copy of the metadata log goes, where the copies part, and which is the
    best.

    Files are only read. Log directories of brokers are also held against the best copy: their data
    tells of records of the metadata log that it lacks.
    """

    directories: Directories
    replica_info_file: Scans = None
    bootstrap_server: RunningBrokers = None
    command_config: CommandConfig = None
    format: OutputFormat = Format.TABLE
    cluster: ClusterName = None
    log_format: LogFormatFlag = LogFormat.TEXT
    color: ColorFlag = Color.AUTO


def inspect(console: Console, options: Options) -> int:
    """Run the command and return its exit code. Raises Exit."""
    found = compared_copies(locations(options.directories), clocked(Pulse(console)))
    if not found.copies:
        for problem in found.problems:
            console.say(problem)
        raise usage("no copy of __cluster_metadata-0 could be read in these directories")
    signs, _ = signs_told(
        found, options.replica_info_file, options.bootstrap_server, options.command_config
    )
    seen = inspect_json(found, signs)
    print_text(console, shown(seen, options.format), options.format)
    apart = (Relation.DIVERGES, Relation.OTHER_HISTORY)
    damaged = any(copy.damage or copy.relation in apart for copy in seen.copies)
    damaged |= any(copy.fatal for copy in found.copies)
    return NOT_ALL if seen.problems or seen.ahead or seen.stuck or damaged else OK


def shown(seen: QuorumInspectJson, how: Format) -> str:
    return json_line(seen) if how.is_json else render_inspect(seen, columns_to_fit(how))


def locations(paths: Sequence[Path]) -> list[LocalLocation]:
    return [LocalLocation(path.absolute()) for path in paths]


def signs_told(
    found: Copies, files: Sequence[Path] | None, servers: str | None, command_config: Path | None
) -> tuple[Signs, Live | None]:
    """Hold the best copy against the disks, the scans, and the brokers that are named; return what
    these told, too. Raises Exit(2), also where none of those brokers answers: what they know would
    stay unknown."""
    scans = [read_info(path, Selection()) for path in files or ()]
    disks = signs_of(found.log_directories, found.image)
    signs = joined([disks, *(signs_of_scan(info, found.image) for info in scans)])
    if servers is None:
        return signs, None
    addresses, config = parse_bootstrap(servers), client_config(command_config)
    live = asyncio.run(ask_brokers(addresses, config, budgets.LOST_QUORUM.deadline()))
    if live.problem is not None:
        raise Exit(UNREACHABLE, f"--bootstrap-server: {live.problem}; leave it out if none runs")
    ahead = (*signs.ahead, *ahead_of(live, found.image))
    return replace(signs, ahead=ahead, problems=(*signs.problems, *live.untold)), live


COMMAND = Command(Options, inspect, "kafka-unclean-recovery quorum inspect")
