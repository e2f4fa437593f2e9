"""A replay is shown as a table and lines for a terminal, and as JSON
(schemas/salvage-replay-1.schema.json). This module does no I/O."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kafka_unclean_recovery.documents.printed import ReplayedJson, SalvageReplayJson
from kafka_unclean_recovery.documents.writing import document_by_line
from kafka_unclean_recovery.report.table import columns, page, table
from kafka_unclean_recovery.salvage.replay.replay_partition import Work
from kafka_unclean_recovery.salvage.replay.target import alterations, obstacles
from kafka_unclean_recovery.shown import shell_join, shown_lines
from kafka_unclean_recovery.wording import count_text

_COLUMNS = columns(
    *("topic", ">partition", "target", ">records|", ">already|there", ">in open|transactions"),
    *(">left out:|aborted", ">markers", ">second copies"),
)


def render_replay(works: Sequence[Work], executed: bool, width: int | None = None) -> str:
    """Return a table of what is produced, then what the targets alter, then the total. width: of a
    terminal, where the table may be cut: what would be refused comes first, and then who has most
    to produce."""
    rows = works if width is None else sorted(works, key=_gravity)
    with_verb = [
        (above, _verb(executed) if above == "records" else below, align)
        for above, below, align in _COLUMNS
    ]
    return page(
        table(with_verb, [_cells(work, executed) for work in rows], width),
        shown_lines(_notes(works)),
        _summary(works, executed),
    )


def _gravity(work: Work) -> tuple[object, ...]:
    refused = work.target is None or any(_obstacles(work))
    return not refused, -work.counts.to_produce


def refusals(works: Sequence[Work], connection: Sequence[str]) -> list[str]:
    """Return why nothing may be produced as things are, each reason with what to do. connection:
    the flags that reach the cluster."""
    missing = _missing(works)
    return [
        *(
            f"{topic}: no such topic: create it: {_create(topic, count, connection)}"
            for topic, count in missing.items()
        ),
        *(f"{_who(work)}: {why}" for work in works for why in _obstacles(work)),
    ]


def _create(topic: str, partitions: int, connection: Sequence[str]) -> str:
    """Return the command that makes a topic which keeps the records and their times."""
    configs = ("retention.ms=-1", "message.timestamp.type=CreateTime")
    flags = [word for config in configs for word in ("--config", config)]
    new = ["--create", "--topic", topic, "--partitions", str(partitions), *flags]
    return shell_join(["kafka-topics.sh", *connection, *new])


def _verb(executed: bool) -> str:
    return "produced" if executed else "to produce"


def _cells(work: Work, executed: bool) -> Sequence[str]:
    partition, counts = work.saved.topic_partition, work.counts
    numbers = (
        work.produced if executed else counts.to_produce,
        counts.done + work.there,
        counts.open,
        counts.aborted,
        counts.control,
        counts.copies,
    )
    return (partition.topic, str(partition.partition), work.target_topic, *map(str, numbers))


def _missing(works: Sequence[Work]) -> dict[str, int]:
    """Return the topics that do not exist, and how many partitions each needs."""
    needed: dict[str, int] = {}
    for work in works:
        if work.target is None:
            count = work.saved.topic_partition.partition + 1
            needed[work.target_topic] = max(count, needed.get(work.target_topic, 0))
    return needed


def _obstacles(work: Work) -> Iterator[str]:
    if work.target is not None:
        yield from obstacles(work.counts, work.saved.topic_partition.partition, work.target)


def _notes(works: Sequence[Work]) -> Iterator[str]:
    for work in works:
        if work.target is not None:
            topic = work.saved.topic_partition.topic
            for altered in alterations(work.counts, topic, work.target):
                yield f"altered: {_who(work)}: {altered}"


def _who(work: Work) -> str:
    return f"{work.saved.topic_partition} to {work.target_topic}"


def _summary(works: Sequence[Work], executed: bool) -> str:
    number = sum(work.produced if executed else work.counts.to_produce for work in works)
    return f"{count_text(number, 'record')} {'produced' if executed else 'to produce'}"


def render_json(works: Sequence[Work], executed: bool, refused: Sequence[str]) -> str:
    """Return a JSON object with a line for each partition. executed: producing was asked for."""
    rows = tuple(_row(work, executed) for work in works)
    return document_by_line(
        SalvageReplayJson(executed=executed, refusals=tuple(refused), partitions=rows)
    )


def _row(work: Work, executed: bool) -> ReplayedJson:
    partition, counts = work.saved.topic_partition, work.counts
    altered = [] if work.target is None else alterations(counts, partition.topic, work.target)
    return ReplayedJson(
        topic=partition.topic,
        partition=partition.partition,
        target_topic=work.target_topic,
        to_produce=counts.to_produce,
        produced=work.produced if executed else 0,
        already_there=counts.done + work.there,
        in_open_transactions=counts.open,
        aborted=counts.aborted,
        markers=counts.control,
        second_copies=counts.copies,
        altered=tuple(altered),
    )
