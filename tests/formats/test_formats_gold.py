"""Gold in PDF and DOCX: it rests on quotes, and a page says where one stands."""

import json
import re

import pytest
import yaml
from formats_files import KOREAN, both, laid_out, locked, pdf, table, text, word

import rayeval
from rayeval.cli.main import run_command
from rayeval.execution.evaluate import run_config
from rayeval.execution.job import Options
from rayeval.execution.load import load_config
from rayeval.execution.progress import Silent
from rayeval.report.question import question_text

CODES = table([["Code", "Meaning"], ["ERR-1", "expired"], ["ERR-2", "timeout"]])
MANUAL = pdf(
    text(["Tokens expire after 90 days.", "Ask the service desk."], ["The desk opens at nine."]),
    both(text(["Tokens are re-", "newed by the tool. The desk opens at nine."]), CODES),
    text(["장비 신청은 포털에", "서 하며 5일이 걸린다."], font=KOREAN),
    title="Manual",
)


def leave(document):
    document.add_heading("Leave", 1)
    document.add_paragraph("Every employee has 25 days of leave.")
    laid_out(document.add_paragraph().add_run("Five of them may be carried over."))


def question(name, **evidence):
    asked = f"what about {evidence.get('quote', name)}"
    return {"question_id": name, "question": asked, "evidence": [evidence]}


QUESTIONS = [
    question("exact", source_id="manual.pdf", quote="Tokens expire after 90 days."),
    question("free", quote="Five of them may be carried over."),
    question("lines", source_id="manual.pdf", quote="90 days. Ask the service desk."),
    question("hyphen", source_id="manual.pdf", quote="renewed by the tool"),
    question("syllables", quote="포털에서 하며"),
    question("second", source_id="manual.pdf", quote="The desk opens at nine.", page=2),
    question("cell", source_id="manual.pdf", element_id="table-1", cell="r3c2"),
    question("page", source_id="manual.pdf", page=3),
    question("offsets", source_id="manual.pdf", start_char=0, end_char=28),
    question("notes", source_id="notes.md", quote="plain notes", page=7),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A project with documents of four formats."""
    folder = tmp_path_factory.mktemp("formats")
    docs = folder / "docs"
    docs.mkdir()
    (docs / "manual.pdf").write_bytes(MANUAL)
    (docs / "leave.docx").write_bytes(word(leave))
    (docs / "notes.md").write_text("# Notes\n\nSome plain notes of no page.\n")
    (docs / "~$leave.docx").write_bytes(b"the mark of an editor that has it open")
    write(folder, QUESTIONS)
    config = {
        "golden": {"path": "golden.jsonl"},
        "corpus": {"path": "docs"},
        "chunk": {"kind": "structure", "size": 120},
        "retrieve": {"arms": {"bm25": {"kind": "bm25", "analyzer": {"kind": "unicode_words"}, "depth": 20}}},
    }  # fmt: skip
    (folder / "rayeval.yaml").write_text(yaml.safe_dump(config))
    return folder


def write(folder, questions, name="golden.jsonl"):
    lines = [json.dumps(row, ensure_ascii=False) + "\n" for row in questions]
    (folder / name).write_text("".join(lines), encoding="utf-8")


def validated(folder, capsys, questions):
    write(folder, questions, "other.jsonl")
    config = str(folder / "rayeval.yaml")
    sets = ["--set", f"golden.path={folder / 'other.jsonl'}", "--runs", str(folder / "runs")]
    code = run_command(["validate", config, *sets, "--json"])
    return code, json.loads(capsys.readouterr().out)


@pytest.fixture(scope="module")
def run(folder):
    loaded = load_config(str(folder / "rayeval.yaml"))
    return run_config(loaded, Options(runs=str(folder / "runs")), Silent())


def test_quotes_stand_where_readers_see_them(run):
    gold = {row["question_id"]: row["evidence"][0] for row in run.questions.to_dicts()}
    pages = {name: evidence["page"] for name, evidence in gold.items()}
    assert pages == {
        "exact": 1, "free": 2, "lines": 1, "hyphen": 2, "syllables": 3, "second": 2, "cell": 2,
        "page": 3, "offsets": 1, "notes": 7,
    }  # fmt: skip
    passages = {row["source_id"]: row for row in run.passages.to_dicts()}
    assert gold["second"]["spans"][0]["start_char"] > gold["lines"]["spans"][0]["end_char"]
    assert set(passages) == {"leave.docx", "manual.pdf", "notes.md"}
    assert (gold["page"]["whole"], gold["cell"]["whole"]) == (False, True)
    assert all(evidence["parsed"] for evidence in gold.values())


def test_chunks_know_their_pages(run):
    pages = {
        tuple(row["pages"]) for row in run.passages.to_dicts() if row["source_id"] == "manual.pdf"
    }
    assert {page for chunk in pages for page in chunk} == {1, 2, 3}
    assert {
        tuple(row["pages"]) for row in run.passages.to_dicts() if row["source_id"] == "notes.md"
    } == {()}


def test_the_manifest_names_the_extractors(run):
    named = run.manifest["corpus"]["extractors"]
    assert named["pdf"].startswith("pdfplumber ")
    assert named["docx"].startswith("python-docx ")
    assert run.manifest["steps"]["documents"]["identity"]["extractors"] == named
    assert {"pdfplumber", "pdfminer.six", "python-docx"} <= set(run.manifest["libraries"])


def test_the_page_is_shown(run):
    shown = question_text(run, "second")
    assert "] page 2" in shown  # the evidence's
    assert re.search(r"  manual.pdf  [0-9a-f]{32} page 2  ◀ e1 100%", shown)  # a hit's, with its id


def test_evidence_by_cell_is_shown_with_its_name_and_text(run):
    line, text = question_text(run, "cell").split("evidence  ")[1].splitlines()[:2]
    assert line.endswith(" table-1/r3c2")
    [cell] = [q for q in run.questions.to_dicts() if q["question_id"] == "cell"]
    [span] = cell["evidence"][0]["spans"]
    assert text.strip("“” ") and len(text.strip("“” ")) == span["end_char"] - span["start_char"]


def test_offsets_without_a_quote_are_a_warning(folder, capsys):
    code, found = validated(folder, capsys, QUESTIONS)
    assert (code, found["problems"]) == (0, [])
    [warning] = found["warnings"]
    assert (warning["kind"], warning["question_id"]) == ("extracted_offsets", "offsets")
    assert "add the quote" in warning["message"]


@pytest.mark.parametrize(
    ("evidence", "kind", "says"),
    [
        pytest.param({"quote": "Tokens expire", "page": 2}, "page_mismatch",
                     "is on page 1, not on page 2", id="the quote is on another page"),
        pytest.param({"quote": "Tokens expire", "page": 9}, "unknown_page",
                     "no text on page 9; the last page with text is 3", id="no such page"),
        pytest.param({"quote": "Tokens expire", "page": 0}, "unknown_page", "page 0",
                     id="pages are counted from 1"),
        pytest.param({"quote": "The desk opens at nine."}, "quote_ambiguous", "; give its `page` (",
                     id="on two pages, and none is named"),
        pytest.param({"element_id": "table-1", "page": 1}, "page_mismatch", "is on page 2",
                     id="the table is on another page"),
        pytest.param({"quote": "To kens exp1re"}, "quote_lost", "nowhere", id="nowhere"),
    ],
)  # fmt: skip
def test_a_page_that_contradicts_is_a_problem(folder, capsys, evidence, kind, says):
    code, found = validated(folder, capsys, [question("q", source_id="manual.pdf", **evidence)])
    [problem] = found["problems"]
    assert (code, problem["kind"]) == (2, kind)
    assert says in problem["message"]


def test_a_quote_of_no_named_source_is_looked_for_on_its_page(folder, capsys, run):
    code, found = validated(folder, capsys, [question("q", quote="Tokens expire", page=2)])
    [problem] = found["problems"]
    assert (code, problem["kind"]) == (2, "quote_lost")
    assert "stands on page 2 in no current document" in problem["message"]


def test_files_that_can_not_be_read_are_named_all_at_once(folder, capsys, tmp_path):
    (tmp_path / "locked.pdf").write_bytes(locked("word"))
    (tmp_path / "cut.pdf").write_bytes(MANUAL[:-9])
    (tmp_path / "scan.pdf").write_bytes(pdf(lambda canvas: canvas.rect(9, 9, 9, 9)))
    (tmp_path / "broken.docx").write_bytes(b"PK")
    config = str(folder / "rayeval.yaml")
    runs = str(tmp_path / "runs")
    code = run_command(
        ["validate", config, "--set", f"corpus.path={tmp_path}", "--json", "--runs", runs]
    )
    found = json.loads(capsys.readouterr().out)
    kinds = {
        (p["file"].rpartition("/")[2], p["kind"])
        for p in found["problems"]
        if "question_id" not in p
    }
    assert code == 2
    assert kinds == {("locked.pdf", "encrypted_document"), ("cut.pdf", "damaged_document"),
                     ("broken.docx", "damaged_document")}  # fmt: skip
    assert [w["kind"] for w in found["warnings"]] == ["no_text"]


def test_a_missing_extra_is_an_error_that_names_the_command(folder, capsys, monkeypatch):
    from importlib.metadata import PackageNotFoundError

    from rayeval.corpus.extract import readers

    def gone(name):
        raise PackageNotFoundError(name)

    monkeypatch.setattr(readers, "version", gone)
    code = run_command(["run", str(folder / "rayeval.yaml"), "--runs", str(folder / "none")])
    assert code == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "needs" in said
    assert "pip install 'rayeval[documents]'" in said
    assert not list((folder / "none").glob("2*"))


def test_gold_on_a_page_is_not_found_by_the_same_words_on_another(tmp_path):
    closes = "The office closes at 18:00."
    pages = [text([f"{closes} Lunch is at {when}."]) for when in ("noon", "one")]
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "offices.pdf").write_bytes(pdf(*pages))
    evidence = {"source_id": "offices.pdf", "quote": closes, "page": 2}
    golden = tmp_path / "golden.jsonl"
    golden.write_text(
        json.dumps({"question_id": "q", "question": "?", "evidence": [evidence]}) + "\n"
    )
    for when, want in (("noon", 0), ("one", 1)):
        hits = [{"question_id": "q", "stages": {"s": {"hits": [f"{closes} Lunch is at {when}."]}}}]
        run = rayeval.score(golden, hits, corpus=tmp_path / "docs", runs=tmp_path / "runs")
        assert run.per_query["recall@1"].to_list() == [want]
