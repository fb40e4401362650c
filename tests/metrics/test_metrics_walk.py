"""The walk by hand: every code, and every rule of DESIGN §6 about them."""

import pytest
from metrics_batches import evidence, hits, place, question, table

from rayeval.metrics.failure.first_failure import FirstFailure
from rayeval.metrics.failure.missed import Missed
from rayeval.metrics.pipeline import Arm, Later, Pipeline

BM25 = Arm("bm25", "lexical", 10, "bm25")
DENSE = Arm("dense", "dense", 10, "dense_exact", "dense_ann", sampled=True)
LATER = (Later("fused", "fuse"), Later("reranked", "rerank"), Later("context", "context"))
PIPELINE = Pipeline((BM25, DENSE), LATER)

# Gold [10, 20) lies in chunk g; h holds [30, 40), n neither. l and r split [50, 60) between them.
CHUNKS = [
    place("g", (0, 25)),
    place("h", (25, 45)),
    place("l", (45, 55)),
    place("r", (55, 70)),
    place("n", (70, 99)),
]
E = evidence("e", (10, 20))
F = evidence("f", (30, 40))
SPLIT = evidence("s", (50, 60))
NOTHING_RANKED = {
    f"{name}:{arm}": [] for arm in ("bm25", "dense") for name in ("scores", "ranks", "severed")
}


def row(*gold, every=None, **given):
    """A question whose gold every stage finds, but for what is given."""
    found = hits(every if every is not None else "ghlr")
    stages = dict.fromkeys(PIPELINE.stages, found)
    base = {"evidence": list(gold or [E]), "passages": CHUNKS, "gold_chunks": CHUNKS[:4]}
    return question(**base, removed_gold=[], **stages) | NOTHING_RANKED | given


def first(asked, pipeline=PIPELINE):
    (result,) = FirstFailure(pipeline, full=0.8)(table([asked])).to_pylist()
    return result


def end(asked, pipeline=PIPELINE):
    result = first(asked, pipeline)
    return result["status"], result["code"], result["stage"], result["group_id"]


def ranked(arm, *, rank=None, chunk="g"):
    """What the search beyond depth says of a gold chunk in one arm."""
    found = rank is not None
    return {f"scores:{arm}": hits(chunk if found else ""), f"ranks:{arm}": [rank] if found else []}


def unfound(every="n", **given):
    """No arm has the gold, which is in chunk g."""
    return row(every=every, **given)


GONE = evidence("e", found="missing_source")
OLD = evidence("e", found="missing_revision")
LOST = evidence("e", (10, 20), parsed=False)
NOWHERE = evidence("e", (200, 210))


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
