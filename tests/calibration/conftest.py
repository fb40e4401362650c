"""Runs whose answers are judged are those of the judge's own tests."""

import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[1] / room) for room in ("answer", "chat", "judge")]
