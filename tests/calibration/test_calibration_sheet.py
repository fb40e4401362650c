"""The sheet that people label: what the judge saw, each thing once, and nothing of its verdict."""

import csv
import io
import json
import re
from pathlib import Path

import answer_runs
import judge_runs
import polars as pl
import pytest
from faulty import serving
from judge_model import task_of

import rayeval.judge.tasks
from rayeval.calibration.requests import Mark
from rayeval.calibration.sheet import MEANT, SHOWN, sheet
from rayeval.cli.main import run_command
from rayeval.execution.sampling import verdicts

pytestmark = pytest.mark.slow  # whole judged runs

PROMPTS = Path(rayeval.judge.tasks.__file__).parent


@pytest.fixture(scope="module")
def thrice(tmp_path_factory):
    """Every question answered three times in the same words, and all that the judge was asked."""
    folder = tmp_path_factory.mktemp("thrice")
    with serving(judge_runs.rule) as server:
        answer = {"repeats": 3, "bracket": ["gold_context"]}
        config = judge_runs.project(folder, server.url, answer=answer)
        run = answer_runs.run(config)
        seen = [judge_runs.messages(body) for body in server.seen if judge_runs.judging(body)]
    return run, seen


def called(capsys, *arguments):
    code = run_command([*map(str, arguments), "--json"])
    return code, json.loads(capsys.readouterr().out)


def sampled(capsys, run, task, path, n=100, *more):
    code, found = called(
        capsys, "judge", "sample", run.path, "--task", task, "--n", n, "--out", path, *more
    )
    assert code == 0, found
    return found, rows_of(path.read_bytes())


def rows_of(data):
    return list(csv.DictReader(io.StringIO(data.decode("utf-8-sig"), newline="")))


def write(path, rows, drop=(), **cells):
    fields = [name for name in [*rows[0], *cells] if name not in drop]
    with path.open("w", encoding="utf-8-sig", newline="") as stream:
        writer = csv.DictWriter(stream, list(dict.fromkeys(fields)), extrasaction="ignore")
        writer.writeheader()
        writer.writerows({**row, **cells} for row in rows)
    return path


@pytest.mark.parametrize("task", SHOWN)
def test_people_are_shown_what_the_judge_was_shown(capsys, thrice, tmp_path, task):
    run, seen = thrice
    _, rows = sampled(capsys, run, task, tmp_path / "s.csv")
    asked = [messages[-1][1] for messages in seen if task_of(messages) == task]
    assert rows
    for row in rows:
        cells = [row[name] for name in SHOWN[task]]
        assert all(cells)
        said = [part for cell in cells for part in re.split(r"(?:^|\n\n)\[\d+\] ", cell) if part]
        assert any(all(part.strip() in request for part in said) for request in asked)
    template = (PROMPTS / f"{task}.md").read_text()
    assert ("{{ question }}" in template) == ("question" in SHOWN[task])
    assert ("passages" in template.partition("# user")[2]) == ("evidence" in SHOWN[task])
    assert all(label in template or label == "not_in_reference" for label in MEANT[task])


def test_nothing_in_a_sheet_tells_the_verdict(capsys, thrice, tmp_path):
    """A chance does: what is drawn for sure was found fault with."""
    run, _ = thrice
    _, rows = sampled(capsys, run, "relevance", tmp_path / "s.csv", 4)
    assert "inclusion_probability" not in rows[0]
    assert "verdict" not in rows[0]
    assert len({row["sample"] for row in rows}) == 1
    assert run.run_id not in rows[0]["sample"]


def test_rows_are_in_no_order_of_questions_or_verdicts():
    """Whoever stops early has labelled any of them."""
    rows = [{"item_id": f"support/q{n:02}/x", "text": "t", "chunks": [], "cluster": f"q{n:02}",
             "language": None, "slice": None, "verdict": "supported"} for n in range(30)]  # fmt: skip
    frame = pl.DataFrame(rows, schema_overrides={"chunks": pl.List(pl.String)})
    orders = [
        [row["cluster"] for row in rows_of(sheet(frame, {}, "support", sample="s", seed=seed))]
        for seed in (1, 1, 2)
    ]
    assert orders[0] == orders[1]
    assert sorted(orders[0]) == sorted(orders[2])
    assert orders[0] not in (sorted(orders[0]), orders[2])


def test_cells_that_a_spreadsheet_would_compute_are_text():
    row = {"item_id": "relevance/=q/1", "question": "=1+1", "answer": "@x", "text": None,
           "chunks": ["c"], "cluster": "=c", "language": None, "slice": None}  # fmt: skip
    text = sheet(pl.DataFrame([row]), {"c": "+evil"}, "relevance", sample="r/1/2//3", seed=1)
    assert (
        text.decode("utf-8-sig").splitlines()[1] == "relevance/=q/1,'=1+1,'+evil,,,'=c,,,r/1/2//3"
    )


def test_a_sheet_is_not_written_over(capsys, thrice, tmp_path):
    run, _ = thrice
    path = tmp_path / "s.csv"
    path.write_text("labels of a week")
    command = ["judge", "sample", run.path, "--task", "support", "--out", path]
    code, found = called(capsys, *command)
    assert code == 2
    assert (
        "is there already, and may hold labels: give --out another name"
        in (found["error"]["message"])
    )
    assert path.read_text() == "labels of a week"
    assert called(capsys, *command, "--force")[0] == 0
    assert rows_of(path.read_bytes())


def test_what_every_repeat_says_is_asked_once_and_counts_three_times(capsys, thrice, tmp_path):
    run, _ = thrice
    found, rows = sampled(capsys, run, "support", tmp_path / "s.csv")
    items = verdicts(run, "support").filter(pl.col("variant") == "answer")
    assert found["verdicts"] == items.height == 3 * found["requests"]
    assert found["n"] == len(rows) == found["requests"]
    assert len({(row["claim"], row["evidence"], row["cluster"]) for row in rows}) == len(rows)
    write(tmp_path / "s.csv", rows, label="supported")
    bound = ["--human", tmp_path / "s.csv", "--run", run.path, "--task", "support"]
    code, out = called(capsys, "judge", "calibrate", *bound)
    assert code == 0
    assert (out["n"], out["n_human_only"], out["n_judge_only"]) == (len(rows), 0, 0)
    assert (out["corrected"]["labelled"], out["corrected"]["n"]) == (items.height, items.height)
    [mean] = run.aggregate.filter(stage="answer", metric="faithfulness")["mean"]
    assert out["corrected"]["judge"] == pytest.approx(mean)


def test_fewer_than_were_asked_for_is_said(capsys, thrice, tmp_path):
    run, _ = thrice
    path = tmp_path / "s.csv"
    assert run_command(["judge", "sample", run.path, "--n", "40", "--out", str(path)]) == 0
    said, n = capsys.readouterr().out, len(rows_of(path.read_bytes()))
    assert f"{n} items in {path}, all that there are (40 were asked for)" in said
    assert f"drawn from {n} different items of {3 * n} verdicts" in said
    assert "a gate needs 30 labelled items in each language; here are ko: " in said
    assert "not_in_context: neither; so is a claim of which only a part is in it" in said
    command = ["judge", "sample", run.path, "--n", "1", "--out", str(tmp_path / "one.csv")]
    assert run_command(command) == 0
    assert "all that there are" not in capsys.readouterr().out


def test_chances_come_from_the_run_that_was_drawn_from(capsys, thrice, tmp_path):
    """Two of each stratum at most are drawn; every label stands for one over its chance."""
    run, _ = thrice
    path = tmp_path / "s.csv"
    _, rows = sampled(capsys, run, "relevance", path, 4)
    bound = ["--human", path, "--run", run.path, "--task", "relevance"]
    write(path, rows, label="2")
    code, found = called(capsys, "judge", "calibrate", *bound)
    assert code == 0
    whole = verdicts(run, "relevance").filter(pl.col("variant") == "answer")
    positive = whole.filter(pl.col("verdict").is_in(["2", "3"])).height / whole.height
    assert found["prevalence_judge"] == pytest.approx(positive)  # strata are verdicts
    drawn = [row["item_id"] for row in rows]
    old = (
        whole.group_by("request")
        .agg(pl.col("item_id").min())
        .filter(pl.col("request").is_in(drawn))
    )
    single = [
        {"item_id": name, "label": "2", "inclusion_probability": "0,5"} for name in old["item_id"]
    ]
    write(path, single)  # as sheets of older versions were, an id per verdict
    code, found = called(capsys, "judge", "calibrate", *bound)
    assert (code, found["n"]) == (0, len(rows))


@pytest.mark.parametrize(
    ("drop", "cells", "message"),
    [
        pytest.param(["sample"], {}, "has no `sample`; keep that column", id="column dropped"),
        pytest.param([], {"sample": "x"}, "which is no draw", id="another cell"),
        pytest.param([], {"sample": "{run}/4/43//aaaaaaaa"}, "is no draw of 'support'", id="another draw"),
        pytest.param([], {"sample": "other/4/42//aaaaaaaa"}, "drawn from another run", id="a run that is not there"),
    ],
)  # fmt: skip
def test_a_label_whose_chance_nobody_knows_is_not_taken(
    capsys, thrice, tmp_path, drop, cells, message
):
    run, _ = thrice
    path = tmp_path / "s.csv"
    _, rows = sampled(capsys, run, "support", path, 4)
    cells = {name: cell.format(run=Mark.named(run.run_id)) for name, cell in cells.items()}
    write(path, rows, drop, label="supported", **cells)
    code, found = called(
        capsys, "judge", "calibrate", "--human", path, "--run", run.path, "--task", "support"
    )
    assert code == 2
    assert message in found["error"]["message"]


@pytest.mark.parametrize(
    ("label", "code", "message"),
    [
        pytest.param("Supported", 0, None, id="in capitals"),
        pytest.param("yes", 2, "s.csv:2 off_scale: label is 'yes', expected one of contradicted,", id="a slip"),
        pytest.param("", 2, "s.csv unlabelled: none of its", id="not filled in"),
    ],
)  # fmt: skip
def test_a_word_that_is_no_label_is_an_error(capsys, thrice, tmp_path, label, code, message):
    run, _ = thrice
    _, rows = sampled(capsys, run, "support", tmp_path / "s.csv", 4)
    write(tmp_path / "s.csv", rows, label=label)
    command = ["--human", tmp_path / "s.csv", "--run", run.path, "--task", "support"]
    found = called(capsys, "judge", "calibrate", *command)
    assert found[0] == code
    if message is None:
        assert found[1]["n"] == len(rows)
        assert found[1]["out_of_scale"] == []
    else:
        assert message in found[1]["error"]["message"]


def test_what_was_not_offered_is_not_counted_as_left(capsys, thrice, tmp_path):
    """A sheet is of the run's answers; what its brackets' got is nobody's omission."""
    run, _ = thrice
    whole = verdicts(run, "support")
    items = whole.filter(pl.col("variant") == "answer")
    assert items.height < whole.height
    rows = [{"item_id": name, "label": "supported"} for name in items["item_id"][1:]]
    write(tmp_path / "s.csv", rows)
    command = ["--human", tmp_path / "s.csv", "--run", run.path, "--task", "support"]
    assert called(capsys, "judge", "calibrate", *command)[1]["n_judge_only"] == 1


def test_a_drawn_sheet_is_not_taken_for_labels_of_everything(capsys, thrice, tmp_path):
    run, _ = thrice
    _, rows = sampled(capsys, run, "support", tmp_path / "s.csv", 4)
    write(tmp_path / "s.csv", rows, label="supported")
    files = ["--human", tmp_path / "s.csv", "--judge", tmp_path / "s.csv"]
    code, found = called(capsys, "judge", "calibrate", *files)
    assert code == 2
    assert "only the run knows the chances: --run RUN" in found["error"]["message"]


def test_labels_serve_another_judge_of_the_same_answers(capsys, tmp_path):
    with serving(judge_runs.rule) as server:
        first, second = (
            answer_runs.run(judge_runs.project(tmp_path, server.url, judge={"model": name}))
            for name in ("one-judge", "another-judge")
        )
    assert first.run_id != second.run_id
    _, rows = sampled(capsys, first, "correctness", tmp_path / "s.csv")
    write(tmp_path / "s.csv", rows, label="correct")
    code, found = called(capsys, "judge", "calibrate", "--human", tmp_path / "s.csv",
                         "--run", second.path, "--task", "correctness")  # fmt: skip
    assert (code, found["n"], found["n_human_only"]) == (0, len(rows), 0)
