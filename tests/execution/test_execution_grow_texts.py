"""Grading hits of a run that had no documents: texts are judged and become evidence by quotes."""

import csv
import json

import pytest
from execution_project import write_lines

import rayeval
from rayeval import files
from rayeval.cli.main import run_command
from rayeval.execution.grow.batch import apply_batch
from rayeval.execution.grow.session import Session

LOAN = "A reader may borrow twelve books. The loan period is 21 days."
FEE = "A late book costs 20 cents a day."
CARD = "A replacement card costs 5 euros."
FILM = "Films are lent for seven days."
DUE = "A fee is due at once."
POOL = "The pool opens in May."
QUESTIONS = [
    {"question_id": "loan", "question": "How long may I keep a book?",
     "evidence": [{"source_id": "library.md", "quote": "The loan period is 21 days."}]},
    {"question_id": "card", "question": "What does a new card cost?",
     "evidence": [{"quote": "A  replacement card costs 5 euros."}]},
]  # fmt: skip
HITS = {
    "loan": [FEE, LOAN, {"source_id": "library.md", "text": FILM}],
    "card": [CARD, {"source_id": "fees.md", "text": DUE}, POOL],
}
METRICS = ["recall@3", "ndcg@3", "judged@3"]


@pytest.fixture
def golden(tmp_path):
    write_lines(tmp_path / "golden.jsonl", QUESTIONS)
    return tmp_path / "golden.jsonl"


def scored(golden, hits=HITS, **more):
    trace = [{"question_id": n, "stages": {"search": {"hits": h}}} for n, h in hits.items()]
    runs = golden.parent / "runs"
    return rayeval.score(str(golden), trace, metrics=METRICS, cutoffs=[3], runs=runs, **more)


def offered(session):
    return {(i["question_id"], i["text"]) for i in session.items().to_dicts()}


def of_run(run):
    return dict(run.aggregate.select("metric", "mean").iter_rows())


def test_hits_that_hold_gold_by_its_quote_are_judged(golden):
    run = scored(golden)
    session = Session(run, k=3)
    found = offered(session)
    assert found == {("loan", FEE), ("loan", FILM), ("card", DUE), ("card", POOL)}
    means = session.judging.figures("loan").mean
    assert {name: means[name] for name in METRICS} == pytest.approx(
        {name: of_run(run)[name] for name in METRICS}
    )


@pytest.mark.parametrize("grade", [0, 1, 2, 3])
def test_a_text_becomes_evidence_by_its_quote(golden, grade):
    session = Session(scored(golden), k=3)
    for item in session.items().to_dicts():
        session.grade(item, grade)
        assert not session.open(item)
    written = [
        entry
        for line in golden.read_text().splitlines()
        for entry in json.loads(line)["evidence"]
        if "evidence_id" in entry
    ]
    kept = ("source_id", "quote", "relevance")
    assert sorted([entry.get(name) or "" for name in kept] for entry in written) == sorted(
        [source, text, grade] if grade else [source, text, ""]
        for source, text in [("", FEE), ("library.md", FILM), ("fees.md", DUE), ("", POOL)]
    )
    means = session.judging.figures("loan").mean
    assert {n: means[n] for n in METRICS} == pytest.approx(
        {n: of_run(scored(golden))[n] for n in METRICS}
    )
    assert Session(scored(golden), k=3).items().is_empty()


def test_a_graded_text_closes_no_other_hit(golden):
    session = Session(scored(golden), k=3)
    [one, other] = [i for i in session.items().to_dicts() if i["question_id"] == "card"]
    session.grade(one, 0)
    assert session.open(other)
    assert session.undo() is not None
    assert session.open(one)


def test_what_cannot_become_evidence_is_not_offered_and_said(golden, capsys):
    docs = golden.parent / "docs"
    docs.mkdir()
    (docs / "library.md").write_text(f"{LOAN}\n\n{FILM}\n")
    (docs / "fees.md").write_text(f"{FEE}\n\n{DUE} {POOL} {CARD}\n")
    hits = HITS | {"card": [CARD, "Nobody wrote this.", POOL]}
    run = scored(golden, hits, corpus=str(docs))
    session = Session(run, k=3)
    assert ("card", "Nobody wrote this.") not in offered(session)
    assert list(session.left_out.values()) == [1]
    sheet = golden.parent / "sheet.csv"
    common = ["golden", "label", run.path, "--k", "3"]
    assert run_command([*common, "--sheet", str(sheet)]) == 0
    assert "1 unjudged hit is left out" in " ".join(capsys.readouterr().err.split())
    [chunk] = run.passages.filter(run.passages["text"] == "Nobody wrote this.")["chunk_id"]
    with sheet.open("a", encoding="utf-8") as file:
        file.write(f"card,{chunk},1,,,,,,\r\n")
    before = golden.read_bytes()
    assert run_command([*common, "--batch", str(sheet)]) == 2
    assert "can't become evidence" in " ".join(capsys.readouterr().err.split())
    assert golden.read_bytes() == before


def filled(run, folder, **fields):
    """A sheet of the run's hits, each graded so."""
    sheet = folder / "sheet.csv"
    assert run_command(["golden", "label", run.path, "--k", "3", "--sheet", str(sheet)]) == 0
    with sheet.open(encoding="utf-8-sig", newline="") as file:
        rows = [{**row, **fields} for row in csv.DictReader(file)]
    assert len(rows) == 4
    with sheet.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return str(sheet)


def test_a_batch_of_texts_is_taken_in_once(golden, capsys):
    run = scored(golden)
    batch = ["golden", "label", run.path, "--k", "3", "--batch"]
    batch.append(filled(run, golden.parent, grade="3", group="new"))
    capsys.readouterr()
    assert run_command([*batch, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (len(found["graded"]), found["left"]) == (4, 0)
    assert {row["rank"] for row in found["graded"]} == {1, 2, 3}
    after = golden.read_bytes()
    assert run_command(batch) == 0
    assert "4 grades" in " ".join(capsys.readouterr().err.split())
    assert golden.read_bytes() == after


def test_a_batch_is_written_at_once(golden, monkeypatch):
    run = scored(golden)
    sheet, written = filled(run, golden.parent, grade="3", group="new"), []
    write = files.write_bytes
    monkeypatch.setattr(files, "write_bytes", lambda *file: (written.append(file), write(*file)))
    session = Session(run, k=3)
    assert apply_batch(session, sheet) == 0
    assert [path for path, _ in written] == [str(golden)]
    assert len(session.changes) == 4


def test_gold_has_ranks_in_a_comparison_of_texts(golden):
    a = scored(golden)
    b = scored(golden, HITS | {"loan": [LOAN, FEE]})
    found = rayeval.compare(b, a)
    [row] = found.ranks.filter(found.ranks["question_id"] == "loan").to_dicts()
    assert sorted(value for value in row.values() if isinstance(value, int)) == [1, 2]
    assert LOAN not in found.unjudged.join(a.passages, on="chunk_id")["text"]
