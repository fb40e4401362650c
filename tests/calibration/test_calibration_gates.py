"""From a run whose answers are judged to people's labels, a record, and a gate that may decide."""

import csv
import hashlib
import io
import json

import answer_runs
import judge_runs
import pytest
from faulty import serving

from rayeval.calibration.corrected import METRICS
from rayeval.calibration.record import read_records
from rayeval.cli.main import run_command
from rayeval.errors import ConfigError
from rayeval.execution.sampling import verdicts

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
    assert found["faithfulness"]["reason"].endswith("No record was read.")
    assert found["faithfulness"]["confidence"] == 0.95
    assert found["contains_reference"]["verdict"] == "pass"
    assert found["contains_reference"]["stage"] == "answer"


def test_limits_state_their_level(capsys, judged):
    folder, run = judged
    (folder / "levels.yaml").write_text(
        "gates:\n- {metric: contains_reference, min: 0.1}\n"
        "- {metric: contains_reference, min: 0.1, confidence: 0.9, name: bold}\n"
        "- {metric: contains_reference, stage: answer, max_regressed: 3, name: counted}\n"
    )
    command = ["gate", run.path, "--gates", folder / "levels.yaml", "--runs", folder / "runs",
               "--baseline", run.path]  # fmt: skip
    assert run_command([*map(str, command)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].split() == ["gate", "limit", "value", "low", "high", "level", "n", "verdict"]
    assert [line.split()[-3] for line in lines[2:5]] == ["95%", "90%", "–"]
    assert any("a one-sided limit at its level" in line for line in lines)
    assert "| 90% |" in (folder / f"runs/gates/{run.run_id}_vs_{run.run_id}/summary.md").read_text()


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
    assert "inclusion_probability" not in rows[0]
    labelled(tmp_path / "sheet.csv", rows, lambda n: "not_in_context" if n == 0 else "supported")
    bound = ["judge", "calibrate", "--human", tmp_path / "sheet.csv", "--run", judged[1].path,
             "--task", "support", "--record", tmp_path / "support.json"]  # fmt: skip
    code, found = called(capsys, *bound)
    assert code == 0
    assert found["n"] == len(rows)
    corrected = found["corrected"]
    assert corrected["metric"] == "faithfulness"
    assert corrected["labelled"] == corrected["n"] == len(rows)
    [mean] = judged[1].aggregate.filter(stage="answer", metric="faithfulness")["mean"]
    assert corrected["judge"] == pytest.approx(mean, abs=1e-12)
    # one claim of the four answers is not in the context after all
    assert corrected["ppi"]["value"] == pytest.approx(mean - corrected_by(rows))
    records = json.loads((tmp_path / "support.json").read_text())["records"]
    assert {one["judge"]["language"] for one in records} == {"ko", None}
    sheet = hashlib.sha256((tmp_path / "sheet.csv").read_bytes()).hexdigest()
    verdicts = judged[1].manifest["files"]["judgements.parquet"]["sha256"]
    assert records[0]["labels_sha256"] == {"human": sheet, "judge": verdicts}
    assert {one["judge"]["model"] for one in records} == {"scripted-judge"}
    code, gates = gate(capsys, judged, "--calibration", tmp_path / "support.json")
    assert code == 3
    assert "items that must be labelled at least" in gates["faithfulness"]["reason"]


@pytest.mark.parametrize("task", METRICS)
def test_the_mean_of_the_judges_items_is_the_runs_own_metric(capsys, judged, tmp_path, task):
    _, run = judged
    items = verdicts(run, task)
    rows = [
        {"item_id": name, "label": said}
        for name, said in items.select("item_id", "verdict").iter_rows()
    ]
    path = tmp_path / "people.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    command = ["judge", "calibrate", "--human", path, "--run", run.path, "--task", task]
    found = called(capsys, *command)[1]["corrected"]
    [mean] = run.aggregate.filter(stage="answer", metric=METRICS[task])["mean"]
    values = [found["judge"], found["labels"]["value"], found["ppi"]["value"]]
    assert values == pytest.approx([mean] * 3, abs=1e-12)


def corrected_by(rows):
    """What the first claim is of the mean over answers."""
    answers = [row["item_id"].rpartition("/")[0] for row in rows]
    return 1 / (answers.count(answers[0]) * len(set(answers)))


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        pytest.param({}, None, id="this judge"),
        pytest.param({"floor": 0.5}, None, id="just its floor"),
        pytest.param({"floor": 0.51}, "may be as low as 0.500", id="under its floor"),
        pytest.param({"n": 29}, "at least, 29 are", id="too few items"),
        pytest.param({"intervals": {}}, "is undefined", id="no interval"),
        pytest.param({"languages": ["ko"]}, "no language is stated", id="other languages"),
        pytest.param({"languages": [None, "en"]}, "for support in ko", id="not in Korean"),
        pytest.param({"prompt": "b" * 32}, "one of prompt bbbbbbbbbbbb (the run's: ", id="another prompt"),
        pytest.param({"model": "other"}, "one of model other (the run's: scripted-judge)", id="another model"),
        pytest.param({"revision": "2"}, "one of revision 2 (the run's: ", id="another revision"),
        pytest.param({"task": "reference"}, "record.json has one of task reference.", id="another task"),
        pytest.param({"languages": ["de", "en"]}, "record.json has one in de, and one in en.", id="read, of other languages"),
    ],
)  # fmt: skip
def test_a_record_unlocks_gates_of_exactly_its_judge(capsys, judged, tmp_path, changes, reason):
    path = judge_runs.recorded(tmp_path / "record.json", judged[1], **changes)
    code, found = gate(capsys, judged, "--calibration", path)
    one = found["faithfulness"]
    assert (code, one["verdict"]) == ((0, "pass") if reason is None else (3, "inconclusive"))
    assert reason is None or reason in one["reason"]


def test_claims_alone_need_a_record_of_how_they_are_taken_out(capsys, judged, tmp_path):
    folder, run = judged
    (folder / "completeness.yaml").write_text("gates: [{metric: citation_completeness, min: 0}]")
    prompt = run.manifest["judge"]["prompts"]["claims"]["hash"]
    command = ["gate", run.path, "--gates", folder / "completeness.yaml", "--runs", folder / "runs"]
    support = judge_runs.recorded(tmp_path / "support.json", run)
    assert called(capsys, *command, "--calibration", support)[0] == 3
    claims = judge_runs.recorded(tmp_path / "claims.json", run, task="claims", prompt=prompt)
    assert called(capsys, *command, "--calibration", claims)[0] == 0


def test_a_run_carries_the_records_of_its_configuration(capsys, judged, tmp_path):
    path = judge_runs.recorded(tmp_path / "record.json", judged[1])
    with serving(judge_runs.rule) as server:
        config = judge_runs.project(tmp_path, server.url, judge={"calibration": ["record.json"]})
        run = answer_runs.run(config)
    assert len(run.manifest["calibration"]) == 2
    path.unlink()  # people may gate it elsewhere
    code, found = gate(capsys, (judged[0], run))
    assert (code, found["faithfulness"]["verdict"]) == (0, "pass")


@pytest.mark.parametrize(
    "text", [pytest.param("{", id="no JSON"), pytest.param('{"records": []}', id="no records")]
)
def test_a_file_that_is_no_record_is_named_before_anything_is_asked(judged, tmp_path, text):
    (tmp_path / "record.json").write_text(text)
    with serving(judge_runs.rule) as server:
        config = judge_runs.project(tmp_path, server.url, judge={"calibration": ["record.json"]})
        with pytest.raises(ConfigError, match=r"record\.json is no calibration record"):
            answer_runs.run(config)
        assert server.seen == []


def test_a_run_without_a_judge_has_nothing_to_sample(capsys, tmp_path):
    with serving(answer_runs.first_piece) as server:
        run = answer_runs.run(answer_runs.project(tmp_path, server.url))
    code, found = called(capsys, "judge", "sample", run.path, "--out", tmp_path / "s.csv")
    assert code == 2
    assert "has no verdict of 'support'" in found["error"]["message"]
    assert not (tmp_path / "s.csv").exists()


RECORD = {
    "judge": {"model": "m", "prompt": "p", "task": "support"},
    **{"n": 50, "clusters": 50, "kappa": 0.9, "kappa_quadratic": None, "agreement": 0.9},
    **{"sensitivity": 0.9, "specificity": 0.9, "alpha": 0.9, "prevalence_human": 0.5},
    **{"intervals": {"kappa": [0.8, 1.0]}, "labels_sha256": {}, "made": "2026-08-01"},
}


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"intervals": {"kappa": [float("nan")] * 2}}, id="limits that are no numbers"),
        pytest.param({"intervals": {"kappa": []}}, id="no limits"),
        pytest.param({"intervals": {"kappa": [0.9]}}, id="one limit"),
        pytest.param({"intervals": {"kappa": [1.0, 0.1]}}, id="limits the other way round"),
        pytest.param({"intervals": {"kappa": [6.0, 8.0]}}, id="limits beyond agreement"),
        pytest.param({"kappa": float("inf")}, id="an infinite figure"),
        pytest.param({"floor": float("nan")}, id="a floor that is no number"),
        pytest.param({"floor": -9}, id="a floor under all floors"),
        pytest.param({"n": -1}, id="fewer than no items"),
    ],
)
def test_a_record_that_no_calibration_gives_unlocks_nothing(tmp_path, changes):
    path = tmp_path / "record.json"
    path.write_text(json.dumps({"records": [RECORD]}))
    assert read_records(str(path))[0].short_of() is None
    path.write_text(json.dumps({"records": [{**RECORD, **changes}]}))
    with pytest.raises(ConfigError, match=r"record\.json is no calibration record: records\.0\."):
        read_records(str(path))


def test_a_record_without_end_is_none(tmp_path):
    path = tmp_path / "record.json"
    path.write_text("[" * 100_000)
    with pytest.raises(ConfigError, match="no calibration record"):
        read_records(str(path))
