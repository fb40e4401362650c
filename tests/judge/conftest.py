"""Runs are of the answers' small project, on the scripted chat endpoint."""

import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[1] / room) for room in ("answer", "chat")]
