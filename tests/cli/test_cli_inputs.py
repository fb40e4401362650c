"""Files that are compressed, cut off, pipes or folders, and what an import may leave behind."""

import gzip
import json
import os

import pytest

from rayeval.cli.main import run_command
from rayeval.execution.runs import load

GOLDEN = {"question_id": "q1", "question": "How long?", "evidence": [{"source_id": "d"}]}
TRACE = {"question_id": "q1", "stages": {"s": {"hits": [{"source_id": "d"}]}}}
DOCUMENT = {"source_id": "d", "text": "Leave is 15 days.\r\n"}
RAGAS = {"user_input": "Who?", "reference_contexts": ["a" * 500]}


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, row in (("g", GOLDEN), ("t", TRACE), ("d", DOCUMENT), ("r", RAGAS)):
        data = (json.dumps(row) + "\n").encode()
        (tmp_path / f"{name}.jsonl").write_bytes(data)
        (tmp_path / f"{name}.jsonl.gz").write_bytes(gzip.compress(data))
        (tmp_path / f"{name}-cut.jsonl.gz").write_bytes(gzip.compress(data)[:-12])
        (tmp_path / f"{name}-not.jsonl.gz").write_bytes(data)
    (tmp_path / "qrels-cut.txt.gz").write_bytes(gzip.compress(b"q1 0 d 1\n")[:-9])
    (tmp_path / "run.txt").write_text("q1 Q0 d 1 2 t\n")
    os.mkfifo(tmp_path / "pipe.jsonl")
    return tmp_path


def score(golden="g.jsonl", trace="t.jsonl", *more):
    return run_command(["score", "--golden", golden, "--trace", trace, "--runs", "runs", *more])


def runs(folder):
    return [path.name for path in folder.glob("runs/[!.]*")]


def test_golden_set_trace_and_corpus_may_all_be_compressed(files, capsys):
    assert run_command(["golden", "stats", "g.jsonl.gz"]) == 0
    assert score("g.jsonl.gz", "t.jsonl.gz", "--corpus", "d.jsonl.gz") == 0
    assert capsys.readouterr().out
    [run] = runs(files)
    assert load(run, "runs").aggregate.height


def test_a_compressed_golden_set_stays_one_when_it_grows(files, capsys):
    add = ["golden", "add", "g.jsonl.gz", "--question", "Why?", "--unanswerable"]
    assert run_command(add) == 0
    rows = gzip.decompress((files / "g.jsonl.gz").read_bytes()).decode().splitlines()
    assert [json.loads(row)["question"] for row in rows] == ["How long?", "Why?"]


@pytest.mark.parametrize("how", ["cut", "not"])
@pytest.mark.parametrize(
    "arguments",
    [
        ["score", "--golden", "g.jsonl", "--trace", "t-{}.jsonl.gz", "--runs", "runs"],
        ["score", "--golden", "g-{}.jsonl.gz", "--trace", "t.jsonl", "--runs", "runs"],
        ["score", "--golden", "g.jsonl", "--trace", "t.jsonl", "--corpus", "d-{}.jsonl.gz",
         "--runs", "runs"],
        ["golden", "import", "ragas", "r-{}.jsonl.gz", "--out", "runs"],
        ["golden", "stats", "g-{}.jsonl.gz"],
    ],
)  # fmt: skip
def test_what_cannot_be_unpacked_is_named_and_leaves_nothing(files, capsys, arguments, how):
    assert score() == 0  # its bytes are those of t-not.jsonl.gz, so that the store has them
    before = runs(files)
    capsys.readouterr()
    assert run_command([part.format(how) for part in arguments]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert f"-{how}.jsonl.gz unreadable_file: the file is cut off, or not gzip" in said
    assert runs(files) == before


def test_trec_files_that_are_cut_off_are_the_users(files, capsys):
    assert score("qrels-cut.txt.gz", "run.txt", "--convention", "trec") == 2
    assert run_command(["golden", "import", "trec", "qrels-cut.txt.gz", "--out", "o"]) == 2
    assert " ".join(capsys.readouterr().err.split()).count("qrels-cut.txt.gz unreadable_file") == 2
    assert not (files / "o").exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ["score", "--golden", "g.jsonl", "--trace", "pipe.jsonl", "--runs", "runs"],
        ["score", "--golden", "pipe.jsonl", "--trace", "t.jsonl", "--runs", "runs"],
        ["score", "--golden", "pipe.jsonl", "--trace", "run.txt", "--convention", "trec",
         "--runs", "runs"],
        ["score", "--golden", "g.jsonl", "--trace", "t.jsonl", "--corpus", "pipe.jsonl",
         "--runs", "runs"],
        ["golden", "lint", "pipe.jsonl"],
        ["golden", "stats", "pipe.jsonl"],
        ["golden", "import", "ragas", "pipe.jsonl", "--out", "o"],
        ["validate", "pipe.jsonl"],
    ],
)  # fmt: skip
def test_a_pipe_is_refused_before_it_is_opened(files, capsys, arguments):
    """Nobody writes to it, so that whoever opened it would wait for ever."""
    assert run_command(arguments) == 2
    captured = capsys.readouterr()
    assert "this is a pipe; write it to a file" in " ".join((captured.err + captured.out).split())
    assert runs(files) == []


def test_folders_and_devices_are_no_golden_sets(files, capsys):
    assert run_command(["golden", "stats", "."]) == 2
    assert ". missing_file: this is a folder; name the golden set's file" in " ".join(
        capsys.readouterr().err.split()
    )
    assert run_command(["golden", "stats", "/dev/null"]) == 2
    assert "/dev/null: this is a device; name a file" in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize(
    ("name", "file", "value", "said"),
    [
        ("hotpotqa", "h.json", [{"_id": "1", "question": "Who?", "context": [["T", ["A."]]],
                                 "supporting_facts": []}],
         "h.json:1 [1] answerable_without_evidence: answerable"),
        ("legalbench", "l.json", {"tests": [{"query": "Who?", "snippets": []}]},
         "] answerable_without_evidence: `tests[0]`: answerable"),
        ("ragchecker", "r.json", {"results": [{"query_id": "1", "query": "Who?"}] * 2},
         "r.json:1 [1] duplicate_question_id: `results[1]`: r.json:1 (`results[0]`) is this"),
    ],
)  # fmt: skip
def test_what_would_be_no_golden_set_is_not_written(files, capsys, name, file, value, said):
    (files / file).write_text(json.dumps(value))
    assert run_command(["golden", "import", name, file, "--out", "o"]) == 2
    assert said in " ".join(capsys.readouterr().err.split())
    assert not (files / "o").exists()


def test_whole_documents_go_to_beir_and_back(files, capsys):
    assert score("g.jsonl", "t.jsonl", "--corpus", "d.jsonl", "--keep-trace") == 0
    [run] = runs(files)
    export = ["export", run, "--format", "beir", "--runs", "runs", "--out"]
    assert run_command([*export, "one"]) == 0
    assert json.loads((files / "one/corpus.jsonl").read_text()) == {
        "_id": "d", "title": "", "text": DOCUMENT["text"],
    }  # fmt: skip
    assert (files / "one/qrels/test.tsv").read_text().splitlines()[1:] == ["q1\td\t3"]
    assert run_command(["golden", "import", "beir", "one", "--out", "back"]) == 0
    assert json.loads((files / "back/docs.jsonl").read_text()) == DOCUMENT
    (files / "d.jsonl").rename(files / "moved.jsonl")
    assert run_command([*export, "two"]) == 2
    assert "doesn't hold the text of 1 passage" in " ".join(capsys.readouterr().err.split())
    assert run_command([*export, "two", "--corpus", "moved.jsonl"]) == 0
    (files / "moved.jsonl").write_text(json.dumps({**DOCUMENT, "text": "Another text."}) + "\n")
    assert run_command([*export, "three", "--corpus", "moved.jsonl"]) == 2


def test_beir_without_a_text_is_refused(files, capsys):
    (files / "corpus.jsonl").write_text('{"_id": "d", "title": "", "text": null}\n')
    (files / "queries.jsonl").write_text('{"_id": "q", "text": "Who?"}\n')
    (files / "q.tsv").write_text("query-id\tcorpus-id\tscore\nq\td\t1\n")
    named = ["corpus.jsonl", "queries.jsonl", "q.tsv"]
    assert run_command(["golden", "import", "beir", *named, "--out", "o"]) == 2
    assert "corpus.jsonl:1 missing_field: `text` is missing" in " ".join(
        capsys.readouterr().err.split()
    )
