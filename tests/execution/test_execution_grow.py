"""Labels that grow under a run: what is unjudged, what a grade changes, and taking it back."""

import json
import math
from pathlib import Path

import pytest
from execution_project import write_lines

from rayeval.errors import ConfigError, RunError
from rayeval.execution.evaluate import run_config
from rayeval.execution.grow.session import Session
from rayeval.execution.job import Options
from rayeval.execution.load import load_config
from rayeval.execution.progress import Silent

DOCUMENTS = [
    {"source_id": "leave", "format": "markdown",
     "text": "# Leave\n\nEvery employee has 25 days of paid leave.\n\nUnused days lapse in March.\n\n"
             "Leave is requested in the portal.\n"},
    {"source_id": "faq", "format": "text",
     "text": "Paid leave? 25 days for every employee.\n\nSick leave needs a certificate."},
    {"source_id": "site", "format": "html",
     "text": "<h1>Leave</h1><p>Paid leave of an employee:\n25 days &amp; more.</p>"},
    {"source_id": "휴가", "format": "text", "text": "직원의 유급 휴가는 25일이다. 😀 paid leave days"},
]  # fmt: skip
QUESTIONS = [
    {"question_id": "a", "question": "how many days of paid leave for an employee",
     "evidence": [{"source_id": "leave", "quote": "Every employee has 25 days of paid leave."}]},
    {"question_id": "b", "question": "is a certificate needed for sick leave", "label_version": "3",
     "source_id": "faq", "quote": "Sick leave needs a certificate."},
    {"question_id": "done", "question": "unused leave days", "labels": "complete",
     "evidence": [{"source_id": "leave", "quote": "Unused days lapse in March."}]},
    {"question_id": "none", "question": "leave of visitors", "answerable": False},
]  # fmt: skip
CONFIG = """
golden: {path: golden.jsonl}
corpus: {path: documents.jsonl}
chunk: {kind: fixed, size: 45}
retrieve: {arms: {bm25: {kind: bm25, analyzer: {kind: char_ngram, n: 2}, depth: 6}}}
metrics: {cutoffs: [4]}
"""
METRICS = ["recall@4", "ndcg@4", "judged@4"]


@pytest.fixture
def place(tmp_path):
    write_lines(tmp_path / "documents.jsonl", DOCUMENTS)
    write_lines(tmp_path / "golden.jsonl", QUESTIONS)
    (tmp_path / "c.yaml").write_text(CONFIG)
    return tmp_path


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return str(tmp_path_factory.mktemp("store"))


@pytest.fixture
def evaluate(place, store):
    def run(*sets):
        loaded = load_config(str(place / "c.yaml"), sets)
        return run_config(loaded, Options(runs=str(place / "runs"), store=store), Silent())

    return run


def means(run):
    rows = run.aggregate.filter(run.aggregate["stage"] == "bm25")
    return dict(rows.select("metric", "mean").iter_rows())


def same(figures, numbers):
    return all(
        figures[name] == numbers[name] or (math.isnan(figures[name]) and math.isnan(numbers[name]))
        for name in METRICS
    )


def test_unjudged_are_the_hits_that_touch_no_evidence(evaluate):
    run = evaluate()
    found = Session(run, k=4).items()
    want = set()
    for row in run.questions.filter(run.questions["answerable"]).to_dicts():
        hits = run.trace.filter((run.trace["question_id"] == row["question_id"])
                                & (run.trace["stage"] == "bm25"))["hits"][0].to_list()[:4]  # fmt: skip
        for rank, hit in enumerate(hits, start=1):
            [passage] = run.passages.filter(run.passages["chunk_id"] == hit["chunk_id"]).to_dicts()
            [(start, end)] = [(s["start_char"], s["end_char"]) for s in passage["spans"]]
            touched = any(
                e["source_id"] == passage["source_id"] and start < s["end_char"] and s["start_char"] < end
                for e in row["evidence"] for s in e["spans"]
            )  # fmt: skip
            if not touched and row["labels"] == "partial":
                want.add((row["question_id"], hit["chunk_id"], rank))
    assert {(r["question_id"], r["chunk_id"], r["rank"]) for r in found.to_dicts()} == want
    assert {name for name, _, _ in want} == {"a", "b"}
    assert found["question_id"].to_list() == sorted(found["question_id"])


@pytest.mark.parametrize(
    ("name", "grade"),
    [("golden.jsonl", 0), ("golden.jsonl", 1), ("golden.csv", 2), ("golden.parquet", 3)],
)
def test_figures_after_a_grade_are_those_of_a_new_run(place, evaluate, grade, name):
    convert(place, name)
    run = evaluate(f"golden.path={name}")
    session = Session(run, k=4)
    items = session.items().to_dicts()
    changes = [
        session.grade(items[0], grade),
        session.grade(items[-1], 3, next(iter(session.groups(items[-1]["question_id"])))),
    ]
    assert changes[0].before.mean == pytest.approx({m: means(run)[m] for m in METRICS}, abs=0)
    again = evaluate(f"golden.path={name}")
    assert same(changes[-1].after.mean, means(again))
    for change in changes:
        rows = again.per_query.filter((again.per_query["question_id"] == change.question_id)
                                      & (again.per_query["stage"] == "bm25"))  # fmt: skip
        assert same(session.judging.figures(change.question_id).question, rows.to_dicts()[0])


def convert(place, name):
    """The golden set in another format, by way of what `golden add` writes."""
    from rayeval.golden.rewrite import appended

    data = b""
    for row in QUESTIONS:
        data = appended(data, Path(name).suffix[1:], row)
    (place / name).write_bytes(data)


def test_a_second_session_goes_on_where_the_first_stopped(evaluate):
    run = evaluate()
    first = Session(run, k=4)
    items = first.items().to_dicts()
    first.grade(items[0], 2, "e1")
    second = Session(run, k=4)
    left = [item for item in items if first.open(item)]
    assert second.items().to_dicts() == left
    assert len(left) < len(items)
    name = items[0]["question_id"]
    assert second.judging.figures(name) == first.judging.figures(name)
    assert second.version == "5"


def test_html_evidence_has_the_source_s_own_text_as_its_quote(place, evaluate):
    run = evaluate("chunk.size=500")
    session = Session(run, k=4)
    item = next(i for i in session.items().to_dicts() if i["source_id"] == "site")
    evidence = session.grade(item, 3).evidence
    start, end = evidence["start_char"], evidence["end_char"]
    assert evidence["quote"] == DOCUMENTS[2]["text"][start:end]
    assert "<" in evidence["quote"] and "<" not in item["text"]
    assert "revision_id" not in evidence  # the quote tells when the text is another
    assert same(session.judging.figures("a").mean, means(evaluate("chunk.size=500")))


def test_undo_brings_back_the_file_and_the_figures(place, evaluate):
    session = Session(evaluate(), k=4)
    before = (place / "golden.jsonl").read_bytes()
    item, other = session.items().to_dicts()[:2]
    first = session.grade(item, 3)
    session.grade(other, 0)
    session.undo()
    assert session.undo().chunk_id == item["chunk_id"]
    assert (place / "golden.jsonl").read_bytes() == before
    assert session.judging.figures(item["question_id"]) == first.before
    assert session.undo() is None
    assert session.changes == []


def test_out_leaves_the_golden_set_alone_and_is_gone_on_with(place, evaluate):
    run, out = evaluate(), place / "more.jsonl"
    before = (place / "golden.jsonl").read_bytes()
    session = Session(run, out=str(out), k=4)
    assert not out.exists()
    count = session.items().height
    session.grade(session.items().to_dicts()[0], 1)
    assert (place / "golden.jsonl").read_bytes() == before
    assert len(out.read_bytes().splitlines()) == len(QUESTIONS)
    assert Session(run, out=str(out), k=4).items().height < count
    assert Session(run, k=4).items().height == count
    with pytest.raises(ConfigError, match="give it the format of"):
        Session(run, out=str(place / "more.csv"))


def test_hits_on_which_two_runs_differ_come_first(evaluate):
    a, b = evaluate(), evaluate("chunk.overlap=15")
    found = Session(a, k=4, against=b).items().to_dicts()
    mine = {
        (i["question_id"], i["chunk_id"]): i["rank"] for i in Session(a, k=4).items().to_dicts()
    }
    yours = {
        (i["question_id"], i["chunk_id"]): i["rank"] for i in Session(b, k=4).items().to_dicts()
    }
    assert {(i["question_id"], i["chunk_id"]) for i in found} == mine.keys() | yours.keys()
    assert mine.keys() != yours.keys()
    for item in found:
        key = item["question_id"], item["chunk_id"]
        assert (item["rank"], item["other_rank"]) == (mine.get(key), yours.get(key))
        assert item["differs"] == (key not in mine or key not in yours)
        assert item["text"]
    assert [item["differs"] for item in found] == sorted(
        (i["differs"] for i in found), reverse=True
    )


def test_the_order_says_neither_run_nor_rank(evaluate):
    a, b = evaluate("chunk.size=20"), evaluate("chunk.size=20", "chunk.overlap=5")
    found = Session(a, k=6).items().to_dicts()
    names = [item["question_id"] for item in found]
    assert names == sorted(names)
    ranks = {name: [i["rank"] for i in found if i["question_id"] == name] for name in names}
    assert any(some != sorted(some) and some != sorted(some)[::-1] for some in ranks.values())
    both, other = (Session(*pair[:1], k=6, against=pair[1]) for pair in ((a, b), (b, a)))
    pairs = [
        [(i["question_id"], i["chunk_id"]) for i in one.items().to_dicts()] for one in (both, other)
    ]
    assert pairs[0] == pairs[1]  # the second run's hits don't come after the first one's


def test_a_stage_that_the_run_lacks(evaluate):
    with pytest.raises(RunError, match="no stage 'dense'; it has bm25"):
        Session(evaluate(), stage="dense")


def test_the_row_is_all_that_changes(place, evaluate):
    session = Session(evaluate(), k=4)
    before = (place / "golden.jsonl").read_bytes().splitlines()
    item = next(i for i in session.items().to_dicts() if i["question_id"] == "b")
    session.grade(item, 2, "e1")
    after = (place / "golden.jsonl").read_bytes().splitlines()
    assert [n for n, pair in enumerate(zip(before, after, strict=True)) if pair[0] != pair[1]] == [
        1
    ]
    row = json.loads(after[1])
    assert row["label_version"] == "4"
    assert row["evidence"][0] == {"source_id": "faq", "quote": "Sick leave needs a certificate.",
                                  "group_id": "e1"}  # fmt: skip
    new = row["evidence"][1]
    assert (new["evidence_id"], new["group_id"], new["relevance"]) == ("e2", "e1", 2)
    assert new["quote"] == item["text"]
    assert [new["start_char"], new["end_char"]] == list(item["spans"][0].values())
