"""Means over questions: populations, counts, and that no split changes a bit."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from metrics_batches import evidence, hits, place, question, table

from rayeval.errors import RunError
from rayeval.metrics.config import Metrics
from rayeval.metrics.per_query import PerQuery
from rayeval.metrics.pipeline import Arm, Later, Pipeline
from rayeval.metrics.sums import SCALE, exact_sums, mean
from rayeval.metrics.totals import AGGREGATE, SLICES, Totals

GOLD = {
    "evidence": [evidence("e", (0, 10))],
    "passages": [place("g", (0, 10)), place("n", (20, 30))],
}
ARMS = (Arm("bm25", "lexical", 10, "bm25"),)
ROWS = [
    question("found", **GOLD, bm25=hits("g"), context=hits("g"), slices=["a"]),
    question("late", **GOLD, bm25=hits("ng"), context=hits("n"), slices=["a", "b"]),
    question("missing", **GOLD, bm25=hits("g"), context=None, slices=["b"]),
    question("broken", **GOLD, bm25=None, context=None, slices=["b"])
    | {"bm25.error": "time out", "context.error": "upstream"},
    question("refuse", answerable=False, passages=GOLD["passages"], bm25=hits("n"), context=hits("n"), slices=["c"]),
    question("nogold", evidence=[evidence("e", (0, 10), relevance=1)], passages=GOLD["passages"], bm25=hits("g"), context=None),
    question("made", **GOLD, bm25=hits("n"), context=hits("g"), slices=["a", "synthetic_unvalidated"]),
]  # fmt: skip
PIPELINE = Pipeline(ARMS, (Later("context", "context"),))


def totals(rows=ROWS, parts=1, **config):
    measured = PerQuery(Metrics(cutoffs=[1], **config), PIPELINE)
    result = Totals(measured.measured)
    for part in range(parts):
        batch = table(rows).slice(len(rows) * part // parts, len(rows) * (part + 1) // parts)
        size = len(rows) * (part + 1) // parts - len(rows) * part // parts
        result.add(measured(batch.slice(0, size)), batch.slice(0, size))
    return result


def row(rows, **keys):
    (only,) = [r for r in rows.to_pylist() if all(r[k] == v for k, v in keys.items())]
    return {name: only[name] for name in ("mean", "n", "n_undefined", "n_missing", "n_error")}


@pytest.mark.parametrize(
    ("stage", "metric", "want"),
    [
        pytest.param("bm25", "recall@1", (1.0 * 2 / 3, 3, 1, 0, 1), id="an error and no gold leave the mean"),
        pytest.param("context", "recall@1", (1 / 3, 3, 1, 1, 1), id="a missing row scores 0 and is counted"),
        pytest.param("context", "ndcg@1", (1 / 4, 4, 0, 2, 1), id="a grade 1 group alone is judged by ndcg"),
        pytest.param("context", "partial@1", (0.0, 2, 1, 1, 1), id="no worst value: NaN, counted as missing, unless no gold"),
        pytest.param("context", "judged@1", (0.5, 2, 0, 2, 1), id="judged needs no gold"),
        pytest.param("context", "duplicate_ratio", (0.0, 2, 0, 2, 1), id="of the context alone"),
        pytest.param("context", "tokens_per_gold_char", (1.0, 1, 2, 1, 1), id="no gold in the context is undefined"),
    ],
)  # fmt: skip
def test_counts_of_one_metric(stage, metric, want):
    got = row(totals().aggregate(), stage=stage, metric=metric)
    assert tuple(got.values()) == pytest.approx(want)
    undefined_missing = got["n_missing"] if metric in NO_WORST else 0
    assert got["n"] + got["n_undefined"] + got["n_error"] + undefined_missing == 5  # the population


NO_WORST = {"partial@1", "judged@1", "duplicate_ratio", "tokens_per_gold_char"}


def test_metrics_of_the_context_have_no_rows_elsewhere():
    rows = totals().aggregate().to_pylist()
    assert {r["stage"] for r in rows if r["metric"] == "context_tokens"} == {"context"}


def test_a_synthetic_unvalidated_question_counts_in_its_own_slice_only():
    slices = totals().slices()
    assert row(slices, slice="synthetic_unvalidated", stage="bm25", metric="recall@1")["n"] == 1
    assert row(slices, slice="a", stage="bm25", metric="recall@1") == {
        "mean": 0.5, "n": 2, "n_undefined": 0, "n_missing": 0, "n_error": 0
    }  # fmt: skip


def test_a_slice_without_answerable_questions_is_there_and_empty():
    got = row(totals().slices(), slice="c", stage="bm25", metric="recall@1")
    assert math.isnan(got.pop("mean"))
    assert set(got.values()) == {0}


def test_schemas_and_order():
    found = totals()
    assert found.aggregate().schema == AGGREGATE
    assert found.slices().schema == SLICES
    assert found.slices()["slice"].unique().to_pylist() == ["a", "b", "c", "synthetic_unvalidated"]
    assert found.aggregate()["stage"].unique().to_pylist() == ["bm25", "context"]


def test_nothing_counted_is_a_table_of_empty_means():
    found = Totals({"bm25": ["recall@1"]})
    assert row(found.aggregate(), stage="bm25", metric="recall@1")["n"] == 0
    assert found.slices().num_rows == 0


def test_a_stage_outside_its_sample_is_no_population():
    pipeline = Pipeline((Arm("dense", "dense", 10, "dense_exact", "dense_ann", sampled=True),))
    rows = [
        question("a", **GOLD, dense_exact=hits("g"), dense_ann=hits("g")),
        question("b", **GOLD, dense_exact=None, dense_ann=hits("n")),
    ]
    measured = PerQuery(Metrics(names=["recall@1"]), pipeline)
    per_query = measured(table(rows))
    assert per_query["status"].to_pylist() == ["ok", "ok", "not_run", "ok"]
    found = Totals(measured.measured)
    found.add(per_query, table(rows))
    got = row(found.aggregate(), stage="dense_exact", metric="recall@1")
    assert got == {"mean": 1.0, "n": 1, "n_undefined": 0, "n_missing": 0, "n_error": 0}


def test_numbers_of_a_stranger_are_refused():
    measured = PerQuery(Metrics(), PIPELINE)
    with pytest.raises(RunError, match="'broken'"):
        Totals(measured.measured).add(measured(table(ROWS)), table(ROWS[:2]))


@pytest.mark.parametrize("parts", [2, 3, 7])
def test_parts_merged_are_the_whole_bit_for_bit(parts):
    whole = totals(list(reversed(ROWS)))
    merged = Totals(whole.measured)
    for number in range(parts):
        merged.merge(totals(ROWS[number::parts]))
    assert same_bits(merged, whole)


def same_bits(a, b):
    def packed(rows):
        return [{**r, "mean": np.float64(r["mean"]).tobytes()} for r in rows.to_pylist()]

    return packed(a.aggregate()) == packed(b.aggregate()) and packed(a.slices()) == packed(
        b.slices()
    )


FLOATS = st.floats(allow_nan=False, allow_infinity=False, width=64)


@settings(deadline=None)
@given(st.lists(FLOATS, max_size=30))
def test_sums_are_exact(values):
    array = np.array(values, np.float64)
    (got,) = exact_sums(array, np.zeros(len(values), np.int64), 1)
    assert Fraction(got, 1 << SCALE) == sum((Fraction(v) for v in values), Fraction(0))


@settings(deadline=None)
@given(st.lists(st.tuples(FLOATS, st.integers(0, 3)), max_size=30), st.integers(0, 30))
def test_sums_of_parts_add_up_to_the_sum(pairs, cut):
    def sums(some):
        values = np.array([v for v, _ in some], np.float64)
        return exact_sums(values, np.array([g for _, g in some], np.int64), 4)

    parts = zip(sums(pairs[:cut]), sums(pairs[cut:]), strict=True)
    assert [a + b for a, b in parts] == sums(pairs) == sums(pairs[::-1])


def test_a_mean_is_rounded_once():
    (total,) = exact_sums(np.array([0.1] * 3), np.zeros(3, np.int64), 1)
    assert mean(total, 3) == 0.1  # 0.1 + 0.1 + 0.1 is not 0.3 in floating point
    assert math.isnan(mean(0, 0))
