"""The saved clusters that lie in the repository: of today's recipes, small, and without secrets."""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest

from tests.real import saved as saved_clusters
from tests.real.committed import committed
from tests.real.saved import COMMITTED, Saved, digest_of

# Each of them made anew is as much again in the history for good.
MOST_BYTES = 1 << 20


def test_those_in_the_repository_are_of_the_recipes_of_today() -> None:
    wanted = {saved.file_name for saved in committed()}
    found = {path.name for path in COMMITTED.iterdir()}
    assert found == wanted, "recipes were changed: run `python -m tests.real.committed`"


def test_they_are_small_and_hold_no_keys() -> None:
    assert sum(path.stat().st_size for path in COMMITTED.iterdir()) < MOST_BYTES
    for path in COMMITTED.iterdir():
        with tarfile.open(path) as archive:
            members = archive.getmembers()
        assert "./cluster.json" in {member.name for member in members}
        secret = {".pem", ".properties", ".jks", ".p12"}
        names = [Path(member.name) for member in members]
        assert {name.name for name in names if name.suffix in secret} <= {"meta.properties"}
        assert {(member.uid, member.uname) for member in members} <= {(0, ""), (0, "root")}


def test_one_that_another_recipe_made_is_not_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(saved_clusters, "COMMITTED", tmp_path / "committed")
    monkeypatch.setattr(saved_clusters, "CACHE", tmp_path / "cache")
    (tmp_path / "committed").mkdir()
    before = Saved("outage", "before", lambda made: made.touch())
    now = Saved("outage", "now", lambda made: made.touch())
    before.committed.touch()
    assert before.archive() == tmp_path / "committed" / "outage-before.tar.xz"
    assert now.archive() == tmp_path / "cache" / "outages" / "outage-now.tar.xz"


def test_a_digest_is_of_what_the_sources_say(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(saved_clusters, "HERE", tmp_path)
    (tmp_path / "recipe.py").write_text("first")
    before = digest_of(["recipe.py"], "parameters")
    assert digest_of(["recipe.py"], "others") != before
    (tmp_path / "recipe.py").write_text("second")
    assert digest_of(["recipe.py"], "parameters") != before
