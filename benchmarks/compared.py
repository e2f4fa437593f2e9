"""One row of the table in docs/performance.md: what was measured, against what, and the aim."""

from __future__ import annotations

from dataclasses import asdict, dataclass


@dataclass(frozen=True, slots=True)
class Compared:
    """`ratio` is ours over theirs where the aim says "<=", and theirs over ours where it says ">=".
    `aim` is "" where none was set."""

    work: str
    against: str
    ours: str
    theirs: str
    ratio: float
    aim: str

    def json(self) -> dict[str, object]:
        return asdict(self)


def at_most(
    aim: float | None, work: str, against: str, ours: float, theirs: float, unit: str = "s"
) -> dict[str, object]:
    told = "" if aim is None else f"<= {aim:g}"
    return _row(work, against, ours, theirs, unit, ours / theirs, told)


def at_least(
    aim: float, work: str, against: str, ours: float, theirs: float, unit: str = "s"
) -> dict[str, object]:
    return _row(work, against, ours, theirs, unit, theirs / ours, f">= {aim:g}")


def _row(
    work: str, against: str, ours: float, theirs: float, unit: str, ratio: float, aim: str
) -> dict[str, object]:
    mine, rival = (f"{figure:.3g} {unit}" for figure in (ours, theirs))
    return Compared(work, against, mine, rival, round(ratio, 2), aim).json()
