"""Verdicts: every rule of DESIGN §8 on one figure."""

import math

import pytest
from pydantic import ValidationError

from rayeval.errors import ConfigError
from rayeval.execution.decide.gating import read_gates
from rayeval.gates.config import Gate, Gates
from rayeval.gates.verdicts import EXIT_CODES, Measured, overall, verdict

NAN = math.nan


def seen(value, low=NAN, high=NAN, **more):
    known = {"n": 40, "clusters": 20, "coverage": 1.0, "error_rate": 0.0, **more}
    return Measured(value, low, high, **known)


def word(measured, **gate):
    stated = Gate(metric="recall@5", **gate)
    [kind] = stated.limits
    return verdict(stated, kind, "fused", measured).verdict


@pytest.mark.parametrize(
    ("gate", "value", "want"),
    [
        pytest.param({"min": 0.9}, 0.9, "pass", id="at the floor"),
        pytest.param({"min": 0.9}, 0.1 * 9, "pass", id="at the floor but for the last bit"),
        pytest.param({"min": 0.9}, 0.89, "fail", id="below the floor"),
        pytest.param({"max": 120}, 120.0, "pass", id="at the ceiling"),
        pytest.param({"max": 120}, 121.0, "fail", id="above the ceiling"),
        pytest.param({"max_drop": 0.02}, -0.02, "pass", id="as much worse as allowed"),
        pytest.param({"max_drop": 0.02}, -0.03, "fail", id="more than allowed"),
        pytest.param({"max_drop": 0.0}, 0.0, "pass", id="no drop at all, and none"),
        pytest.param({"min_gain": 0.01}, 0.02, "pass", id="better by more than asked"),
        pytest.param({"min_gain": 0.01}, 0.0, "fail", id="not better"),
        pytest.param({"max_regressed": 3}, 3.0, "pass", id="as many worse questions as allowed"),
        pytest.param({"max_regressed": 3}, 4.0, "fail", id="one more"),
        pytest.param({"max_regressed": 0, "scope": "population"}, 1.0, "fail",
                     id="counted questions are these questions in any scope"),
    ],
)  # fmt: skip
def test_the_point_decides_for_the_set(gate, value, want):
    assert word(seen(value), **gate) == want


@pytest.mark.parametrize(
    ("gate", "low", "high", "want"),
    [
        pytest.param({"min": 0.8}, 0.8, 0.9, "pass", id="all of it above the floor"),
        pytest.param({"min": 0.8}, 0.6, 0.79, "fail", id="all of it below"),
        pytest.param({"min": 0.8}, 0.7, 0.9, "inconclusive", id="the floor lies within"),
        pytest.param({"max": 100}, 80, 99, "pass", id="all of it under the ceiling"),
        pytest.param({"max": 100}, 101, 130, "fail", id="all of it over"),
        pytest.param({"max": 100}, 80, 130, "inconclusive", id="the ceiling lies within"),
        pytest.param({"max_drop": 0.02}, -0.01, 0.05, "pass", id="not inferior"),
        pytest.param({"max_drop": 0.02}, -0.2, -0.03, "fail", id="surely worse"),
        pytest.param({"max_drop": 0.02}, -0.2, 0.1, "inconclusive", id="who knows"),
        pytest.param({"min_gain": 0.02}, 0.03, 0.1, "pass", id="surely better"),
        pytest.param({"min_gain": 0.02}, -0.1, 0.01, "fail", id="surely not better by that"),
        pytest.param({"min": 0.8}, NAN, NAN, "inconclusive", id="no interval"),
    ],
)
def test_the_interval_decides_for_questions_like_these(gate, low, high, want):
    assert word(seen((low + high) / 2 if low == low else 0.9, low, high),
                scope="population", **gate) == want  # fmt: skip


@pytest.mark.parametrize(
    ("measured", "gate", "says"),
    [
        pytest.param(seen(NAN), {}, "no question", id="NaN is never a pass"),
        pytest.param(seen(1.0, n=0), {}, "no question", id="nor is an empty slice"),
        pytest.param(seen(1.0, error_rate=0.1, coverage=0.9), {}, "have an error", id="errors"),
        pytest.param(seen(1.0, coverage=0.5), {}, "have a value", id="coverage"),
        pytest.param(seen(1.0, coverage=0.97), {"min_coverage": 0.98}, "have a value",
                     id="coverage as stated"),
        pytest.param(seen(1.0, 1.0, 1.0, clusters=5), {"scope": "population"}, "5 clusters",
                     id="five clusters say nothing of others"),
        pytest.param(seen(1.0, obstacle="no baseline"), {}, "no baseline", id="an obstacle"),
    ],
)  # fmt: skip
def test_what_is_inconclusive_whatever_the_figure(measured, gate, says):
    gate = Gate(metric="recall@5", min=0.5, **gate)
    found = verdict(gate, "min", "fused", measured)
    assert found.verdict == "inconclusive"
    assert says in found.reason
    assert overall([found]) == "inconclusive"
    assert EXIT_CODES["inconclusive"] == 3


def test_errors_within_what_is_allowed_pass():
    assert word(seen(0.9, error_rate=0.1, coverage=0.9), min=0.5, max_error_rate=0.1) == "pass"


def test_a_warning_blocks_nothing_and_a_failure_everything():
    warned = verdict(Gate(metric="m@1", min=1, on_inconclusive="warn"), "min", "s", seen(NAN))
    failed = verdict(Gate(metric="m@1", min=1), "min", "s", seen(0.5))
    unclear = verdict(Gate(metric="m@1", min=1), "min", "s", seen(NAN))
    assert overall([warned]) == "pass"
    assert overall([warned, unclear]) == "inconclusive"
    assert overall([unclear, failed, warned]) == "fail"
    assert overall([]) == "pass"


def test_each_limit_is_a_verdict_of_its_own():
    gate = Gate(metric="recall@5", min=0.5, max_drop=0.01, max_regressed=0)
    assert list(gate.limits) == ["min", "max_drop", "max_regressed"]


def test_the_flat_form_is_the_full_one():
    flat = Gates.model_validate(
        {
            "quality_gates": {"recall@20": {"min": 0.9, "max_drop_vs_main": 0.005}},
            "performance_gates": {"latency_ms.p95": {"stage": "retrieval", "max": 120}},
        }
    )
    full = Gates.model_validate(
        {
            "gates": [
                {"metric": "recall@20", "min": 0.9, "max_drop": 0.005},
                {"metric": "latency_ms.p95", "stage": "retrieval", "max": 120},
            ]
        }
    )
    assert flat == full


def test_the_flat_form_beside_an_empty_full_one():
    flat = {"quality_gates": {"recall@20": {"min": 0.9}}}
    assert Gates.model_validate({"gates": None, **flat}) == Gates.model_validate(flat)


@pytest.mark.parametrize(
    "wrong",
    [
        pytest.param({"gates": []}, id="no gate"),
        pytest.param({"gates": [{"metric": "recall@5"}]}, id="no limit"),
        pytest.param({"gates": [{"metric": "recall@5", "mim": 0.9}]}, id="a typo"),
        pytest.param({"gates": [{"metric": "recall@5", "min": NAN}]}, id="NaN as a limit"),
        pytest.param({"gates": [{"metric": "recall@5", "max_drop": -0.1}]}, id="a drop below 0"),
        pytest.param({"quality_gates": {"recall@5": 0.9}}, id="a limit without its kind"),
        pytest.param({"quality_gates": [0.9]}, id="no mapping"),
        pytest.param({"gates": "x", "quality_gates": {"recall@5": {"min": 1}}}, id="no list"),
        pytest.param({"gates": [{"metric": "recall@5", "min": True}]}, id="yes as a limit"),
        pytest.param(
            {"gates": [{"metric": "recall@5", "max_regressed": True}]}, id="yes as a count"
        ),
        pytest.param(None, id="an empty file"),
    ],
)
def test_what_is_no_file_of_gates(wrong):
    with pytest.raises(ValidationError):
        Gates.model_validate(wrong)


FILE = """\
gates:
  - {metric: recall@5, min: 0.8}
  - {metric: recall@5, minimum: 0.3, stge: context}
  - {metric: recall@5}
  - {metric: recall@5, min: yes, scope: sett}
  - recall@5
quality_gates:
  mrr@10: 0.5
  hit@1: {max_drop_vs_main: x}
performance_gates: 7
gatess: 3
"""


def test_everything_wrong_with_a_file_is_said_at_once_where_it_stands(tmp_path):
    path = tmp_path / "gates.yaml"
    path.write_text(FILE)
    with pytest.raises(ConfigError) as error:
        read_gates(str(path))
    found = [line.removeprefix(f"{path}:") for line in str(error.value).split("\n")]
    assert found[0].startswith("3: gates[1].minimum: unknown key; did you mean min?; a gate takes "
                               "name, metric, stage, slice, min, max,")  # fmt: skip
    assert found[1:] == [
        "3: gates[1].stge: unknown key; did you mean stage?",
        "4: gates[2]: a gate on recall@5 without a limit; give it min, max, max_drop, min_gain or "
        "max_regressed",
        "5: gates[3].min: expected a number, found true",
        "5: gates[3].scope: expected 'set' or 'population', found 'sett'",
        "6: gates[4]: expected a gate such as {metric: recall@5, min: 0.8}, found 'recall@5'",
        "8: quality_gates.mrr@10: expected limits such as {min: 0.8}, found 0.5",
        "9: quality_gates.hit@1.max_drop_vs_main: expected a number, found 'x'",
        "10: performance_gates: expected metrics, each with limits such as {min: 0.8}, found 7",
        "11: gatess: unknown key; did you mean gates?; a file of gates takes gates, quality_gates, "
        "performance_gates",
    ]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        pytest.param("", "expected `gates:`, a list of gates such as", id="an empty file"),
        pytest.param("gates: []", ":1: gates: expected at least one gate", id="no gate"),
        pytest.param("gates: 5", ":1: gates: expected a list of gates, found 5", id="no list"),
    ],
)
def test_a_file_without_gates(tmp_path, text, says):
    path = tmp_path / "gates.yaml"
    path.write_text(text)
    with pytest.raises(ConfigError) as error:
        read_gates(str(path))
    assert says in str(error.value)
