import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from metrics_answers import (
    CONTEXT,
    JUDGED,
    NAMES,
    UNJUDGED,
    E,
    F,
    answer,
    asked,
    claim,
    judged,
    measured,
    wanted,
)
from metrics_batches import table
from numpy.testing import assert_array_equal

from rayeval.errors import ConfigError
from rayeval.metrics.config import Metrics
from rayeval.metrics.names import METRICS
from rayeval.metrics.per_query import PerQuery
from rayeval.metrics.pipeline import Pipeline
from rayeval.metrics.totals import Totals

OK, NO = "supported", "not_in_context"
OUT = "not_in_reference"
NAN = math.nan


def same(found, want):
    assert_array_equal([found[name] for name in want], list(want.values()))


@pytest.mark.parametrize(
    ("claims", "want"),
    [
        pytest.param(
            [claim(OK, OK), claim(OK, OUT), claim(NO, OK), claim(NO, OUT)],
            {"faithfulness": 0.5, "claim_precision": 0.5, "hallucination": 0.25,
             "self_knowledge": 0.25, "noise": 0.25},
            id="one of each",
        ),
        pytest.param(
            [claim("contradicted", OK), claim(OK, "contradicted")],
            {"faithfulness": 0.5, "claim_precision": 0.5, "hallucination": 0, "noise": 0.5},
            id="contradicted is not supported",
        ),
        pytest.param(
            [], {"faithfulness": NAN, "claim_precision": NAN, "hallucination": NAN, "noise": NAN},
            id="no claims",
        ),
    ],
)  # fmt: skip
def test_claims_against_context_and_reference(claims, want):
    found = measured(asked([answer()], [judged(*claims, reference_claims=[wanted()])]))
    same(found, want)
    assert found["unjudged"] == []


@pytest.mark.parametrize(
    ("facts", "claims", "want"),
    [
        pytest.param(
            [wanted(OK, OK), wanted("not_in_answer", OK), wanted(OK, NO), wanted("contradicted", NO)],
            [claim(OK, OK)],
            {"claim_recall": 0.5, "claim_f1": 2 / 3, "context_claim_recall": 0.5,
             "context_utilization": 0.5},
            id="one of each",
        ),
        pytest.param(
            [wanted(OK, NO)], [claim(OK, OUT)],
            {"claim_recall": 1, "claim_f1": 0, "context_claim_recall": 0,
             "context_utilization": NAN},
            id="a context without any of it can't be used",
        ),
        pytest.param(
            [wanted("not_in_answer", OK)], [claim(OK, OUT)],
            {"claim_recall": 0, "claim_f1": 0, "context_utilization": 0},
            id="nothing of it",
        ),
    ],
)  # fmt: skip
def test_the_reference_s_claims(facts, claims, want):
    same(measured(asked([answer()], [judged(*claims, reference_claims=facts)])), want)


def test_noise_of_relevant_and_irrelevant_chunks():
    claims = [claim(OK, OUT, chunks="g"), claim(OK, OUT, chunks="n"), claim(OK, OUT, chunks="gn"),
              claim(OK, OK, chunks="n")]  # fmt: skip
    found = measured(asked([answer()], [judged(*claims, reference_claims=[wanted(chunks="g")])]))
    same(found, {"noise": 0.75, "noise_relevant": 0.5, "noise_irrelevant": 0.25})
    unsaid = measured(
        asked([answer()], [judged(claim(OK, OUT, chunks=""), reference_claims=[wanted()])])
    )
    same(unsaid, {"noise": 1, "noise_relevant": NAN, "noise_irrelevant": NAN})


CLAIM = st.builds(
    claim,
    support=st.sampled_from([OK, NO, "contradicted"]),
    reference=st.sampled_from([OK, OUT, "contradicted"]),
    chunks=st.sampled_from(["g", "n", "gn"]),
)
FACT = st.builds(
    wanted,
    answer=st.sampled_from([OK, "not_in_answer", "contradicted"]),
    context=st.sampled_from([OK, NO]),
    chunks=st.sampled_from(["g", "n", "gn"]),
)


@settings(max_examples=50)
@given(st.lists(CLAIM, max_size=7), st.lists(FACT, max_size=5))
def test_ragchecker_s_invariants(claims, facts):
    found = measured(asked([answer()], [judged(*claims, reference_claims=facts)]))
    sums = {
        "precision": ("claim_precision", "hallucination", "noise"),
        "faithfulness": ("faithfulness", "hallucination", "self_knowledge"),
    }
    for names in sums.values():
        total = sum(found[name] for name in names)
        assert math.isnan(total) if not claims else total == pytest.approx(1, abs=1e-12)
    if claims:
        parts = found["noise_relevant"] + found["noise_irrelevant"]
        assert parts == pytest.approx(found["noise"], abs=1e-12)
    values = [found[name] for name in NAMES]
    assert all(math.isnan(value) or 0 <= value <= 1 for value in values)


@pytest.mark.parametrize(
    ("verdicts", "failed", "whole"),
    [
        pytest.param([judged(claim(), claim(None))], {"faithfulness", "hallucination"},
                     {"claim_precision": 1}, id="a verdict is missing for one claim"),
        pytest.param([judged(claim(None), claim(None), outcome="timed_out")],
                     {"faithfulness", "noise"}, {"claim_precision": 1}, id="for all: it failed"),
        pytest.param([judged(claim(None), claim(None))], set(),
                     {"claim_precision": 1, "faithfulness": NAN}, id="for all: it wasn't asked"),
        pytest.param([judged(claims=None, outcome="unparseable", correctness="correct")],
                     {"faithfulness", "claim_precision", "citation_completeness"},
                     {"answer_correctness": 1}, id="the claims could not be read"),
        pytest.param([], {"faithfulness", "answer_correctness", "context_relevance"},
                     {"contains_reference": 0}, id="nothing was said of the answer"),
    ],
)  # fmt: skip
def test_a_verdict_that_is_missing_is_an_error_and_never_zero(verdicts, failed, whole):
    found = measured(asked([answer()], verdicts))
    assert failed <= set(found["unjudged"])
    assert not set(whole) & set(found["unjudged"])
    same(found, whole | dict.fromkeys(failed, NAN))
    assert found["status"] == "ok"


PRECISE = {"claim_precision", "claim_f1", "hallucination", "self_knowledge", "noise",
           "noise_relevant", "noise_irrelevant"}  # fmt: skip
GROUNDED = {"faithfulness", "hallucination", "self_knowledge", "noise", "noise_relevant",
            "noise_irrelevant"}  # fmt: skip
CONTEXT_OF_REFERENCE = {"context_claim_recall", "context_utilization", "noise_relevant",
                        "noise_irrelevant"}  # fmt: skip


@pytest.mark.parametrize(
    ("task", "failed"),
    [
        pytest.param("correctness", {"answer_correctness"}, id="correctness"),
        pytest.param("relevance", {"context_relevance"}, id="relevance"),
        pytest.param("support", GROUNDED, id="support"),
        pytest.param("reference", PRECISE, id="reference"),
        pytest.param("recall", {"claim_recall", "claim_f1", "context_utilization"}, id="recall"),
        pytest.param("reference_support", CONTEXT_OF_REFERENCE, id="reference_support"),
        pytest.param("citations", {"citation_correctness"}, id="citations"),
        pytest.param("context", {"context_relevance", "citation_correctness", *GROUNDED,
                                 *CONTEXT_OF_REFERENCE}, id="the context is unknown"),
    ],
)  # fmt: skip
def test_what_failed_at_one_task_is_an_error_of_what_rests_on_it_alone(task, failed):
    """Nothing else was asked: those verdicts are missing too, and nobody failed at them."""
    nothing = claim(None, None, citations="g", cited=None)
    outcomes = [{"task": name, "outcome": "ok"} for name in ("claims", "reference_claims")]
    outcomes += [{"task": task, "outcome": "timed_out", "reason": "late"}]
    verdicts = judged(nothing, reference_claims=[wanted(None, None)], outcomes=outcomes)
    found = measured(asked([answer()], [verdicts]))
    assert set(found["unjudged"]) == failed


@pytest.mark.parametrize(
    ("task", "spared"),
    [
        pytest.param("claims", {"claim_recall", "answer_correctness"}, id="the answer's claims"),
        pytest.param(
            "reference_claims", {"claim_precision", "faithfulness"}, id="the reference's claims"
        ),
    ],
)
def test_claims_that_were_not_extracted_fail_what_counts_them(task, spared):
    lists = {"claims": [claim()], "reference_claims": [wanted()]}
    lost = {**lists, task: None, "correctness": "correct"}
    outcomes = [{"task": task, "outcome": "unparseable"}]
    found = measured(asked([answer()], [judged() | lost | {"outcomes": outcomes}]))
    mine = {"claims": "claim_precision", "reference_claims": "claim_recall"}[task]
    assert {mine, "claim_f1"} <= set(found["unjudged"])
    assert not spared & set(found["unjudged"])


def test_a_judge_that_failed_on_the_question_fails_all_that_it_decides():
    row = asked([answer()], None) | {"judged.error": "judge: timed_out"}
    found = measured(row)
    without = {"noise_relevant", "noise_irrelevant"}
    decided = {m.name for m in METRICS.values() if m.judged}
    assert decided - without <= set(found["unjudged"]) <= decided
    assert (found["exact_match"], found["abstained"]) == (0, 0)


def test_what_the_context_holds_of_the_reference_is_told_of_refusals_too():
    """The same contexts must not come to other values because more questions were refused."""
    verdicts = judged(
        claims=None, reference_claims=[wanted("not_in_answer"), wanted(context="not_in_context")]
    )
    found = measured(asked([answer(None)], [verdicts]))
    assert found["context_claim_recall"] == 0.5
    assert np.isnan(found["context_utilization"])
    assert np.isnan(found["claim_recall"])


def test_what_a_judge_failed_on_counts_as_an_error():
    rows = [asked([answer()], [judged(claim())], question_id="a"),
            asked([answer()], [judged(claim(), claim(None))], question_id="b"),
            asked([answer()], [judged()], question_id="c")]  # fmt: skip
    numbers = PerQuery(Metrics(names=["faithfulness", "token_f1"]), JUDGED)
    totals, questions = Totals(numbers.measured), table(rows)
    totals.add(numbers(questions), questions)
    counts = {r["metric"]: r for r in totals.aggregate().to_pylist() if r["stage"] == "answer"}
    want = {"stage": "answer", "metric": "faithfulness", "mean": 1.0, "n": 1, "n_undefined": 1,
            "n_missing": 0, "n_error": 1}  # fmt: skip
    assert counts["faithfulness"] == want
    assert (counts["token_f1"]["n"], counts["token_f1"]["n_error"]) == (3, 0)


@pytest.mark.parametrize(
    ("cites", "claims", "want"),
    [
        pytest.param("gh", [claim(cited=OK, citations="g"), claim()],
                     {"citation_validity": 1, "citation_correctness": 1,
                      "citation_completeness": 0.5, "citation_recall": 1}, id="both groups"),
        pytest.param("g!", [claim(cited="unsupported", citations="g"), claim(cited=OK, citations="g")],
                     {"citation_validity": 0.5, "citation_correctness": 0.5,
                      "citation_completeness": 1, "citation_recall": 0.5}, id="a mark of nothing"),
        pytest.param("nn", [claim()],
                     {"citation_validity": 1, "citation_correctness": NAN,
                      "citation_completeness": 0, "citation_recall": 0}, id="beside the gold"),
        pytest.param("", [claim()],
                     {"citation_validity": NAN, "citation_correctness": NAN,
                      "citation_completeness": 0, "citation_recall": 0}, id="no marks"),
        pytest.param(None, [claim()],
                     {"citation_validity": NAN, "citation_correctness": NAN,
                      "citation_completeness": NAN, "citation_recall": NAN}, id="a trace without them"),
    ],
)  # fmt: skip
def test_citations(cites, claims, want):
    row = asked([answer(cites=cites, context="ghn")], [judged(*claims)], gold=(E, F), context="ghn")
    same(measured(row), want)


def test_a_group_is_cited_by_any_of_its_evidence_and_once():
    both = [E | {"group_id": "x"}, F | {"group_id": "x"}]
    row = asked([answer(cites="gh", context="gh")], gold=both, context="gh")
    same(measured(row, UNJUDGED), {"citation_recall": 1})


def test_gold_context_cites_evidence_by_its_name():
    row = asked([], gold=(E, F)) | {
        "answers:gold_context": [answer(cites="e", context="ef", variant="gold_context")]
    }
    pipeline = Pipeline(later=CONTEXT, answers=("gold_context",))
    found = measured(row, pipeline, "gold_context")
    same(found, {"citation_recall": 0.5, "citation_validity": 1, "abstained": 0})


@pytest.mark.parametrize(
    ("verdict", "worth"),
    [("correct", 1), ("partial", 0.5), ("incorrect", 0)],
)
def test_what_a_verdict_on_an_answer_is_worth(verdict, worth):
    same(measured(asked([answer()], [judged(correctness=verdict)])), {"answer_correctness": worth})


REFUSAL = dict.fromkeys(("faithfulness", "claim_precision", "claim_recall", "citation_validity",
                         "citation_recall", "citation_completeness"), NAN)  # fmt: skip


@pytest.mark.parametrize(
    ("said", "answerable", "want"),
    [
        pytest.param(None, True, {"abstained": 1, "false_refusal": 1, "right_refusal": NAN,
                                  "abstention_accuracy": 0, "irrelevant_context": NAN,
                                  "unsupported_answer": NAN, "exact_match": 0, "token_f1": 0,
                                  "contains_reference": 0, "rouge_l": 0,
                                  "answer_correctness": 0} | REFUSAL, id="false refusal"),
        pytest.param(None, False, {"abstained": 1, "false_refusal": NAN, "right_refusal": 1,
                                   "abstention_accuracy": 1, "irrelevant_context": 1,
                                   "unsupported_answer": 0, "exact_match": NAN,
                                   "answer_correctness": NAN} | REFUSAL, id="right refusal"),
        pytest.param("the reference", True, {"abstained": 0, "false_refusal": 0,
                                             "right_refusal": NAN, "abstention_accuracy": 1,
                                             "exact_match": 1}, id="a question answered"),
        pytest.param("the reference", False, {"abstained": 0, "false_refusal": NAN,
                                              "right_refusal": 0, "abstention_accuracy": 0,
                                              "unsupported_answer": 1, "exact_match": NAN,
                                              "claim_precision": NAN, "faithfulness": 1},
                     id="an answer to a question that has none"),
    ],
)  # fmt: skip
def test_refusals(said, answerable, want):
    verdicts = [judged(claim())] if said else [judged(claims=None)]
    gold = (E,) if answerable else ()
    found = measured(asked([answer(said)], verdicts, gold=gold, answerable=answerable))
    same(found, want)
    assert found["unjudged"] == []


@pytest.mark.parametrize(
    ("context", "gold", "want"),
    [
        pytest.param("gh", (E, F), NAN, id="all of it"),
        pytest.param("gn", (E, F), NAN, id="some of it"),
        pytest.param("n", (E, F), 1, id="none of it"),
        pytest.param("", (E,), 1, id="an empty context"),
        pytest.param("n", (), NAN, id="nobody knows where it is"),
        pytest.param(
            "gh", (E | {"spans": [{"start_char": 5, "end_char": 45}]},), NAN, id="in two chunks"
        ),
    ],
)
def test_an_answer_without_evidence_in_its_context(context, gold, want):
    row = asked([answer(context=context)], gold=gold, context=context)
    same(measured(row, UNJUDGED), {"unsupported_answer": want})


def test_the_last_stage_is_the_context_of_answers_that_don_t_tell():
    row = asked([answer(context=None)], context="n")
    same(measured(row, UNJUDGED), {"unsupported_answer": 1})
    row = asked([answer(context=None)], context="", answerable=False, gold=())
    same(measured(row, UNJUDGED), {"irrelevant_context": 0, "unsupported_answer": 1})


def test_context_relevance_is_the_mean_grade_over_the_best():
    grades = [
        {"chunk_id": name, "grade": grade} for name, grade in zip("ghn", (3, 1, 0), strict=True)
    ]
    row = asked([answer(None, context="ghn")], [judged(claims=None, relevance=grades)])
    same(measured(row), {"context_relevance": 4 / 9})
    row = asked([answer(context="")], [judged(relevance=[])])
    same(measured(row), {"context_relevance": NAN})


def test_a_question_scores_the_mean_over_its_tries():
    tries = [answer("the reference", repeat=0), answer("no", repeat=1), answer(None, repeat=2)]
    verdicts = [judged(claim(), repeat=0), judged(claim(), claim(NO), repeat=1)]
    found = measured(asked(tries, verdicts))
    same(found, {"exact_match": 1 / 3, "abstained": 1 / 3, "faithfulness": 0.75})


def test_one_try_that_failed_is_an_error_of_the_question():
    tries = [answer("the reference"), answer(repeat=1, error="timed_out", abstained=None)]
    found = measured(asked(tries, [judged(claim())]))
    assert found["status"] == "error"
    assert all(math.isnan(found[name]) for name in NAMES)


@pytest.mark.parametrize(
    ("given", "status"),
    [
        pytest.param({}, "missing", id="nothing was answered"),
        pytest.param({"answers.error": "refused by the service"}, "error", id="it failed"),
        pytest.param(
            {"context.error": "boom", "context": None}, "error", id="a stage before failed"
        ),
    ],
)
def test_a_question_without_an_answer(given, status):
    assert measured(asked(None) | given, UNJUDGED)["status"] == status


def test_a_missing_answer_scores_the_worst_where_it_would_have_had_a_value():
    found = measured(asked([]), JUDGED)
    want = {"exact_match": 0, "answer_correctness": 0, "false_refusal": 1, "right_refusal": NAN,
            "abstention_accuracy": 0, "faithfulness": NAN, "citation_recall": NAN}  # fmt: skip
    same(found, want)
    found = measured(asked([], reference_answer=None, answerable=False, gold=()), JUDGED)
    same(found, {"exact_match": NAN, "false_refusal": NAN, "right_refusal": 0})


def test_closed_book_has_the_metrics_that_need_no_context():
    pipeline = Pipeline(
        answers=("answer", "closed_book"), judged=("claims", "reference", "correctness", "support")
    )
    measures = PerQuery(Metrics(), pipeline).measured
    assert set(measures["closed_book"]) == {
        *("contains_reference", "exact_match", "token_f1", "rouge_l", "answer_correctness"),
        *("claim_precision", "claim_recall", "claim_f1", "abstained"),
    }
    assert "context_relevance" not in measures["answer"]  # nobody was asked for it
    with pytest.raises(ConfigError, match="context_relevance"):
        PerQuery(Metrics(names=["context_relevance"]), pipeline)


def test_metrics_of_hits_are_not_taken_of_answers_nor_the_other_way():
    measures = PerQuery(Metrics(), UNJUDGED).measured
    assert not set(measures["context"]) & set(NAMES)
    assert set(measures["answer"]) == {n for n in NAMES if not METRICS[n].judged}


def test_rows_of_answers_say_what_each_try_was_worth():
    tries = [answer("the reference"), answer(None, repeat=1, context="n")]
    numbers = PerQuery(Metrics(names=["exact_match", "abstained"]), UNJUDGED)
    rows = numbers.answers(table([asked(tries)])).to_pylist()
    assert [list(row.values()) for row in rows] == [
        ["q", "answer", 0, "all", False, "right", 1, 0],
        ["q", "answer", 1, "none", True, None, 0, 1],
    ]


def test_answers_mean_over_all_questions_and_hits_over_the_answerable():
    rows = [asked([answer(None)], question_id="a"),
            asked([answer(None)], question_id="b", answerable=False, gold=())]  # fmt: skip
    numbers = PerQuery(Metrics(names=["abstained", "right_refusal", "hit@1"]), UNJUDGED)
    totals, questions = Totals(numbers.measured), table(rows)
    totals.add(numbers(questions), questions)
    found = {(r["stage"], r["metric"]): (r["mean"], r["n"], r["n_undefined"])
             for r in totals.aggregate().to_pylist()}  # fmt: skip
    assert found == {
        ("context", "hit@1"): (1, 1, 0),
        ("answer", "abstained"): (1, 2, 0),
        ("answer", "right_refusal"): (1, 1, 1),
    }


ROWS = st.lists(
    st.tuples(
        st.booleans(),
        st.sampled_from(["", "g", "gh", "n", None]),
        st.lists(st.sampled_from(["the reference", None, "x"]), max_size=3),
        st.lists(CLAIM, max_size=3),
    ),
    min_size=1,
    max_size=6,
)


@settings(max_examples=30)
@given(ROWS, st.randoms())
def test_any_split_and_order_gives_the_same_numbers(drawn, random):
    rows = [
        asked([answer(text, context=context, repeat=n, cites=context) for n, text in enumerate(texts)],
              [judged(*claims, repeat=n, reference_claims=[wanted()]) for n in range(len(texts))],
              question_id=f"q{number}", answerable=answerable, context=context)
        for number, (answerable, context, texts, claims) in enumerate(drawn)
    ]  # fmt: skip
    numbers = PerQuery(Metrics(), JUDGED)
    whole, every = numbers(table(rows)), numbers.answers(table(rows))
    names = [row["question_id"] for row in rows]
    for row, name in zip(rows, names, strict=True):
        alone = numbers(table([row]))
        mine = whole.filter(np.array(whole["question_id"].to_pylist()) == name)
        assert str(alone.to_pylist()) == str(mine.to_pylist())
        mine = every.filter(np.array(every["question_id"].to_pylist()) == name)
        assert str(numbers.answers(table([row])).to_pylist()) == str(mine.to_pylist())
    random.shuffle(rows)
    assert str(numbers(table(rows)).to_pylist()) == str(whole.to_pylist())


def test_an_empty_batch():
    empty = table([asked([answer()], [judged(claim())])]).slice(0, 0)
    assert PerQuery(Metrics(), JUDGED)(empty).num_rows == 0
