"""Questions whose evidence nobody has looked for yet, from import to a scored, labelled set."""

import csv
import json

import pytest

import rayeval
from rayeval.cli.main import run_command
from rayeval.errors import DataError
from rayeval.execution.grow.session import Session
from rayeval.golden.file import read_golden

PROMPT = (
    "READ\n\nQUESTION:\n{}\n\nCONTEXTS:\n[1] 배는 여섯 시에 떠난다.\n\n[2] 섬은 크다.\n\nOUTPUT:\n"
)


@pytest.fixture
def imported(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for kind, name in (("relevant", "1"), ("non_relevant", "2")):
        row = {
            "query_id": name,
            "docids": [f"{name}#0", f"{name}#1"],
            "prompt": PROMPT.format("언제?"),
        }
        (tmp_path / f"ko.{kind}.jsonl").write_text(json.dumps(row))
    files = ["ko.relevant.jsonl", "ko.non_relevant.jsonl"]
    assert run_command(["golden", "import", "nomiracl", *files, "--out", "."]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "grade the run's hits with `golden label RUN`" in told
    return tmp_path


def scored():
    return rayeval.score("golden.jsonl", "trace.jsonl", corpus="docs.jsonl")


def test_an_import_without_gold_is_scored_and_then_labelled(imported, capsys):
    run = scored()
    assert run.failures.height == 0
    assert "1 answerable (1 of them not labelled yet)" in str(run)
    assert run_command(["show", run.run_id]) == 0
    assert f"golden label {run.run_id}` grades the hits" in capsys.readouterr().out.replace(
        "\n  ", " "
    )
    label = ["golden", "label", run.run_id]
    assert run_command([*label, "--sheet", "sheet.csv"]) == 0
    rows = list(csv.DictReader((imported / "sheet.csv").read_text("utf-8-sig").splitlines()))
    rows.sort(key=lambda row: row["text"])  # blind: in no order that says anything
    assert [row["text"] for row in rows] == ["배는 여섯 시에 떠난다.", "섬은 크다."]
    grades = [{"question_id": "ko-1", "chunk_id": row["chunk_id"], "grade": grade, "group": "new"}
              for row, grade in zip(rows, ("3", "0"), strict=True)]  # fmt: skip
    (imported / "grades.jsonl").write_text("\n".join(map(json.dumps, grades)))
    assert run_command([*label, "--batch", "grades.jsonl"]) == 0
    after = scored()
    assert after.failures["status"].to_list() == ["success"]
    assert "not labelled yet" not in str(after)


def test_a_question_stays_unlabelled_until_it_has_gold(imported):
    session = Session(scored())
    first, second = session.items().to_dicts()
    session.grade(first, 0)
    assert read_golden("golden.jsonl").rows["ko-1"][1]["labels"] == "none"
    session.grade(second, 3)
    assert "labels" not in read_golden("golden.jsonl").rows["ko-1"][1]
    session.undo()
    assert read_golden("golden.jsonl").rows["ko-1"][1]["labels"] == "none"


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param({"source_id": "d"}, id="with gold"),
        pytest.param({"answerable": False}, id="unanswerable"),
    ],
)
def test_what_is_labelled_may_not_say_that_it_is_not(tmp_path, fields):
    path = tmp_path / "g.jsonl"
    path.write_text(json.dumps({"question_id": "q", "question": "?", "labels": "none", **fields}))
    with pytest.raises(DataError) as error:
        read_golden(str(path))
    assert [problem.kind for problem in error.value.problems] == ["labelled"]
