"""Stores that answer late, too little, or not at all cost time and rows, never a wrong end."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from kafka_unclean_recovery.errors import InputError
from kafka_unclean_recovery.log_dir.local_folder import LocalLocation
from kafka_unclean_recovery.log_dir.scan import scan_log_directories
from kafka_unclean_recovery.log_dir.tree import Unreadable
from kafka_unclean_recovery.mechanisms import ScanMode
from kafka_unclean_recovery.stores.location import StoreLocation, location_of
from kafka_unclean_recovery.stores.store_folder import StoreFile
from kafka_unclean_recovery.stores.store_options import StoreOptions
from tests.log_dir import replica_directories as disks
from tests.stores.conftest import SECRET, Upload
from tests.stores.faulty_proxy import DENIED, SLOW_DOWN, Answer, Asked, Instead, Proxy, xml
from tests.stores.trees import LOGS, rows, scanned

ORDERS, USERS = LOGS[:2]
SEGMENT = ORDERS.segments[2].name
PATH = f"ROOT/broker/{ORDERS.directory}"


@pytest.fixture
def disk(tmp_path: Path) -> Path:
    disks.write_log_directory(tmp_path / "broker", 1, (ORDERS, USERS))
    return tmp_path


def in_orders(asked: Asked) -> bool:
    return f"/{ORDERS.directory}/" in asked.key


def body_of_segment(asked: Asked) -> bool:
    return in_orders(asked) and asked.method == "GET" and asked.key.endswith(SEGMENT)


def only_orders_failed(found: dict[str, object], disk: Path, *reasons: str) -> None:
    """Check that its row says why and no more, and all else is as on the disk."""
    on_disk = scanned(LocalLocation(disk), ScanMode.DEEP)
    row, others = rows(found), rows(on_disk)
    problem = row[PATH].pop("problem")
    assert any(reason in problem for reason in reasons), problem
    assert SECRET not in problem
    assert row[PATH]["log_end_offset"] is None
    assert row[PATH]["last_written_leader_epoch"] is None
    del row[PATH], others[PATH]
    assert row == others
    assert others


@pytest.mark.parametrize(
    ("count", "wanted"),
    [
        (2, body_of_segment),
        (1, lambda asked: asked.listing),
        (1, lambda asked: asked.method == "HEAD"),
    ],
    ids=["body", "list", "head"],
)
def test_who_is_told_to_slow_down_tries_again(
    count: int, wanted: Callable[[Asked], bool], disk: Path, upload: Upload, proxy: Proxy
) -> None:
    location = upload(disk, "slow")
    proxy.fault = amiss = Instead(wanted, xml(503, SLOW_DOWN), count)
    assert scanned(location, ScanMode.DEEP) == scanned(LocalLocation(disk), ScanMode.DEEP)
    assert amiss.left == 0


def test_a_store_that_is_busy_for_good_costs_a_row(
    disk: Path, upload: Upload, proxy: Proxy
) -> None:
    location = upload(disk, "busy")
    proxy.fault = Instead(in_orders, xml(503, SLOW_DOWN))
    begun = time.monotonic()
    found = scanned(location, ScanMode.DEEP)
    assert time.monotonic() - begun < 20
    only_orders_failed(found, disk, "SLOW_DOWN")
    assert proxy.count(f"busy/broker/{ORDERS.directory}")["LIST"] == location.options.attempts


def cut(share: float, *, honest: bool) -> Callable[[Asked, Callable[[], Answer]], Answer]:
    """Return what ends bodies of the segment early; `honest`: the header says how long they are."""

    def fault(asked: Asked, pass_on: Callable[[], Answer]) -> Answer:
        answer = pass_on()
        if not body_of_segment(asked):
            return answer
        content = answer.content[: int(len(answer.content) * share)]
        length = len(content) if honest else len(answer.content)
        return replace(answer, content=content, length=length)

    return fault


@pytest.mark.parametrize("honest", [True, False])
@pytest.mark.parametrize("share", [0.0, 0.5])
def test_a_body_that_is_cut_off_is_no_end_of_a_log(
    honest: bool, share: float, disk: Path, upload: Upload, proxy: Proxy
) -> None:
    location = upload(disk, f"cut-{honest}-{share}")
    location = replace(location, options=replace(location.options, attempts=2))
    proxy.fault = cut(share, honest=honest)
    begun = time.monotonic()
    found = scanned(location, ScanMode.DEEP)
    assert time.monotonic() - begun < 30
    only_orders_failed(found, disk, f"{SEGMENT}: byte 0: ")


def test_a_body_that_is_cut_off_once_is_asked_for_again(
    disk: Path, upload: Upload, proxy: Proxy
) -> None:
    location = upload(disk, "once")
    short = cut(0.5, honest=True)
    served = 0

    def fault(asked: Asked, pass_on: Callable[[], Answer]) -> Answer:
        nonlocal served
        served += body_of_segment(asked)
        return short(asked, pass_on) if served == 1 else pass_on()

    proxy.fault = fault
    assert scanned(location, ScanMode.DEEP) == scanned(LocalLocation(disk), ScanMode.DEEP)
    assert served == 2


def test_a_body_that_lacks_a_byte_lacks_something(
    upload: Upload, tmp_path: Path, proxy: Proxy
) -> None:
    """Whatever its last byte is, and whatever memory holds."""
    (tmp_path / "x").write_bytes(bytes(range(256)))
    location = upload(tmp_path, "byte")
    missing = 0

    def fault(asked: Asked, pass_on: Callable[[], Answer]) -> Answer:
        answer = pass_on()
        content = answer.content[: len(answer.content) - missing]
        return replace(answer, content=content, length=len(content))

    with location.open() as folder:
        for length in (0xA6, 0x5B, 0x40):
            with folder.opened("x") as file:
                assert isinstance(file, StoreFile)
                fetch = file.ahead.fetch
                missing = 0
                proxy.fault = fault
                assert fetch(0, length) == bytes(range(length))
                missing = 1
                with pytest.raises(Unreadable, match=f"x: byte 0: less than {length} bytes came"):
                    fetch(0, length)
                proxy.fault = None


@pytest.mark.parametrize("size", [0, 100, 10**6])
def test_an_object_that_changed_after_it_was_listed_is_not_read(
    size: int, disk: Path, upload: Upload, proxy: Proxy, bucket: Callable[[str, bytes], None]
) -> None:
    location = upload(disk, f"changed-{size}")
    key = f"changed-{size}/broker/{ORDERS.directory}/{SEGMENT}"

    def fault(asked: Asked, pass_on: Callable[[], Answer]) -> Answer:
        if asked.method == "HEAD" and asked.key == key:
            bucket(key, bytes(size))
        return pass_on()

    proxy.fault = fault
    found = scanned(location, ScanMode.DEEP)
    only_orders_failed(found, disk, f"{SEGMENT}: it has {size} bytes, and was listed with")


def test_a_store_that_hangs_is_left(disk: Path, upload: Upload, proxy: Proxy) -> None:
    location = upload(disk, "hang")
    location = replace(location, options=replace(location.options, attempts=2, timeout_seconds=1))

    def fault(asked: Asked, pass_on: Callable[[], Answer]) -> Answer | None:
        if not body_of_segment(asked):
            return pass_on()
        proxy.closing.wait(60)
        return None

    proxy.fault = fault
    begun = time.monotonic()
    found = scanned(location, ScanMode.DEEP)
    assert time.monotonic() - begun < 20
    only_orders_failed(found, disk, "NETWORK_CONNECTION", "Timeout", "timed out")
    proxy.closing.set()


def test_what_may_not_be_read_is_a_row(disk: Path, upload: Upload, proxy: Proxy) -> None:
    location = upload(disk, "denied")
    proxy.fault = Instead(in_orders, xml(403, DENIED))
    only_orders_failed(scanned(location, ScanMode.DEEP), disk, "ACCESS_DENIED", "Access Denied")


def test_a_store_that_denies_everything_is_named(proxy: Proxy, options: StoreOptions) -> None:
    proxy.fault = Instead(lambda _: True, xml(403, DENIED))
    with pytest.raises(InputError) as denied:
        scan_log_directories([location_of("s3://disks/denied", options)], ScanMode.FAST)
    assert "s3://disks/denied: no log directory here" in str(denied.value)
    assert "ACCESS_DENIED" in str(denied.value)
    assert SECRET not in str(denied.value)


@pytest.mark.parametrize(
    ("uri", "why"),
    [
        ("s3://disks/nothing-here", "nothing lies there"),
        ("s3://no-such-bucket/x", "NO_SUCH_BUCKET"),
    ],
)
def test_what_is_not_there_is_named(
    uri: str, why: str, options: StoreOptions, bucket: object
) -> None:
    with pytest.raises(InputError, match=f"{uri}: no log directory here.*{why}"):
        scan_log_directories([location_of(uri, options)], ScanMode.FAST)


def test_nobody_listens_there() -> None:
    options = StoreOptions("http://127.0.0.1:9", "us-east-1", attempts=2, timeout_seconds=1)
    begun = time.monotonic()
    with pytest.raises(InputError, match="s3://disks/x: no log directory here"):
        scan_log_directories([StoreLocation("s3://disks/x", options)], ScanMode.FAST)
    assert time.monotonic() - begun < 20


@pytest.mark.parametrize("share", [0.0, 0.5, 0.99])
def test_a_listing_that_is_cut_off_is_no_listing(
    share: float, disk: Path, upload: Upload, proxy: Proxy
) -> None:
    location = upload(disk, f"listing-{share}")

    def fault(asked: Asked, pass_on: Callable[[], Answer]) -> Answer:
        answer = pass_on()
        if not asked.listing or not in_orders(asked):
            return answer
        content = answer.content[: int(len(answer.content) * share)]
        return replace(answer, content=content, length=len(content))

    proxy.fault = fault
    only_orders_failed(scanned(location, ScanMode.DEEP), disk, "nothing lies there", "XML_ERROR")
