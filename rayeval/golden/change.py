"""What became of a golden set's evidence after its documents changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from rayeval.golden.anchor import Place
from rayeval.golden.nearest import Near


@dataclass(frozen=True)
class Change:
    """One piece of evidence that is not simply where it was."""

    file: str
    line: int
    question_id: str
    evidence_id: str
    status: str
    source_id: str | None
    revision_id: str | None
    """That it is about now; None where there is none."""
    was: list[Place]
    """As written, or else as noted."""
    places: list[Place]
    """Where it stands now, or may."""
    old: str | None
    new: str | None
    message: str
    suggested: Sequence[Near] = ()
    """Where its text may stand, the nearest first, for somebody to approve."""

    def json(self) -> dict[str, Any]:
        """As `anchor --json` prints it."""
        return asdict(self)


@dataclass(frozen=True)
class Anchoring:
    """What `golden anchor` found, and where it wrote it."""

    path: str
    counts: dict[str, int]
    """By status, all of them."""
    changes: list[Change]
    """In the order of the file; all but what is kept as it is written."""
    written: str | None
    """The golden set with what moved."""

    @property
    def sound(self) -> bool:
        """Whether nothing is left that somebody has to look at."""
        return not (self.counts["lost"] or self.counts["ambiguous"])
