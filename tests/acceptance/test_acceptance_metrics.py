"""DESIGN §5 through whole runs: its worked examples, and every metric against a plain reference."""

import math
import random

import pytest
from acceptance_project import BM25, QUERY, finish, project, ranked
from acceptance_reference import measured, of_context

CUTOFFS = [1, 3, 10, "30tok"]


def test_the_worked_example_of_whole_documents(tmp_path):
    gold = [{"source_id": "B"}, {"source_id": "D"}]
    questions = [{"question_id": "q", "question": QUERY, "evidence": gold}]
    config = project(tmp_path, ranked(*"ABCDE"), questions, metrics={"cutoffs": [3, 5]})
    run = finish(config)
    assert run.sources() == list("ABCDE")
    want = {"hit@3": 1, "recall@3": 0.5, "precision@3": 1 / 3, "mrr@5": 0.5, "map@5": 0.5}
    assert {name: run.value(name) for name in want} == pytest.approx(want, abs=1e-15)
    assert run.value("ndcg@5") == pytest.approx(0.6509209, abs=5e-8)


def test_the_worked_example_of_spans(tmp_path):
    """Gold [100, 200); chunks [0, 150) [150, 300) [300, 450), retrieved first and third."""
    text = "a" * 140 + " one two  " + "b" * 149 + " " + "one " + "c" * 146
    assert len(text) == 450
    questions = [
        {
            "question_id": "q",
            "question": "one two",
            "evidence": [{"source_id": "d", "start_char": 100, "end_char": 200}],
        }
    ]
    config = project(
        tmp_path,
        [{"source_id": "d", "text": text}],
        questions,
        chunk={"kind": "fixed", "size": 150},
        metrics={"cutoffs": [2]},
    )
    run = finish(config)
    assert [hit["spans"] for hit in run.hits()] == [
        [{"start_char": 0, "end_char": 150}],
        [{"start_char": 300, "end_char": 450}],
    ]
    want = {
        "char_recall@2": 0.5,
        "char_precision@2": 50 / 300,
        "char_iou@2": 50 / 350,
        "recall@2": 0,
        "partial@2": 1,
    }
    assert {name: run.value(name) for name in want} == want


def corpus(seed: int) -> tuple[list[dict], list[dict]]:
    draw = random.Random(seed)
    words = [f"w{n}" for n in range(30)]
    documents = [
        {"source_id": f"d{n}", "text": " ".join(draw.choices(words, k=60))} for n in range(4)
    ]
    questions = []
    for number in range(16):
        evidence = [piece(draw, documents) for _ in range(draw.randint(1, 5))]
        evidence[0]["relevance"] = draw.choice([2, 3])
        questions.append(
            {
                "question_id": f"q{number:02d}",
                "question": " ".join(draw.sample(words, k=draw.randint(1, 6))),
                "evidence": evidence,
                "labels": draw.choice(["partial", "partial", "complete"]),
            }
        )
    return documents, questions


def piece(draw: random.Random, documents: list[dict]) -> dict:
    document = draw.choice(documents)
    start = draw.randrange(len(document["text"]) - 40)
    group = draw.choice([None, "g1", "g2", "g3"])
    return {
        "source_id": document["source_id"],
        "start_char": start,
        "end_char": start + draw.randint(1, 40),
        "relevance": draw.randint(0, 3),
        **({} if group is None else {"group_id": group}),
    }


@pytest.mark.parametrize(("seed", "overlap"), [(1, 0), (2, 45)])
def test_every_metric_of_every_question_is_what_the_words_say(tmp_path, seed, overlap):
    documents, questions = corpus(seed)
    config = project(
        tmp_path,
        documents,
        questions,
        chunk={"kind": "fixed", "size": 60, "overlap": overlap},
        retrieve={"arms": {"bm25": {**BM25, "depth": 12}}},
        context={"kind": "top_k", "depth": 4},
        metrics={"cutoffs": CUTOFFS},
    )
    run = finish(config)
    rows = {(r["question_id"], r["stage"]): r for r in run.table("per_query").to_dicts()}
    names = {name.partition("@")[0] for name in run.table("per_query").columns if "@" in name}
    assert len(names) == 15
    for question in questions:
        for stage in ("bm25", "context"):
            hits = run.hits(question["question_id"], stage)
            if stage == "context":
                want, row = of_context(question, hits), rows[question["question_id"], stage]
                for name in ("duplicate_ratio", "context_tokens", "tokens_per_gold_char"):
                    assert row[name] == pytest.approx(want.get(name, math.nan), nan_ok=True)
            for cutoff in CUTOFFS:
                want = measured(question, hits, cutoff)
                for name in names:
                    got = rows[question["question_id"], stage][f"{name}@{cutoff}"]
                    there = want.get(name, math.nan)
                    assert got == pytest.approx(there, abs=1e-12, nan_ok=True), (
                        question, stage, name, cutoff,
                    )  # fmt: skip


def test_means_and_counts_are_those_of_the_rows(tmp_path):
    documents, questions = corpus(4)
    questions[3:6] = [
        {"question_id": f"none-{n}", "question": "w1", "answerable": False} for n in range(3)
    ]
    questions[0] |= {"question": "nothing-that-is-there"}
    questions[1] |= {"created_from": "synthetic: model"}
    config = project(
        tmp_path,
        documents,
        questions,
        chunk={"kind": "fixed", "size": 60},
        context={"kind": "budget", "max_tokens": 3},
    )
    run = finish(config)
    outside = {"q01", *(f"none-{n}" for n in range(3))}
    rows = run.table("per_query").to_dicts()
    for stage, metrics in run.json["metrics"].items():
        values = [r for r in rows if r["stage"] == stage and r["question_id"] not in outside]
        for name, numbers in metrics.items():
            found = [r[name] for r in values if not math.isnan(r[name])]
            assert numbers["n"] == len(found)
            assert numbers["n_undefined"] == len(values) - len(found)
            assert numbers["n"] + numbers["n_undefined"] + numbers["n_error"] == 12
            assert numbers["n_missing"] == numbers["n_error"] == 0
            mean = sum(found) / len(found) if found else None
            assert numbers["mean"] == (None if mean is None else pytest.approx(mean, abs=1e-12))
