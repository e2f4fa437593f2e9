"""The directory that `quorum seed` writes: whole, or not there."""

from __future__ import annotations

import hashlib
import json
import os
import random
import resource
import signal
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from kafka_unclean_recovery.cli.terms import user_name
from kafka_unclean_recovery.documents.approval import Approval, approval_json
from kafka_unclean_recovery.documents.quorum import QuorumPlanJson, read_quorum_plan
from kafka_unclean_recovery.log_dir.local_folder import LocalLocation
from kafka_unclean_recovery.log_dir.small_files.properties_files import parse_meta_properties
from kafka_unclean_recovery.metadata_quorum.copies import Copy, read_copy
from kafka_unclean_recovery.metadata_quorum.places import CopyPlace
from kafka_unclean_recovery.metadata_quorum.seed import SeedRefused, write_seed
from tests.cli.in_process import RECOVERY, invoke
from tests.cli.printed import printed
from tests.log_dir.cluster_metadata_encoder import NO_OP, snapshot
from tests.metadata_quorum.disks import (
    CLUSTER,
    METADATA,
    SEGMENT,
    dynamic_log,
    static_log,
    write_node,
)
from tests.metadata_quorum.planning import ALL_LOST, plan, quorum

KILLS = 100
AT = "2026-01-01T00:00:00+00:00"


def planned(tmp_path: Path, *, dynamic: bool, torn: bytes = b"") -> QuorumPlanJson:
    log = dynamic_log() if dynamic else static_log()
    data = b"".join(log.encoded()) + torn
    disks = tmp_path / "disks"
    write_node(disks, 1, log, quorum_epoch=9, data=data)
    write_node(disks, 2, log)
    done = plan(disks, *ALL_LOST)
    assert done.code == 0, done.stderr
    path = tmp_path / "plan.json"
    return read_quorum_plan(path.read_text(), str(path))


def seeded(home: Path) -> Copy:
    return read_copy(CopyPlace(LocalLocation(home)))[0]


def never() -> None: ...


def checksums(directory: Path) -> dict[str, str]:
    found = sorted(path for path in directory.rglob("*") if path.is_file())
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in found}


def test_each_printed_next_command_leads_to_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    disks = tmp_path / "the disks"
    for node in (1, 2):
        write_node(disks, node, static_log(), quorum_epoch=9)
    (seed,) = printed(plan(disks, *ALL_LOST).stderr, NEWDIR=str(tmp_path / "a new one"))
    done = quorum(*seed[1:], "--yes")
    assert done.code == 0, done.stderr
    assert seeded(tmp_path / "a new one").problems == ()
    verify, report = printed(done.stderr, BROKERS="127.0.0.1:1")
    assert verify[:4] == ["quorum", "verify", "--plan", str(tmp_path / "plan.json")]
    told = invoke(RECOVERY, *report)
    assert (told.code, told.stderr) == (0, "")
    assert "is written, whole, and read back" in told.stdout


@pytest.mark.parametrize("torn", [b"", b"\0\0\0\0"], ids=["whole", "torn"])
def test_a_static_quorum_gets_its_epoch_by_quorum_state_alone(tmp_path: Path, torn: bytes) -> None:
    found = planned(tmp_path, dynamic=False, torn=torn)
    write_seed(found, tmp_path / "new", never)
    metadata = tmp_path / "new" / METADATA
    assert (metadata / SEGMENT).read_bytes() == b"".join(static_log().encoded())
    assert (metadata / "quorum-state").read_text() == (
        '{"clusterId":"","leaderId":-1,"leaderEpoch":1009,"votedId":-1,"appliedOffset":0,'
        '"currentVoters":[{"voterId":101}],"data_version":0}'
    )
    assert (metadata / "partition.metadata").read_text() == (
        "version: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAAAQ"
    )
    meta = parse_meta_properties((tmp_path / "new" / "meta.properties").read_bytes())
    assert (meta.node_id, meta.cluster_id) == (101, CLUSTER)
    assert meta.directory_id == found.new_controller.directory_id
    assert {path.name for path in metadata.iterdir()} == {
        *(SEGMENT, "quorum-state", "partition.metadata")
    }


def test_a_dynamic_quorum_gets_its_only_voter_in_the_log(tmp_path: Path) -> None:
    found = planned(tmp_path, dynamic=True)
    write_seed(found, tmp_path / "new", never)
    metadata = tmp_path / "new" / METADATA
    assert (metadata / "quorum-state").read_text() == (
        '{"leaderId":-1,"leaderEpoch":1009,"votedId":-1,'
        '"votedDirectoryId":"AAAAAAAAAAAAAAAAAAAAAA","data_version":1}'
    )
    copy = seeded(tmp_path / "new")
    assert (copy.last_epoch, copy.end_offset) == (1009, dynamic_log().end + 2)
    ((id_, directory),) = [(voter.id, voter.directory_id) for voter in copy.voters]
    assert (id_, directory) == (101, found.new_controller.directory_id)
    log = (metadata / SEGMENT).read_bytes()
    assert log.startswith(b"".join(dynamic_log().encoded()))


def test_checkpoints_that_the_log_needs_come_along(tmp_path: Path) -> None:
    log, disks = static_log(), tmp_path / "disks"
    for node in (1, 2):
        home = write_node(disks, node, log)
        kept = snapshot(log.end, NO_OP, epoch=1)
        (home / METADATA / kept.name).write_bytes(kept.read_at(0, kept.size))
        (home / METADATA / f"{kept.name}.deleted").write_bytes(b"old")
        (home / METADATA / f"{0:020}.index").write_bytes(bytes(100))
    # A checkpoint without topics and features: the release can't be told by it.
    assert plan(disks, *ALL_LOST).code == 1


def test_the_source_is_left_as_it_was_and_others_see_nothing(tmp_path: Path) -> None:
    found = planned(tmp_path, dynamic=True)
    before = checksums(tmp_path / "disks")
    write_seed(found, tmp_path / "new", never)
    assert checksums(tmp_path / "disks") == before
    assert (tmp_path / "new").stat().st_mode & 0o077 == 0


def test_a_source_that_changed_is_refused_and_nothing_is_left(tmp_path: Path) -> None:
    found = planned(tmp_path, dynamic=True)
    segment = tmp_path / "disks" / "node-1" / METADATA / SEGMENT
    segment.write_bytes(b"\xff" + segment.read_bytes()[1:])
    with pytest.raises(SeedRefused, match="not as it was when the plan was made"):
        write_seed(found, tmp_path / "new", never)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["disks", "plan.json"]


@pytest.mark.parametrize("rolled", [True, False])
def test_a_log_that_was_written_since_the_plan_has_a_leader(tmp_path: Path, rolled: bool) -> None:
    found = planned(tmp_path, dynamic=False)
    log = static_log().and_then(1, NO_OP)
    metadata = tmp_path / "disks" / "node-1" / METADATA
    with (metadata / (f"{static_log().end:020}.log" if rolled else SEGMENT)).open("ab") as file:
        file.write(log.encoded()[-1])
    with pytest.raises(SeedRefused, match="somebody leads"):
        write_seed(found, tmp_path / "new", never)
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("dynamic", [True, False], ids=["dynamic", "static"])
def test_killed_at_any_step_it_is_absent_or_right(tmp_path: Path, dynamic: bool) -> None:
    found = planned(tmp_path, dynamic=dynamic)
    before = checksums(tmp_path / "disks")
    ended = set()
    for step in range(KILLS // 2):
        home = tmp_path / f"new-{step}"
        ended.add(_killed_at(step, found, home))
        if home.exists():
            copy = seeded(home)
            assert copy.end.damage is None
            assert copy.quorum_state is not None
            assert copy.quorum_state.leader_epoch == found.epoch
        for partial in tmp_path.glob(f".{home.name}.*.partial"):
            # Without meta.properties no node starts on it; with it, it is whole.
            assert not (partial / "meta.properties").exists() or seeded(partial).end.damage is None
        assert checksums(tmp_path / "disks") == before
    # Some were killed, and the last had fewer steps than that.
    assert ended == {True, False}


def _killed_at(step: int, found: QuorumPlanJson, home: Path) -> bool:
    """Seed in a process of its own, and return whether it was killed at that file event."""
    child = os.fork()
    if child == 0:
        left = step

        def count(event: str, _: object) -> None:
            nonlocal left
            if event in ("open", "os.mkdir", "os.rename", "os.chown"):
                if left == 0:
                    os.kill(os.getpid(), signal.SIGKILL)
                left -= 1

        sys.addaudithook(count)
        try:
            write_seed(found, home, never)
        finally:
            os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status)


def test_a_whole_command_writes_journal_and_directory(tmp_path: Path) -> None:
    planned(tmp_path, dynamic=True)
    journal = tmp_path / "journal"
    where = ("--plan", tmp_path / "plan.json", "--output-dir", tmp_path / "new")
    done = quorum("seed", *where, "--journal", journal, "--yes")
    assert done.code == 0, done.stderr
    events = [json.loads(line)["event"] for line in journal.read_text().splitlines()]
    assert events == ["begin", "seed", "seeded", "end"]
    again = quorum("seed", *where, "--journal", journal, "--yes")
    assert (again.code, "nothing is ever overwritten" in again.stderr) == (2, True)


def test_without_a_terminal_somebody_has_to_say_yes(tmp_path: Path) -> None:
    planned(tmp_path, dynamic=True)
    done = quorum("seed", "--plan", tmp_path / "plan.json", "--output-dir", tmp_path / "new")
    assert (done.code, "--yes" in done.stderr) == (2, True)
    assert not (tmp_path / "new").exists()


def test_on_a_full_disk_nothing_is_left(tmp_path: Path) -> None:
    found = planned(tmp_path, dynamic=True)
    child = os.fork()
    if child == 0:
        # A file that may not grow fails as a disk without room does.
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
        with suppress(SeedRefused):
            write_seed(found, tmp_path / "new", never)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["disks", "plan.json"]


def test_a_journal_that_can_not_be_written_keeps_all_from_being_done(tmp_path: Path) -> None:
    planned(tmp_path, dynamic=True)
    where = ("--plan", tmp_path / "plan.json", "--output-dir", tmp_path / "new", "--yes")
    done = quorum("seed", *where, "--journal", tmp_path)
    assert (done.code, "choose another" in done.stderr) == (2, True)
    assert not (tmp_path / "new").exists()


def test_an_approval_is_another_users_and_of_this_plan(tmp_path: Path) -> None:
    plan = planned(tmp_path, dynamic=True)
    approval = tmp_path / "approval"
    where = ("--plan", tmp_path / "plan.json", "--output-dir", tmp_path / "new", "--yes")
    asked = (*where, "--require-approval", approval, "--journal", tmp_path / "journal")
    for digest, who, why in (
        ("sha256:" + "0" * 64, "somebody else", "approves another plan"),
        (plan.digest, user_name(), "have another user do one of the two"),
    ):
        approval.write_text(approval_json(Approval(digest, CLUSTER, who, AT)))
        done = quorum("seed", *asked)
        assert (done.code, why in done.stderr) == (2, True)
    approval.write_text(approval_json(Approval(plan.digest, CLUSTER, "somebody else", AT)))
    assert quorum("seed", *asked).code == 0


@pytest.mark.parametrize("change", ['"epoch": 1009|"epoch": 5', '"node": 1|"node": 3'])
def test_a_plan_that_was_changed_is_refused(tmp_path: Path, change: str) -> None:
    planned(tmp_path, dynamic=True)
    path = tmp_path / "plan.json"
    old, new = change.split("|")
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))
    done = quorum("seed", "--plan", path, "--output-dir", tmp_path / "new", "--yes")
    assert (done.code, "digest" in done.stderr) == (2, True)


@pytest.mark.parametrize("dynamic", [True, False], ids=["dynamic", "static"])
def test_a_copy_with_flipped_bits_is_refused_or_read_as_it_was(
    tmp_path: Path, dynamic: bool
) -> None:
    """500 mutations each: what is kept is the beginning of what was written, byte for byte."""
    log = dynamic_log() if dynamic else static_log()
    log = log.and_then(1, NO_OP).and_then(1, NO_OP, NO_OP)
    sound = b"".join(log.encoded())
    disks = tmp_path / "disks"
    home = write_node(disks, 1, log)
    outcomes = set()
    for seed in range(500):
        data = _mutated(sound, random.Random(seed))
        (home / METADATA / SEGMENT).write_bytes(data)
        (tmp_path / "plan.json").unlink(missing_ok=True)
        done = plan(disks, *ALL_LOST, "--without-copies-of", "2")
        outcomes.add(done.code)
        if done.code == 0:
            text = (tmp_path / "plan.json").read_text()
            found = read_quorum_plan(text, "plan")
            write_seed(found, tmp_path / f"new-{seed}", never)
            kept = (tmp_path / f"new-{seed}" / METADATA / SEGMENT).read_bytes()
            size = found.seed.files[0].size
            assert kept[:size] == data[:size]
            assert sound.startswith(kept[:size]), seed
    assert outcomes == {0, 1}


def _mutated(data: bytes, chance: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(chance.choice((1, 1, 2))):
        kind = chance.randrange(3)
        at = chance.randrange(len(changed))
        if kind == 0:
            changed[at] ^= 1 << chance.randrange(8)
        elif kind == 1:
            del changed[at:]
            changed = changed or bytearray(b"\0")
        else:
            changed[at : at + 8] = bytes(8)
    return bytes(changed)
