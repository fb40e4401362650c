"""LangChain retrievers' documents as hits.

    documents = retriever.invoke(question)
    t.stage("dense", hits(documents))

| LangChain | hit |
|---|---|
| `id` | `chunk_id` |
| `page_content` | `text` |
| `metadata["source_id"]`, else `metadata["source"]` | `source_id` |
| `metadata["revision_id"]` | `revision_id` |
| `metadata["start_char"]` and `["end_char"]` | a span |
| `metadata["start_index"]` (of a text splitter), with the text's length | a span |
| the second of a pair, as `similarity_search_with_score` gives | `score`, by `scores` |
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

from rayeval.hits import Hit
from rayeval.scalars import whole

Scores = Literal["similarity", "distance", "none"]


def hits(documents: Iterable[Any], *, scores: Scores = "similarity") -> list[Hit]:
    """`documents`, or (document, score) pairs, in their order, as hits.

    scores: what a pair's number is. A `distance`, where less is better, becomes its negative; with
    `none` the order alone counts.
    """
    return [_hit(item, scores) for item in documents]


def _hit(item: Any, scores: Scores) -> Hit:
    document, number = item if isinstance(item, tuple) else (item, None)
    metadata = document.metadata or {}
    text = document.page_content
    source = metadata.get("source_id", metadata.get("source"))
    identity = getattr(document, "id", None)
    values = {
        "chunk_id": None if identity is None else str(identity),
        "source_id": None if source is None else str(source),
        "revision_id": metadata.get("revision_id"),
        "text": text,
        **(_span(metadata, text) if source is not None else {}),
        "score": _score(number, scores),
    }
    return {name: value for name, value in values.items() if value is not None}


def _span(metadata: Mapping[str, Any], text: str) -> dict[str, int | None]:
    """A splitter that didn't find its chunk in the text says -1."""
    start, end = metadata.get("start_char"), metadata.get("end_char")
    index = whole(metadata.get("start_index"))
    if start is None and end is None and index is not None and index >= 0 and text:
        start, end = index, index + len(text)
    return {"start_char": start, "end_char": end}


def _score(number: Any, scores: Scores) -> float | None:
    if number is None or scores == "none":
        return None
    return -float(number) if scores == "distance" else float(number)
