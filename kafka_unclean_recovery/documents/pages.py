"""Pages that need no cluster: what codes and words mean, and the emulator's scenarios."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from kafka_unclean_recovery.documents.values import Code, Entry, published

_Of = Annotated[str, Meta(extra_json_schema={"enum": ["finding", "label", "check", "word"]})]


class ExplainedJson(Entry, frozen=True):
    """What stands behind a code or a word.

    code: The code as documents have it, a word with underscores.
    of: What has it: a finding or a label of a plan, a check of doctor, or a word on the screen.
    severity: Severity of a finding; null of all else.
    meaning: What is so.
    impact: What it does to the records, or to the recovery.
    look_at: Where to look for more.
    to_do: What can be done.
    """

    code: Code
    of: _Of
    severity: str | None
    meaning: str
    impact: str
    look_at: str
    to_do: str


@published("kafka-unclean-recovery explain --format json, format 1")
class ExplainJson(Entry, frozen=True, kw_only=True):
    """What codes and words mean.

    entries: The one that was asked for, or all.
    """

    format_version: Literal[1] = 1
    kind: Literal["explain"] = "explain"
    entries: tuple[ExplainedJson, ...]


class ScenarioJson(Entry, frozen=True):
    """A scenario that comes with the emulator.

    name: Name of the scenario, for --scenario.
    story: The outage that the scenario makes.
    commands: The lines of the file of the scenario, with comments.
    """

    name: str
    story: str
    commands: tuple[str, ...]


@published("kafka-unclean-recovery emulator scenarios --format json, format 1")
class EmulatorScenariosJson(Entry, frozen=True, kw_only=True):
    """The scenarios that come with the emulator.

    scenarios: The one that was asked for, or all.
    """

    format_version: Literal[1] = 1
    kind: Literal["emulator-scenarios"] = "emulator-scenarios"
    scenarios: tuple[ScenarioJson, ...]
