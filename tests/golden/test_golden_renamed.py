"""Gold whose document got another name, and gold in an element that got another number."""

import json
from pathlib import Path

import pytest

from rayeval.execution.golden.anchor import anchor_golden
from rayeval.golden.file import read_golden

LEAVE = "# Leave\n\nEvery employee has 25 days of leave. 휴가 😀 25일.\n"
TABLES = "# Fees\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\nText.\n\n| c | d |\n|---|---|\n| 3 | 4 |\n"
MORE = TABLES.replace("# Fees\n", "# Fees\n\n| new | x |\n|---|---|\n| 9 | 9 |\n\nBefore.\n")


def asked(**evidence):
    return {"question_id": "q", "question": "?", "evidence": [{"evidence_id": "e", **evidence}]}


def anchored(folder: Path, row, old, new):
    """What becomes of a row labelled on the documents `old` when there are `new`."""
    golden, out = folder / "g.jsonl", folder / "h.jsonl"
    golden.write_text(json.dumps(row, ensure_ascii=False), "utf-8")
    for name, files in (("old", old), ("new", new)):
        for path, text in files.items():
            (folder / name / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / name / path).write_text(text, "utf-8")
    found = anchor_golden(str(golden), str(folder / "new"), was=str(folder / "old"), out=str(out))
    [(_, written)] = read_golden(str(out)).rows.values()
    return found, written["evidence"][0]


PLACED = [
    pytest.param({"quote": "25 days"}, id="by quote"),
    pytest.param({"start_char": 28, "end_char": 35}, id="by offsets"),
    pytest.param({"start_char": 28, "end_char": 35, "quote": "25 days"}, id="by both"),
    pytest.param({}, id="the whole document"),
    pytest.param({"element_id": "paragraph-1"}, id="by element"),
]


@pytest.mark.parametrize("place", PLACED)
def test_a_document_of_the_same_text_and_another_name_is_a_move(tmp_path, place):
    row = asked(source_id="hr/leave.md", **place)
    found, evidence = anchored(
        tmp_path, row, {"hr/leave.md": LEAVE}, {"people/leave.md": LEAVE, "z.md": "# Z\n"}
    )
    [change] = found.changes
    assert (change.status, change.message) == (
        "moved", "source 'hr/leave.md' is called 'people/leave.md' now: the same text",
    )  # fmt: skip
    assert evidence == {"evidence_id": "e", "source_id": "people/leave.md", **place}
    assert found.sound


def test_what_was_noted_beside_the_set_is_enough(tmp_path):
    row = asked(source_id="a.md", quote="25 days")
    anchored(tmp_path, row, {"a.md": LEAVE}, {"a.md": LEAVE})
    (tmp_path / "new" / "a.md").rename(tmp_path / "new" / "b.md")
    found = anchor_golden(str(tmp_path / "h.jsonl"), str(tmp_path / "new"))
    assert [(change.status, change.revision_id is None) for change in found.changes] == [
        ("moved", False)
    ]
    assert found.written is None


def test_two_documents_of_the_same_text_are_for_somebody_to_choose(tmp_path):
    row = asked(source_id="a.md", quote="25 days")
    found, evidence = anchored(tmp_path, row, {"a.md": LEAVE}, {"b.md": LEAVE, "c.md": LEAVE})
    [change] = found.changes
    assert (change.status, found.sound) == ("ambiguous", False)
    assert "that of b.md, c.md" in change.message
    assert evidence["source_id"] == "a.md"


def test_another_text_of_another_name_is_lost(tmp_path):
    row = asked(source_id="a.md", quote="25 days")
    found, _ = anchored(tmp_path, row, {"a.md": LEAVE}, {"b.md": LEAVE + "More."})
    assert [change.status for change in found.changes] == ["lost"]


@pytest.mark.parametrize(
    ("place", "now"),
    [
        pytest.param({"element_id": "table-2"}, {"element_id": "table-3"}, id="a table"),
        pytest.param({"element_id": "table-2", "cell": "r1c2"}, {"element_id": "table-3", "cell": "r1c2"}, id="a cell"),
        pytest.param({"element_id": "paragraph-1"}, {"element_id": "paragraph-2"}, id="a paragraph"),
    ],
)  # fmt: skip
def test_an_element_of_another_number_is_found_by_its_text(tmp_path, place, now):
    found, evidence = anchored(
        tmp_path, asked(source_id="t.md", **place), {"t.md": TABLES}, {"t.md": MORE}
    )
    [change] = found.changes
    assert change.status == "moved"
    assert "now" in change.message
    assert evidence == {"evidence_id": "e", "source_id": "t.md", **now}


def test_an_element_whose_text_is_there_twice_is_ambiguous(tmp_path):
    twice = MORE + "\n| c | d |\n|---|---|\n| 3 | 4 |\n"
    found, _ = anchored(
        tmp_path, asked(source_id="t.md", element_id="table-2"), {"t.md": TABLES}, {"t.md": twice}
    )
    [change] = found.changes
    assert (change.status, len(change.places)) == ("ambiguous", 2)


def test_an_element_whose_text_is_gone_is_lost(tmp_path):
    other = TABLES.replace("| 3 | 4 |", "| 3 | 5 |")
    found, _ = anchored(
        tmp_path, asked(source_id="t.md", element_id="table-2"), {"t.md": TABLES}, {"t.md": other}
    )
    assert [change.status for change in found.changes] == ["lost"]
