"""Why a question failed (DESIGN §6)."""

from __future__ import annotations

CODES = (
    "INGESTION_MISSING_SOURCE",
    "INGESTION_MISSING_REVISION",
    "PARSE_GOLD_TEXT_LOST",
    "CHUNK_GOLD_SPLIT",
    "CHUNK_CONTEXT_SEVERED",
    "FILTER_FALSE_NEGATIVE",
    "ANN_NEIGHBOR_MISS",
    "SPARSE_VOCAB_MISMATCH",
    "SPARSE_OUTRANKED",
    "DENSE_SEMANTIC_MISS",
    "RETRIEVAL_MISSED_GOLD",
    "FUSION_DEMOTED_GOLD",
    "RERANK_DEMOTED_GOLD",
    "CONTEXT_BUDGET_DROPPED_GOLD",
    "CONTEXT_ASPECT_UNCOVERED",
    "GENERATION_INCORRECT",
    "GENERATION_UNSUPPORTED_CLAIM",
    "CITATION_INVALID",
    "GENERATION_FALSE_ABSTENTION",
)
"""Every code that the walk gives; arrays hold their numbers."""

(
    MISSING_SOURCE,
    MISSING_REVISION,
    TEXT_LOST,
    SPLIT,
    SEVERED,
    FALSE_NEGATIVE,
    NEIGHBOR_MISS,
    VOCAB_MISMATCH,
    OUTRANKED,
    SEMANTIC_MISS,
    MISSED,
    FUSION,
    RERANK,
    DROPPED,
    UNCOVERED,
    INCORRECT,
    UNSUPPORTED,
    INVALID,
    REFUSED,
) = range(len(CODES))

DEMOTED = {"fuse": FUSION, "rerank": RERANK, "context": DROPPED, "unknown": MISSED}
"""By kind of a stage after retrieval: what losing a group there is called."""
