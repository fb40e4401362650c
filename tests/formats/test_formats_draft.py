"""A draft's elements are exactly its text, whatever is laid down."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rayeval.corpus.extract.draft import Draft, Line
from rayeval.corpus.parse.element import Element

TEXT = st.text(st.sampled_from("ab \n\t\u00a0가\U0001f600"), max_size=6)
PAGE = st.none() | st.integers(1, 3)
BLOCK = st.tuples(st.just("block"), TEXT, PAGE)
ROWS = st.lists(st.builds(Line, st.lists(TEXT, max_size=3), PAGE), max_size=3)
ITEMS = st.lists(st.builds(Line, st.tuples(TEXT), PAGE), max_size=3)
PARTS = BLOCK | st.tuples(st.just("table"), ROWS) | st.tuples(st.just("items"), ITEMS)


@given(st.lists(PARTS, max_size=5))
def test_elements_lie_in_order_and_hold_all_of_the_text(parts):
    draft = Draft()
    for name, *rest in parts:
        if name == "block":
            draft.block("paragraph", *rest)
        else:
            getattr(draft, name)(*rest)
    held = set()
    for element in draft.elements:
        words = draft.text[element.start : element.end]
        assert words == words.strip() != ""
        held |= set(range(element.start, element.end))
    assert not "".join(c for i, c in enumerate(draft.text) if i not in held).strip()
    assert draft.elements == sorted(draft.elements, key=lambda e: (e.start, -e.end))
    names = [element.element_id for element in draft.elements]
    assert len(set(names)) == len(names)
    assert [Element.of(element.row()) for element in draft.elements] == draft.elements


@pytest.mark.parametrize(
    ("given", "text"),
    [
        pytest.param("a(cid:12)b", "a\ufffdb", id="a glyph without a character"),
        pytest.param("a\ud83db", "a\ufffdb", id="half of a pair"),
        pytest.param(" \t\n", "", id="white space alone"),
    ],
)
def test_what_is_no_character_is_marked(given, text):
    draft = Draft()
    draft.block("paragraph", given, None)
    assert draft.text == text
