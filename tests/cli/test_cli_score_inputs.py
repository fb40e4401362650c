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
    return " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize("golden", [".", "qrels/test.tsv"])
@pytest.mark.parametrize("more", [[], ["--format", "trec"], ["--format", "beir"]])
def test_beir_leads_to_its_import(beir, capsys, golden, more):
    path, trace = beir / golden, beir.parent / "run.txt"
    error = said(capsys, "score", "--golden", path, "--trace", trace, *more,
                 "--runs", beir.parent / "runs")  # fmt: skip
    assert f"`rayeval golden import beir {beir} --out DIR`, then --golden DIR/golden.jsonl" in error


@pytest.fixture
def graded(beir):
    """Of three grades: the best document of question 2 has a 1."""
    rows = [json.dumps({"_id": name, "text": f"How {name}?"}) for name in ("1", "2")]
    (beir / "queries.jsonl").write_text("\n".join(rows))
    (beir / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\n1\td\t2\n2\te\t1\n")
    (beir.parent / "run.txt").write_text("1 Q0 d 1 9 mine\n2 Q0 d 1 9 mine\n2 Q0 e 2 8 mine\n")
    return beir


def ran(capsys, *arguments):
    with pytest.raises(SystemExit) as stopped:
        main(list(map(str, arguments)))
    assert stopped.value.code == 0
    return capsys.readouterr()


def test_an_import_says_the_flag_with_which_its_grades_are_what_they_were(graded, capsys):
    mine, trace = graded.parent / "mine", graded.parent / "run.txt"
    told = ran(capsys, "golden", "import", "beir", graded, "--out", mine).out
    assert "score with `--relevant 1`" in told and "unanswerable" not in told
    score = ["score", "--golden", mine / "golden.jsonl", "--trace", trace, "--format", "trec",
             "--runs", graded.parent / "runs", "--metrics", "mrr@5", "--json"]  # fmt: skip
    found = {}
    for flags in ([], ["--relevant", "1"], ["--relevant", "2"], ["--relevant", "3"]):
        means = json.loads(ran(capsys, *score, *flags).out)["metrics"]["trace"]["mrr@5"]
        found[" ".join(flags)] = (means["mean"], means["n"], means["n_undefined"])
    assert found == {"": (1, 1, 1), "--relevant 1": (0.75, 2, 0), "--relevant 2": (1, 1, 1),
                     "--relevant 3": (None, 0, 2)}  # fmt: skip


def test_judgements_as_golden_set_are_scored_by_their_own_convention(graded, capsys):
    rows = "1 0 d 2\n2 0 e 1\n"
    (graded.parent / "qrels.txt").write_text(rows)
    score = ["score", "--golden", graded.parent / "qrels.txt", "--trace", graded.parent / "run.txt",
             "--format", "trec", "--runs", graded.parent / "runs", "--json"]  # fmt: skip
    printed = ran(capsys, *score, "--metrics", "mrr@5")
    assert json.loads(printed.out)["metrics"]["trace"]["mrr@5"]["mean"] == 0.75
    assert "gold is relevance 1 or more, as trec_eval and BEIR have it" in " ".join(
        printed.err.split()
    )
    printed = ran(capsys, *score, "--metrics", "mrr@5", "--relevant", "2")
    assert json.loads(printed.out)["metrics"]["trace"]["mrr@5"]["mean"] == 1


def test_the_trec_convention_takes_beirs_judgements(graded, capsys):
    score = ["score", "--golden", graded / "qrels" / "test.tsv", "--trace",
             graded.parent / "run.txt", "--convention", "trec", "--runs", graded.parent / "runs",
             "--metrics", "recip_rank", "--json"]  # fmt: skip
    found = json.loads(ran(capsys, *score).out)["metrics"]["trace"]["recip_rank"]
    assert (found["mean"], found["n"]) == (0.75, 2)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("golden.jsonl", '{"question": "How?", "answerable": false}\n'),
        ("golden.csv", "question_id,question\n1,How?\n"),
    ],
)
def test_the_trec_convention_says_how_a_golden_set_becomes_judgements(beir, capsys, name, text):
    (beir.parent / name).write_text(text)
    error = said(capsys, "score", "--golden", beir.parent / name, "--trace",
                 beir.parent / "run.txt", "--convention", "trec")  # fmt: skip
    assert "scores on TREC's judgements (qrels), `query 0 document grade` a line" in error
    assert "`rayeval export RUN --format trec --out DIR`" in error


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
