"""The man pages are sound roff, and a wheel puts them and the completions where they are looked
for. That they are those of the commands as they are is test_completions.py's."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from zipfile import ZipFile

import pytest

from benchmarks.installed import built
from completions.commands import PROGRAMS, command, every_command
from completions.man import MAN


def _man(page: Path) -> str:
    if shutil.which("man") is None:
        pytest.skip("man is not installed; apt-get install man-db enables this test")
    done = subprocess.run(
        ["man", "--warnings=w", "-l", str(page)], capture_output=True, text=True, check=True
    )
    assert done.stderr == ""
    return done.stdout


@pytest.mark.parametrize("name", PROGRAMS)
def test_man_shows_every_command_and_flag_without_a_warning(name: str) -> None:
    shown = " ".join(_man(MAN / f"{name}.1").replace("\N{HYPHEN}", "-").split())
    for path, called in every_command(command(name)):
        assert path in shown
        for flag in called.flags:
            assert f"{', '.join(flag.names)} {flag.metavar}".rstrip() in shown
            assert flag.help in shown


COMMANDS = {
    words: called for name in PROGRAMS for words, called in list(every_command(command(name)))[1:]
}


@pytest.mark.parametrize("words", COMMANDS)
def test_a_command_has_a_page_of_its_own(words: str) -> None:
    name, called = words.replace(" ", "-"), COMMANDS[words]
    shown = " ".join(_man(MAN / f"{name}.1").replace("\N{HYPHEN}", "-").split())
    assert f"{name} - {called.short_help}" in shown
    for flag in called.flags:
        assert f"{', '.join(flag.names)} {flag.metavar}".rstrip() in shown
    for argument in called.arguments:
        assert argument.help in shown
    program, _, _ = words.partition(" ")
    assert shown.rpartition("SEE ALSO")[2].strip().startswith(f"{program}(1)")


def test_no_page_is_of_a_command_that_is_gone() -> None:
    names = {words.replace(" ", "-") for words in COMMANDS} | set(PROGRAMS)
    assert {page.name for page in MAN.iterdir()} == {f"{name}.1" for name in names}


def test_a_wheel_puts_them_where_they_are_looked_for() -> None:
    with ZipFile(built()) as archive:
        names = {name.partition(".data/data/")[2] for name in archive.namelist()}
    assert names >= {f"share/man/man1/{page.name}" for page in MAN.iterdir()}
    for name in PROGRAMS:
        assert names >= {
            f"share/man/man1/{name}.1",
            f"share/bash-completion/completions/{name}",
            f"share/zsh/site-functions/_{name}",
            f"share/fish/vendor_completions.d/{name}.fish",
        }
