"""Our programs, by the names that examples call them by."""

from __future__ import annotations

import os
import sys
from pathlib import Path

PATH_WITH_OURS = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
