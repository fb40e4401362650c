"""Offsets counted in other units, as code points."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rayeval.golden.units import Counted

ENCODINGS = {"UTF-16 units": ("utf-16-le", 2), "UTF-8 bytes": ("utf-8", 1)}


@pytest.mark.parametrize(
    ("unit", "span", "want"),
    [
        pytest.param("UTF-16 units", (3, 4), [(2, 3)], id="UTF-16"),
        pytest.param("UTF-8 bytes", (5, 6), [(2, 3)], id="bytes"),
        pytest.param("UTF-16 units", (2, 4), None, id="within a pair"),
        pytest.param("UTF-8 bytes", (3, 6), None, id="within a letter"),
        pytest.param("UTF-8 bytes", (5, 7), None, id="outside"),
        pytest.param("UTF-8 bytes", (-1, 1), None, id="before the text"),
    ],
)
def test_code_points(unit, span, want):
    assert Counted("A😀B", unit).code_points([span]) == want


@given(st.text(max_size=20), st.sampled_from(sorted(ENCODINGS)), st.data())
def test_as_the_encoding_counts(text, unit, data):
    encoding, width = ENCODINGS[unit]
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    counted = tuple(len(text[:at].encode(encoding)) // width for at in (start, end))
    assert Counted(text, unit).code_points([counted]) == [(start, end)]
