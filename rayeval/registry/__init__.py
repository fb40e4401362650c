"""Configurations → what computes: the one place that knows every room.

Functions that end in a `shard` are steps' makers: a worker calls them with the step's inputs and
builds its own stage.
"""

from rayeval.registry.answers import answer_rows, answering
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
from rayeval.registry.claims import Standing, claims, misplaced, texts
from rayeval.registry.judgement import (
    first_failure,
    index_recall,
    missed,
    per_answer,
    per_query,
    refusals,
    separation,
    spread,
    top_scores,
    totals,
)
from rayeval.registry.judging import judgement_rows, judging, probing, told_verdicts
from rayeval.registry.later import fitted, fuser, reranker, selector
from rayeval.registry.live import Placed, asking, placed
from rayeval.registry.located import SpanTokens
from rayeval.registry.packing import trace_scores, unpacked
from rayeval.registry.reading import (
    catalogue,
    chunker,
    documents,
    evaluator,
    extractors,
    fingerprint,
    lost_links,
    nothing_selected,
    parser,
    questions,
    units,
)
from rayeval.registry.sampling import draw, sample
from rayeval.registry.scoring import nothing, scorer, stated
from rayeval.registry.told import told

__all__ = [
    "Placed",
    "SpanTokens",
    "Standing",
    "ann_index",
    "answer_rows",
    "answering",
    "asking",
    "catalogue",
    "chunker",
    "claims",
    "documents",
    "draw",
    "embedder",
    "evaluator",
    "extractors",
    "fingerprint",
    "first_failure",
    "fitted",
    "fuser",
    "index_recall",
    "judgement_rows",
    "judging",
    "lost_links",
    "misplaced",
    "missed",
    "nothing",
    "nothing_selected",
    "parser",
    "per_answer",
    "per_query",
    "placed",
    "probing",
    "questions",
    "ranks",
    "refusals",
    "reranker",
    "sample",
    "scorer",
    "scores",
    "search",
    "selector",
    "separation",
    "severed",
    "spread",
    "stated",
    "statistics",
    "term_counter",
    "texts",
    "told",
    "told_verdicts",
    "top_scores",
    "totals",
    "trace_scores",
    "units",
    "unpacked",
]
