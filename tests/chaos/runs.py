"""Runs one after the other, on a cluster that is made anew when it is used up."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Self

from tests.chaos.run import Result, can_play, run_seed
from tests.chaos.tapped import TappedCluster


class Runs:
    """`directory` gets the clusters, one at a time, and what the tool writes in each run."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._tapped: TappedCluster | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def run(self, seed: int) -> Result:
        if self._tapped is not None and not can_play(self._tapped):
            self._end()
        if self._tapped is None:
            shutil.rmtree(self._cluster, ignore_errors=True)
            self._tapped = TappedCluster.start(self._cluster)
        try:
            result = run_seed(self._tapped, seed, self._home(seed))
        except BaseException:
            self._end()
            raise
        if result.used_up:
            self._end()
        return result

    def keep(self, seed: int, target: Path) -> None:
        """Keep what the run said and wrote, and what the nodes of its cluster printed."""
        shutil.copytree(self._home(seed), target)
        for output in self._cluster.glob("node-*/output.log"):
            shutil.copyfile(output, target / f"{output.parent.name}.log")

    @property
    def _cluster(self) -> Path:
        return self._directory / "cluster"

    def _home(self, seed: int) -> Path:
        return self._directory / f"seed-{seed}"

    def _end(self) -> None:
        if self._tapped is not None:
            self._tapped.close()
            self._tapped = None
