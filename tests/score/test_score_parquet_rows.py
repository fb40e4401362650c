"""Rows of Parquet that say no order, no stage or no place: refused as the same rows in CSV are."""

import decimal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import rayeval
from rayeval.errors import DataError

GOLDEN = [{"question_id": f"q{n}", "question": "?", "evidence": [{"source_id": f"d{n}"}]}
          for n in range(3)]  # fmt: skip
NAN, INF = float("nan"), float("inf")
HIT = {"question_id": ["q0", "q0"], "source_id": ["d0", "d1"]}
START = {"start_char": pa.array([0, 0])}


def nested(**columns):
    rows = {"question_id": ["q0", "q1"], "stage": ["a", "a"],
            "hits": [[{"source_id": "d0"}], [{"source_id": "d1"}]]}  # fmt: skip
    return rows | columns


def spans(end):
    kind = pa.struct([("source_id", pa.string()),
                      ("spans", pa.list_(pa.struct([("start_char", pa.int64()), ("end_char", pa.uint64())])))])  # fmt: skip
    hit = {"source_id": "d0", "spans": [{"start_char": 0, "end_char": end}]}
    return pa.array([[{"source_id": "d0"}], [hit]], pa.list_(kind))


REFUSED = [
    pytest.param({**HIT, "stage": [None, "a"]}, 1, "q0", "missing_field", "`stage` is empty", id="a hit of no stage"),
    pytest.param(nested(stage=["a", None]), 2, "q1", "missing_field", "`stage` is empty", id="hits of no stage"),
    pytest.param(nested(stage=["a", None], hits=[[{"source_id": "d0"}], []]), 2, "q1", "missing_field", "`stage` is empty", id="nothing found by no stage"),
    pytest.param(nested(stage=["a", None], hits=[[{"source_id": "d0"}], None]), 2, "q1", "missing_field", "no stage, hits or error", id="nothing said"),
    pytest.param({**HIT, "rank": [1, 1]}, 2, "q0", "duplicate_rank", "there before", id="a rank twice"),
    pytest.param({**HIT, "rank": [None, 1]}, 1, "q0", "missing_field", "`rank` is empty", id="a rank left out"),
    pytest.param({**HIT, "latency_ms": [1.0, 2.0]}, 2, "q0", "bad_latency", "another one", id="two times of a stage"),
    pytest.param({**HIT, **START, "end_char": [5, None]}, 2, "q0", "missing_field", "come in pairs", id="one end"),
    pytest.param({**HIT, **START, "end_char": [5, NAN]}, 2, "q0", "bad_number", "`end_char` is nan", id="NaN"),
    pytest.param({**HIT, **START, "end_char": [INF, 5.0]}, 1, "q0", "bad_number", "`end_char` is inf", id="infinite"),
    pytest.param({**HIT, **START, "end_char": [5.0, 5.5]}, 2, "q0", "bad_number", "5.5, expected a whole number", id="half a character"),
    pytest.param({**HIT, **START, "end_char": [decimal.Decimal("5.0"), decimal.Decimal("5.5")]}, 2, "q0", "bad_number", "expected a whole number", id="decimal"),
    pytest.param({**HIT, **START, "end_char": pa.array([5, 2**64 - 1], pa.uint64())}, 2, "q0", "bad_number", "whole number", id="beyond 64 bits"),
    pytest.param(nested(hits=spans(2**64 - 1)), 2, "q1", "bad_span", "below 2^63", id="a span beyond 64 bits"),
    pytest.param(nested(hits=[[{"source_id": "d0", "start_char": 0, "end_char": None}], []]), 1, "q0", "missing_field", "come in pairs", id="one end of a hit in a list"),
    pytest.param({**HIT, "answer": ["a", None], "repeat": pa.array([2**64 - 1, 0], pa.uint64())}, 1, "q0", "bad_number", "`repeat` is", id="a repeat beyond 64 bits"),
    pytest.param({**HIT, "answer": ["a", "a"], "citations": [["x", None], None]}, None, "q0", "bad_citation", "an empty one", id="a citation of nothing"),
]  # fmt: skip


@pytest.mark.parametrize("form", ["file", "table"])
@pytest.mark.parametrize(("columns", "row", "question", "kind", "words"), REFUSED)
def test_refused_with_row_and_question(scored, tmp_path, form, columns, row, question, kind, words):
    table = pa.table(columns)
    pq.write_table(table, path := tmp_path / "t.parquet")
    with pytest.raises(DataError) as error:
        scored(GOLDEN, path if form == "file" else table, metrics=["mrr@5"])
    problem = error.value.problems[0]
    assert (problem.line, problem.question_id, problem.kind) == (row, question, kind)
    assert words in problem.message
    assert not list((tmp_path / "runs").glob("2*"))


def first(run):
    return run.per_query.filter(question_id="q0").select("stage", "mrr@5").rows()


@pytest.mark.parametrize(
    "columns",
    [
        pytest.param({**HIT, "stage": pa.nulls(2, pa.string())}, id="a row per hit"),
        pytest.param(nested(stage=pa.nulls(2, pa.string())), id="lists"),
        pytest.param(nested(stage=pa.nulls(2)), id="a column of no type"),
    ],
)
def test_where_no_row_names_a_stage_there_is_one(scored, tmp_path, columns):
    pq.write_table(pa.table(columns), tmp_path / "t.parquet")
    assert first(scored(GOLDEN, tmp_path / "t.parquet", metrics=["mrr@5"])) == [("trace", 1.0)]


def test_stages_that_a_later_part_names_are_refused_all_the_same(scored, tmp_path, monkeypatch):
    monkeypatch.setattr("rayeval.interop.own.parquet.ROWS", 1)
    pq.write_table(pa.table(nested(stage=[None, "a"])), tmp_path / "t.parquet")
    with pytest.raises(DataError, match=r"t.parquet:1 \[q0\] missing_field: `stage` is empty"):
        scored(GOLDEN, tmp_path / "t.parquet")


def test_a_table_without_stages_beside_one_with_them_is_refused(scored):
    without = pa.table({name: nested()[name] for name in ("question_id", "hits")})
    with pytest.raises(DataError, match="`stage` is empty"):
        scored(GOLDEN, (without, pa.table(nested())))


def test_a_failed_question_needs_no_stage(scored, tmp_path):
    columns = nested(stage=["a", None], hits=[[{"source_id": "d0"}], None], error=[None, "down"])
    pq.write_table(pa.table(columns), tmp_path / "t.parquet")
    run = scored(GOLDEN, tmp_path / "t.parquet", metrics=["mrr@5"])
    assert first(run) == [("a", 1.0)]
    assert run.failures.filter(question_id="q1")["status"].to_list() == ["error"]


def test_a_row_with_an_answer_alone_is_no_hit(scored, tmp_path):
    columns = {"question_id": ["q0", "q0"], "source_id": ["d0", None], "stage": ["a", None],
               "answer": [None, "yes"]}  # fmt: skip
    pq.write_table(pa.table(columns), tmp_path / "t.parquet")
    run = scored(GOLDEN, tmp_path / "t.parquet", metrics=["mrr@5"])
    assert first(run)[0] == ("a", 1.0)
    assert set(run.trace["stage"]) == {"a"}


@pytest.mark.parametrize("order", [[0, 1, 2, 3], [3, 2, 1, 0], [2, 0, 3, 1]])
def test_ranks_order_hits_whatever_order_rows_have(scored, tmp_path, order):
    table = pa.table({"question_id": ["q0"] * 4, "source_id": ["d5", "d0", "d7", "d0"],
                      "stage": ["a", "a", "b", "b"], "rank": [1, 2, 2, 1]})  # fmt: skip
    pq.write_table(table.take(order), tmp_path / "t.parquet")
    run = scored(GOLDEN, tmp_path / "t.parquet", metrics=["mrr@5"])
    assert sorted(first(run)) == [("a", 0.5), ("b", 1.0)]


NUMBERS = [
    pytest.param(pa.array([2**60 + 1, 2**60], pa.int64()), id="beyond what floats hold exactly"),
    pytest.param(pa.array([2**64 - 1, 1], pa.uint64()), id="unsigned"),
    pytest.param(pa.array([decimal.Decimal("2.5"), decimal.Decimal("1.5")]), id="decimal"),
    pytest.param(pa.array(np.array([2.5, 1.5], np.float16)), id="half floats"),
]


@pytest.mark.parametrize("scores", NUMBERS)
@pytest.mark.parametrize("form", ["hits", "lists"])
def test_numbers_of_any_type(scored, tmp_path, form, scores):
    columns = {**HIT, "score": scores}
    if form == "lists":
        hit = pa.StructArray.from_arrays(
            [pa.array(HIT["source_id"]), scores], ["source_id", "score"]
        )
        columns = {"question_id": ["q0"], "stage": ["a"],
                   "latency_ms": scores.slice(0, 1),
                   "hits": pa.ListArray.from_arrays([0, 2], hit)}  # fmt: skip
    pq.write_table(pa.table(columns), tmp_path / "t.parquet")
    run = scored(GOLDEN, tmp_path / "t.parquet", metrics=["mrr@5"])
    assert [value for _, value in first(run)] == [1.0]


def test_whole_offsets_in_floats_are_offsets(scored, tmp_path):
    golden = [{"question_id": "q0", "question": "?",
               "evidence": [{"source_id": "d0", "start_char": 2, "end_char": 5}]}]  # fmt: skip
    columns = {**HIT, "start_char": [0.0, None], "end_char": [5.0, None]}
    pq.write_table(pa.table(columns), tmp_path / "t.parquet")
    assert first(scored(golden, tmp_path / "t.parquet", metrics=["mrr@5"])) == [("trace", 1.0)]


def corrupted(path, where):
    """Bytes in the middle of a column's pages turned over; the footer is whole."""
    data = bytearray(path.read_bytes())
    at = int(len(data) * where)
    data[at : at + 40] = bytes(255 - byte for byte in data[at : at + 40])
    path.write_bytes(data)
    return path


def large(layout):
    rng = np.random.default_rng(0)
    ids = [f"q{n:04}" for n in range(3000)]
    texts = [rng.bytes(20).hex() for _ in ids]
    if layout == "chunks":
        return {"chunk_id": ids, "text": texts}
    if layout == "hits":
        return {"question_id": ids, "text": texts}
    return {"question_id": ids, "stage": ["a"] * 3000, "hits": [[text] for text in texts]}


@pytest.mark.parametrize("where", [0.3, 0.6])
@pytest.mark.parametrize("layout", ["hits", "lists", "chunks"])
def test_damage_within_a_file_names_it_and_leaves_nothing(scored, tmp_path, layout, where):
    pq.write_table(pa.table(large(layout)), path := tmp_path / "t.parquet")
    corrupted(path, where)
    golden = [{"question_id": "q0001", "question": "?",
               "evidence": [{"source_id": "d", "quote": "x"}]}]  # fmt: skip
    trace, chunks = path, None
    if layout == "chunks":
        trace, chunks = (
            [{"question_id": "q0001", "stages": {"a": {"hits": [{"chunk_id": "q0001"}]}}}],
            path,
        )
    with pytest.raises(DataError, match=r"t\.parquet unreadable_file: cut off or damaged"):
        scored(golden, trace, chunks=chunks)
    assert not list((tmp_path / "runs").glob("2*"))


@pytest.mark.parametrize(
    "ends",
    [
        pytest.param({"start_char": [0, 0], "end_char": [5, None]}, id="one of them"),
        pytest.param({"start_char": [0, 0], "end_char": [5, NAN]}, id="NaN"),
    ],
)
def test_offsets_of_chunks_that_are_none(scored, tmp_path, ends):
    columns = {"chunk_id": ["c0", "c1"], "source_id": ["d0", "d1"], **ends}
    pq.write_table(pa.table(columns), tmp_path / "c.parquet")
    trace = [{"question_id": "q0", "stages": {"a": {"hits": [{"chunk_id": "c0"}]}}}]
    with pytest.raises(DataError, match=r"c.parquet .*chunk 'c1'"):
        scored(GOLDEN, trace, chunks=tmp_path / "c.parquet")
    assert not list((tmp_path / "runs").glob("2*"))


def test_text_that_is_not_utf8(scored, tmp_path):
    wrong = pa.array([b"d0", b"\xff\xfe"], pa.binary()).view(pa.string())
    pq.write_table(pa.table({**HIT, "source_id": wrong}), tmp_path / "t.parquet")
    with pytest.raises(DataError, match=r"t.parquet unreadable_file.*UTF8"):
        scored(GOLDEN, tmp_path / "t.parquet")


def test_the_cli_says_it_with_exit_code_2(tmp_path, capsys):
    from score_files import write_lines

    from rayeval.cli.main import run_command

    golden = write_lines(tmp_path / "g.jsonl", GOLDEN)
    pq.write_table(pa.table({**HIT, **START, "end_char": [5, None]}), tmp_path / "t.parquet")
    words = ["score", "--golden", str(golden), "--trace", str(tmp_path / "t.parquet")]
    assert run_command([*words, "--runs", str(tmp_path / "runs")]) == 2
    assert "t.parquet:2 [q0] missing_field" in " ".join(capsys.readouterr().err.split())
    assert not list((tmp_path / "runs").glob("2*"))


def test_the_same_rows_are_refused_in_csv(tmp_path):
    (tmp_path / "g.jsonl").write_text('{"question_id": "q0", "question": "?"}')
    (tmp_path / "t.csv").write_text("question_id,source_id,rank\nq0,d0,1\nq0,d1,1\n")
    with pytest.raises(DataError, match="duplicate_rank"):
        rayeval.score(tmp_path / "g.jsonl", tmp_path / "t.csv", format="csv", runs=tmp_path)


@pytest.mark.parametrize("which", ["golden", "corpus"])
def test_a_damaged_golden_set_or_corpus_is_named_and_leaves_nothing(tmp_path, which):
    ids = large("hits")["question_id"]
    texts = large("hits")["text"]
    golden, corpus = tmp_path / "golden.parquet", tmp_path / "corpus.parquet"
    pq.write_table(pa.table({"question_id": ids, "question": texts}), golden)
    pq.write_table(pa.table({"source_id": ids, "text": texts}), corpus)
    corrupted(tmp_path / f"{which}.parquet", 0.3)
    trace = [{"question_id": "q0001", "stages": {"a": {"hits": ["x"]}}}]
    with pytest.raises(DataError, match=rf"{which}\.parquet.*cut off or damaged.*write it again"):
        rayeval.score(golden, trace, corpus=corpus, runs=tmp_path / "runs")
    assert not list((tmp_path / "runs").glob("2*"))


def test_text_of_any_type(scored, tmp_path):
    hit = pa.struct([("source_id", pa.string_view())])
    hits = pa.array([[{"source_id": "d0"}]], pa.list_(hit))
    table = pa.table({"question_id": ["q0"], "stage": ["a"], "hits": hits})
    pq.write_table(table, tmp_path / "t.parquet")
    assert first(scored(GOLDEN, tmp_path / "t.parquet", metrics=["mrr@5"])) == [("a", 1.0)]
