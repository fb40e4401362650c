"""What is drawn for people to label: low verdicts oftener, slices as strata, every chance known."""

import csv
import io
import json

import answer_runs
import judge_runs
import polars as pl
import pytest
from faulty import serving

from rayeval.calibration.sample import draw
from rayeval.cli.main import run_command


def called(capsys, *arguments):
    code = run_command([*map(str, arguments), "--json"])
    return code, json.loads(capsys.readouterr().out)


def test_low_verdicts_are_drawn_oftener_and_chances_are_kept():
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


def test_a_slice_is_a_stratum_and_labels_still_stand_for_all_items():
    """Few items are of the slice, few are low; weighed by their chance they count as they are."""
    rows = [{"item_id": f"i{n:03}", "language": None, "slice": "table" if n % 20 == 0 else None,
             "verdict": "not_in_context" if n % 8 == 0 else "supported"} for n in range(400)]  # fmt: skip
    items = pl.DataFrame(rows, schema_overrides={"language": pl.String})
    right = {
        row["item_id"]: row["verdict"] == "supported" or n % 3 == 0 for n, row in enumerate(rows)
    }
    estimates, plain = [], []
    for seed in range(60):
        drawn = draw(items, "support", 60, seed=seed, by=["slice"])
        counts = dict(drawn.group_by("slice").len().iter_rows())
        assert set(counts) == {"table", None}
        low = drawn.filter(verdict="not_in_context").height / drawn.height
        assert low > 2 * 50 / 400
        values = drawn["item_id"].replace_strict(right, return_dtype=pl.Int64)
        estimates.append((values / drawn["inclusion_probability"]).sum() / 400)
        plain.append(values.mean())
    truth = sum(right.values()) / 400
    assert sum(estimates) / 60 == pytest.approx(truth, abs=0.01)
    assert abs(sum(plain) / 60 - truth) > 0.05, "as they are drawn, low ones count too often"


def test_a_sheet_by_slices_names_them(capsys, tmp_path):
    with serving(judge_runs.rule) as server:
        path = judge_runs.project(tmp_path, server.url)
        rows = [json.loads(line) for line in (tmp_path / "golden.jsonl").read_text().splitlines()]
        tagged = {"q-leave": ["policy", "number_date"], "q-it": ["policy"]}
        for row in rows:
            row["slices"] = tagged.get(row["question_id"], [])
        text = "".join(json.dumps(row) + "\n" for row in rows)
        (tmp_path / "golden.jsonl").write_text(text)
        run = answer_runs.run(path)
    command = ["judge", "sample", run.path, "--out", tmp_path / "s.csv"]
    assert called(capsys, *command, "--by", "number_date", "--by", "policy")[0] == 0
    text = (tmp_path / "s.csv").read_text("utf-8-sig")
    found = {
        row["item_id"].split("/")[1]: row["slice"] for row in csv.DictReader(io.StringIO(text))
    }
    assert found == {"q-leave": "number_date", "q-it": "policy", "q-vpn": ""}
    assert "/number_date+policy/" in text  # what to draw by once more
    rows = list(csv.DictReader(io.StringIO(text)))
    with (tmp_path / "filled.csv").open("w", newline="") as stream:
        writer = csv.DictWriter(stream, rows[0])
        writer.writeheader()
        writer.writerows({**row, "label": "supported"} for row in rows)
    calibrate = ["judge", "calibrate", "--human", tmp_path / "filled.csv", "--run", run.path]
    code, found = called(capsys, *calibrate, "--task", "support")
    assert (code, found["n"]) == (0, len(rows))
    assert {"number_date", "policy"} < found["slices"].keys()
    code, found = called(capsys, *command[:-1], tmp_path / "t.csv", "--by", "tables")
    assert code == 2
    said = found["error"]["message"]
    assert "--by 'tables': no question is in that slice; there are: " in said
    assert "number_date, " in said
