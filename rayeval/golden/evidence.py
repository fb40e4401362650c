"""Evidence of one question as rows of tables.EVIDENCE: spans merged, ids and groups filled in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from rayeval.golden import contract
from rayeval.golden.contract import Evidence, Group, Location, Row
from rayeval.golden.problems import Record, nearest, path_of
from rayeval.golden.validate import Path, fitted

DEFAULT_RELEVANCE = 3
FIELDS = frozenset(Evidence.model_fields)
LOCATION = tuple(Location.model_fields)
ANY_EVIDENCE = frozenset({"evidence", *LOCATION})

Fault = tuple[str, str]
"""A problem's kind and message."""


def evidence_of(row: Row, unfit: set[str], record: Record) -> tuple[list[dict[str, Any]], bool]:
    """The row's evidence, and whether that is all of it; the rest are problems at `record`.

    unfit: the row's fields that don't fit the contract.
    """
    items = _items(row, record)
    found, ids = [], []
    for number, (path, item) in enumerate(items, start=1):
        evidence, wrong = fitted(Evidence, item, record, path)
        stated = contract.named(item.get("evidence_id")) if isinstance(item, dict) else None
        ids.append(stated if isinstance(stated, str) and stated else f"e{number}")
        if evidence is None or wrong & FIELDS:
            continue
        faults = list(_faults(evidence))
        for kind, message in faults:
            record.problem(kind, f"{path_of(path) or 'the evidence'}: {message}")
        if not faults:
            found.append(_entry(evidence, ids[-1]))
    for name in sorted({name for name in ids if ids.count(name) > 1}):
        message = f"{ids.count(name)} pieces of evidence are called {name!r}; rename all but one"
        record.problem("duplicate_evidence_id", message)
    _group(found, ids, row.evidence_groups or [], record)
    complete = len(found) == len(items) and not unfit & ANY_EVIDENCE
    return found, complete


def _items(row: Row, record: Record) -> list[tuple[Path, Any]]:
    """Each piece of evidence with its path; the row's own location is one without."""
    listed: list[tuple[Path, Any]] = [
        (("evidence", n), e) for n, e in enumerate(row.evidence or [])
    ]
    own = {name: vars(row)[name] for name in LOCATION if vars(row)[name] is not None}
    if own and listed:
        names = ", ".join(f"`{name}`" for name in own)
        record.problem("field_twice", f"{names} beside `evidence`, which says the same; keep one")
    return listed or ([((), own)] if own else [])


def _faults(evidence: Evidence) -> Iterator[Fault]:
    """What is wrong with evidence whose fields fit one by one."""
    given = {name for name, value in vars(evidence).items() if value is not None}
    if evidence.quote is not None and not evidence.quote.strip():
        yield "empty_quote", "the quote is empty; leave it out or fill it in"
    if "source_id" not in given:
        needy = sorted(given & {"revision_id", "element_id", "start_char", "end_char", "spans"})
        if needy:
            yield "missing_field", f"`{needy[0]}` without a `source_id`; say in which source"
        elif "quote" not in given:
            yield "missing_field", "neither `source_id` nor `quote`; say where the answer stands"
    if "cell" in given and "element_id" not in given:
        yield "missing_field", "`cell` without an `element_id`; say in which table"
    if len(given & {"start_char", "end_char"}) == 1:
        missing = "end_char" if "start_char" in given else "start_char"
        yield "missing_field", f"`{missing}` is missing; offsets come in pairs"
    if "spans" in given and given & {"start_char", "end_char"}:
        yield "field_twice", "`spans` and `start_char`, `end_char` too; keep one"
    if evidence.spans == []:
        yield "empty_span", "`spans` is an empty list; leave it out or fill it in"
    for start, end in _pairs(evidence):
        yield from _span_faults(start, end)


def _span_faults(start: int, end: int) -> Iterator[Fault]:
    if start < 0 or end < 0:
        yield "negative_offset", f"[{start}, {end}) begins before the text; offsets count from 0"
    if start == end:
        yield "empty_span", f"[{start}, {end}) holds no character; end_char is exclusive"
    if start > end:
        yield "inverted_span", f"[{start}, {end}) ends before it starts; swap the two"


def _pairs(evidence: Evidence) -> list[tuple[int, int]]:
    """Its spans as written."""
    if evidence.spans:
        return [(span.start_char, span.end_char) for span in evidence.spans]
    if evidence.start_char is not None and evidence.end_char is not None:
        return [(evidence.start_char, evidence.end_char)]
    return []


def _entry(evidence: Evidence, evidence_id: str) -> dict[str, Any]:
    """One row of tables.EVIDENCE, but for a group that is named elsewhere."""
    pairs, relevance = _pairs(evidence), evidence.relevance
    return {
        **vars(evidence),
        "evidence_id": evidence_id,
        "aspects": evidence.aspects or [],
        "spans": merged(pairs) if pairs else None,
        "relevance": DEFAULT_RELEVANCE if relevance is None else relevance,
    }


def merged(pairs: Sequence[tuple[int, int]]) -> list[dict[str, int]]:
    """Spans sorted by start, those that overlap or touch as one."""
    spans: list[dict[str, int]] = []
    for start, end in sorted(pairs):
        if spans and start <= spans[-1]["end_char"]:
            spans[-1]["end_char"] = max(end, spans[-1]["end_char"])
        else:
            spans.append({"start_char": start, "end_char": end})
    return spans


def _group(
    found: list[dict[str, Any]], ids: Sequence[str], groups: Sequence[Group], record: Record
) -> None:
    """Fills in every group_id: as `groups` say, as the evidence says, else one of its own."""
    named = {entry["evidence_id"]: entry["group_id"] for entry in found}
    for number, group in enumerate(groups):
        at = f"`evidence_groups[{number}]`"
        if not group.alternatives:
            record.problem("missing_field", f"{at} has no alternatives; list evidence ids")
        for name in dict.fromkeys(group.alternatives):
            if name not in ids:
                hint = nearest(name, ids) or f"; there are {', '.join(ids) or 'none'}"
                message = f"{at} names {name!r}, which is no evidence of this question{hint}"
                record.problem("unknown_alternative", message)
            elif (named.get(name) or group.group_id) != group.group_id:
                both = f"{named[name]!r} and {group.group_id!r}"
                message = f"{name!r} is in the groups {both}; list the evidence once for each"
                record.problem("evidence_in_two_groups", message)
            else:
                named[name] = group.group_id
    taken = {group_id for group_id in named.values() if group_id is not None}
    for entry in found:
        entry["group_id"] = named[entry["evidence_id"]] or _free(entry["evidence_id"], taken)


def _free(name: str, taken: set[str]) -> str:
    """A group of its own may not fall in with one that another evidence names."""
    while name in taken:
        name += "'"
    return name
