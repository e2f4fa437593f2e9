"""What a start does to one replica, rule by rule."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest
from msgspec import structs

from kafka_unclean_recovery.before_start.advice import advice, plans
from kafka_unclean_recovery.before_start.judging import judge
from kafka_unclean_recovery.before_start.offline import from_disks
from kafka_unclean_recovery.before_start.replica import Layout, OwnDisk, OwnReplica
from kafka_unclean_recovery.before_start.result import foretell
from kafka_unclean_recovery.before_start.verdict import Effect, Known, Verdict
from kafka_unclean_recovery.cli.commands.before_start import exit_code
from kafka_unclean_recovery.log_dir.directory_names import DirectoryKind
from kafka_unclean_recovery.mechanisms import ScanMode
from kafka_unclean_recovery.model import (
    EpochSpan,
    PartitionInfo,
    PartitionState,
    ReplicaInfo,
    ReplicaLog,
    Scanned,
    TopicPartition,
)
from kafka_unclean_recovery.planning.started_replica import GONE, NO_SEGMENT

WHERE = TopicPartition("orders", 0)
T0, T1, T2 = (f"00000000-0000-0000-0000-0000000000a{n}" for n in range(3))
HOME = "00000000-0000-0000-0000-0000000000b1"
# The ids of brokers begin at 0.
OWN, LEADER, THIRD = 1, 0, 3
# Broker 1 wrote on in epoch 0 to 150; 0 was elected at 100, and wrote on in epoch 2.
TAIL = (EpochSpan(0, 0, 150),)
NEW = (EpochSpan(0, 0, 100), EpochSpan(2, 100, 110))
STATE = PartitionState("orders", T1, 0, LEADER, 2, (OWN, LEADER, THIRD), (LEADER,))


def log(
    broker: int,
    *epochs: EpochSpan,
    start: int = 0,
    disk: bool = False,
    damage: str | None = None,
    **more: object,
) -> ReplicaLog:
    end = epochs[-1].end_offset if epochs else start
    scanned = Scanned(ScanMode.RECOVER, "/data/orders-0", T1, damage=damage) if disk else None
    found = ReplicaLog(
        broker,
        live=not disk,
        last_written_leader_epoch=epochs[-1].epoch if epochs else None,
        log_start_offset=start,
        log_end_offset=end,
        epochs=epochs,
        scanned=scanned,
    )
    return structs.replace(found, **more)


def own(*epochs: EpochSpan, **more: object) -> OwnReplica:
    found = log(OWN, *(epochs or TAIL), disk=True, **more)  # type: ignore[arg-type]
    return OwnReplica(WHERE, DirectoryKind.LIVE, "/data/orders-0", T1, log=found)


def disk(*replicas: OwnReplica, **more: object) -> OwnDisk:
    info = ReplicaInfo("c-1", "2026-01-01T00:00:00+00:00", (OWN,), ())
    found = OwnDisk(OWN, "c-1", ("/data",), replicas, False, info)
    return replace(found, **more)  # type: ignore[arg-type]


def verdict(
    replica: OwnReplica, state: PartitionState | None = STATE, clean: bool = False, **more: object
) -> Verdict:
    logs: Mapping[int, ReplicaLog] = {LEADER: log(LEADER, *NEW)}
    known = replace(Known(state, gone=state is None, logs=logs), **more)  # type: ignore[arg-type]
    return judge(replica, disk(replica, stopped_clean=clean), known)


def test_a_tail_that_an_election_gave_up_is_truncated() -> None:
    found = verdict(own())
    told = (found.effect, found.offset, found.records, found.unique, found.leader, found.unread)
    assert told == (Effect.TRUNCATED, 100, 50, 50, LEADER, (THIRD,))


def test_a_tail_that_is_cut_at_the_log_start_of_its_leader_may_be_fetched_no_more() -> None:
    stuck = f"broker {OWN} may then fetch it no more"
    leader = structs.replace(log(LEADER, EpochSpan(2, 110, 150)), log_start_offset=110)
    found = verdict(own(), logs={LEADER: leader})
    assert (found.effect, found.offset, stuck in found.why) == (Effect.TRUNCATED, 110, True)
    assert stuck not in verdict(own()).why


@pytest.mark.parametrize(
    ("third", "unique"),
    [
        (log(THIRD, EpochSpan(0, 0, 130), disk=True), 20),
        (log(THIRD, EpochSpan(0, 0, 150), disk=True), 0),
        # Its offsets are the same ones, and other records.
        (log(THIRD, *NEW[:1], EpochSpan(2, 100, 150)), 50),
        (log(THIRD, EpochSpan(0, 0, 130), problem="refused"), None),
        (log(THIRD, EpochSpan(0, 0, 130), disk=True, suspect="odd"), None),
    ],
)
def test_what_nobody_else_has_is_counted_by_what_the_others_have(
    third: ReplicaLog, unique: int | None
) -> None:
    found = verdict(own(), logs={LEADER: log(LEADER, *NEW), THIRD: third})
    assert (found.records, found.unique, found.unread) == (50, unique, ())


def test_a_log_that_its_leader_has_is_kept() -> None:
    found = verdict(own(EpochSpan(0, 0, 90)))
    assert (found.effect, found.records, found.unique, found.expired) == (Effect.KEPT, 0, 0, 0)


def test_what_the_leader_deleted_on_purpose_is_no_loss_and_is_told() -> None:
    leader = log(LEADER, EpochSpan(0, 30, 100), start=30)
    found = verdict(own(EpochSpan(0, 0, 90)), logs={LEADER: leader})
    assert (found.effect, found.expired) == (Effect.KEPT, 30)


def test_a_log_below_the_log_start_of_its_leader_is_emptied_and_what_expired_is_not_destroyed() -> (
    None
):
    leader = log(LEADER, EpochSpan(2, 200, 300), start=200)
    found = verdict(own(), logs={LEADER: leader})
    told = (found.effect, found.offset, found.records, found.unique, found.expired)
    assert told == (Effect.EMPTIED, 0, 0, 0, 150)
    known = {WHERE: Known(STATE, logs={LEADER: leader})}
    assert exit_code(foretell(disk(own()), known)) == 0


def test_below_the_log_start_of_its_leader_a_tail_that_an_election_gave_up_is_destroyed() -> None:
    # Of epoch 0 the leader knows where it ended: what is beyond was never in its log.
    leader = log(LEADER, EpochSpan(0, 90, 100), EpochSpan(2, 100, 300), start=90)
    leader = structs.replace(leader, log_start_offset=160)
    found = verdict(own(), logs={LEADER: leader})
    told = (found.effect, found.offset, found.records, found.expired)
    assert told == (Effect.EMPTIED, 0, 50, 100)


def test_a_log_start_that_was_moved_since_its_checkpoint_is_not_sure_on_a_disk() -> None:
    leader = log(LEADER, EpochSpan(2, 100, 120), disk=True, log_start_offset=0)
    assert verdict(own(EpochSpan(0, 0, 90)), logs={LEADER: leader}).effect is Effect.UNKNOWN
    # What begins there itself can't lose it, and a live leader knows where its log starts.
    later = own(EpochSpan(2, 100, 110), start=100)
    assert verdict(later, logs={LEADER: leader}).effect is Effect.KEPT


@pytest.mark.parametrize(
    "leader",
    [
        None,
        log(LEADER, *NEW, problem="TOPIC_AUTHORIZATION_FAILED; grant Topic(orders):READ"),
        log(LEADER, *NEW, epochs=None),
        log(LEADER, *NEW, log_start_offset=None),
    ],
)
def test_a_leader_that_is_not_known_leaves_all_unknown(leader: ReplicaLog | None) -> None:
    found = verdict(own(), logs={} if leader is None else {LEADER: leader})
    assert (found.effect, found.records, found.unique) == (Effect.UNKNOWN, None, None)
    assert leader is None or leader.problem is None or "grant Topic(orders):READ" in found.why


def test_two_logs_that_disagree_on_where_an_epoch_begins_are_not_compared() -> None:
    odd = own(EpochSpan(0, 0, 90), EpochSpan(2, 90, 120))
    assert verdict(odd).effect is Effect.UNKNOWN


STRAYS = {
    "deleted": None,
    "made again": structs.replace(STATE, topic_id=T2),
    "moved": structs.replace(STATE, replicas=(LEADER, THIRD)),
}


@pytest.mark.parametrize("state", STRAYS.values(), ids=STRAYS)
def test_a_replica_that_is_not_the_brokers_any_more_is_put_aside(
    state: PartitionState | None,
) -> None:
    found = verdict(own(), state)
    assert (found.effect, found.records, found.unique) == (Effect.STRAY, 150, None)


def test_a_replica_without_a_topic_id_is_put_aside() -> None:
    assert verdict(replace(own(), topic_id=None)).effect is Effect.STRAY
    # An id that can't be read says nothing.
    found = verdict(replace(own(), topic_id=None, nameless="it is cut short"))
    assert found.effect is Effect.UNKNOWN


def test_brokers_from_before_topic_ids_tell_none() -> None:
    assert verdict(own(), structs.replace(STATE, topic_id="")).effect is Effect.TRUNCATED


OFFLINE = structs.replace(STATE, leader=-1, isr=())
LED_AGAIN = {
    "ISR": (structs.replace(OFFLINE, isr=(OWN,)), False, Effect.LEADS),
    "ELR, clean": (structs.replace(OFFLINE, elr=(OWN, THIRD)), True, Effect.LEADS),
    "ELR, unclean": (
        structs.replace(OFFLINE, elr=(OWN, THIRD), last_known_elr=(OWN,)),
        False,
        Effect.WAITS,
    ),
    "ELR alone, unclean": (
        structs.replace(OFFLINE, elr=(OWN,), last_known_elr=(OWN,)),
        False,
        Effect.LEADS,
    ),
    "last known leader": (structs.replace(OFFLINE, last_known_elr=(OWN,)), False, Effect.LEADS),
    "another one": (structs.replace(OFFLINE, last_known_elr=(THIRD,)), True, Effect.WAITS),
    "others in the ELR": (
        structs.replace(OFFLINE, elr=(THIRD,), last_known_elr=(OWN,)),
        True,
        Effect.WAITS,
    ),
    "neither": (OFFLINE, True, Effect.WAITS),
}


@pytest.mark.parametrize(("state", "clean", "effect"), LED_AGAIN.values(), ids=LED_AGAIN)
def test_who_leads_again_by_itself(state: PartitionState, clean: bool, effect: Effect) -> None:
    found = verdict(own(), state, clean, unclean=False)
    assert (found.effect, found.records) == (effect, 0)


def test_unclean_elections_decide_where_nobody_may_lead_cleanly() -> None:
    assert verdict(own(), OFFLINE, unclean=True).effect is Effect.LEADS
    why = "is not known; grant Topic(orders):DESCRIBE_CONFIGS"
    found = verdict(own(), OFFLINE, unclean=None, unclean_untold=why)
    assert found.effect is Effect.UNKNOWN
    assert found.why.endswith(why)


_BY_ITSELF = structs.replace(OFFLINE, elr=(OWN,), last_known_elr=(OWN,))
_DEAD = log(THIRD, *TAIL, disk=True)


@pytest.mark.parametrize(
    ("state", "clean", "untold"),
    [
        (_BY_ITSELF, False, (LEADER, THIRD)),
        # A member that stopped in order has all that was committed, and whatever was cut off since.
        (_BY_ITSELF, True, ()),
        (structs.replace(OFFLINE, isr=(OWN,)), False, (LEADER, THIRD)),
        # By an unclean election whoever is back first leads.
        (structs.replace(OFFLINE, isr=(THIRD,)), True, (LEADER, THIRD)),
    ],
)
def test_dead_replicas_that_nobody_read_may_be_cut_by_a_log_that_may_be_short(
    state: PartitionState, clean: bool, untold: tuple[int, ...]
) -> None:
    found = verdict(own(), state, clean, unclean=True, logs={})
    assert found.led is not None
    assert found.led.own
    assert (found.led.cuts.untold, found.untold) == (untold, bool(untold))
    if untold:
        assert "what brokers 0,3 lose then is not known: nobody has read it" in found.why


@pytest.mark.parametrize("clean", [True, False])
def test_dead_replicas_that_nobody_read_may_be_cut_to_an_empty_log(clean: bool) -> None:
    gone = replace(own(), gone="it is not there", log=None)
    stray = replace(own(), topic_id=None)
    for empty in (gone, stray):
        found = verdict(empty, _BY_ITSELF, clean, unclean=False, logs={})
        assert found.untold
        assert found.leader == OWN
        assert found.led is not None
        assert found.led.cuts.untold == (LEADER, THIRD)
        read = verdict(
            empty, structs.replace(_BY_ITSELF, replicas=(OWN,)), clean, unclean=False, logs={}
        )
        assert not read.untold


def test_a_replica_without_a_segment_begins_empty_and_leads_like_one_that_is_gone() -> None:
    bare = replace(own(), log=structs.replace(log(OWN, disk=True), suspect=NO_SEGMENT))
    others = {LEADER: log(LEADER, *TAIL), THIRD: log(THIRD, *TAIL)}
    live = structs.replace(_BY_ITSELF, offline_replicas=(OWN,))
    found = verdict(bare, live, unclean=False, logs=others)
    assert (found.effect, found.leader) == (Effect.BEGINS_EMPTY, OWN)
    assert found.led is not None
    assert found.led.cuts.records == 150
    assert verdict(bare).effect is Effect.BEGINS_EMPTY
    # Where its log starts further on, those that follow are cut to that.
    further = replace(bare, log=structs.replace(log(OWN, start=7, disk=True), suspect=NO_SEGMENT))
    assert verdict(further, live, unclean=False, logs=others).effect is Effect.UNKNOWN


@pytest.mark.parametrize(
    ("third", "untold"),
    [
        (_DEAD, False),
        (structs.replace(_DEAD, problem=GONE, log_end_offset=None, epochs=None), False),
        (structs.replace(_DEAD, problem="refused"), True),
        (structs.replace(_DEAD, suspect="odd"), True),
    ],
)
def test_a_dead_disk_that_does_not_tell_is_as_good_as_unread(
    third: ReplicaLog, untold: bool
) -> None:
    logs = {LEADER: log(LEADER, *TAIL, disk=True), THIRD: third}
    assert verdict(own(), _BY_ITSELF, unclean=False, logs=logs).untold is untold


def test_a_controller_that_still_has_it_as_the_leader_tells_nothing_yet() -> None:
    led = structs.replace(STATE, leader=OWN, isr=(OWN,))
    assert verdict(own(), led).effect is Effect.UNKNOWN
    # A metadata log stays as it is.
    assert verdict(own(), led, live=False).effect is Effect.LEADS
    assert (
        verdict(own(), structs.replace(led, isr=(OWN, THIRD)), live=False).effect is Effect.UNKNOWN
    )
    elr = structs.replace(led, elr=(THIRD,))
    assert verdict(own(), elr, live=False).effect is Effect.UNKNOWN
    assert verdict(own(), elr, True, live=False).effect is Effect.LEADS


@pytest.mark.parametrize("given", [True, False])
def test_a_replica_away_from_the_directory_that_the_metadata_names_may_not_lead(
    given: bool,
) -> None:
    """A directory that its broker does not register any more is offline to the controller."""
    here = {HOME: "/data2"} if given else {}
    layout = Layout(assigned={WHERE: HOME}, directories={T2: "/data", **here})
    moved = disk(own(), layout=layout)
    known = Known(structs.replace(OFFLINE, isr=(OWN,)), unclean=False)
    found = judge(own(), moved, known)
    assert found.effect is (Effect.LEADS if given else Effect.UNKNOWN)
    # As a stray it would begin empty there.
    stray = judge(replace(own(), topic_id=None), moved, known)
    assert stray.effect is (Effect.STRAY if given else Effect.UNKNOWN)
    # Behind a leader nothing is asked of it.
    assert (
        judge(own(), moved, Known(STATE, logs={LEADER: log(LEADER, *TAIL)})).effect is Effect.KEPT
    )


@pytest.mark.parametrize(("missing", "sure"), [((), True), ((HOME,), False)])
def test_a_mark_of_a_clean_stop_in_a_directory_that_was_not_given_may_be_missing(
    missing: tuple[str, ...], sure: bool
) -> None:
    """A start counts as clean only with the same mark in all directories."""
    marked = disk(own(), stopped_clean=True, layout=Layout(missing=missing))
    in_elr = Known(structs.replace(OFFLINE, isr=(), elr=(OWN,), last_known_elr=()), unclean=False)
    assert judge(own(), marked, in_elr).effect is (Effect.LEADS if sure else Effect.UNKNOWN)
    gone = replace(own(), gone="it is not there", log=None)
    empty = Effect.BEGINS_EMPTY if sure else Effect.UNKNOWN
    assert judge(gone, marked, in_elr).effect is empty
    # Whoever is the last known leader leads without a mark as well.
    last = Known(structs.replace(OFFLINE, isr=(), elr=(), last_known_elr=(OWN,)), unclean=False)
    assert judge(own(), marked, last).effect is Effect.LEADS


def test_an_epoch_that_the_controller_never_gave_is_told() -> None:
    assert verdict(own(EpochSpan(7, 0, 90))).effect is Effect.EPOCH_FELL_BACK


def test_what_is_deleted_and_what_was_put_aside() -> None:
    assert verdict(replace(own(), kind=DirectoryKind.DELETED)).effect is Effect.DELETED
    assert verdict(replace(own(), kind=DirectoryKind.STRAY)).effect is Effect.STRAY
    assert verdict(replace(own(), kind=DirectoryKind.FUTURE)).effect is Effect.UNKNOWN
    removed = structs.replace(STATE, removing_replicas=(OWN,))
    assert verdict(own(), removed).effect is Effect.DELETED


@pytest.mark.parametrize(
    ("topic_id", "state"),
    [
        (None, STATE),
        (T0, STATE),
        (T1, None),
        (T1, structs.replace(STATE, replicas=(LEADER, THIRD))),
    ],
    ids=["no topic id", "another one", "deleted", "moved away"],
)
def test_a_broker_on_zookeeper_puts_nothing_aside(
    topic_id: str | None, state: PartitionState | None
) -> None:
    replica = replace(own(), topic_id=topic_id)
    known = Known(state, gone=state is None, logs={LEADER: log(LEADER, *NEW)})
    assert judge(replica, disk(replica), known).effect is Effect.STRAY
    found = judge(replica, disk(replica, zookeeper=True), known)
    assert (found.effect, found.led, found.remedy) == (Effect.UNKNOWN, None, None)
    assert "on ZooKeeper a broker puts nothing aside" in found.why


def test_recovery_cuts_off_what_is_damaged() -> None:
    found = verdict(own(EpochSpan(0, 0, 90), damage="the log ends at bad CRC"))
    told = (found.effect, found.offset, found.records, found.unique)
    assert told == (Effect.TRUNCATED, 90, None, None)
    both = verdict(own(*TAIL, damage="the log ends at bad CRC"))
    # Whole records may lie behind the damage, and are deleted with the tail.
    told = (both.effect, both.offset, both.records, both.unique)
    assert told == (Effect.TRUNCATED, 100, None, None)
    assert both.why.endswith(" lacks: 50 records, besides what can't be read"), both.why
    assert both.destroys_own


@pytest.mark.parametrize("log_", [None, log(OWN, *TAIL, disk=True, suspect="odd")])
def test_a_log_that_is_not_known_is_not_judged(log_: ReplicaLog | None) -> None:
    assert verdict(replace(own(), log=log_)).effect is Effect.UNKNOWN


def test_a_broker_that_is_refused_changes_nothing() -> None:
    found = judge(own(), disk(own(), refused="of another cluster"), Known(STATE))
    assert (found.effect, found.why) == (Effect.REFUSED, "of another cluster")


def test_a_start_that_fails_while_logs_are_loaded_may_have_cut_some_before() -> None:
    damaged, whole = own(EpochSpan(0, 0, 90), damage="a bad CRC"), own(EpochSpan(0, 0, 90))
    late = disk(damaged, refused="a file backup.log", refused_late=True)
    found = foretell(late, {WHERE: Known(STATE)})
    (verdict,) = found.verdicts
    assert (verdict.effect, verdict.offset, verdict.records) == (Effect.REFUSED, 90, None)
    assert verdict.why.endswith("may cut off what can't be read of this log, for a bad CRC")
    assert exit_code(found) == 1
    assert exit_code(foretell(replace(late, replicas=(whole,)), {})) == 0
    # Of another cluster it is before any log is loaded.
    assert exit_code(foretell(replace(late, refused_late=False), {})) == 0
    aside = foretell(disk(replace(damaged, offline="a checkpoint")), {})
    assert (aside.verdicts[0].effect, exit_code(aside)) == (Effect.OFFLINE, 1)
    assert exit_code(foretell(disk(replace(whole, offline="a checkpoint")), {})) == 0
    # It has this replica twice.
    twin = replace(whole, directory="/data2/orders-0")
    twice = foretell(disk(damaged, twin), {WHERE: Known(OFFLINE, unclean=False)})
    assert [v.effect for v in twice.verdicts] == [Effect.REFUSED] * 2
    assert exit_code(twice) == 1


def test_a_refused_start_takes_the_mark_of_a_clean_stop() -> None:
    late = disk(own(), refused="a file backup.log", refused_late=True)
    for clean, found in ((True, True), (False, False)):
        (line, *_) = advice(foretell(replace(late, stopped_clean=clean), {}), None, "below")
        assert ("its mark of a clean stop goes with the attempt" in line) is found


def test_a_replica_in_two_directories_keeps_the_broker_from_starting() -> None:
    twin = replace(own(), directory="/data2/orders-0")
    other = replace(own(), topic_partition=TopicPartition("audit", 0))
    known = {WHERE: Known(OFFLINE, unclean=False), other.topic_partition: Known(gone=True)}
    found = foretell(disk(own(), twin, other), known)
    assert [v.effect for v in found.verdicts] == [Effect.STRAY, Effect.REFUSED, Effect.REFUSED]
    # One of another topic of that name is put aside first.
    former = replace(twin, topic_id=T0)
    found = foretell(disk(own(), former), known)
    assert [v.effect for v in found.verdicts] == [Effect.WAITS, Effect.STRAY]


def test_two_copies_of_one_replica_keep_the_broker_from_starting() -> None:
    copies = [
        replace(own(), kind=DirectoryKind.FUTURE, directory=f"/data{n}/orders-0.{n}-future")
        for n in (1, 2)
    ]
    known = {WHERE: Known(STATE, logs={LEADER: log(LEADER, *NEW)})}
    found = foretell(disk(*copies), known)
    assert [v.effect for v in found.verdicts] == [Effect.REFUSED, Effect.REFUSED]
    assert "is in two of its directories" in (found.refused or "")
    assert foretell(disk(own(), copies[0]), known).refused is None


def test_what_is_destroyed_counts_before_what_is_unknown() -> None:
    kept = own(EpochSpan(0, 0, 90))
    known = {WHERE: Known(STATE, logs={LEADER: log(LEADER, *NEW)})}
    audit = TopicPartition("audit", 0)
    asked = {**known, audit: Known(untold="TOPIC_AUTHORIZATION_FAILED")}
    hidden = replace(kept, topic_partition=audit)
    assert exit_code(foretell(disk(kept), known)) == 0
    assert exit_code(foretell(disk(own()), known)) == 1
    assert exit_code(foretell(disk(own(), hidden), asked)) == 1
    assert exit_code(foretell(disk(kept, hidden), asked)) == 4
    assert exit_code(foretell(disk(kept), known, ["a disk could not be read"])) == 4


def test_what_a_leader_with_id_0_lacks_is_in_the_plan_for_salvage() -> None:
    known = {WHERE: Known(STATE, logs={LEADER: log(LEADER, *NEW)})}
    (plan,) = plans(foretell(disk(own()), known))
    assert (plan.designated_leader, plan.ranking[0].loss.certain) == (0, 50)


def test_metadata_logs_of_two_quorums_are_told_where_the_start_rests_on_one() -> None:
    """Epochs do not tell which of two histories the brokers follow."""
    higher = PartitionInfo(WHERE, structs.replace(STATE, leader_epoch=STATE.leader_epoch + 3), ())
    older = ReplicaInfo("c-1", "2026-01-01T00:00:00+00:00", (LEADER,), (higher,), 1, 900)
    here = structs.replace(disk(own()).info, partitions=(PartitionInfo(WHERE, STATE, ()),))
    found = from_disks(
        disk(own(), info=structs.replace(here, metadata_epoch=7, metadata_end_offset=9)), older
    )
    (said,) = found.unknown
    assert "or two quorums wrote these logs" in said
    assert found.untold
    same = structs.replace(older, partitions=(PartitionInfo(WHERE, STATE, ()),))
    found = from_disks(
        disk(own(), info=structs.replace(here, metadata_epoch=7, metadata_end_offset=9)), same
    )
    assert found.unknown == ()
