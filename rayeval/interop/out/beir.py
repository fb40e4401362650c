"""A run's passages and judgements as a BEIR collection."""

from __future__ import annotations

import io

from rayeval.files import put
from rayeval.interop.out.exported import Exported, put_lines


def write_beir(run: Exported, folder: str) -> list[str]:
    """Writes corpus.jsonl, queries.jsonl and qrels/test.tsv; returns their names.

    A chunk is a document of the collection; relevance is its score.
    """
    documents = ({"_id": c, "title": "", "text": t} for c, t in run.passages.iter_rows())
    queries = run.questions.select("question_id", "question").iter_rows()
    qrels = run.judgements.rename(
        {"question_id": "query-id", "chunk_id": "corpus-id", "relevance": "score"}
    )
    sink = io.BytesIO()
    qrels.write_csv(sink, separator="\t")
    put(f"{folder}/qrels", "test.tsv", sink.getvalue())
    return [
        put_lines(folder, "corpus.jsonl", documents),
        put_lines(folder, "queries.jsonl", ({"_id": q, "text": t} for q, t in queries)),
        "qrels/test.tsv",
    ]
