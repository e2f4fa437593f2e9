"""The one file of `make binary`, in a root that holds nothing but it: no Python, libc or shell."""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from kafka_unclean_recovery import __version__
from tests.dist_scripts import BUILD_TIMEOUT, make
from tests.real import security
from tests.real.bare_root import BARE, PROGRAM, RUN_TIMEOUT, Root
from tests.real.cache import quick_scratch
from tests.real.cluster import KafkaCluster
from tests.real.faults import Trouble
from tests.real.outages import Outage, last_replica_standing
from tests.real.recipes import TOPIC
from tests.real.sharing import SharedClusters
from tests.real.tap import ELECT_LEADERS, Gate
from tests.real.tls import TlsEnds
from tests.real.waiting import wait_until
from tests.real.watching import Watched, journal_lines, open_orders, outcomes, steps_noted
from tests.real.witnesses import replica_orders, wait_until_led

ROOT = Path(__file__).parents[2]
BEST = 3
# As long as the name that brokers tell, which it takes the place of.
HOST = "kafka.lan"
VARIABLE = "UNPACK_KAFKA_UNCLEAN_RECOVERY_TO"

pytestmark = pytest.mark.skipif(
    os.geteuid() != 0, reason="chroot and mount need root: run the tests as root"
)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the directory with what `make binary` makes."""
    directory = tmp_path_factory.mktemp("dist")
    make("binary", directory)
    return directory


@pytest.fixture
def root(built: Path, tmp_path: Path) -> Root:
    path = tmp_path / "root"
    for name in ("proc", "tmp", "etc"):
        (path / name).mkdir(parents=True)
    (path / "etc" / "hosts").write_text(f"127.0.0.1 localhost brokers.example {HOST}\n")
    os.link(_binary(built), path / PROGRAM.lstrip("/"))
    (path / "kafka-elect-leaders").symlink_to(PROGRAM.lstrip("/"))
    return Root(path)


def _binary(built: Path) -> Path:
    (found,) = built.glob(f"kafka-unclean-recovery-{__version__}-linux-{os.uname().machine}")
    return found


def test_beside_the_file_lie_its_checksum_and_the_list_of_what_is_inside(built: Path) -> None:
    binary = _binary(built)
    digest, name = binary.with_name(f"{binary.name}.sha256").read_text().split()
    assert (digest, name) == (hashlib.sha256(binary.read_bytes()).hexdigest(), binary.name)
    inside = json.loads(binary.with_name(f"{binary.name}.cdx.json").read_text())
    names = {component["name"] for component in inside["components"]}
    assert {"kafka-unclean-recovery", "kafka-python", "msgspec", "cryptography"} <= names


@pytest.mark.timeout(2 * BUILD_TIMEOUT + RUN_TIMEOUT)
def test_built_once_more_elsewhere_it_has_the_same_bytes(built: Path, tmp_path: Path) -> None:
    """In memory, where directories are read in another order than on a disk."""
    with quick_scratch(tmp_path) as scratch:
        done = subprocess.run(
            [sys.executable, str(ROOT / ".ci" / "dist" / "rebuild.py"), str(built)],
            capture_output=True,
            text=True,
            timeout=BUILD_TIMEOUT,
            check=False,
            env={**os.environ, "TMPDIR": str(scratch)},
        )
    assert (done.returncode, done.stdout) == (
        0,
        "kafka-unclean-recovery: a second build has the same bytes\n",
    ), done.stderr


def test_it_is_both_commands_by_its_name_and_by_a_word(root: Root) -> None:
    assert root.run(PROGRAM, "--version").stdout == f"kafka-unclean-recovery {__version__}\n"
    election = f"kafka-elect-leaders {__version__}\n"
    assert root.run("/kafka-elect-leaders", "--version").stdout == election
    assert root.run(PROGRAM, "elect-leaders", "--version").stdout == election
    (program,) = root.unpacked()
    assert list((program.parent / "_internal" / "licences").iterdir())


def test_it_unpacks_once(root: Root) -> None:
    root.run(PROGRAM, "--version")
    (program,) = root.unpacked()
    before = program.stat()
    root.run(PROGRAM, "--version")
    assert program.stat().st_ctime_ns == before.st_ctime_ns
    assert root.unpacked() == [program]


def test_two_first_runs_at_once_both_succeed(root: Root) -> None:
    runs = [
        subprocess.Popen(root.command(PROGRAM, "--version"), stdout=subprocess.PIPE, env=BARE)
        for _ in range(4)
    ]
    assert {run.communicate(timeout=RUN_TIMEOUT)[0] for run in runs} == {
        f"kafka-unclean-recovery {__version__}\n".encode()
    }
    assert len(root.unpacked()) == 1
    assert not list((root.path / "tmp").glob("*/.unpacking-*"))


def test_a_directory_mounted_noexec_is_passed_over(root: Root) -> None:
    (root.path / "var" / "tmp").mkdir(parents=True)
    done = root.run(PROGRAM, "--version", mounts=root.noexec("/tmp"))
    assert (done.returncode, done.stderr) == (0, "")


def test_where_nothing_can_be_run_it_names_the_variable_to_set(root: Root) -> None:
    mounts = root.noexec("/tmp", "/var/tmp", "/dev/shm")
    done = root.run(PROGRAM, "--version", mounts=mounts)
    assert done.returncode == 1
    assert "/tmp/kafka-unclean-recovery-0: it is mounted noexec" in done.stderr
    assert f"set {VARIABLE} to a directory" in done.stderr
    done = root.run(PROGRAM, "--version", mounts=mounts, variables={VARIABLE: "/opt"})
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (lambda place: place.chmod(0o777), "others can write to"),
        (lambda place: os.chown(place, 12345, 0), "belongs to another user"),
    ],
    ids=["writable", "foreign"],
)
def test_a_directory_that_others_can_write_to_is_refused(
    root: Root, spoil: Callable[[Path], None], why: str
) -> None:
    place = root.path / "opt"
    place.mkdir()
    spoil(place)
    done = root.run(PROGRAM, "--version", variables={VARIABLE: "/opt"})
    assert done.returncode == 1
    assert why in done.stderr
    assert not list(place.iterdir())


def test_a_link_in_place_of_the_directory_is_refused(root: Root) -> None:
    (root.path / "elsewhere").mkdir()
    (root.path / "opt").symlink_to("elsewhere")
    done = root.run(PROGRAM, "--version", variables={VARIABLE: "/opt"})
    assert done.returncode == 1
    assert "/opt: it is a link" in done.stderr


def test_what_a_killed_first_run_left_is_removed_later(root: Root) -> None:
    place = root.path / "opt"
    old, new = place / ".unpacking-1", place / ".unpacking-2"
    for left in (old, new):
        left.mkdir(parents=True)
    os.utime(old, (0, 0))
    place.chmod(0o700)
    done = root.run(PROGRAM, "--version", variables={VARIABLE: "/opt"})
    assert (done.returncode, done.stderr) == (0, "")
    assert (old.exists(), new.exists()) == (False, True)


def test_what_the_loader_of_the_host_is_told_is_not_for_its_own(
    built: Path, tmp_path: Path
) -> None:
    told = {"LD_PRELOAD": "/nothing.so", "LD_LIBRARY_PATH": "/lib", VARIABLE: str(tmp_path)}
    command = [str(_binary(built)), "--version"]
    done = subprocess.run(
        command, capture_output=True, text=True, env=told, timeout=RUN_TIMEOUT, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_without_proc_it_says_what_is_missing(root: Root) -> None:
    done = root.run(PROGRAM, "--version", mounts=[f"umount {root.path}/proc"])
    assert (done.returncode, done.stderr) == (
        1,
        "kafka-unclean-recovery: /proc is not mounted here: mount it first\n",
    )


def test_it_recovers_a_real_outage(root: Root, restored: Callable[[Outage], KafkaCluster]) -> None:
    cluster = restored(last_replica_standing())
    orders = replica_orders(cluster, TOPIC)
    _, _, port = cluster.address(BEST).rpartition(":")
    server = ("--bootstrap-server", f"brokers.example:{port}")
    flags = ("--all-offline-partitions", "--automated-recovery", "--yes", "--format", "json")
    done = root.run(PROGRAM, *server, *flags)
    assert (done.returncode, done.stderr) == (0, "")
    outcomes = {row["outcome"] for row in json.loads(done.stdout)["partitions"]}
    assert outcomes == {"elected"}
    wait_until_led(cluster, TOPIC, BEST, orders)


def test_it_speaks_tls_with_a_login(root: Root, shared_clusters: SharedClusters) -> None:
    cluster = shared_clusters.plain(brokers=1, secured=True)
    done = root.run(
        PROGRAM,
        *("--bootstrap-server", cluster.address(cluster.live_brokers[0])),
        *("--command-config", _login(root, cluster)),
        *("--all-offline-partitions", "--show-replica-info"),
    )
    assert (done.returncode, done.stderr) == (0, "")


def _login(root: Root, cluster: KafkaCluster, authority: Path | None = None) -> str:
    """Write a client's properties into the root; return where the program finds them."""
    settings = security.client_properties(cluster.directory, security.SUPER_USER, "SCRAM-SHA-512")
    trusted = authority or Path(settings["ssl.truststore.location"])
    (root.path / "ca.pem").write_bytes(trusted.read_bytes())
    settings |= {"ssl.truststore.location": "/ca.pem"}
    text = "".join(f"{key}={value}\n" for key, value in settings.items())
    (root.path / "client.properties").write_text(text)
    return "/client.properties"


def test_a_signal_during_an_election_over_tls_lets_it_finish_and_the_next_run_goes_on(
    root: Root, guarded: Trouble, tmp_path: Path
) -> None:
    """All it has are /proc, /dev/null, /tmp, the resolver's files, and its own."""
    troubled = guarded
    first, *others = partitions = troubled.take(3)
    before = troubled.orders(partitions)
    tls = TlsEnds.made(tmp_path, HOST, troubled.cluster.directory / "ca.pem")
    flags = [
        *("--command-config", _login(root, troubled.cluster, tls.authority)),
        *("--path-to-json-file", _wanted(root, partitions)),
        *("--automated-recovery", "--yes", "--canary", "1", "--format", "json"),
    ]
    gate = Gate(ELECT_LEADERS, answer=True)
    with troubled.tapped(BEST, gate, tls=tls) as address:
        words = (PROGRAM, "--bootstrap-server", address, *flags)
        run = _watched(root, tmp_path, *words)
        try:
            gate.wait(lambda: run.stderr)
            (journal,) = root.journals()
            assert open_orders(journal) == {first}
            run.signal(signal.SIGTERM)
            run.wait_for("stopping: the step in hand is finished first")
            assert run.process.poll() is None
            gate.open()
            stopped = run.finish()
        finally:
            run.close()
        assert stopped.code == 143, stopped.stderr
        steps = ["wave", "reorder", "elect", "restored", "outcome"]
        assert steps_noted(journal_lines(journal)) == ["begin", "consent", *steps, "end"]
        assert open_orders(journal) == set()
        not_begun = ("failed", "interrupted before its election began")
        assert outcomes(stopped, TOPIC) == {
            first: ("elected", None),
            **dict.fromkeys(others, not_begun),
        }
        troubled.wait_for_leader([first], BEST)
        troubled.wait_for_orders(before)
        assert troubled.leaders(others) == {-1}

        done = root.run(*words)
    assert done.returncode == 0, done.stderr
    rows = {row["partition"]: row["outcome"] for row in json.loads(done.stdout)["partitions"]}
    assert rows == {first: "already_online", **dict.fromkeys(others, "elected")}
    troubled.wait_for_leader(partitions, BEST)
    troubled.wait_for_orders(before)


def _wanted(root: Root, partitions: list[int]) -> str:
    wanted = {"partitions": [{"topic": TOPIC, "partitions": partitions}]}
    (root.path / "wanted.json").write_text(json.dumps(wanted))
    return "/wanted.json"


def _watched(root: Root, home: Path, *words: str) -> Watched:
    null = root.path / "dev" / "null"
    null.parent.mkdir()
    null.touch()
    mounts = [f"mount --bind /dev/null {shlex.quote(str(null))}"]
    bare = ["env", "--ignore-environment", *(f"{key}={value}" for key, value in BARE.items())]
    return Watched([*bare, *root.command(*words, mounts=mounts)], home, "tool", False, True)


def test_it_scans_the_disk_of_a_killed_broker_with_several_processes(
    root: Root, restored: Callable[[Outage], KafkaCluster]
) -> None:
    cluster = restored(last_replica_standing())
    cluster.kill(BEST)
    disk = root.path / "disk"
    disk.mkdir()
    (root.path / "dev" / "shm").mkdir(parents=True)
    mounts = [
        f"mount --bind {shlex.quote(str(cluster.log_dir(BEST)))} {disk}",
        f"mount -t tmpfs none {root.path}/dev/shm",
    ]
    words = ("scan-log-dirs", "/disk", "--mode", "deep", "--workers", "2", "--format", "json")
    done = root.run(PROGRAM, *words, mounts=mounts)
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)["partitions"]
    assert {row["partition"] for row in found if row["topic"] == TOPIC} == set(range(24))


def test_it_ends_by_a_signal_as_the_command_does(root: Root) -> None:
    words = ("emulator", "--scenario", "stale-tail")
    with subprocess.Popen(
        root.command(PROGRAM, *words), stdout=subprocess.PIPE, stdin=subprocess.PIPE, env=BARE
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline()
        process.send_signal(signal.SIGTERM)
        wait_until(lambda: process.poll() is not None, RUN_TIMEOUT, lambda: "it runs on")
    assert process.returncode == 0
