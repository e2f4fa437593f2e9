"""The batch that makes a dynamic quorum elect a new voter, byte for byte."""

from __future__ import annotations

import pytest

from kafka_unclean_recovery.log_dir.metadata.batches import MetadataFile, read_batches
from kafka_unclean_recovery.log_dir.metadata.records import decode_control_record
from kafka_unclean_recovery.metadata_quorum.control_batch import forced_batch
from kafka_unclean_recovery.metadata_quorum.copies import Listener, Voter

DIRECTORY = "6137351b-5092-4099-b3a0-7d19c4ac9f2e"
VOTER = Voter(3, DIRECTORY, (Listener("CONTROLLER", "127.0.0.1", 29003),))
# It made a controller of Kafka 4.3.1 lead.
TRIED = """
0000000000000068 00000092 000003e9 02 a9a21011 0020 00000001 0000018bcfe56800 0000018bcfe56800
ffffffffffffffff ffff ffffffff 00000002 3a 00 00 00 08 00000002 26 0000 00000003 02 00000003 00 02
00000003 00 00 00 8201 00 00 02 08 00000006 6e 0000 02 00000003 6137351b50924099b3a07d19c4ac9f2e 02
0b 434f4e54524f4c4c4552 0a 3132372e302e302e31 714b 00 0000 0001 00 00 00 00
"""


def test_it_is_what_a_real_controller_took() -> None:
    found = forced_batch(VOTER, 104, 1001, 0x18BCFE56800)
    assert found == bytes.fromhex("".join(TRIED.split()))


def test_our_reader_finds_the_voter_in_it() -> None:
    data = forced_batch(VOTER, 104, 1001, 0x18BCFE56800)
    (batch,) = read_batches(MetadataFile.of("a.log", data))
    change, voters = (decode_control_record(r.key or b"", r.value or b"") for r in batch.records())
    assert (batch.base_offset, batch.end_offset, batch.leader_epoch) == (104, 106, 1001)
    # A later version of it kills Kafka 4.3.1.
    assert (change.name, change.version) == ("LeaderChangeMessage", 0)
    (voter,) = voters.fields["voters"]  # type: ignore[union-attr]
    assert (voter["voter_id"], str(voter["voter_directory_id"])) == (3, DIRECTORY)
    assert voter["endpoints"] == ({"name": "CONTROLLER", "host": "127.0.0.1", "port": 29003},)


def test_a_voter_without_a_directory_id_is_none_of_a_dynamic_quorum() -> None:
    with pytest.raises(ValueError, match="directory id"):
        forced_batch(Voter(3, None), 0, 1, 0)
