"""Offsets that other tools counted in UTF-16 units or bytes, as code points."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from rayeval.columns import Ints
from rayeval.golden.anchor import Place

Unit = Literal["UTF-16 units", "UTF-8 bytes"]
UNITS: tuple[Unit, ...] = ("UTF-16 units", "UTF-8 bytes")


class Counted:
    """A text's characters, each as long as it is in `unit`."""

    def __init__(self, text: str, unit: Unit) -> None:
        letters = np.frombuffer(text.encode("utf-32-le"), np.uint32)
        if unit == "UTF-16 units":
            widths = 1 + (letters >= 0x10000)
        else:
            widths = 1 + (letters >= 0x80) + (letters >= 0x800) + (letters >= 0x10000)
        self._ends: Ints = np.concatenate([[0], np.cumsum(widths, dtype=np.int64)])

    def code_points(self, spans: Sequence[Place]) -> list[Place] | None:
        """`spans` counted in the unit, in code points; None if one begins or ends within a
        character or outside the text."""
        offsets = np.array(spans, dtype=np.int64).ravel()
        at = np.searchsorted(self._ends, offsets)
        if (at == len(self._ends)).any() or (self._ends[at] != offsets).any():
            return None
        return [(int(start), int(end)) for start, end in at.reshape(-1, 2)]
