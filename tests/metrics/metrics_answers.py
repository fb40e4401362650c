"""Answers and verdicts from plain Python values, for the tests of `rayeval.metrics.answers`."""

from metrics_batches import evidence, hits, place, question, table

from rayeval.metrics.config import Metrics
from rayeval.metrics.failure.first_failure import FirstFailure
from rayeval.metrics.names import METRICS
from rayeval.metrics.per_query import PerQuery
from rayeval.metrics.pipeline import Later, Pipeline

TASKS = ("claims", "support", "reference", "correctness", "citations", "relevance")
NAMES = [m.name for m in METRICS.values() if m.stage == "answer"]
CONTEXT = (Later("context", "context"),)
JUDGED = Pipeline(later=CONTEXT, answers=("answer",), judged=TASKS)
UNJUDGED = Pipeline(later=CONTEXT, answers=("answer",))

# Gold [10, 20) lies in chunk g, [30, 40) in h; n holds neither.
PLACES = [place("g", (0, 25)), place("h", (25, 45)), place("n", (70, 99))]
E, F = evidence("e", (10, 20)), evidence("f", (30, 40))


def answer(text="an answer", *, cites="", context="g", repeat=0, variant="answer", **given):
    """An answer; None is a refusal. cites: chunk ids, `!` for a mark that names nothing; None:
    nobody says what it cites."""
    marks = None if cites is None else [
        {"mark": f"E{n}", "chunk_id": None if name == "!" else name} for n, name in enumerate(cites)
    ]  # fmt: skip
    base = {"variant": variant, "repeat": repeat, "answer": text, "abstained": text is None}
    return (
        base | {"citations": marks, "context": None if context is None else list(context)} | given
    )


def claim(support="supported", reference="supported", cited=None, citations="", chunks="g"):
    there = list(chunks) if support == "supported" else []
    return {
        "text": "a claim",
        "citations": list(citations),
        "support": support,
        "chunks": there,
        "reference": reference,
        "cited": cited,
    }


def wanted(answer="supported", context="supported", chunks="g"):
    there = list(chunks) if context == "supported" else []
    return {"text": "a fact", "answer": answer, "context": context, "chunks": there}


def judged(*claims, repeat=0, variant="answer", outcome="ok", **given):
    base = {"variant": variant, "repeat": repeat, "claims": list(claims)}
    return base | {"outcomes": [{"task": "claims", "outcome": outcome}]} | given


def asked(answers, verdicts=None, *, context="g", gold=(E,), **given):
    """A question whose context are the chunks `context`, its answers, and verdicts on them."""
    base = {"evidence": list(gold), "passages": PLACES, "context": hits(context)}
    base |= {"reference_answer": "the reference", "answers": answers, "judged": verdicts}
    return question(**base | given)


def measured(row, pipeline=JUDGED, stage="answer"):
    """The row of per_query of one question."""
    result = PerQuery(Metrics(), pipeline)(table([row])).to_pylist()
    return next(one for one in result if one["stage"] == stage)


def failure(row, pipeline=JUDGED):
    (result,) = FirstFailure(pipeline, full=0.8)(table([row])).to_pylist()
    return result
