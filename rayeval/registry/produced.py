"""What a producing step gives."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow as pa

from rayeval.errors import Problem

Produced = Iterator[tuple[pa.Table, Sequence[Problem]]]
"""Tables, each with the problems that were found while it was made."""
