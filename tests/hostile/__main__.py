"""Every odd value in every place, for each command: `python -m tests.hostile`; its table."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests.hostile.answers import COMMANDS
from tests.hostile.odd import TEXTS
from tests.hostile.running import try_all


def main() -> int:
    with tempfile.TemporaryDirectory() as directory:
        table = try_all(Path(directory), tuple(COMMANDS), tuple(TEXTS))
    for line in (*table.lines(), *table.wrong):
        print(ascii(line)[1:-1])
    return bool(table.wrong)


if __name__ == "__main__":
    sys.exit(main())
