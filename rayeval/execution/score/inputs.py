"""What a score reads, by content."""

from __future__ import annotations

from dataclasses import dataclass

from rayeval.corpus.units import Unit
from rayeval.execution.step import digest


@dataclass(frozen=True)
class ScoreInputs:
    """What is read, by content."""

    golden_sha256: str
    trace_sha256: str
    chunks_sha256: str
    units: tuple[Unit, ...] = ()
    fingerprints: tuple[str, ...] = ()

    @property
    def pins(self) -> dict[str, str]:
        """What a resumed run must find again."""
        corpus = digest(list(self.fingerprints))
        return {
            "golden": self.golden_sha256,
            "trace": self.trace_sha256,
            "chunks": self.chunks_sha256,
            "corpus": corpus,
        }
