"""kafka-unclean-recovery quorum brings a metadata quorum back that lost its majority for good."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from kafka_unclean_recovery.cli.command import command
from kafka_unclean_recovery.cli.flags import CommandConfig, Format, JournalFile, OutputFormat
from kafka_unclean_recovery.cli.terminal.log_format import LogFormat, LogFormatFlag

NAME = "quorum"

app = typer.Typer(
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    no_args_is_help=True,
    help="Bring a metadata quorum back whose majority is lost for good.",
)

Directories = Annotated[
    list[Path],
    typer.Argument(
        metavar="DIR",
        help="Metadata directory (__cluster_metadata-0), log directory, or a directory that holds"
        " several, of controllers and brokers, whether they run or not.",
    ),
]
RunningBrokers = Annotated[
    str | None,
    typer.Option(
        metavar="HOST:PORT[,...]",
        help="Brokers that still run; by default none is asked.",
    ),
]
Scans = Annotated[
    list[Path] | None,
    typer.Option(
        "--replica-info-file",
        metavar="FILE",
        help="Result of scan-log-dirs of brokers whose disks are not among DIR: what it tells of"
        " replicas is held against the best copy. Can be repeated.",
    ),
]
RequireApproval = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Write nothing without this approval of the plan, which another user gave with"
        " approve.",
    ),
]
PLAN_FILE = typer.Option(metavar="FILE", help="Plan that quorum plan wrote.")


@dataclass(frozen=True, slots=True, kw_only=True)
class InspectOptions:
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
    log_format: LogFormatFlag = LogFormat.TEXT


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanOptions:
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
    log_format: LogFormatFlag = LogFormat.TEXT


@dataclass(frozen=True, slots=True, kw_only=True)
class SeedOptions:
    """Write the log directory of the new controller, as the plan says, and read it back.

    The copy that it begins from is only read. Nothing is started, and no cluster is contacted.
    """

    plan: Annotated[Path, PLAN_FILE]
    output_dir: Annotated[
        Path,
        typer.Option(
            metavar="NEWDIR",
            help="Write it to this new directory: log.dirs of the new controller.",
        ),
    ]
    require_approval: RequireApproval = None
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask on a terminal.")] = False
    journal: JournalFile = None
    log_format: LogFormatFlag = LogFormat.TEXT


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifyOptions:
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
    log_format: LogFormatFlag = LogFormat.TEXT


app.command("inspect", short_help="Compare copies of the metadata log.")(
    command(InspectOptions, "quorum:inspect", "kafka-unclean-recovery quorum inspect")
)
app.command("plan", short_help="Plan a new quorum from the best copy.")(
    command(PlanOptions, "quorum:plan", "kafka-unclean-recovery quorum plan")
)
app.command("seed", short_help="Write the log directory of the new controller.")(
    command(SeedOptions, "quorum_seed:seed", "kafka-unclean-recovery quorum seed")
)
app.command("verify", short_help="Prove that the new quorum works.")(
    command(VerifyOptions, "quorum_verify:verify", "kafka-unclean-recovery quorum verify")
)
