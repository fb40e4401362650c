"""Two runs that call different passages alike: a grade is of the passage that somebody saw."""

import csv
import json

import pytest
from execution_project import write_lines

import rayeval
from rayeval.cli.main import run_command
from rayeval.execution.grow.session import Session

PARTS = ["Alpha is a bakery.", "It opens at seven.", "Bread costs 3,000 won.", "Cakes sell out."]
TEXT = "\n\n".join(PARTS)
QUESTION = {"question_id": "q", "question": "What does bread cost?",
            "evidence": [{"source_id": "a.md", "quote": PARTS[2]}]}  # fmt: skip


def hit(name: str, part: int, **more) -> dict:
    start = TEXT.index(PARTS[part])
    place = {"source_id": "a.md", "start_char": start, "end_char": start + len(PARTS[part])}
    return {"chunk_id": name, **place, "text": PARTS[part], **more}


@pytest.fixture
def scored(tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text(TEXT)
    write_lines(tmp_path / "golden.jsonl", [QUESTION])

    def run(*hits, corpus=True):
        trace = [{"question_id": "q", "stages": {"search": {"hits": list(hits)}}}]
        more = {"corpus": str(tmp_path / "docs")} if corpus else {}
        golden, runs = str(tmp_path / "golden.jsonl"), tmp_path / "runs"
        return rayeval.score(golden, trace, metrics=["judged@2"], cutoffs=[2], runs=runs, **more)

    return run


def filled(path, **grades) -> list[dict]:
    """The sheet's rows, with grades by text."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        row |= {"grade": grades.get(row["text"].split()[0], ""), "group": "new"}
    save(path, rows)
    return rows


def save(path, rows) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def evidence(golden) -> list[tuple]:
    [row] = map(json.loads, golden.read_text().splitlines())
    return [(e.get("start_char"), e["quote"], e.get("relevance")) for e in row["evidence"]]


@pytest.fixture
def sheet(scored, tmp_path):
    """Of a run with doc#1 at rank 1, and of one that calls another passage doc#1, at rank 2."""
    a, b = scored(hit("doc#1", 0)), scored(hit("doc#0", 3), hit("doc#1", 1))
    path = tmp_path / "sheet.csv"
    label = ["golden", "label", b.path, "--k", "1"]
    assert run_command([*label, "--against", a.path, "--sheet", str(path)]) == 0
    return label, a, path


def test_a_grade_is_of_the_passage_that_the_sheet_shows(sheet, tmp_path, capsys):
    label, _, path = sheet
    rows = filled(path, Alpha="3")
    assert {(row["chunk_id"], row["text"]) for row in rows} == {
        ("doc#1", PARTS[0]), ("doc#0", PARTS[3]),
    }  # fmt: skip
    capsys.readouterr()
    assert run_command([*label, "--batch", str(path), "--json"]) == 0
    [graded] = json.loads(capsys.readouterr().out)["graded"]
    assert (graded["rank"], graded["other_rank"]) == (None, 1)
    assert evidence(tmp_path / "golden.jsonl")[1:] == [(0, PARTS[0], 3)]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        pytest.param({"place": "20–38"}, "the row says", id="the other run's place"),
        pytest.param({"place": "1-3"}, "the row says place 1-3", id="no hit's place"),
        pytest.param({"text": PARTS[1]}, "the row says", id="the other run's text"),
        pytest.param({"chunk_id": "doc#7"}, "'doc#7' is no hit", id="no hit's id"),
        pytest.param({"chunk_id": "doc#0"}, "the row says", id="another hit's id"),
        pytest.param({"source_id": "b.md"}, "the row says source_id 'b.md'", id="another source"),
        pytest.param(dict.fromkeys(["place", "text"], ""), "each run calls", id="nothing but an id"),
    ],
)  # fmt: skip
def test_a_row_that_contradicts_the_runs_is_refused_with_its_line(
    sheet, tmp_path, change, said, capsys
):
    label, _, path = sheet
    rows = filled(path, Alpha="3")
    line = next(n for n, row in enumerate(rows, start=2) if row["grade"])
    rows[line - 2] |= change
    save(path, rows)
    before = (tmp_path / "golden.jsonl").read_bytes()
    assert run_command([*label, "--batch", str(path)]) == 2
    found = capsys.readouterr().err
    assert f"sheet.csv:{line} " in found and said in found
    assert (tmp_path / "golden.jsonl").read_bytes() == before


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"place": "0-18"}, id="a hyphen"),
        pytest.param({"text": f"  {PARTS[0].replace(' ', chr(10))} "}, id="other white space"),
        pytest.param({"text": "#NAME?"}, id="what a spreadsheet makes of a leading sign"),
        pytest.param({"revision_id": "", "text": ""}, id="less than all"),
    ],
)
def test_what_a_spreadsheet_does_to_a_row_is_no_contradiction(sheet, tmp_path, change):
    label, _, path = sheet
    rows = filled(path, Alpha="1")
    next(row for row in rows if row["grade"]).update(change)
    save(path, rows)
    assert run_command([*label, "--batch", str(path)]) == 0
    assert evidence(tmp_path / "golden.jsonl")[1:] == [(0, PARTS[0], 1)]


def test_a_file_that_names_no_runs_hears_of_against_once(sheet, capsys):
    label, a, path = sheet
    rows = filled(path, Alpha="1", Cakes="0")
    kept = [{n: v for n, v in row.items() if n != "sheet_of"} for row in rows]
    for row in kept:
        row["chunk_id"] = "doc#8"
    save(path, kept)
    assert run_command([*label, "--batch", str(path)]) == 2
    assert capsys.readouterr().err.count("--against") == 1
    save(path, [{**row, "chunk_id": "doc#1", "grade": "1" if "Alpha" in row["text"] else ""}
                for row in kept])  # fmt: skip
    assert run_command([*label, "--batch", str(path), "--against", a.path]) == 0


def test_a_sheet_whose_second_run_is_gone_says_what_to_do(sheet, capsys):
    label, _, path = sheet
    rows = filled(path, Alpha="1")
    save(path, [{**row, "sheet_of": f"gone | {label[2].rpartition('/')[2]}"} for row in rows])
    assert run_command([*label, "--batch", str(path)]) == 2
    assert "the run gone too" in capsys.readouterr().err


def test_passages_that_both_runs_call_alike_are_both_offered_and_listed(scored):
    a, b = scored(hit("doc#1", 0)), scored(hit("doc#1", 1))
    items = Session(b, k=1, against=a).items().to_dicts()
    assert sorted((i["text"], i["rank"], i["other_rank"]) for i in items) == [
        (PARTS[0], None, 1), (PARTS[1], 1, None),
    ]  # fmt: skip
    assert all(item["differs"] for item in items)
    found = rayeval.compare(b, a)
    assert found.unjudged.rows() == [
        ("q", "search", "doc#1", None, 1), ("q", "search", "doc#1", 1, None),
    ]  # fmt: skip
    assert found.facts["unjudged"]["hits"] == 2


@pytest.mark.parametrize("corpus", [True, False])
def test_one_passage_by_two_names_is_one(scored, corpus):
    a, b = (scored(hit(name, 0), corpus=corpus) for name in ("x", "y"))
    [item] = Session(b, k=1, against=a).items().to_dicts()
    assert (item["rank"], item["other_rank"], item["differs"]) == (1, 1, False)
    assert rayeval.compare(b, a).unjudged.is_empty()


def test_texts_without_a_place_are_told_apart_by_what_they_say(scored):
    a, b = (scored({"chunk_id": "1", "text": PARTS[part]}, corpus=False) for part in (0, 1))
    assert set(Session(b, k=1, against=a).items()["text"]) == {PARTS[0], PARTS[1]}
    assert rayeval.compare(b, a).unjudged.height == 2
