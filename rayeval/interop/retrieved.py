"""What the spans of one trace retrieved and reranked, as stages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rayeval.hits import RESERVED
from rayeval.interop.nesting import object_of
from rayeval.interop.parts import Row
from rayeval.interop.records import Record, RefusedError
from rayeval.interop.spans import REDACTED, Span

DOCUMENTS = {"RETRIEVER": "retrieval.documents", "RERANKER": "reranker.output_documents"}
Place = tuple[str | None, str]
"""A span's parent and its name: where a second attempt stands too."""


@dataclass(frozen=True)
class Search:
    """A span that retrieved or reranked, and when the first attempt at it began."""

    span: Span
    since_us: int

    @property
    def documents(self) -> str:
        """The attribute with what it found."""
        return DOCUMENTS[self.span.kind]

    @property
    def latency_ms(self) -> float | None:
        """How long it took, attempts that failed included; null where the clocks disagree."""
        took_us = self.span.end_us - self.since_us
        return took_us / 1000 if took_us >= 0 else None

    @property
    def failed(self) -> bool:
        """Whether there is an error instead of documents."""
        return self.span.error is not None and self.span.at(self.documents) is None


def stages_of(members: Sequence[Span]) -> Iterator[Row]:
    """FOREIGN rows but for the question, in the order in which the spans ended.

    members: all spans of the trace, in that order.
    """
    searches = _attempted([span for span in members if span.kind in DOCUMENTS])
    searches = _outer(searches)
    fusing = _fusing(searches, members)
    taken: dict[str, int] = {}
    retrieved = False
    for search in searches:
        span = search.span
        if span.kind == "RETRIEVER":
            retrieved = True
            own = f"{span.name} span" if span.name in RESERVED else span.name
            name = "fused" if span.span_id in fusing else own
        else:
            if not retrieved and span.at("reranker.input_documents") is not None:
                hits = _hits(span, "reranker.input_documents")
                yield {"stage": _numbered("reranker input", taken), "hits": hits}
            name = "reranked"
        yield {
            "stage": _numbered(name, taken),
            "hits": None if search.failed else _hits(span, search.documents),
            "latency_ms": search.latency_ms,
            "error": span.error if search.failed else None,
        }


def _attempted(spans: Sequence[Span]) -> list[Search]:
    """Failed attempts left out where the same was tried again; it began with the first of them."""
    kept: list[Search] = []
    failed: dict[Place, int] = {}
    for number, span in enumerate(spans):
        place = (span.parent_id, span.name)
        search = Search(span, failed.pop(place, span.start_us))
        later = ((other.parent_id, other.name) for other in spans[number + 1 :])
        if search.failed and place in later:
            failed[place] = search.since_us
        else:
            kept.append(search)
    return kept


def _outer(searches: Sequence[Search]) -> list[Search]:
    """Without LlamaIndex' inner halves: `X._retrieve` within `X.retrieve` says nothing more."""
    spans = {search.span.span_id: search.span for search in searches}

    def inner(span: Span) -> bool:
        parent = spans.get(span.parent_id or "")
        doubled = parent is not None and span.name.replace("._", ".") == parent.name
        return doubled and span.at(DOCUMENTS[span.kind]) is None

    return [search for search in searches if not inner(search.span)]


def _fusing(searches: Sequence[Search], members: Sequence[Span]) -> set[str]:
    """The retrievers that join what two or more retrievers right below them found."""
    retrievers = {s.span.span_id for s in searches if s.span.kind == "RETRIEVER"}
    parents = {span.span_id: span.parent_id for span in members}
    below: dict[str, int] = {}
    for name in retrievers:
        above = parents.get(name)
        seen = {name}
        while above is not None and above not in retrievers and above not in seen:
            seen.add(above)
            above = parents.get(above)
        if above in retrievers and above not in seen:
            below[above] = below.get(above, 0) + 1
    return {name for name, count in below.items() if count > 1}


def _numbered(name: str, taken: dict[str, int]) -> str:
    taken[name] = taken.get(name, 0) + 1
    return name if taken[name] == 1 else f"{name} {taken[name]}"


def _hits(span: Span, documents: str) -> list[Row]:
    entries = span.list_at(documents)
    parts = [entry.inner(entry.get("document"), f"{entry.path}document") for entry in entries]
    names = _names(span, parts)
    return [_hit(part, name) for part, name in zip(parts, names, strict=True)]


def _names(span: Span, documents: Sequence[Record]) -> list[str | None]:
    """Ids of the documents; LangChain's instrumentation has them in `output.value` alone."""
    told = [document.name("id") for document in documents]
    if any(told):
        return told
    try:
        listed = object_of(span.at("output.value"), "output.value").get("documents")
    except RefusedError:
        return told
    same = isinstance(listed, list) and len(listed) == len(documents)
    if not same or not all(map(_same, listed or (), documents)):
        return told
    return [span.record.inner(one, "output.value").name("id") for one in listed or ()]


def _same(listed: Any, document: Record) -> bool:
    said = listed.get("page_content") if isinstance(listed, Mapping) else None
    return said is not None and said == (document.get("content") or "")


def _hit(document: Record, name: str | None) -> Row:
    at = f"{document.path}metadata"
    metadata = document.inner(object_of(document.get("metadata"), at), at)
    text = document.text("content")
    text = None if text == REDACTED else text
    hit: Row = {
        "chunk_id": name,
        "source_id": metadata.name("source_id", "source"),
        "revision_id": metadata.name("revision_id"),
        "text": text,
        "score": document.number("score"),
    }
    span = _span(metadata, text)
    if span is not None and hit["source_id"] is not None:
        hit["spans"] = [span]
    if not any(hit[name] for name in ("chunk_id", "source_id", "text")):
        message = f"`{document.path}content` is missing or hidden, and so are id and source"
        raise RefusedError("missing_field", message)
    return hit


def _span(metadata: Record, text: str | None) -> Row | None:
    """As the metadata says; `start_index` is a text splitter's, -1 where it didn't find it."""
    if metadata.get("start_char") is not None and metadata.get("end_char") is not None:
        return {name: metadata.whole(name) for name in ("start_char", "end_char")}
    start = metadata.get("start_index")
    if not isinstance(start, int | float) or start < 0 or not text:
        return None
    start = metadata.whole("start_index")
    return {"start_char": start, "end_char": start + len(text)}
