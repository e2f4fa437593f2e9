"""The table of docs/permissions.md, and what proves it: with all of a command's rights it works,
and without any one of them it says so, by its name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

PAGE = Path(__file__).parent.parent / "docs" / "permissions.md"
_BEGIN = "<!-- Least rights: made by pytest --rewrite, from what the tool said. -->\n"
_END = "<!-- End of least rights. -->\n"

LOOK, ELECT = "--show-replica-info", "--automated-recovery"
ALTER, DESCRIBE, READ = "Cluster:ALTER", "Cluster:DESCRIBE", "Topic(*):READ"


def only_not_known_electable(stderr: str) -> bool:
    """Return True when only the right to ask whom controllers elect is said to be missing."""
    said = stderr.splitlines()
    return bool(said) and all(line.endswith("grant Cluster:CREATE") for line in said)


class Done(Protocol):
    @property
    def code(self) -> int: ...
    @property
    def stdout(self) -> str: ...
    @property
    def stderr(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Row:
    """needs: what the tool says without a right, by right. code: with all of them; lacking: without
    one. words: the command's own, before any flag."""

    what: str
    arguments: tuple[str, ...]
    needs: Mapping[str, str]
    words: tuple[str, ...] = ()
    code: int = 0
    lacking: int = 1
    command: str = "kafka-unclean-recovery"

    @property
    def line(self) -> str:
        rights = " and ".join(_escaped(right) for right in self.needs)
        said = "; ".join(f"{_escaped(right)}: “{says}”" for right, says in self.needs.items())
        return f"| {self.what} | {rights} | {said} |\n"


def prove(row: Row, run: Callable[[Sequence[str]], Done]) -> None:
    """Check that `run` does it with these rights and no others. What elects nobody comes first."""
    for missing, says in row.needs.items():
        done = run([right for right in row.needs if right != missing])
        # What is wrong with all of them may be seen without one, too.
        assert done.code in {row.lacking, row.code or row.lacking}, (missing, done)
        assert says in done.stdout + done.stderr, (missing, done)
    done = run(list(row.needs))
    assert done.code == row.code, done
    for says in row.needs.values():
        assert says not in done.stdout + done.stderr, done


def check_table(rows: Sequence[Row], *, rewrite: bool) -> None:
    """Check that the page has their lines, in this order, and no others."""
    table = "| to run | grant | else it says |\n|---|---|---|\n" + "".join(r.line for r in rows)
    before, _, rest = PAGE.read_text().partition(_BEGIN)
    now, _, after = rest.partition(_END)
    if rewrite:
        PAGE.write_text(f"{before}{_BEGIN}\n{table}\n{_END}{after}")
        return
    assert now.strip() == table.strip()


def _escaped(right: str) -> str:
    return right.replace("*", "\\*")


_HIDDEN = "does not exist, or this user may not describe it"
_NO_ALTER = "this user lacks ALTER on the cluster"
_ELECTING = {ALTER: _NO_ALTER, READ: _HIDDEN}

LOOKING = Row(
    f"`{LOOK}`",
    ("--all-offline-partitions", LOOK),
    {
        DESCRIBE: "whether topics are hidden from this user is not known",
        READ: "this user may not describe topics",
    },
)
RECOVERING = Row(f"`{ELECT}`", ("--path-to-json-file", "{wanted}", ELECT, "--yes"), _ELECTING)
SAVING = Row(
    f"`{ELECT} --salvage-dir`", (*RECOVERING.arguments, "--salvage-dir", "{new}"), _ELECTING
)
DESIGNATING = Row(
    "`kafka-elect-leaders --election-type designated`",
    ("--election-type", "designated", "--path-to-json-file", "{leaders}"),
    _ELECTING,
    command="kafka-elect-leaders",
)
BY_THE_CONTROLLER = Row(
    "`kafka-elect-leaders --election-type preferred` or `unclean`",
    ("--election-type", "unclean", "--path-to-json-file", "{wanted}"),
    {ALTER: "CLUSTER_AUTHORIZATION_FAILED"},
    command="kafka-elect-leaders",
)
# Brokers that are down are a warning whoever asks.
EXAMINING = Row(
    "`doctor`",
    (),
    {
        ALTER: "Cluster:ALTER is missing",
        READ: "topics that this user may not describe",
        "Topic(*):DESCRIBE_CONFIGS": "grant Topic:DESCRIBE_CONFIGS",
    },
    ("doctor",),
    code=1,
)
# A broker that is down: which live copy of a partition without a leader is the best takes more.
STOPPING = Row(
    "`ok-to-stop`",
    ("--brokers", "2"),
    {
        DESCRIBE: "whether topics are hidden from this user is not known",
        "Topic(*):DESCRIBE": "this user may not describe topics",
        "Topic(*):DESCRIBE_CONFIGS": "grant Topic:DESCRIBE_CONFIGS",
    },
    ("ok-to-stop",),
    lacking=4,
)
# Some replicas take more: test_before_start_outages.py.
STARTING = Row(
    "`before-start`",
    ("--log-dirs", "{dead}"),
    {
        DESCRIBE: "whether a reassignment takes replicas off this broker is unknown",
        READ: "the brokers do not describe its partition",
        "Cluster:DESCRIBE_CONFIGS": "proves that broker",
    },
    ("before-start",),
    code=1,
    lacking=4,
)
REPLAYING = Row(
    "`salvage replay`",
    ("{saved}",),
    {
        READ: "orders.salvaged: no such topic",
        "Topic(*):DESCRIBE_CONFIGS": "can't be described: Broker: Topic authorization failed",
    },
    ("salvage", "replay"),
)
PRODUCING = Row(
    "`salvage replay --execute`",
    (*REPLAYING.arguments, "--execute", "--checkpoint", "{new}"),
    {
        **REPLAYING.needs,
        READ: "Fetch from broker 4 failed: Broker: Topic authorization failed",
        "Topic(*):WRITE": "Broker: Cluster authorization failed",
    },
    REPLAYING.words,
)
CARING = Row(
    "`aftercare`",
    ("--topics", "{topic}"),
    {
        DESCRIBE: "groups may be left out: listing all needs DESCRIBE on the cluster",
        READ: "may not be described",
        "Group(*):DESCRIBE": "committed is unknown: GROUP_AUTHORIZATION_FAILED",
        "TransactionalId(*):DESCRIBE": "no coordinator tells of its producer id",
    },
    ("aftercare",),
)
# The request that it sends besides: test_writing_a_marker_takes_alter_on_the_cluster.
ENDING = Row(
    "`aftercare --end-transactions`",
    (*CARING.arguments, "--end-transactions"),
    {ALTER: "CLUSTER_AUTHORIZATION_FAILED", **dict(list(CARING.needs.items())[1:])},
    CARING.words,
)
_BEYOND = {
    DESCRIBE: CARING.needs[DESCRIBE],
    READ: CARING.needs[READ],
    "Cluster:CLUSTER_ACTION": "grant Cluster:CLUSTER_ACTION",
    # Before 4.4, which names the node that it is.
    "Cluster:DESCRIBE_CONFIGS": "proves that broker 4 answered",
}
# A share group that is beyond the end.
SHARING = Row(
    "`aftercare` of share groups",
    ("--topics", "{shared}"),
    {**_BEYOND, "Group(*):DESCRIBE": "had read is unknown: GROUP_AUTHORIZATION_FAILED"},
    CARING.words,
    code=1,
)
RESETTING = Row(
    "`aftercare --reset-share-groups`",
    (*SHARING.arguments, "--reset-share-groups"),
    {**_BEYOND, "Group(*):READ": "had read is unknown: GROUP_AUTHORIZATION_FAILED"},
    CARING.words,
)
EMULATED = (
    LOOKING,
    RECOVERING,
    SAVING,
    DESIGNATING,
    BY_THE_CONTROLLER,
    EXAMINING,
    STOPPING,
    STARTING,
    REPLAYING,
    PRODUCING,
    SHARING,
    RESETTING,
)
REAL = (LOOKING, RECOVERING, DESIGNATING, STOPPING)
ROWS = (*EMULATED, CARING, ENDING)
