"""What each question to a live cluster may cost: one row a question.

Main questions are those that an answer, or an election, rests on; how long logs may take is the
operator's word (--recovery-duration-ms). A side question has a connection of its own, and what it
could not tell is its own sentence: it never costs a main one. A failed answer stays true for no
time at all.
"""

from __future__ import annotations

from dataclasses import dataclass

from kafka_unclean_recovery.deadline import Deadline


@dataclass(frozen=True, slots=True)
class Budget:
    """seconds: in all. alone: in which the node that is asked first has the question to itself, 0
    where all are asked at once, or only one can tell. good_for: for how many seconds the answer is
    taken for true."""

    seconds: float
    alone: float = 0.0
    good_for: float = 0.0

    def deadline(self) -> Deadline:
        """Return the deadline of a question that is asked now."""
        return Deadline.after(self.seconds)


# Who lives, and what is led by whom. A read is repeated through other brokers until its caller's
# time is up; at least one broker must have all metadata within the time of CURRENT, where a working
# one is at most half a second behind.
READ = Budget(30.0, alone=2.0)
CURRENT = Budget(4.0, good_for=1.0)
LOOK_AGAIN = Budget(5.0, good_for=5.0)
# A broker that works says at once that it does; within its session it is listed whether it works or
# not, and is heard of again within HEARD_AGAIN, where one that has ended is not.
ANSWERS_AT_ALL = Budget(5.0)
HEARD_AGAIN = Budget(4.0)

# The controllers. One that answers at all does so within the time of a failover; where nothing is
# elected, or a caller asks again and again, they get a glance.
QUORUM = Budget(10.0)
QUORUM_AT_A_GLANCE = Budget(2.0)
QUORUM_WHILE_POLLING = Budget(1.0)
REASSIGNMENTS = Budget(10.0)

# Logs, besides those that are gathered until the operator's time is up. A closed port answers at
# once, and a machine that is off costs all of FENCED_LOGS; one that takes the connection is waited
# for once more. Who was silent before the last look gets a moment at it, for the others' answers
# grow old. A quota holds answers back, or has a broker leave partitions out of them.
LATE_LOGS = Budget(10.0)
FENCED_LOGS = Budget(1.5)
FENCED_LOGS_OF_THE_SLOW = Budget(4.0)
LAST_LOOK = Budget(5.0, good_for=3.0)
LAST_LOOK_AT_THE_SILENT = Budget(0.75)
LED_LOGS = Budget(10.0)
LED_LOGS_UNDER_A_QUOTA = Budget(60.0)
SURVIVING_LOGS = Budget(10.0)

# Side questions.
ELECTABLE = Budget(1.5)
ACTIVE = Budget(1.5)
HIDDEN_TOPICS = Budget(5.0)
GROUPS = Budget(3.0)
CONFIGS = Budget(10.0, good_for=300.0)
UNCLEAN_ELECTIONS = Budget(3.0)
TIERED_TOPICS = Budget(3.0)
MIN_ISRS = Budget(3.0)

# Commands that elect nobody: each round of their questions.
AFTERCARE = Budget(10.0)
BEFORE_START = Budget(10.0)
# A metadata log of a million partitions has some hundred MiB.
METADATA_LOG = Budget(60.0)
DOCTOR = Budget(10.0, alone=1.0)
LOST_QUORUM = Budget(15.0)
