"""What `rayeval score` says of files that are not what it needs: one step to what works."""

import json

import pytest
from typer.testing import CliRunner

from rayeval.cli.main import app, main


@pytest.fixture
def beir(tmp_path):
    """A BEIR folder and a run of it."""
    folder = tmp_path / "beir"
    (folder / "qrels").mkdir(parents=True)
    (folder / "queries.jsonl").write_text(json.dumps({"_id": "1", "text": "How?"}) + "\n")
    (folder / "corpus.jsonl").write_text(json.dumps({"_id": "d", "text": "So."}) + "\n")
    (folder / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\n1\td\t1\n")
    (tmp_path / "run.txt").write_text("1 Q0 d 1 9 mine\n")
    return folder


def said(capsys, *arguments):
    with pytest.raises(SystemExit) as stopped:
        main(list(map(str, arguments)))
    assert stopped.value.code == 2
    return capsys.readouterr().err


@pytest.mark.parametrize("golden", [".", "qrels/test.tsv"])
@pytest.mark.parametrize("more", [[], ["--format", "trec"], ["--format", "beir"],
                                  ["--convention", "trec"]])  # fmt: skip
def test_beir_leads_to_its_import(beir, capsys, golden, more):
    path, trace = beir / golden, beir.parent / "run.txt"
    error = said(capsys, "score", "--golden", path, "--trace", trace, *more,
                 "--runs", beir.parent / "runs")  # fmt: skip
    assert f"`rayeval golden import beir {beir} --out DIR`, then --golden DIR/golden.jsonl" in error


def test_another_folder_is_no_golden_set(beir, capsys):
    error = said(capsys, "score", "--golden", beir / "qrels", "--trace", beir.parent / "run.txt")
    assert "qrels is a folder; name a file of questions in it" in error


@pytest.mark.parametrize(
    ("name", "formats"),
    [("run.txt", "trec, csv, ragas, deepeval"), ("t.csv", "csv, ragas, deepeval")],
)
def test_a_trace_of_another_tool_names_the_formats(tmp_path, capsys, name, formats):
    (tmp_path / name).write_text("x\n")
    golden = tmp_path / "golden.jsonl"
    golden.write_text(json.dumps({"question_id": "1", "question": "How?", "answerable": False}))
    error = said(capsys, "score", "--golden", golden, "--trace", tmp_path / name,
                 "--runs", tmp_path / "runs")  # fmt: skip
    assert f"say which with --format: {formats}" in error
    assert not error.startswith("run ")


def test_help_lists_the_formats_that_hold_hits():
    text = CliRunner().invoke(app, ["score", "--help"], terminal_width=200).output
    assert "ragas:" in text.replace("`", "")
    assert "squad" not in text
