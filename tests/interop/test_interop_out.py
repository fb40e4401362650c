"""What a run writes for other tools, read by other tools."""

import json

import polars as pl
import pytest
import pytrec_eval

import rayeval
from rayeval.cli.main import run_command
from rayeval.interop import formats


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A small project, run once; its path."""
    folder = tmp_path_factory.mktemp("project") / "p"
    assert run_command(["init", str(folder)]) == 0
    config = [str(folder / "rayeval.yaml"), "--runs", str(folder / "runs")]
    # The pipeline is made worse, so that gold does not stand first everywhere.
    worse = ["--set", "retrieve.arms.bm25.analyzer.n=1", "--set", "chunk.size=110"]
    assert run_command(["run", *config, *worse]) == 0
    return str(next(p for p in (folder / "runs").iterdir() if p.name != ".store"))


def export(run, kind, out):
    assert run_command(["export", run, "--format", kind, "--out", str(out)]) == 0
    return out


def test_trec_eval_sees_the_runs_own_order(run, tmp_path):
    out = export(run, "trec", tmp_path / "trec")
    with (out / "qrels.txt").open() as qrels, (out / "bm25.run").open() as hits:
        judged, found = pytrec_eval.parse_qrel(qrels), pytrec_eval.parse_run(hits)
    theirs = pytrec_eval.RelevanceEvaluator(judged, {"recip_rank"}).evaluate(found)
    ours = rayeval.load(run).per_query.filter(pl.col("stage") == "bm25")
    ours = dict(ours.select("question_id", "mrr@5").drop_nans().iter_rows())
    assert theirs
    for question, values in theirs.items():
        assert values["recip_rank"] == pytest.approx(ours[question])


def test_questions_that_other_tools_leave_out_are_named(tmp_path, capsys):
    golden = tmp_path / "golden.jsonl"
    rows = [{"question_id": f"q-{n}", "question": "?", "quote": f"fact {n}"} for n in range(2)]
    golden.write_text("\n".join(map(json.dumps, rows)))
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.txt").write_text("One is fact 0.\n\nTwo is fact 1.\n")
    hits = [{"chunk_id": "a", "source_id": "a.txt", "spans": [{"start_char": 0, "end_char": 14}]}]
    trace = [{"question_id": f"q-{n}", "stages": {"s": {"hits": hits}}} for n in range(2)]
    run = rayeval.score(golden, trace, corpus=tmp_path / "docs", runs=tmp_path / "runs")
    capsys.readouterr()
    export(str(run.path), "trec", tmp_path / "trec")
    assert "note: 1 of 2 answerable questions (q-1) has no judgement" in capsys.readouterr().out
    export(str(run.path), "ragas", tmp_path / "ragas")
    assert "note" not in capsys.readouterr().out


def test_texts_are_judged_by_the_quotes_in_them(tmp_path):
    golden = tmp_path / "golden.jsonl"
    golden.write_text(json.dumps({"question_id": "q", "question": "?", "quote": "a  fact"}))
    trace = [{"question_id": "q", "stages": {"s": {"hits": ["nothing", "It is\na fact."]}}}]
    run = rayeval.score(golden, trace, runs=tmp_path / "runs")
    out = export(str(run.path), "trec", tmp_path / "trec")
    second = (out / "s.run").read_text().splitlines()[1].split()[2]
    assert (out / "qrels.txt").read_text() == f"q 0 {second} 3\n"


def test_beir_comes_back_with_the_same_gold(run, tmp_path):
    out = export(run, "beir", tmp_path / "beir")
    questions = {q["question_id"]: q for q in formats()["beir"].read([str(out)]).questions}
    loaded = rayeval.load(run)
    answerable = loaded.questions.filter("answerable")["question_id"].to_list()
    assert set(questions) <= set(answerable)
    sources = dict(loaded.passages.select("chunk_id", "source_id").iter_rows())
    gold = loaded.questions.explode("evidence").drop_nulls("evidence")
    want = {
        row["question_id"]: {row["evidence"]["source_id"]} for row in gold.iter_rows(named=True)
    }
    for name, question in questions.items():
        assert {sources[e["source_id"]] for e in question["evidence"]} == want[name]


def test_ragas_has_a_row_per_question(run, tmp_path):
    out = export(run, "ragas", tmp_path / "ragas")
    rows = [json.loads(line) for line in (out / "ragas.jsonl").read_text().splitlines()]
    loaded = rayeval.load(run)
    assert [row["question_id"] for row in rows] == loaded.questions["question_id"].to_list()
    last = loaded.manifest["stages"][-1]
    hits = loaded.trace.filter(pl.col("stage") == last).select("question_id", "hits")
    for name, found in hits.iter_rows():
        row = next(row for row in rows if row["question_id"] == name)
        assert row["retrieved_context_ids"] == [hit["chunk_id"] for hit in found]
        assert len(row["retrieved_contexts"]) == len(found)


def test_nothing_is_overwritten(run, tmp_path, capsys):
    export(run, "trec", tmp_path)
    assert run_command(["export", run, "--format", "trec", "--out", str(tmp_path)]) == 2
    assert "not empty" in " ".join(capsys.readouterr().err.split())
    assert run_command(["export", run, "--format", "pdf", "--out", str(tmp_path / "x")]) == 2
    assert "beir" in " ".join(capsys.readouterr().err.split())
