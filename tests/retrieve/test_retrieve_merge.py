import itertools

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rayeval.retrieve.merge import merge_found
from rayeval.tables import FOUND


def found(*rows):
    """FOUND of questions q0, q1, …: a dict of scores by id, None, or an error's text."""
    return pa.Table.from_pylist(
        [
            {
                "question_id": f"q{n}",
                "hits": [{"chunk_id": c, "score": s} for c, s in row.items()]
                if isinstance(row, dict)
                else None,
                "error": row if isinstance(row, str) else None,
            }
            for n, row in enumerate(rows)
        ],
        schema=FOUND,
    )


@pytest.mark.parametrize(
    ("a", "b", "want"),
    [
        pytest.param({"x": 1.0}, {"y": 2.0}, {"y": 2.0, "x": 1.0}, id="best first"),
        pytest.param({"b": 1.0}, {"a": 1.0}, {"a": 1.0, "b": 1.0}, id="ties by id"),
        pytest.param({"c": 3.0, "b": 1.0}, {"a": 1.0}, {"c": 3.0, "a": 1.0}, id="a tie at the cut"),
        pytest.param({}, {}, {}, id="nothing found is an empty list"),
        pytest.param(None, None, None, id="not run stays not run"),
        pytest.param(None, {"a": 1.0}, {"a": 1.0}, id="run by one is run"),
        pytest.param({"a": 1.0}, "broken", "broken", id="an error is kept"),
        pytest.param("worse", "bad", "bad", id="of two errors the first by text"),
    ],
)
def test_two_shards(a, b, want):
    assert merge_found([found(a), found(b)], 2).equals(found(want))
    assert merge_found([found(b), found(a)], 2).equals(found(want))


def test_rows_stay_apart():
    left, right = found({"a": 1.0}, {}, "lost"), found({"b": 2.0}, {"b": 1.0}, {"b": 1.0})
    want = found({"b": 2.0, "a": 1.0}, {"b": 1.0}, "lost")
    assert merge_found([left, right], 5).equals(want)


def test_no_questions():
    assert merge_found([found(), found()], 5).equals(found())


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.dictionaries(st.text("abc", min_size=1, max_size=3), st.sampled_from([1.0, 2.0]))),
    st.integers(1, 4),
)
def test_any_grouping_of_shards_gives_the_same(shards, depth):
    taken: set[str] = set()
    parts = [found({})]
    for shard in shards:
        parts.append(found({c: s for c, s in shard.items() if c not in taken}))
        taken |= set(shard)
    whole = merge_found(parts, depth)
    for cut in range(1, len(parts)):
        halves = [merge_found(parts[:cut], depth), merge_found(parts[cut:], depth)]
        assert merge_found(halves, depth).equals(whole)
    for shuffled in itertools.islice(itertools.permutations(parts), 6):
        assert merge_found(shuffled, depth).equals(whole)
