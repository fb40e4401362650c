"""Gates on the times of a scored trace."""

import pytest

import rayeval
from rayeval.comparison.measure import figure, stage_of
from rayeval.comparison.pairs import pair
from rayeval.gates.config import Gate

GOLDEN = [{"question_id": "q", "question": "?", "evidence": [{"source_id": "B"}]}]


def trace(**times):
    hits = [{"source_id": "B"}]
    return [{"question_id": "q", "stages": {
        stage: {"hits": hits, **({} if ms is None else {"latency_ms": ms})}
        for stage, ms in times.items()}}]  # fmt: skip


def obstacle(run, base=None, **limits):
    gate = Gate(metric="latency_ms.p95", **limits)
    [kind] = gate.limits
    return figure(gate, kind, stage_of(gate, run), run, base and pair(base, run), 42).obstacle


@pytest.mark.parametrize("stage", ["retrieval", None])
def test_a_sum_that_a_trace_lacks_names_the_stages_with_times(scored, stage):
    run = scored(GOLDEN, trace(bm25=1.0, fused=2.0, reranked=None))
    assert obstacle(run, stage=stage, max=9) == (
        f"the trace gives no `latency_ms` at {stage or 'end_to_end'}; a trace is timed by stage, "
        "this one at bm25, fused: name one of these"
    )
    assert not obstacle(run, stage="fused", max=9)


def test_a_trace_without_times_says_so(scored):
    run = scored(GOLDEN, trace(bm25=None))
    assert obstacle(run, stage="bm25", max=9) == (
        "the trace gives no `latency_ms` at bm25, nor at any stage: record it where the pipeline "
        "does its work"
    )


def test_the_side_without_times_is_named(scored):
    run, base = scored(GOLDEN, trace(a=1.0, b=1.0)), scored(GOLDEN, trace(a=None, b=1.0))
    said = obstacle(run, base, stage="a", max_drop=9)
    assert said.startswith("the trace of the baseline gives no `latency_ms` at a; ")
    assert said.endswith("this one at b: name one of these")
    assert obstacle(base, run, stage="a", max_drop=9).startswith("the trace gives no `latency_ms`")


def test_a_search_function_is_a_trace_too(tmp_path):
    golden = [{"question": "?", "evidence": [{"quote": "x"}]}]
    run = rayeval.evaluate(lambda q: ["x"], golden=golden, k=1, runs=tmp_path)
    assert "this one at search: name one" in obstacle(run, stage="retrieval", max=9)
