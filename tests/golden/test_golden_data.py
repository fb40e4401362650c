"""Real golden sets: every wrong offset is found, every right one is used."""

from __future__ import annotations

import csv
import json

import pytest

from rayeval.golden.anchor import occurrences

pytestmark = pytest.mark.data


@pytest.fixture(scope="module")
def covidqa(shared_data):
    """(texts by source, (source, start, quote) of every answer)."""
    path = shared_data("covidqa") / "200423_covidQA.json"
    texts, answers = {}, []
    for number, article in enumerate(json.loads(path.read_text(encoding="utf-8"))["data"]):
        (paragraph,) = article["paragraphs"]
        texts[f"article-{number:03}"] = paragraph["context"]
        for qa in paragraph["qas"]:
            answers += [
                (f"article-{number:03}", a["answer_start"], a["text"]) for a in qa["answers"]
            ]
    return texts, answers


@pytest.fixture(scope="module")
def chroma(shared_data):
    """(texts by source, the references of every question)."""
    folder = shared_data("chroma_chunking")
    texts = {p.stem: p.read_bytes().decode() for p in sorted(folder.glob("*.md"))}
    with (folder / "questions_df.csv").open(encoding="utf-8", newline="") as file:
        rows = [(row["corpus_id"], json.loads(row["references"])) for row in csv.DictReader(file)]
    return texts, rows


def corpus_of(make_corpus, texts):
    return make_corpus(*({"source_id": name, "text": text} for name, text in texts.items()))


def test_every_wrong_offset_of_covidqa_is_a_problem(covidqa, make_corpus, load):
    texts, answers = covidqa
    wrong = [texts[name][start : start + len(quote)] != quote for name, start, quote in answers]
    assert sum(wrong) == 234
    rows = [
        {"question_id": f"{n:04}", "question": "?", "evidence": [
            {"source_id": name, "start_char": start, "end_char": start + len(quote), "quote": quote}]}
        for n, (name, start, quote) in enumerate(answers)
    ]  # fmt: skip
    questions, problems = load(*rows)
    assert problems == []
    got = corpus_of(make_corpus, texts).evaluate(questions, shards=3).to_pylist()
    kinds = [[p["kind"] for p in row["problems"]] for row in got]
    several = [len(occurrences(texts[name], quote)) > 1 for name, _, quote in answers]
    said = [["quote_ambiguous" if many else "quote_mismatch"] for many in several]
    assert kinds == [one if bad else [] for one, bad in zip(said, wrong, strict=True)]
    for row, bad, (_, start, quote) in zip(got, wrong, answers, strict=True):
        (evidence,) = row["evidence"]
        span = {"start_char": start, "end_char": start + len(quote)}
        assert evidence["spans"] == ([] if bad else [span])
        assert evidence["found"] == (None if bad else "located")


def test_every_offset_of_chroma_is_right(chroma, make_corpus, load):
    texts, rows = chroma
    questions, problems = load(
        *(
            {"question_id": f"{n:03}", "question": "?", "evidence": [
                {"source_id": name, "start_char": r["start_index"], "end_char": r["end_index"],
                 "quote": r["content"]} for r in references]}
            for n, (name, references) in enumerate(rows)
        )
    )  # fmt: skip
    got = corpus_of(make_corpus, texts).evaluate(questions, shards=2).to_pylist()
    assert problems == [p for row in got for p in row["problems"]] == []
    spans = [
        [(s["start_char"], s["end_char"]) for e in row["evidence"] for s in e["spans"]]
        for row in got
    ]
    assert spans == [[(r["start_index"], r["end_index"]) for r in refs] for _, refs in rows]
    assert sum(map(len, spans)) == 790
    assert all(e["gold"] for row in got for e in row["evidence"])


def test_quotes_of_chroma_that_stand_more_than_once_are_ambiguous(chroma, make_corpus, load):
    texts, rows = chroma
    references = [(name, r["content"]) for name, refs in rows for r in refs]
    questions, _ = load(
        *({"question_id": f"{n:03}", "question": "?", "evidence": [{"source_id": name, "quote": text}]}
          for n, (name, text) in enumerate(references))
    )  # fmt: skip
    got = corpus_of(make_corpus, texts).evaluate(questions).to_pylist()
    twice = [texts[name].find(text, texts[name].find(text) + 1) >= 0 for name, text in references]
    assert sum(twice) == 97
    kinds = [[p["kind"] for p in row["problems"]] for row in got]
    assert kinds == [["quote_ambiguous"] if many else [] for many in twice]
