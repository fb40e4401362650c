"""What holds for any hits that a live system may list."""

from itertools import pairwise

import numpy as np
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from rayeval.golden.placing import PLACED
from rayeval.hits import hits_of
from rayeval.live import template
from rayeval.retrieve.foreign.passages import Passages
from rayeval.tables import FOREIGN_HIT, PASSAGES, TEXT

NAMES = st.sampled_from(["a", "b", "서울", "x y\t"])
SPANS = st.lists(st.tuples(st.integers(0, 9), st.integers(10, 19)), min_size=1, max_size=3)
HIT = st.fixed_dictionaries(
    {"text": st.text(max_size=3)},
    optional={"source_id": NAMES, "revision_id": NAMES, "score": st.just(1.0)},
) | st.builds(lambda name, spans: {"source_id": name, "spans": spans}, NAMES, SPANS)


@given(st.lists(HIT.map(lambda hit: {**hit, "score": 0.5}), max_size=5))
def test_hits_that_were_read_read_the_same_again(found):
    hits = hits_of(found)
    assert hits_of(hits) == hits
    assert len(hits) == len(found)
    for hit in hits:
        ends = [(span["start_char"], span["end_char"]) for span in hit.get("spans", [])]
        assert ends == sorted(ends)
        assert all(one[1] <= two[0] for one, two in pairwise(ends))


def placed(number):
    place = {"source_id": "d", "revision_id": "1", "spans": [{"start_char": 0, "end_char": 4}]}
    return {"number": number, "exact": True, **place, "text": "text"}


@st.composite
def rows(draw):
    """Questions with hits, ids of theirs unique, some of which are located or chunks of the run."""
    found, spots, own = [], [], []
    for _ in range(draw(st.integers(1, 4))):
        ids = draw(st.lists(st.sampled_from("pqrstu"), unique=True, max_size=5))
        texts = [draw(st.sampled_from(["", "one", "two"])) for _ in ids]
        found.append([{"chunk_id": i, "text": t} for i, t in zip(ids, texts, strict=True)])
        spots.append([placed(n) for n in range(len(ids)) if draw(st.booleans())])
        mine = sorted(i for i in ids if draw(st.booleans()))
        own.append([{"chunk_id": i, "source_id": "d", "spans": [], "tokens": 1} for i in mine])
    n = len(found)
    return pa.table(
        {
            "question_id": pa.array([f"q{i}" for i in range(n)], TEXT),
            "found": pa.array(found, pa.list_(FOREIGN_HIT)),
            "failed": pa.nulls(n, TEXT),
            "spots": pa.array(spots, pa.list_(PLACED)),
            "own": pa.array(own, PASSAGES),
        }
    )


@settings(max_examples=60)
@given(rows())
def test_every_hit_is_one_passage_in_its_place(batch):
    stage = Passages(lambda texts: np.array([len(t) for t in texts.to_pylist()], np.int64))
    whole = stage(batch)
    parts = [stage(batch.slice(i, 1)) for i in range(batch.num_rows)]
    assert pa.concat_tables(parts).equals(whole)
    for row, found in zip(whole.to_pylist(), batch.to_pylist(), strict=True):
        ids = [hit["chunk_id"] for hit in row["hits"]]
        assert len(set(ids)) == len(ids) == len(found["found"])
        own = {place["chunk_id"] for place in found["own"]}
        brought = {passage["chunk_id"]: passage for passage in row["foreign"]}
        assert set(ids) == brought.keys() | own
        assert [hit["score"] for hit in row["hits"]] == [-1.0 - n for n in range(len(ids))]
        lying = sum(passage["spans"] is not None for passage in brought.values())
        assert row["ambiguous"] + row["lost"] == len(brought) - lying
        texts = [hit["text"] for hit in found["found"] if hit["chunk_id"] not in own]
        assert [brought[name]["text"] for name in ids if name in brought] == texts


@given(st.text(), st.lists(st.text()), st.integers(1, 99))
def test_whatever_is_asked_arrives_as_it_is(question, principals, depth):
    values = {"question": question, "principals": principals, "depth": depth}
    written = (
        '{"q": {question}, "who": "{principals}", "in": "<{question}>", "k": {depth}, "x": "{}"}'
    )
    assert template.filled_body(template.body_of(written), values) == {
        "q": question, "who": principals, "in": f"<{question}>", "k": depth, "x": "{}",
    }  # fmt: skip
