"""The same words at several places of the documents: where both stand somewhere, places decide."""

import numpy as np
import pytest
from score_files import write_lines

from rayeval.execution.export import exported
from rayeval.metrics.spans import Intervals, overlaps
from rayeval.report.question import question_json, question_text

SAID = "The office closes at 18:00."
SEOUL, BUSAN = f"# Seoul\n\n{SAID} Lunch is at noon.", f"# Busan\n\n{SAID} Lunch is at one."
TEXT = f"{SEOUL}\n\n{BUSAN}\n"
OTHER = "Opening hours.\n\nLunch is at noon.\n"


def place(said, after=0):
    start = TEXT.index(said, after)
    return {"start_char": start, "end_char": start + len(said)}


IN_BUSAN = {"source_id": "offices.md", "quote": SAID, **place(SAID, TEXT.index("# Busan"))}
IN_SEOUL = {"source_id": "offices.md", "quote": SAID, **place(SAID)}
ANYWHERE = {"quote": SAID}
SEOUL_SPAN = {"source_id": "offices.md", "spans": [place(SEOUL)]}
CASES = [
    pytest.param([IN_BUSAN], SEOUL_SPAN, 0, id="the spans of the other place"),
    pytest.param([IN_BUSAN], {**SEOUL_SPAN, "text": SEOUL}, 0, id="with their text"),
    pytest.param([IN_BUSAN], {"source_id": "offices.md", "text": SEOUL}, 0, id="text of the source"),
    pytest.param([IN_BUSAN], SEOUL, 0, id="text alone"),
    pytest.param([IN_BUSAN], BUSAN, 1, id="text of the right place"),
    pytest.param([IN_BUSAN], SAID, 0, id="a text at both places, gold at one"),
    pytest.param([ANYWHERE], SAID, 1, id="a text at both places, gold at both"),
    pytest.param([IN_BUSAN, IN_SEOUL], SAID, 1, id="alternatives at both places"),
    pytest.param([IN_BUSAN, {**IN_SEOUL, "relevance": 1}], SAID, 0, id="one of the two is no gold"),
    pytest.param([ANYWHERE], {"source_id": "offices.md", "text": SAID}, 0,
                 id="a source's text at places that nobody lists"),
    pytest.param([IN_BUSAN], f"Summary: offices. {SAID}", 1, id="a text that stands nowhere"),
]  # fmt: skip


@pytest.mark.parametrize(("evidence", "hit", "want"), CASES)
def test_score_show_export_and_first_failure_say_the_same(scored, tmp_path, evidence, hit, want):
    documents = [{"source_id": "offices.md", "text": TEXT}, {"source_id": "o.md", "text": OTHER}]
    evidence = [{"group_id": "g", **item} for item in evidence]
    run = scored(
        [{"question_id": "q", "question": "?", "evidence": evidence}],
        [{"question_id": "q", "stages": {"s": {"hits": [hit]}}}],
        corpus=write_lines(tmp_path / "docs.jsonl", documents),
    )
    assert run.per_query["hit@1"].to_list() == [want]
    assert run.failures["status"].to_list() == [("failed", "success")[want]]
    [shown] = question_json(run, "q")["stages"]["s"]["hits"]
    assert bool(shown["finds"]) == bool(want)
    assert ("s: 1 hit, gold at 1" in question_text(run, "q")) == bool(want)
    judged = exported(run).judgements.filter(relevance=3)
    assert (run.trace["hits"][0][0]["chunk_id"] in judged["chunk_id"].to_list()) == bool(want)


@pytest.mark.parametrize("context", [[BUSAN], [f"{SAID} Lunch is at one."], [SEOUL, BUSAN]])
def test_a_context_of_different_passages_repeats_nothing(scored, tmp_path, context):
    documents = [{"source_id": "offices.md", "text": TEXT}]
    trace = [{"question_id": "q", "stages": {"bm25": {"hits": context}}, "context": context}]
    run = scored([{"question_id": "q", "question": "?", "evidence": [IN_BUSAN]}], trace,
                 corpus=write_lines(tmp_path / "docs.jsonl", documents))  # fmt: skip
    row = run.per_query.filter(stage="context").row(0, named=True)
    assert row["duplicate_ratio"] == 0
    assert row["char_precision@5"] == len(SAID) / sum(map(len, context))


def test_a_text_that_holds_overlapping_evidence_holds_each_character_once():
    """Evidence [0, 10), [5, 15) and [3, 30), of which a text is known to hold the first two."""
    passage = Intervals(*(np.array([], np.int64) for _ in range(4)))
    of_evidence = Intervals(*map(np.array, ([0, 1, 2], [0, 0, 0], [0, 5, 3], [10, 15, 30])))
    held = passage.holding(np.array([0, 0]), np.array([0, 1]), of_evidence)
    assert (held.start.tolist(), held.end.tolist()) == ([0], [15])
    assert overlaps(held, of_evidence).chars.tolist() == [10, 10, 12]
