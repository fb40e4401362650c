"""Approximate search: deterministic, blind to the batch, filled to its depth, scored exactly."""

import numpy as np
import pyarrow as pa
import pytest

from rayeval.errors import ConfigError, RunError
from rayeval.retrieve.dense import index as index_module
from rayeval.retrieve.dense.ann import AnnSearch, build_ann, in_partition
from rayeval.retrieve.dense.config import Dense, Hashed, Hnsw, IvfFlat, IvfPq
from rayeval.retrieve.dense.exact import ExactSearch
from rayeval.retrieve.dense.vectors import unit
from rayeval.retrieve.filter import Filter

pytest.importorskip("faiss")

COUNT, DIM, DEPTH = 1500, 32, 10
KINDS = [
    pytest.param(Hnsw(m=8, ef_construction=40, ef_search=20), id="hnsw"),
    pytest.param(IvfFlat(lists=12, probes=3), id="ivf_flat"),
    pytest.param(IvfPq(lists=12, probes=3, subvectors=8, bits=6), id="ivf_pq"),
]


@pytest.fixture(scope="module")
def corpus():
    rng = np.random.default_rng(11)
    ids = [f"{n:08x}{'0' * 24}" for n in rng.choice(2**32, COUNT, replace=False)]
    return ids, unit(rng.standard_normal((COUNT, DIM))), unit(rng.standard_normal((60, DIM)))


def shards(made, corpus, ann, *, cut=1, access=None, stale=()):
    """The index of every partition; vectors in `cut` tables, in another order."""
    ids, vectors, _ = corpus
    parts = {
        "vectors": [made.vectors(ids[n::cut], vectors[n::cut]) for n in reversed(range(cut))],
        "chunks": [made.chunks(ids, access)],
    }
    whole = {"catalogue": made.catalogue(ids, stale)}
    found = []
    for number in range(ann.partitions):
        shard = made.shard(parts, whole, number, ann.partitions)
        table = build_ann(ann, shard)
        found.append(made.shard({**parts, "ann": [table]}, whole, number, ann.partitions))
    return found


def search(kind, shards, batch, ann, filtering=Filter(), depth=DEPTH):  # noqa: B008
    scatter = kind(Dense(embedder=Hashed(), depth=depth, ann=ann), filtering)
    return scatter.gather([scatter.load(shard)(batch) for shard in shards])


def ids_of(table):
    return [[hit["chunk_id"] for hit in hits] for hits in table["hits"].to_pylist()]


@pytest.mark.parametrize("ann", KINDS)
@pytest.mark.parametrize("partitions", [1, 3])
def test_any_batch_and_any_build_give_the_same_bytes(made, corpus, ann, partitions):
    ann = ann.model_copy(update={"partitions": partitions})
    batch = made.questions(corpus[2])
    first = shards(made, corpus, ann)
    again = shards(made, corpus, ann, cut=4)
    assert [s.parts["ann"][0] for s in first] == [s.parts["ann"][0] for s in again]
    whole = search(AnnSearch, first, batch, ann)
    for step in (1, 7, 25):
        pieces = [search(AnnSearch, first, batch.slice(i, step), ann) for i in range(0, 60, step)]
        assert pa.concat_tables(pieces).combine_chunks() == whole.combine_chunks()
    assert search(AnnSearch, again[::-1], batch, ann) == whole


@pytest.mark.parametrize("ann", KINDS)
def test_hits_are_near_and_their_scores_exact(made, corpus, ann):
    batch = made.questions(corpus[2])
    found = search(AnnSearch, shards(made, corpus, ann), batch, ann)
    exact = search(ExactSearch, shards(made, corpus, ann), batch, ann, depth=COUNT)
    scores = [{h["chunk_id"]: h["score"] for h in hits} for hits in exact["hits"].to_pylist()]
    shared = 0
    for row, hits in enumerate(found["hits"].to_pylist()):
        assert len(hits) == DEPTH
        assert [hit["score"] for hit in hits] == [scores[row][hit["chunk_id"]] for hit in hits]
        assert hits == sorted(hits, key=lambda hit: (-hit["score"], hit["chunk_id"]))
        shared += len({h["chunk_id"] for h in hits} & set(list(scores[row])[:DEPTH]))
    assert 0.3 < shared / (60 * DEPTH) < 1  # it finds neighbours, and it is no exact search


def test_looking_at_everything_is_exact_search(made, corpus):
    batch = made.questions(corpus[2])
    for ann in (Hnsw(m=16, ef_search=COUNT), IvfFlat(lists=12, probes=12, partitions=2)):
        made_shards = shards(made, corpus, ann)
        exact = search(ExactSearch, made_shards[:1], batch, ann)
        assert search(AnnSearch, made_shards, batch, ann) == exact


@pytest.mark.parametrize("ann", KINDS)
@pytest.mark.parametrize("seen", [4, 12, 40])
def test_depth_is_filled_from_what_the_asker_sees(made, corpus, ann, seen):
    ids = corpus[0]
    chosen = set(np.random.default_rng(1).choice(ids, seen, replace=False))
    access = [[] if i in chosen else ["hr"] for i in ids]
    stale = (min(chosen),)
    batch = made.questions(corpus[2], [["hr"] if n % 2 else [] for n in range(60)])
    filtering = Filter(access=True, current=True)
    made_shards = shards(made, corpus, ann, access=access, stale=stale)
    for row, found in enumerate(ids_of(search(AnnSearch, made_shards, batch, ann, filtering))):
        visible = set(ids) - set(stale) if row % 2 else chosen - set(stale)
        assert len(found) == len(set(found)) == min(DEPTH, len(visible))
        assert set(found) <= visible


def test_more_than_the_probed_lists_hold_is_found_by_probing_more(made, corpus):
    ann = IvfFlat(lists=100, probes=1)
    made_shards = shards(made, corpus, ann)
    found = search(AnnSearch, made_shards, made.questions(corpus[2]), ann, depth=400)
    assert {len(hits) for hits in ids_of(found)} == {400}


def test_chunks_without_vector_and_empty_partitions(made):
    ids = ["00000002", "00000004", "00000006"]
    vectors = np.eye(3, dtype=np.float32)
    ann = Hnsw(m=4, partitions=2)
    table = made.vectors(ids, vectors, missing=("00000004",))
    made_shards = []
    for number in range(2):
        shard = made.shard({"vectors": [table]}, {}, number, 2)
        shard.parts["ann"] = [build_ann(ann, shard)]
        made_shards.append(shard)
    assert made_shards[1].parts["ann"][0].to_pylist() == [{"chunk_ids": [], "index": None}]
    found = search(AnnSearch, made_shards, made.questions(vectors[1:2]), ann)
    assert ids_of(found) == [["00000002", "00000006"]]


def test_partitions_share_all_chunks_by_the_number_their_ids_begin_with(corpus):
    ids = pa.array(corpus[0])
    owners = np.array([in_partition(ids, number, 7) for number in range(7)])
    assert (owners.sum(axis=0) == 1).all()
    assert owners.argmax(axis=0).tolist() == [int(i[:8], 16) % 7 for i in corpus[0]]


@pytest.mark.parametrize(
    ("ann", "message"),
    [
        pytest.param(IvfFlat(lists=2000), "2000 are configured", id="more lists than vectors"),
        pytest.param(IvfPq(lists=4, probes=1, subvectors=5), "5 `subvectors`", id="no divisor"),
        pytest.param(
            IvfPq(lists=4, probes=1, subvectors=8, bits=12), "4096 are configured", id="many codes"
        ),
    ],
)
def test_an_index_that_cannot_be_built_says_why(made, corpus, ann, message):
    with pytest.raises(ConfigError, match=message):
        shards(made, corpus, ann)


def test_an_index_of_other_chunks_is_refused(made, corpus):
    ann = Hnsw(m=4)
    shard = shards(made, corpus, ann)[0]
    ids, vectors, queries = corpus
    shard.parts["vectors"] = [made.vectors(ids[1:], vectors[1:])]
    with pytest.raises(RunError, match="other chunks"):
        search(AnnSearch, [shard], made.questions(queries), ann)


def test_a_gpu_searches_what_it_can_and_the_cpu_the_rest(made, corpus, monkeypatch):
    """No GPU here: a copy on the CPU stands in for it, so that who is asked can be seen."""
    faiss = pytest.importorskip("faiss")
    asked = []

    class OnGpu:
        def __init__(self, index):
            self.index = index

        def search(self, queries, k, params):
            asked.append(k)
            return self.index.search(queries, k, params=params)

    monkeypatch.setattr(faiss, "get_num_gpus", lambda: 1)
    monkeypatch.setattr(faiss, "StandardGpuResources", object, raising=False)
    monkeypatch.setattr(
        faiss, "index_cpu_to_gpu", lambda _, device, index: OnGpu(index), raising=False
    )
    monkeypatch.setattr(index_module, "GPU_MOST", 50)
    batch = made.questions(corpus[2][:1])
    flat, graph = IvfFlat(lists=12, probes=3), Hnsw(m=4)
    made_shards = shards(made, corpus, flat)
    search(AnnSearch, made_shards, batch, flat, depth=20)
    assert asked == [20]
    search(AnnSearch, made_shards, batch, flat, depth=60)
    search(
        AnnSearch,
        shards(made, corpus, flat, stale=corpus[0][:9]),
        batch,
        flat,
        Filter(current=True),
    )
    search(AnnSearch, shards(made, corpus, graph), batch, graph)
    assert asked == [20]
