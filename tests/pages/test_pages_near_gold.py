"""Ranks of gold are found among the hits near it as they are among all."""

import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st
from pages_runs import tables

from rayeval.metrics.relevance import relevance
from rayeval.report import gold
from rayeval.report.gold import gold_and_unjudged, gold_ranks, places, unjudged

STAGES = ["bm25", "context"]
QUESTIONS = 4
LISTS = st.lists(st.integers(0, 49), unique=True, max_size=12)


def run_of(lists, sources):
    """Four questions with these hits at both stages, and chunks in these documents."""
    run = tables(QUESTIONS)
    rows = []
    for number, listed in enumerate(lists):
        question, stage = f"q-{number // 2:05d}", STAGES[number % 2]
        hits = listed and [{"chunk_id": f"chunk-{n}", "score": -float(n)} for n in listed]
        rows.append({"question_id": question, "stage": stage, "hits": hits, "error": None})
    run.trace = pl.DataFrame(rows, schema_overrides=run.trace.schema).select(
        "question_id", "stage", pl.col("hits").cast(run.trace.schema["hits"])
    )
    moved = {f"doc-{n}": source for n, source in enumerate(sources)}
    run.passages = run.passages.with_columns(
        source_id=pl.col("source_id").replace_strict(moved, default=pl.col("source_id"))
    )
    return run


def among_all(run):
    """The same with every hit of every question."""
    ids = [f"q-{number:05d}" for number in range(QUESTIONS)]
    found = []
    for table, _ in gold.blocks(run, ids, STAGES):
        batch = table.append_column("passages", places(table, STAGES, run))
        found.append(gold._ranks(batch, relevance(batch, "passages", full=0.8), STAGES))
    return gold._sorted(found)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.none() | LISTS, min_size=2 * QUESTIONS, max_size=2 * QUESTIONS),
    st.lists(st.sampled_from([None, "doc-1", "doc-2", "doc-3", "other"]), max_size=8),
)
def test_ranks_of_gold_are_those_among_all_hits(lists, sources):
    run = run_of(lists, sources)
    ids = [f"q-{number:05d}" for number in range(QUESTIONS)]
    ranks, open_ = gold_and_unjudged(run, ids, STAGES, 5)
    assert ranks.equals(among_all(run))
    assert ranks.equals(gold_ranks(run, ids, STAGES))
    assert open_.equals(unjudged(run, ids, STAGES, 5))
    top = open_.group_by("question_id", "stage").agg(pl.col("rank").max())["rank"]
    assert top.is_empty() or top.max() <= 5
