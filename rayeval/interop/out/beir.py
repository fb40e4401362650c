"""A run's passages and judgements as a BEIR collection."""

from __future__ import annotations

import io

from rayeval.errors import ConfigError
from rayeval.files import put
from rayeval.interop.out.exported import Exported, put_lines
from rayeval.words import plural


def write_beir(run: Exported, folder: str) -> list[str]:
    """Writes corpus.jsonl, queries.jsonl and qrels/test.tsv; returns their names.

    A chunk is a document of the collection; relevance is its score.
    Raises ConfigError where the text of a passage is not known: a null would be no document.
    """
    if unknown := run.passages["text"].null_count():
        first = run.passages.filter(run.passages["text"].is_null())["chunk_id"][0]
        message = f"the run doesn't hold the text of {plural(unknown, 'passage')}, e.g. {first!r}"
        raise ConfigError(f"{message}; name their documents with --corpus, or export to trec")
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
