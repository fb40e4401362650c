"""The shipped configurations on the sample: which failures arise, and on what models."""

from pathlib import Path

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
    """Multilingual vectors find across languages what no shared word leads to."""
    found = quickstart.summary()["slices"]["cross_lingual"]
    assert found["dense_exact"]["recall@5"]["mean"] > found["bm25"]["recall@5"]["mean"] + 0.2
