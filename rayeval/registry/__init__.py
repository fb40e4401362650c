"""Configurations → what computes: the one place that knows every room.

Functions that end in a `shard` are steps' makers: a worker calls them with the step's inputs and
builds its own stage.
"""

from rayeval.registry.answers import answer_rows, answering, given_answers
from rayeval.registry.arms import (
    ann_index,
    embedder,
    ranks,
    scores,
    search,
    severed,
    statistics,
    term_counter,
)
from rayeval.registry.judgement import (
    first_failure,
    index_recall,
    missed,
    per_query,
    totals,
)
from rayeval.registry.judging import judgement_rows, judging
from rayeval.registry.later import fitted, fuser, reranker, selector
from rayeval.registry.live import Placed, asking, placed
from rayeval.registry.reading import (
    catalogue,
    chunker,
    documents,
    evaluator,
    extractors,
    fingerprint,
    nothing_selected,
    parser,
    questions,
    units,
)
from rayeval.registry.sampling import draw, sample
from rayeval.registry.scoring import nothing, scorer, stated, texts, unpacked

__all__ = [
    "Placed",
    "ann_index",
    "answer_rows",
    "answering",
    "asking",
    "catalogue",
    "chunker",
    "documents",
    "draw",
    "embedder",
    "evaluator",
    "extractors",
    "fingerprint",
    "first_failure",
    "fitted",
    "fuser",
    "given_answers",
    "index_recall",
    "judgement_rows",
    "judging",
    "missed",
    "nothing",
    "nothing_selected",
    "parser",
    "per_query",
    "placed",
    "questions",
    "ranks",
    "reranker",
    "sample",
    "scorer",
    "scores",
    "search",
    "selector",
    "severed",
    "stated",
    "statistics",
    "term_counter",
    "texts",
    "totals",
    "units",
    "unpacked",
]
