"""Which questions share the same slices: sets, whatever order and repetition their lists have."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rayeval.metrics.slices import slice_sets
from rayeval.tables import TEXTS

SETS = st.lists(st.none() | st.lists(st.sampled_from(["ko", "en", "a", "", "홉", "é"])))


def column(rows):
    return pa.array(rows, TEXTS)


@pytest.mark.parametrize(
    ("rows", "sets", "codes"),
    [
        pytest.param([], [], [], id="no question"),
        pytest.param([[], None], [()], [0, 0], id="no slice, nor a list"),
        pytest.param([["b", "a"], ["a", "b", "a"]], [("a", "b")], [0, 0], id="order, repetition"),
        pytest.param([["b"], ["a", "c"], ["a"], []], [(), ("a",), ("a", "c"), ("b",)], [3, 2, 1, 0],
                     id="sorted as words in a dictionary are"),
        pytest.param([["Z"], ["한"], ["a"]], [("Z",), ("a",), ("한",)], [0, 2, 1], id="by code point"),
    ],
)  # fmt: skip
def test_sets_of_slices(rows, sets, codes):
    found, code = slice_sets(column(rows))
    assert (found, code.tolist()) == (sets, codes)


@given(SETS, st.integers(0, 3))
def test_every_question_has_its_own_set(rows, cut):
    parts = [column(rows[:cut]), column(rows[cut:])]
    found, code = slice_sets(pa.chunked_array(parts))
    own = [tuple(sorted(set(row or ()))) for row in rows]
    assert [found[at] for at in code] == own
    assert found == sorted(set(own))
    assert code.dtype == np.int64
