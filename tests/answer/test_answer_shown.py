"""Answers and verdicts to be read: what is alike is told once."""

import pytest

from rayeval.report.answers import answer_lines
from rayeval.report.judgements import judgement_lines
from rayeval.report.repeats import ranges
from rayeval.report.shown import signed
from rayeval.report.terminal import number


def answer(repeat, text, variant="answer", **fields):
    return {"variant": variant, "repeat": repeat, "answer": text, "abstained": text is None,
            "citations": [], "error": None, "prompt_tokens": 100, "completion_tokens": 20,
            "cost_usd": None, **fields}  # fmt: skip


def judged(repeat, claim, **fields):
    claims = [{"text": claim, "support": "supported", "reference": None, "cited": None}]
    return {"variant": "answer", "repeat": repeat, "error": None, "correctness": "correct",
            "relevance": None, "claims": claims, "reference_claims": None, "outcomes": [],
            **fields}  # fmt: skip


def test_equal_repeats_are_told_once():
    said = [answer(0, "yes"), answer(1, "no"), answer(2, "yes"), answer(3, "yes"),
            answer(0, None, "closed_book")]  # fmt: skip
    assert answer_lines(said) == [
        "", "answer:", "  1, 3–4. yes", "      100 tokens read, 20 tokens written each",
        "  2. no", "      100 tokens read, 20 tokens written",
        "", "closed_book:", "  abstained", "      100 tokens read, 20 tokens written",
    ]  # fmt: skip


def test_answers_that_cite_differently_are_not_equal():
    cited = [{"mark": "E1", "chunk_id": "c", "source_id": "d.md"}]
    lines = answer_lines([answer(0, "yes"), answer(1, "yes", citations=cited)])
    assert [line for line in lines if "yes" in line] == ["  1. yes", "  2. yes"]


def test_equal_verdicts_are_told_once_whatever_they_took():
    took = [{"task": "support", "outcome": "ok", "reason": None, "request": "r"}]
    lines = judgement_lines([judged(0, "a"), judged(1, "a", outcomes=took), judged(2, "b")])
    heads = [line for line in lines if line.startswith("answer")]
    assert heads == ["answer 1–2, judged: correct", "answer 3, judged: correct"]


def test_a_verdict_that_is_lacking_is_none_of_the_equal_ones():
    lacking = [{"task": "support", "outcome": "budget", "reason": "spent", "request": None}]
    lines = judgement_lines([judged(0, "a"), judged(1, "a", outcomes=lacking)])
    heads = [line for line in lines if line.startswith("answer")]
    assert heads == ["answer 1, judged: correct", "answer 2, judged: correct"]


@pytest.mark.parametrize(
    ("numbers", "said"),
    [([], ""), ([1], "1"), ([1, 2], "1–2"), ([1, 3, 4, 5, 9], "1, 3–5, 9")],
)
def test_ranges(numbers, said):
    assert ranges(numbers) == said


def test_what_rounds_to_nothing_has_no_sign():
    assert (signed(-1e-17), signed(-0.0004), signed(-0.0006)) == ("+0.000", "+0.000", "-0.001")
    assert (number(-1e-17), number(0.0005001), number(1234.5)) == ("0.000", "0.001", "1,234")
