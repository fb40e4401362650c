"""What a comparison lists by question, shard by shard: counts of all, and the worst by name."""

import json
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow.parquet as pq
import pytest

import rayeval
from rayeval.cli.main import run_command
from rayeval.comparison.pairs import pair
from rayeval.execution import artifacts, parquet
from rayeval.execution.decide.comparison import (
    Options,
    compare_runs,
    load_comparison,
    write_comparison,
)
from rayeval.execution.decide.gating import judge, read_gates
from rayeval.execution.decide.shards import Excerpt, listed, sharded_lists
from rayeval.execution.local import LocalExecutor
from rayeval.execution.placement import Placement
from rayeval.execution.runs import Run, load
from rayeval.report import whole
from rayeval.report.page.comparison import comparison_page
from rayeval.report.page.run import run_page

LISTED, NEAREST, QUESTIONS = 20, 9, 240
OPTIONS = Options(poisson=True, replicates=50)


def written(folder: Path, seed: int):
    """Two stages, each of which puts gold at a rank that only `seed` knows, or nowhere."""
    rng = np.random.default_rng(seed)
    golden, trace = [], []
    for number in range(QUESTIONS):
        source, stages = f"문서-{number % 48}", {}
        for stage, where in zip(("fused", "reranked"), rng.integers(0, 7, 2).tolist(), strict=True):
            names = [
                source if at == where else f"other-{(number + at * seed) % 9}-{at}"
                for at in range(5)
            ]
            stages[stage] = {"hits": [{"source_id": name} for name in names]}
        name = f"q{number:04d}"
        golden.append(
            {
                "question_id": name,
                "question": "?",
                "slices": ["셋"] * (number % 3 == 0),
                "evidence": [{"source_id": source}],
            }
        )
        trace.append({"question_id": name, "stages": stages})
    for name, rows in (("golden", golden), (f"trace{seed}", trace)):
        text = "".join(json.dumps(row) + "\n" for row in rows)
        (folder / f"{name}.jsonl").write_text(text)
    return rayeval.score(folder / "golden.jsonl", folder / f"trace{seed}.jsonl",
                         metrics=["recall@1", "recall@5"], runs=folder / "runs")  # fmt: skip


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("lists")
    return written(folder, 1), written(folder, 2)


@pytest.fixture(scope="module")
def everything(runs):
    """Of all questions at once."""
    return listed(pair(*runs))


@pytest.fixture
def short(monkeypatch):
    """As if these were runs of very many questions."""
    monkeypatch.setattr(whole, "LISTED", LISTED)
    monkeypatch.setattr(whole, "NEAREST", NEAREST)


def sharded(runs, size: int):
    return sharded_lists(pair(*runs), LocalExecutor("", Placement()), size=size)


def same(found, want) -> None:
    for name in ("transitions", "ranks", "unjudged"):
        assert getattr(found, name).equals(getattr(want, name)), name
    for each in fields(want.whole):
        assert getattr(found.whole, each.name).equals(getattr(want.whole, each.name)), each.name


@pytest.mark.slow
@pytest.mark.parametrize("size", [1, 7, 100, 1000])
def test_shards_give_what_all_questions_give_at_once(runs, everything, size):
    assert everything.unjudged.height
    same(sharded(runs, size), everything)


@pytest.mark.slow
@pytest.mark.parametrize("size", [1, 7, 100])
def test_what_is_listed_does_not_depend_on_how_questions_are_shared_out(runs, short, size):
    same(sharded(runs, size), sharded(runs, QUESTIONS))


def test_of_many_the_worst_are_listed_and_all_are_counted(runs, everything, short):
    found = sharded(runs, 50)
    lost = everything.transitions.filter(before="success").filter(pl.col("after") != "success")
    assert lost.height > LISTED
    assert found.transitions.equals(lost.head(LISTED))
    for stage, ranks in found.ranks.group_by("stage"):
        assert ranks.height == NEAREST
        every = everything.ranks.filter(stage=stage[0])
        left = every.filter(moved="left").sort("base", "question_id")
        assert set(ranks["question_id"]) == set(left.head(NEAREST)["question_id"])
    top = pl.min_horizontal("base", "new")
    for (stage,), hits in found.unjudged.group_by("stage"):
        assert hits.height == NEAREST
        every = everything.unjudged.filter(stage=stage).select(top).to_series().sort()
        assert hits.select(top).to_series().sort().equals(every.head(NEAREST))
    for each in fields(found.whole):
        want = getattr(everything.whole, each.name)
        assert getattr(found.whole, each.name).equals(want), each.name


def test_a_comparison_says_what_it_does_not_list(runs, short, tmp_path):
    plain = compare_runs(*runs, Options(replicates=50))
    written = write_comparison(compare_runs(*runs, OPTIONS), str(Path(runs[0].path).parent))
    assert written.facts["listed"] == {
        "transitions": [LISTED, QUESTIONS],
        "ranks": [2 * NEAREST, plain.ranks.height],
        "unjudged": [2 * NEAREST, plain.unjudged.height],
    }
    assert f"transitions.parquet shows {LISTED} of {QUESTIONS} questions" in str(written)
    assert written.summary()["transitions"] == plain.summary()["transitions"]
    assert {**written.facts["unjudged"]} == plain.facts["unjudged"]
    again = load_comparison(str(written.path), str(Path(runs[0].path).parent))
    assert comparison_page(again) == comparison_page(written)
    assert Path(str(written.path), "report.html").read_bytes() == comparison_page(again)


def test_all_that_fits_is_listed_though_it_is_added_up_by_shards(runs, tmp_path):
    plain, added = (compare_runs(*runs, replace(OPTIONS, poisson=p)) for p in (False, True))
    assert "listed" not in added.facts
    assert "is not listed" not in str(added)
    same(added, plain)
    folder = str(write_comparison(added, str(tmp_path)).path)
    assert not Path(folder, "ends.parquet").exists()


def data_of(html: bytes):
    text = html.decode().partition('id="data">')[2].partition("</script>")[0]
    return json.loads(text)


def test_the_page_holds_the_worst_and_says_how_many_there_are(runs, short, monkeypatch):
    everywhere = data_of(comparison_page(compare_runs(*runs, Options(replicates=50))))
    monkeypatch.setattr("rayeval.report.page.run.MOST", LISTED)
    monkeypatch.setattr("rayeval.report.page.questions.chosen.__defaults__", ((), LISTED))
    found = compare_runs(*runs, OPTIONS)
    data = data_of(comparison_page(found))
    assert data["total"] == QUESTIONS
    assert data["questions"]["id"] == found.transitions["question_id"].to_list()
    for side, other in zip(data["sides"], everywhere["sides"], strict=True):
        for name in ("bounds", "answerable", "status", "means", "walked"):
            assert side[name] == other[name]
    for stage, other in zip(data["headroom"], everywhere["headroom"], strict=True):
        assert stage["lost"] == other["lost"][:LISTED]
        assert stage.get("all", len(stage["lost"])) == len(other["lost"])
    counts = [[part[name] for part in side["movement"]] for side in (data, everywhere)
              for name in ("counts", "points")]  # fmt: skip
    assert counts[:2] == counts[2:]


def test_no_table_with_a_row_per_question_is_read_whole(runs, short, monkeypatch, tmp_path):
    monkeypatch.setattr("rayeval.report.page.questions.chosen.__defaults__", ((), LISTED))
    read = []
    whole_table = Run._table
    monkeypatch.setattr(Run, "_table", lambda run, name: (read.append(name), whole_table(run, name))[1])  # fmt: skip
    base, new = (load(run.path) for run in runs)
    write_comparison(compare_runs(base, new, OPTIONS), str(tmp_path))
    (tmp_path / "gates.yaml").write_text("gates: [{metric: recall@5, min: 0, max_drop: 1}, {metric: latency_ms.p95, stage: fused, max: 9}]")  # fmt: skip
    judge(read_gates(str(tmp_path / "gates.yaml")), new, base)
    run_page(new)
    assert set(read) <= {"aggregate", "slices", "thresholds"}


def test_parts_of_a_table_are_the_table(runs, monkeypatch):
    monkeypatch.setitem(parquet.AHEAD, "batch_size", 7)
    run = load(runs[0].path)
    parts = list(run.parts("failures", ["question_id", "status"]))
    assert len(parts) > 2
    assert pl.concat(parts).equals(run.failures.select("question_id", "status"))
    assert [*run.columns("failures"), "message"] == run.failures.columns
    ids = run.questions["question_id"].to_list()
    part = Excerpt(run.path, ids[3], ids[9])
    assert pl.concat(part.parts("questions", ["question_id"]))["question_id"].to_list() == ids[3:10]
    assert set(part.select("per_query", ["question_id"], "fused")["question_id"]) == set(ids[3:10])
    assert run.rows("questions", "question_id", []).is_empty()
    found = run.rows("questions", "question_id", [ids[5], ids[2]], ["question_id", "question"])
    assert found.rows() == [(ids[2], "?"), (ids[5], "?")]


def test_a_file_that_was_replaced_is_read_anew(tmp_path):
    path = tmp_path / "t.parquet"
    for values in ([1, 2], [3], [4]):
        pl.DataFrame({"a": values}).write_parquet(path)
        assert parquet.read(str(path), ["a"], None)["a"].to_list() == values
    path.unlink()
    with pytest.raises(FileNotFoundError):
        parquet.read(str(path), ["a"], None)


def test_a_long_table_is_written_in_several_row_groups(tmp_path, monkeypatch):
    monkeypatch.setattr(artifacts, "ROWS", 2)
    artifacts.write_one(str(tmp_path), "t.parquet", [pl.DataFrame({"a": [1, 2, 3]}).to_arrow()])
    assert pq.read_metadata(tmp_path / "t.parquet").num_row_groups == 2


def test_the_command_says_it(runs, short, capsys):
    folder = str(Path(runs[0].path).parent)
    command = ["compare", runs[1].path, "--baseline", runs[0].path, "--runs", folder, "--poisson"]
    assert run_command(command) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert (
        f"transitions.parquet shows {LISTED} of {QUESTIONS} questions, what was lost first" in out
    )


@pytest.mark.ray
@pytest.mark.filterwarnings("ignore::DeprecationWarning:ray")
@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.filterwarnings("ignore:Tip. In future versions of Ray:FutureWarning")
def test_ray_lists_the_same(runs, everything):
    from rayeval.execution.ray import RayExecutor

    executor = RayExecutor("", Placement(workers=2), "local")
    try:
        same(sharded_lists(pair(*runs), executor, size=40), everything)
    finally:
        executor.close()
