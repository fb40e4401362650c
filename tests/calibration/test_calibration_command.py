"""`rayeval judge calibrate`: files in, figures out."""

import json

import pytest

from rayeval.cli.main import run_command

PEOPLE = "item_id,label,annotator,cluster,language\n"
ROWS = [("a", 0, 0), ("b", 1, 1), ("c", 2, 3), ("d", 3, 3), ("e", 2, 2), ("f", 0, 1)]


def write(path, text):
    path.write_text(text, encoding="utf-8")
    return str(path)


def calibrate(capsys, *arguments):
    code = run_command(["judge", "calibrate", *map(str, arguments), "--json"])
    return code, json.loads(capsys.readouterr().out)


@pytest.fixture
def human(tmp_path):
    rows = "".join(f"{item},{label},,{item},ko\n" for item, label, _ in ROWS)
    return write(tmp_path / "people.csv", "﻿" + PEOPLE + rows)


def judged(tmp_path, labels, name="judge.jsonl"):
    rows = [{"item_id": item, "label": label} for item, label in labels]
    return write(tmp_path / name, "".join(json.dumps(row) + "\n" for row in rows))


def test_every_figure_of_six_items(tmp_path, capsys, human):
    judge = judged(tmp_path, [(item, label) for item, _, label in ROWS])
    code, found = calibrate(capsys, "--human", human, "--judge", judge, "--scale", "0,1,2,3")
    assert code == 0
    assert (found["n"], found["agreement"]) == (6, pytest.approx(4 / 6))
    # chance: people 2,1,2,1 and the judge 1,2,1,2 of 6 each: (2+2+2+2)/36
    assert found["kappa"] == pytest.approx((4 / 6 - 8 / 36) / (1 - 8 / 36))
    assert found["confusion"]["2"] == {"0": 0, "1": 0, "2": 1, "3": 1}
    assert (found["positive"], found["sensitivity"], found["specificity"]) == ("2", 1.0, 1.0)
    assert found["prevalence_human"] == pytest.approx(0.5)
    assert found["slices"]["language=ko"]["n"] == 6
    assert found["human_human"] is None
    assert found["out_of_scale"] == []
    low, high = found["intervals"]["agreement"]
    assert low <= found["agreement"] <= high


@pytest.mark.parametrize(
    "label", [pytest.param(v, id=repr(v)) for v in (2, 2.0, "2", " 2.0 ", "02")]
)
def test_one_label_however_it_is_written(tmp_path, capsys, human, label):
    judge = judged(tmp_path, [("c", label), ("d", 3)])
    assert calibrate(capsys, "--human", human, "--judge", judge)[1]["agreement"] == 1


def test_a_label_off_the_scale_is_told_and_not_clipped(tmp_path, capsys, human):
    labels = [(item, label) for item, _, label in ROWS]
    judge = judged(tmp_path, [*labels[:-1], ("f", 10)])
    _, found = calibrate(capsys, "--human", human, "--judge", judge, "--scale", "0,1,2,3")
    assert found["out_of_scale"] == [{"item_id": "f", "label": "10"}]
    assert (found["n"], found["n_left_out"]) == (5, 1)
    assert found["agreement"] == pytest.approx(4 / 5)


def test_qrels_are_items_of_topic_and_document_in_clusters_of_topics(tmp_path, capsys):
    human = write(tmp_path / "human.txt", "q1 0 d1 3\nq1 0 d2 0\r\nq2 0 d1 1\n")
    judge = write(tmp_path / "judge.qrels", "q2 0 d1 1\nq1 0 d2 0\nq1 0 d1 2\nq9 0 d1 2\n")
    _, found = calibrate(capsys, "--human", human, "--judge", judge, "--scale", "0,1,2,3")
    assert (found["n"], found["clusters"], found["n_judge_only"]) == (3, 2, 1)
    assert found["agreement"] == pytest.approx(2 / 3)


def test_people_agree_with_one_another_beside_the_judge(tmp_path, capsys):
    rows = [("a", "supported", "kim"), ("a", "supported", "lee"), ("a", "unsupported", "park"),
            ("b", "unsupported", "kim"), ("b", "unsupported", "lee"),
            ("c", "supported", "kim"), ("c", "unsupported", "lee")]  # fmt: skip
    text = "item_id\tlabel\tannotator\n" + "".join("\t".join(row) + "\n" for row in rows)
    human = write(tmp_path / "people.tsv", text)
    judge = judged(tmp_path, [("a", "supported"), ("b", "unsupported"), ("c", "supported")])
    _, found = calibrate(
        capsys, "--human", human, "--judge", judge, "--scale", "unsupported,supported"
    )
    assert (found["n"], found["n_left_out"]) == (2, 1)  # two people are at odds over c
    assert found["agreement"] == 1
    assert found["kappa_quadratic"] is None
    assert found["human_human"]["annotators"] == 3
    pairs = {tuple(pair["annotators"]): pair for pair in found["human_human"]["pairs"]}
    assert pairs["kim", "lee"]["agreement"] == pytest.approx(2 / 3)
    assert pairs["kim", "park"]["n"] == 1


def test_the_middle_label_where_people_are_at_odds_on_a_scale(tmp_path, capsys):
    text = PEOPLE + "a,0,x,,\na,2,y,,\na,3,z,,\nb,1,x,,\nb,2,y,,\n"
    human = write(tmp_path / "people.csv", text)
    judge = judged(tmp_path, [("a", 2), ("b", 1)])
    _, found = calibrate(capsys, "--human", human, "--judge", judge, "--scale", "0,1,2,3")
    assert (found["n"], found["agreement"]) == (2, 1)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("item_id,grade\na,1\n", "there is no `label`", id="no label column"),
        pytest.param("item_id,label\n,1\n", "`item_id` is missing", id="no item"),
        pytest.param("item_id,label\na,1\na,2\n", "has a label of its annotator already", id="twice"),
        pytest.param("item_id,label\nz,1\n", "no item is labelled in both", id="nothing shared"),
        pytest.param("item_id,label\n", "no label is in this file", id="empty"),
        pytest.param("item_id,label,inclusion_probability\na,1,2\n", "inclusion_probability", id="a chance of 2"),
    ],
)  # fmt: skip
def test_files_that_are_no_labels_are_named(tmp_path, capsys, human, text, message):
    judge = write(tmp_path / "judge.csv", text)
    code, found = calibrate(capsys, "--human", human, "--judge", judge)
    assert code == 2
    assert message in found["error"]["message"]


def test_a_record_is_bound_to_its_judge(tmp_path, capsys, human):
    judge = judged(tmp_path, [(item, label) for item, _, label in ROWS])
    files = ["--human", human, "--judge", judge, "--record", tmp_path / "r.json"]
    assert calibrate(capsys, *files)[0] == 2
    bound = ["--model", "m", "--prompt", "abc", "--task", "support", "--language", "ko"]
    assert calibrate(capsys, *files, *bound)[0] == 0
    [record] = json.loads((tmp_path / "r.json").read_text())["records"]
    assert record["judge"] == {
        "model": "m",
        "revision": None,
        "prompt": "abc",
        "task": "support",
        "language": "ko",
    }
    assert record["n"] == 6
    assert set(record["labels_sha256"]) == {"people.csv", "judge.jsonl"}


def test_what_people_read_names_every_figure(tmp_path, capsys, human):
    judge = judged(tmp_path, [(item, label) for item, _, label in ROWS])
    assert run_command(["judge", "calibrate", "--human", human, "--judge", judge]) == 0
    text = capsys.readouterr().out
    for word in (
        "raw agreement",
        "Cohen's κ, quadratic",
        "Krippendorff's α",
        "Confusion",
        "language=ko",
    ):
        assert word in text
    assert max(map(len, text.splitlines())) <= 100
