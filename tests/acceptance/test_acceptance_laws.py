"""DESIGN §9 on a whole pipeline: the same bytes, whoever computes it, in whatever order."""

import random
import re
from pathlib import Path

import pytest
from acceptance_project import BM25, Finished, command, finish, project
from test_acceptance_search import corpus

TABLES = ("questions", "trace", "passages", "per_query", "failures", "aggregate", "slices")


def everything(folder, embeddings, reranker):
    """A hybrid pipeline with every kind of stage, over chunks, groups, access and errors."""
    documents, questions = corpus(9, n=24)
    for number, document in enumerate(documents):
        document["access"] = ["hr"] if number % 7 == 0 else []
    for number, question in enumerate(questions):
        question["evidence"].append({"source_id": f"d{number + 12}", "relevance": number % 4})
        question["principals"] = ["hr"] if number % 2 else []
    questions += [
        {"question_id": "nan", "question": "w1 <nan 0>", "evidence": [{"source_id": "d01"}]},
        {"question_id": "none", "question": "w1 w2 <1 1>", "answerable": False},
        {"question_id": "gone", "question": "w1 w2 <1 1>", "evidence": [{"source_id": "zz"}]},
    ]
    questions += [
        {"question_id": f"r{n:03d}", "question": f"w{n % 40} w{n % 7} <{n % 5} {n % 3}>",
         "evidence": [{"source_id": f"d{n % 24:02d}"}]}
        for n in range(51)
    ]  # fmt: skip
    ann = {"kind": "ivf_flat", "lists": 4, "probes": 1, "partitions": 2}
    return project(
        folder,
        documents,
        questions,
        chunk={"kind": "fixed", "size": 40, "overlap": 10},
        retrieve={
            "filter": {"access": True},
            "arms": {"bm25": {**BM25, "depth": 8}, "dense": embeddings.arm(depth=6, ann=ann)},
        },
        fuse={"kind": "weighted", "normalise": "z_score", "depth": 9},
        rerank={"kind": "cross_encoder", "model": reranker, "candidates": 4, "depth": 3},
        context={"kind": "budget", "max_tokens": 20, "depth": 4},
        metrics={"cutoffs": [1, 5, "20tok"]},
    )


@pytest.fixture(scope="module")
def reference(tmp_path_factory, embeddings, tiny_reranker) -> Finished:
    """The pipeline on one process, and its configuration beside its folder of runs."""
    return finish(everything(tmp_path_factory.mktemp("laws"), embeddings, tiny_reranker))


def config_of(run: Finished) -> Path:
    return Path(run.manifest["config_path"])


def contents(run: Finished) -> dict[str, bytes]:
    return {name: (run.path / f"{name}.parquet").read_bytes() for name in TABLES}


def different(config, where, *arguments: str) -> Finished:
    """Another run in a store of its own."""
    return Finished(command("run", config, "--runs", where, *arguments))


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(
            ["--workers", "2", "--set", "placement.batch=7"],
            id="two workers",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            ["--set", "placement.shards=4", "--set", "placement.batch=1"],
            id="four shards, one row at a time",
            marks=pytest.mark.slow,
        ),
        pytest.param(["--ray"], id="Ray", marks=pytest.mark.ray),
        pytest.param(
            ["--ray", "--workers", "2", "--set", "placement.shards=4"],
            id="Ray, two workers, four shards",
            marks=pytest.mark.ray,
        ),
    ],
)
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_placement_changes_no_byte(reference, tmp_path, arguments):
    other = different(config_of(reference), tmp_path, *arguments)
    assert contents(other) == contents(reference)


def test_order_of_input_changes_no_byte(reference, tmp_path):
    for name in ("docs.jsonl", "golden.jsonl", "rayeval.yaml"):
        lines = config_of(reference).with_name(name).read_text().splitlines(keepends=True)
        if name.endswith("jsonl"):
            random.Random(3).shuffle(lines)
        (tmp_path / name).write_text("".join(lines))
    other = different(tmp_path / "rayeval.yaml", tmp_path / "runs")
    assert contents(other) == contents(reference)


def test_sums_and_ranges(reference):
    """Laws 2, 6, 9: none lost, statuses and codes add up, shares stay in [0, 1]."""
    run = reference
    asked = run.table("questions")
    assert asked.height == asked["question_id"].n_unique() == run.json["n"] == 66
    answerable = asked.filter("answerable").height
    assert sum(run.json["status"].values()) == answerable == run.table("failures").height
    assert sum(run.json["failures"].values()) == run.json["status"]["failed"]
    assert run.json["status"]["error"] == 1
    rows = run.table("per_query")
    assert rows.height == 66 * rows["stage"].n_unique()
    bounded = [c for c in rows.columns if re.search(r"@|_ratio|index_recall", c)]
    values = rows.select(bounded).fill_nan(None)
    assert values.min_horizontal().min() >= 0
    assert values.max_horizontal().max() <= 1
    hits = run.table("trace").explode("hits").unnest("hits").drop_nulls("chunk_id")
    keys = ["question_id", "stage"]
    ordered = hits.sort(*keys, "score", "chunk_id", descending=[False, False, True, False])
    assert ordered.equals(hits.sort(*keys, maintain_order=True))


def test_a_perfect_ranking_scores_exactly_one(tmp_path):
    """Groups at positions 1, 2, 3 in grade order: mrr and ndcg 1; recall, map too where k fits."""
    texts = {"A": "one two three", "B": "one two x", "C": "one y z"}
    gold = [
        {"source_id": name, "relevance": grade}
        for name, grade in zip("ABC", (3, 3, 2), strict=True)
    ]
    asked = [{"question_id": "q", "question": "one two three", "evidence": gold}]
    documents = [{"source_id": name, "text": text} for name, text in texts.items()]
    run = finish(project(tmp_path, documents, asked))
    assert run.sources() == list("ABC")
    for k in (1, 5, 10, 20):
        assert run.value(f"mrr@{k}") == run.value(f"ndcg@{k}") == 1.0
    for name in ("recall", "map", "all_groups"):
        assert run.value(f"{name}@5") == 1.0
