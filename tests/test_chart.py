"""The way of an incident is one picture, drawn from a text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.resources import files

import pytest

from completions.chart import PICTURE, SOURCE, drawn
from tests.browser import CHROMIUM, WHY_NOT, Browser, browser

# The text whose right edge lies beyond the box below it, or of the picture.
_BEYOND = """
Array.from(document.querySelectorAll("text")).filter(text => {
    const words = text.getBBox();
    const boxes = Array.from(document.querySelectorAll("rect")).map(rect => rect.getBBox());
    const box = boxes.filter(
        rect => rect.x <= words.x && rect.y <= words.y
            && rect.y + rect.height >= words.y + words.height
    ).pop();
    return box === undefined || words.x + words.width > box.x + box.width;
}).map(text => text.textContent).join("; ")
"""


@pytest.fixture(scope="module")
def screen() -> Iterator[Browser]:
    if CHROMIUM is None:
        pytest.skip(WHY_NOT)
    with browser() as opened:
        yield opened


def test_each_word_lies_in_its_box(screen: Browser) -> None:
    screen.show(500, "light")
    screen.open(PICTURE)
    assert screen.evaluate(_BEYOND) == ""


def test_each_line_of_the_source_is_in_it_once_and_in_order() -> None:
    picture = PICTURE.read_text()
    title, *lines = (line.strip() for line in SOURCE.read_text().splitlines())
    assert f"<title>{title}</title>" in picture
    shown = " ".join(re.findall(r'<text [^>]*"\d+">([^<]*)</text>', picture)).replace("&#x27;", "'")
    for line in lines:
        before, found, shown = shown.partition(line.removeprefix("yes: "))
        assert found
        assert re.sub(r"\b(yes|no)\b", "", before).strip() == ""


def test_each_flag_in_it_is_one_of_ours() -> None:
    known = files("kafka_unclean_recovery").joinpath("help", "flags.txt").read_text()
    flags = re.findall(r"--[a-z-]+", SOURCE.read_text())
    assert flags
    assert [flag for flag in flags if not re.search(rf"{flag}[= \n]", known)] == []


@pytest.mark.parametrize(
    "lines",
    ["Why?\nA step", "A step\nyes: an answer", "Why?\nyes: so\nyes: so too", "Why?"],
)
def test_a_question_has_one_answer(lines: str) -> None:
    with pytest.raises(ValueError, match="yes: "):
        drawn(f"The title\n{lines}\n")
