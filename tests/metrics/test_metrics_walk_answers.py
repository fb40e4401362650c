"""The walk's last stop: what is wrong with the answers."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from metrics_answers import JUDGED, UNJUDGED, E, answer, asked, claim, failure, judged
from metrics_batches import evidence, table

from rayeval.metrics.failure.first_failure import FirstFailure
from rayeval.metrics.pipeline import Pipeline

WRONG, LOOSE = "GENERATION_INCORRECT", "GENERATION_UNSUPPORTED_CLAIM"
INVALID, REFUSED = "CITATION_INVALID", "GENERATION_FALSE_ABSTENTION"
NOT = claim("not_in_context")


@pytest.mark.parametrize(
    ("answers", "verdicts", "code", "others"),
    [
        pytest.param([answer(cites="g")], [judged(claim(), correctness="correct")], None, [], id="right"),
        pytest.param([answer()], [judged(claim(), correctness="partial")], None, [], id="partly right"),
        pytest.param([answer()], [judged(claim(), correctness="incorrect")], WRONG, [], id="wrong"),
        pytest.param([answer()], [judged(claim(), NOT)], LOOSE, [], id="a claim not in the context"),
        pytest.param([answer()], [judged(claim("contradicted"))], LOOSE, [], id="one contradicted"),
        pytest.param([answer(cites="g!")], [judged(claim())], INVALID, [], id="a mark of nothing"),
        pytest.param([answer(None)], [judged(claims=None)], REFUSED, [], id="refused"),
        pytest.param([answer(cites="!")], [judged(NOT, correctness="incorrect")], WRONG,
                     [LOOSE, INVALID], id="all at once"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_an_answer(answers, verdicts, code, others):
    found = failure(asked(answers, verdicts))
    assert (found["status"], found["code"]) == ("failed" if code else "success", code)
    assert (found["stage"], found["group_id"]) == ("answer" if code else None, None)
    entries = [(e["stage"], e["code"], e["rank"], e["group_id"]) for e in found["contributing"]]
    assert entries == [("answer", other, None, None) for other in others]
    assert found["observed_stages"][-2:] == ["context", "answer"]
    assert found["reached_stages"][-2:] == (["parse", "context"] if code else ["context", "answer"])


def test_without_a_judge_only_what_is_seen_in_the_answer_is_wrong():
    found = failure(asked([answer()]), UNJUDGED)
    assert (found["status"], found["observed_stages"][-1]) == ("success", "answer")


LOST = {"task": "support", "outcome": "timed_out"}


@pytest.mark.parametrize(
    ("answers", "verdicts", "status", "code"),
    [
        pytest.param(["a"], [judged(claim(None), outcomes=[LOST], correctness="correct")], "error", None,
                     id="nobody knows whether its claims hold"),
        pytest.param(["a"], [], "error", None, id="nothing was judged"),
        pytest.param(["a"], [judged(claim(None), outcomes=[LOST], correctness="incorrect")], "failed",
                     WRONG, id="it is wrong whatever its claims are"),
        pytest.param("abc", [judged(claim(None), outcomes=[LOST], correctness="correct"),
                             judged(claim(), repeat=1, correctness="correct"),
                             judged(claim(), repeat=2, correctness="correct")], "success", None,
                     id="one of three decides nothing"),
        pytest.param("abc", [judged(claim(None), outcomes=[LOST], correctness="correct"),
                             judged(claim(), repeat=1, correctness="incorrect"),
                             judged(claim(), repeat=2, correctness="correct")], "error", None,
                     id="one of three decides beside another"),
        pytest.param([None], [judged(claims=None)], "failed", REFUSED, id="a refusal needs no judge"),
    ],
)  # fmt: skip
def test_where_a_judge_failed_nobody_knows_what_could_be_wrong(answers, verdicts, status, code):
    found = failure(asked(tries(*answers), verdicts))
    assert (found["status"], found["stage"], found["code"]) == (
        status, None if status == "success" else "answer", code,
    )  # fmt: skip
    assert (found["observed_stages"][-1] == "answer") == (status != "error")
    assert (found["reached_stages"][-1] == "answer") == (status == "success")


def tries(*texts):
    return [answer(text, repeat=number) for number, text in enumerate(texts)]


@pytest.mark.parametrize(
    ("answers", "verdicts", "code", "others"),
    [
        pytest.param(tries("a", None), [judged(claim())], REFUSED, [], id="half of them fail"),
        pytest.param(tries("a", "b", None), [judged(correctness="correct"),
                     judged(repeat=1, correctness="correct")], None, [], id="fewer than half"),
        pytest.param(tries("a", None, None), [judged(correctness="incorrect")], REFUSED, [WRONG],
                     id="the code of most"),
        pytest.param(tries("a", None), [judged(correctness="incorrect")], WRONG, [REFUSED],
                     id="of as many, the first in order"),
    ],
)  # fmt: skip
def test_several_tries(answers, verdicts, code, others):
    found = failure(asked(answers, verdicts))
    assert found["code"] == code
    assert [entry["code"] for entry in found["contributing"]] == others


@pytest.mark.parametrize(
    ("given", "status", "stage", "code"),
    [
        pytest.param({"answers": []}, "missing", "answer", None, id="no answer"),
        pytest.param({"answers": None, "answers.error": "429"}, "error", "answer", None, id="it failed"),
        pytest.param({"answers": [answer(error="429", abstained=None)]}, "error", "answer", None,
                     id="a try failed"),
        pytest.param({"context": [], "answers": [answer(None, context="")]}, "failed", "context",
                     "RETRIEVAL_MISSED_GOLD", id="a loss before wins: the refusal was right"),
        pytest.param({"context": [], "answers": None, "answers.error": "429"}, "failed", "context",
                     "RETRIEVAL_MISSED_GOLD", id="a loss before the stage of an error"),
        pytest.param({"answers": [answer(None, context="n")]}, "success", None, None,
                     id="its own context lacked the evidence"),
        pytest.param({"evidence": [], "answers": [answer(None)]}, "success", None, None,
                     id="nobody knows whether evidence was at hand"),
    ],
)  # fmt: skip
def test_how_a_walk_ends(given, status, stage, code):
    found = failure(asked([]) | given)
    assert (found["status"], found["stage"], found["code"]) == (status, stage, code)


def test_evidence_in_two_chunks_is_at_hand_when_both_are():
    split = evidence("s", (15, 35))
    row = asked([answer(None, context="gh")], context="gh", gold=[split])
    found = failure(row | {"gold_chunks": row["passages"][:2]})
    assert found["code"] == REFUSED
    assert [entry["code"] for entry in found["contributing"]] == ["CHUNK_GOLD_SPLIT"]


def test_answers_alone_are_a_walk_too():
    row = asked([answer(context=None, cites="!")])
    pipeline = Pipeline(answers=("answer",))
    found = failure({k: v for k, v in row.items() if k != "context"}, pipeline)
    assert (found["code"], found["observed_stages"][-2:]) == (INVALID, ["parse", "answer"])


ANSWER = st.sampled_from(
    [answer(), answer(None), answer(cites="!"), answer(error="x", abstained=None)]
)
VERDICT = st.sampled_from([judged(claim()), judged(NOT), judged(correctness="incorrect")])


@settings(max_examples=40)
@given(st.lists(st.tuples(st.lists(ANSWER, max_size=3), st.lists(VERDICT, max_size=3),
                          st.booleans(), st.sampled_from(["g", "", None])), max_size=6))  # fmt: skip
def test_law_6(drawn):
    rows = [
        asked([one | {"repeat": n} for n, one in enumerate(answers)],
              [one | {"repeat": n} for n, one in enumerate(verdicts)],
              question_id=str(number), answerable=answerable, context=context)
        for number, (answers, verdicts, answerable, context) in enumerate(drawn)
    ]  # fmt: skip
    if not rows:
        return
    found = FirstFailure(JUDGED, full=0.8)(table(rows)).to_pylist()
    assert len(found) == sum(answerable for _, _, answerable, _ in drawn)
    for row in found:
        assert (row["code"] is not None) == (row["status"] == "failed")
        assert (row["stage"] is None) == (row["status"] == "success")
        assert ("answer" in row["reached_stages"]) <= (row["status"] == "success")


def test_gold_and_answers_of_a_batch_stay_apart():
    rows = [asked([answer(None)], question_id="b"), asked([answer()], question_id="a", gold=[E])]
    found = FirstFailure(JUDGED, full=0.8)(table(rows)).to_pylist()
    assert [(row["question_id"], row["code"]) for row in found] == [("a", None), ("b", REFUSED)]
