"""The judge beside each person, what is undefined and why, and files as people save them."""

import json

import numpy as np
import pytest
from scipy import stats

from rayeval.cli.main import run_command
from rayeval.stats.alternative import alternative


def write(path, text):
    path.write_text(text, encoding="utf-8")
    return str(path)


def files(tmp_path, human, judge):
    """Options of two CSV files: rows of item, label, annotator, …; and of item, label."""
    people = write(
        tmp_path / "h.csv", "item_id,label,annotator,cluster,inclusion_probability\n" + human
    )
    return ["--human", people, "--judge", write(tmp_path / "j.csv", "item_id,label\n" + judge)]  # fmt: skip


def calibrate(capsys, *arguments):
    code = run_command(["judge", "calibrate", *map(str, arguments), "--json"])
    return code, json.loads(capsys.readouterr().out)


def said(capsys, *arguments):
    assert run_command(["judge", "calibrate", *map(str, arguments)]) == 0
    text = capsys.readouterr().out
    assert max(map(len, text.splitlines())) <= 100
    return text


KIM, LEE, ITS = "0011", "0111", "0101"
"""Labels of four items: κ of Kim and Lee is (.75 − .5) / .5, of the judge with Kim 0, with Lee .5."""


def three(weights=("", "", "", "")):
    rows = enumerate(zip(KIM, LEE, ITS, weights, strict=True))
    human = [f"i{n},{kim},kim,,{w}\ni{n},{lee},lee,,{w}\n" for n, (kim, lee, _, w) in rows]
    return "".join(human), "".join(f"i{n},{its}\n" for n, its in enumerate(ITS))


def test_the_judge_is_set_beside_each_person(tmp_path, capsys):
    code, found = calibrate(capsys, *files(tmp_path, *three()))
    assert code == 0
    people, its = found["human_human"], found["judge_human"]
    [pair] = people["pairs"]
    assert (pair["annotators"], pair["n"], pair["kappa"]) == (["kim", "lee"], 4, pytest.approx(0.5))
    assert [one["annotators"] for one in its["pairs"]] == [["kim"], ["lee"]]
    assert [one["kappa"] for one in its["pairs"]] == pytest.approx([0.0, 0.5])
    assert (people["kappa"], its["kappa"]) == (pytest.approx(0.5), pytest.approx(0.25))
    assert its["difference"]["kappa"]["value"] == pytest.approx(-0.25)
    assert its["difference"]["agreement"]["value"] == pytest.approx(-0.125)
    for part in (people, its, pair):
        low, high = part["intervals"]["agreement"]
        assert low <= part["agreement"] <= high
    assert found["alternative"]["reason"].startswith("it needs 3 people with 30 items each")
    text = said(capsys, *files(tmp_path, *three()))
    assert "judge · kim" in text
    assert "the judge's mean quadratic κ less people's own: -0.250" in text
    assert "alternative annotator test: it needs 3 people" in text


def test_people_are_weighed_as_the_judge_is(tmp_path, capsys):
    """The item on which people differ was drawn for sure, the others once in four: 1 + 3 × 4."""
    _, found = calibrate(capsys, *files(tmp_path, *three((0.25, 1, 0.25, 0.25))))
    assert found["human_human"]["agreement"] == pytest.approx(12 / 13)
    assert found["judge_human"]["pairs"][1]["agreement"] == pytest.approx(9 / 13)
    assert found["human_human"]["alpha_nominal"] != pytest.approx(alpha_nominal(0.75, 4))


def alpha_nominal(agreement, n):
    """Krippendorff's α of 8 labels, 3 of them 0."""
    return 1 - (1 - agreement) * (2 * n - 1) * 2 * n / (2 * 3 * 5)


def test_alpha_of_equal_weights_is_krippendorffs(tmp_path, capsys):
    _, found = calibrate(capsys, *files(tmp_path, *three()))
    assert found["human_human"]["alpha_nominal"] == pytest.approx(alpha_nominal(0.75, 4))


def test_intervals_by_cluster_are_wider_than_by_item(tmp_path, capsys):
    rng = np.random.default_rng(1)
    widths = []
    for size in (1, 10):
        label = rng.integers(0, 2, 100 // size).repeat(size)
        other = np.where(rng.random(100 // size).repeat(size) < 0.7, label, 1 - label)
        rows = "".join(f"i{n},{a},x,c{n // size},\ni{n},{b},y,c{n // size},\n"
                       for n, (a, b) in enumerate(zip(label, other, strict=True)))  # fmt: skip
        judge = "".join(f"i{n},{a}\n" for n, a in enumerate(label))
        _, found = calibrate(capsys, *files(tmp_path, rows, judge))
        low, high = found["human_human"]["intervals"]["kappa"]
        widths.append(high - low)
        assert found["judge_human"]["pairs"][0]["kappa"] == 1
    assert widths[1] > 1.5 * widths[0]


def test_the_alternative_annotator_test_by_hand():
    """Of B the judge is always as near; of A and C on all but one of four it ties, and there wins."""
    people = np.array([[1, 1, 1], [1, 1, 0], [0, 0, 0], [0, 1, 1]], float)
    judge = np.array([1.0, 1.0, 0.0, 1.0])
    found = alternative(people, judge, ordinal=False, fewest_items=4)
    want = stats.ttest_1samp([0, 0, 0, -1], 0.2, alternative="less").pvalue  # t = −1.8
    np.testing.assert_allclose(found.p, [want, 0.0, want])
    assert want == pytest.approx(0.0848, abs=1e-4)
    # Benjamini & Yekutieli at 5%: 0 is under .05/3/1.83, the others are over .05/1.83
    assert found.winning_rate == pytest.approx(1 / 3)
    assert found.advantage == 1.0
    assert alternative(people, judge, ordinal=False) is None  # under 30 items
    assert alternative(people[:, :2], judge, ordinal=False, fewest_items=4) is None


def test_near_is_a_distance_where_labels_have_an_order():
    """The others say 2 and 2; the judge says 1 and the person 0, both wrong, one nearer."""
    people = np.array([[0, 2, 2], [2, 2, 2], [0, 2, 2]], float)
    judge = np.array([1.0, 2.0, np.nan])
    found = alternative(people, judge, ordinal=True, fewest_items=2)
    assert found.advantages[0] == 1.0
    assert found.n.tolist() == [2, 2, 2]
    assert found.p[0] == pytest.approx(stats.ttest_1samp([-1, 0], 0.2, alternative="less").pvalue)
    nominal = alternative(people, judge, ordinal=False, fewest_items=2)
    assert nominal.p[0] == 0.0  # two ties: no difference at all, which is under ε


def test_the_alternative_annotator_test_is_printed(tmp_path, capsys):
    rng = np.random.default_rng(4)
    truth = rng.integers(0, 2, 60)
    noisy = lambda: np.where(rng.random(60) < 0.8, truth, 1 - truth)  # noqa: E731
    rows = "".join(f"i{n},{v},{who},,\n" for who in "abc" for n, v in enumerate(noisy()))
    names = files(tmp_path, rows, "".join(f"i{n},{v}\n" for n, v in enumerate(truth)))
    _, found = calibrate(capsys, *names, "--epsilon", "0.1")
    assert found["alternative"]["winning_rate"] == 1.0
    assert [one["annotator"] for one in found["alternative"]["people"]] == ["a", "b", "c"]
    assert "test (ε 0.2): passed, the judge may stand in for 3 of 3 people" in said(capsys, *names)


def test_a_stated_scale_is_an_order_of_words_too(tmp_path, capsys):
    names = files(
        tmp_path, "a,bad,,,\nb,ok,,,\nc,good,,,\nd,good,,,\n", "a,bad\nb,good\nc,good\nd,bad\n"
    )
    _, found = calibrate(capsys, *names, "--scale", "bad,ok,good")
    # observed: one apart by 1, one by 2; chance: 1·(2+4·2) … of 16
    people, its = np.array([0, 1, 2, 2]), np.array([0, 2, 2, 0])
    apart = np.mean((people - its) ** 2)
    chance = np.mean((people[:, None] - its) ** 2)
    assert found["ordinal"]
    assert found["kappa_quadratic"] == pytest.approx(1 - apart / chance)
    assert found["alpha"] != found["alpha_nominal"]
    _, without = calibrate(capsys, *names, "--scale", "bad,ok,good", "--nominal")
    assert (without["ordinal"], without["kappa_quadratic"]) == (False, None)
    assert without["undefined"]["kappa_quadratic"] == "the labels have no order"
    assert without["kappa"] == found["kappa"]


def test_a_positive_label_without_order_is_positive_alone(tmp_path, capsys):
    names = files(tmp_path, "a,no,,,\nb,maybe,,,\nc,yes,,,\n", "a,maybe\nb,maybe\nc,yes\n")
    _, found = calibrate(capsys, *names, "--positive", "maybe")
    assert (found["positive"], found["prevalence_human"]) == ("maybe", pytest.approx(1 / 3))
    assert (found["sensitivity"], found["specificity"]) == (1.0, 0.5)
    assert "positive is maybe: 33.3%" in said(capsys, *names, "--positive", "maybe")
    ordered = said(capsys, *names, "--scale", "no,maybe,yes", "--positive", "maybe")
    assert "positive is maybe or more: 66.7%" in ordered


def test_what_is_undefined_is_said_with_its_reason(tmp_path, capsys):
    names = files(tmp_path, "a,1,,c,\nb,1,,c,\n", "a,1\nb,1\n")
    _, found = calibrate(capsys, *names)
    assert found["undefined"]["kappa"] == found["undefined"]["alpha"] == "all labels are 1"
    assert found["undefined"]["specificity"] == "people call everything positive"
    assert "agreement" not in found["undefined"]
    text = said(capsys, *names)
    assert [line.split() for line in text.splitlines() if line.startswith("Cohen's κ  ")] == [
        ["Cohen's", "κ", "undefined", "all", "labels", "are", "1"]
    ]
    assert "none: all items are in one cluster" in text


@pytest.mark.parametrize(
    "mark", [pytest.param(";", id="semicolons"), pytest.param("\t", id="tabs")]
)
def test_a_csv_as_a_spreadsheet_saves_it_where_decimals_have_commas(tmp_path, capsys, mark):
    rows = ["item_id,label,inclusion_probability", "a,0,0.5", "b,1,0.25", 'c,"1",1']
    text = "\r\n".join(row.replace(",", mark).replace("0.", "0,") for row in rows)
    human = write(tmp_path / "h.csv", "﻿" + text)
    judge = write(tmp_path / "j.csv", "item_id,label\na,0\nb,1\nc,0\n")
    code, found = calibrate(capsys, "--human", human, "--judge", judge)
    assert (code, found["n"]) == (0, 3)
    assert found["agreement"] == pytest.approx(6 / 7)  # 2 + 4 of 2 + 4 + 1


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("h.csv", "id,label\na,1\nb,1\n", "h.csv:1 missing_field: there is no `item_id`, only id, label;"),
        ("h.csv", "id;grade\na;1\n", "there is no `item_id` and no `label`, only id, grade;"),
        ("h.jsonl", '{"id": 1, "label": 2}\n', "there is no `item_id`, only id, label;"),
    ],
)  # fmt: skip
def test_what_a_file_has_is_said_where_a_column_is_missing(tmp_path, capsys, name, text, message):
    human = write(tmp_path / name, text)
    judge = write(tmp_path / "j.csv", "item_id,label\na,0\n")
    code, found = calibrate(capsys, "--human", human, "--judge", judge)
    assert code == 2
    assert message in found["error"]["message"]
    assert found["error"]["message"].count("there is no") == 1
