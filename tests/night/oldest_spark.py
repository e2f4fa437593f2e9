"""The tests of Spark with the oldest releases that the extra `spark` allows.

    python -m tests.night.oldest_spark [ARGUMENTS OF PYTEST ...]

They have an environment of their own in .cache/oldest-spark, which is made when it is not there.
"""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HOME = ROOT / ".cache" / "oldest-spark"
RELEASES = ("pyspark[connect]==4.0.0", "pyarrow==18.0.0", "pandas==2.2.0")
_PIP = ("-m", "pip", "install", "--quiet", "--no-compile")
# Spark 4.0 leaves sockets to the garbage collector.
_WARNINGS = ("-W", "ignore::pytest.PytestUnraisableExceptionWarning")
_PYTEST = ("-m", "pytest", "-n", "2", "--dist", "loadfile", *_WARNINGS, "tests/spark")


def main(arguments: list[str]) -> int:
    python = HOME / "bin" / "python"
    made = HOME / "complete"
    wanted = "\n".join((*RELEASES, (ROOT / "pyproject.toml").read_text(encoding="utf-8")))
    if not made.exists() or made.read_text(encoding="utf-8") != wanted:
        venv.create(HOME, clear=True, with_pip=True)
        subprocess.run([python, *_PIP, "--editable", ".[test]", *RELEASES], cwd=ROOT, check=True)
        made.write_text(wanted, encoding="utf-8")
    environment = {**os.environ, "PATH": f"{python.parent}:{os.environ['PATH']}"}
    done = subprocess.run([python, *_PYTEST, *arguments], cwd=ROOT, env=environment, check=False)
    return done.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
