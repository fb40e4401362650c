"""Whether the context covers what the answer must speak of (DESIGN §6)."""

from __future__ import annotations

import numpy as np
import polars as pl
import pyarrow as pa

from rayeval.columns import Ints, flatten
from rayeval.metrics.evidence import Evidence
from rayeval.metrics.failure.scene import Scene
from rayeval.metrics.spans import Bools, Union


def uncovered(scene: Scene, context: str) -> Bools:
    """(n_groups,): it lists a required aspect of which the context finds no evidence.

    Evidence lists its `aspects` and the name of its group. An aspect that none lists needs a judge:
    it is not observed. Evidence of a group that is carried as split is found by the union.
    """
    evidence = scene.evidence
    row, required = flatten(scene.batch["required_aspects"])
    which, aspect = _listed(evidence)
    listed = pl.DataFrame(
        {
            "row": evidence.row[which],
            "aspect": pl.Series(aspect),
            "group": evidence.group[which],
            "covered": _covered(scene, context)[which],
        }
    )
    wanted = pl.DataFrame({"row": row, "aspect": pl.Series(required)})
    asked = listed.join(wanted, on=["row", "aspect"], how="semi")
    lacking = asked.filter(~pl.col("covered").any().over("row", "aspect"))
    flags = np.zeros(len(evidence.groups.row), bool)
    flags[lacking["group"].to_numpy()] = True
    return flags


def _listed(evidence: Evidence) -> tuple[Ints, pa.Array]:
    """(evidence, an aspect that it lists); what is irrelevant or unseen lists none."""
    which, aspects = flatten(evidence.items.field("aspects"))
    relevant = evidence.grade[which] >= 1
    named = np.flatnonzero(evidence.counts)
    names = evidence.items.field("group_id").take(pa.array(named))
    return (
        np.concatenate([which[relevant], named]),
        pa.concat_arrays([aspects.filter(pa.array(relevant)), names]),
    )


def _covered(scene: Scene, context: str) -> Bools:
    """(n_evidence,): the context finds it."""
    chosen = scene.chosen(context)
    passage, evidence = scene.found.finds
    covered = np.zeros(len(scene.evidence.row), bool)
    covered[evidence[chosen[passage]]] = True
    pieces = scene.found.pieces
    together = Union.of(pieces.take(chosen[pieces.owner]))
    return covered | (scene.split[scene.evidence.group] & scene.found.covered(together))
