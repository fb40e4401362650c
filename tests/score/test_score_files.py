"""One trace in every form in which it may come, and a run's own trace."""

import json
import sys
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import rayeval
from rayeval.errors import DataError
from rayeval.execution.progress import Silent
from rayeval.execution.resume import resume_run
from rayeval.execution.score import score_tables
from rayeval.execution.score.options import ScoreOptions
from rayeval.interop.own import read

sys.path.insert(0, str(Path(__file__).parents[1] / "execution"))
from execution_project import CONFIG, DOCUMENTS, QUESTIONS
from score_files import write_lines

GOLDEN = [{"question_id": f"q{n}", "question": "?", "evidence": [{"source_id": f"d{n}"}]}
          for n in range(6)]  # fmt: skip
TRACE = [{"question_id": f"q{n}", "stages": {"trace": {"hits": [
    {"source_id": f"d{m}", "score": 9.0 - m} for m in range(4)]}}} for n in range(6)]  # fmt: skip
TABLES = ("per_query", "failures", "trace", "passages", "aggregate", "slices")


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    folder = tmp_path_factory.mktemp("reference")
    golden = write_lines(folder / "golden.jsonl", GOLDEN)
    return golden, rayeval.score(golden, write_lines(folder / "t.jsonl", TRACE), runs=folder)


def nested(path):
    rows = [{"question_id": t["question_id"], **s, "stage": name}
            for t in TRACE for name, s in t["stages"].items()]  # fmt: skip
    pq.write_table(pa.Table.from_pylist(rows), path)
    return path


def unordered(path):
    nested(path)
    pq.write_table(pq.read_table(path).take([3, 1, 5, 0, 2, 4]), path)
    return path


def categories(path):
    table = pq.read_table(nested(path))
    pq.write_table(table.set_column(table.schema.get_field_index("stage"), "stage",
                                    table["stage"].dictionary_encode()), path)  # fmt: skip
    return path


def flat(path, **ranks):
    rows = [{"question_id": t["question_id"], **hit} | dict.fromkeys(ranks, at + 1)
            for t in TRACE for at, hit in enumerate(t["stages"]["trace"]["hits"])]  # fmt: skip
    table = pa.Table.from_pylist(rows)
    pq.write_table(table.take(list(range(len(rows)))[::-1]) if ranks else table, path)
    return path


def ranked(path):
    return flat(path, rank=True)


@pytest.mark.parametrize("form", [nested, unordered, categories, flat, ranked])
def test_parquet(reference, tmp_path, form):
    golden, want = reference
    run = rayeval.score(golden, form(tmp_path / "t.parquet"), runs=tmp_path)
    for name in TABLES:
        assert getattr(run, name).equals(getattr(want, name)), name


def scattered(path):
    """A row per hit, no two hits of a question together but by accident."""
    flat(path, rank=True)
    table = pq.read_table(path)
    pq.write_table(table.sort_by([("rank", "ascending"), ("question_id", "ascending")]), path)
    return path


@pytest.mark.parametrize("form", [flat, ranked, scattered])
@pytest.mark.parametrize("rows", [1, 2, 5])
def test_flat_parquet_is_read_in_parts(reference, tmp_path, monkeypatch, form, rows):
    golden, want = reference
    monkeypatch.setattr("rayeval.interop.own.hit_rows.FLAT_ROWS", rows)
    run = rayeval.score(golden, form(tmp_path / "t.parquet"), runs=tmp_path)
    for name in TABLES:
        assert getattr(run, name).equals(getattr(want, name)), name


@pytest.mark.parametrize("form", ["rows", "tables", "table"])
def test_at_hand(reference, tmp_path, form):
    golden, want = reference
    tables = list(read([str(Path(golden).parent / "t.jsonl")]).trace)
    given = {"rows": TRACE, "tables": tables, "table": pa.concat_tables(tables)}[form]
    run = rayeval.score(golden, given, runs=tmp_path)
    for name in TABLES:
        assert getattr(run, name).equals(getattr(want, name)), name


def test_tables_are_scored_by_their_own_function(reference, tmp_path):
    golden, want = reference
    tables = read([str(Path(golden).parent / "t.jsonl")]).trace
    run = score_tables(str(golden), tables, ScoreOptions(runs=str(tmp_path), name="mine"))
    assert "-mine-" in run.run_id
    assert run.per_query.equals(want.per_query)


def test_many_small_runs_of_a_large_trace(reference, tmp_path, monkeypatch):
    """What doesn't fit into memory is sorted part by part."""
    from rayeval.execution.score import spool

    golden, want = reference
    monkeypatch.setattr(spool, "RUN_BYTES", 1)
    at_hand = rayeval.score(golden, TRACE, runs=tmp_path / "at-hand")
    assert at_hand.per_query.equals(want.per_query)
    monkeypatch.setattr(spool, "GROUP_ROWS", 2)
    monkeypatch.setattr("rayeval.interop.own.jsonl.ROWS", 2)
    trace = write_lines(tmp_path / "t.jsonl", TRACE[::-1])
    run = rayeval.score(golden, trace, runs=tmp_path)
    for name in TABLES:
        assert getattr(run, name).equals(getattr(want, name)), name


def test_a_run_of_rayevals_own_scores_as_it_did(tmp_path):
    write_lines(tmp_path / "documents.jsonl", DOCUMENTS)
    write_lines(tmp_path / "golden.jsonl", QUESTIONS)
    config = {**CONFIG, "golden": {"path": str(tmp_path / "golden.jsonl")},
              "corpus": {**CONFIG["corpus"], "path": str(tmp_path / "documents.jsonl")}}  # fmt: skip
    run = rayeval.evaluate(config, runs=tmp_path)
    again = rayeval.score(
        tmp_path / "golden.jsonl", f"{run.path}/trace.parquet", runs=tmp_path,
        corpus=tmp_path / "documents.jsonl", chunks=f"{run.path}/passages.parquet",
        cutoffs=CONFIG["metrics"]["cutoffs"],
    )  # fmt: skip
    names = [name for name in run.per_query.columns if name in again.per_query.columns]
    assert len(names) > 40
    assert again.per_query.select(names).equals(run.per_query.select(names))
    status = pl.col("question_id", "status")
    assert again.failures.select(status).equals(run.failures.select(status))


def test_resume_goes_on_with_a_score(reference, tmp_path, monkeypatch):
    golden, want = reference
    trace = write_lines(tmp_path / "t.jsonl", TRACE)
    with monkeypatch.context() as patch:

        def stop(*_: object) -> None:
            raise KeyboardInterrupt

        patch.setattr("rayeval.execution.score.run.commit_score", stop)
        with pytest.raises(KeyboardInterrupt):
            rayeval.score(golden, trace, runs=tmp_path / "runs")
    [folder] = (tmp_path / "runs").glob("2*")
    run = resume_run(folder.name, str(tmp_path / "runs"), Silent())
    assert run.damage() == []
    assert run.per_query.equals(want.per_query)


def test_a_changed_trace_is_not_resumed(reference, tmp_path, monkeypatch):
    golden, _ = reference
    trace = write_lines(tmp_path / "t.jsonl", TRACE)
    with monkeypatch.context() as patch:

        def stop(*_: object) -> None:
            raise KeyboardInterrupt

        patch.setattr("rayeval.execution.score.run.commit_score", stop)
        with pytest.raises(KeyboardInterrupt):
            rayeval.score(golden, trace, runs=tmp_path / "runs")
    [folder] = (tmp_path / "runs").glob("2*")
    trace.write_text(json.dumps(TRACE[0]))
    with pytest.raises(rayeval.errors.RunError, match="the trace is no longer what"):
        resume_run(folder.name, str(tmp_path / "runs"), Silent())


ASKED = [
    {"question_id": "q", "repeat": repeat, "stage": stage, "hits": hits, **said}
    for repeat, said in (
        (0, {"answer": "six", "abstained": False, "citations": ["B"]}),
        (1, {"answer": None, "abstained": True, "citations": []}),
        (2, {"answer": "6", "abstained": None, "citations": None}),
    )
    for stage, hits in (
        ("search", [{"chunk_id": "A" if repeat else "B"}, {"chunk_id": "C"}]),
        ("context", [{"chunk_id": "B"}]),
    )
]


def lined(path):
    lines = [
        {**{name: value for name, value in row.items() if name not in ("stage", "hits")},
         "stages": {"search": {"hits": row["hits"]}}, "context": [{"chunk_id": "B"}]}
        for row in ASKED[::2]
    ]  # fmt: skip
    return write_lines(path.with_suffix(".jsonl"), lines)


def rows(path):
    pq.write_table(pa.Table.from_pylist(ASKED), path)
    return path


def rows_of_hits(path):
    flat_rows = [
        {**{name: value for name, value in row.items() if name != "hits"}, **hit, "rank": rank}
        for row in ASKED
        for rank, hit in enumerate(row["hits"])
    ]
    pq.write_table(pa.Table.from_pylist(flat_rows), path)
    return path


@pytest.mark.parametrize("form", [lined, rows, rows_of_hits])
def test_a_question_asked_again_has_more_answers_and_the_hits_of_the_first_time(tmp_path, form):
    golden = write_lines(
        tmp_path / "g.jsonl",
        [{"question_id": "q", "question": "?", "evidence": [{"source_id": "B"}]}],
    )
    run = rayeval.score(golden, form(tmp_path / "t.parquet"), runs=tmp_path, metrics=["mrr@2"])
    assert run.per_query.filter(stage="search")["mrr@2"].to_list() == [1.0]
    answers = pl.read_parquet(f"{run.path}/answers.parquet").sort("repeat")
    assert answers["repeat"].to_list() == [0, 1, 2]
    assert answers["answer"].to_list() == ["six", None, "6"]
    assert answers["abstained"][1]
    assert [list(context) for context in answers["context"]] == [["B"]] * 3


WRONG_ROWS = [
    pytest.param({"repeat": [-1, 0]}, r":1 \[q\] bad_number.*of 0 or more", id="a repeat below 0"),
    pytest.param({"answer": ["one", "two"]}, "answer_twice.*2 rows of repeat 0", id="two answers of one time"),
    pytest.param({"repeat": ["x", "y"]}, "wrong_type", id="a repeat in words"),
    pytest.param({"latency_ms": ["soon", "late"], "answer": ["a", "a"]}, "wrong_type", id="a time in words"),
]  # fmt: skip


@pytest.mark.parametrize(("columns", "words"), WRONG_ROWS)
@pytest.mark.parametrize(
    "hits", [{"hits": [["x"], ["y"]]}, {"text": ["x", "y"]}], ids=["lists", "rows"]
)
def test_what_is_wrong_with_answers_in_rows(tmp_path, hits, columns, words):
    pq.write_table(
        pa.table({"question_id": ["q", "q"], "stage": ["a", "b"], **hits, **columns}),
        tmp_path / "t.parquet",
    )
    golden = write_lines(
        tmp_path / "g.jsonl", [{"question_id": "q", "question": "?", "source_id": "B"}]
    )
    with pytest.raises(DataError, match=words):
        rayeval.score(golden, tmp_path / "t.parquet", runs=tmp_path)


def test_hits_of_later_repeats_in_a_csv_are_left_out(tmp_path):
    (tmp_path / "t.csv").write_text("question_id,doc_id,rank,repeat\nq,B,1,\nq,A,1,1\n")
    golden = write_lines(
        tmp_path / "g.jsonl", [{"question_id": "q", "question": "?", "source_id": "B"}]
    )
    run = rayeval.score(golden, tmp_path / "t.csv", runs=tmp_path, format="csv", metrics=["mrr@2"])
    assert run.per_query["mrr@2"].to_list() == [1.0]
    assert any("1 hit of `repeat` 1 and later" in line for line in run.manifest["warnings"])


def test_the_trace_that_the_docs_show(tmp_path):
    text = (Path(__file__).parents[2] / "docs" / "live-systems.md").read_text("utf-8")
    [block] = [b for b in text.split("```json\n")[1:] if "reranked" in b]
    (tmp_path / "t.jsonl").write_text(block.partition("```")[0], "utf-8")
    found = {"c-3": "It takes 5 working days.", "c-9": "x"}
    rows = [{"chunk_id": name, "text": text} for name, text in found.items()]
    chunks = write_lines(tmp_path / "c.jsonl", rows)
    gold = {"source_id": "it.md", "quote": "5 working days"}
    names = ("q-17", "q-18", "q-19")
    golden = [{"question_id": name, "question": f"{name}?", "evidence": [gold]} for name in names]
    run = rayeval.score(golden, tmp_path / "t.jsonl", chunks=chunks, runs=tmp_path / "runs")
    answers = run.answers.filter(question_id="q-17")
    assert answers["answer"].to_list() == ["5 working days [E1].", "About a week."]
    assert [[c["mark"] for c in one] for one in answers["citations"]] == [["E1"], []]
    ends = dict(run.failures.select("question_id", "status").iter_rows())
    assert ends == {"q-17": "success", "q-18": "error", "q-19": "error"}
    assert run.latency["latency_ms"].to_list() == [12.5]
