"""LlamaIndex retrievers' nodes as hits.

    nodes = retriever.retrieve(question)
    t.stage("dense", hits(nodes))

| LlamaIndex | hit |
|---|---|
| `node.node_id` | `chunk_id` |
| `node.get_content()` | `text` |
| `metadata["source_id"]`, else `node.ref_doc_id` | `source_id` |
| `metadata["revision_id"]` | `revision_id` |
| `start_char_idx`, `end_char_idx` | a span |
| `score` | `score`, where every node has one |
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rayeval.hits import Hit


def hits(nodes: Iterable[Any]) -> list[Hit]:
    """`nodes` (NodeWithScore, or bare nodes), in their order, as hits."""
    found = [_hit(item) for item in nodes]
    if not all("score" in hit for hit in found):
        for hit in found:
            hit.pop("score", None)
    return found


def _hit(item: Any) -> Hit:
    node = getattr(item, "node", item)
    metadata = getattr(node, "metadata", None) or {}
    score = getattr(item, "score", None)
    source = metadata.get("source_id", getattr(node, "ref_doc_id", None))
    start, end = getattr(node, "start_char_idx", None), getattr(node, "end_char_idx", None)
    located = start is not None and end is not None and start < end and source is not None
    values = {
        "chunk_id": node.node_id,
        "source_id": None if source is None else str(source),
        "revision_id": metadata.get("revision_id"),
        "text": node.get_content(),
        "start_char": start if located else None,
        "end_char": end if located else None,
        "score": None if score is None else float(score),
    }
    return {name: value for name, value in values.items() if value is not None}
