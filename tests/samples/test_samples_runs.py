"""The shipped configurations on the sample: which failures arise, and on what models."""

from pathlib import Path

import polars as pl
import pytest

import rayeval

CONFIGS = Path(__file__).parents[2] / "configs"


@pytest.fixture(scope="module")
def lexical(tmp_path_factory):
    return rayeval.evaluate(
        str(CONFIGS / "lexical.yaml"), runs=str(tmp_path_factory.mktemp("lexical"))
    )


@pytest.fixture(scope="module")
def quickstart(tmp_path_factory):
    return rayeval.evaluate(
        str(CONFIGS / "quickstart.yaml"), runs=str(tmp_path_factory.mktemp("quickstart"))
    )


def test_bm25_alone_fails_in_several_ways(lexical):
    codes = lexical.summary()["failures"]
    assert {"SPARSE_VOCAB_MISMATCH", "SPARSE_OUTRANKED", "CHUNK_CONTEXT_SEVERED"} <= set(codes)


def test_every_question_of_the_split_is_judged(lexical):
    assert lexical.manifest["warnings"] == []
    status = lexical.summary()["status"]
    assert status["error"] == status["missing"] == 0
    assert set(lexical.questions["split"]) == {"dev"}


@pytest.mark.slow
def test_quickstart_runs_real_models_and_says_which(quickstart):
    models = quickstart.manifest["models"]
    assert "multilingual-e5-small" in models["dense"]
    assert "fitted on the split train" in models["rerank"]


@pytest.mark.slow
def test_several_failures_arise_by_themselves(quickstart, lexical):
    codes = set(quickstart.summary()["failures"])
    assert len(codes) >= 4
    assert len(codes | set(lexical.summary()["failures"])) >= 6


@pytest.mark.slow
def test_the_ann_is_measured_against_exact_search(quickstart):
    recall = quickstart.summary()["metrics"]["dense_ann"]["index_recall"]
    assert recall["n"] == 92
    assert 0.9 < recall["mean"] <= 1.0


@pytest.mark.slow
def test_the_embedder_understands_korean(quickstart):
    """It finds what is asked in other words, where lexical search has little to go by."""
    slices = pl.col("slices").list
    asked = quickstart.questions.filter(
        slices.contains("language:ko"), slices.contains("paraphrase")
    )
    found = quickstart.per_query.join(asked, on="question_id", how="semi")
    means = dict(found.group_by("stage").agg(pl.col("recall@5").mean()).iter_rows())
    assert means["dense_exact"] > means["bm25"] + 0.2
