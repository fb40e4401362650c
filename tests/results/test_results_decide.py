"""Decisions on real questions: false alarms where nothing changed, and a loss hidden in a slice."""

import shutil

import chroma
import numpy as np
import polars as pl
import pytest
import yaml

import rayeval
from rayeval.comparison.measure import figure
from rayeval.comparison.pairs import pair
from rayeval.gates.config import Gate
from rayeval.gates.verdicts import verdict
from rayeval.stats.bootstrap import sign_flip_p
from rayeval.stats.clusters import means
from rayeval.stats.intervals import intervals

pytestmark = [pytest.mark.data, pytest.mark.slow]
METRIC = "char_recall@5"


@pytest.fixture(scope="module")
def runs(shared_data, tmp_path_factory):
    """The same questions with and without overlapping chunks."""
    folder = tmp_path_factory.mktemp("decide")
    chroma.write(shared_data("chroma_chunking"), folder)
    config = {
        "golden": {"path": "golden.jsonl"},
        "corpus": {"path": "docs"},
        "chunk": {"kind": "fixed", "size": 400},
        "retrieve": {"arms": {"bm25": {"kind": "bm25", "depth": 10}}},
        "metrics": {"names": [METRIC]},
    }
    (folder / "rayeval.yaml").write_text(yaml.safe_dump(config))
    return [
        rayeval.evaluate(folder / "rayeval.yaml", sets=[f"chunk.overlap={n}"], runs=folder / "runs")
        for n in (0, 200)
    ]


def values(run) -> np.ndarray:
    return run.per_query.sort("question_id")[METRIC].to_numpy()


def test_of_a_thousand_comparisons_of_equals_one_in_twenty_is_alarming(runs):
    """Which run a question's value comes from is drawn a thousand times; a cluster is a question."""
    change = values(runs[1]) - values(runs[0])
    assert (change != 0).sum() > 100
    drawn = np.random.default_rng(0).choice([-1.0, 1.0], (len(change), 1_000))
    sums = means(change[:, None] * drawn, np.arange(len(change)))
    outside = [not each.low <= 0 <= each.high for each in intervals(sums, seed=1, count=4_000)]
    assert 0.035 <= np.mean(outside) <= 0.065
    assert 0.035 <= (sign_flip_p(sums, seed=1, count=4_000) <= 0.05).mean() <= 0.065


def altered(run, folder, **tables):
    """A copy of a run with other tables."""
    shutil.copytree(run.path, folder)
    for name, table in tables.items():
        table.write_parquet(folder / f"{name}.parquet")
    return rayeval.load(str(folder))


def changed(run, by):
    """per_query, every question's metric changed `by`, in order of ids."""
    per_query = run.per_query.sort("question_id")
    return per_query.with_columns(pl.Series(METRIC, per_query[METRIC].to_numpy() + by))


@pytest.mark.parametrize("scope", ["set", "population"])
def test_a_loss_in_a_slice_is_found_below_a_rising_average(runs, tmp_path, scope):
    """60 questions lose 0.03 each, the others win 0.02: only the slice's gate fails."""
    run = runs[0]
    names = run.questions.sort("question_id")
    inside = np.arange(names.height) % (names.height // 60) == 0
    inside[np.flatnonzero(inside)[60:]] = False
    assert inside.sum() == 60
    slices = names["slices"].to_list()
    named = [[*own, "planted"] if hit else own for own, hit in zip(slices, inside, strict=True)]
    # Five documents are too few clusters to say anything of others: take each question as one.
    asked = names.with_columns(slices=pl.Series(named), cluster=pl.col("question_id"))
    base = altered(run, tmp_path / "base", questions=asked)
    per_query = changed(run, np.where(inside, -0.03, 0.02))
    pairs = pair(base, altered(run, tmp_path / "new", questions=asked, per_query=per_query))
    words = {}
    for slice_ in ("planted", None):
        gate = Gate(metric=METRIC, slice=slice_, max_drop=0.005, scope=scope)
        seen = figure(gate, "max_drop", "bm25", pairs.new.run, pairs, 1)
        words[slice_] = verdict(gate, "max_drop", "bm25", seen).verdict
    assert words == {"planted": "fail", None: "pass"}
