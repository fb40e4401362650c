"""What is lost before any search: documents, their text, their chunks, the filter (DESIGN §6)."""

from __future__ import annotations

from functools import partial

import numpy as np
import pyarrow.compute as pc

from rayeval.columns import Ints
from rayeval.metrics.evidence import Evidence, bools
from rayeval.metrics.failure import codes
from rayeval.metrics.failure.scene import Scene
from rayeval.metrics.failure.step import Step, step
from rayeval.metrics.spans import Bools


def corpus_steps(scene: Scene) -> list[Step]:
    """Ingest, parse, chunk and filter; any evidence of a group is enough at each."""
    evidence = scene.evidence
    there = ~evidence.missing
    read = there & bools(evidence.items.field("parsed"), True)
    chunked = scene.observed("gold_chunks")
    before_search = partial(step, scene, lists=False)
    return [
        before_search(
            "ingest",
            held=_groups(evidence, there),
            observed=_known(scene, "found"),
            code=_absent(evidence),
        ),
        before_search(
            "parse",
            held=_groups(evidence, read),
            observed=_known(scene, "parsed"),
            code=codes.TEXT_LOST,
        ),
        before_search("chunk", held=scene.whole | scene.split, observed=chunked, code=codes.SPLIT),
        before_search(
            "filter",
            held=scene.held_after_filter(),
            observed=chunked & scene.observed("removed_gold"),
            code=codes.FALSE_NEGATIVE,
        ),
    ]


def _groups(evidence: Evidence, flags: Bools) -> Bools:
    """(n_groups,): some of its gold is flagged; flags: (n_evidence,)."""
    group = evidence.group[evidence.gold & flags]
    return np.bincount(group, minlength=len(evidence.groups.row)) > 0


def _known(scene: Scene, field: str) -> Bools:
    """(n_rows,): the field of some gold is not null, so somebody looked."""
    evidence = scene.evidence
    known = bools(evidence.items.field(field).is_valid(), False)
    return np.bincount(evidence.row[evidence.gold & known], minlength=scene.n_rows) > 0


def _absent(evidence: Evidence) -> Ints:
    """(n_groups,): the code of a group whose gold is not in the corpus, by its first evidence."""
    revision = bools(pc.equal(evidence.items.field("found"), "missing_revision"), False)
    first = np.zeros(len(evidence.groups.row), np.int64)
    gold = np.flatnonzero(evidence.gold)[::-1]
    first[evidence.group[gold]] = gold  # of several writes the last stays: the first evidence
    code = np.where(revision, codes.MISSING_REVISION, codes.MISSING_SOURCE)
    return code[first] if len(first) else first
