"""The test suite of somebody else, run as they would run it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from tests.command_lines import ROOT
from tests.examples.programs import PATH_WITH_OURS

REHEARSAL = ROOT / "examples" / "rehearsal" / "test_our_runbook.py"


def test_it_passes_wherever_it_lies(tmp_path: Path) -> None:
    shutil.copy(REHEARSAL, tmp_path)
    # Without a directory of its own it would delete what earlier runs of the machine have left in
    # pytest's, and on a busy disk that takes minutes.
    own = f"--basetemp={tmp_path / 'own'}"
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", own, REHEARSAL.name],
        cwd=tmp_path,
        env={**os.environ, "PATH": PATH_WITH_OURS},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert re.search(r"^3 passed", done.stdout, re.MULTILINE)


def test_it_uses_what_is_public() -> None:
    ours = re.findall(r"(?:from|import) (kafka_unclean_recovery[\w.]*)", REHEARSAL.read_text())
    assert ours == ["kafka_unclean_recovery.emulator"]
