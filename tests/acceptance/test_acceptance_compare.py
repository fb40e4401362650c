"""Two runs through the commands, on figures that can be counted by hand."""

import json
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import polars as pl
import pytest
import yaml
from acceptance_project import QUERY, command, project, ranked

import rayeval

GATES = """
gates:
  - {name: floor, stage: bm25, metric: recall@5, min: 0.2}
  - {name: no loss, stage: bm25, metric: recall@5, max_drop: 0.01}
  - {name: nobody worse, stage: bm25, metric: recall@5, max_regressed: 0}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """Eight questions whose gold stands at ranks 1 … 8, kept to depth 20 and to depth 2."""
    place = tmp_path_factory.mktemp("compare")
    questions = [
        {"question_id": f"q-{name}", "question": QUERY, "evidence": [{"source_id": name}],
         "slices": ["late"] if name > "B" else []}
        for name in "ABCDEFGH"
    ]  # fmt: skip
    config = project(place, ranked(*"ABCDEFGH"), questions, metrics={"cutoffs": [5]})
    for number, depth in enumerate((20, 2)):
        said = command("run", config, "--runs", place / "runs", "--set", f"name=n{number}", "--set",
                       f"retrieve.arms.bm25.depth={depth}")  # fmt: skip
        assert said.code == 0, said.err
    return place


def runs_of(folder: Path) -> list[str]:
    found = command("runs", "list", "--runs", folder / "runs").json["runs"]
    return [row["run_id"] for row in sorted(found, key=lambda row: row["name"])]


@pytest.fixture(scope="module")
def compared(folder):
    base, new = runs_of(folder)
    said = command("compare", new, "--baseline", base, "--runs", folder / "runs")
    assert said.code == 0, said.err
    return said.json


def test_the_difference_is_that_of_the_questions(compared):
    """Of the ranks 1 … 5 that recall@5 counts, depth 2 loses 3: 3 questions of 8."""
    delta = compared["deltas"]["bm25"]["recall@5"]
    assert delta["mean"] == pytest.approx(-3 / 8)
    assert (delta["n"], delta["clusters"]) == (8, 8)
    assert delta["low"] < -3 / 8 < delta["high"] < 0.5
    assert 0 < delta["p"] <= 1
    assert set(delta) == {"mean", "low", "high", "p", "n", "clusters"}


def test_every_question_is_in_one_transition(compared):
    assert compared["transitions"] == {"success → SPARSE_OUTRANKED": 6, "success → success": 2}


def test_what_changed_is_said_in_words(compared):
    assert compared["changed"] == ["retrieve.arms.bm25.depth: 20 → 2"]
    assert not any("more than one thing" in line for line in compared["warnings"])


def test_the_comparison_lies_beside_the_runs(folder, compared):
    place = Path(compared["path"])
    assert place.parent == folder / "runs" / "comparisons"
    table = pl.read_parquet(place / "deltas.parquet")
    late = table.filter(slice="late", stage="bm25", metric="recall@5").to_dicts()[0]
    assert (late["mean"], late["n"], late["regressed"]) == (pytest.approx(-3 / 6), 6, 3)
    assert late["p_holm"] >= late["p"]
    moved = pl.read_parquet(place / "transitions.parquet").filter(question_id="q-C")
    assert moved.select("before", "after").row(0) == ("success", "SPARSE_OUTRANKED")


def test_twice_gives_the_same_bytes(folder, compared):
    place = Path(compared["path"])
    before = {p.name: p.read_bytes() for p in place.iterdir()}
    base, new = runs_of(folder)
    command("compare", new, "--baseline", base, "--runs", folder / "runs")
    assert {p.name: p.read_bytes() for p in place.iterdir()} == before


def test_the_python_api_says_the_same(folder, compared):
    base, new = (rayeval.load(name, folder / "runs") for name in runs_of(folder))
    found = rayeval.compare(new, base)
    assert found.summary()["deltas"] == compared["deltas"]
    assert "-0.375" in str(found)
    assert max(map(len, str(found).splitlines())) <= 100


def test_a_run_against_itself_differs_in_nothing(folder):
    base, _ = runs_of(folder)
    said = command("compare", base, "--baseline", base, "--runs", folder / "runs")
    found = [d for metrics in said.json["deltas"].values() for d in metrics.values()]
    assert {d["mean"] for d in found if d["n"]} == {0.0}
    assert {d["p"] for d in found if d["n"]} == {1.0}


def test_gates_with_their_exit_codes(folder):
    base, new = runs_of(folder)
    (folder / "gates.yaml").write_text(GATES)
    said = command("gate", new, "--gates", folder / "gates.yaml", "--baseline", base, "--runs",
                   folder / "runs")  # fmt: skip
    assert said.code == 1
    verdicts = {gate["name"]: (gate["verdict"], gate["value"]) for gate in said.json["gates"]}
    assert verdicts == {
        "floor": ("pass", pytest.approx(2 / 8)),
        "no loss": ("fail", pytest.approx(-3 / 8)),
        "nobody worse": ("fail", 3.0),
    }
    assert all(0 <= gate["low"] <= gate["high"] <= 1 for gate in said.json["gates"][:1])
    suite = ET.parse(Path(said.json["path"]) / "junit.xml").getroot()
    assert (suite.get("tests"), suite.get("failures")) == ("3", "2")
    assert json.loads((Path(said.json["path"]) / "gates.json").read_text())["verdict"] == "fail"


@pytest.mark.parametrize(
    ("gate", "code", "says"),
    [
        pytest.param("metric: recall@5, min: 0.2", 0, "", id="met"),
        pytest.param("metric: recall@5, max_drop: 0.1", 3, "--baseline", id="without a baseline"),
        pytest.param("metric: recall@5, slice: none, min: 0.1", 3, "no question", id="no slice"),
        pytest.param("metric: recall@5, slice: none, min: 0.1, on_inconclusive: warn", 0,
                     "no question", id="no slice, as a warning"),
        pytest.param("metric: latency_ms.p95, stage: retrieval, max: 9", 3, "timed alone",
                     id="batched times decide nothing"),
        pytest.param("metric: recal@5, min: 0.1", 2, "recall@5", id="a typo"),
        pytest.param("metric: recall@5, stage: bm52, min: 0.1", 2, "bm25", id="no such stage"),
        pytest.param("metric: recall@5", 2, "without a limit", id="no limit"),
        pytest.param("metric: recall@5, max: 0.9, scope: population", 0, "", id="surely met"),
        pytest.param("metric: recall@5, min: 0.3, scope: population", 3, "within the interval",
                     id="who knows"),
    ],
)  # fmt: skip
def test_one_gate(folder, gate, code, says):
    _, new = runs_of(folder)
    (folder / "one.yaml").write_text(f"gates: [{{{gate}}}]")
    said = command("gate", new, "--gates", folder / "one.yaml", "--runs", folder / "runs")
    assert said.code == code
    assert says in json.dumps(said.json)


def test_every_gate_on_what_the_run_has_not_is_named_at_once(folder):
    _, new = runs_of(folder)
    gates = ["recal@5", "recall@5, stage: bm52", "recall@5, slice: nope", "latency_ms", "recall@5"]
    lines = [f"  - {{metric: {gate}, min: 0.1}}" for gate in gates]
    (folder / "many.yaml").write_text("\n".join(["gates:", *lines]))
    said = command("gate", new, "--gates", folder / "many.yaml", "--runs", folder / "runs")
    assert said.code == 2
    found = said.json["error"]["message"].split("\n")
    begin = f"{folder}/many.yaml"
    assert [line.removeprefix(begin)[:3] for line in found] == [":2:", ":3:", ":5:", ":4:"]
    for line, says in zip(found, ("'recall@5'", "'bm25'", "latency_ms.p95", "'nope'"), strict=True):
        assert says in line


def test_a_baseline_by_name_and_back(folder):
    base, new = runs_of(folder)
    runs = folder / "runs"
    assert command("runs", "promote", base, "--as", "main", "--runs", runs).json["was"] is None
    assert command("compare", new, "--baseline", "main", "--runs", runs).code == 0
    assert command("runs", "promote", new, "--as", "main", "--runs", runs).json["was"] == base
    names = {row["run_id"]: row["names"] for row in
             command("runs", "list", "--runs", runs).json["runs"]}  # fmt: skip
    assert names == {base: [], new: ["main"]}
    assert len((runs / "baselines.jsonl").read_text().splitlines()) == 2
    unknown = command("compare", new, "--baseline", "maim", "--runs", runs)
    assert unknown.code == 2
    assert "main" in unknown.json["error"]["message"]


def test_other_questions_and_another_golden_set_are_refused(folder, tmp_path):
    base, _ = runs_of(folder)
    golden = (folder / "golden.jsonl").read_text().splitlines()
    (folder / "fewer.jsonl").write_text("\n".join(golden[1:]) + "\n")
    config = folder / "rayeval.yaml"
    runs = tmp_path / "runs"
    made = command("run", config, "--runs", runs, "--set", "golden.path=fewer.jsonl")
    arguments = ["compare", made.json["path"], "--baseline", folder / "runs" / base, "--runs", runs]
    refused = command(*arguments)
    assert refused.code == 2
    assert "another version" in refused.json["error"]["message"]
    differ = command(*arguments, "--allow", "golden")
    assert "q-A" in differ.json["error"]["message"]
    shared = command(*arguments, "--allow", "golden", "--on", "shared")
    assert shared.code == 0
    assert shared.json["deltas"]["bm25"]["recall@5"]["n"] == 7
    assert any("7 shared" in line for line in shared.json["warnings"])


def test_what_two_manifests_differ_in(folder):
    base, new = runs_of(folder)
    said = command("runs", "diff", new, base, "--runs", folder / "runs")
    assert said.json["changed"] == ["retrieve.arms.bm25.depth: 20 → 2"]


def test_means_over_pairs_are_the_runs_own_where_all_pairs_count(folder, compared):
    base, new = (rayeval.load(name, folder / "runs") for name in runs_of(folder))
    table = pl.read_parquet(Path(compared["path"]) / "deltas.parquet").filter(
        pl.col("slice").is_null(), metric="recall@5"
    )
    for side, run in (("base", base), ("new", new)):
        own = run.aggregate.filter(metric="recall@5")["mean"].to_numpy()
        np.testing.assert_allclose(table[side].to_numpy(), own)


def test_a_comparison_on_the_test_split_is_in_its_ledger(folder, tmp_path):
    rows = [json.loads(line) for line in (folder / "golden.jsonl").read_text().splitlines()]
    golden = tmp_path / "golden.jsonl"
    golden.write_text("".join(json.dumps({**row, "split": "test"}) + "\n" for row in rows))
    runs = tmp_path / "runs"
    base, new = (
        command("run", folder / "rayeval.yaml", "--runs", runs, "--set", f"golden.path={golden}",
                "--set", f"retrieve.arms.bm25.depth={depth}").json["run_id"]
        for depth in (20, 2)
    )  # fmt: skip
    ledger = tmp_path / "golden.ledger.jsonl"
    arguments = ["compare", new, "--baseline", base, "--runs", runs]
    first = command(*arguments, "--purpose", "a smaller depth")
    assert any("comparison 1 on the test split" in line for line in first.json["warnings"])
    [entry] = [json.loads(line) for line in ledger.read_text().splitlines()]
    assert (entry["baseline"], entry["run"]) == (base, new)
    assert entry["config_diff"] == {"retrieve.arms.bm25.depth": [20, 2]}
    assert entry["purpose"] == "a smaller depth"
    assert command(*arguments).json["warnings"] == first.json["warnings"]  # seen before
    assert len(ledger.read_text().splitlines()) == 1


def test_every_way_to_see_a_difference_on_the_test_split_is_entered(folder, tmp_path):
    """Gates with a baseline, on a copy of the golden set, and a comparison's page made anew."""
    rows = [json.loads(line) for line in (folder / "golden.jsonl").read_text().splitlines()]
    golden, copy, runs = tmp_path / "golden.jsonl", tmp_path / "copy.jsonl", tmp_path / "runs"
    splits = ["test", "regression"] * len(rows)
    told = [{**row, "split": split} for row, split in zip(rows, splits, strict=False)]
    golden.write_text("".join(json.dumps(row) + "\n" for row in told))
    copy.write_bytes(golden.read_bytes())
    first, second, third, fourth = (
        command("run", folder / "rayeval.yaml", "--runs", runs, "--set", f"golden.path={path}",
                "--set", f"retrieve.arms.bm25.depth={depth}").json["run_id"]
        for path, depth in ((golden, 20), (golden, 2), (copy, 20), (copy, 2))
    )  # fmt: skip

    def seen(path):
        return command("golden", "ledger", path).json["comparisons"]

    def gated(run, base, **gate):
        file = tmp_path / "gates.yaml"
        file.write_text(
            yaml.safe_dump({"gates": [{"metric": "recall@5", "stage": "bm25", **gate}]})
        )
        arguments = ["gate", run, "--baseline", base, "--gates", file, "--runs", runs]
        return command(*arguments, "--purpose", "a gate").json["warnings"]

    assert gated(second, first, slice="split:regression", max_drop=0.9) == []
    assert gated(second, first, min=0.0) == []
    assert seen(golden) == seen(copy) == 0
    [said] = gated(second, first, slice="split:test", max_drop=0.9)
    assert "comparison 1 on the test split" in said
    assert (seen(golden), seen(copy)) == (1, 1)
    [said] = gated(fourth, third, max_drop=0.9)
    assert "comparison 2 on the test split" in said
    made = command("compare", fourth, "--baseline", first, "--runs", runs).json["comparison_id"]
    for ledger in tmp_path.glob("*.ledger.jsonl"):
        ledger.unlink()
    command("report", made, "--runs", runs)
    assert (seen(golden), seen(copy)) == (1, 1)


def test_other_splits_have_no_ledger(folder, compared):
    assert not (folder / "golden.ledger.jsonl").exists()


def test_a_comparison_is_labelled_as_its_run_against_its_baseline(folder, compared, tmp_path):
    base, new = runs_of(folder)
    shared = ("--runs", folder / "runs", "--k", "3")
    sheets = [tmp_path / "one.csv", tmp_path / "two.csv"]
    said = command("golden", "label", compared["comparison_id"], "--sheet", sheets[0], *shared)
    assert said.code == 0, said.err
    command("golden", "label", new, "--against", base, "--sheet", sheets[1], *shared)
    assert sheets[0].read_bytes() == sheets[1].read_bytes()
    assert len(sheets[0].read_text().splitlines()) > 1
