"""Windows of one length: exact, and none within another."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from rayeval.chunk.characters import Filled, classes, token_starts, word_starts
from rayeval.chunk.config import Chunk, Fixed, Structure
from rayeval.chunk.fixed import spans, windows
from rayeval.chunk.units import Units

untimed = settings(deadline=None)  # the machine's load is no property of the code


def pairs(starts, ends):
    return list(zip(starts.tolist(), ends.tolist(), strict=True))


@pytest.mark.parametrize(
    ("n", "size", "overlap", "want"),
    [
        pytest.param(0, 5, 0, [], id="nothing"),
        pytest.param(3, 5, 2, [(0, 3)], id="shorter than a window"),
        pytest.param(5, 5, 2, [(0, 5)], id="exactly one"),
        pytest.param(10, 5, 0, [(0, 5), (5, 10)], id="exactly two"),
        pytest.param(11, 5, 0, [(0, 5), (5, 10), (10, 11)], id="a tail"),
        pytest.param(8, 5, 2, [(0, 5), (3, 8)], id="no tail within the one before"),
        pytest.param(9, 5, 2, [(0, 5), (3, 8), (6, 9)], id="a tail that goes on"),
        pytest.param(4, 2, 1, [(0, 2), (1, 3), (2, 4)], id="one step at a time"),
    ],
)
def test_windows(n, size, overlap, want):
    assert pairs(*windows(n, size, overlap)) == want


def cut(text, size, overlap=0, starts=None):
    filled = Filled(classes(text))
    units = Units(len(text), None if starts is None else starts(classes(text)))
    return [text[a:b] for a, b in pairs(*spans(units, filled, size=size, overlap=overlap))]


@pytest.mark.parametrize(
    ("text", "size", "overlap", "starts", "want"),
    [
        pytest.param("ab cd ", 3, 0, None, ["ab ", "cd "], id="characters are exact"),
        pytest.param("a    b", 2, 0, None, ["a ", " b"], id="only white space is no chunk"),
        pytest.param("a😀\u0301b", 2, 1, None, ["a😀", "😀\u0301", "\u0301b"], id="code points"),
        pytest.param(" a  b c\n", 2, 0, word_starts, ["a  b", "c"], id="words"),
        pytest.param("a b c d", 3, 2, word_starts, ["a b c", "b c d"], id="words that overlap"),
        pytest.param("서울은 ok", 2, 0, token_starts, ["서울", "은 ok"], id="tokens"),
        pytest.param("  \n", 2, 0, word_starts, [], id="no words"),
    ],
)
def test_spans(text, size, overlap, starts, want):
    assert cut(text, size, overlap, starts) == want


def test_units_that_share_a_character_do_not_stop_the_windows():
    def starts(_):
        return np.array([0, 1, 1, 1, 1, 2])  # a, an emoji of four tokens, b

    assert cut("a😀b", 1, 0, starts) == ["a", "😀", "b"]
    assert cut("a😀b", 3, 0, starts) == ["a", "😀b"]


def test_what_no_unit_begins_with_goes_with_the_unit_before_it():
    def starts(_):
        return np.array([2, 5])

    assert cut("??a !b?", 1, 0, starts) == ["??a !", "b?"]


@untimed
@given(
    st.text("ab 가\n"), st.integers(1, 9), st.integers(0, 8), st.sampled_from([None, word_starts])
)
def test_windows_hold_all_that_is_visible_and_move_on(text, size, overlap, starts):
    overlap = min(overlap, size - 1)
    units = Units(len(text), None if starts is None else starts(classes(text)))
    found = pairs(*spans(units, Filled(classes(text)), size=size, overlap=overlap))
    covered = {i for a, b in found for i in range(a, b)}
    assert covered >= {i for i, char in enumerate(text) if not char.isspace()}
    assert all(text[a:b].strip() for a, b in found)
    assert sorted(set(found)) == found
    ends = [b for _, b in found]
    assert sorted(set(ends)) == ends


@pytest.mark.parametrize("kind", ["fixed", "structure"])
def test_overlap_must_be_smaller_than_size(kind):
    adapter = TypeAdapter(Chunk)
    with pytest.raises(ValidationError, match="overlap is 50 and size 50"):
        adapter.validate_python({"kind": kind, "size": 50, "overlap": 50})


def test_the_kind_chooses_the_chunker():
    adapter = TypeAdapter(Chunk)
    assert adapter.validate_python({"kind": "fixed", "size": 9}) == Fixed(size=9)
    assert adapter.validate_python({"kind": "structure", "size": 9}) == Structure(size=9)
    with pytest.raises(ValidationError, match="sise"):
        adapter.validate_python({"kind": "fixed", "size": 9, "sise": 9})
