"""Search, fusion and reranking of whole runs against plain computations of the same thing."""

import random
from collections import defaultdict

import numpy as np
import pytest
from acceptance_project import BM25, finish, project

WORDS = [f"w{n}" for n in range(40)]


def corpus(seed: int, n: int = 30) -> tuple[list[dict], list[dict]]:
    """Documents with a vector each in their text, some of them twice; questions likewise."""
    draw = random.Random(seed)

    def text() -> str:
        vector = draw.choice(["<1 0>", "<0.5 0.5>", f"<{draw.random():.3f} {draw.random():.3f}>"])
        return " ".join(draw.choices(WORDS, k=draw.randint(3, 25))) + f" {vector}"

    documents = [{"source_id": f"d{i:02d}", "text": text()} for i in range(n)]
    documents += [{"source_id": f"twin-{i}", "text": documents[i]["text"]} for i in range(3)]
    questions = [
        {"question_id": f"q{i:02d}", "question": text(), "evidence": [{"source_id": f"d{i:02d}"}]}
        for i in range(12)
    ]
    return documents, questions


def ids_by_source(run) -> dict[str, str]:
    return dict(run.table("passages").select("source_id", "chunk_id").iter_rows())


def vector(text: str) -> np.ndarray:
    inside = text[text.index("<") + 1 : text.index(">")]
    return np.array(inside.split(), np.float32).astype(np.float64)


def test_bm25_is_that_of_bm25s(tmp_path):
    """Lucene's formula; ordered by (-score, chunk_id); nothing without a term of the question."""
    bm25s = pytest.importorskip("bm25s")
    documents, questions = corpus(1)
    questions += [{"question_id": "all", "question": " ".join(WORDS), "answerable": False}]
    arm = {**BM25, "k1": 1.4, "b": 0.6, "depth": 100}
    run = finish(project(tmp_path, documents, questions, retrieve={"arms": {"bm25": arm}}))
    ids = ids_by_source(run)
    index = bm25s.BM25(method="lucene", k1=1.4, b=0.6, dtype="float64")
    index.index([d["text"].split() for d in documents], show_progress=False)
    for question in questions:
        scores = index.get_scores(question["question"].split())
        want = sorted(
            ((-s, ids[d["source_id"]]) for d, s in zip(documents, scores, strict=True) if s > 0)
        )
        hits = run.hits(question["question_id"])
        got = [(-h["score"], h["chunk_id"]) for h in hits]
        assert [i for _, i in got] == [i for _, i in sorted(got)] if got else not want
        assert {i: s for s, i in got} == pytest.approx({i: s for s, i in want}, rel=1e-6)


@pytest.fixture
def hybrid(tmp_path, embeddings):
    documents, questions = corpus(2)
    arms = {"bm25": {**BM25, "depth": 8}, "dense": embeddings.arm(depth=6)}
    config = project(tmp_path, documents, questions, retrieve={"arms": arms}, fuse={"kind": "rrf"})
    return config, documents, questions


def test_exact_dense_is_brute_force(hybrid):
    config, documents, questions = hybrid
    run = finish(config)
    ids = ids_by_source(finish(config, "--set", "retrieve.arms.dense.depth=100"))
    for question in questions:
        asked = vector(question["question"])
        scores = {ids[d["source_id"]]: float((vector(d["text"]) * asked).sum()) for d in documents}
        want = sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))[:6]
        hits = run.hits(question["question_id"], "dense_exact")
        assert [(h["chunk_id"], h["score"]) for h in hits] == want


def test_a_text_is_embedded_once(hybrid, embeddings):
    """Issue 2: vectors "are stored once per (model revision, text)", whatever it is chunked by."""
    config, documents, questions = hybrid
    seen = len(embeddings.seen)
    finish(config)
    asked = embeddings.seen[seen:]
    probe = len(asked) - len({d["text"] for d in documents}) - len(questions)
    assert 0 <= probe <= 2  # what a client asks first, to learn how long vectors are
    texts = {d["text"] for d in documents}
    assert sorted(text for text in asked if text in texts) == sorted(texts)
    finish(config, "--set", "chunk.size=50000", "--set", "retrieve.arms.bm25.k1=1.5")
    again = embeddings.seen[seen + len(asked) :]
    assert not texts & set(again)


def test_reciprocal_rank_fusion(hybrid):
    config, _, questions = hybrid
    run = finish(config, "--set", "fuse={kind: rrf, k: 10, weights: {dense: 2}, depth: 7}")
    for question in questions:
        worth: dict[str, float] = defaultdict(float)
        for stage, weight in (("bm25", 1), ("dense_exact", 2)):
            for rank, hit in enumerate(run.hits(question["question_id"], stage), start=1):
                worth[hit["chunk_id"]] += weight / (10 + rank)
        check_fused(run, question, worth, depth=7)


def test_weighted_fusion_by_min_max(hybrid):
    config, _, questions = hybrid
    run = finish(config, "--set", "fuse={kind: weighted, weights: {bm25: 0.3, dense: 0.7}}")
    for question in questions:
        worth: dict[str, float] = defaultdict(float)
        for stage, weight in (("bm25", 0.3), ("dense_exact", 0.7)):
            hits = run.hits(question["question_id"], stage)
            low, high = hits[-1]["score"], hits[0]["score"]
            for hit in hits:
                scaled = (hit["score"] - low) / (high - low) if high > low else 1.0
                worth[hit["chunk_id"]] += weight * scaled
        check_fused(run, question, worth, depth=100)


def check_fused(run, question, worth: dict[str, float], *, depth: int) -> None:
    hits = run.hits(question["question_id"], "fused")
    scores = [hit["score"] for hit in hits]
    assert scores == sorted(scores, reverse=True)
    assert scores == pytest.approx(sorted(worth.values(), reverse=True)[:depth], abs=1e-12)
    assert all(h["score"] == pytest.approx(worth[h["chunk_id"]], abs=1e-12) for h in hits)


def test_a_filter_fills_the_depth(tmp_path, embeddings):
    """Applied inside the search: what it hides takes nobody's place."""
    documents, questions = corpus(3)
    for number, document in enumerate(documents):
        document["access"] = ["hr"] if number % 2 else []
    arms = {
        "bm25": {**BM25, "depth": 5},
        "dense": embeddings.arm(depth=5, ann={"kind": "hnsw", "m": 8, "ef_search": 32}),
    }
    questions = [{**q, "question": " ".join(WORDS) + q["question"][-8:]} for q in questions[::2]]
    config = project(
        tmp_path,
        documents,
        questions,
        retrieve={"filter": {"access": True}, "arms": arms},
        fuse={"kind": "rrf"},
    )
    run = finish(config)
    hidden = {d["source_id"] for d in documents if d["access"]}
    for question in questions:
        for stage in ("bm25", "dense_exact", "dense_ann"):
            sources = run.sources(question["question_id"], stage)
            assert len(sources) == 5
            assert not hidden & set(sources)
        row = run.table("trace").filter(question_id=question["question_id"], stage="filter")
        assert row["removed_access"].item() == len(hidden)


def test_index_recall_and_what_an_index_lost(tmp_path, embeddings):
    """Ties of the last exact neighbour count as found; gold lost is told from harmless loss."""
    draw = random.Random(5)
    documents = [
        {"source_id": f"d{i:03d}", "text": f"t{i} <{draw.gauss(0, 1):.3f} {draw.gauss(0, 1):.3f}>"}
        for i in range(200)
    ]
    documents += [{"source_id": f"tie-{i}", "text": f"s{i} <3 3>"} for i in range(8)]
    questions = [
        {
            "question_id": f"q{i:02d}",
            "question": f"x <{draw.gauss(0, 1):.3f} {draw.gauss(0, 1):.3f}>",
            "evidence": [{"source_id": f"d{i:03d}"}, {"source_id": f"tie-{i % 8}"}],
        }
        for i in range(30)
    ]
    ann = {"kind": "ivf_flat", "lists": 12, "probes": 1}
    arms = {"dense": embeddings.arm(depth=5, ann=ann)}
    run = finish(project(tmp_path, documents, questions, retrieve={"arms": arms}))
    lost = 0
    for question in questions:
        name = question["question_id"]
        exact, found = run.hits(name, "dense_exact"), run.hits(name, "dense_ann")
        assert len({h["chunk_id"] for h in found}) == len(found)
        wanted = {h["chunk_id"]: h["source_id"] for h in exact}
        last = exact[-1]["score"]
        hits = [h for h in found if h["chunk_id"] in wanted or h["score"] >= last - 1e-9]
        assert run.value("index_recall", name, "dense_ann") == pytest.approx(len(hits) / 5)
        gone = {s for i, s in wanted.items() if i not in {h["chunk_id"] for h in found}}
        gold = {e["source_id"] for e in question["evidence"]}
        assert run.value("lost_gold", name, "dense_ann") == len(gone & gold)
        lost += len(gone)
    assert lost


def test_a_reranker_of_all_candidates_permutes_them(tmp_path, tiny_reranker):
    documents, questions = corpus(6)
    config = project(
        tmp_path,
        documents,
        questions,
        retrieve={"arms": {"bm25": {**BM25, "depth": 10}}},
        rerank={"kind": "cross_encoder", "model": tiny_reranker, "candidates": 10, "depth": 10},
        context={"kind": "top_k", "depth": 2},
    )
    run = finish(config)
    moved = 0
    for question in questions:
        name = question["question_id"]
        before, after = run.hits(name), run.hits(name, "reranked")
        assert {h["chunk_id"] for h in before} == {h["chunk_id"] for h in after}
        moved += [h["chunk_id"] for h in before] != [h["chunk_id"] for h in after]
        assert run.value("recall@10", name) == run.value("recall@10", name, "reranked")
    assert moved
    pairs = run.table("latency").filter(stage="reranked")["reranked_pairs"].to_list()
    assert pairs == [len(run.hits(q["question_id"])) for q in questions]
    changed = ["--set", "rerank.candidates=3", "--set", "rerank.depth=3"]
    again = finish(config, *changed)
    codes = {r["code"] for r in again.table("failures").to_dicts()}
    assert "RERANK_DEMOTED_GOLD" in codes or "CONTEXT_BUDGET_DROPPED_GOLD" in codes
