"""The arms' lists of hits as one list."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from difflib import get_close_matches
from typing import Annotated, Literal

import numpy as np
import pyarrow as pa
from pydantic import Field, PositiveInt

from rayeval.columns import Floats, Ints, flatten, top_hits
from rayeval.errors import ConfigError
from rayeval.fuse.scores import min_max, reciprocal_rank, z_score
from rayeval.stage import Stage, StageConfig
from rayeval.tables import FOUND, TEXT

Weight = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class _Fusion(StageConfig):
    weights: dict[str, Weight] = Field(
        {}, description="by arm, 1 where none is given; an arm of weight 0 takes no part"
    )
    depth: PositiveInt = Field(100, description="chunks kept per question")


class Rrf(_Fusion):
    """Reciprocal rank fusion: Σ weight / (k + rank) over the arms that found the chunk."""

    kind: Literal["rrf"] = "rrf"
    k: float = Field(60, ge=0, allow_inf_nan=False, description="how little the top stands out")


class Weighted(_Fusion):
    """Σ weight · score over the arms, scores normalised within each question and arm."""

    kind: Literal["weighted"] = "weighted"
    normalise: Literal["min_max", "z_score"] = Field(
        "min_max", description="how scores of different arms are made alike"
    )


Fuse = Annotated[Rrf | Weighted, Field(discriminator="kind")]

Valued = Callable[[Ints, Floats, int], tuple[Floats, Floats]]
"""(rows, scores, n_rows) → (worth of every hit, worth per row of what the arm did not find)."""


def build(config: Fuse, arms: tuple[str, ...]) -> Stage:
    """Fusion of a batch's columns `arms` (HITS; null: nothing found) → FOUND.

    Raises ConfigError as `weights_of` does.
    """
    return _Fused(weights_of(config, arms), _valued(config), config.depth)


def weights_of(config: Fuse, arms: Sequence[str]) -> dict[str, float]:
    """The weight of every arm that takes part.

    Raises ConfigError if a weight names no arm, or if no arm has one above 0.
    """
    for name in config.weights:
        if name not in arms:
            nearest = get_close_matches(name, arms, n=1, cutoff=0)
            hint = f"; did you mean {nearest[0]!r}?" if nearest else ""
            raise ConfigError(f"fuse.weights names {name!r}; the arms are {', '.join(arms)}{hint}")
    weights = {arm: config.weights.get(arm, 1.0) for arm in arms}
    taking_part = {arm: weight for arm, weight in weights.items() if weight > 0}
    if not taking_part:
        raise ConfigError(f"fuse.weights leaves no arm: {weights}; give one of them more than 0")
    return taking_part


def _valued(config: Fuse) -> Valued:
    match config:
        case Rrf(k=k):
            return lambda rows, _, n_rows: (reciprocal_rank(rows, k=k), np.zeros(n_rows))
        case Weighted(normalise="min_max"):
            return min_max
        case Weighted():
            return z_score


class _Fused:
    def __init__(self, weights: dict[str, float], valued: Valued, depth: int) -> None:
        self.weights = weights
        self.valued = valued
        self.depth = depth

    def __call__(self, batch: pa.Table) -> pa.Table:
        flat = [flatten(batch[arm]) for arm in self.weights]
        ids = pa.concat_arrays([hits.field("chunk_id") for _, hits in flat]).dictionary_encode()
        every_row = np.concatenate([rows for rows, _ in flat])
        keys = every_row * len(ids.dictionary) + ids.indices.to_numpy()
        found, place = np.unique(keys, return_inverse=True)
        row, chunk = np.divmod(found, len(ids.dictionary))
        scores = np.zeros(len(found))
        ends = np.cumsum([len(rows) for rows, _ in flat])
        for (rows, hits), end, weight in zip(flat, ends, self.weights.values(), strict=True):
            values, absent = self.valued(rows, hits.field("score").to_numpy(), batch.num_rows)
            worth = absent[row]
            worth[place[end - len(rows) : end]] = values
            scores += weight * worth
        chunk_ids = ids.dictionary.take(pa.array(chunk))
        hits = top_hits(row, chunk_ids, scores, batch.num_rows, self.depth)
        errors = pa.nulls(batch.num_rows, TEXT)
        return pa.table([batch["question_id"], hits, errors], schema=FOUND)
