"""Two scored traces of which one lacks questions: what is missing is not lost at a stage."""

import pytest

import rayeval
from rayeval.cli.main import main
from rayeval.execution.decide.comparison import Options, compare_runs

GOLDEN = [{"question_id": f"q{n}", "question": "?", "evidence": [{"source_id": f"s{n}"}],
           "slices": ["all"]} for n in range(6)]  # fmt: skip


def trace(*numbers, **other):
    """Of these questions, all with their gold; `other`: what a question has instead."""
    rows = {f"q{n}": {"stages": {stage: {"hits": [{"source_id": f"s{n}"}]} for stage in ("bm25", "fused")}}
            for n in numbers} | other  # fmt: skip
    return [{"question_id": name, **row} for name, row in rows.items()]


@pytest.fixture
def run(scored):
    """The run of a trace."""
    return lambda rows, **how: scored(GOLDEN, rows, metrics=["recall@5"], **how)


def test_what_the_new_trace_lacks_is_missing_everywhere(run, tmp_path):
    before, after = run(trace(*range(6))), run(trace(0, 1, 2))
    found = rayeval.compare(after, before)
    text = str(found)
    assert text.startswith(
        "Hold: all questions lost 3 of 6, all missing in the new run: q3, q4, q5"
    )
    assert "at bm25: q3" not in text
    ends = found.transitions.filter(question_id="q3").row(0, named=True)
    assert (ends["after"], ends["stage_after"]) == ("missing", None)
    [said] = [line for line in found.facts["warnings"] if "missing" in line]
    assert said == (
        "3 of 6 questions are missing in the trace of the new run and count as the worst: q3, q4, "
        "q5; `--on shared` leaves out what either trace lacks"
    )


@pytest.mark.parametrize("poisson", [False, True])
def test_on_shared_leaves_out_what_either_trace_lacks(run, poisson):
    before, after = run(trace(*range(1, 6))), run(trace(0, 1, 2))
    found = compare_runs(before, after, Options(shared=True, poisson=poisson))
    assert found.transitions["question_id"].to_list() == ["q1", "q2"]
    delta = found.deltas.filter(stage="fused", metric="recall@5").row(0, named=True)
    assert (delta["n"], delta["mean"]) == (2, 0)
    assert (found.facts["only_base"], found.facts["only_new"]) == (["q3", "q4", "q5"], ["q0"])
    assert str(found).startswith("No difference: 2 questions end as before")


def test_without_it_they_count_as_the_worst(run):
    found = rayeval.compare(run(trace(0, 1, 2)), run(trace(*range(6))))
    delta = found.deltas.filter(stage="fused", metric="recall@5").row(0, named=True)
    assert (delta["n"], delta["mean"]) == (6, -0.5)


def test_of_some_stages_missing_is_said_with_the_stage(run):
    part = {f"q{n}": {"stages": {"bm25": {"hits": [{"source_id": f"s{n}"}]}}} for n in (3, 4)}
    found = rayeval.compare(run(trace(0, 1, 2, 5, **part)), run(trace(*range(6))))
    assert str(found).startswith("Hold: all questions lost 2 of 6, all missing at fused: q3, q4")


def test_an_error_is_said_as_one(run):
    part = {f"q{n}": {"stages": {"bm25": {"error": "down"}}} for n in (3, 4)}
    found = rayeval.compare(run(trace(0, 1, 2, 5, **part)), run(trace(*range(6))))
    assert str(found).startswith("Hold: all questions lost 2 of 6, all with an error at bm25: q3")


def test_the_page_says_missing_at_no_stage(run, tmp_path, capsys):
    before, after = run(trace(*range(6))), run(trace(0, 1, 2))
    with pytest.raises(SystemExit, match="0"):
        main(
            ["compare", after.run_id, "--baseline", before.run_id, "--runs", str(tmp_path / "runs")]
        )
    [folder] = (tmp_path / "runs" / "comparisons").iterdir()
    page = (folder / "report.html").read_text()
    assert "all missing in the new run" in page
    assert "all missing in the new run" in (folder / "comparison.md").read_text()
    new = page.partition('"lostAt":')[2].partition('"lostAt":')[2]
    assert '"bm25"' not in new.partition("}")[0]
