"""What a score says of lists of hits: chunks nobody knows, passages twice, sources nobody names."""

import math

import polars as pl
import pytest
from score_files import write_lines

from rayeval.errors import DataError
from rayeval.report.terminal import run_text

MOON, SUN = "The moon is bright.", "The sun is warm."


def asked(*names, **evidence):
    return [{"question_id": n, "question": f"{n}?", "evidence": [evidence]} for n in names]


def found(name, *hits, stage="s", **more):
    return {"question_id": name, "stages": {stage: {"hits": list(hits)}}, **more}


def test_unknown_chunks_are_named_and_counted_in_order_of_questions(scored, tmp_path):
    chunks = write_lines(tmp_path / "chunks.jsonl", [{"chunk_id": "a", "source_id": "d"}])
    names = [f"q{n:02d}" for n in range(25)]
    trace = [found(n, {"chunk_id": f"x{n}"}, {"chunk_id": "a"}) for n in reversed(names)]
    trace.append(found("stranger", {"chunk_id": "never counted"}))
    with pytest.raises(DataError) as refused:
        scored(asked(*names, source_id="d"), trace, chunks=chunks)
    first, *lists, last = str(refused.value).splitlines()
    assert "25 of 50 hits name 25 chunks (xq00, xq01, xq02, …) that the chunk table lacks" in first
    assert "it has 1 chunk (a)" in first
    assert [line.split("[")[1].split("]")[0] for line in lists] == names[:19]
    assert "stage 's': the chunk table lacks 'xq00' (rank 1)" in lists[0]
    assert last == "… and 6 more: 6 unknown_chunk"


def test_what_is_refused_is_refused_before_all_is_summed(scored, tmp_path, monkeypatch):
    computed = []
    from rayeval.execution import evaluate

    step = evaluate.run_step

    def noted(root, one, *args):
        computed.append(one.name)
        return step(root, one, *args)

    monkeypatch.setattr(evaluate, "run_step", noted)
    with pytest.raises(DataError, match="hits are named by chunk_id alone"):
        scored(asked("q", source_id="d"), [found("q", {"chunk_id": "c-1"})])
    assert computed[-1] == "scored"


@pytest.mark.parametrize(
    ("hits", "twice"),
    [
        pytest.param([MOON, SUN, MOON], True, id="a text"),
        pytest.param([{"source_id": "a", "text": MOON}, {"source_id": "a", "text": MOON}], True,
                     id="a text of a source"),
        pytest.param([{"source_id": "a", "text": MOON}, {"source_id": "b", "text": MOON}], False,
                     id="of two sources"),
        pytest.param([{"chunk_id": "1", "text": MOON}, {"chunk_id": "2", "text": MOON}], False,
                     id="of two chunks"),
        pytest.param([{"source_id": "a", "start_char": 0, "end_char": 5},
                      {"source_id": "a", "spans": [{"start_char": 0, "end_char": 5}]}], True,
                     id="a place"),
        pytest.param([{"source_id": "a", "start_char": 0, "end_char": 5},
                      {"source_id": "a", "start_char": 1, "end_char": 5}], False,
                     id="places that overlap"),
        pytest.param([MOON, SUN], False, id="two texts"),
    ],
)  # fmt: skip
def test_a_passage_twice_in_a_list_is_said(scored, hits, twice):
    golden = asked("q", "r", source_id="a", quote=MOON, start_char=0, end_char=len(MOON))
    run = scored(golden, [found("q", *hits), found("r", MOON)])
    said = [line for line in run.manifest["warnings"] if "more than once" in line]
    assert len(said) == twice
    assert not twice or "1 question (q) lists the same passage more than once" in said[0]


NAN = math.nan


@pytest.mark.parametrize(
    ("evidence", "hits", "want"),
    [
        pytest.param(["a"], [MOON], NAN, id="no hit names a source"),
        pytest.param(["a"], [{"source_id": "a", "text": SUN}], 1, id="the source is named"),
        pytest.param(["a"], [{"source_id": "b", "text": MOON}], 0, id="another one is"),
        pytest.param(["a"], [MOON, {"source_id": "a", "text": SUN}], 1, id="found beside a text"),
        pytest.param(["a"], [{"source_id": "b", "text": SUN}, MOON], NAN, id="the text may be it"),
        pytest.param(["a", "b"], [{"source_id": "a", "text": SUN}, MOON], NAN, id="or the other"),
        pytest.param(["a"], [{"source_id": "b", "text": SUN}, {"source_id": "c", "text": SUN},
                             MOON], 0, id="a text below k says nothing"),
        pytest.param(["a"], [], 0, id="nothing was found"),
    ],
)  # fmt: skip
def test_sources_that_nobody_names_are_not_missed(scored, evidence, hits, want):
    pieces = [{"source_id": name, "quote": MOON} for name in evidence]
    golden = [{"question_id": "q", "question": "?", "evidence": pieces}]
    run = scored(golden, [found("q", *hits)], metrics=["source_recall@2", "recall@2"])
    [value] = run.per_query["source_recall@2"]
    assert value == want or (math.isnan(value) and math.isnan(want))
    row = run.aggregate.filter(metric="source_recall@2").row(0, named=True)
    assert (row["n"], row["n_undefined"]) == ((0, 1) if math.isnan(want) else (1, 0))


@pytest.mark.parametrize(
    ("hit", "tokens"),
    [
        pytest.param({"start_char": 0, "end_char": 9}, 2, id="a span"),
        pytest.param({"spans": [{"start_char": 12, "end_char": 15},
                                {"start_char": 0, "end_char": 9}]}, 3, id="spans"),
        pytest.param({"start_char": 0, "end_char": 9, "text": "The moon"}, 2, id="its own text"),
    ],
)  # fmt: skip
def test_tokens_of_spans_are_those_of_the_documents(scored, tmp_path, hit, tokens):
    docs = write_lines(tmp_path / "docs.jsonl", [{"source_id": "d", "text": f"{MOON} {SUN}"}])
    golden = asked("q", source_id="d", quote="The moon")
    trace = [{"question_id": "q", "stages": {}, "context": [{"source_id": "d", **hit}]}]
    run = scored(golden, trace, corpus=docs)
    assert run.per_query["context_tokens"].to_list() == [tokens]
    assert not [line for line in run.manifest["warnings"] if "without a text to count" in line]


def test_tokens_of_chunks_by_id_are_those_of_the_documents(scored, tmp_path):
    docs = write_lines(tmp_path / "docs.jsonl", [{"source_id": "d", "text": f"{MOON} {SUN}"}])
    chunk = {"chunk_id": "c", "source_id": "d", "start_char": 0, "end_char": 18}
    run = scored(
        asked("q", source_id="d", quote="The moon"),
        [{"question_id": "q", "stages": {}, "context": [{"chunk_id": "c"}]}],
        corpus=docs, chunks=write_lines(tmp_path / "chunks.jsonl", [chunk]),
    )  # fmt: skip
    assert run.per_query["context_tokens"].to_list() == [4]


def test_without_documents_hits_whose_tokens_nobody_knows_are_said(scored):
    golden = asked("q", source_id="d", start_char=0, end_char=9)
    trace = [{"question_id": "q", "stages": {}, "context": [
        {"source_id": "d", "start_char": 0, "end_char": 9}]}]  # fmt: skip
    run = scored(golden, trace)
    assert run.per_query["context_tokens"].is_nan().all()
    [said] = [line for line in run.manifest["warnings"] if "without a text to count" in line]
    assert "1 question (q) has hits" in said
    assert "say --corpus" in said


def test_a_refusal_of_a_question_that_nobody_labelled_is_neither_right_nor_false(scored):
    golden = [
        *asked("known", quote=MOON),
        {"question_id": "none", "question": "?", "answerable": False},
        {"question_id": "stated", "question": "?", "answerable": True, "labels": "none"},
        {"question_id": "open", "question": "?", "labels": "none", "reference_answer": "no"},
    ]
    names = [row["question_id"] for row in golden]
    trace = [found(n, MOON, answer="I don't know.", abstained=True, context=[MOON]) for n in names]
    run = scored(golden, trace)
    rows = run.per_query.filter(stage="answer").sort("question_id")
    assert rows["question_id"].to_list() == ["known", "none", "open", "stated"]
    for metric, want in (("false_refusal", [1, None, None, 1]),
                         ("right_refusal", [None, 1, None, None]),
                         ("abstention_accuracy", [0, 1, None, 0])):  # fmt: skip
        assert rows[metric].fill_nan(None).to_list() == want
    said = " ".join(run_text(run).split())
    assert "4 questions: 2 answerable (1 of them not labelled yet), 1 not, 1 not labelled" in said
    assert "2 of 2 answers to answerable questions (false, 100%)" in said
    assert "1 answer to questions not labelled yet left out" in said
    assert run.questions.filter(pl.col("answerable").is_null())["question_id"].to_list() == ["open"]
    assert not any("answerable" in s for s in run.questions.filter(question_id="open")["slices"][0])
