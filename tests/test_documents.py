"""The documents: short where they are read in a hurry, and no link leads nowhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
# The site's first page is the README again, and its menu.
FIRST_OF_THE_SITE = ROOT / "docs" / "index.md"
PAGES = [ROOT / "README.md", *sorted({*(ROOT / "docs").rglob("*.md")} - {FIRST_OF_THE_SITE})]
README_BYTES = 8 << 10
_LINK = re.compile(r"\[[^\]]+\]\(([^)\s]+)\)")


def test_the_readme_is_read_in_minutes() -> None:
    assert (ROOT / "README.md").stat().st_size <= README_BYTES


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_no_link_leads_nowhere(page: Path) -> None:
    links = [link for link in _LINK.findall(page.read_text()) if "://" not in link]
    missing = [link for link in links if not (page.parent / link.partition("#")[0]).exists()]
    assert missing == []


def test_every_page_is_reached_from_the_readme() -> None:
    linked = {(ROOT / link).resolve() for link in _LINK.findall(PAGES[0].read_text())}
    pages = {page for page in PAGES if page.parent == FIRST_OF_THE_SITE.parent}
    assert pages - linked == set()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_has_one_title_and_it_is_first(page: Path) -> None:
    lines = page.read_text().splitlines()
    titles = [number for number, line in enumerate(lines) if line.startswith("# ")]
    assert titles == [0]
