"""What anchoring writes is found again: where the quote alone no longer tells, offsets do."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import rayeval
from rayeval.execution.golden.anchor import anchor_golden
from rayeval.execution.golden.lint import lint

OLD = "Colours: blue is V4, red is V6.\n\nAsk the setter.\n"
AHEAD = "Youth: blue is V4 at most.\n\n"
TWICE = OLD + "\nYouth: blue is V4 at most.\n"


def anchored(folder: Path, name: str, evidence, old: str, new: str, *, was: bool):
    """(what was found, the evidence as written, where the golden set is)."""
    row = {"question_id": "q", "question": "?", "evidence": [{"source_id": name, **evidence}]}
    golden, out = folder / "g.jsonl", folder / "h.jsonl"
    golden.write_text(json.dumps(row) + "\n")
    for part, text in (("old", old), ("new", new)):
        (folder / part).mkdir()
        (folder / part / name).write_text(text)
    if not was:
        anchor_golden(str(golden), str(folder / "old"), out=str(golden))
    before = str(folder / "old") if was else None
    found = anchor_golden(str(golden), str(folder / "new"), was=before, out=str(out))
    [written] = json.loads(out.read_text())["evidence"]
    return found, written, out


@pytest.mark.parametrize("was", [True, False])
@pytest.mark.parametrize(
    ("new", "status", "start"),
    [
        pytest.param(TWICE, "kept", 9, id="where it was, and again below"),
        pytest.param(AHEAD + OLD, "moved", 37, id="again above"),
    ],
)
def test_a_quote_that_stands_twice_now_gets_offsets(tmp_path, new, status, start, was):
    quote = "blue is V4"
    found, written, out = anchored(tmp_path, "a.md", {"quote": quote}, OLD, new, was=was)
    [change] = found.changes
    assert found.sound and change.status == status and found.counts[status] == 1
    assert written == {"source_id": "a.md", "quote": quote, "start_char": start,
                       "end_char": start + len(quote)}  # fmt: skip
    corpus = str(tmp_path / "new")
    assert all(problem.warning for problem in lint(str(out), corpus))
    trace = [{"question_id": "q", "stages": {"s": {"hits": [{"source_id": "a.md"}]}}}]
    run = rayeval.score(str(out), trace, corpus=corpus, metrics=["recall@1"], runs=tmp_path / "r")
    assert run.aggregate["mean"].to_list() == [1]


def test_what_is_kept_and_reworded_is_said(tmp_path):
    found, _, _ = anchored(tmp_path, "a.md", {"quote": "blue is V4"}, OLD, TWICE, was=True)
    [change] = found.changes
    assert "no longer enough to find it: offsets" in change.message


def test_a_rendered_quote_that_stands_twice_now_gets_offsets(tmp_path):
    old = "<p>Colours: blue is V4, red is V6.</p><p>Ask.</p>"
    new = old + "<p>Youth: blue is V4 at most.</p>"
    found, written, out = anchored(tmp_path, "a.html", {"quote": "blue is V4"}, old, new, was=True)
    assert found.sound and written["start_char"] == old.index("blue")
    assert all(problem.warning for problem in lint(str(out), str(tmp_path / "new")))


@pytest.mark.parametrize(
    ("evidence", "new"),
    [
        pytest.param({"quote": "red is V6"}, TWICE, id="once, elsewhere in a changed text"),
        pytest.param({"quote": "blue  is V4"}, "Blue, or: " + OLD, id="in another form"),
        pytest.param({"start_char": 9, "end_char": 19}, TWICE, id="offsets"),
        pytest.param({}, TWICE, id="the whole document"),
    ],
)
def test_what_is_found_as_it_is_written_stays_as_it_is(tmp_path, evidence, new):
    found, written, _ = anchored(tmp_path, "a.md", evidence, OLD, new, was=True)
    assert (found.counts["kept"], found.changes) == (1, [])
    assert written == {"source_id": "a.md", **evidence}
