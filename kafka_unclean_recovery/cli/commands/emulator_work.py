"""kafka-unclean-recovery emulator runs an emulated cluster until a signal stops it."""

from __future__ import annotations

import os
import select
import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from kafka_unclean_recovery.cli.commands.emulator import Options
from kafka_unclean_recovery.cli.terminal.console import Console, read_input
from kafka_unclean_recovery.emulator.bundled import is_name, scenarios
from kafka_unclean_recovery.emulator.cluster import Cluster
from kafka_unclean_recovery.emulator.control.commands import (
    BadCommand,
    Command,
    NotDone,
    parse_line,
    parse_scenario,
)
from kafka_unclean_recovery.emulator.control.control_socket import serving
from kafka_unclean_recovery.emulator.control.executing import execute, run
from kafka_unclean_recovery.emulator.disks.data_dir_claim import claimed, tell_socket
from kafka_unclean_recovery.emulator.emulation import Settings
from kafka_unclean_recovery.emulator.options import Options as ClusterOptions
from kafka_unclean_recovery.errors import NOT_ALL, OK, USAGE, Exit, usage
from kafka_unclean_recovery.shown import shown_lines
from kafka_unclean_recovery.signals import StopRequest, taken
from kafka_unclean_recovery.wording import did_you_mean

# The end of a scenario is checked this often, in seconds.
_SOON = 0.01

_BROKERS = 4
_LOOKING = ("status", "metrics", "help")

Scenario = Sequence[tuple[str, Command]]


def emulate(console: Console, options: Options) -> int:
    """Run the emulator until a signal. Return 0, or 128 plus the signal's number when the signal
    came before the emulator was ready. Raises Exit."""
    scenario, cluster_options = _scenario(options.scenario), _cluster_options(options)
    rehearsal = None
    if options.from_bundle is not None:
        # Imported for this line alone: other emulators need no codec.
        from kafka_unclean_recovery.cli.commands.emulator_rehearsal import rehearsal_of

        rehearsal = rehearsal_of(options)
    with ExitStack() as stack:
        signals = stack.enter_context(_signals())
        if options.data_dir is not None:
            _claim(stack, options.data_dir)
        if rehearsal is not None:
            directory = _directory(stack, options.data_dir)
            cluster_options = rehearsal.begun(directory, cluster_options)
        desk = _Desk(Cluster(cluster_options))
        control = stack.enter_context(ExitStack())
        path = control.enter_context(serving(desk.answer))
        if options.data_dir is not None:
            tell_socket(options.data_dir, path)
        cluster = _start(stack, desk.cluster)
        stack.callback(control.close)  # The control socket closes before the cluster ends.
        if (stopped := _rehearse(cluster, scenario, signals)) is not None:
            return 128 + stopped
        desk.ready = True
        render = emulator_json if options.format.is_json else _text
        console.artefact(render(cluster.bootstrap_servers, path))
        if rehearsal is not None:
            rehearsal.tell(console, cluster.bootstrap_servers, directory)
        signals.wait(None)
        return OK


def _text(bootstrap_servers: str, socket: Path) -> str:
    return shown_lines([f"bootstrap.servers={bootstrap_servers}", f"control.socket={socket}", ""])


def emulator_json(bootstrap_servers: str, socket: Path) -> str:
    """Return an object of schemas/emulator-1.schema.json, in one line."""
    # Imported for this line alone: an emulator needs no codec.
    from kafka_unclean_recovery.documents.emulator import EmulatorJson
    from kafka_unclean_recovery.documents.reading.codec import json_line

    servers = tuple(bootstrap_servers.split(","))
    return json_line(EmulatorJson(bootstrap_servers=servers, control_socket=str(socket)))


def _scenario(given: str | None) -> Scenario:
    """Read the whole scenario, so that nothing is started for one with an error. Raises Exit(2)."""
    if given is None:
        return ()
    try:
        return list(parse_scenario(_scenario_text(given), given))
    except BadCommand as error:
        raise usage(f"--scenario {error}") from None


def _scenario_text(given: str) -> str:
    """Return the text of a bundled scenario, else of the file. Raises Exit(2)."""
    if is_name(given):
        known = scenarios()
        if given in known:
            return known[given]
        if not Path(given).exists():
            raise usage(
                f"--scenario {given}: there is no such file, and no scenario is called that"
                f" (emulator scenarios lists them){did_you_mean(given, known)}"
            )
    return read_input(Path(given), "--scenario")


def _claim(stack: ExitStack, data_dir: Path) -> None:
    """Claim the data directory for this process. Raises Exit(2)."""
    try:
        stack.enter_context(claimed(data_dir))
    except ValueError as error:
        raise usage(f"--data-dir {error}; name another directory") from None
    except OSError as error:
        raise usage(f"--data-dir {data_dir}: {error.strerror}; name another directory") from None


def _directory(stack: ExitStack, data_dir: Path | None) -> Path:
    """Return the data directory, or one that is removed at the end."""
    if data_dir is not None:
        return data_dir
    return Path(stack.enter_context(TemporaryDirectory(prefix="kafka-emulator-")))


def _cluster_options(options: Options) -> ClusterOptions:
    """Return the options of the cluster. Raises Exit(2) for a dialect that the release can't
    speak."""
    settings = replace(
        Settings(),
        session_timeout=options.broker_session_timeout_ms / 1000,
        replica_lag_time_max=options.replica_lag_time_max_ms / 1000,
    )
    try:
        return ClusterOptions(
            brokers=_BROKERS if options.brokers is None else options.brokers,
            log_directories=options.log_directories or 1,
            release=options.release.value,
            data_dir=options.data_dir,
            dialect=options.dialect,
            settings=settings,
        )
    except ValueError as error:
        raise usage(f"--{error}; name another release or dialect") from None


def _start(stack: ExitStack, cluster: Cluster) -> Cluster:
    """Start the cluster. Raises Exit(2)."""
    try:
        return stack.enter_context(cluster)
    except ValueError as error:
        raise usage(f"--data-dir {error}; start it as it was, or name another") from None


@dataclass(slots=True)
class _Desk:
    """The desk answers commands of ctl. Until all brokers are up and the scenario is over, only
    commands that look are answered."""

    cluster: Cluster
    ready: bool = False

    def answer(self, line: str) -> str:
        """Carry out a command and return its answer. Raises BadCommand."""
        command = parse_line(line)
        if command is None:
            return ""
        if not self.ready and not (command.name in _LOOKING and self.cluster.opened):
            raise NotDone(f"{command.name}: the emulator is starting{self._how_far()}")
        return execute(self.cluster, command)

    def _how_far(self) -> str:
        if not self.cluster.opened:
            return ", and reads its metadata"
        brokers = self.cluster.status().brokers
        running = sum(each.process == "running" for each in brokers)
        return f": {running} of {len(brokers)} brokers are up; status is answered already"


def _rehearse(cluster: Cluster, scenario: Scenario, signals: _Signals) -> int | None:
    """Carry out the scenario, and return the number of a signal that came meanwhile. Raises Exit(1)
    and Exit(2).

    The scenario runs in a thread of its own: a command may wait for long, and a signal must not
    wait for the command.
    """
    failed: list[BadCommand] = []

    def rehearse() -> None:
        try:
            run(cluster, scenario)
        except BadCommand as error:
            failed.append(error)

    thread = threading.Thread(target=rehearse, daemon=True)
    thread.start()
    while thread.is_alive():
        if (number := signals.wait(_SOON)) is not None:
            return number
    if failed:
        code = NOT_ALL if isinstance(failed[0], NotDone) else USAGE
        raise Exit(code, f"--scenario {failed[0]}")
    return signals.wait(0)


class _Signals:
    """The first signal that asks to stop is kept; a second one ends the process at once."""

    def __init__(self, readable: int) -> None:
        self._readable = readable

    def wait(self, seconds: float | None) -> int | None:
        """Return the number of the signal, None when none came. seconds: None waits without
        limit."""
        found, _, _ = select.select([self._readable], [], [], seconds)
        return os.read(self._readable, 1)[0] if found else None


@contextmanager
def _signals() -> Iterator[_Signals]:
    readable, writable = os.pipe()
    os.set_blocking(writable, False)
    signal.set_wakeup_fd(writable)
    request = StopRequest()

    def receive(number: int) -> None:
        if request.receive(number):
            os._exit(128 + number)

    try:
        with taken(receive):
            yield _Signals(readable)
    finally:
        signal.set_wakeup_fd(-1)
        os.close(readable)
        os.close(writable)
