"""The bootstrap of what fits no single machine: Poisson weights, whose sums add across shards."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rayeval.columns import Floats
from rayeval.stats import draws
from rayeval.stats.bootstrap import REPLICATES, blocks
from rayeval.stats.clusters import Sums, quotient


@dataclass(frozen=True)
class Partial:
    """Weighted sums of one shard's questions, in every replicate."""

    above: Floats
    """(n_replicates, n_columns)."""
    below: Floats
    flipped: Floats
    """(n_replicates, n_columns): `above`, each cluster with a sign instead of a weight."""

    def plus(self, other: Partial) -> Partial:
        """Both shards together."""
        return Partial(
            self.above + other.above, self.below + other.below, self.flipped + other.flipped
        )

    @property
    def replicates(self) -> Floats:
        """The ratio in every replicate, (n_replicates, n_columns); NaN where nothing was drawn."""
        return quotient(self.above, self.below)

    def p(self, above: Floats) -> Floats:
        """The two-sided p-value of no difference, as `bootstrap.sign_flip_p` has it.

        above: (n_columns,), the sums as they are; what differs by rounding alone is a tie.
        """
        beyond = (np.abs(self.flipped) >= np.abs(above) * (1 - 1e-12)).sum(axis=0)
        result: Floats = (1 + beyond) / (1 + len(self.flipped))
        return result


def partial(sums: Sums, clusters: Sequence[str], *, seed: int, count: int = REPLICATES) -> Partial:
    """One shard's share. A cluster that lies in several shards has the same weights in each.

    clusters: the id of every row of `sums`.
    Source: Chamandy et al. 2012, Estimating Uncertainty for Massive Data Streams; Poisson(1)
    weights by cluster, keyed by (seed, replicate, cluster id).
    """
    keys = cluster_keys(clusters)
    above = np.empty((count, sums.above.shape[1]))
    below, flipped = np.empty_like(above), np.empty_like(above)
    for part in blocks(count, len(keys)):
        weights = draws.poisson(seed, part, keys)
        above[part.start : part.stop] = weights @ sums.above
        below[part.start : part.stop] = weights @ sums.below
        flipped[part.start : part.stop] = draws.flips(seed, part, keys) @ sums.above
    return Partial(above, below, flipped)


def cluster_keys(clusters: Iterable[str]) -> npt.NDArray[np.uint64]:
    """A number for each cluster id, the same on every machine."""
    digests = (hashlib.blake2b(name.encode(), digest_size=8).digest() for name in clusters)
    return np.frombuffer(b"".join(digests), dtype="<u8").astype(np.uint64)
