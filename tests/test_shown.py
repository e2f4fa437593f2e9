"""Texts from outside can't act on a terminal, nor be taken for lines of ours."""

from __future__ import annotations

import re
import subprocess

import pytest

from kafka_unclean_recovery.report.table import table
from kafka_unclean_recovery.shown import reason, screened, shell_join, shown, shown_lines

EVIL = "x\x1b[2J\x1b]0;owned\x07\u202e\nkafka-unclean-recovery: all is well\x9b\x7f\udc80"


def test_what_can_not_be_printed_is_shown() -> None:
    assert shown("zoë's topic") == "zoë's topic"
    assert shown("a\x1b[2J\n\u202e\x9b\udc80b") == r"a\x1b[2J\n\u202e\x9b\udc80b"
    assert shown(EVIL).isprintable()


def test_a_reason_is_one_line_however_long_it_is() -> None:
    assert reason("  it failed:\r\n\tno  disk\n") == "it failed: no  disk"
    assert reason(EVIL).isprintable()
    assert len(reason("\x1b" * (1 << 20))) < 20_000
    assert reason("a" * 5000).endswith("... (5000 characters)")


def test_lines_stay_as_many_as_they_are() -> None:
    assert shown_lines(["a", EVIL, ""]).count("\n") == 2


def test_only_codes_of_ours_pass_the_rim() -> None:
    colour = re.compile(r"\x1b\[[0-9;]+m")
    assert screened("a\tb\n\x1b[1mc\n") == "a\\tb\n\\x1b[1mc\n"
    assert screened("\x1b[1mA\x1b[0m\x1b[2Jb\n", colour) == "\x1b[1mA\x1b[0m\\x1b[2Jb\n"


@pytest.mark.parametrize("shell", ["sh", "bash"])
@pytest.mark.parametrize("word", ["plain", "two  blanks", "it's", "\x1b[2J'\\\n\u202e1", "a\udc80"])
def test_a_pasted_command_has_the_very_word(word: str, shell: str) -> None:
    command = shell_join(["printf", "%s", word])
    assert command.isprintable()
    done = subprocess.run([shell, "-c", command], capture_output=True, check=True)
    assert done.stdout == word.encode("utf-8", "surrogateescape")


def test_a_word_that_ends_in_a_line_end_keeps_it_in_bash() -> None:
    command = shell_join(["printf", "%s", "it's\x1b1\\0\n\n"])
    done = subprocess.run(["bash", "-c", command], capture_output=True, check=True)
    assert done.stdout == b"it's\x1b1\\0\n\n"


def test_a_cell_of_a_table_is_one_line() -> None:
    columns = (("", "topic", "left"), ("", "why", "left"))
    text = table(columns, [(EVIL, EVIL), ("a" * 70 + EVIL, "")])
    assert text.replace("\n", "").isprintable()
    assert not re.search("^kafka-unclean-recovery:", text, re.MULTILINE)
