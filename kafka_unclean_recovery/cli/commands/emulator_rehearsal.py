"""emulator --from-bundle makes a cluster to rehearse a plan on, of an archive of bundle."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from kafka_unclean_recovery.bundle.opening import open_archive, text_of
from kafka_unclean_recovery.cli.commands.emulator import Options
from kafka_unclean_recovery.cli.terminal.console import Console
from kafka_unclean_recovery.documents.bundle import BundleJson
from kafka_unclean_recovery.documents.plan import PlanFile, read_plan
from kafka_unclean_recovery.emulator.disks.twin_disks import Origin, write_twin
from kafka_unclean_recovery.emulator.options import Options as ClusterOptions
from kafka_unclean_recovery.emulator.twin import Configs, Twin, twin_of
from kafka_unclean_recovery.errors import InputError, usage
from kafka_unclean_recovery.files.private_files import open_private
from kafka_unclean_recovery.wording import count_text

_FLAG = "--from-bundle"
_PLAN = "plan.json"
_STATE = "rehearsal-state"


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """A twin and the text of the plan that it was made by."""

    plan: str
    twin: Twin
    origin: Origin

    def begun(self, directory: Path, options: ClusterOptions) -> ClusterOptions:
        """Write the twin and its plan into the directory, and return the options of its cluster.
        Raises Exit(2)."""
        try:
            write_twin(directory, self.twin, self.origin)
            with open_private(directory / _PLAN, "xb") as file:
                file.write(self.plan.encode())
        except ValueError as error:
            raise usage(f"--data-dir {error}") from None
        except OSError as error:
            raise usage(f"{_FLAG}: {directory}: {error.strerror}") from None
        return replace(
            options,
            ids=self.twin.brokers,
            running=self.twin.running,
            log_directories=self.twin.log_directories,
            data_dir=directory,
        )

    def tell(self, console: Console, servers: str, directory: Path) -> None:
        """Say what stands there, what it can't imitate, and how the plan is rehearsed."""
        running = ", ".join(map(str, self.twin.running)) or "none"
        console.say(
            f"{count_text(len(self.twin.partitions), 'offline partition')} of"
            f" {count_text(len(self.twin.brokers), 'broker')}; running: {running}"
        )
        for sentence in self.twin.not_imitated:
            console.say(f"not imitated: {sentence}")
        console.say("next, with a journal apart from those of the real cluster:")
        state, plan = (shlex.quote(str((directory / each).resolve())) for each in (_STATE, _PLAN))
        alive = zip(self.twin.brokers, servers.split(","), strict=True)
        here = ",".join(server for id_, server in alive if id_ in self.twin.running)
        console.say(
            f"  XDG_STATE_HOME={state} kafka-unclean-recovery --bootstrap-server {here}"
            f" --all-offline-partitions --automated-recovery --plan {plan}"
        )


def rehearsal_of(options: Options) -> Rehearsal:
    """Read the archive, before anything is started. Raises Exit(2), InputError."""
    assert options.from_bundle is not None
    for flag, given in (
        ("--brokers", options.brokers),
        ("--log-directories", options.log_directories),
    ):
        if given is not None:
            raise usage(f"{flag}: {_FLAG} has the brokers and their disks; leave {flag} out")
    source = f"{_FLAG} {options.from_bundle}"
    archive = open_archive(options.from_bundle, frozenset({_PLAN}), source)
    if _PLAN not in archive.files:
        raise usage(
            f"{source}: it has no {_PLAN}, as nothing was offline or was seen; make it during an"
            " outage"
        )
    text = text_of(archive.files[_PLAN], f"{source}: {_PLAN}")
    plan = read_plan(text, f"{source}: {_PLAN}")
    try:
        twin = twin_of(
            tuple(plan.partitions.values()), _configs(archive.index), options.release.value
        )
    except ValueError as error:
        raise usage(f"{source}: {error}") from None
    origin = Origin(plan.cluster_id, _made_at(plan, source), options.release.value)
    return Rehearsal(text, twin, origin)


def _configs(index: BundleJson) -> dict[str, Configs]:
    return {
        row.topic: {each.key: each.value for each in row.configs if each.value is not None}
        for row in index.topics
    }


def _made_at(plan: PlanFile, source: str) -> int:
    """Return when the plan was made, in ms since the Unix epoch. Raises InputError."""
    try:
        return max(int(datetime.fromisoformat(plan.created_at).timestamp() * 1000), 0)
    except (ValueError, OverflowError):
        raise InputError(f"{source}: {_PLAN}: created_at: is no time; make a new archive") from None
