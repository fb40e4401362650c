"""A whole run on Chroma's corpora, its character metrics checked against sets of characters."""

import chroma
import numpy as np
import pytest
import yaml

import rayeval

pytestmark = pytest.mark.data


@pytest.fixture(scope="module")
def run(shared_data, tmp_path_factory):
    folder = tmp_path_factory.mktemp("chroma")
    assert chroma.write(shared_data("chroma_chunking"), folder) == 472
    config = {
        "golden": {"path": "golden.jsonl"},
        "corpus": {"path": "docs"},
        "chunk": {"kind": "fixed", "size": 400, "overlap": 200},
        "retrieve": {"arms": {"bm25": {"kind": "bm25", "depth": 10}}},
        "metrics": {"cutoffs": [5]},
    }
    (folder / "rayeval.yaml").write_text(yaml.safe_dump(config))
    return rayeval.evaluate(str(folder / "rayeval.yaml"), runs=str(folder / "runs"))


def characters(items) -> set[tuple[str, int]]:
    """Every (source, offset) that the spans of `items` hold."""
    return {
        (item["source_id"], place)
        for item in items
        for span in item["spans"]
        for place in range(span["start_char"], span["end_char"])
    }


def test_every_reference_is_located(run):
    assert run.questions.explode("evidence").height == 790
    assert run.questions["answerable"].all()
    assert run.manifest["warnings"] == []


def test_character_metrics_agree_with_sets_of_characters(run):
    passages = {row["chunk_id"]: row for row in run.passages.to_dicts()}
    hits = {row["question_id"]: row["hits"] for row in run.trace.to_dicts() if row["hits"]}
    wanted = []
    for row in run.questions.to_dicts():
        gold = characters(row["evidence"])
        top = characters(passages[h["chunk_id"]] for h in hits.get(row["question_id"], [])[:5])
        shared = len(gold & top)
        wanted.append(
            (shared / len(gold), shared / len(top) if top else 0.0, shared / len(gold | top))
        )
    found = run.per_query.sort("question_id").select(
        "char_recall@5", "char_precision@5", "char_iou@5"
    )
    np.testing.assert_allclose(found.to_numpy(), np.array(wanted), rtol=0, atol=1e-12)
