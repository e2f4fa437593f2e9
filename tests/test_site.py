"""The site that `make docs` builds: no broken link, every page readable on a telephone, and nothing
loaded from elsewhere."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.browser import CHROMIUM, WHY_NOT, Browser, browser

DOCS = Path(__file__).parents[1] / "docs"
BUILD_TIMEOUT = 300.0
TELEPHONE, DESK = 390, 1280
TOO_WIDE = "document.scrollingElement.scrollWidth - document.scrollingElement.clientWidth"

# What the button of the first block with a prompt copies.
_COPIED = """
new Promise(done => {
    document.execCommand = () => done(document.querySelector("textarea").value.trim());
    setTimeout(() => done("nothing was copied"), 10000);
    Array.from(document.querySelectorAll("div.highlight"))
        .find(block => block.textContent.trim().startsWith("$ "))
        .querySelector("button.copybtn").click();
})
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the site as `make docs` builds it: a warning, as of a broken link, is an error."""
    directory = tmp_path_factory.mktemp("site")
    command = ["--quiet", "--fail-on-warning", "--keep-going", str(DOCS), str(directory)]
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", *command],
        capture_output=True,
        text=True,
        timeout=BUILD_TIMEOUT,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return directory


@pytest.fixture(scope="module")
def screen() -> Iterator[Browser]:
    if CHROMIUM is None:
        pytest.skip(WHY_NOT)
    with browser() as opened:
        yield opened


def test_each_document_is_a_page(site: Path) -> None:
    documents = {path.relative_to(DOCS).with_suffix("") for path in DOCS.rglob("*.md")}
    assert documents <= {path.relative_to(site).with_suffix("") for path in site.rglob("*.html")}


@pytest.mark.parametrize(
    ("width", "pages"), [(TELEPHONE, "*.html"), (TELEPHONE, "*/**/*.html"), (DESK, "*.html")]
)
def test_no_page_is_wider_than_the_screen_or_loads_anything_from_elsewhere(
    site: Path, screen: Browser, width: int, pages: str
) -> None:
    screen.show(width, "light")
    wrong = []
    for page in sorted(site.glob(pages)):
        opened = screen.open(page)
        name = page.relative_to(site)
        beyond = screen.evaluate(TOO_WIDE)
        wrong += [f"{name} is {beyond} pixels too wide"] if beyond > 0 else []
        wrong += [f"{name}: {url}" for url in opened.requests if not _own(url, site)]
    assert wrong == []


def test_each_command_has_a_button_that_copies_it_without_its_prompt(
    site: Path, screen: Browser
) -> None:
    screen.show(DESK, "light")
    screen.open(site / "tutorial.html")
    blocks = screen.evaluate("document.querySelectorAll('div.highlight pre').length")
    assert screen.evaluate("document.querySelectorAll('button.copybtn').length") == blocks > 0
    assert screen.evaluate(_COPIED) == "kafka-unclean-recovery emulator --scenario stale-tail"


def test_the_way_of_an_incident_stands_at_the_head_of_the_site(site: Path, screen: Browser) -> None:
    screen.show(TELEPHONE, "light")
    screen.open(site / "index.html")
    width = screen.evaluate("document.querySelector('img[src*=incident]').clientWidth")
    assert TELEPHONE * 0.7 < width <= TELEPHONE


def _own(url: str, site: Path) -> bool:
    return url.startswith((site.absolute().as_uri(), "data:"))
