"""Where hits and chunks say that they stand, under names by which some can be found not to."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from rayeval.columns import flatten, lists
from rayeval.tables import SPANS, TEXT

KEY = ("source_id", "revision_id")


def field(items: pa.StructArray, name: str, kind: pa.DataType = TEXT) -> pa.Array:
    """A field of hits or chunks, null where it was not written."""
    at = items.type.get_field_index(name)
    return pa.nulls(len(items), kind) if at < 0 else items.field(at).cast(kind)


def shown(spans: pa.Array) -> pa.Array:
    """`[0,150)` of every span, joined; nothing of a whole document."""
    owner, pairs = flatten(spans)
    ends = [part.cast(TEXT) for part in pairs.flatten()]
    opening, comma, closing, nothing = (pa.scalar(sign, TEXT) for sign in ("[", ",", ")", ""))
    each = pc.binary_join_element_wise(opening, ends[0], comma, ends[1], closing, nothing)
    return pc.binary_join(lists(owner, each.cast(pa.string()), len(spans)), "").cast(TEXT)


def names(items: pa.StructArray) -> pa.Array:
    """(n,): source, revision, spans and text, joined by NUL; null where there are no spans."""
    spans = field(items, "spans", SPANS)
    placed = pc.greater(pc.list_value_length(spans), 0)
    parts = [pc.fill_null(field(items, name), "") for name in (*KEY, "text")]
    shows = pc.if_else(placed, shown(spans), None)
    return pc.binary_join_element_wise(*parts[:2], shows, parts[2], pa.scalar("\0", TEXT))


def trusted(items: pa.StructArray, misplaced: pa.Array) -> pa.StructArray:
    """Without the spans of those whose name is among `misplaced`.

    One that had nothing else is text of nothing, lest it be taken for its whole document.
    """
    if not len(misplaced) or items.type.get_field_index("spans") < 0:
        return items
    wrong = pc.fill_null(pc.is_in(names(items), value_set=misplaced), False)
    if not pc.any(wrong).as_py():
        return items
    text, spans = field(items, "text"), field(items, "spans", SPANS)
    wordless = pc.and_(wrong, text.is_null())
    changed = {"spans": pc.if_else(wrong, None, spans), "text": pc.if_else(wordless, "", text)}
    every = {f.name: items.field(at) for at, f in enumerate(items.type)} | changed
    return pa.StructArray.from_arrays(list(every.values()), list(every))
