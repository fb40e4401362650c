"""The walk against the plain reference, on random questions; laws 1 and 6."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from metrics_batches import evidence, hits, place, question, table
from metrics_walk_reference import Walker
from test_metrics_reference import evidences, span_lists

from rayeval.metrics.failure.codes import CODES
from rayeval.metrics.failure.first_failure import FAILURES, FirstFailure
from rayeval.metrics.failure.missed import Missed
from rayeval.metrics.pipeline import Arm, Later, Pipeline

BM25 = Arm("bm25", "lexical", 4, "bm25")
DENSE = Arm("dense", "dense", 6, "dense_exact", "dense_ann", sampled=True)
RERANK, CONTEXT = Later("reranked", "rerank"), Later("context", "context")
PIPELINES = {
    "two arms": Pipeline((BM25, DENSE), (Later("fused", "fuse"), RERANK, CONTEXT)),
    "exact dense alone": Pipeline((Arm("dense", "dense", 4, "dense_exact"),), (CONTEXT,)),
    "a stage that nobody knows": Pipeline((), (Later("search", "unknown"), RERANK)),
}


def rarely(draw, one_in):
    return draw(st.integers(1, one_in)) == one_in


@st.composite
def corpora(draw):
    """Chunks one after another over two documents of 24 characters, and now and then one between."""
    chunks = []
    for source in "de":
        cuts = sorted(draw(st.sets(st.integers(1, 23), max_size=2)))
        pairs = list(zip([0, *cuts], [*cuts, 24], strict=True))
        pairs += [draw(span_lists())[0]] if rarely(draw, 3) else []
        chunks += [
            place(f"{source}{number}", pair, source_id=source) for number, pair in enumerate(pairs)
        ]
    return chunks


@st.composite
def golds(draw, number):
    if rarely(draw, 4):
        return draw(evidences(number)) | {"revision_id": "1"}
    start, length = draw(st.integers(0, 20)), draw(st.integers(1, 6))
    return evidence(
        f"e{number}",
        (start, min(start + length, 24)),
        group_id=draw(st.sampled_from("abc")),
        source_id=draw(st.sampled_from("de")),
        relevance=draw(st.sampled_from([1, 2, 3])),
        parsed=draw(st.sampled_from([True, True, True, None, False])),
        aspects=draw(st.lists(st.just("t"), max_size=1)),
    )


@st.composite
def walks(draw, pipeline):
    """A question whose stages find some of a small corpus, whatever it holds of the gold."""
    chunks = draw(corpora())
    ids = [chunk["chunk_id"] for chunk in chunks]
    some = st.lists(st.sampled_from(ids), unique=True)
    row = question(
        answerable=not rarely(draw, 8),
        required_aspects=draw(st.lists(st.sampled_from(["a", "t", "u"]), max_size=2)),
        evidence=[draw(golds(n)) for n in range(draw(st.integers(1, 4)))],
        passages=chunks,
        gold_chunks=None if rarely(draw, 8) else chunks,
        removed_gold=draw(some)[:1] if rarely(draw, 4) else [],
    )
    for stage in pipeline.stages:
        hidden, broken = rarely(draw, 20), rarely(draw, 2)
        row[stage] = None if hidden else hits(draw(some))
        row[f"{stage}.error"] = "broken" if hidden and broken else None
    for arm in pipeline.arms:
        scored = None if rarely(draw, 8) else draw(some)
        ranks = st.lists(st.integers(1, 12), min_size=len(scored or []), max_size=len(scored or []))
        row[f"scores:{arm.name}"] = hits(scored)
        row[f"ranks:{arm.name}"] = None if scored is None else draw(ranks)
        row[f"severed:{arm.name}"] = draw(some)[:1] if rarely(draw, 2) else []
    return row


def plain(entries):
    """Entries of `contributing` in one order, as values that can be compared."""
    keys = ("group_id", "stage", "code", "rank", "depth")
    return sorted(tuple(str(entry[key]) for key in keys) for entry in entries)


@pytest.mark.parametrize("name", PIPELINES)
@settings(max_examples=120, deadline=None)
@given(data=st.data())
def test_the_walk_is_what_the_definitions_say(name, data):
    pipeline = PIPELINES[name]
    rows = data.draw(st.lists(walks(pipeline), min_size=1, max_size=3))
    rows = [row | {"question_id": f"q{number}"} for number, row in enumerate(rows)]
    result = FirstFailure(pipeline, full=0.8)(table(rows))
    assert result.schema == FAILURES
    answerable = [row for row in rows if row["answerable"]]
    assert result["question_id"].to_pylist() == [row["question_id"] for row in answerable]
    for row, got in zip(answerable, result.to_pylist(), strict=True):
        walker = Walker(row, pipeline)
        reached = walker.reached()
        assert (got["status"], got["code"], got["stage"], got["group_id"]) == walker.end, row
        assert plain(got["contributing"]) == plain(walker.contributing), row
        assert {s: s in got["reached_stages"] for s in reached} == reached, row
        assert set(reached) == set(got["observed_stages"]) & set(pipeline.stages)
        assert set(got["reached_stages"]) <= set(got["observed_stages"])
    law_6(result)


def law_6(result):
    status, code = result["status"].to_pylist(), result["code"].to_pylist()
    assert set(status) <= {"success", "failed", "error", "missing"}
    assert sum(Counter(c for c in code if c is not None).values()) == status.count("failed")
    assert all((s == "failed") == (c in CODES) for s, c in zip(status, code, strict=True))


@pytest.mark.parametrize("name", ["two arms", "exact dense alone"])
@settings(max_examples=80, deadline=None)
@given(data=st.data())
def test_missed_asks_for_the_chunks_that_hold_what_no_arm_has(name, data):
    pipeline = PIPELINES[name]
    row = data.draw(walks(pipeline))
    got = Missed(pipeline, full=0.8)(table([row]))["wanted"][0].as_py()
    walker = Walker(row, pipeline)
    results = [walker.found(arm.output) for arm in pipeline.arms]
    if not row["answerable"] or None in results:
        assert got == []
        return
    together = [hit for result in results for hit in result]
    lost = [g for g in walker.groups if not walker.held(together, g)]
    assert got == sorted({chunk for group in lost for chunk in walker.wanted(group)})
