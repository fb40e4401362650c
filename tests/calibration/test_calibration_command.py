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
        capsys, "--human", human, "--judge", judge, "--scale", "unsupported,supported", "--nominal"
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
        pytest.param("item_id,label\na,\nb,\n", "none of its 2 rows has a label yet", id="not filled in"),
        pytest.param("item_id,label\na,NaN\nb,\n", "none of its 2 rows has a label yet", id="as pandas fills in"),
        pytest.param("item_id,label,label\na,1,0\n", "column 'label' is there twice and says two things", id="a column twice"),
        pytest.param("item_id,label\n,1\n,1\n,0\n", "(so are 2 more)", id="the same of all rows"),
        pytest.param("item_id,label\na,1e999\n", "label is 1e999, expected", id="beyond all numbers"),
        pytest.param("item_id,label\na,-inf\n", "label is -inf, expected", id="infinite"),
        pytest.param("item_id,label,annotator,cluster\na,1,x,k\na,1,y,l\n", "has the cluster 'l', and 'k'", id="two clusters"),
        pytest.param("item_id,label,annotator,inclusion_probability\na,1,x,1\na,1,y,0.5\n", "0.5, and 1.0", id="two chances"),
    ],
)  # fmt: skip
def test_files_that_are_no_labels_are_named(tmp_path, capsys, human, text, message):
    judge = write(tmp_path / "judge.csv", text)
    code, found = calibrate(capsys, "--human", human, "--judge", judge)
    assert code == 2
    assert message in found["error"]["message"]


def test_half_a_character_is_no_label(tmp_path, capsys, human):
    judge = write(tmp_path / "judge.jsonl", '{"item_id": "a", "label": "\\ud800"}\n')
    code, found = calibrate(capsys, "--human", human, "--judge", judge)
    assert code == 2
    assert "half of a surrogate pair" in found["error"]["message"]


def test_a_workbook_is_named_as_one(tmp_path, capsys, human):
    (tmp_path / "people.xlsx").write_bytes(b"PK\x03\x04 a\n b\n c")
    code, found = calibrate(capsys, "--human", tmp_path / "people.xlsx", "--judge", human)
    assert code == 2
    assert "save the sheet as CSV" in found["error"]["message"]


def test_rows_of_empty_cells_are_none(tmp_path, capsys):
    human = write(tmp_path / "people.csv", "\ufeffitem_id,label\r\na,1\r\n,\r\nb,0\r\n,\r\n")
    judge = judged(tmp_path, [("a", 1), ("b", 1)])
    code, found = calibrate(capsys, "--human", human, "--judge", judge)
    assert (code, found["n"], found["n_unlabelled"]) == (0, 2, 0)


@pytest.mark.parametrize(
    ("one", "other"), [("0.5", ".50"), ("１", "1"), ("1e0", "1.0"), ("-0", "0"), (" yes ", "yes")]
)
def test_one_label_is_one_however_its_number_is_written(tmp_path, capsys, one, other):
    human = write(tmp_path / "people.csv", f"item_id,label\na,{one}\nb,2\n")
    judge = write(tmp_path / "judge.csv", f"item_id,label\na,{other}\nb,2\n")
    code, found = calibrate(capsys, "--human", human, "--judge", judge)
    assert (code, found["n"], found["agreement"]) == (0, 2, 1)


def test_a_word_that_only_python_calls_a_number_is_a_word(tmp_path, capsys):
    human = write(tmp_path / "people.csv", "item_id,label\na,1_0\nb,2\n")
    judge = write(tmp_path / "judge.csv", "item_id,label\na,1_0\nb,10\n")
    _, found = calibrate(capsys, "--human", human, "--judge", judge, "--scale", "1_0,10,2")
    assert (found["n"], found["agreement"], found["scale"]) == (2, 0.5, ["1_0", "10", "2"])


def test_labels_that_are_all_off_the_scale_are_no_figure_of_nothing(tmp_path, capsys):
    human = write(tmp_path / "people.csv", "item_id,label\na,yes\nb,no\n")
    judge = write(tmp_path / "judge.csv", "item_id,label\na,supported\nb,unsupported\n")
    files = ["--human", human, "--judge", judge, "--scale", "unsupported,supported"]
    code, found = calibrate(capsys, *files)
    assert code == 2
    assert "people gave e.g. no, yes" in found["error"]["message"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--task", "foo"], "task 'foo': expected one of support"),
        (["--positive", ""], "--positive  is not on the scale"),
        (["--scale", "0,inf"], "--scale '0,inf'"),
        (["--scale", "0,nan"], "--scale '0,nan'"),
        (["--record", "r.json", "--model", "", "--prompt", "p", "--task", "support"], "--model"),
        (["--record", "r.json", "--model", "m", "--prompt", "", "--task", "support"], "--prompt"),
    ],
)
def test_options_that_say_nothing_are_refused(tmp_path, capsys, monkeypatch, human, options, words):
    monkeypatch.chdir(tmp_path)
    code, found = calibrate(capsys, "--human", human, "--judge", human, *options)
    assert code == 2
    assert words in found["error"]["message"]
    assert not (tmp_path / "r.json").exists()


def test_a_folder_is_no_place_for_a_record(tmp_path, capsys, human):
    bound = ["--model", "m", "--prompt", "p", "--task", "support", "--record", tmp_path]
    code, found = calibrate(capsys, "--human", human, "--judge", human, *bound)
    assert code == 2
    assert "that is a folder; name a file" in found["error"]["message"]
    assert not [one for one in tmp_path.parent.iterdir() if one.name.startswith(".")]


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
    assert set(record["labels_sha256"]) == {"human", "judge"}


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


def test_what_only_the_judge_says_is_off_the_scale_unless_a_scale_has_it(tmp_path, capsys):
    human = write(tmp_path / "h.csv", "item_id,label\na,0\nb,1\nc,0\nd,1\n")
    judge = judged(tmp_path, [("a", 0), ("b", 2), ("c", 0), ("d", 1)])
    files = ["--human", human, "--judge", judge]
    for scale in ([], ["--scale", "0,1"]):
        _, found = calibrate(capsys, *files, *scale)
        assert (found["n"], found["scale"], found["agreement"]) == (3, ["0", "1"], 1.0)
        assert found["out_of_scale"] == [{"item_id": "b", "label": "2"}]
        assert (found["n_off_scale"], found["agreement_strict"]) == (1, pytest.approx(3 / 4))
    _, found = calibrate(capsys, *files, "--scale", "0,1,2")
    assert (found["n"], found["n_off_scale"], found["out_of_scale"]) == (4, 0, [])
    assert found["agreement"] == found["agreement_strict"] == pytest.approx(3 / 4)
    assert run_command(["judge", "calibrate", *map(str, files)]) == 0
    text = capsys.readouterr().out
    assert "1 label off the scale 0, 1: b: 2" in text
    assert "as disagreements, agreement would be 0.7500" in text
    assert max(map(len, text.splitlines())) <= 100


@pytest.mark.parametrize(
    ("people", "judge", "scale"),
    [
        pytest.param([0, 3], [1, 4], ["0", "1", "3"], id="a number between people's is on it"),
        pytest.param([1, 1], [1, 0], ["0", "1"], id="one label alone is no scale"),
        pytest.param([1, 1], [1, "maybe"], ["1"], id="a word is no number"),
        pytest.param(["no", "yes"], ["no", "maybe"], ["no", "yes"], id="words"),
        pytest.param(["yes", "yes"], ["yes", "no"], ["no", "yes"], id="one word alone"),
    ],
)
def test_the_scale_is_that_of_people(tmp_path, capsys, people, judge, scale):
    human = write(tmp_path / "h.csv", "item_id,label\na,{}\nb,{}\n".format(*people))
    labels = judged(tmp_path, list(zip("ab", judge, strict=True)))
    assert calibrate(capsys, "--human", human, "--judge", labels)[1]["scale"] == scale


def test_a_record_does_not_guess_which_labels_there_are(tmp_path, capsys):
    human = write(tmp_path / "h.csv", "item_id,label\na,0\nb,1\n")
    judge = judged(tmp_path, [("a", 0), ("b", 7)])
    record = tmp_path / "r.json"
    bound = ["--record", record, "--model", "m", "--prompt", "p", "--task", "relevance"]
    code, found = calibrate(capsys, "--human", human, "--judge", judge, *bound)
    assert code == 2
    assert "--record needs --scale: on 1 item the judge gave" in found["error"]["message"]
    assert "(7)" in found["error"]["message"]
    assert not record.exists()
    files = ["--human", human, "--judge", judge, "--scale", "0,1"]
    assert calibrate(capsys, *files, *bound)[0] == 0


def test_an_item_drawn_more_often_counts_for_less(tmp_path, capsys):
    """Both low ones were drawn, one in four of the high ones: 2 + 2 × 4 = 10 items in all."""
    rows = "a,0,1\nb,0,1\nc,1,0.25\nd,1,0.25\n"
    human = write(tmp_path / "h.csv", "item_id,label,inclusion_probability\n" + rows)
    judge = judged(tmp_path, [("a", 0), ("b", 1), ("c", 1), ("d", 0)])
    _, found = calibrate(capsys, "--human", human, "--judge", judge)
    assert (found["n"], found["confusion"]) == (4, {"0": {"0": 1, "1": 1}, "1": {"0": 1, "1": 1}})
    assert found["agreement"] == pytest.approx((1 + 4) / 10)
    assert found["prevalence_human"] == pytest.approx(8 / 10)
    assert found["prevalence_judge"] == pytest.approx(5 / 10)
    assert run_command(["judge", "calibrate", "--human", human, "--judge", judge]) == 0
    assert "Confusion (labels counted; the figures weigh" in capsys.readouterr().out


AUTHORS = "item_id,label,author,cluster\n" + "".join(
    f"{name}{n},{label},{name},{n % 4}\n"
    for name, labels in {"gpt": "1100", "llama": "1100", "사람": "1000"}.items()
    for n, label in enumerate(labels)
)


def test_a_judge_that_likes_its_own_answers_is_found_out(tmp_path, capsys):
    human = write(tmp_path / "h.csv", AUTHORS)
    mine = [(f"gpt{n}", 1) for n in range(4)]
    others = [(f"{name}{n}", int(n < 2)) for name in ("llama", "사람") for n in range(4)]
    judge = judged(tmp_path, mine + others)
    command = ["--human", human, "--judge", judge]
    _, found = calibrate(capsys, *command, "--itself", "gpt")
    assert found["authors"]["gpt"] == {"n": 4, "people": 0.5, "judge": 1.0, "excess": 0.5}
    assert found["authors"]["사람"]["excess"] == pytest.approx(0.25)
    own = found["self_preference"]
    assert own["value"] == pytest.approx(0.5 - 1 / 8)  # the others have 1 of 8 too many
    assert own["low"] <= own["value"] <= own["high"]
    code, found = calibrate(capsys, *command, "--itself", "claude")
    assert code == 2
    assert "no author of a labelled item: gpt, llama, 사람" in found["error"]["message"]
    assert "self_preference" not in calibrate(capsys, *command)[1]


def test_many_annotators_are_compared_where_they_share_items(tmp_path, capsys):
    rows = "".join(f"i{n},{n % 2},p{n}\ni{n},{n % 3 % 2},p{n + 1}\n" for n in range(300))
    human = write(tmp_path / "h.csv", "item_id,label,annotator\n" + rows)
    judge = judged(tmp_path, [(f"i{n}", n % 2) for n in range(300)])
    _, found = calibrate(capsys, "--human", human, "--judge", judge)
    among = found["human_human"]
    assert (among["annotators"], len(among["pairs"])) == (301, 300)
    same = sum(n % 2 == n % 3 % 2 for n in range(300)) / 300
    assert among["agreement"] == pytest.approx(same)


def test_a_column_that_is_there_twice_and_says_the_same_is_one(tmp_path, capsys, human):
    judge = write(tmp_path / "judge.csv", "item_id,label,label\na,1,1\n")
    code, found = calibrate(capsys, "--human", human, "--judge", judge)
    assert (code, found["n"]) == (0, 1)
