"""What a page holds, without a browser: escaping, determinism, size, and the first sentence."""

import json
import math
import re

import polars as pl
import pytest
from pages_runs import HOSTILE, tables

from rayeval.comparison.pairs import pair
from rayeval.comparison.ranks import rank_movement, unjudged_differences
from rayeval.report import gold
from rayeval.report.gold import RANKS, gold_ranks, unjudged
from rayeval.report.page.movement import movement
from rayeval.report.page.run import run_page
from rayeval.report.page.sentence import run_sentence
from rayeval.report.page.shell import embedded, page


def data_of(html: bytes):
    found = re.search(
        r'<script type="application/json" id="data">(.*?)</script>', html.decode(), re.S
    )
    return json.loads(found[1])


def test_texts_come_back_whole_and_end_no_script():
    text = embedded({"a": HOSTILE, "b": [math.nan, 0.1 + 0.2, math.inf, 3, None, True]})
    assert not re.search("[<>&\u2028\u2029]", text)
    assert json.loads(text) == {"a": HOSTILE, "b": [None, 0.3, None, 3, None, True]}


def test_title_and_sentence_are_escaped():
    html = page(HOSTILE, HOSTILE, {}).decode()
    assert "<script>alert" not in html
    assert html.count("<script") == 2
    assert html.count("&lt;script&gt;alert(1)") == 3  # title, header, sentence


def test_nothing_is_fetched_and_only_our_script_may_run():
    html = run_page(tables(9)).decode()
    assert not re.search(r"""(src|href)=["']?(https?:)?//""", html)
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', html)[1]
    assert policy.startswith("default-src 'none'")
    assert "script-src 'sha256-" in policy


def test_the_same_run_gives_the_same_bytes():
    assert run_page(tables(40)) == run_page(tables(40))


def test_a_run_of_ten_thousand_is_small_and_says_what_it_leaves_out():
    html = run_page(tables(10_000))
    data = data_of(html)
    assert len(html) < 5_000_000
    assert len(data["questions"]["id"]) == data["total"] == 10_000
    assert len(data["sides"][0]["details"]) == 500
    assert {len(marks) for marks in data["sides"][0]["marks"]} == {4}


def test_a_small_run_has_every_question_in_full_and_each_text_once():
    data = data_of(run_page(tables(60)))
    details = data["sides"][0]["details"]
    assert len(details) == 60
    assert sorted(item["id"] for item in data["passages"]) == sorted(
        {i["id"] for i in data["passages"]}
    )
    one = details["q-00001"]
    assert one["ranks"] == {"g1": {"bm25": 3, "reranked": 3, "context": 3}}
    assert [hit[1:] for hit in one["stages"]["context"]["hits"]] == [[1, 3], [2, 2], [3, 1]]
    assert details["q-00003"]["ranks"] == {"g1": {"bm25": 3, "reranked": None, "context": None}}


def failures(*rows):
    return pl.DataFrame(rows, schema=["question_id", "status", "stage"], orient="row")


def ranks(*rows):
    return pl.DataFrame([(q, "g", "s", r) for q, r in rows], schema=RANKS, orient="row")


@pytest.mark.parametrize(
    ("rows", "known", "text", "behind"),
    [
        pytest.param([], [], "No answerable question: nothing can be lost", (), id="nothing to lose"),
        pytest.param([("a", "success", None)], [], "No gold is lost in 1 answerable question", (), id="nothing lost"),
        pytest.param([("a", "failed", "fused"), ("b", "success", None)], [], "1 of 2 questions loses its gold at fused: a", ("a",), id="one lost"),
        pytest.param(
            [("a", "failed", "fused"), ("b", "failed", "fused"), ("c", "failed", "bm25")], [("a", 9), ("b", 1)],
            "2 of 3 questions lose their gold at fused: b, a", ("b", "a"), id="nearest to the top first",
        ),
        pytest.param([("a", "error", "bm25")], [], "1 of 1 question could not be processed: a", ("a",), id="only errors"),
    ],
)  # fmt: skip
def test_the_sentence_of_a_run(rows, known, text, behind):
    found = run_sentence(failures(*rows), ranks(*known))
    assert (found.text, found.questions) == (text, behind)


def test_moves_are_counted_and_the_farthest_named():
    rows = [
        ("a", 1, None),
        ("b", 3, 1),
        ("c", None, 2),
        ("d", 1, 4),
        ("e", None, None),
        ("f", 2, 2),
    ]
    table = pl.DataFrame([(q, "g", "fused", b, n) for q, b, n in rows], orient="row",
                         schema=["question_id", "group_id", "stage", "base", "new"])  # fmt: skip
    [part] = movement(table)
    assert part["counts"] == {"up": 1, "down": 1, "entered": 1, "left": 1, "same": 1, "absent": 1}
    assert [move[0] for move in part["farthest"]] == ["a", "c", "d", "b"]
    assert [None, 2, 1] in part["points"]


def with_hits(number: int, stage: str, *chunks: str):
    """A run of three questions, one of whose lists is another."""
    run = tables(3, "other")
    rows = run.trace.to_dicts()
    for row in rows:
        if (row["question_id"], row["stage"]) == (f"q-{number:05d}", stage):
            row["hits"] = [
                {"chunk_id": name, "score": -float(rank)} for rank, name in enumerate(chunks)
            ]
    run.trace = pl.DataFrame(rows, schema=run.trace.schema)
    return run


def test_gold_has_the_rank_of_the_first_hit_that_finds_it():
    found = gold_ranks(tables(2), ["q-00001", "q-00000"], ["bm25", "reranked"])
    assert found.rows() == [
        ("q-00000", "g1", "bm25", 3), ("q-00000", "g1", "reranked", None),
        ("q-00001", "g1", "bm25", 3), ("q-00001", "g1", "reranked", 3),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("hits", "moved"),
    [
        pytest.param(["chunk-1"], (3, 1, "up"), id="nearer to the top"),
        pytest.param(["a", "b", "chunk-3", "chunk-1"], (3, 4, "down"), id="further down"),
        pytest.param(["chunk-8", "chunk-12", "chunk-1", "chunk-1b"], (3, 3, "same"), id="where it was"),
        pytest.param(["chunk-2"], (3, None, "left"), id="gone"),
        pytest.param([], (3, None, "left"), id="nothing found"),
    ],
)  # fmt: skip
def test_gold_moves(hits, moved):
    known = [name for name in hits if name in {f"chunk-{i}" for i in range(50)}]
    new = with_hits(
        1, "bm25", *(name if name in known else f"chunk-{20 + i}" for i, name in enumerate(hits))
    )
    table = rank_movement(pair(tables(3), new)).filter(question_id="q-00001", stage="bm25")
    assert table.select("base", "new", "moved").rows() == [moved]
    back = rank_movement(pair(new, tables(3))).filter(question_id="q-00001", stage="bm25")
    opposite = {"up": "down", "down": "up", "left": "entered", "same": "same"}
    assert back["moved"].to_list() == [opposite[moved[2]]]


def test_unjudged_hits_are_those_outside_all_evidence_of_partial_labels():
    run = tables(2)
    assert unjudged(run, ["q-00001"], ["bm25"], 10)["chunk_id"].to_list() == ["chunk-12", "chunk-8"]
    assert unjudged(run, ["q-00001"], ["bm25"], 1)["chunk_id"].to_list() == ["chunk-8"]
    run.questions = run.questions.with_columns(labels=pl.lit("complete"))
    assert unjudged(run, ["q-00001"], ["bm25"], 10).is_empty()


def test_the_runs_differ_on_unjudged_hits_that_only_one_has_near_its_top():
    new = with_hits(1, "bm25", "chunk-8", "chunk-30", "chunk-1")
    found = unjudged_differences(pair(tables(3), new))
    assert found.rows() == [("q-00001", "bm25", "chunk-12", 2, None), ("q-00001", "bm25", "chunk-30", None, 2)]  # fmt: skip


@pytest.mark.parametrize("block", [1, 2, 7])
def test_ranks_do_not_depend_on_how_many_questions_are_looked_at_together(monkeypatch, block):
    run = tables(7)
    ids = run.questions["question_id"].to_list()
    whole = gold_ranks(run, ids, ["bm25", "context"])
    monkeypatch.setattr(gold, "BLOCK", block)
    assert gold_ranks(run, ids[::-1], ["bm25", "context"]).equals(whole)
