"""Real documents, questions and spans: every number against the plain reference."""

import csv
import json

import numpy as np
import pytest
from metrics_batches import evidence, hits, place, question, table
from metrics_reference import Question

from rayeval.metrics.config import Metrics
from rayeval.metrics.per_query import PerQuery
from rayeval.metrics.pipeline import Later, Pipeline

NAMES = ["char_recall@5", "char_precision@5", "char_iou@5", "recall@5", "joint_recall@5", "ndcg@5"]


def asked(folder):
    """Each question with ten random overlapping windows of its corpus, near its gold."""
    rng = np.random.default_rng(1)
    sizes = {path.stem: len(path.read_text(encoding="utf-8")) for path in folder.glob("*.md")}
    with (folder / "questions_df.csv").open(encoding="utf-8", newline="") as file:
        for number, row in enumerate(csv.DictReader(file)):
            source, spans = row["corpus_id"], json.loads(row["references"])
            gold = [
                evidence(f"e{i}", (span["start_index"], span["end_index"]), source_id=source)
                for i, span in enumerate(spans)
            ]
            near = rng.choice([span["start_index"] // 300 for span in spans], 10)
            windows = sorted({max(0, int(w + rng.integers(-2, 2))) * 300 for w in near})
            passages = [
                place(f"c{start:07}", (start, min(start + 400, sizes[source])), source_id=source)
                for start in windows
            ]
            ranking = rng.permutation([p["chunk_id"] for p in passages]).tolist()
            yield question(f"q{number:03}", evidence=gold, passages=passages, s=hits(ranking))


@pytest.mark.data
def test_characters_of_real_questions(shared_data):
    rows = list(asked(shared_data("chroma_chunking")))
    assert len(rows) == 472
    stage = PerQuery(Metrics(names=NAMES), Pipeline(later=(Later("s", "unknown"),)))
    got = stage(table(rows)).to_pylist()
    for row, numbers in zip(rows, got, strict=True):
        for name in NAMES:
            want = Question(row, "s").value(name.removesuffix("@5"), 5)
            assert numbers[name] == pytest.approx(want, abs=1e-12), (name, row["question_id"])
    assert 0.05 < np.mean([numbers["recall@5"] for numbers in got]) < 0.95
