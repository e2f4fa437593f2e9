"""A lost quorum recovered by our command, the way an operator goes about it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.real.cli import Cli, Finished
from tests.real.new_controllers import SERVERS, VOTERS, NewControllers
from tests.real.processes import output

# The exit code of a plan that is refused.
REFUSED = 1
# The one that takes over in a dynamic quorum. A static one takes the id of a lost one.
NEW = 201


@dataclass(frozen=True, slots=True)
class QuorumRecovery:
    """The steps; `node` is the new controller, at the address of the lost controller `at`."""

    cli: Cli
    new: NewControllers
    node: int = NEW
    at: int = 101
    lost: tuple[int, ...] = (101, 102, 103)

    @property
    def address(self) -> str:
        return self.new.cluster.controller_address(self.at)

    @property
    def plan_file(self) -> Path:
        return self.cli.home / "quorum-plan.json"

    @property
    def planned(self) -> Any:
        """Return the plan."""
        return json.loads(self.plan_file.read_text())

    def inspect(self, *arguments: str) -> Finished:
        return self.cli.offline("quorum", "inspect", *arguments)

    def plan(self, directories: Sequence[Path], *more: str) -> Finished:
        """Plan; a static quorum tells its voters nowhere but in the configuration."""
        lost = ",".join(map(str, self.lost))
        new = ("--new-controller", f"{self.node}@{self.address}")
        which = (*new, "--lost-controllers", lost)
        file = ("--plan-output-file", str(self.plan_file))
        return self.cli.offline(
            "quorum", "plan", *map(str, directories), *file, *which, *self._voters, *more
        )

    def seed(self, directory: Path | None = None) -> Finished:
        target = directory or self.new.log_dir(self.node)
        target.parent.mkdir(parents=True, exist_ok=True)
        arguments = ("--plan", str(self.plan_file), "--output-dir", str(target), "--yes")
        return self.cli.offline("quorum", "seed", *arguments)

    def start(self) -> None:
        """Start the new controller, on what `seed` made."""
        static = {VOTERS: f"{self.node}@{self.address}"}
        self.new.configure(
            self.node, self.address, {SERVERS: self.address} if self.dynamic else static
        )
        self.new.start(self.node)

    def verify(self, *more: str) -> Finished:
        asked = (*self.of_the_new_one, "--format", "json")
        return self.cli.offline("quorum", "verify", *asked, *more)

    @property
    def of_the_new_one(self) -> tuple[str, ...]:
        """Return the flags by which `verify` knows the plan, the new controller and the brokers."""
        planned = ("--plan", str(self.plan_file), "--bootstrap-controller", self.address)
        return (*planned, "--bootstrap-server", self.new.cluster.bootstrap_servers)

    def recover(self, directories: Sequence[Path], *more: str) -> None:
        """Plan, seed and start."""
        for done in (self.plan(directories, *more), self.seed()):
            assert done.code == 0, done
        self.start()

    @property
    def dynamic(self) -> bool:
        """Return whether the voters are in the log, which the node ids of this harness tell."""
        return self.node == NEW

    @property
    def _voters(self) -> tuple[str, ...]:
        cluster = self.new.cluster
        voters = (f"{id_}@{cluster.controller_address(id_)}" for id_ in cluster.spec.controller_ids)
        return () if self.dynamic else ("--controller-quorum-voters", ",".join(voters))

    def outputs(self) -> dict[int, str]:
        """Return what each node printed, the new controller among them."""
        cluster = self.new.cluster
        paths = {node: output(cluster.directory, node) for node in cluster.node_ids}
        paths[self.node] = self.new.output(self.node)
        return {n: path.read_text(errors="replace") for n, path in paths.items() if path.exists()}
