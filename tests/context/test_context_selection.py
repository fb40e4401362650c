import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter

from rayeval.context.selection import SELECTED, Budget, Context, TopK, build
from rayeval.errors import RowError
from rayeval.tables import HITS, PASSAGES, TEXT


def place(chunk_id, *spans, tokens=1, source="s", revision="1"):
    return {
        "chunk_id": chunk_id,
        "source_id": source,
        "revision_id": revision,
        "spans": [{"start_char": a, "end_char": b} for a, b in spans],
        "tokens": tokens,
    }


def batch(*rows):
    """A question per row: its places, in the order in which they were found (None: not run)."""
    found = [
        None if r is None else [{"chunk_id": p["chunk_id"], "score": -n} for n, p in enumerate(r)]
        for r in rows
    ]
    known = [sorted(r or [], key=lambda p: p["chunk_id"]) for r in rows]
    return pa.table(
        {
            "question_id": pa.array([f"q{n}" for n in range(len(rows))], TEXT),
            "fused": pa.array(found, HITS),
            "passages": pa.array(known, PASSAGES),
        }
    )


def select(config, *rows):
    """[(chosen ids, tokens, duplicates)]"""
    table = build(config, "fused")(batch(*rows))
    assert table.schema == SELECTED
    return [
        ([h["chunk_id"] for h in r["hits"]], r["context_tokens"], r["duplicates"])
        for r in table.to_pylist()
    ]


SIZES = [place(name, tokens=n) for name, n in [("d", 40), ("a", 60), ("c", 30), ("b", 1)]]


@pytest.mark.parametrize(
    ("config", "want"),
    [
        pytest.param(TopK(depth=2), (["d", "a"], 100), id="top 2"),
        pytest.param(TopK(depth=9), (["d", "a", "c", "b"], 131), id="fewer hits than asked for"),
        pytest.param(Budget(max_tokens=131), (["d", "a", "c", "b"], 131), id="all fit exactly"),
        pytest.param(Budget(max_tokens=100), (["d", "a"], 100), id="the budget is met exactly"),
        pytest.param(Budget(max_tokens=99), (["d"], 40), id="ends at the first that doesn't fit"),
        pytest.param(Budget(max_tokens=39), ([], 0), id="nothing fits"),
        pytest.param(Budget(max_tokens=131, depth=3), (["d", "a", "c"], 130), id="depth besides"),
    ],
)
def test_what_is_chosen(config, want):
    ((chosen, tokens, _),) = select(config, SIZES)
    assert (chosen, tokens) == want


def test_each_question_has_a_budget_of_its_own():
    rows = [SIZES, [], None, SIZES[1:]]
    want = [(["d"], 40, 0), ([], 0, 0), ([], 0, 0), (["a", "c"], 90, 0)]
    spans = [[{**p, "spans": [{"start_char": n, "end_char": n + 1}]} for n, p in enumerate(r or [])] for r in rows]  # fmt: skip
    assert select(Budget(max_tokens=90), *spans) == want
    assert select(Budget(max_tokens=90)) == []


@pytest.mark.parametrize(
    ("places", "duplicates"),
    [
        pytest.param([place("a", (0, 9)), place("b", (3, 6))], 1, id="inside an earlier one"),
        pytest.param([place("a", (3, 6)), place("b", (0, 9))], 0, id="around an earlier one"),
        pytest.param([place("a", (0, 5)), place("b", (4, 9))], 0, id="overlapping one"),
        pytest.param([place("a", (0, 5)), place("b", (5, 9))], 0, id="touching one"),
        pytest.param([place("a", (0, 9)), place("b", (0, 9))], 1, id="the same characters"),
        pytest.param(
            [place("a", (0, 5)), place("c", (4, 9)), place("b", (3, 8))], 1, id="inside two together"
        ),
        pytest.param(
            [place("a", (0, 5)), place("c", (6, 9)), place("b", (3, 8))], 0, id="a gap between two"
        ),
        pytest.param(
            [place("a", (0, 2), (6, 9)), place("b", (1, 2), (7, 8))], 1, id="spans in several pieces"
        ),
        pytest.param(
            [place("a", (0, 2), (6, 9)), place("b", (1, 2), (5, 8))], 0, id="one piece is new"
        ),
        pytest.param(
            [place("a", (0, 9)), place("b", (0, 9), source="t")], 0, id="another source"
        ),
        pytest.param(
            [place("a", (0, 9)), place("b", (0, 9), revision="2")], 0, id="another revision"
        ),
        pytest.param([place("a", (0, 9)), place("b")], 0, id="without spans nothing is known"),
    ],
)  # fmt: skip
def test_duplicates_are_counted_not_removed(places, duplicates):
    assert select(TopK(depth=9), places) == [
        ([p["chunk_id"] for p in places], len(places), duplicates)
    ]


def test_what_was_not_chosen_repeats_nothing():
    assert select(TopK(depth=1), [place("a", (0, 9)), place("b", (0, 9))]) == [(["a"], 1, 0)]


SPANS = st.lists(st.tuples(st.integers(0, 12), st.integers(1, 5)), max_size=3)
PLACES = st.lists(st.tuples(SPANS, st.sampled_from("st"), st.integers(0, 4)), max_size=6)
CONFIGS = st.one_of(
    st.builds(TopK, depth=st.integers(1, 4)),
    st.builds(Budget, max_tokens=st.integers(1, 9), depth=st.none() | st.integers(1, 4)),
)


@settings(max_examples=60, deadline=None)
@given(CONFIGS, st.lists(PLACES, max_size=4))
def test_selection_agrees_with_one_made_hit_by_hit(config, drawn):
    rows = [
        [
            place(f"c{n}", *((a, a + size) for a, size in spans), source=source, tokens=tokens)
            for n, (spans, source, tokens) in enumerate(row)
        ]
        for row in drawn
    ]
    want = []
    for row in rows:
        chosen, tokens, duplicates, seen = [], 0, 0, set()
        for hit in row[: config.depth]:
            if config.kind == "budget" and tokens + hit["tokens"] > config.max_tokens:
                break
            chosen.append(hit["chunk_id"])
            tokens += hit["tokens"]
            characters = {
                (hit["source_id"], n)
                for span in hit["spans"]
                for n in range(span["start_char"], span["end_char"])
            }
            duplicates += bool(characters) and characters <= seen
            seen |= characters
        want.append((chosen, tokens, duplicates))
    assert select(config, *rows) == want
    table, stage = batch(*rows), build(config, "fused")
    single = [stage(table.slice(n, 1)) for n in range(len(rows))]
    assert (
        pa.concat_tables([SELECTED.empty_table(), *single])
        .combine_chunks()
        .equals(stage(table).combine_chunks())
    )


def test_a_hit_without_a_passage_names_its_question():
    table = batch([place("a", (0, 1))], [place("b", (0, 1))])
    table = table.set_column(2, "passages", pa.array([[place("a", (0, 1))], []], PASSAGES))
    with pytest.raises(RowError, match="question q1: chunk b in 'fused'"):
        build(TopK(), "fused")(table)


@pytest.mark.parametrize(
    "wrong",
    [{"kind": "top_k", "depth": 0}, {"kind": "budget"}, {"kind": "budget", "max_tokens": 0}, {}],
)
def test_settings_out_of_range_are_refused(wrong):
    with pytest.raises(ValueError):
        TypeAdapter(Context).validate_python(wrong)
