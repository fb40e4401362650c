"""Every metric against the plain reference, on random questions."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from metrics_batches import CONTEXT, evidence, hits, place, question, table
from metrics_reference import Question

from rayeval.metrics.config import Metrics
from rayeval.metrics.names import METRICS, parse
from rayeval.metrics.per_query import PerQuery

SOURCES = st.sampled_from(["d", "e", "문서"])
REVISIONS = st.sampled_from(["1", None])


@st.composite
def span_lists(draw, *, least=1):
    """Sorted, disjoint, none empty; possibly touching."""
    points = sorted(draw(st.sets(st.integers(0, 24), min_size=2 * least, max_size=6)))
    pairs = list(zip(points[::2], points[1::2], strict=False))
    return [(a, b) for a, b in pairs if draw(st.booleans())] or pairs[:least]


@st.composite
def evidences(draw, number):
    found = draw(st.sampled_from(["located"] * 8 + ["missing_source", "missing_revision"]))
    visible = draw(st.integers(0, 5)) > 0
    pairs = [] if found != "located" else draw(span_lists())
    if found == "located" and draw(st.integers(0, 7)) == 0:
        pairs = []  # a whole document of unknown length
    return evidence(
        f"e{number}",
        *pairs,
        group_id=draw(st.sampled_from(["a", "b", "c", "가"])),
        source_id=draw(SOURCES),
        revision_id=draw(REVISIONS),
        relevance=draw(st.integers(0, 3)),
        found=found,
        visible=visible,
        whole=draw(st.integers(0, 4)) == 0,
        needs=draw(span_lists()) if draw(st.integers(0, 5)) == 0 and pairs else [],
    )


@st.composite
def questions(draw, question_id="q", stages=("s",)):
    passages = [
        place(
            f"c{number}",
            *([] if draw(st.integers(0, 9)) == 0 else draw(span_lists())),
            source_id=draw(SOURCES),
            revision_id=draw(REVISIONS),
            tokens=draw(st.integers(0, 5)),
        )
        for number in range(draw(st.integers(0, 7)))
    ]
    ids = [passage["chunk_id"] for passage in passages]
    rankings = {
        s: hits(draw(st.lists(st.sampled_from(ids), unique=True)) if ids else []) for s in stages
    }
    return question(
        question_id,
        labels=draw(st.sampled_from(["partial", "partial", "complete"])),
        evidence=[draw(evidences(n)) for n in range(draw(st.integers(0, 5)))],
        passages=passages,
        **rankings,
    )


CUTOFFS = [1, 2, 3, 5, "4tok", "9tok"]


@pytest.mark.parametrize("gain", ["exponential", "linear"])
@pytest.mark.parametrize(("full", "partial"), [("0.8", "0.2"), ("0.5", "0.1"), ("1.0", "1.0")])
@settings(max_examples=50, deadline=None)
@given(rows=st.lists(questions(), max_size=3))
def test_every_metric_is_what_the_definitions_say(gain, full, partial, rows):
    rows = [row | {"question_id": f"q{number}"} for number, row in enumerate(rows)]
    config = Metrics(full=float(full), partial=float(partial), gain=gain, cutoffs=CUTOFFS)
    result = PerQuery(config, CONTEXT)(table(rows or [question(s=[])])).to_pylist()
    for row, got in zip(rows, result, strict=False):
        asked = Question(row, "s", full, partial)
        for name in list(got)[3:]:
            measure = parse(name)
            if measure.cutoff is None:
                want = getattr(asked, name)()
            else:
                at = measure.cutoff
                want = asked.value(measure.metric.name, at.size, at.tokens, gain)
            assert got[name] == pytest.approx(want, abs=1e-12, nan_ok=True), (name, row)
            high = METRICS[measure.metric.name].high
            assert math.isnan(got[name]) or 0 <= got[name] <= (math.inf if high is None else high)
