"""The verdicts on all replicas of a broker together; no I/O."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from kafka_unclean_recovery.before_start.judging import judge
from kafka_unclean_recovery.before_start.replica import Layout, Moment, OwnDisk
from kafka_unclean_recovery.before_start.verdict import Effect, Known, Verdict, failed
from kafka_unclean_recovery.log_dir.directory_names import DirectoryKind
from kafka_unclean_recovery.model import TopicPartition
from kafka_unclean_recovery.report.prometheus import Metric, gauge
from kafka_unclean_recovery.wording import count_text

_PREFIX = "kafka_unclean_recovery_before_start"
_LOADED = (DirectoryKind.LIVE, DirectoryKind.FUTURE)


@dataclass(frozen=True, slots=True)
class BeforeStart:
    """What the start of one broker will do. verdicts: by topic, partition and directory. unknown:
    sentences on what could not be seen of the disk or the cluster as a whole. rests_on: the
    metadata log that was read in place of the controller, None where the controller was asked.
    refused: why the broker will not start; `refused_late`: see OwnDisk. unsettled: why the start
    can't be foretold yet, None where it can. known: what was known of the partitions."""

    cluster_id: str
    broker: int
    stopped_clean: bool
    verdicts: tuple[Verdict, ...]
    unknown: tuple[str, ...] = ()
    rests_on: str | None = None
    refused: str | None = None
    refused_late: bool = False
    unsettled: str | None = None
    known: Mapping[TopicPartition, Known] = field(default_factory=dict)

    @property
    def destroys(self) -> bool:
        """Return True when records are lost by the start, on this disk or on others."""
        return any(v.destroys_own or v.destroys_others for v in self.verdicts)

    @property
    def untold(self) -> bool:
        """Return True when something can't be told."""
        return bool(self.unknown) or any(verdict.untold for verdict in self.verdicts)


def foretell(
    disk: OwnDisk, known: Mapping[TopicPartition, Known], unknown: Iterable[str] = ()
) -> BeforeStart:
    """Judge every replica on the disk. known: of the partitions that the start may touch."""
    nothing = Known(untold="it was not asked for")
    verdicts = [
        judge(replica, disk, known.get(replica.topic_partition, nothing))
        for replica in disk.replicas
    ]
    verdicts = _started_at_all(verdicts, disk.layout)
    ordered = sorted(verdicts, key=lambda v: (v.replica.topic_partition, v.replica.directory))
    return BeforeStart(
        disk.cluster_id or "",
        disk.broker,
        disk.stopped_clean,
        tuple(ordered),
        (*disk.problems, *unknown),
        refused=disk.refused or _refused(verdicts),
        refused_late=disk.refused is None or disk.refused_late,
        unsettled=disk.unsettled,
        known=known,
    )


def _started_at_all(verdicts: Iterable[Verdict], layout: Layout) -> list[Verdict]:
    """Return the verdicts, with a broker refused that has one replica in two directories, or two
    copies of one: it ends while it loads its logs, before it follows anybody. It loads those of a
    directory that goes offline, too, unless that goes for its meta.properties (seen on 3.9.1 and
    4.4.0)."""
    found = list(verdicts)
    loaded = Counter(
        loaded_as
        for verdict in found
        if layout.moment(verdict.replica.log_dir) is not Moment.UNREAD
        and (loaded_as := _loaded_as(verdict)) is not None
    )
    twice = next((tp for (tp, _), count in loaded.items() if count > 1), None)
    if twice is None:
        return found
    why = f"{twice} is in two of its directories: a broker refuses to start with both"
    return [
        failed(v.replica, Effect.REFUSED, why)
        if v.replica.kind in _LOADED and v.effect is not Effect.STRAY
        else v
        for v in found
    ]


def _loaded_as(verdict: Verdict) -> tuple[TopicPartition, bool] | None:
    """Return (partition, whether as a copy) of a replica that the start takes for one of its own;
    None of the others, of which there may be many. A copy that comes into use is loaded as one
    first."""
    replica = verdict.replica
    if verdict.effect in (Effect.STRAY, Effect.REFUSED) or replica.kind not in _LOADED:
        return None
    if replica.gone is not None or replica.not_given is not None:
        return None
    return replica.topic_partition, replica.directory.endswith("-future")


def _refused(verdicts: Iterable[Verdict]) -> str | None:
    return next((v.why for v in verdicts if v.effect is Effect.REFUSED), None)


def totals(found: BeforeStart) -> Iterator[tuple[Effect, int]]:
    """Yield each effect that some replica has, with how many have it."""
    count = Counter(verdict.effect for verdict in found.verdicts)
    return ((effect, count[effect]) for effect in Effect if count[effect])


def summary(found: BeforeStart) -> str:
    """Return one line that says what the start does to how many replicas."""
    told = ", ".join(f"{count} {words(effect)}" for effect, count in totals(found))
    replicas = count_text(len(found.verdicts), "replica")
    return f"broker {found.broker}: {replicas}" + (f": {told}" if told else "")


def words(effect: Effect) -> str:
    return effect.value.replace("_", " ")


def before_start_metrics(found: BeforeStart) -> list[Metric]:
    """Return the metrics. What could not be seen has a metric of its own, because a 0 in another
    does not include it."""
    rows = found.verdicts
    records = sum(v.records or 0 for v in rows if v.destroys_own)
    lost = sum(v.led.cuts.records for v in rows if v.led is not None)
    figures = {
        "replicas": ("Replicas on the disk.", len(rows)),
        "replicas_destroyed": (
            "Replicas of which the start deletes something.",
            sum(v.destroys_own for v in rows),
        ),
        "records_destroyed": (
            "Records that the start deletes, as far as they are counted.",
            records,
        ),
        "records_others_lose": (
            "Records of other brokers that are cut after the start, as far as known.",
            lost,
        ),
        "unknown": (
            "Facts that could not be read, and may hide more.",
            len(found.unknown) + sum(v.untold for v in rows),
        ),
    }
    return [gauge(f"{_PREFIX}_{name}", *figure) for name, figure in figures.items()]
