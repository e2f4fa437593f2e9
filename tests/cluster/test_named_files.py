"""Files that a client file names may be pipes; what never ends is given up."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

import pytest

from kafka_unclean_recovery.cluster.config.key_stores import pem_blocks
from kafka_unclean_recovery.cluster.config.named_files import LARGEST_BYTES, read_text
from kafka_unclean_recovery.cluster.config.security import load_client_config
from kafka_unclean_recovery.errors import ConfigError


def test_a_pipe_that_nobody_writes_or_closes_is_given_up(tmp_path: Path) -> None:
    fifo = tmp_path / "client.properties"
    os.mkfifo(fifo)
    end, other_end = os.pipe()
    os.write(other_end, b"client.id=")
    for path in (str(fifo), f"/dev/fd/{end}"):
        with pytest.raises(ConfigError) as caught:
            read_text(path, "--command-config", "command line", seconds=0.1)
        assert str(caught.value) == (
            f"command line: --command-config names {path!r}, whose end did not come within 0.1 s:"
            " if it is a FIFO, have a process write it all and close it"
        )
    # Lets those go that still read.
    fifo.open("w").close()
    os.close(other_end)
    os.close(end)


def test_a_slow_writer_is_waited_for() -> None:
    """As in --command-config <(vault ...)."""
    end, other_end = os.pipe()

    def write_slowly() -> None:
        with os.fdopen(other_end, "w") as pipe:
            for part in ("client.id", "=of the", " vault\n"):
                time.sleep(0.05)
                pipe.write(part)
                pipe.flush()

    writer = threading.Thread(target=write_slowly)
    writer.start()
    try:
        assert load_client_config(f"/dev/fd/{end}").client_id == "of the vault"
    finally:
        writer.join()
        os.close(end)


def test_a_file_that_is_far_too_large_is_not_read(tmp_path: Path) -> None:
    large = tmp_path / "client.properties"
    with large.open("wb") as file:
        file.truncate(4 << 30)
    for path in (str(large), "/dev/zero"):
        with pytest.raises(ConfigError, match="more than 1048576 bytes"):
            load_client_config(path)


def test_the_largest_files_of_odd_characters_are_read_in_no_time(tmp_path: Path) -> None:
    """What is quadratic takes minutes here."""
    path = tmp_path / "client.properties"
    for filling in ("\0", "a\\\n", "\\", "a=b\n"):
        path.write_text((filling * LARGEST_BYTES)[:LARGEST_BYTES])
        begun = time.process_time()
        load_client_config(str(path))
        assert time.process_time() - begun < 10
    begun = time.process_time()
    assert pem_blocks("-----BEGIN A-----" * (LARGEST_BYTES // 17)) == []
    assert time.process_time() - begun < 10
