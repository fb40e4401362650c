"""Hits as people write them: passage text, or a mapping of DESIGN §3's fields.

Plain Python: a recorder in a production service loads nothing else for it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, MappingView, Sequence, Set, Sized
from itertools import islice, pairwise
from types import GeneratorType
from typing import Any

from rayeval.errors import RowError
from rayeval.scalars import digits, real, shown, whole

Hit = dict[str, Any]
"""`chunk_id`, `source_id`, `revision_id`, `spans` (list of start_char, end_char), `text`, `score`:
those that are known."""

TEXTS = ("chunk_id", "source_id", "revision_id", "text")
FIELDS = (*TEXTS, "spans", "start_char", "end_char", "score")

RESERVED = frozenset(
    ("ingest", "parse", "chunk", "filter", "retrieve", "answer", "closed_book", "gold_context")
)
"""What a run calls stops of its own: no stage of somebody else's pipeline can be called so."""


def reserved(stage: str) -> str:
    """What to say of a stage that is called by one of RESERVED."""
    return (
        f"a stage is called {stage!r}, as every run calls a stop of its own; give it another name, "
        "such as 'search'"
    )


def hits_of(found: Any) -> list[Hit]:
    """What a search gave, best first, as hits.

    found: texts, and mappings with some of FIELDS; empty where nothing was found.
    Raises RowError for a set, and, naming the rank, for what is no hit, for an id that comes twice,
    and for scores that are missing in part, no number, or contradict the order of the list.
    """
    if isinstance(found, str | bytes | Mapping) or not isinstance(found, Iterable):
        raise RowError(
            f"expected a list of hits, empty where nothing was found; got {shown(found)}"
        )
    if not ordered(found):
        kind = type(found).__name__
        raise RowError(f"the hits are a {kind}, which has no order; expected a list, best first")
    hits = [_hit(value, rank) for rank, value in enumerate(found, 1)]
    _check_repeats(hits)
    _check_scores([hit.get("score") for hit in hits])
    return hits


def taken(found: Any, depth: int | None) -> Any:
    """What is computed only as it is gone through, as a list of the `depth` hits that count.

    None: all of them. Whatever has a length is at hand, and stays as it is.
    """
    if isinstance(found, Sized) or not isinstance(found, Iterable):
        return found
    hits = list(islice(found, depth))
    if isinstance(found, GeneratorType):
        found.close()  # its `finally` runs now, in this thread, not whenever it is collected
    return hits


def ordered(found: Any) -> bool:
    """Whether it can be gone through in an order that is its own: a set's is another one in every
    process, a dictionary's keys stand as they were put in."""
    unordered = isinstance(found, Set) and not isinstance(found, Sequence | MappingView)
    return isinstance(found, Iterable) and not unordered


def _hit(value: Any, rank: int) -> Hit:
    if isinstance(value, str):
        value = {"text": value}
    if not isinstance(value, Mapping):
        raise RowError(
            f"hit {rank} is {shown(value)}; expected the passage's text, or a mapping with some "
            f"of {', '.join(FIELDS)}"
        )
    unknown = [str(name) for name in value if name not in FIELDS]
    if unknown:
        raise RowError(f"hit {rank} has the field {unknown[0]!r}; known are {', '.join(FIELDS)}")
    known = {name: item for name, item in value.items() if item is not None}
    hit: Hit = {name: _text(known[name], name, rank) for name in TEXTS if name in known}
    spans = _spans(known, rank)
    if spans is not None:
        hit["spans"] = spans
    if spans is not None and "source_id" not in hit:
        raise RowError(f"hit {rank} has spans but no source_id that they lie in")
    if not hit.keys() & {"chunk_id", "source_id", "text"}:
        raise RowError(f"hit {rank} says nothing of what was found: give its id, source or text")
    if "score" in known:
        hit["score"] = _score(known["score"], rank)
    return hit


def _text(value: Any, name: str, rank: int) -> str:
    """Ids that are whole numbers are their decimal text."""
    if name != "text" and (number := digits(value)) is not None:
        value = number
    if not isinstance(value, str):
        raise RowError(f"hit {rank}: {name} is {shown(value)}; expected text, such as '17'")
    if not value and name != "text":
        raise RowError(f"hit {rank}: {name} is empty")
    if halved(value):
        raise RowError(f"hit {rank}: {name} holds half of a surrogate pair, which is no character")
    return value


def id_of(value: Any) -> str | None:
    """An id as text, of a whole number its decimal text; None for what can be none."""
    name = digits(value)
    if name is not None:
        return name
    return str(value) if isinstance(value, str) and value and not halved(value) else None


def halved(text: str) -> bool:
    """Whether it holds half of a surrogate pair, which no file in UTF-8 can."""
    return any("\ud800" <= sign <= "\udfff" for sign in text)


def _spans(known: Mapping[str, Any], rank: int) -> list[dict[str, int]] | None:
    """Sorted, disjoint; the fields start_char and end_char are one span."""
    ends = [known[name] for name in ("start_char", "end_char") if name in known]
    spans = known.get("spans")
    if ends and (spans is not None or len(ends) == 1):
        raise RowError(f"hit {rank}: expected start_char and end_char both, or spans instead")
    if ends:
        spans = [{"start_char": ends[0], "end_char": ends[1]}]
    if spans is None:
        return None
    if isinstance(spans, str | Mapping) or not isinstance(spans, Sequence) or not spans:
        raise RowError(f"hit {rank}: spans is {shown(spans)}; expected a list, or no such field")
    pairs = sorted(_span(span, rank) for span in spans)
    joined = [pairs[0]]
    for start, end in pairs[1:]:
        if start < joined[-1][1]:
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        else:
            joined.append((start, end))
    return [{"start_char": start, "end_char": end} for start, end in joined]


def _span(span: Any, rank: int) -> tuple[int, int]:
    pair = (
        [span.get("start_char"), span.get("end_char")] if isinstance(span, Mapping) else list(span)
        if isinstance(span, Sequence) and not isinstance(span, str) else []
    )  # fmt: skip
    ends = [n for n in map(whole, pair) if n is not None]
    if len(pair) != 2 or len(ends) != 2 or not 0 <= ends[0] < ends[1] < 2**63:
        raise RowError(
            f"hit {rank} has the span {shown(span)}; expected start_char and end_char, whole "
            "numbers of characters with start_char before end_char"
        )
    return ends[0], ends[1]


def _score(value: Any, rank: int) -> float:
    number = real(value)
    if number is None or not math.isfinite(number):
        raise RowError(f"hit {rank} has the score {shown(value)}; expected a finite number")
    return number


def _check_repeats(hits: Sequence[Hit]) -> None:
    """An id names one hit, be it a chunk's or, of a hit that is its source alone, a document's."""
    seen: dict[tuple[str | None, ...], int] = {}
    for rank, hit in enumerate(hits, 1):
        name, source = hit.get("chunk_id"), hit.get("source_id")
        if name is None and hit.keys() & {"text", "spans"}:
            continue
        revision = hit.get("revision_id")
        key = (name or source,) if name or revision is None else (source, revision)
        if seen.setdefault(key, rank) != rank:
            what = f"chunk_id {name!r}" if name is not None else f"document {source!r}"
            raise RowError(f"hits {seen[key]} and {rank} are the same {what}")


def _check_scores(scores: Sequence[float | None]) -> None:
    given = [score for score in scores if score is not None]
    if given and len(given) < len(scores):
        lacking = scores.index(None) + 1
        raise RowError(f"hit {lacking} has no score, though others have: give all of them or none")
    for rank, (before, after) in enumerate(pairwise(given), 1):
        if after > before:
            raise RowError(
                f"hit {rank + 1} has the score {after:g}, more than hit {rank} with {before:g}: "
                "list hits best first, or leave the scores out"
            )
