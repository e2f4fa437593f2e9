"""Texts from outside can't act on a terminal, nor be taken for lines of ours."""

from __future__ import annotations

import re
import subprocess

import pytest

from kafka_unclean_recovery.report.table import table
from kafka_unclean_recovery.shown import (
    fitting,
    reason,
    screened,
    shell_join,
    shown,
    shown_lines,
)

EVIL = "x\x1b[2J\x1b]0;owned\x07\u202e\nkafka-unclean-recovery: all is well\x9b\x7f\udc80"


def test_what_can_not_be_printed_is_shown() -> None:
    assert shown("zoë's topic") == "zoë's topic"
    assert shown("a\x1b[2J\n\u202e\x9b\udc80b") == r"a\x1b[2J\n\u202e\x9b\udc80b"
    assert shown(EVIL).isprintable()


def test_what_has_no_ink_or_reaches_into_other_lines_is_shown() -> None:
    assert shown("e\u0301\u0302") == "e\u0301\u0302"
    assert shown("e" + "\u0301" * 9) == "e\u0301\u0301" + r"\u0301" * 7
    assert shown("a\u3164b\u2800\ufe0f\U000e0101") == r"a\u3164b\u2800\ufe0f\U000e0101"
    assert screened("a\u3164\n") == "a\\u3164\n"


def test_blanks_do_not_reach_the_beginning_of_a_line_of_the_terminal() -> None:
    assert shown("x" + " " * 16 + "y") == "x" + " " * 16 + "y"
    forged = shown("x" + " " * 79 + "kafka-unclean-recovery: all is well")
    assert " " * 17 not in forged
    assert forged.count("\\x20") == 63


def test_a_line_of_progress_is_no_longer_than_what_is_cleared_again() -> None:
    assert fitting("x" * 200, 80) == "x" * 79
    assert fitting("話" * 200, 80) == "話" * 39
    assert fitting("short", 80) == "short"


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
@pytest.mark.parametrize(
    "word", ["plain", "two  blanks", "it's", "\x1b[2J'\\\n\u202e1", "a\udc80", "\x1b!!"]
)
def test_a_pasted_command_has_the_very_word(word: str, shell: str) -> None:
    command = shell_join(["printf", "%s", word])
    assert command.isprintable()
    # A shell that is typed into looks for commands from before, between double quotes too.
    assert "!" not in command
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
