"""`rayeval score` as users type it."""

import json

import pytest

from rayeval.cli.main import run_command

GOLDEN = {"question_id": "q", "question": "where", "evidence": [{"source_id": "B"}]}
TRACE = {
    "question_id": "q",
    "stages": {"search": {"hits": [{"source_id": "A"}, {"source_id": "B"}]}},
}


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "golden.jsonl").write_text(json.dumps(GOLDEN))
    (tmp_path / "trace.jsonl").write_text(json.dumps(TRACE))
    return tmp_path


WORDS = ["score", "--golden", "golden.jsonl", "--trace", "trace.jsonl"]


def test_numbers_as_json_and_then_the_run_by_show_and_verify(place, capsys):
    assert run_command([*WORDS, "--metrics", "mrr@2, recall@1", "--json", "--name", "mine"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["metrics"]["search"]["mrr@2"]["mean"] == 0.5
    assert document["status"] == {"success": 1, "failed": 0, "error": 0, "missing": 0}
    assert "-mine-" in document["run_id"]
    assert run_command(["verify", document["run_id"]]) == 0
    assert run_command(["show", document["run_id"], "q"]) == 0
    shown = capsys.readouterr().out
    assert "gold at 2" in shown
    assert "2            B  ◀ e1 100%" in shown


def test_a_wrong_trace_is_exit_2_and_leaves_no_run(place, capsys):
    (place / "trace.jsonl").write_text('{"question_id": "q", "stages": 1}')
    assert run_command([*WORDS, "--json"]) == 2
    said = capsys.readouterr()
    assert json.loads(said.out)["error"]["kind"] == "DataError"
    assert "trace.jsonl:1 [q] wrong_type" in " ".join(said.err.split())
    assert not list((place / "runs").glob("2*"))


def test_a_panic_is_one_document_too(place, capsys, monkeypatch):
    """Polars' panics are no Exception."""

    class PanicException(BaseException):
        pass

    def panics(*_):
        raise PanicException("index out of bounds")

    monkeypatch.setattr("rayeval.execution.score.score", panics)
    assert run_command([*WORDS, "--json"]) == 4
    assert json.loads(capsys.readouterr().out)["error"]["kind"] == "Unexpected"


def test_help_has_an_example(capsys):
    assert run_command(["score", "--help"]) == 0
    said = capsys.readouterr().out
    assert "Example" in said
    assert max(map(len, said.splitlines())) <= 100
