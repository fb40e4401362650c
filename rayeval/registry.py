"""Configurations → what computes: the one place that knows every room.

Every function is a step's `make` (or part of its identity): it takes configurations and, last, the
`Shard` with a step's further inputs, so that a worker builds its own stage.
"""

from __future__ import annotations
