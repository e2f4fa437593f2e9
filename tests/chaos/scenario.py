"""What happens in one run, all of it decided by its seed. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from math import gcd
from random import Random

from tests.chaos.recipe import SURVIVORS


class Moment(StrEnum):
    """Where the tool is held while the fault happens. What comes before an answer has been carried
    out, and the tool does not know it yet."""

    CONNECTING = "connecting"
    GATHERING = "gathering"
    PROMPT = "prompt"
    REORDER = "before the new order"
    REORDERED = "before the answer to the new order"
    ELECT = "before the election"
    ELECTED = "before the answer to the election"
    RESTORE = "before the old order"
    RESTORED = "before the answer to the old order"
    VERIFY = "reading back"

    @property
    def planned(self) -> bool:
        """Return True when the replicas have been looked at."""
        return self not in (Moment.CONNECTING, Moment.GATHERING)

    @property
    def begun(self) -> bool:
        """Return True when the last look is over, and the journal announces the election."""
        return self.planned and self is not Moment.PROMPT


# Somebody else who gives the replicas an order then, decides who is elected.
ORDER_MATTERS = frozenset({Moment.REORDER, Moment.REORDERED, Moment.ELECT})
# An order of ours is on its way, and overtaken by what somebody else does.
ON_THE_WAY = frozenset({Moment.REORDER, Moment.RESTORE})


class Fault(StrEnum):
    KILL_BROKER = "kill a broker"
    PAUSE_BROKER = "pause a broker"
    KILL_ACTIVE = "kill the active controller"
    PAUSE_ACTIVE = "pause the active controller"
    KILL_STANDBY = "kill a standby"
    PAUSE_STANDBY = "pause a standby"
    LOSE_QUORUM = "kill two controllers"
    CUT_LINK = "cut the link to a broker"
    SEVER_LINK = "sever the link to a broker"
    DELAY_LINK = "delay the link to a broker"
    CUT_CONTROL = "cut a broker off from the controllers"
    DELAY_CONTROL = "delay a broker's link to the controllers"
    SIGKILL = "SIGKILL the tool"
    SIGTERM = "SIGTERM the tool"
    SIGINT = "SIGINT the tool"
    SECOND_SIGNAL = "SIGTERM and SIGINT the tool"
    SIGHUP = "SIGHUP the tool"
    SIGQUIT = "SIGQUIT the tool"
    NO_READER = "nobody reads what the tool says"
    QUOTA = "a quota holds all clients back"
    RETURN_KILLED = "return a leader that was killed"
    RETURN_STOPPED = "return a leader that was stopped"
    DELETE_TOPIC = "delete a topic"
    ALTER_CONFIG = "alter a topic's configuration"
    UNCLEAN_CONFIG = "allow unclean elections of a topic"
    ADD_PARTITIONS = "add partitions to a topic"
    REASSIGN = "reassign a partition"
    ELECT = "elect blindly"
    REMAKE_TOPIC = "delete a topic and make it anew"
    SWAP_ADDRESSES = "swap the addresses of brokers"
    UNLIST = "start a broker without the listener"


# One of the replicas 2, 4, 3 leaves for one that is dead: nothing completes it.
REASSIGNED = (4, 3, 1)
REMADE = SURVIVORS
"""The replicas of a topic that was made anew."""

OF_BROKERS = frozenset(
    {
        Fault.KILL_BROKER,
        Fault.PAUSE_BROKER,
        Fault.CUT_LINK,
        Fault.SEVER_LINK,
        Fault.DELAY_LINK,
        Fault.CUT_CONTROL,
        Fault.DELAY_CONTROL,
    }
)
OF_TOPICS = frozenset(
    {
        Fault.DELETE_TOPIC,
        Fault.ALTER_CONFIG,
        Fault.UNCLEAN_CONFIG,
        Fault.ADD_PARTITIONS,
        Fault.REASSIGN,
        Fault.ELECT,
        Fault.REMAKE_TOPIC,
    }
)
OF_CONTROLLERS = frozenset(
    {
        Fault.KILL_ACTIVE,
        Fault.PAUSE_ACTIVE,
        Fault.KILL_STANDBY,
        Fault.PAUSE_STANDBY,
        Fault.LOSE_QUORUM,
    }
)
CRASHES = frozenset({Fault.SIGKILL, Fault.SECOND_SIGNAL})
RETURNS = {Fault.RETURN_KILLED: 1, Fault.RETURN_STOPPED: 2}
STOPS = frozenset({Fault.SIGTERM, Fault.SIGINT, Fault.SIGHUP, Fault.SIGQUIT})
OF_THE_TOOL = frozenset({Fault.SIGKILL, Fault.SECOND_SIGNAL, *STOPS})
# What was read may be another broker's, or not all: only what loses nothing for certain is elected.
MISLEADING = frozenset({Fault.SWAP_ADDRESSES, Fault.UNLIST})
# What may come on top of another fault: none of these says by itself who is to lead.
ON_TOP = (
    Fault.PAUSE_BROKER,
    Fault.KILL_ACTIVE,
    Fault.PAUSE_ACTIVE,
    Fault.KILL_STANDBY,
    Fault.PAUSE_STANDBY,
    Fault.CUT_LINK,
    Fault.SEVER_LINK,
    Fault.DELAY_LINK,
    Fault.CUT_CONTROL,
    Fault.DELAY_CONTROL,
    Fault.ALTER_CONFIG,
    Fault.NO_READER,
    Fault.QUOTA,
)


class Way(StrEnum):
    """How the tool is run the first time."""

    PLAIN = "plain"
    TERMINAL = "terminal"
    WAIT = "waits for brokers"
    SALVAGE = "salvages first"
    ALL = "all that are offline"


# A run of all uses a cluster up, so there are few.
_WAYS = {Way.PLAIN: 5, Way.TERMINAL: 3, Way.WAIT: 3, Way.SALVAGE: 3, Way.ALL: 1}


# A broker hit by one of these hears nobody, or is heard by no controller.
_UNHEARD = (Fault.PAUSE_BROKER, Fault.CUT_CONTROL)
# Done before anything happens to a controller; and a pipe has no reader from the start.
_BY_THE_CONTROLLER = (Fault.QUOTA, Fault.ALTER_CONFIG, Fault.NO_READER)
_ONLY_ON_TOP = (Fault.QUOTA, Fault.NO_READER)


@dataclass(frozen=True, slots=True)
class Extra:
    """A fault on top. early: it is there before the tool starts, else it comes with the other."""

    fault: Fault
    broker: int
    early: bool

    def __str__(self) -> str:
        hit = f" {self.broker}" if self.fault in OF_BROKERS else ""
        return f"{self.fault}{hit} {'from the start' if self.early else 'as well'}"


@dataclass(frozen=True, slots=True)
class Scenario:
    """broker: whom the fault hits, who returns, or whose address leads elsewhere. seconds: how long
    the fault lasts at least, unless the tool has ended. delay: of each frame of a slow link, in
    seconds. stays_dead: a killed broker is started only after the second run. quietly: who returns
    is not waited for, and only one address leads elsewhere.
    patience_ms: --recovery-duration-ms. extras: one or two more faults.
    """

    seed: int
    fault: Fault
    moment: Moment
    way: Way
    broker: int
    seconds: float
    delay: float
    stays_dead: bool
    quietly: bool
    crashes_again: bool
    patience_ms: int
    extras: tuple[Extra, ...] = ()

    def __str__(self) -> str:
        hit = f" {self.broker}" if self.fault in (*OF_BROKERS, *RETURNS, *MISLEADING) else ""
        again = ", and the next" if self.crashes_again else ""
        more = "".join(f"; {extra}" for extra in self.extras)
        return f"{self.fault}{hit}{again}; {self.moment}; {self.way}{more}"

    @property
    def faults(self) -> frozenset[Fault]:
        return frozenset({self.fault, *(extra.fault for extra in self.extras)})

    def hit(self, when_reached: bool) -> frozenset[int]:
        """Return the brokers that may not have been seen, for what was done to them."""
        early = {e.broker for e in self.extras if e.fault in OF_BROKERS and e.early}
        late = {e.broker for e in self.extras if e.fault in OF_BROKERS}
        own = {self.broker} if self.fault in OF_BROKERS else set()
        planned = not when_reached or self.moment.planned
        return frozenset(early if planned else {*early, *late, *own})


COMBINATIONS = tuple(
    (fault, moment) for fault in Fault if fault not in _ONLY_ON_TOP for moment in Moment
)
# Seeds in a row meet different faults at different moments.
_STRIDE = 67
assert gcd(_STRIDE, len(COMBINATIONS)) == 1


def scenario(seed: int) -> Scenario:
    """Return the scenario of a seed: as many seeds in a row as there are combinations of fault and
    moment have each once."""
    fault, moment = COMBINATIONS[seed * _STRIDE % len(COMBINATIONS)]
    random = Random(seed)
    (way,) = random.choices(list(_WAYS), list(_WAYS.values()))
    way = Way.TERMINAL if moment is Moment.PROMPT else way
    return Scenario(
        seed,
        fault,
        moment,
        way,
        RETURNS.get(fault, random.choice(SURVIVORS)),
        seconds=random.choice((0.0, 2.0, 5.0, 15.0)),
        delay=random.choice((0.2, 1.0, 2.0)),
        stays_dead=random.random() < 0.5,
        quietly=random.random() < 0.25 and moment is not Moment.PROMPT,
        crashes_again=random.random() < 0.5 and fault in CRASHES and moment.begun,
        patience_ms=random.choice((4000, 8000) if way is Way.WAIT else (4000, 30_000)),
        extras=_extras(random, fault, way),
    )


def _extras(random: Random, fault: Fault, way: Way) -> tuple[Extra, ...]:
    """Return one extra of each kind: what is paused twice is resumed once."""
    kinds = [kind for kind in ON_TOP if kind is not fault]
    if fault is Fault.UNLIST:
        # That it lives is seen by its fetching metadata, and nothing else.
        kinds = [kind for kind in kinds if kind not in OF_BROKERS]
    if fault in OF_TOPICS:
        # Whoever changes a topic waits for a controller.
        kinds = [kind for kind in kinds if kind not in OF_CONTROLLERS]
    if way is Way.TERMINAL or fault is Fault.SECOND_SIGNAL:
        # What is said is waited for.
        kinds.remove(Fault.NO_READER)
    kinds = random.sample(kinds, random.choice((1, 1, 2)))
    if fault in OF_TOPICS and {*kinds} == {*_UNHEARD}:
        # Both survivors would be out, and nobody could change the topic.
        kinds.pop()
    survivors = random.sample(SURVIVORS, len(SURVIVORS))
    kinds.sort(key=lambda kind: kind not in _BY_THE_CONTROLLER)
    early = [random.random() < 0.4 or kind in _BY_THE_CONTROLLER for kind in kinds]
    return tuple(map(Extra, kinds, survivors, early))
