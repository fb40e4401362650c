"""First failures over the stages that a trace shows."""

import polars as pl
import pyarrow as pa
import pytest

from rayeval.execution.score.stages import in_order
from rayeval.tables import TEXT

GOLDEN = [{"question_id": name, "question": "?", "evidence": [{"source_id": "B"}]}
          for name in ("all", "arm", "fuse", "rerank", "context")]  # fmt: skip
B, X = [{"source_id": "B"}], [{"source_id": "X"}]
TRACE = [
    {"question_id": name, "stages": {stage: {"hits": hits} for stage, hits in zip(
        ("bm25", "dense", "fused", "reranked", "context"), lists, strict=True)}}
    for name, lists in {
        "all": (X, B, B, B, B), "arm": (X, X, X, X, X), "fuse": (X, B, X, X, X),
        "rerank": (B, X, B, X, X), "context": (B, B, B, B, X)}.items()
]  # fmt: skip


def test_the_walk_over_arms_fusion_rerank_and_context(scored):
    run = scored(GOLDEN, TRACE, metrics=["recall@1"])
    found = {row["question_id"]: (row["code"], row["stage"])
             for row in run.failures.iter_rows(named=True)}  # fmt: skip
    assert found == {
        "all": (None, None),
        "arm": ("RETRIEVAL_MISSED_GOLD", "bm25"),
        "fuse": ("FUSION_DEMOTED_GOLD", "fused"),
        "rerank": ("RERANK_DEMOTED_GOLD", "reranked"),
        "context": ("CONTEXT_BUDGET_DROPPED_GOLD", "context"),
    }
    observed = run.failures["observed_stages"][0].to_list()
    assert observed == ["bm25", "dense", "retrieve", "fused", "reranked", "context"]
    status = run.summary()["status"]
    assert status == {"success": 1, "failed": 4, "error": 0, "missing": 0}


def test_unknown_stages_follow_one_another(scored):
    trace = [{"question_id": "all", "stages": {"search": {"hits": B}, "filtered": {"hits": X}}}]
    run = scored(GOLDEN[:1], trace)
    assert run.failures.select("code", "stage").rows() == [("RETRIEVAL_MISSED_GOLD", "filtered")]


def test_a_stage_that_the_trace_lacks_is_not_observed(scored):
    run = scored(GOLDEN[:1], [{"question_id": "all", "stages": {"reranked": {"hits": X}}}])
    [row] = run.failures.to_dicts()
    assert row["observed_stages"] == ["reranked"]
    assert row["code"] == "RETRIEVAL_MISSED_GOLD"  # nothing shows that it was ever given it


def test_the_context_field_is_a_stage(scored):
    golden = [{"question_id": "all", "question": "?", "evidence": [{"quote": "the moon"}]}]
    trace = [{"question_id": "all", "stages": {"search": {"hits": ["see the moon"]}},
              "context": ["something else"]}]  # fmt: skip
    run = scored(golden, trace)
    assert run.manifest["stages"] == ["search", "context"]
    assert run.failures["code"].to_list() == ["CONTEXT_BUDGET_DROPPED_GOLD"]
    tokens = run.per_query.filter(pl.col("stage") == "context")["context_tokens"]
    assert tokens.to_list() == [2]


def test_answers_of_a_trace_are_kept(scored):
    trace = [{"question_id": "all", "stages": {"s": {"hits": B}}, "answer": "yes", "repeat": n}
             for n in range(2)]  # fmt: skip
    run = scored(GOLDEN[:1], trace)
    answers = pl.read_parquet(f"{run.path}/answers.parquet")
    assert answers.select("repeat", "answer").rows() == [(0, "yes"), (1, "yes")]
    assert run.damage() == []
    found = run.per_query.select("stage", "status", "abstained").rows()
    assert [row[:2] for row in found] == [("s", "ok"), ("answer", "ok")]
    assert found[1][2] == 0


def names(*rows):
    ids, stages = zip(*rows, strict=True)
    return pa.table({"question_id": pa.array(ids, TEXT), "stage": pa.array(stages, TEXT)})


@pytest.mark.parametrize(
    ("rows", "want"),
    [
        pytest.param([("a", "x"), ("a", "z"), ("b", "x"), ("b", "y"), ("b", "z")],
                     ["x", "y", "z"], id="a stage that the first question lacks"),
        pytest.param([("a", "y"), ("b", "x")], ["y", "x"], id="nothing known: as they come"),
        pytest.param([("a", "x"), ("a", "y"), ("b", "y"), ("b", "x")], ["x", "y"],
                     id="questions that contradict each other: as they come"),
        pytest.param([("a", None), ("b", "x")], ["x"], id="a whole question's error is no stage"),
    ],
)  # fmt: skip
def test_the_order_of_stages(rows, want):
    assert list(in_order(names(*rows), {}).stages) == want


def test_stages_in_summary_keep_the_trace_names(scored):
    run = scored(GOLDEN, TRACE, metrics=["recall@1"])
    means = run.aggregate.filter(pl.col("metric") == "recall@1").select("stage", "mean").rows()
    assert means == [("bm25", 0.4), ("dense", 0.6), ("fused", 0.6), ("reranked", 0.4),
                     ("context", 0.2)]  # fmt: skip
