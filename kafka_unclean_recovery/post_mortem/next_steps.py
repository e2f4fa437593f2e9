"""The next steps say what is to be done after a recovery, by its journal, with the commands."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kafka_unclean_recovery.post_mortem.story import (
    AffectedGroup,
    Election,
    PostMortem,
    Seed,
    known_since,
    unread_replicas,
)
from kafka_unclean_recovery.shown import shell_join
from kafka_unclean_recovery.wording import count_text, ids_text

_COMMAND = "kafka-unclean-recovery"
_GROUPS_SHOWN = 10


@dataclass(frozen=True, slots=True)
class Step:
    """A step to take, and the commands for it, which lack the client properties."""

    text: str
    commands: tuple[str, ...] = ()
    alarm: bool = False


def next_steps(told: PostMortem) -> tuple[Step, ...]:
    """Return the steps, the most urgent first."""
    if told.only_seeds:
        return tuple(_seed(told.seeds[-1]))
    return (*_orders(told), *_offline(told), *_groups(told), *_care(told), *_dead(told))


def _seed(seed: Seed) -> Iterator[Step]:
    if seed.exit_code == 0:
        # The plan tells them in its own words, with its commands in them.
        yield from map(Step, seed.steps_left)
    elif seed.exit_code is None:
        yield Step(
            f"see whether {seed.directory} is there. If not, delete a .partial beside it, and seed"
            " again; else go on with the plan's next step",
            alarm=True,
        )
    else:
        yield Step("seed again, or make a new plan where the copy is not as it was", alarm=True)


def _orders(told: PostMortem) -> Iterator[Step]:
    if told.unfinished:
        yield Step(
            f"{count_text(len(told.unfinished), 'replica order')} may not be as before: finish the"
            " run, if it is not under way still",
            (_line(_COMMAND, *_connection(told), "--resume", told.journal),),
            alarm=True,
        )


def _offline(told: PostMortem) -> Iterator[Step]:
    last = {e.topic_partition: e for e in sorted(told.elections, key=known_since)}
    left = sum(not _online(election) for election in last.values())
    if left:
        what = f"{count_text(left, 'partition')} may have no leader still"
    elif not told.ended and not told.unfinished:
        what = "the last run noted no end, and partitions may have no leader still"
    else:
        return
    flags = ("--all-offline-partitions", "--show-replica-info")
    command = _line(_COMMAND, *_connection(told), *flags)
    yield Step(f"{what}: look again", (command,), alarm=True)


def _online(election: Election) -> bool:
    outcome = election.outcome
    return outcome is not None and outcome.kind.success


def _groups(told: PostMortem) -> Iterator[Step]:
    groups = told.groups
    if not groups:
        return
    more = len(groups) - _GROUPS_SHOWN
    also = f" (and {more} more, which aftercare --format json lists)" if more > 0 else ""
    yield Step(
        "before writers and these groups go on, set the groups to where the log parts" + also,
        tuple(dict.fromkeys(_reset(told, group) for group in groups[:_GROUPS_SHOWN])),
        alarm=True,
    )


def _reset(told: PostMortem, found: AffectedGroup) -> str:
    if found.share:
        care = [_COMMAND, "aftercare", *_connection(told), "--journal", told.journal]
        return _line(*care, "--reset-share-groups")
    where = found.topic_partition
    which = ["--group", found.group, "--topic", f"{where.topic}:{where.partition}"]
    how = ["--reset-offsets", "--to-offset", str(found.resume_offset), "--execute"]
    return _line("kafka-consumer-groups.sh", *_connection(told), *which, *how)


def _care(told: PostMortem) -> Iterator[Step]:
    begun = any(election.begun_at_ms is not None for election in told.elections)
    command = [_COMMAND, "aftercare", *_connection(told), "--journal", told.journal]
    care = told.care
    if care is None and begun:
        yield Step(
            "see what the elections left behind (hanging transactions, groups, replicas), which"
            " this journal does not tell",
            (_line(*command, "--watch"),),
        )
    if care is None or care.over:
        return
    if care.endable:
        known = f"{care.endable} of {count_text(care.hanging, 'hanging transaction')}"
        yield Step(
            f"end {known}, before their producers go on",
            (_line(*command, "--end-transactions"),),
            alarm=True,
        )
    yield Step("watch until nothing is left", (_line(*command, "--watch"),))


def _dead(told: PostMortem) -> Iterator[Step]:
    journal = ("--journal", told.journal)
    found = told.learnt.found
    dead = {broker for _, broker in unread_replicas(told)}
    dead |= {row.broker for row in found if row.left}
    if told.gone:
        yield Step(
            f"the disks of broker{'s' if len(told.gone) > 1 else ''} {ids_text(sorted(told.gone))}"
            " are lost for good: reassign the replicas on them, or start a broker with empty disks"
            " under the id, once aftercare --gone says that this is safe"
        )
    if dead:
        yield Step(
            f"broker{'s' if len(dead) > 1 else ''} {ids_text(sorted(dead))} may hold more than the"
            " elected leaders, and delete it on start: before, move the directories of these"
            " partitions aside on their disks, or salvage them",
            (
                _line(_COMMAND, "before-start", "--log-dirs", "DIR", *_connection(told), *journal),
                _line(_COMMAND, "salvage", "--log-dirs", "DIR", *journal, "--output", "NEWDIR"),
            ),
        )
    produced = {each.directory for each in told.learnt.produced if each.whole}
    saved = {directory for directory, rows in told.saved if any(row.saved for row in rows)}
    saved |= {row.directory for row in found if row.saved and row.directory}
    for directory in sorted(saved - produced):
        replay = _line(_COMMAND, "salvage", "replay", directory, *_connection(told), *journal)
        yield Step("see what producing the saved records again would do", (replay,))


def _connection(told: PostMortem) -> list[str]:
    return ["--bootstrap-server", told.bootstrap or "HOST:PORT"]


def _line(*words: str) -> str:
    return shell_join(words)
