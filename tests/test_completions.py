"""Completion scripts and man pages are those of the commands as they are, and work."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from completions.commands import command, every_command
from completions.generate import HERE, SHELLS, generated

# Made once, and not by each test: it asks every command for its help.
GENERATED = generated()


@pytest.mark.parametrize("path", sorted(GENERATED), ids=lambda p: p.name)
def test_generated_files_are_up_to_date(path: Path) -> None:
    assert path.read_text() == GENERATED[path], "run `make completions`"


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--auto"], ["--automated-recovery"]),
        (["--format", ""], ["table", "wide", "json", "ladder"]),
        (["--bootstrap-server", ""], []),
        (["sc"], ["scan-log-dirs"]),
        (["pl"], ["plan"]),
        (["--auto", "pl"], []),
        (["--format", "json", "--wai"], ["--wait-for-brokers"]),
        (["--log-dirs", "d"], ["disks"]),
        (["--replica-info-file", "inf"], ["info.json"]),
        (["scan-log-dirs", "--auto"], []),
        (["scan-log-dirs", "--mode", ""], ["fast", "recover", "deep"]),
        (["spark", "sc"], ["scan"]),
        (["spark", "scan", "--roots-t"], ["--roots-table"]),
        (["scan-log-dirs", "--wor"], ["--workers"]),
        (["scan-log-dirs", ""], ["disks"]),
        (["scan-log-dirs", "disks", "d"], ["disks"]),
        (["scan-log-dirs", "--output", "in"], ["info.json"]),
        (["plan", "--man"], ["--manual-recovery-output-file"]),
        (["plan", "--log-dirs", ""], ["disks"]),
        (["plan", "--exclude-brokers", ""], []),
        (["do"], ["doctor"]),
        (["app"], ["approve"]),
        (["approve", "in"], ["info.json"]),
        (["doctor", "--time"], ["--timeout-ms"]),
        (["doctor", "--salvage-dir", ""], ["disks"]),
        (["salv"], ["salvage"]),
        (["salvage", "--raw"], ["--raw-only"]),
        (["salvage", "--log-dirs", "d"], ["disks"]),
        (["salvage", "--plan", "in"], ["info.json"]),
        (["salvage", "re"], ["replay"]),
        (["salvage", "replay", "--exe"], ["--execute"]),
        (["salvage", "replay", "d"], ["disks"]),
        (["sp"], ["spark"]),
        (["spark", "pl"], ["plan"]),
        (["spark", "plan", "--summaries", "d"], ["disks"]),
        (["spark", "plan", "--htm"], ["--html"]),
        (["af"], ["aftercare"]),
        (["re"], ["report"]),
        (["report", "--ht"], ["--html"]),
        (["aftercare", "--jou"], ["--journal"]),
        (["aftercare", "--journal", "in"], ["info.json"]),
        (["em"], ["emulator"]),
        (["emulator", "--sc"], ["--scenario"]),
        (["emulator", "--release", ""], ["4.4.0", "4.3.1", "3.9.1", "kip-966"]),
        (["emulator", "ct"], ["ctl"]),
        (["emulator", "ctl", "ki"], ["kill"]),
        (["emulator", "ctl", "--data-dir", "d"], ["disks"]),
        (["emulator", "ctl", "--br"], []),
    ],
)
def test_bash_completes(words: list[str], expected: list[str], tmp_path: Path) -> None:
    (tmp_path / "disks").mkdir()
    (tmp_path / "info.json").touch()
    script = HERE / "kafka-unclean-recovery.bash"
    line = " ".join(f"'{word}'" for word in ["kafka-unclean-recovery", *words])
    code = (
        f"source {script}; COMP_WORDS=({line}); COMP_CWORD={len(words)};"
        f" _kafka_unclean_recovery kafka-unclean-recovery '{words[-1]}'; "
        'printf "%s\\n" "${COMPREPLY[@]}"'
    )
    done = subprocess.run(
        ["bash", "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    assert done.stdout.split() == expected


@pytest.mark.parametrize("shell", SHELLS)
def test_every_subcommand_and_its_flags_are_there(shell: str) -> None:
    script = (HERE / f"kafka-unclean-recovery.{shell}").read_text()
    commands = dict(every_command(command("kafka-unclean-recovery")))
    assert "kafka-unclean-recovery salvage replay" in commands
    assert "kafka-unclean-recovery complete" not in commands
    for path, called in commands.items():
        assert path.split()[-1] in script
        for flag in called.flags:
            long = flag.names[0].removeprefix("--")
            assert f"-l {long} " in script if shell == "fish" else f"--{long}" in script


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_can_parse_theirs(shell: str) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed; apt-get install {shell} enables this test")
    for path in HERE.glob(f"*.{shell}"):
        subprocess.run([shell, "-n", str(path)], check=True)
