"""From a run whose answers are judged to people's labels, a record, and a gate that may decide."""

import csv
import io
import json

import answer_runs
import judge_runs
import polars as pl
import pytest
from faulty import serving

from rayeval.cli.main import run_command

GATES = """gates:
  - {metric: faithfulness, min: 0.5}
  - {metric: contains_reference, stage: answer, min: 0.5}
"""


@pytest.fixture(scope="module")
def judged(tmp_path_factory):
    folder = tmp_path_factory.mktemp("judged")
    with serving(judge_runs.rule) as server:
        run = answer_runs.run(judge_runs.project(folder, server.url))
    (folder / "gates.yaml").write_text(GATES)
    return folder, run


def called(capsys, *arguments):
    code = run_command([*map(str, arguments), "--json"])
    return code, json.loads(capsys.readouterr().out)


def gate(capsys, judged, *more):
    folder, run = judged
    code, found = called(capsys, "gate", run.path, "--gates", folder / "gates.yaml",
                         "--runs", folder / "runs", *more)  # fmt: skip
    return code, {one["metric"]: one for one in found["gates"]}


def test_a_judge_that_nobody_calibrated_decides_nothing(capsys, judged):
    code, found = gate(capsys, judged)
    assert code == 3
    assert found["faithfulness"]["verdict"] == "inconclusive"
    assert "not calibrated for support" in found["faithfulness"]["reason"]
    assert found["contains_reference"]["verdict"] == "pass"
    assert found["contains_reference"]["stage"] == "answer"


def sheet_of(capsys, judged, path, n=20):
    _, run = judged
    code, found = called(
        capsys, "judge", "sample", run.path, "--task", "support", "--n", n, "--out", path
    )
    assert code == 0
    data = path.read_bytes()
    assert data.startswith(b"\xef\xbb\xbf")
    rows = list(csv.DictReader(io.StringIO(data.decode("utf-8-sig"), newline="")))
    assert len(rows) == found["n"]
    return rows


def labelled(path, rows, label):
    with path.open("w", encoding="utf-8-sig", newline="") as stream:
        writer = csv.DictWriter(stream, rows[0].keys())
        writer.writeheader()
        writer.writerows({**row, "label": label(n)} for n, row in enumerate(rows))


def test_people_label_a_sheet_and_the_gate_may_decide(capsys, judged, tmp_path):
    rows = sheet_of(capsys, judged, tmp_path / "sheet.csv")
    assert {row["label"] for row in rows} == {""}
    assert all("supported" not in json.dumps(row) for row in rows)  # nobody sees the verdict
    assert any("5일이 걸린다" in row["evidence"] for row in rows)
    assert {row["inclusion_probability"] for row in rows} == {"1.0"}
    labelled(tmp_path / "sheet.csv", rows, lambda n: "not_in_context" if n == 0 else "supported")
    bound = ["judge", "calibrate", "--human", tmp_path / "sheet.csv", "--run", judged[1].path,
             "--task", "support", "--record", tmp_path / "support.json"]  # fmt: skip
    code, found = called(capsys, *bound)
    assert code == 0
    assert found["n"] == len(rows)
    assert found["corrected"]["labelled"] == found["corrected"]["n"] == len(rows)
    assert found["corrected"]["ppi"]["value"] == pytest.approx((len(rows) - 1) / len(rows))
    record = json.loads((tmp_path / "support.json").read_text())
    assert record["judge"]["model"] == "scripted-judge"
    # chance alone agrees as well as this judge, which called everything supported
    code, gates = gate(capsys, judged, "--calibration", tmp_path / "support.json")
    assert code == 3
    assert "may not decide support" in gates["faithfulness"]["reason"]
    record["floor"] = -1.0
    (tmp_path / "support.json").write_text(json.dumps(record))
    code, gates = gate(capsys, judged, "--calibration", tmp_path / "support.json")
    assert (code, gates["faithfulness"]["verdict"]) == (0, "pass")
    record["judge"]["prompt"] = "another"
    (tmp_path / "support.json").write_text(json.dumps(record))
    assert gate(capsys, judged, "--calibration", tmp_path / "support.json")[0] == 3


def test_a_run_without_a_judge_has_nothing_to_sample(capsys, tmp_path):
    with serving(answer_runs.first_piece) as server:
        run = answer_runs.run(answer_runs.project(tmp_path, server.url))
    code, found = called(capsys, "judge", "sample", run.path, "--out", tmp_path / "s.csv")
    assert code == 2
    assert "has no verdict of 'support'" in found["error"]["message"]
    assert not (tmp_path / "s.csv").exists()


def test_low_verdicts_are_drawn_oftener_and_chances_are_kept():
    from rayeval.calibration.sample import draw

    items = pl.DataFrame(
        {"item_id": [f"i{n:03}" for n in range(200)],
         "verdict": ["not_in_context"] * 20 + ["supported"] * 180,
         "language": ["ko", "en"] * 100},
    )  # fmt: skip
    drawn = draw(items, "support", 40, seed=1)
    assert drawn.height == 40
    low = drawn.filter(pl.col("verdict") == "not_in_context")
    assert low.height >= 8
    for row in (
        drawn.group_by("verdict", "language")
        .agg(pl.len(), pl.col("inclusion_probability").first())
        .iter_rows()
    ):
        size = items.filter((pl.col("verdict") == row[0]) & (pl.col("language") == row[1])).height
        assert row[3] == pytest.approx(row[2] / size)
    assert draw(items.sample(fraction=1, shuffle=True, seed=3), "support", 40, seed=1).equals(drawn)
    assert draw(items, "support", 999, seed=1).height == 200
    assert not draw(items, "support", 40, seed=2).equals(drawn)


def test_cells_that_a_spreadsheet_would_compute_are_text():
    from rayeval.calibration.sheet import sheet

    row = {"item_id": "=q", "question": "=1+1", "answer": "@x", "text": "-2", "chunks": ["c"],
           "cluster": None, "language": None, "inclusion_probability": 0.5}  # fmt: skip
    text = sheet(pl.DataFrame([row]), {"c": "+evil"}, "support").decode("utf-8-sig")
    assert text.splitlines()[1] == "=q,'=1+1,'@x,'-2,'+evil,,,,,0.5"
