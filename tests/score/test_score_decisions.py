"""Decisions about scored runs: what can't be compared is refused, what failed has no time."""

import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from rayeval.errors import ConfigError, PairingError, RunError
from rayeval.execution.decide.baselines import LOG, promote, promotions
from rayeval.execution.decide.comparison import (
    Options,
    compare_runs,
    load_comparison,
    write_comparison,
)
from rayeval.execution.decide.gating import judge
from rayeval.gates.config import Gates

GOLDEN = [
    {
        "question_id": f"q{n}",
        "question": "?",
        "evidence": [{"source_id": "B", "relevance": 2 + n % 2}],
    }
    for n in range(8)
]


def trace(stage="search", failed=0, absent=0):
    """Answers in 5 ms, but for the first questions, which end in an error or never came."""
    rows = [
        {"question_id": f"q{n}", "stages": {stage: {"hits": [{"source_id": "B"}], "latency_ms": 5}}}
        for n in range(8)
    ]
    broken = [{"question_id": f"q{n}", "error": "timed out"} for n in range(failed)]
    return [*broken, *rows[failed + absent :]]


def words(run, base=None, **gate):
    gates = Gates.model_validate({"gates": [{"stage": "search", **gate}]})
    return [verdict.verdict for verdict in judge(gates, run, base).verdicts]


@pytest.mark.parametrize("wrong", [{"failed": 6}, {"absent": 6}])
def test_the_time_of_the_few_that_came_back_decides_nothing(scored, wrong):
    sound, run = scored(GOLDEN, trace()), scored(GOLDEN, trace(**wrong))
    fast = {"metric": "latency_ms.p95", "max": 10}
    assert words(sound, **fast) == ["pass"]
    assert words(run, **fast) == ["inconclusive"]
    assert words(run, **fast, min_coverage=0.2, max_error_rate=0.8) == ["pass"]
    for base, new in ((sound, run), (run, sound)):
        assert words(new, base, metric="latency_ms.p95", max_drop=10) == ["inconclusive"]


def test_a_stage_without_times_is_inconclusive(scored):
    rows = [{"question_id": "q0", "stages": {"search": {"hits": [{"source_id": "B"}]}}}]
    assert words(scored(GOLDEN, rows), metric="latency_ms.p95", max=10) == ["inconclusive"]


def test_the_same_metric_by_other_definitions(scored):
    base, new = (scored(GOLDEN, trace(), relevant=n, metrics=["recall@1"]) for n in (2, 1))
    with pytest.raises(PairingError, match=r"relevant: 2 → 1.*--allow metrics"):
        compare_runs(base, new, Options())
    with pytest.raises(PairingError, match="relevant: 2 → 1"):
        words(new, base, metric="recall@1", max_drop=0)
    assert compare_runs(base, new, Options(allow=("metrics",))).facts["warnings"]


def test_a_gate_against_another_golden_set(scored):
    base = scored(GOLDEN, trace())
    other = [{**row, "question": "!"} for row in GOLDEN]
    gates = Gates.model_validate({"gates": [{"metric": "recall@1", "max_drop": 0}]})
    new = scored(other, trace())
    with pytest.raises(PairingError, match="golden set is another version"):
        judge(gates, new, base)
    assert judge(gates, new, base, allow=("golden",)).verdict == "pass"


def test_other_cutoffs_are_no_other_definitions(scored):
    base, new = (scored(GOLDEN, trace(), cutoffs=[1, n]) for n in (2, 3))
    [warning] = compare_runs(base, new, Options()).facts["warnings"]
    assert "down to rank 2" in warning  # not that anything is measured otherwise


def test_runs_without_a_common_stage_say_so(scored):
    base, new = (scored(GOLDEN, trace(stage), metrics=["hit@1"]) for stage in ("search", "find"))
    found = compare_runs(base, new, Options())
    assert found.deltas.is_empty()
    assert "share no stage" in found.facts["warnings"][0]
    assert "share no stage" in str(found)


def test_a_metric_that_the_runs_lack(scored):
    run = scored(GOLDEN, trace(), metrics=["hit@1"])
    with pytest.raises(ConfigError, match=r"--metrics: 'hti@1' is not known; .*'hit@1'"):
        compare_runs(run, run, Options(metrics=["hti@1"]))


@pytest.mark.parametrize("damage", [b"\xff\n", b"{}\n", b"[]\n", b"\n\n"])
def test_a_damaged_log_of_baselines_is_named(scored, damage):
    run = scored(GOLDEN, trace())
    runs = str(Path(run.path).parent)
    (Path(runs) / LOG).write_bytes(damage)
    with pytest.raises(RunError, match=r"baselines\.jsonl is damaged"):
        promote(run, "main", runs)


def test_a_name_with_a_line_separator_is_one_line_of_the_log(scored, monkeypatch):
    run = scored(GOLDEN, trace())
    runs = str(Path(run.path).parent)
    monkeypatch.setattr("getpass.getuser", lambda: "one\u2028two\x85")
    promote(run, "main", runs)
    promote(run, "main", runs)
    assert [each.by for each in promotions(runs)] == ["one\u2028two\x85"] * 2


def test_of_promotions_at_once_none_is_forgotten(scored, monkeypatch):
    run = scored(GOLDEN, trace())
    runs = str(Path(run.path).parent)
    read = promotions

    def slowly(folder):
        log = read(folder)
        time.sleep(0.05)
        return log

    monkeypatch.setattr("rayeval.execution.decide.baselines.promotions", slowly)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda n: promote(run, f"n{n}", runs), range(4)))
    assert len(read(runs)) == 4


@pytest.mark.parametrize("facts", ["[]", "null", '{"base": 1, "new": 2}'])
def test_a_comparison_whose_facts_are_none(scored, facts):
    run = scored(GOLDEN, trace())
    runs = str(Path(run.path).parent)
    written = write_comparison(compare_runs(run, run, Options()), runs)
    (Path(written.path) / "comparison.json").write_text(facts)
    with pytest.raises(RunError):
        load_comparison(written.comparison_id, runs)


def test_questions_that_a_trace_did_not_time_lower_the_coverage(scored):
    rows = trace()
    for row in rows[:3]:
        del row["stages"]["search"]["latency_ms"]
    run, gate = scored(GOLDEN, rows), {"metric": "latency_ms.p95", "max": 10}
    assert words(run, **gate) == ["inconclusive"]
    assert words(run, **gate, min_coverage=0.6) == ["pass"]
    assert words(scored(GOLDEN, trace()), run, metric="latency_ms.p95", max_drop=10) == [
        "inconclusive"
    ]


def hardware(run, **changes):
    run.manifest["hardware"] = {**run.manifest["hardware"], **changes}
    return run


def test_latency_of_other_hardware_counts_only_where_it_is_allowed(scored):
    base, new = scored(GOLDEN, trace()), hardware(scored(GOLDEN, trace()), cores=512)
    gates = Gates.model_validate(
        {"gates": [{"metric": "latency_ms.p50", "stage": "search", "max_drop": 1}]}
    )
    [refused] = judge(gates, new, base).verdicts
    assert (refused.verdict, refused.reason) == (
        "inconclusive",
        "the two runs were timed on different hardware",
    )
    [told] = judge(gates, new, base, allow=("hardware",)).verdicts
    assert told.verdict == "pass"
    assert compare_runs(base, new, Options()).latency.is_empty()
    assert compare_runs(base, new, Options(allow=("hardware",))).latency.height == 3


@pytest.mark.parametrize(
    ("metrics", "refused"),
    [
        pytest.param(["recall@1200tok"], "recall@1200tok count tokens", id="a budget"),
        pytest.param(["context_tokens", "recall@5"], "context_tokens count tokens", id="tokens"),
        pytest.param(["recall@5"], None, id="nothing in tokens"),
    ],
)
def test_token_budgets_of_other_tokenizers(scored, metrics, refused):
    hits = {"hits": [{"source_id": "X", "text": "b c"}], "latency_ms": 5}
    rows = [{"question_id": f"q{n}", "stages": {"context": hits}} for n in range(8)]
    base, new = (scored(GOLDEN, rows, metrics=metrics) for _ in range(2))
    assert compare_runs(base, new, Options()).facts["warnings"] == []
    new.manifest["tokenizer"] = {**new.manifest["tokenizer"], "kind": "hf", "sha256": "abc"}
    if refused is None:
        assert compare_runs(base, new, Options()).facts["warnings"] == []
        return
    with pytest.raises(PairingError, match=rf"{refused}.*--allow tokenizer"):
        compare_runs(base, new, Options())
    [warning] = compare_runs(base, new, Options(allow=("tokenizer",))).facts["warnings"]
    assert "tokenizer is another" in warning


def test_what_may_be_allowed_is_one_of_the_kinds(scored):
    import rayeval

    run = scored(GOLDEN, trace())
    with pytest.raises(ConfigError, match="allow is 'hardwear'; expected one of 'golden'"):
        rayeval.compare(run, run, allow=["hardwear"])


FOUND = ["x", "y", "z", "B", "w"]


@pytest.mark.parametrize("swap", [False, True])
def test_lists_kept_to_different_depths_are_compared_to_the_shorter(scored, swap):
    hits = {"search": {"hits": [{"source_id": name} for name in FOUND]}}
    rows = [{"question_id": f"q{n}", "stages": hits} for n in range(8)]
    runs = [scored(GOLDEN, rows, metrics=[name]) for name in ("recall@2", "recall@5")]
    base, new = runs[::-1] if swap else runs
    found = compare_runs(base, new, Options(allow=("metrics",)))
    moves = found.whole.moves
    assert moves.select("base", "new", "moved", "n").rows() == [(None, None, "absent", 8)]
    assert found.unjudged.is_empty()
    assert any("down to rank 2" in warning for warning in found.facts["warnings"])


def test_lists_kept_to_the_same_depth_are_compared_whole(scored):
    rows = [[{"source_id": name} for name in names] for names in (FOUND, FOUND[1:])]
    traces = [
        [{"question_id": f"q{n}", "stages": {"search": {"hits": hits}}} for n in range(8)]
        for hits in rows
    ]
    found = compare_runs(*(scored(GOLDEN, one, metrics=["recall@3"]) for one in traces), Options())
    assert found.whole.moves.select("base", "new", "moved").rows() == [(None, 3, "entered")]
    assert not any("down to rank" in warning for warning in found.facts["warnings"])
