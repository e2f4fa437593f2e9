"""Our pages in a headless browser: nothing to complain of, nothing fetched, and all of it readable,
on a wide screen and a phone's, light and dark."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from msgspec import structs

from kafka_unclean_recovery.post_mortem.page import render_page
from kafka_unclean_recovery.post_mortem.reading import read_post_mortem
from kafka_unclean_recovery.report.loss_page import render_loss_page
from tests.browser import CHROMIUM, WHY_NOT, Browser, browser
from tests.post_mortem.journals import elected, of_many_epochs, planned, write_journal
from tests.report.test_loss_page import HEAD, ORDERS, QUIET

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason=WHY_NOT)

SCREENS = [(width, scheme) for width in (1280, 390) for scheme in ("light", "dark")]
LONG = "a" * 249
# The least contrast of a text with what is behind it (WCAG 2): 4.5 is that of AA. A text in an SVG
# has its bar behind it.
LEAST_CONTRAST = """
(() => {
  const numbers = colour => colour.match(/[\\d.]+/g).map(Number);
  const light = colour => {
    const [r, g, b] = numbers(colour).map(v => v / 255)
      .map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = element => {
    for (let e = element; e; e = e.parentElement) {
      const colour = getComputedStyle(e).backgroundColor;
      const [, , , alpha = 1] = numbers(colour);
      if (alpha > 0) return colour;
    }
    return "rgb(255, 255, 255)";
  };
  const bar = text => {
    const x = text.getBBox().x + text.getBBox().width / 2;
    const under = [...text.parentElement.querySelectorAll("rect")].find(rect => {
      const box = rect.getBBox();
      return box.x <= x && x <= box.x + box.width;
    });
    return getComputedStyle(under).fill;
  };
  const contrasts = [];
  for (const e of document.body.querySelectorAll("*")) {
    const written = [...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim());
    if (!written) continue;
    const svg = e.tagName === "text";
    const a = light(svg ? getComputedStyle(e).fill : getComputedStyle(e).color);
    const b = light(svg ? bar(e) : behind(e));
    contrasts.push((Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05));
  }
  return Math.min(...contrasts);
})()
"""
# The smallest text, in pixels.
SMALLEST = """
Math.min(...[...document.body.querySelectorAll("*")]
  .filter(e => e.textContent.trim()).map(e => parseFloat(getComputedStyle(e).fontSize)))
"""


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with browser() as running:
        yield running


@pytest.fixture(scope="module", params=["post-mortem", "losses"])
def page(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a page with every colour, the longest topic name, and all that alarms."""
    directory = tmp_path_factory.mktemp("pages")
    path = directory / f"{request.param}.html"
    plans = [planned(number) for number in range(3)]
    plans += [planned(0, LONG), of_many_epochs("busy")]
    if request.param == "losses":
        rows = [elected(plan) for plan in plans]
        head = structs.replace(HEAD, problems=(f"no room on {LONG}",))
        path.write_text(render_loss_page([ORDERS, QUIET, replace(QUIET, topic=LONG)], rows, head))
        return path
    journal = directory / "j.jsonl"
    write_journal(journal, plans)
    # As of a run that was killed before it put the replica orders back.
    text = "".join(
        line for line in journal.read_text().splitlines(True) if '"event":"restored"' not in line
    )
    path.write_text(render_page(read_post_mortem(text, str(journal))))
    return path


def test_it_is_quiet_and_readable_on_every_screen(chromium: Browser, page: Path) -> None:
    for width, scheme in SCREENS:
        chromium.show(width, scheme)
        opened = chromium.open(page)
        assert opened.complaints == []
        assert opened.requests == [page.absolute().as_uri()]
        assert chromium.evaluate("document.documentElement.scrollWidth") <= width
        # The height that is kept for fifty partitions would leave a page of five empty.
        assert chromium.evaluate("document.documentElement.scrollHeight") < 1200 * 16
        assert chromium.evaluate(LEAST_CONTRAST) >= 4.5, (width, scheme)
        assert chromium.evaluate(SMALLEST) >= 12
        # Hatching is drawn by a reference within the page, which the policy must let through.
        hatched = "document.querySelectorAll('rect[fill=\"url(#lost)\"]').length"
        assert chromium.evaluate(hatched) > 0


def test_a_page_that_fetches_or_runs_is_noticed(chromium: Browser, tmp_path: Path) -> None:
    # What the test above rests on.
    page = tmp_path / "bad.html"
    page.write_text("<img src=other.png><script>console.error(1)</script><pre>" + "x" * 999)
    chromium.show(390, "light")
    opened = chromium.open(page)
    assert len(opened.requests) == 2
    assert len(opened.complaints) >= 2
    assert chromium.evaluate("document.documentElement.scrollWidth") > 390
