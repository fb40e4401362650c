"""Drawing questions by id, so that every worker and every run draws the same ones."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence

import pyarrow as pa

from rayeval.registry.produced import Produced
from rayeval.stage import Shard
from rayeval.tables import TEXT


def draw(blocks: Iterable[Sequence[str]], size: int, seed: int) -> list[tuple[int, int, str]]:
    """(block, row, question_id) of the `size` questions whose ids hash lowest under `seed`."""
    best: list[tuple[bytes, int, int, str]] = []
    for block, names in enumerate(blocks):
        best = sorted([*best, *_hashed(block, names, seed)])[:size]
    return sorted((block, row, name) for _, block, row, name in best)


def _hashed(block: int, names: Sequence[str], seed: int) -> Iterator[tuple[bytes, int, int, str]]:
    for row, name in enumerate(names):
        yield hashlib.sha256(f"{seed}:{name}".encode()).digest(), block, row, name


def sample(size: int, seed: int, shard: Shard) -> Produced:
    """Per block of `resolved`, which questions are drawn."""
    blocks = [table["question_id"].to_pylist() for table in shard.tables("resolved")]
    drawn = {(block, row) for block, row, _ in draw(blocks, size, seed)}
    for block, names in enumerate(blocks):
        flags = [(block, row) in drawn for row in range(len(names))]
        yield pa.table({"question_id": pa.array(names, TEXT), "sampled": flags}), ()
