"""What goes with a first failure: contributing, aspects, stages, foreign traces, missed chunks."""

import pytest
from metrics_batches import evidence, hits, question, table
from metrics_walks import CHUNKS, PIPELINE, SPLIT, E, F, end, first, ranked, row, unfound

from rayeval.metrics.failure.first_failure import FirstFailure
from rayeval.metrics.failure.missed import Missed
from rayeval.metrics.pipeline import Later, Pipeline


def entries(asked):
    keys = ("stage", "code", "rank", "depth", "group_id")
    return [tuple(entry[key] for key in keys) for entry in first(asked)["contributing"]]


@pytest.mark.parametrize(
    ("asked", "want"),
    [
        pytest.param(row(), [], id="nothing to say of a success"),
        pytest.param(
            unfound(**ranked("bm25", rank=20), **ranked("dense", rank=19)),
            [("bm25", "SPARSE_OUTRANKED", 20, 10, "e"), ("dense_ann", "DENSE_SEMANTIC_MISS", 19, 10, "e")],
            id="every arm's code and rank",
        ),
        pytest.param(
            unfound(dense_exact=hits("ng"), dense_ann=hits("n")),
            [("bm25", "SPARSE_VOCAB_MISMATCH", None, 10, "e"), ("dense_ann", "ANN_NEIGHBOR_MISS", 2, 10, "e")],
            id="the rank in the exact search",
        ),
        pytest.param(row(SPLIT), [("chunk", "CHUNK_GOLD_SPLIT", None, None, "s")], id="a success by the union"),
        pytest.param(
            row(SPLIT, fused=hits("lgh")),
            [("fused", "FUSION_DEMOTED_GOLD", None, None, "s")],
            id="where a split group was lost",
        ),
        pytest.param(
            row(SPLIT, every="lg", **ranked("dense", rank=30, chunk="r")),
            [("bm25", "CHUNK_GOLD_SPLIT", None, 10, "s"), ("dense_ann", "CHUNK_GOLD_SPLIT", 30, 10, "s")],
            id="the halves' ranks",
        ),
        pytest.param(
            row(E, SPLIT, F, fused=hits("lr")),
            [("chunk", "CHUNK_GOLD_SPLIT", None, None, "s"), ("fused", "FUSION_DEMOTED_GOLD", None, None, "f")],
            id="other groups lost at the same stage, and split ones",
        ),
    ],
)  # fmt: skip
def test_contributing(asked, want):
    assert entries(asked) == want


ASPECTS = [
    evidence("e", (10, 20), aspects=["who"]),
    evidence("f", (30, 40), relevance=1, aspects=["when"]),
]


@pytest.mark.parametrize(
    ("required", "context", "want"),
    [
        pytest.param(["who"], "g", "success", id="listed and found"),
        pytest.param(["who", "when"], "gh", "success", id="both found"),
        pytest.param(
            ["who", "when"], "g", "f", id="listed by evidence that is no gold, and not found"
        ),
        pytest.param(["f"], "g", "f", id="a group of the aspect's name"),
        pytest.param(["f"], "gh", "success", id="a group of its name, found"),
        pytest.param(["why"], "g", "success", id="listed by nothing: not observed"),
        pytest.param([], "g", "success", id="nothing is required"),
    ],
)
def test_aspects(required, context, want):
    asked = row(*ASPECTS, required_aspects=required, context=hits(context))
    if want == "success":
        assert end(asked)[0] == "success"
    else:
        assert end(asked) == ("failed", "CONTEXT_ASPECT_UNCOVERED", "context", want)


def test_a_dropped_group_comes_before_an_uncovered_aspect():
    asked = row(*ASPECTS, required_aspects=["when"], context=hits("n"))
    assert end(asked) == ("failed", "CONTEXT_BUDGET_DROPPED_GOLD", "context", "e")


def test_an_aspect_of_a_split_group_is_covered_by_the_union():
    asked = row(SPLIT | {"aspects": ["who"]}, required_aspects=["who"])
    assert end(asked)[0] == "success"


STAGES = ["ingest", "parse", "chunk", "filter", "bm25", "dense_exact", "dense_ann", "retrieve",
          "fused", "reranked", "context"]  # fmt: skip


@pytest.mark.parametrize(
    ("asked", "unobserved", "unreached"),
    [
        pytest.param(row(), [], [], id="everything"),
        pytest.param(row(bm25=hits("n")), [], ["bm25"], id="one arm lacks it"),
        pytest.param(row(dense_exact=None), ["dense_exact"], [], id="not run is not observed"),
        pytest.param(row(fused=hits("n")), [], ["fused"], id="lost in fusion, whatever comes after"),
        pytest.param(row(gold_chunks=None, removed_gold=None), ["chunk", "filter"], [], id="no chunks are known"),
        pytest.param(row(evidence("e", (10, 20), found=None, parsed=None)), ["ingest", "parse"], [], id="no corpus is known"),
        pytest.param(row(SPLIT, bm25=hits("l")), [], ["bm25"], id="half of a split group"),
    ],
)  # fmt: skip
def test_observed_and_reached_stages(asked, unobserved, unreached):
    result = first(asked)
    assert result["observed_stages"] == [s for s in STAGES if s not in unobserved]
    assert result["reached_stages"] == [s for s in STAGES if s not in (*unobserved, *unreached)]


FOREIGN = Pipeline((), (Later("search", "unknown"), Later("top", "rerank")))


@pytest.mark.parametrize(
    ("search", "top", "pipeline", "want"),
    [
        pytest.param("n", "n", FOREIGN, ("failed", "RETRIEVAL_MISSED_GOLD", "search", "e"), id="an unknown stage lacks it"),
        pytest.param("g", "n", FOREIGN, ("failed", "RERANK_DEMOTED_GOLD", "top", "e"), id="a known stage lost it"),
        pytest.param("", "n", Pipeline((), FOREIGN.later[1:]), ("failed", "RETRIEVAL_MISSED_GOLD", "top", "e"), id="a stage that was perhaps never given it"),
        pytest.param("", "g", Pipeline((), FOREIGN.later[1:]), ("success", None, None, None), id="one stage that has it"),
    ],
)  # fmt: skip
def test_traces_of_other_systems(search, top, pipeline, want):
    asked = question(evidence=[E], passages=CHUNKS, search=hits(search), top=hits(top))
    assert end(asked, pipeline) == want


def test_rows_are_answerable_questions_in_order():
    rows = [row() | {"question_id": q, "answerable": q != "b"} for q in "cba"]
    assert FirstFailure(PIPELINE, full=0.8)(table(rows))["question_id"].to_pylist() == ["a", "c"]
    assert FirstFailure(PIPELINE, full=0.8)(table(rows[1:2])).num_rows == 0


@pytest.mark.parametrize(
    ("asked", "want"),
    [
        pytest.param(row(), [], id="nothing missed"),
        pytest.param(unfound(), ["g"], id="the chunk that holds it"),
        pytest.param(unfound(removed_gold=["g"]), [], id="not what the filter removes"),
        pytest.param(row(E, F, every="g"), ["h"], id="of groups that no arm has"),
        pytest.param(
            row(evidence("s", (50, 59)), every="n"), ["l"], id="of a split group the larger part"
        ),
        pytest.param(row(SPLIT, every="n"), ["l", "r"], id="of equal halves both"),
        pytest.param(unfound() | {"answerable": False}, [], id="unanswerable"),
        pytest.param(unfound(bm25=None), [], id="an arm without a result"),
        pytest.param(unfound(dense_exact=hits("g")), ["g"], id="also where ANN lost it"),
    ],
)
def test_missed(asked, want):
    result = Missed(PIPELINE, full=0.8)(table([asked]))
    assert result.to_pylist() == [{"question_id": "q", "wanted": want}]
