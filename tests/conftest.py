"""Options of the whole test suite."""

from __future__ import annotations

import pytest
from hypothesis import settings

# A busy machine takes its time: that an example took long says nothing of the code.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--rewrite",
        action="store_true",
        help="write what the code says now into tests/testdata, for review as a diff",
    )
