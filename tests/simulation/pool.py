"""Runs in processes of their own, some side by side: nothing of one is left for the next."""

from __future__ import annotations

import os
import pickle
import selectors
import shutil
import traceback
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Broken:
    """A run that gave no result: what it said last."""

    seed: int
    said: str


@dataclass
class _Child:
    seed: int
    pid: int
    pipe: int
    heard: bytes = b""


def side_by_side(
    play: Callable[[int, Path], T],
    seeds: Iterable[int],
    workers: int,
    scratch: Path,
    *,
    keep: bool,
) -> Iterator[T | Broken]:
    """Yield the result of each seed, in the order in which they end. keep: what they wrote, too."""
    waiting = iter(seeds)
    with selectors.DefaultSelector() as selector:
        for seed in islice(waiting, workers):
            _start(selector, play, seed, scratch)
        while selector.get_map():
            for key, _ in selector.select():
                child: _Child = key.data
                if data := os.read(child.pipe, 1 << 20):
                    child.heard += data
                    continue
                selector.unregister(child.pipe)
                if not keep:
                    shutil.rmtree(scratch / str(child.seed), ignore_errors=True)
                yield _result(child)
                for seed in waiting:
                    _start(selector, play, seed, scratch)
                    break


def _start(
    selector: selectors.BaseSelector, play: Callable[[int, Path], T], seed: int, scratch: Path
) -> None:
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reading)
        _play(play, seed, scratch, writing)
    os.close(writing)
    selector.register(reading, selectors.EVENT_READ, _Child(seed, pid, reading))


def _play(play: Callable[[int, Path], T], seed: int, scratch: Path, pipe: int) -> None:
    """Play in this child, which never returns."""
    leave = os._exit
    try:
        result: T | Broken
        try:
            result = play(seed, scratch / str(seed))
        except BaseException:  # noqa: BLE001 - whatever it is, it is told
            result = Broken(seed, traceback.format_exc())
        with os.fdopen(pipe, "wb") as file:
            pickle.dump(result, file)
    finally:
        leave(0)


def _result(child: _Child) -> Any:
    os.close(child.pipe)
    _, status = os.waitpid(child.pid, 0)
    if not child.heard:
        return Broken(child.seed, f"it ended with status {status}")
    return pickle.loads(child.heard)
