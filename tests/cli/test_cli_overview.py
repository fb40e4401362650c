"""What `rayeval show RUN` and `summary.md` say of a whole run."""

import json

import pytest

import rayeval
from rayeval.cli.main import run_command

CONFIG = """
golden: {path: q.jsonl}
corpus: {path: d.jsonl}
chunk: {kind: fixed, size: 80}
retrieve:
  arms:
    bm25_whitespace: {kind: bm25, depth: 20, analyzer: {kind: whitespace}}
    bm25_unicode_words: {kind: bm25, depth: 20, analyzer: {kind: unicode_words}}
fuse: {kind: rrf}
context: {kind: top_k, depth: 5}
"""


@pytest.fixture
def ran(tmp_path, capsys):
    """Runs questions about one document; gives (what `show` prints, summary.md)."""

    def run(*questions):
        evidence = [{"source_id": "a", "quote": "The boat leaves at six."}]
        rows = [{"evidence": evidence, **question} for question in questions]
        document = {"source_id": "a", "text": evidence[0]["quote"]}
        (tmp_path / "q.jsonl").write_text("\n".join(map(json.dumps, rows)))
        (tmp_path / "d.jsonl").write_text(json.dumps(document))
        (tmp_path / "c.yaml").write_text(CONFIG)
        runs = tmp_path / "runs"
        assert run_command(["run", str(tmp_path / "c.yaml"), "--runs", str(runs)]) == 0
        (folder,) = (path for path in runs.iterdir() if path.name != ".store")
        return capsys.readouterr().out, (folder / "summary.md").read_text()

    return run


def test_the_means_say_which_questions_they_leave_out(ran):
    asked = {"question": "When does the boat leave?"}
    shown, summary = ran(asked, {"question": "Boat?", "created_from": "synthetic:llm"})
    told = "Means over answerable questions, 1 synthetic, unvalidated one aside"
    assert told in shown
    assert told in summary


def test_names_of_stages_are_not_cut_off(ran):
    shown, _ = ran({"question_id": "q-3549d23af849", "question": "absent"})
    (heading,) = (line for line in shown.splitlines() if line.startswith("question "))
    assert heading.split()[5:7] == ["bm25_whitespace", "bm25_unicode_words"]
    assert max(map(len, shown.splitlines())) <= 100


def test_nothing_lost_is_no_empty_table(ran):
    shown, summary = ran({"question": "When does the boat leave?"})
    assert "1 question: 1 answerable, 0 not; 1 document, 1 chunk" in shown
    assert "First failures (1 success)\n\nLatency in ms" in shown
    assert "By slice" not in shown, "slices of all questions say nothing of their own"
    assert "| slice |" not in summary
    assert "first failure" not in summary
    assert "\n\n\n" not in summary


def test_errors_are_what_to_look_at_next(tmp_path, capsys):
    golden = [{"question_id": f"q-{n}", "question": "?", "quote": "fact"} for n in range(3)]
    trace = [{"question_id": "q-0", "stages": {"s": {"hits": ["a fact"]}}},
             {"question_id": "q-1", "stages": {}, "error": "TimeoutError"}]  # fmt: skip
    paths = [tmp_path / "golden.jsonl", tmp_path / "trace.jsonl"]
    for path, rows in zip(paths, (golden, trace), strict=True):
        path.write_text("\n".join(map(json.dumps, rows)))
    run = rayeval.score(*paths, runs=tmp_path / "runs")
    assert run_command(["show", str(run.path)]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert (
        "error (1: q-1): “TimeoutError” (1 question); without a score where it failed; "
        f"`rayeval show {run.run_id} q-1` shows one" in shown
    )
    assert "missing (1: q-2): the trace lacks them, or a stage or the answer of theirs" in shown
    assert "no question was lost" not in shown
    assert "error (1: q-1)" in str(run)
