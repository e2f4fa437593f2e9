"""Each archive in the repository is made once more, and what comes of it is the same.

The digest in its name tells of the recipe; this tells whether the recipe still does what it did,
with the clients and the harness of today. `make test-all` runs it.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.real.at_rest import at_rest
from tests.real.committed import committed
from tests.real.saved import Saved


@pytest.mark.parametrize("saved", committed(), ids=lambda saved: saved.name)
def test_an_archive_made_anew_holds_the_same(saved: Saved, tmp_path: Path) -> None:
    fresh = tmp_path / saved.file_name
    saved.make(fresh)
    kept = at_rest(saved.committed, tmp_path / "committed")
    made = at_rest(fresh, tmp_path / "fresh")
    # Neither is empty, or the below would say little. A broker may be: the third of the stale tail.
    assert any(kept.replicas.values())
    assert kept.partitions
    assert made.partitions == kept.partitions
    assert made.replicas == kept.replicas
