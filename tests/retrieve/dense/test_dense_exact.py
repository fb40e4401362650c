"""Exact search: a full sort of exact scores, however it is cut and whatever scans."""

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rayeval.errors import ConfigError, RowError, RunError
from rayeval.retrieve.dense.config import Dense, Hashed
from rayeval.retrieve.dense.exact import ExactSearch
from rayeval.retrieve.dense.ranks import ExactRanks, ExactScores
from rayeval.retrieve.dense.vectors import unit
from rayeval.retrieve.filter import Filter

BACKENDS = ("faiss", "numpy", "torch")
OPEN = Filter()


def arm(depth, backend="numpy"):
    return Dense(embedder=Hashed(), depth=depth, backend=backend)


def search(shards, batch, depth, *, backend="numpy", filtering=OPEN):
    scatter = ExactSearch(arm(depth, backend), filtering)
    return scatter.gather([scatter.load(shard)(batch) for shard in shards])


def full_sort(ids, vectors, queries, depth, visible=None):
    """Straight from the definition: float64 sums, sorted by (-score, chunk_id)."""
    result = []
    for query in queries:
        rows = [
            {"chunk_id": i, "score": float((query.astype(float) * x.astype(float)).sum()) + 0.0}
            for i, x in zip(ids, vectors, strict=True)
            if visible is None or i in visible
        ]
        result.append(sorted(rows, key=lambda hit: (-hit["score"], hit["chunk_id"]))[:depth])
    return result


@st.composite
def corpora(draw):
    """Few distinct vectors, so that many tie exactly."""
    count = draw(st.integers(1, 40))
    dim = draw(st.integers(1, 5))
    values = st.sampled_from([-1.0, -0.5, 0.0, 0.25, 0.1, 1.0])
    distinct = draw(st.lists(st.lists(values, min_size=dim, max_size=dim), min_size=1, max_size=4))
    chosen = draw(st.lists(st.integers(0, len(distinct) - 1), min_size=count, max_size=count))
    vectors = np.array([distinct[c] for c in chosen], np.float32)
    ids = draw(st.permutations([f"c{n:02}" for n in range(count)]))
    asked = draw(st.lists(st.lists(values, min_size=dim, max_size=dim), min_size=1, max_size=4))
    return ids, vectors, np.array(asked, np.float32)


@pytest.mark.parametrize("backend", BACKENDS)
@given(corpus=corpora(), depth=st.integers(1, 12), cuts=st.integers(1, 4))
@settings(max_examples=60, deadline=None)
def test_shards_and_batches_give_the_full_sort(made, backend, corpus, depth, cuts):
    ids, vectors, queries = corpus
    shards = [
        made.shard({"vectors": [made.vectors(ids[n::cuts], vectors[n::cuts])]})
        for n in range(min(cuts, len(ids)))
    ]
    batch = made.questions(queries)
    together = search(shards, batch, depth, backend=backend)
    assert together["hits"].to_pylist() == full_sort(ids, vectors, queries, depth)
    one_by_one = [
        search(shards, batch.slice(n, 1), depth, backend=backend) for n in range(len(queries))
    ]
    assert pa.concat_tables(one_by_one).equals(together)


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_thousand_duplicates_come_in_the_order_of_their_ids(made, backend):
    rng = np.random.default_rng(3)
    vectors = np.repeat(unit(rng.standard_normal((4, 24))), 500, axis=0)
    ids = [f"c{n:04}" for n in rng.permutation(2000)]
    queries = unit(rng.standard_normal((30, 24)))
    shard = made.shard({"vectors": [made.vectors(ids, vectors)]})
    found = search([shard], made.questions(queries), 700, backend=backend)
    assert found["hits"].to_pylist() == full_sort(ids, vectors, queries, 700)


def test_scores_closer_than_float32_can_tell_are_ordered_exactly(made):
    """Rows differ in the last bit of one coordinate, under a large common part."""
    vectors = np.full((300, 8), 0.7, np.float32)
    steps = np.random.default_rng(0).permutation(300)
    vectors[:, 7] = np.float32(1e-3) + steps * np.spacing(np.float32(1e-3))
    ids = [f"c{n:03}" for n in range(300)]
    queries = np.full((25, 8), 0.9, np.float32)
    shard = made.shard({"vectors": [made.vectors(ids, vectors)]})
    found = search([shard], made.questions(queries), 40, backend="faiss")
    assert found["hits"].to_pylist() == full_sort(ids, vectors, queries, 40)


def test_agrees_with_faiss_on_real_sized_vectors(made):
    faiss = pytest.importorskip("faiss")
    rng = np.random.default_rng(5)
    vectors, queries = (unit(rng.standard_normal((n, 384))) for n in (5000, 50))
    ids = [f"{n:05}" for n in range(5000)]
    shard = made.shard({"vectors": [made.vectors(ids[i::3], vectors[i::3]) for i in range(3)]})
    found = search([shard], made.questions(queries), 20)["hits"].combine_chunks().flatten()
    scores, rows = faiss.knn(queries, vectors, 20, metric=faiss.METRIC_INNER_PRODUCT)
    assert found.field("chunk_id").to_pylist() == [ids[row] for row in rows.ravel()]
    np.testing.assert_allclose(found.field("score").to_numpy(), scores.ravel(), atol=1e-6)


def test_depth_is_filled_after_filtering(made):
    ids = ["a", "b", "c", "d", "e"]
    vectors = np.array([[5.0], [4.0], [3.0], [2.0], [1.0]], np.float32)
    access = [["hr"], [], ["hr", "it"], [], []]
    shard = made.shard(
        {
            "vectors": [made.vectors(ids[::-1], vectors[::-1])],
            "chunks": [made.chunks(ids, access)],
        },
        {"catalogue": made.catalogue(ids, stale=("d",))},
    )
    batch = made.questions(np.ones((4, 1)), [[], ["it"], ["x", "hr"], ["hr", "x"]])
    for backend in BACKENDS:
        found = search(
            [shard], batch, 3, backend=backend, filtering=Filter(access=True, current=True)
        )
        seen = [[hit["chunk_id"] for hit in hits] for hits in found["hits"].to_pylist()]
        assert seen == [["b", "e"], ["b", "c", "e"], ["a", "b", "c"], ["a", "b", "c"]]


def test_chunks_without_vector_are_never_hits_and_questions_without_one_are_not_run(made):
    vectors = np.eye(3, dtype=np.float32)
    shard = made.shard({"vectors": [made.vectors(["a", "b", "c"], vectors, missing=("b",))]})
    batch = made.questions(np.array([[0, 1, 0], [0, 0, 1]], np.float32), missing=(1,))
    found = search([shard], batch, 5)
    assert found["hits"].to_pylist() == [
        [{"chunk_id": "a", "score": 0.0}, {"chunk_id": "c", "score": 0.0}],
        None,
    ]
    assert found["error"].to_pylist() == [None, None]


@pytest.mark.parametrize("backend", BACKENDS)
def test_an_empty_shard_and_an_empty_batch(made, backend):
    vectors = made.vectors(["a"], np.ones((1, 2), np.float32))
    empty = made.shard({"vectors": [vectors.slice(0, 0)]})
    batch = made.questions(np.ones((2, 2), np.float32))
    assert search([empty], batch, 3, backend=backend)["hits"].to_pylist() == [[], []]
    assert search([made.shard({"vectors": []})], batch, 3)["hits"].to_pylist() == [[], []]
    full = made.shard({"vectors": [vectors]})
    assert search([full], batch.slice(0, 0), 3, backend=backend).num_rows == 0
    both = search([empty, full], batch, 3, backend=backend)
    assert both["hits"].to_pylist() == [[{"chunk_id": "a", "score": 2.0}]] * 2


def test_what_is_wrong_with_a_vector_is_said(made):
    good = made.shard({"vectors": [made.vectors(["a"], np.ones((1, 2), np.float32))]})
    with pytest.raises(RowError, match="NaN"):
        search([good], made.questions(np.array([[np.nan, 1]], np.float32)), 3)
    with pytest.raises(ConfigError, match="3 dimensions, the stored ones 2"):
        search([good], made.questions(np.ones((1, 3), np.float32)), 3)
    bad = np.ones((2, 2), np.float32)
    bad[1, 0] = np.inf
    damaged = made.shard({"vectors": [made.vectors(["a", "b"], bad)]})
    with pytest.raises(RunError, match="chunk b"):
        search([damaged], made.questions(np.ones((1, 2), np.float32)), 3)


def rank(shards, batch, wanted, filtering=OPEN):
    scores = ExactScores()
    batch = batch.append_column("wanted", pa.array(wanted, pa.list_(pa.large_string())))
    known = scores.gather([scores.load(shard)(batch) for shard in shards])
    batch = batch.append_column("scores", known["scores"])
    ranks = ExactRanks(filtering)
    counts = ranks.gather([ranks.load(shard)(batch) for shard in shards])
    return known["scores"].to_pylist(), counts["outranked_by"].to_pylist()


@given(corpus=corpora(), cuts=st.integers(1, 3))
@settings(max_examples=60, deadline=None)
def test_ranks_are_places_in_the_full_sort(made, corpus, cuts):
    ids, vectors, queries = corpus
    shards = [
        made.shard({"vectors": [made.vectors(ids[n::cuts], vectors[n::cuts])]})
        for n in range(min(cuts, len(ids)))
    ]
    whole = full_sort(ids, vectors, queries, len(ids))
    scores, before = rank(shards, made.questions(queries), [ids[:7]] * len(queries))
    for row, hits in enumerate(whole):
        places = {hit["chunk_id"]: place for place, hit in enumerate(hits)}
        by_id = {hit["chunk_id"]: hit["score"] for hit in hits}
        assert [hit["chunk_id"] for hit in scores[row]] == sorted(ids[:7])
        assert [hit["score"] for hit in scores[row]] == [by_id[i] for i in sorted(ids[:7])]
        assert before[row] == [places[i] for i in sorted(ids[:7])]


def test_ranks_among_visible_chunks_of_a_chunk_that_lies_elsewhere(made):
    ids = ["a", "b", "c"]
    vectors = np.array([[3.0], [2.0], [2.0]], np.float32)
    shard = made.shard(
        {"vectors": [made.vectors(ids, vectors)], "chunks": [made.chunks(ids, [["hr"], [], []])]},
        {"catalogue": made.catalogue(ids)},
    )
    other = made.shard(
        {
            "vectors": [made.vectors(["bb"], np.array([[2.0]], np.float32))],
            "chunks": [made.chunks(["bb"])],
        },
        {"catalogue": made.catalogue(["bb"])},
    )
    batch = made.questions(np.ones((3, 1), np.float32), [[], ["hr"], []], missing=(2,))
    scores, before = rank([shard, other], batch, [["bb", "zz"]] * 3, Filter(access=True))
    assert scores == [[{"chunk_id": "bb", "score": 2.0}]] * 2 + [[]]
    assert before == [[1], [2], []]


def test_near_ties_are_ranked_exactly_on_unit_vectors(made):
    rng = np.random.default_rng(9)
    centre = unit(rng.standard_normal((1, 64)))
    vectors = unit(centre + 1e-7 * rng.standard_normal((2000, 64)).astype(np.float32))
    ids = [f"{n:04}" for n in rng.permutation(2000)]
    shard = made.shard({"vectors": [made.vectors(ids, vectors)]})
    _, before = rank([shard], made.questions(centre), [ids[:50]])
    order = [hit["chunk_id"] for hit in full_sort(ids, vectors, centre, 2000)[0]]
    assert before[0] == [order.index(i) for i in sorted(ids[:50])]
    assert pl.Series(before[0]).n_unique() == 50
