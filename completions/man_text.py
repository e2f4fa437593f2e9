"""What man pages say that no parser knows."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Text:
    """Paragraphs have an empty line between. `sections`: title and paragraphs. `examples`: what it
    is for, and the lines."""

    purpose: str
    description: str
    sections: tuple[tuple[str, str], ...]
    examples: tuple[tuple[str, str], ...]
    see_also: str


_EXIT_STATUS = """
0: every partition asked for is online with the leader chosen, or came back by itself; of a run that
elects nothing: everything could be read and planned.

1: some are not; standard error names each with its reason.

2: usage or bad input; nothing was changed.

3: no broker could be reached, or authentication failed.

130, 143: interrupted by SIGINT or SIGTERM. The step in hand was finished and the report is partial;
a second signal stops at once, and the journal says what is left.
"""

_ENVIRONMENT = """
Each flag can come from the environment: KAFKA_UNCLEAN_RECOVERY_, the name of the command where it
has one (ELECT_LEADERS_ for kafka-elect-leaders) and that of the flag, as in
KAFKA_UNCLEAN_RECOVERY_YES and KAFKA_UNCLEAN_RECOVERY_DOCTOR_TIMEOUT_MS.
KAFKA_UNCLEAN_RECOVERY_BOOTSTRAP_SERVER, KAFKA_UNCLEAN_RECOVERY_COMMAND_CONFIG and
KAFKA_UNCLEAN_RECOVERY_LOG_FORMAT are of every command. The command line comes before a variable,
and an empty one is not set. Standard error says which flags came from there. A variable with such a
name that no flag has is an error of usage.
"""

_FILES = """
$XDG_STATE_HOME/kafka-unclean-recovery/CLUSTER_ID: the journals of runs that elect, by default below
~/.local/state. Each step is in the journal, on the disk, before it is taken; the next run that
elects on the cluster finishes what an interrupted one left half done.
"""

_SEE_ALSO = (
    "README.md for the findings, the rights that are needed and how it works; KIP-1275 and KIP-966"
    " for the semantics."
)

TEXTS = {
    "kafka-unclean-recovery": Text(
        purpose="recover offline Kafka partitions by electing the replica that loses least",
        description="""
Standard output is the artefact, everything for people is on standard error, and no file is ever
overwritten.
""",
        sections=(
            ("EXIT STATUS", _EXIT_STATUS),
            ("ENVIRONMENT", _ENVIRONMENT),
            ("FILES", _FILES),
        ),
        examples=(
            (
                "Look, and change nothing:",
                """
kafka-unclean-recovery --bootstrap-server b1:9092,b2:9092 \\
    --command-config client.properties --all-offline-partitions --show-replica-info
""",
            ),
            (
                "Give a dead broker ten minutes to come back, then elect; you are asked before:",
                """
kafka-unclean-recovery --bootstrap-server b1:9092 --all-offline-partitions \\
    --automated-recovery --wait-for-brokers 1 --recovery-duration-ms 600000
""",
            ),
            (
                "Check that a recovery would work:",
                "kafka-unclean-recovery doctor --bootstrap-server b1:9092",
            ),
            (
                "Read the disks of brokers that will not start:",
                "kafka-unclean-recovery scan-log-dirs /mnt/broker1 --output disks.json",
            ),
            (
                "See what an election left behind, until it is over:",
                "kafka-unclean-recovery aftercare --bootstrap-server b1:9092 --watch",
            ),
        ),
        see_also=f"kafka-elect-leaders(1); {_SEE_ALSO}",
    ),
    "kafka-elect-leaders": Text(
        purpose="elect preferred, unclean or designated leaders of Kafka partitions",
        description="""
A designated election elects exactly the replica that the file names, on the Kafka of today. Never
feed such a file to today's kafka-leader-election.sh: it accepts it and ignores the designated
leaders.
""",
        sections=(
            ("EXIT STATUS", _EXIT_STATUS),
            ("ENVIRONMENT", _ENVIRONMENT),
            ("FILES", _FILES),
        ),
        examples=(
            (
                "Elect the leaders that --manual-recovery-output-file designated:",
                """
kafka-elect-leaders --bootstrap-server b1:9092 --election-type designated \\
    --path-to-json-file plan.json
""",
            ),
        ),
        see_also=f"kafka-unclean-recovery(1); {_SEE_ALSO}",
    ),
}
