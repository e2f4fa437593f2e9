"""The completion scripts are those of the commands as they are, and work."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from completions.generate import HERE, scripts


@pytest.mark.parametrize("path", sorted(scripts()), ids=lambda p: p.name)
def test_scripts_are_up_to_date(path: Path) -> None:
    assert path.read_text() == scripts()[path], "run `make completions`"


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--auto"], ["--automated-recovery"]),
        (["--format", ""], ["table", "json"]),
        (["--bootstrap-server", ""], []),
    ],
)
def test_bash_completes(words: list[str], expected: list[str]) -> None:
    script = HERE / "kafka-unclean-recovery.bash"
    line = " ".join(f"'{word}'" for word in ["kafka-unclean-recovery", *words])
    code = (
        f"source {script}; COMP_WORDS=({line}); COMP_CWORD={len(words)};"
        ' _kafka_unclean_recovery; printf "%s\\n" "${COMPREPLY[@]}"'
    )
    done = subprocess.run(["bash", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == expected


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_can_parse_theirs(shell: str) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed; apt-get install {shell} enables this test")
    for path in HERE.glob(f"*.{shell}"):
        subprocess.run([shell, "-n", str(path)], check=True)
