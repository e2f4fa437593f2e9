"""The Dockerfile holds together; tests/containers builds it where there is a Docker."""

from __future__ import annotations

import re
import tomllib

from tests.command_lines import ROOT

DOCKERFILE = (ROOT / "examples" / "container" / "Dockerfile").read_text()
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def test_what_it_copies_is_there_and_what_it_runs_is_ours() -> None:
    copied = re.findall(r"^COPY (?!--)(.*) \S+$", DOCKERFILE, re.MULTILINE)
    assert copied
    for names in copied:
        for name in names.split():
            assert (ROOT / name).exists(), name
    # What hatchling reads beside the package.
    assert {PROJECT["readme"], *PROJECT["license-files"], "completions"} <= {
        name for names in copied for name in names.split()
    }
    (extra,) = re.findall(r"^ARG EXTRAS=\[(\w+)\]$", DOCKERFILE, re.MULTILINE)
    assert extra in PROJECT["optional-dependencies"]
    (entry,) = re.findall(r'^ENTRYPOINT \["(.*)"\]$', DOCKERFILE, re.MULTILINE)
    assert entry in PROJECT["scripts"]


def test_it_ends_as_nobody_in_particular() -> None:
    users = re.findall(r"^USER (.*)$", DOCKERFILE, re.MULTILINE)
    assert users == ["${UID}:${UID}"]
    (uid,) = re.findall(r"^ARG UID=(\d+)$", DOCKERFILE, re.MULTILINE)
    assert int(uid) >= 1000
