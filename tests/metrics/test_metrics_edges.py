"""Edges by hand: sets of sources, judged, nothing to measure, and how a row's stage went."""

import math

import pytest
from metrics_batches import evidence, hits, place, question, table, value

from rayeval.errors import RowError
from rayeval.metrics.config import Metrics
from rayeval.metrics.per_query import PerQuery
from rayeval.metrics.pipeline import Arm, Later, Pipeline

HALVES = {
    "ranking": "ab",
    "gold": [evidence("e", (0, 10))],
    "passages": [place("a", (0, 6)), place("b", (4, 10))],
}

SETS = [
    evidence("e", (0, 10), group_id="g", source_id="x"),
    evidence("f", (0, 10), group_id="g", source_id="y"),
    evidence("h", (20, 30), group_id="h", source_id="y"),
    evidence("i", (20, 30), group_id="h", source_id="x"),
    evidence("j", (0, 10), group_id="j", source_id="z"),
]


@pytest.mark.parametrize(
    ("ranking", "want"),
    [
        pytest.param("y", 0.5, id="equal sets count once, and any member will do"),
        pytest.param("z", 0.5, id="the other set"),
        pytest.param("yz", 1, id="both"),
        pytest.param("w", 0, id="neither"),
    ],
)
def test_source_recall_counts_sets_of_sources(ranking, want):
    passages = [place(s, (900, 910), source_id=s, revision_id="other") for s in "xyzw"]
    assert value("source_recall@2", ranking=ranking, gold=SETS, passages=passages) == want


@pytest.mark.parametrize(
    ("labels", "ranking", "want"),
    [
        pytest.param("partial", "ab", 0.5, id="text outside all evidence is unjudged"),
        pytest.param("complete", "ab", 1, id="unless labels are complete"),
        pytest.param("complete", "", math.nan, id="of no hits nothing can be said"),
        pytest.param("partial", "c", 1, id="a labelled hard negative is judged"),
        pytest.param("partial", "t", 0, id="a touch is not"),
    ],
)
def test_judged(labels, ranking, want):
    passages = [
        place("a", (0, 10)),
        place("b", (50, 60)),
        place("c", (29, 40)),
        place("t", (10, 20)),
    ]
    gold = [evidence("e", (0, 10)), evidence("n", (20, 30), relevance=0)]
    case = {"ranking": ranking, "gold": gold, "passages": passages}
    assert value("judged@5", labels=labels, **case) == pytest.approx(want, nan_ok=True)


NOTHING = {"ranking": "a", "gold": [], "passages": [place("a", (0, 10))]}


@pytest.mark.parametrize("name", ["hit", "recall", "all_groups", "joint_recall", "partial", "source_recall", "precision",
                                  "precision_returned", "mrr", "map", "ndcg", "char_recall", "char_precision", "char_iou"])  # fmt: skip
def test_without_gold_a_metric_is_undefined(name):
    assert math.isnan(value(f"{name}@5", **NOTHING))
    assert math.isnan(value(f"{name}@5tok", **NOTHING))


@pytest.mark.parametrize(
    "name", ["recall@5", "ndcg@5", "judged@5", "duplicate_ratio", "context_tokens"]
)
def test_an_unanswerable_question_has_no_numbers(name):
    assert math.isnan(value(name, **(HALVES | {"answerable": False})))


def test_gold_that_is_not_in_the_corpus_is_missed_not_undefined():
    case = NOTHING | {"gold": [evidence("e", found="missing_source", source_id="gone")]}
    for name in ("recall@5", "ndcg@5", "char_recall@5", "char_precision@5", "source_recall@5"):
        assert value(name, **case) == 0


def test_an_empty_context():
    case = HALVES | {"ranking": ""}
    for name in ("duplicate_ratio", "context_tokens", "tokens_per_gold_char"):
        assert math.isnan(value(name, **case))
    assert value("char_precision@5", **case) == 0
    assert value("precision_returned@5", **case) == 0


def test_tokens_without_gold_in_the_context():
    case = HALVES | {"ranking": "c", "passages": [place("c", (50, 60))]}
    assert value("context_tokens", **case) == 10
    assert math.isnan(value("tokens_per_gold_char", **case))


STATUS = Pipeline(
    (Arm("bm25", "lexical", 10, "bm25"), Arm("dense", "dense", 10, "dense_exact")),
    (Later("fused", "fuse"), Later("context", "context")),
)


def statuses(**stages):
    stages = {
        "bm25": hits("g"),
        "dense_exact": hits("g"),
        "fused": hits("g"),
        "context": hits("g"),
    } | stages
    row = question(evidence=[evidence("e", (0, 10))], passages=[place("g", (0, 10))], **stages)
    return PerQuery(Metrics(names=["recall@1", "partial@1"]), STATUS)(table([row])).to_pylist()


@pytest.mark.parametrize(
    ("stages", "want"),
    [
        pytest.param({}, ["ok", "ok", "ok", "ok"], id="all well"),
        pytest.param(
            {"fused": None}, ["ok", "ok", "missing", "ok"], id="a row that nothing explains"
        ),
        pytest.param(
            {"fused": None, "context": None, "fused.error": "x"},
            ["ok", "ok", "error", "error"],
            id="what comes after an error is explained by it",
        ),
        pytest.param(
            {"bm25": None, "bm25.error": "x", "dense_exact": None},
            ["error", "missing", "ok", "ok"],
            id="an arm is not explained by another arm",
        ),
        pytest.param({"bm25.error": "x"}, ["error", "ok", "ok", "ok"], id="an error beside hits"),
    ],
)
def test_status_of_a_row(stages, want):
    rows = statuses(**stages)
    assert [row["status"] for row in rows] == want
    for row in rows:
        match row["status"]:
            case "ok":
                assert (row["recall@1"], row["partial@1"]) == (1, 0)
            case "missing":
                assert row["recall@1"] == 0
                assert math.isnan(row["partial@1"])
            case _:
                assert math.isnan(row["recall@1"])


def test_a_hit_without_a_place_names_question_stage_and_chunk():
    with pytest.raises(RowError, match=r"'q'.*'s'.*'z'"):
        value("recall@1", ranking="z", gold=[], passages=[])


def test_numbers_of_the_search_itself_become_columns_of_its_stage():
    pipeline = Pipeline((Arm("d", "dense", 10, "d_exact", "d_ann"),))
    row = question(passages=[], d_exact=[], d_ann=[]) | {"extra:recall": 0.25, "extra:gold": None}
    extras = {"d_ann": {"index_recall": "extra:recall", "lost_gold": "extra:gold"}}
    result = PerQuery(Metrics(), pipeline, extras)(table([row])).to_pylist()
    assert math.isnan(result[0]["index_recall"])
    assert result[1]["index_recall"] == 0.25
    assert math.isnan(result[1]["lost_gold"])
    assert "lost_harmless" not in result[0]
