"""Traces whose tool keeps no ids are joined by the questions' texts; others that match nothing are
refused, and what a trace lacks is said first."""

import unicodedata

import polars as pl
import pytest
from score_files import write_lines
from typer.testing import CliRunner

import rayeval
from rayeval.cli.main import app, run_command
from rayeval.errors import DataError
from rayeval.execution.score import ScoreOptions, score
from rayeval.report.terminal import run_text

GOLDEN = [
    {"question_id": "e1", "question": "What is the fee?", "evidence": [{"quote": "5 euros"}]},
    {"question_id": "e2", "question": "수수료는 얼마인가요?", "evidence": [{"quote": "5유로"}]},
    {"question_id": "e0", "question": "Who leads?", "answerable": False},
]
RAGAS = [
    {"user_input": " What is the fee?\n", "retrieved_contexts": ["It is 5 euros."],
     "response": "5 euros"},
    {"user_input": unicodedata.normalize("NFD", "수수료는 얼마인가요?"),
     "retrieved_contexts": ["x", "5유로입니다."], "response": "5유로"},
    {"user_input": "Who leads?", "retrieved_contexts": ["Nobody."], "response": "I don't know."},
]  # fmt: skip


def deepeval(folder):
    rows = [
        {"input": r["user_input"], "retrieval_context": r["retrieved_contexts"],
         "actual_output": r["response"]} for r in RAGAS
    ]  # fmt: skip
    return write_lines(folder / "deepeval.jsonl", rows)


def spans(folder):
    rows = [
        {"trace_id": f"t{n}", "span_id": f"s{n}", "name": "find", "start_time": n, "end_time": n + 1,
         "attributes": {"openinference.span.kind": "RETRIEVER", "input.value": r["user_input"],
                        "retrieval.documents": [{"document.content": text}
                                                for text in r["retrieved_contexts"]]}}
        for n, r in enumerate(RAGAS)
    ]  # fmt: skip
    return write_lines(folder / "openinference.jsonl", rows)


def csv(folder):
    rows = [{"question": r["user_input"].strip(), "text": text} for r in RAGAS
            for text in r["retrieved_contexts"]]  # fmt: skip
    pl.DataFrame(rows).write_csv(folder / "csv.csv")
    return folder / "csv.csv"


def ragas(folder, rows=RAGAS):
    return write_lines(folder / "ragas.jsonl", rows)


@pytest.mark.parametrize("write", [ragas, deepeval, spans, csv])
def test_formats_without_ids_are_joined_by_text(tmp_path, write):
    path = write(tmp_path)
    run = rayeval.score(GOLDEN, path, format=path.stem, runs=tmp_path / "runs")
    means = dict(run.aggregate.select("metric", "mean").iter_rows())
    assert (means["recall@5"], means["hit@1"]) == (1, 0.5)
    assert set(run.trace["question_id"]) == {"e0", "e1", "e2"}
    [warning] = [line for line in run.manifest["warnings"] if "joined" in line]
    assert "3 questions of the trace have no id of the golden set's" in warning
    if write in (ragas, deepeval):
        said = dict(run.answers.select("question_id", "answer").iter_rows())
        assert said == {"e0": None, "e1": "5 euros", "e2": "5유로"}


def test_the_same_trace_joins_another_golden_set_anew(tmp_path):
    path = ragas(tmp_path)
    for prefix in "ab":
        golden = [row | {"question_id": prefix + row["question_id"]} for row in GOLDEN]
        run = rayeval.score(golden, path, format="ragas", runs=tmp_path / "runs")
        assert set(run.trace["question_id"]) == {f"{prefix}e{n}" for n in range(3)}


def test_nothing_in_common_is_refused_with_both_kinds_of_ids(tmp_path, capsys):
    golden = write_lines(tmp_path / "golden.jsonl", GOLDEN)
    trace = ragas(tmp_path, [row | {"user_input": f"{row['user_input']}!"} for row in RAGAS])
    command = ["score", "--golden", str(golden), "--trace", str(trace), "--format", "ragas"]
    assert run_command([*command, "--runs", str(tmp_path / "runs")]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "no question of the trace (3) is in the golden set: the trace has q-" in said
    assert "made of the questions' texts" in said
    assert "the golden set has e0, e1, e2" in said
    assert not list((tmp_path / "runs").glob("2*"))


def test_own_ids_that_match_nothing_are_refused_too(tmp_path):
    trace = [{"question_id": "1", "stages": {"s": {"hits": ["5 euros"]}}}]
    with pytest.raises(DataError, match=r"trace has 1; the golden set has e0, e1, e2\. Give"):
        rayeval.score(GOLDEN, trace, runs=tmp_path / "runs")


def test_texts_that_several_questions_have_are_refused_by_name(tmp_path):
    golden = [*GOLDEN, GOLDEN[0] | {"question_id": "e9", "history": [
        {"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]}]  # fmt: skip
    with pytest.raises(DataError, match=r"2 questions with the text .*\(e1, e9\)"):
        rayeval.score(golden, ragas(tmp_path), format="ragas", runs=tmp_path / "runs")


def test_a_question_by_its_id_and_by_its_text_is_refused(tmp_path):
    rows = [*RAGAS, RAGAS[0] | {"question_id": "e1"}]
    with pytest.raises(DataError, match="by its id, and by its text again"):
        rayeval.score(GOLDEN, ragas(tmp_path, rows), format="ragas", runs=tmp_path / "runs")


def test_what_the_trace_lacks_is_missing_and_said_first(tmp_path):
    golden = write_lines(tmp_path / "golden.jsonl", GOLDEN)
    trace = ragas(tmp_path, RAGAS[:1])
    command = ["score", "--golden", str(golden), "--trace", str(trace), "--format", "ragas"]
    done = CliRunner().invoke(app, [*command, "--runs", str(tmp_path / "runs")])
    assert done.exit_code == 0
    first = " ".join(" ".join(done.stdout.splitlines()[:5]).split())
    assert "MISSING: 2 of 3 questions have no row in the trace (e0, e2)" in first
    [folder] = (tmp_path / "runs").glob("2*")
    run = rayeval.load(folder)
    assert run.summary()["status"] == {"success": 1, "failed": 0, "error": 0, "missing": 1}
    [row] = run.aggregate.filter(metric="recall@5").to_dicts()
    assert (row["mean"], row["n"], row["n_missing"]) == (0.5, 2, 1)
    assert "MISSING" in (folder / "summary.md").read_text()


def test_a_question_that_was_not_answered_is_said_first_too(tmp_path):
    rows = [RAGAS[0], {**RAGAS[1], "response": None}, RAGAS[2]]
    run = rayeval.score(GOLDEN, ragas(tmp_path, rows), format="ragas", runs=tmp_path / "runs")
    assert "MISSING: 1 of 3 questions has no answer in the trace (e2)" in run_text(run)


def test_a_whole_trace_lacks_nothing(tmp_path):
    run = rayeval.score(GOLDEN, ragas(tmp_path), format="ragas", runs=tmp_path / "runs")
    assert "MISSING" not in run_text(run)


def test_a_trec_run_without_a_judged_query_is_refused(tmp_path):
    (tmp_path / "qrels.txt").write_text("1 0 d 1\n")
    (tmp_path / "run.txt").write_text("q-1 Q0 d 1 2.0 me\n")
    with pytest.raises(DataError, match=r"has q-1; the judgements have 1\. Name"):
        score(
            str(tmp_path / "qrels.txt"),
            [str(tmp_path / "run.txt")],
            ScoreOptions(convention="trec", runs=str(tmp_path / "runs")),
        )
    assert not list((tmp_path / "runs").glob("2*/manifest.json"))
