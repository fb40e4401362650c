"""The walk by hand: every code of DESIGN §6, and what comes before what."""

import pytest
from metrics_batches import evidence, hits, place
from metrics_walks import (
    CHUNKS,
    GONE,
    LOST,
    NOWHERE,
    OLD,
    SPLIT,
    E,
    F,
    end,
    first,
    ranked,
    row,
    unfound,
)


@pytest.mark.parametrize(
    ("asked", "want"),
    [
        pytest.param(row(), ("success", None, None, None), id="all well"),
        pytest.param(row(GONE), ("failed", "INGESTION_MISSING_SOURCE", "ingest", "e"), id="no such document"),
        pytest.param(row(OLD), ("failed", "INGESTION_MISSING_REVISION", "ingest", "e"), id="no such revision"),
        pytest.param(row(LOST), ("failed", "PARSE_GOLD_TEXT_LOST", "parse", "e"), id="its text was lost"),
        pytest.param(row(NOWHERE), ("failed", "CHUNK_GOLD_SPLIT", "chunk", "e"), id="not even all chunks hold it"),
        pytest.param(row(removed_gold=["g"]), ("failed", "FILTER_FALSE_NEGATIVE", "filter", "e"), id="filtered away"),
        pytest.param(unfound(), ("failed", "SPARSE_VOCAB_MISMATCH", "bm25", "e"), id="no rank anywhere: the first arm"),
        pytest.param(unfound(**ranked("bm25", rank=20)), ("failed", "SPARSE_OUTRANKED", "bm25", "e"), id="shared terms, outranked"),
        pytest.param(unfound(**ranked("dense", rank=99)), ("failed", "DENSE_SEMANTIC_MISS", "dense_ann", "e"), id="only dense has a rank"),
        pytest.param(
            unfound(**ranked("bm25", rank=20), **ranked("dense", rank=19)),
            ("failed", "DENSE_SEMANTIC_MISS", "dense_ann", "e"),
            id="the nearer arm decides",
        ),
        pytest.param(
            unfound(**ranked("bm25", rank=20), **ranked("dense", rank=20)),
            ("failed", "SPARSE_OUTRANKED", "bm25", "e"),
            id="of equals the first arm",
        ),
        pytest.param(
            unfound(dense_exact=hits("ng")), ("failed", "ANN_NEIGHBOR_MISS", "dense_ann", "e"), id="the exact search had it"
        ),
        pytest.param(
            unfound(dense_exact=None, **ranked("dense", rank=10)),
            ("failed", "ANN_NEIGHBOR_MISS", "dense_ann", "e"),
            id="its exact rank is within depth",
        ),
        pytest.param(
            unfound(dense_exact=None, **ranked("dense", rank=11)),
            ("failed", "DENSE_SEMANTIC_MISS", "dense_ann", "e"),
            id="its exact rank is beyond depth",
        ),
        pytest.param(
            unfound(**ranked("dense", rank=11)) | {"severed:bm25": ["g"]},
            ("failed", "CHUNK_CONTEXT_SEVERED", "bm25", "e"),
            id="its subject was cut off",
        ),
        pytest.param(
            unfound(dense_exact=hits("g")) | {"severed:bm25": ["g"]},
            ("failed", "ANN_NEIGHBOR_MISS", "dense_ann", "e"),
            id="a lost neighbour comes before a cut subject",
        ),
        pytest.param(
            unfound() | {"severed:bm25": ["h"]},
            ("failed", "SPARSE_VOCAB_MISMATCH", "bm25", "e"),
            id="another chunk's subject",
        ),
        pytest.param(
            unfound() | {"scores:bm25": None}, ("failed", "RETRIEVAL_MISSED_GOLD", "bm25", "e"), id="nobody looked for terms"
        ),
        pytest.param(row(bm25=hits("n")), ("success", None, None, None), id="one arm is enough"),
        pytest.param(row(fused=hits("h")), ("failed", "FUSION_DEMOTED_GOLD", "fused", "e"), id="lost in fusion"),
        pytest.param(row(reranked=hits("")), ("failed", "RERANK_DEMOTED_GOLD", "reranked", "e"), id="lost in reranking"),
        pytest.param(row(context=hits("h")), ("failed", "CONTEXT_BUDGET_DROPPED_GOLD", "context", "e"), id="dropped from the context"),
        pytest.param(
            row(E, F, fused=hits("g"), context=hits("h")),
            ("failed", "FUSION_DEMOTED_GOLD", "fused", "f"),
            id="the first stage that loses a group",
        ),
        pytest.param(
            row(F, E, fused=hits("n")), ("failed", "FUSION_DEMOTED_GOLD", "fused", "f"), id="the first group in evidence order"
        ),
        pytest.param(row(SPLIT), ("success", None, None, None), id="split, but carried by the union"),
        pytest.param(row(SPLIT, fused=hits("lgh")), ("failed", "CHUNK_GOLD_SPLIT", "chunk", "s"), id="split and then lost"),
        pytest.param(row(SPLIT, removed_gold=["r"]), ("failed", "CHUNK_GOLD_SPLIT", "chunk", "s"), id="half of it filtered away"),
        pytest.param(row(SPLIT, every="lg"), ("failed", "CHUNK_GOLD_SPLIT", "chunk", "s"), id="half of it in no arm"),
        pytest.param(
            row(SPLIT, bm25=hits("l"), dense_exact=hits("r"), dense_ann=hits("r")),
            ("success", None, None, None),
            id="each arm has one half",
        ),
        pytest.param(
            row(gold_chunks=[*CHUNKS, place("m", (48, 62))], evidence=[SPLIT]),
            ("failed", "SPARSE_VOCAB_MISMATCH", "bm25", "s"),
            id="halves don't count where one chunk holds it whole",
        ),
    ],
)  # fmt: skip
def test_first_failure(asked, want):
    assert end(asked) == want


@pytest.mark.parametrize(
    ("gold", "want"),
    [
        pytest.param([GONE, F], None, id="the other document is there"),
        pytest.param([GONE, LOST | {"evidence_id": "x"}], "PARSE_GOLD_TEXT_LOST", id="the other one is lost in parsing"),
        pytest.param([OLD, GONE | {"evidence_id": "x"}], "INGESTION_MISSING_REVISION", id="named after the first"),
        pytest.param([LOST, F], None, id="the other text is there"),
        pytest.param([NOWHERE, SPLIT], None, id="the other one is split"),
        pytest.param([SPLIT, E], None, id="whole beats split"),
        pytest.param([evidence("x", (10, 20), relevance=1), NOWHERE], "CHUNK_GOLD_SPLIT", id="what is no gold doesn't save it"),
    ],
)  # fmt: skip
def test_any_evidence_of_a_group_is_enough(gold, want):
    asked = row(*(e | {"group_id": "one"} for e in gold))
    assert first(asked)["code"] == want


@pytest.mark.parametrize(
    ("asked", "want"),
    [
        pytest.param(row(bm25=None) | {"bm25.error": "x"}, ("error", None, "bm25", None), id="an arm failed"),
        pytest.param(row(bm25=None), ("missing", None, "bm25", None), id="an arm has no row"),
        pytest.param(row(dense_exact=None) | {"dense_exact.error": "x"}, ("success", None, None, None), id="a measurement failed"),
        pytest.param(row(dense_exact=None), ("success", None, None, None), id="outside the exact sample"),
        pytest.param(
            row(fused=hits("h"), reranked=None, context=None) | {"reranked.error": "x"},
            ("failed", "FUSION_DEMOTED_GOLD", "fused", "e"),
            id="a loss before the error wins",
        ),
        pytest.param(
            row(fused=None, reranked=None, context=hits("h")) | {"fused.error": "x"},
            ("error", None, "fused", None),
            id="an error before a loss wins",
        ),
        pytest.param(row(GONE, bm25=None), ("failed", "INGESTION_MISSING_SOURCE", "ingest", "e"), id="lost before all stages"),
        pytest.param(
            unfound(dense_ann=None) | {"dense_ann.error": "x"}, ("error", None, "dense_ann", None), id="the other arm might have had it"
        ),
    ],
)  # fmt: skip
def test_errors_and_missing_rows(asked, want):
    assert end(asked) == want
