"""Differences of runs that are added up shard by shard: the same however they are shared out."""

import json

import numpy as np
import polars as pl
import pytest
from numpy.testing import assert_allclose

import rayeval
from rayeval.cli.main import run_command
from rayeval.comparison.deltas import deltas, layout
from rayeval.comparison.pairs import pair
from rayeval.comparison.poisson import share
from rayeval.errors import RunError
from rayeval.execution.decide import comparison
from rayeval.execution.decide.comparison import Options, compare_runs
from rayeval.execution.decide.shards import Excerpt, sharded_deltas
from rayeval.execution.local import LocalExecutor
from rayeval.execution.placement import Placement

COUNT = 400
METRICS = ["recall@1", "mrr@5", "char_recall@5", "duplicate_ratio"]


def written(folder, seed: int, questions: int = 240):
    """A run whose hits are the right document, at a rank that only `seed` knows, or never."""
    rng = np.random.default_rng(seed)
    golden, trace = [], []
    for number in range(questions):
        source = f"문서-{number % 48}"
        where = int(rng.integers(0, 7))
        hits = [{"source_id": source if at == where else f"other-{at}"} for at in range(5)]
        golden.append({"question_id": f"q{number:04d}", "question": "?", "slices": ["번호"] * (number % 3 == 0) + ["few"] * (number % 48 < 3),
                       "evidence": [{"source_id": source}]})  # fmt: skip
        if number % 10 or seed == 1:
            trace.append({"question_id": f"q{number:04d}", "stages": {"search": {"hits": hits}}})
    for name, rows in (("golden", golden), (f"trace-{seed}", trace)):
        text = "".join(json.dumps(row) + "\n" for row in rows)
        (folder / f"{name}.jsonl").write_text(text)
    return rayeval.score(
        folder / "golden.jsonl", folder / f"trace-{seed}.jsonl", metrics=METRICS[:2],
        runs=folder / "runs", name=f"run{seed}",
    )  # fmt: skip


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("shards")
    return written(folder, 1), written(folder, 2)


@pytest.fixture(scope="module")
def pairs(runs):
    return pair(*runs)


@pytest.fixture(scope="module")
def whole(pairs) -> pl.DataFrame:
    """Of one shard that holds everything."""
    return sharded_deltas(pairs, None, LocalExecutor("", Placement()), seed=3, count=COUNT)


def same(found: pl.DataFrame, want: pl.DataFrame) -> None:
    for name in want.columns:
        if want[name].dtype == pl.Float64:
            assert_allclose(found[name].to_numpy(), want[name].to_numpy(), atol=1e-9, rtol=0)
        else:
            assert found[name].to_list() == want[name].to_list()


@pytest.mark.parametrize("size", [1, 7, 100])
def test_any_sharding_gives_the_same_to_1e_9(pairs, whole, size):
    executor = LocalExecutor("", Placement())
    same(sharded_deltas(pairs, None, executor, seed=3, count=COUNT, size=size), whole)


def test_shares_add_up_to_the_share_of_all(pairs):
    blocks = layout(pairs, None)
    want = share(pairs, blocks, seed=3, count=20)
    ids = pairs.base.ids.to_list()
    total = np.zeros_like(want)
    for first, last in ((ids[0], ids[99]), (ids[100], ids[100]), (ids[101], ids[-1])):
        part = pair(*(Excerpt(s.run.path, first, last) for s in (pairs.base, pairs.new)))
        total += share(part, blocks, seed=3, count=20)
    assert_allclose(total, want, atol=1e-9)


def test_the_figures_are_those_of_the_exact_bootstrap(pairs):
    executor = LocalExecutor("", Placement())
    ours = sharded_deltas(pairs, None, executor, seed=3, count=4_000, size=50)
    exact = deltas(pairs, None, seed=3, count=4_000)
    plain = ["slice", "stage", "metric", "n", "n_undefined", "clusters", "improved", "regressed"]
    assert ours.select(plain).equals(exact.select(plain))
    for name in ("base", "new", "mean"):
        assert_allclose(ours[name].to_numpy(), exact[name].to_numpy(), atol=1e-12)
    many = (exact["clusters"] >= 30).to_numpy()
    spread = (exact["high"] - exact["low"]).to_numpy()[many]
    for name in ("low", "high"):
        off = np.abs(ours[name].to_numpy()[many] - exact[name].to_numpy()[many])
        assert (off <= 0.1 * spread).all()
    assert_allclose(
        ours["detectable"].to_numpy()[many], exact["detectable"].to_numpy()[many], rtol=0.1
    )
    assert_allclose(ours["p"].to_numpy(), exact["p"].to_numpy(), atol=0.05)


def test_under_30_clusters_there_is_no_interval(whole):
    few = whole.filter(pl.col("slice") == "few")
    assert few["clusters"].to_list() == [3, 3]
    assert few["method"].to_list() == ["none", "none"]
    assert few["low"].is_nan().all()
    assert few["p"].is_not_nan().all()


def test_processes_share_the_shards(pairs, whole):
    executor = LocalExecutor("", Placement(workers=2))
    try:
        same(sharded_deltas(pairs, None, executor, seed=3, count=COUNT, size=30), whole)
    finally:
        executor.close()


def test_runs_too_large_to_be_held_are_added_up(runs, monkeypatch):
    assert set(compare_runs(*runs, Options(replicates=50)).deltas["method"]) >= {"bca"}
    monkeypatch.setattr("rayeval.execution.decide.shards.LARGEST", 100)
    monkeypatch.setattr(comparison, "deltas", None)
    found = compare_runs(*runs, Options(replicates=50)).deltas
    assert set(found["method"]) == {"poisson", "none"}


def test_on_demand_and_under_a_name_of_its_own(runs, capsys):
    base, new = runs
    where = ["--baseline", base.path, "--runs", base.path.rpartition("/")[0], "--json"]
    assert run_command(["compare", new.path, *where]) == 0
    plain = json.loads(capsys.readouterr().out)
    assert run_command(["compare", new.path, *where, "--poisson"]) == 0
    added = json.loads(capsys.readouterr().out)
    assert added["comparison_id"] != plain["comparison_id"]
    assert added["deltas"]["search"]["recall@1"]["mean"] == pytest.approx(
        plain["deltas"]["search"]["recall@1"]["mean"], abs=1e-12
    )
    assert added["transitions"] == plain["transitions"]


def test_a_damaged_run_is_named(runs, tmp_path):
    import shutil
    from pathlib import Path

    copy = shutil.copytree(runs[0].path, tmp_path / "copy")
    Path(copy, "per_query.parquet").write_bytes(b"PAR1")
    with pytest.raises(RunError, match=r"per_query.parquet can't be read"):
        _ = Excerpt(str(copy), "a", "z").per_query


@pytest.mark.ray
@pytest.mark.filterwarnings("ignore::DeprecationWarning:ray")
@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.filterwarnings("ignore:Tip. In future versions of Ray:FutureWarning")
def test_on_ray(pairs, whole):
    from rayeval.execution.ray import RayExecutor

    executor = RayExecutor("", Placement(workers=2), "local")
    try:
        same(sharded_deltas(pairs, None, executor, seed=3, count=COUNT, size=40), whole)
    finally:
        executor.close()
