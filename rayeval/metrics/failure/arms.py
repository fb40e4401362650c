"""Why each arm missed a group (DESIGN §6, "When all arms miss")."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from rayeval.columns import Floats, Ints, flatten
from rayeval.metrics.evidence import ints
from rayeval.metrics.failure import codes
from rayeval.metrics.failure.scene import Scene
from rayeval.metrics.pipeline import Arm
from rayeval.metrics.ranking import NEVER, first_ranks
from rayeval.metrics.spans import Bools


@dataclass(frozen=True)
class Miss:
    """One arm's view of every group, as if the arm had missed it; arrays (n_groups,)."""

    arm: Arm
    rank: Ints
    """Of the first chunk that holds the group, beyond depth too; NEVER where it has none."""
    code: Ints
    severed: Bools
    """The group's chunk lacks words of the question that stand in the chunk next to it."""


@dataclass(frozen=True)
class Blame:
    """Why all arms missed each group, if they did; `arm` and `code`: (n_groups,)."""

    misses: list[Miss]
    arm: Ints
    """Number of the arm that decides."""
    code: Ints


def blame(scene: Scene) -> Blame:
    """Who is to blame where all arms miss a group.

    A neighbour that ANN lost, else a subject that was cut off, else the arm with the smallest
    rank / depth; of equals the first.
    """
    misses = [_miss(scene, arm) for arm in scene.pipeline.arms]
    n_groups = len(scene.groups.row)
    if not misses:
        return Blame([], np.zeros(n_groups, np.int64), np.zeros(n_groups, np.int64))
    code = np.stack([miss.code for miss in misses])
    lost = code == codes.NEIGHBOR_MISS
    severed = np.stack([miss.severed for miss in misses])
    any_lost, any_severed = lost.any(axis=0), severed.any(axis=0)
    arm = np.stack([_nearness(miss) for miss in misses]).argmin(axis=0)
    arm = np.where(any_severed, severed.argmax(axis=0), arm)
    arm = np.where(any_lost, lost.argmax(axis=0), arm)
    own = code[arm, np.arange(n_groups)]
    return Blame(misses, arm, np.where(any_severed & ~any_lost, codes.SEVERED, own))


def _nearness(miss: Miss) -> Floats:
    return np.where(miss.rank == NEVER, np.inf, miss.rank / (miss.arm.depth or 1))


def _miss(scene: Scene, arm: Arm) -> Miss:
    match arm.kind:
        case "lexical":
            return _lexical(scene, arm)
        case "dense":
            return _dense(scene, arm)
        case "unknown":
            rank = _rank(scene, arm)
            return Miss(arm, rank, np.full(len(rank), codes.MISSED), np.zeros(len(rank), bool))


def _lexical(scene: Scene, arm: Arm) -> Miss:
    """No term in common, or terms in common and other chunks before it; unknown without scores."""
    searched = scene.observed(f"scores:{arm.name}")[scene.groups.row]
    shared = _held_by(scene, _chunks(scene, f"scores:{arm.name}"))
    code = np.where(shared, codes.OUTRANKED, codes.VOCAB_MISMATCH)
    severed = _held_by(scene, _chunks(scene, f"severed:{arm.name}"))
    return Miss(arm, _rank(scene, arm), np.where(searched, code, codes.MISSED), severed)


def _dense(scene: Scene, arm: Arm) -> Miss:
    """Lost by ANN where the exact search has it within depth, else not near enough."""
    rank = _rank(scene, arm)
    lost = np.zeros(len(rank), bool)
    if arm.ann is not None:
        within = first_ranks(scene.rank(arm.exact), *scene.found.finds_group, len(rank))
        rank = np.minimum(rank, within)
        lost = rank <= (NEVER - 1 if arm.depth is None else arm.depth)
    code = np.where(lost, codes.NEIGHBOR_MISS, codes.SEMANTIC_MISS)
    return Miss(arm, rank, code, np.zeros(len(rank), bool))


def _rank(scene: Scene, arm: Arm) -> Ints:
    """(n_groups,): the best true rank of a chunk that holds the group; NEVER where unknown."""
    chunks = _chunks(scene, f"scores:{arm.name}")
    rank = np.full(len(scene.corpus.passages.row), NEVER)
    if f"ranks:{arm.name}" in scene.batch.column_names:
        _, ranks = flatten(scene.batch[f"ranks:{arm.name}"])
        known = chunks >= 0
        rank[chunks[known]] = ints(ranks, NEVER)[known]
    return first_ranks(rank, *scene.holders, len(scene.groups.row))


def _chunks(scene: Scene, column: str) -> Ints:
    """The gold chunks in a column of lists of ids or of hits; -1 for what is none."""
    if column not in scene.batch.column_names:
        return np.zeros(0, np.int64)
    row, items = flatten(scene.batch[column])
    ids = items.field("chunk_id") if pa.types.is_struct(items.type) else items
    return scene.corpus.passages.index(row, ids)


def _held_by(scene: Scene, chunks: Ints) -> Bools:
    """(n_groups,): one of these gold chunks holds it."""
    among = np.zeros(len(scene.corpus.passages.row), bool)
    among[chunks[chunks >= 0]] = True
    chunk, group = scene.holders
    return np.bincount(group[among[chunk]], minlength=len(scene.groups.row)) > 0
