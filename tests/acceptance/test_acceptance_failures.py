"""DESIGN §6 through whole runs: a project for every code, built so that it must be that one."""

import pytest
from acceptance_project import BM25, QUERY, Finished, finish, project, ranked

FILLER = [{"source_id": f"f{n}", "text": f"filler {n} of nothing at all"} for n in range(6)]
ASKED = {"question_id": "q", "question": "alpha beta"}


def failed(run: Finished, question_id: str = "q") -> tuple[str, str]:
    row = run.failure(question_id)
    assert (row["status"], row["code"] is None) in (("failed", False), ("success", True))
    return row["code"], row["group_id"]


def contributing(run: Finished, question_id: str = "q") -> set[tuple[str, str]]:
    return {(c["group_id"], c["code"]) for c in run.failure(question_id)["contributing"]}


@pytest.mark.parametrize(
    ("evidence", "code"),
    [
        ([{"source_id": "zz", "quote": "x"}], "INGESTION_MISSING_SOURCE"),
        ([{"source_id": "a", "revision_id": "9"}], "INGESTION_MISSING_REVISION"),
        ([{"source_id": "gone"}], "INGESTION_MISSING_REVISION"),
        ([{"source_id": "zz", "group_id": "g"}, {"source_id": "a", "group_id": "g"}], None),
        ([{"source_id": "a"}, {"source_id": "zz"}], "INGESTION_MISSING_SOURCE"),
    ],
    ids=["source", "revision", "deleted", "an alternative is there", "one of two facts"],
)
def test_ingest(tmp_path, evidence, code):
    documents = [
        {"source_id": "a", "revision_id": "1", "text": "alpha beta"},
        {"source_id": "gone", "deleted_at": "2026-01-01", "text": "alpha beta"},
    ]
    config = project(
        tmp_path,
        documents,
        [{**ASKED, "evidence": evidence}],
        corpus={"path": "docs.jsonl", "as_of": "2026-06-01"},
    )
    run = finish(config)
    assert run.failure()["code"] == code
    assert run.json["failures"] == ({code: 1} if code else {})
    assert (run.failure()["stage"] == "ingest") == bool(code)


def test_run_warns_of_what_it_goes_on_without(tmp_path):
    """§6: `validate` treats unknown sources as problems, `run` warns and goes on."""
    config = project(tmp_path, FILLER, [{**ASKED, "evidence": [{"source_id": "nowhere"}]}])
    run = finish(config)
    assert "unknown_source" in run.said.err
    assert "'nowhere'" in run.said.err
    assert any("'nowhere'" in warning for warning in run.manifest["warnings"])


@pytest.mark.parametrize(
    ("name", "text", "quote"),
    [
        (
            "a.html",
            "<p>alpha</p><script>const beta = 'gold in a script';</script>",
            "gold in a script",
        ),
        ("a.html", "<p>alpha</p><style>.gold-in-style {}</style>", ".gold-in-style"),
        ("a.md", "---\ntitle: gold in front matter\n---\nalpha\n", "gold in front matter"),
    ],
    ids=["script", "style", "front matter"],
)
def test_parse(tmp_path, name, text, quote):
    evidence = [{"source_id": name, "quote": quote}]
    run = finish(project(tmp_path, {name: text}, [{**ASKED, "evidence": evidence}]))
    assert failed(run) == ("PARSE_GOLD_TEXT_LOST", "e1")
    assert run.failure()["stage"] == "parse"


SPLIT = "alpha aaaaaaaaaaaaaaa bbbbbbbbbbbbbbbbb beta cccccccccccc"
HALVES = {"chunk": {"kind": "fixed", "size": 30}}
ACROSS = [{"source_id": "d", "start_char": 10, "end_char": 50}]


def test_a_split_group_that_reaches_the_context_by_union_is_a_success(tmp_path):
    documents = [{"source_id": "d", "text": SPLIT}, *FILLER]
    asked = [{**ASKED, "evidence": ACROSS}]
    config = project(tmp_path, documents, asked, **HALVES, context={"kind": "top_k", "depth": 2})
    run = finish(config)
    assert failed(run) == (None, None)
    assert contributing(run) == {("e1", "CHUNK_GOLD_SPLIT")}
    assert (run.value("recall@5"), run.value("joint_recall@5")) == (0, 1)


@pytest.mark.parametrize(
    ("question", "depth"), [("alpha beta", 1), ("alpha", 5)], ids=["context", "retrieval"]
)
def test_a_split_group_lost_later_is_the_chunks_fault(tmp_path, question, depth):
    documents = [{"source_id": "d", "text": SPLIT}, *FILLER]
    asked = [{"question_id": "q", "question": question, "evidence": ACROSS}]
    context = {"kind": "top_k", "depth": depth}
    run = finish(project(tmp_path, documents, asked, **HALVES, context=context))
    assert failed(run) == ("CHUNK_GOLD_SPLIT", "e1")


def test_gold_that_all_chunks_together_lack(tmp_path):
    """Ninety spaces between two words are in no chunk."""
    text = "alpha" + " " * 95 + "beta"
    evidence = [{"source_id": "d", "start_char": 2, "end_char": 100}]
    config = project(
        tmp_path,
        [{"source_id": "d", "text": text}],
        [{**ASKED, "evidence": evidence}],
        chunk={"kind": "fixed", "size": 10},
    )
    run = finish(config)
    assert failed(run) == ("CHUNK_GOLD_SPLIT", "e1")
    assert contributing(run) == set()


def test_filter(tmp_path):
    """The asker may see it, yet the filter for freshness takes it away."""
    documents = [
        {"source_id": "a", "revision_id": "1", "valid_from": "2025-01-01", "text": "alpha beta"},
        {"source_id": "a", "revision_id": "2", "valid_from": "2026-01-01", "text": "gamma"},
    ]
    asked = [{**ASKED, "evidence": [{"source_id": "a", "revision_id": "1"}]}]
    retrieve = {"filter": {"current": True}, "arms": {"bm25": BM25}}
    corpus = {"path": "docs.jsonl", "as_of": "2026-06-01"}
    run = finish(project(tmp_path, documents, asked, retrieve=retrieve, corpus=corpus))
    assert failed(run) == ("FILTER_FALSE_NEGATIVE", "e1")
    (row,) = run.table("trace").filter(question_id="q", stage="filter").to_dicts()
    assert (row["removed_access"], row["removed_stale"], len(row["removed_gold"])) == (0, 1, 1)
    plain = finish(project(tmp_path, documents, asked))
    assert failed(plain) == (None, None)


def test_access_hides_and_does_not_fail(tmp_path):
    """Evidence that the asker may not see is no gold; without any the question is forbidden."""
    documents = [
        {"source_id": "secret", "text": "alpha beta", "access": ["hr"]},
        {"source_id": "open", "text": "alpha gamma"},
    ]
    secret, both = [{"source_id": "secret"}], [{"source_id": "secret"}, {"source_id": "open"}]
    questions = [
        {"question_id": "hr", "question": "beta", "principals": ["hr"], "evidence": secret},
        {"question_id": "it", "question": "beta", "principals": ["it"], "evidence": secret},
        {"question_id": "both", "question": "alpha", "evidence": both},
    ]
    retrieve = {"filter": {"access": True}, "arms": {"bm25": BM25}}
    run = finish(project(tmp_path, documents, questions, retrieve=retrieve))
    assert failed(run, "hr") == failed(run, "both") == (None, None)
    assert set(run.table("failures")["question_id"]) == {"hr", "both"}
    (row,) = run.table("questions").filter(question_id="it").to_dicts()
    assert (row["answerable"], "forbidden" in row["slices"]) == (False, True)
    assert run.value("recall@5", "both") == run.value("ndcg@5", "both") == 1
    assert sum(run.json["status"].values()) == 2


def test_lexical_without_a_shared_term(tmp_path):
    asked = [{**ASKED, "evidence": [{"source_id": "f1"}]}]
    documents = [*FILLER, {"source_id": "x", "text": "alpha"}]
    run = finish(project(tmp_path, documents, asked))
    assert failed(run) == ("SPARSE_VOCAB_MISMATCH", "e1")


def test_lexical_outranked_and_the_nearest_arm_decides(tmp_path):
    """Rank 5 of depth 3 and of depth 4: the latter is nearer; both say why in `contributing`."""
    arms = {"near": {**BM25, "depth": 3}, "far": {**BM25, "depth": 4, "k1": 0.5}}
    asked = [{"question_id": "q", "question": QUERY, "evidence": [{"source_id": "E"}]}]
    config = project(
        tmp_path, ranked(*"ABCDE"), asked, retrieve={"arms": arms}, fuse={"kind": "rrf"}
    )
    run = finish(config)
    assert failed(run) == ("SPARSE_OUTRANKED", "e1")
    assert run.failure()["stage"] == "far"
    views = [(c["stage"], c["code"], c["rank"]) for c in run.failure()["contributing"]]
    assert views == [("near", "SPARSE_OUTRANKED", 5), ("far", "SPARSE_OUTRANKED", 5)]


def test_equally_near_arms_in_their_order(tmp_path):
    arms = {"one": {**BM25, "depth": 3}, "two": {**BM25, "depth": 3, "k1": 0.5}}
    asked = [{"question_id": "q", "question": QUERY, "evidence": [{"source_id": "E"}]}]
    config = project(
        tmp_path, ranked(*"ABCDE"), asked, retrieve={"arms": arms}, fuse={"kind": "rrf"}
    )
    assert finish(config).failure()["stage"] == "one"


def vectors(*pairs: tuple[float, float]) -> list[dict[str, str]]:
    return [{"source_id": f"v{n}", "text": f"t{n} <{x} {y}>"} for n, (x, y) in enumerate(pairs)]


def test_dense(tmp_path, embeddings):
    documents = vectors((1, 0), (0.9, 0), (0.8, 0), (0.1, 0))
    asked = [{"question_id": "q", "question": "? <1 0>", "evidence": [{"source_id": "v3"}]}]
    config = project(
        tmp_path, documents, asked, retrieve={"arms": {"dense": embeddings.arm(depth=2)}}
    )
    run = finish(config)
    assert failed(run) == ("DENSE_SEMANTIC_MISS", "e1")
    (view,) = run.failure()["contributing"]
    assert (view["code"], view["rank"], view["depth"]) == ("DENSE_SEMANTIC_MISS", 4, 2)


def test_ann(tmp_path, embeddings):
    """Two lists of which one is searched: the nearest is in the other one."""
    documents = vectors(*[(1 + n / 100, 0) for n in range(60)], *[(0, 9 + n) for n in range(60)])
    documents.append({"source_id": "gold", "text": "gold <2 8>"})
    question = {"question_id": "q", "question": "? <1 0>", "evidence": [{"source_id": "gold"}]}
    ann = {"kind": "ivf_flat", "lists": 2, "probes": 1}
    arms = {"dense": embeddings.arm(depth=3, ann=ann), "bm25": BM25}
    run = finish(
        project(tmp_path, documents, [question], retrieve={"arms": arms}, fuse={"kind": "rrf"})
    )
    assert "gold" in run.sources("q", "dense_exact")
    if "gold" in run.sources("q", "dense_ann"):
        pytest.skip("this faiss searched the other list")
    assert failed(run) == ("ANN_NEIGHBOR_MISS", "e1")
    assert contributing(run) == {("e1", "ANN_NEIGHBOR_MISS"), ("e1", "SPARSE_VOCAB_MISMATCH")}
    assert run.value("lost_gold", stage="dense_ann") == 1


@pytest.mark.parametrize(
    ("config", "code", "stage"),
    [
        ({"fuse": {"kind": "rrf", "depth": 2}}, "FUSION_DEMOTED_GOLD", "fused"),
        (
            {"fuse": {"kind": "rrf", "depth": 3}, "context": {"kind": "top_k", "depth": 2}},
            "CONTEXT_BUDGET_DROPPED_GOLD",
            "context",
        ),
        (
            {"fuse": {"kind": "rrf"}, "context": {"kind": "budget", "max_tokens": 35}},
            "CONTEXT_BUDGET_DROPPED_GOLD",
            "context",
        ),
        ({"fuse": {"kind": "rrf"}, "context": {"kind": "budget", "max_tokens": 36}}, None, None),
    ],
    ids=["fusion", "context by count", "context by tokens", "just enough"],
)
def test_later_stages(tmp_path, config, code, stage):
    """Twelve words each; the gold comes third."""
    arms = {"one": {**BM25, "depth": 4}, "two": {**BM25, "depth": 4, "k1": 0.5}}
    asked = [{"question_id": "q", "question": QUERY, "evidence": [{"source_id": "C"}]}]
    run = finish(project(tmp_path, ranked(*"ABCDE"), asked, retrieve={"arms": arms}, **config))
    assert (run.failure()["code"], run.failure()["stage"]) == (code, stage)


def test_rerank(tmp_path, tiny_reranker):
    """Of a reranker's list of one, whatever is not first is lost."""
    texts = {"d0": "w1 w2", "d1": "w1 w3 w4", "d2": "w1 w5 w6 w7"}
    documents = [{"source_id": name, "text": text} for name, text in texts.items()]
    questions = [
        {"question_id": name, "question": "w1", "evidence": [{"source_id": name}]} for name in texts
    ]
    rerank = {"kind": "cross_encoder", "model": tiny_reranker, "candidates": 3, "depth": 1}
    run = finish(project(tmp_path, documents, questions, rerank=rerank))
    (first,) = run.sources("d0", "reranked")
    codes = {name: failed(run, name)[0] for name in texts}
    assert codes == {name: None if name == first else "RERANK_DEMOTED_GOLD" for name in texts}


@pytest.mark.parametrize(
    ("evidence", "required", "code"),
    [
        (
            [{"source_id": "A", "aspects": ["x"]},
             {"source_id": "C", "aspects": ["y"], "relevance": 1}],
            ["x", "y"],
            "CONTEXT_ASPECT_UNCOVERED",
        ),
        (
            [{"source_id": "A", "group_id": "x"},
             {"source_id": "C", "group_id": "y", "relevance": 1}],
            ["x", "y"],
            "CONTEXT_ASPECT_UNCOVERED",
        ),
        (
            [{"source_id": "A", "group_id": "g"},
             {"source_id": "C", "group_id": "g", "aspects": ["y"]}],
            ["y"],
            "CONTEXT_ASPECT_UNCOVERED",
        ),
        ([{"source_id": "A", "aspects": ["x"]}], ["x", "needs a judge"], None),
        ([{"source_id": "A", "aspects": ["x"]}, {"source_id": "B", "aspects": ["y"]}],
         ["x", "y"], None),
        ([{"source_id": "C", "aspects": ["x"]}], ["x"], "CONTEXT_BUDGET_DROPPED_GOLD"),
    ],
    ids=["listed", "a group's name", "of an alternative", "not observed", "covered", "dropped"],
)  # fmt: skip
def test_aspects(tmp_path, evidence, required, code):
    """The context holds A and B."""
    asked = {"question_id": "q", "question": QUERY, "evidence": evidence}
    config = project(
        tmp_path,
        ranked(*"ABCDE"),
        [{**asked, "required_aspects": required}],
        context={"kind": "top_k", "depth": 2},
    )
    assert finish(config).failure()["code"] == code


def test_the_first_of_several_lost_groups_in_evidence_order(tmp_path):
    evidence = [
        {"source_id": "E", "group_id": "zz"},
        {"source_id": "D", "group_id": "aa"},
        {"source_id": "A"},
    ]
    asked = [{"question_id": "q", "question": QUERY, "evidence": evidence}]
    config = project(tmp_path, ranked(*"ABCDE"), asked, context={"kind": "top_k", "depth": 2})
    run = finish(config)
    assert failed(run) == ("CONTEXT_BUDGET_DROPPED_GOLD", "zz")
    assert contributing(run) == {("aa", "CONTEXT_BUDGET_DROPPED_GOLD")}


def test_the_first_stage_that_loses_a_group_wins(tmp_path):
    evidence = [{"source_id": "C", "group_id": "zz"}, {"source_id": "E", "group_id": "aa"}]
    asked = [{"question_id": "q", "question": QUERY, "evidence": evidence}]
    config = project(
        tmp_path,
        ranked(*"ABCDE"),
        asked,
        retrieve={"arms": {"bm25": {**BM25, "depth": 4}}},
        context={"kind": "top_k", "depth": 2},
    )
    assert failed(finish(config)) == ("SPARSE_OUTRANKED", "aa")


def test_errors_are_counted_and_a_loss_before_them_wins(tmp_path, embeddings):
    """A question whose vector is NaN: `n` + `n_undefined` + `n_error` is the population."""
    documents = vectors((1, 0), (0.5, 0))
    here, gone = [{"source_id": "v0"}], [{"source_id": "zz"}]
    questions = [
        {"question_id": "ok", "question": "? <1 0>", "evidence": here},
        {"question_id": "nan", "question": "t0 <nan 0>", "evidence": here},
        {"question_id": "lost", "question": "t0 <nan 0>", "evidence": gone},
        {"question_id": "none", "question": "? <1 0>", "answerable": False},
    ]
    arms = {"bm25": BM25, "dense": embeddings.arm()}
    config = project(
        tmp_path, documents, questions, retrieve={"arms": arms}, fuse={"kind": "rrf"},
        context={"kind": "top_k", "depth": 1},
    )  # fmt: skip
    run = finish(config)
    assert run.json["status"] == {"success": 1, "failed": 1, "error": 1, "missing": 0}
    assert run.json["failures"] == {"INGESTION_MISSING_SOURCE": 1}
    for stage, errors in {"bm25": 0, "dense_exact": 2, "fused": 2, "context": 2}.items():
        for numbers in run.json["metrics"][stage].values():
            assert numbers["n_error"] == errors
            assert numbers["n"] + numbers["n_undefined"] + numbers["n_error"] == 3
    statuses = dict(run.table("per_query").filter(question_id="nan")[["stage", "status"]].rows())
    assert statuses == {"bm25": "ok", "dense_exact": "error", "fused": "error", "context": "error"}
