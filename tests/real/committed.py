"""The archives that lie in the repository: those that each run needs.

`python -m tests.real.committed` makes those that are missing, because what makes them was changed,
and removes what nobody needs any more; with `--all` it makes every one anew.

They may be months old when they are started, and by Kafka's rules nothing that a test looks for
goes bad. These go by the clock of the wall: records, which `log.retention.ms=-1` keeps; the times
in a certificate, which is none of the archive; segments of seven days, so that what is written
after a start is in a new one; group offsets and transactional ids after seven days, but a broker
looks for them ten minutes after its start at the earliest; a transaction that was left open, which
ends after its 15 minutes in an archive of .cache just so. Sessions, fencing and the next snapshot
go by the process's own clock.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from tests.chaos.recipe import chaos
from tests.real import cluster_metadata_recipe, disks_recipe, live_tail_recipe, salvage_recipe
from tests.real.faults import secured, three_controllers, trouble
from tests.real.outages import last_replica_standing, stale_tail
from tests.real.releases import NEWEST, TESTED
from tests.real.saved import COMMITTED, Saved


def committed() -> tuple[Saved, ...]:
    """Return those of the newest release, and the stale tail of all, which each run tries."""
    outages = (
        last_replica_standing(NEWEST),
        last_replica_standing(NEWEST, 2),
        *map(stale_tail, TESTED),
        trouble(NEWEST),
        three_controllers(NEWEST),
        secured(NEWEST),
        chaos(NEWEST),
    )
    recipes = (salvage_recipe, live_tail_recipe, disks_recipe, cluster_metadata_recipe)
    return (*(outage.saved for outage in outages), *(recipe.saved(NEWEST) for recipe in recipes))


def make(*, anew: bool = False) -> None:
    COMMITTED.mkdir(parents=True, exist_ok=True)
    wanted = {saved.file_name: saved for saved in committed()}
    for found in COMMITTED.iterdir():
        if anew or found.name not in wanted:
            found.unlink()
    for name, saved in wanted.items():
        if not saved.committed.exists():
            print(f"making {name}", flush=True)
            _make(saved)


def _make(saved: Saved) -> None:
    """Make it whole or not at all."""
    with tempfile.TemporaryDirectory(dir=COMMITTED.parent) as scratch:
        made = Path(scratch) / saved.file_name
        saved.make(made)
        made.rename(saved.committed)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.real.committed")
    parser.add_argument("--all", action="store_true", help="make every archive anew")
    make(anew=parser.parse_args().all)


if __name__ == "__main__":
    main()
