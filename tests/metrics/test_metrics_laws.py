"""Laws 1 and 9 of DESIGN §9, and the textbook metrics where documents are the gold."""

import math
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
import pytrec_eval
from hypothesis import given, settings
from hypothesis import strategies as st
from metrics_batches import CONTEXT, evidence, hits, place, question, table
from test_metrics_reference import questions
from test_metrics_walk_reference import PIPELINES, walks

from rayeval.metrics.config import Metrics
from rayeval.metrics.failure.first_failure import FirstFailure
from rayeval.metrics.failure.missed import Missed
from rayeval.metrics.per_query import PerQuery


def as_bytes(part):
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, part.schema) as writer:
        writer.write_table(part.combine_chunks())
    return sink.getvalue().to_pybytes()


def batches_agree(stage, rows, cuts, shuffled):
    """The same bytes for one batch, for its pieces, and for other orders of rows."""
    whole = table(rows)
    points = sorted({0, len(rows), *(cut % (len(rows) + 1) for cut in cuts)})
    parts = [stage(whole.slice(a, b - a)) for a, b in pairwise(points)]
    want = stage(whole)
    assert as_bytes(pa.concat_tables(parts)) == as_bytes(want)
    mixed = stage(whole.take(pa.array(shuffled)))
    mixed = mixed.take(pa.compute.sort_indices(mixed["question_id"]))
    assert mixed["question_id"].equals(want["question_id"])
    return mixed, want


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_batches_and_order_change_no_bit_of_the_numbers(data):
    rows = data.draw(st.lists(questions(), min_size=1, max_size=6))
    rows = [row | {"question_id": f"q{number}"} for number, row in enumerate(rows)]
    cuts = data.draw(st.lists(st.integers(0, 6), max_size=3))
    shuffled = data.draw(st.permutations(range(len(rows))))
    stage = PerQuery(Metrics(cutoffs=[1, 3, "4tok"]), CONTEXT)
    mixed, want = batches_agree(stage, rows, cuts, shuffled)
    assert as_bytes(mixed) == as_bytes(want)


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_batches_and_order_change_no_failure(data):
    pipeline = PIPELINES["two arms"]
    rows = data.draw(st.lists(walks(pipeline), min_size=1, max_size=5))
    rows = [row | {"question_id": f"q{number}"} for number, row in enumerate(rows)]
    cuts = data.draw(st.lists(st.integers(0, 5), max_size=2))
    shuffled = data.draw(st.permutations(range(len(rows))))
    for stage in (FirstFailure(pipeline, full=0.8), Missed(pipeline, full=0.8)):
        mixed, want = batches_agree(stage, rows, cuts, shuffled)
        assert mixed.to_pylist() == want.to_pylist()


@settings(deadline=None)
@given(
    st.lists(st.integers(1, 3), min_size=1, max_size=12),
    st.integers(0, 5),
    st.sampled_from(["exponential", "linear"]),
)
def test_a_perfect_ranking_is_exactly_1(grades, noise, gain):
    grades = sorted(grades, reverse=True)
    gold = [evidence(f"e{i}", (10 * i, 10 * i + 5), relevance=g) for i, g in enumerate(grades)]
    passages = [
        place(f"p{i:03}", (10 * i, 10 * i + 8), tokens=1) for i in range(len(grades) + noise)
    ]
    ids = [passage["chunk_id"] for passage in passages]
    ks = [1, 2, 3, 5, 20, "1tok", "30tok"]
    stage = PerQuery(Metrics(cutoffs=ks, gain=gain), CONTEXT)
    got = stage(table([question(evidence=gold, passages=passages, s=hits(ids))])).to_pylist()[0]
    needed = sum(grade >= 2 for grade in grades)
    for k in ks:
        if k != "1tok":
            assert got[f"ndcg@{k}"] == 1
        if needed:
            assert got[f"mrr@{k}"] == 1
            if k in (20, "30tok"):
                assert (got[f"recall@{k}"], got[f"map@{k}"], got[f"all_groups@{k}"]) == (1, 1, 1)


GRADES = st.dictionaries(st.sampled_from("ABCDEFGH"), st.integers(0, 3), min_size=1)
MEASURES = {"map_cut.5", "P.5", "recall.5", "recip_rank", "ndcg_cut.5", "success.5"}


def trec(grades, ranking):
    """trec_eval's values for one query."""
    run = {"q": {doc: float(len(ranking) - i) for i, doc in enumerate(ranking)}}
    return pytrec_eval.RelevanceEvaluator({"q": grades}, MEASURES).evaluate(run)["q"]


@settings(max_examples=60, deadline=None)
@given(GRADES, st.permutations("ABCDEFGHXY"), st.integers(1, 10))
def test_with_documents_as_gold_these_are_the_textbook_metrics(grades, order, depth):
    ranking = order[:depth]
    gold = [evidence(doc, source_id=doc, relevance=grade) for doc, grade in grades.items()]
    passages = [place(doc, source_id=doc, tokens=1) for doc in order]
    row = question(evidence=gold, passages=passages, s=hits(ranking))
    got = {
        gain: PerQuery(Metrics(cutoffs=[5, 10], gain=gain), CONTEXT)(table([row])).to_pylist()[0]
        for gain in ("linear", "exponential")
    }
    binary = trec({doc: int(grade >= 2) for doc, grade in grades.items()}, ranking)
    pairs = {
        "map@5": "map_cut_5", "precision@5": "P_5", "recall@5": "recall_5", "mrr@10": "recip_rank",
        "hit@5": "success_5", "source_recall@5": "recall_5", "joint_recall@5": "recall_5",
    }  # fmt: skip
    for ours, theirs in pairs.items():
        if max(grades.values()) >= 2:
            assert got["linear"][ours] == pytest.approx(binary[theirs], abs=1e-12)
        else:
            assert math.isnan(got["linear"][ours])
    worth = {"linear": grades, "exponential": {doc: 2**g - 1 for doc, g in grades.items()}}
    for gain, gains in worth.items():
        want = trec(gains, ranking)["ndcg_cut_5"] if max(grades.values()) >= 1 else math.nan
        assert got[gain]["ndcg@5"] == pytest.approx(want, abs=1e-12, nan_ok=True)


def test_a_question_among_many_has_the_bits_that_it_has_alone():
    rng = np.random.default_rng(7)
    rows = []
    for number in range(40):
        size = int(rng.integers(1, 60))
        gold = [
            evidence(f"e{i}", (20 * i, 20 * i + 9), relevance=int(rng.integers(1, 4)))
            for i in range(size)
        ]
        passages = [place(f"p{i}", (20 * i, 20 * i + 15), tokens=3) for i in range(80)]
        order = [f"p{i}" for i in rng.permutation(80)]
        rows.append(question(f"q{number:02}", evidence=gold, passages=passages, s=hits(order)))
    stage = PerQuery(Metrics(cutoffs=[10, 80, "100tok"]), CONTEXT)
    alone = pa.concat_tables([stage(table([row])) for row in rows])
    assert as_bytes(stage(table(rows))) == as_bytes(alone)
