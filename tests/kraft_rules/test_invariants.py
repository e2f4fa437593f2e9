"""Thousands of random lines of `script` on each release: what holds in every state holds."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from random import Random

import pytest

from kafka_unclean_recovery.kraft_rules import events as ev
from kafka_unclean_recovery.kraft_rules import machine
from kafka_unclean_recovery.kraft_rules.records import Record
from kafka_unclean_recovery.kraft_rules.releases import RELEASES, Release
from kafka_unclean_recovery.kraft_rules.replay import replay
from kafka_unclean_recovery.kraft_rules.state import ControllerFault, State
from tests.kraft_rules.invariants import check_invariants, check_step, partitions
from tests.kraft_rules.script import Script

_STRATEGIES = ("None", "Balanced", "Aggressive")
BROKERS = (1, 2, 3, 4, 5)
STEPS = 500
SEEDS = range(8)


def _members(chance: Random) -> str:
    return ",".join(map(str, chance.sample(BROKERS[:4], chance.randint(1, 4))))


def _isr(chance: Random) -> str:
    stale = "@-1" if chance.random() < 0.1 else ""
    recovering = " recovering" if chance.random() < 0.2 else ""
    return f"isr {_members(chance)}{stale} partition={chance.randint(0, 1)}{recovering}"


def _reassign(chance: Random) -> str:
    replicas = chance.sample(BROKERS, chance.randint(1, 4))
    return f"reassign {','.join(map(str, replicas))} partition={chance.randint(0, 1)}"


def _elect(chance: Random) -> str:
    kind = chance.choice(("preferred", "unclean", "unclean all", "designated 1", "designated 2"))
    return f"elect {kind}"


def _config(chance: Random) -> str:
    key = chance.choice(("min.insync.replicas", "unclean.leader.election.enable"))
    value = chance.choice("1223") if key.startswith("min") else chance.choice(("true", "false"))
    return f"{chance.choice(('set', 'cluster'))} {key}={value}"


def _of_broker(word: str) -> Callable[[Random], str]:
    return lambda chance: word.format(chance.choice(BROKERS))


_LINES: tuple[tuple[int, Callable[[Random], str]], ...] = (
    (12, _of_broker("fence {}")),
    (20, _of_broker("unfence {}")),
    (4, _of_broker("expire {}")),
    (4, _of_broker("shutdown {}")),
    (4, _of_broker("heartbeat {}")),
    (8, _of_broker("restart {} unclean")),
    (4, _of_broker("restart {} clean")),
    (2, _of_broker("fail {} 0")),
    (2, _of_broker("assign {} 0")),
    (2, _of_broker("assign {} 1 partition=1")),
    (40, _isr),
    (6, _reassign),
    (4, lambda chance: f"cancel partition={chance.randint(0, 1)}"),
    (4, _elect),
    (3, _config),
    (2, lambda _: "timer unclean"),
    (2, lambda _: "timer balance"),
    (1, lambda _: "delete"),
    (2, lambda _: "recover"),
    (1, lambda _: "cluster unclean.recovery.manager.enabled=false"),
    (2, lambda chance: f"set unclean.recovery.strategy={chance.choice(_STRATEGIES)}"),
    (6, lambda chance: f"log {chance.choice(BROKERS)} {chance.randint(0, 9)}:9"),
    (3, lambda chance: f"timeout partition={chance.randint(0, 1)}"),
    (2, lambda chance: f"elect longest_log_{chance.choice(('balanced', 'aggressive'))}"),
    (2, lambda chance: f"elr {chance.choice(('on', 'on', 'off'))}"),
    (4, lambda chance: f"isrs {_members(chance)};{_members(chance)} by={chance.choice(BROKERS)}"),
)


def _line(chance: Random, state: State) -> str:
    if state.topic("foo") is None:
        return "topic foo 1,2,3;2,3,4 min.insync.replicas=2"
    return chance.choices([line for _, line in _LINES], [weight for weight, _ in _LINES])[0](chance)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("release", RELEASES.values(), ids=lambda release: release.name)
def test_invariants_hold_after_each_of_many_random_steps(release: Release, seed: int) -> None:
    chance = Random(seed)
    script = Script(State(release))
    script.play("brokers 1 2 3 4 5 dirs=2")
    played = []
    for _ in range(STEPS):
        line = _line(chance, script.state)
        played.append(line)
        before = partitions(script.state)
        try:
            script.play(line)
        except ControllerFault:
            assert release.min_isr_change_clears_elr, played
            return
        check_invariants(script.state)
        check_step(script.state, before, line)


@pytest.mark.parametrize("release", RELEASES.values(), ids=lambda release: release.name)
def test_state_is_what_its_records_make_of_it_and_deciding_changes_nothing(
    release: Release, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[Record] = []
    script = Script(State(release))
    handle = machine.handle

    def watched(state: State, event: ev.Event) -> tuple[list[Record], object]:
        before = deepcopy(state)
        records, response = handle(state, event)
        assert state == before
        written.extend(records)
        return records, response

    monkeypatch.setattr(machine, "handle", watched)
    chance = Random(3)
    script.play("brokers 1 2 3 4 5")
    for _ in range(STEPS):
        script.play(_line(chance, script.state))
    again = State(release)
    for record in written:
        replay(again, record)
    assert again == script.state
