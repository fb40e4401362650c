"""Chunks looked up by their ids."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rayeval.metrics.foreign.chunks import Chunks, _Places
from rayeval.metrics.foreign.hits import hashed
from rayeval.tables import TEXT

IDS = ["doc-1#0", "doc-1#1", "정책 문서#0", "a\tb", "", "e\u0301", "é"]
SOURCES = ["doc-1", "doc-1", "정책 문서", None, "x", "x", "x"]


def table(start=0, stop=None):
    rows = {"chunk_id": IDS[start:stop], "source_id": SOURCES[start:stop]}
    return pa.table({name: pa.array(values, TEXT) for name, values in rows.items()})


def test_a_chunk_is_found_by_its_id_alone():
    chunks = Chunks([table(0, 3), table(3)])
    asked = pa.array([*reversed(IDS), None, "doc-1#2", "É"], TEXT)
    assert chunks.find(asked).tolist() == [6, 5, 4, 3, 2, 1, 0, -1, -1, -1]


def test_what_a_chunk_has_of_a_repeated_column_is_text():
    chunks = Chunks([table(0, 3), table(3)])
    found = chunks.take("source_id", np.array([2, -1, 0, 3, 6]))
    assert (found.type, found.to_pylist()) == (TEXT, ["정책 문서", None, "doc-1", None, "x"])


@pytest.mark.parametrize("tables", [[], [table(0, 0)]], ids=["no table", "no row"])
def test_an_empty_table_has_no_chunk(tables):
    assert Chunks(tables).find(pa.array(["doc-1#0", None], TEXT)).tolist() == [-1, -1]


HASHES = st.integers(0, 2**64 - 1) | st.integers(0, 9) | st.integers(2**63, 2**63 + 9)


@given(st.lists(HASHES, min_size=1), st.lists(HASHES))
def test_a_hash_is_found_wherever_hashes_crowd(values, others):
    hashes, wanted = (np.array(some, np.uint64) for some in (values, [*values, *others]))
    found = _Places(hashes).find(wanted)
    assert ((found >= 0) & (found < len(hashes))).all()
    assert ((hashes[found] == wanted) == np.isin(wanted, hashes)).all()


@given(st.lists(st.none() | st.text()), st.lists(st.integers(0, 8)))
def test_ids_in_a_dictionary_have_the_hashes_of_their_text(names, cut):
    ids = pa.array(names, TEXT)
    assert hashed(ids.dictionary_encode()).tolist() == hashed(ids).tolist()
