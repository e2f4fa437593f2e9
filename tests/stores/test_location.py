"""Where a user says that a log directory is, and what is never repeated of it."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

import pytest

from kafka_unclean_recovery.errors import InputError
from kafka_unclean_recovery.log_dir.local_folder import LocalLocation
from kafka_unclean_recovery.log_dir.tree import Unreadable
from kafka_unclean_recovery.stores.connection import connected
from kafka_unclean_recovery.stores.location import StoreLocation, address_of, location_of
from kafka_unclean_recovery.stores.messages import why
from kafka_unclean_recovery.stores.store_options import StoreOptions

OPTIONS = StoreOptions("https://store.example:9000/", None)


@pytest.mark.parametrize(
    ("root", "uri"),
    [
        ("s3://disks", "s3://disks"),
        ("s3a://disks/", "s3://disks"),
        ("S3://disks/a/b//", "s3://disks/a/b"),
        ("s3://disks/50%25 # é", "s3://disks/50%25 # é"),
        ("gs://disks/a", "gs://disks/a"),
        (
            "abfss://disks@account.dfs.core.windows.net/a",
            "abfs://disks@account.dfs.core.windows.net/a",
        ),
    ],
)
def test_a_store_is_named_by_its_uri(root: str, uri: str) -> None:
    location = location_of(root, OPTIONS)
    assert location == StoreLocation(uri, OPTIONS)
    assert str(location / "broker-1") == f"{uri}/broker-1"


@pytest.mark.parametrize(
    ("root", "path"),
    [
        ("/disks/1", "/disks/1"),
        ("disks/a:b", "disks/a:b"),
        ("file:///disks/1%20a", "/disks/1 a"),
        ("file:///disks/%FF", os.fsdecode(b"/disks/\xff")),
    ],
)
def test_a_path_is_of_this_machine(root: str, path: str) -> None:
    assert location_of(root, OPTIONS) == LocalLocation(Path(path))


@pytest.mark.parametrize(
    ("root", "why"),
    [
        ("s3://AKIA:hunter2@disks/a", "looks like this: s3://BUCKET/PREFIX; credentials don't"),
        ("s3://hunter2@disks/a", "credentials don't belong there"),
        ("abfs://c:hunter2@a.dfs.core.windows.net/a", "credentials don't belong there"),
        ("hdfs://u:hunter2@host:8020/a", "credentials don't belong there"),
        ("s3://disks/a?secret_key=hunter2", "s3://disks: a \\? in the URI"),
        ("gs:///a", "gs://BUCKET/PREFIX"),
        ("s3://disks/a/../b", "lead nowhere in a store"),
        ("s3://disks/a//b", "lead nowhere in a store"),
        ("ftp://u:hunter2@host/a", "ftp:// is no store that is known here: abfs, file, gs, hdfs"),
        ("file://host/a", "file:///PATH"),
    ],
)
def test_what_is_no_location_is_refused_and_no_secret_repeated(root: str, why: str) -> None:
    with pytest.raises(InputError, match=why) as refused:
        location_of(root)
    assert "hunter2" not in str(refused.value)


@pytest.mark.parametrize(
    ("root", "options", "why"),
    [
        ("s3://disks", StoreOptions("http://u:hunter2@host"), "https://HOST:PORT"),
        ("s3://disks", StoreOptions("host:9000"), "https://HOST:PORT"),
        ("gs://disks", StoreOptions(region="here"), "gs:// has no region"),
        ("hdfs://host:8020/a", StoreOptions("http://host"), "hdfs:// has no endpoint"),
    ],
)
def test_options_that_mean_nothing_there_are_refused(
    root: str, options: StoreOptions, why: str
) -> None:
    with pytest.raises(InputError, match=why) as refused:
        location_of(root, options)
    assert "hunter2" not in str(refused.value)


@pytest.mark.parametrize(
    "location",
    [
        StoreLocation("s3://disks/a \x07", OPTIONS),
        LocalLocation(Path("/disks/ä b%41")),
        LocalLocation(Path(os.fsdecode(b"/disks/\xff"))),
    ],
)
def test_a_location_travels(location: StoreLocation | LocalLocation) -> None:
    assert pickle.loads(pickle.dumps(location)) == location
    address = address_of(location)
    told = json.dumps([address, asdict(OPTIONS)], ensure_ascii=False).encode()
    uri, options = json.loads(told)
    assert location_of(uri, StoreOptions(**options)) == location


def test_a_name_below_stays_below() -> None:
    for name in ("", ".", "..", "a/b"):
        with pytest.raises(Unreadable, match="no name in a store"):
            StoreLocation("s3://disks/a") / name


def test_locations_are_had_without_pyarrow() -> None:
    code = (
        "import sys; from kafka_unclean_recovery.stores.location import location_of;"
        "location_of('s3://disks'); sys.exit('pyarrow' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_hdfs_without_its_library_says_what_is_missing() -> None:
    """In a process of its own: the path of the library is remembered."""
    code = (
        "from kafka_unclean_recovery.stores.location import location_of\n"
        "with location_of('hdfs://127.0.0.1:9/a').open(): pass"
    )
    nowhere = {"ARROW_LIBHDFS_DIR": "/nowhere", "HADOOP_HOME": "/nowhere", "JAVA_HOME": "/nowhere"}
    done = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, **nowhere}, capture_output=True, text=True
    )
    assert "Unreadable: hdfs: " in done.stderr
    assert "hdfs needs Hadoop's libhdfs.so" in done.stderr


def test_one_client_a_process_and_store() -> None:
    options = StoreOptions("http://127.0.0.1:9", "here")
    first, path = connected("s3", "disks", options)
    assert path == "disks"
    assert connected("s3", "disks", options)[0] is first
    assert connected("s3", "disks", StoreOptions("http://127.0.0.1:8", "here"))[0] is not first


@pytest.mark.parametrize(
    "said",
    [
        "GET https://disks/a?X-Amz-Signature=hunter2&x=1 failed",
        "https://x/a?sv=1&sig=hunter2",
        "account_key: hunter2; no",
        'Authorization token = "hunter2"',
        "http://user:hunter2@host/a",
        "x-amz-security-token: hunter2\r\nbad",
        "Authorization: Bearer hunter2",
    ],
)
def test_what_a_store_says_is_repeated_without_secrets(said: str) -> None:
    assert "hunter2" not in why(OSError(said))
    assert why(OSError(said)).isprintable()


def test_what_a_store_says_is_kept_short() -> None:
    assert len(why(OSError("x" * 10_000))) < 500
    assert why(OSError("key 'a\x1b[2J' of orders-token-0")) == "key 'a\\x1b[2J' of orders-token-0"
