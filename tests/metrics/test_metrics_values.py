"""Hand-worked questions: the worked examples of DESIGN §5, what finds gold, how it is ordered."""

import math

import numpy as np
import pytest
from metrics_batches import evidence, place, value

from rayeval.metrics.spans import least


def whole(chunk_id, source=None):
    return place(chunk_id, source_id=source or chunk_id, tokens=1)


DOCUMENTS = [whole(letter) for letter in "ABCDE"]
BD = [evidence("b", source_id="B"), evidence("d", source_id="D")]
TWO_OF_FIVE = {"ranking": "ABCDE", "gold": BD, "passages": DOCUMENTS}

THIRDS = [place("a", (0, 150)), place("b", (150, 300)), place("c", (300, 450))]
SPAN = {"ranking": "ac", "gold": [evidence("e", (100, 200))], "passages": THIRDS}


@pytest.mark.parametrize(
    ("name", "case", "want"),
    [
        pytest.param("hit@3", TWO_OF_FIVE, 1, id="hit"),
        pytest.param("recall@3", TWO_OF_FIVE, 0.5, id="recall"),
        pytest.param("precision@3", TWO_OF_FIVE, 1 / 3, id="precision"),
        pytest.param("mrr@5", TWO_OF_FIVE, 1 / 2, id="mrr"),
        pytest.param("ndcg@5", TWO_OF_FIVE, 0.6509209298071326, id="ndcg"),
        pytest.param("map@5", TWO_OF_FIVE, 0.5, id="map"),
        pytest.param("char_recall@2", SPAN, 0.5, id="char recall"),
        pytest.param("char_precision@2", SPAN, 50 / 300, id="char precision"),
        pytest.param("char_iou@2", SPAN, 50 / 350, id="char iou"),
        pytest.param("recall@2", SPAN, 0, id="half of it is not found"),
        pytest.param("partial@2", SPAN, 1, id="half of it is partly there"),
    ],
)
def test_worked_examples_of_the_design(name, case, want):
    assert value(name, **case) == pytest.approx(want, abs=1e-15)


def one(*pairs, gold=(100, 200), **given):
    """A ranking of one passage against one gold span."""
    return {
        "ranking": "p",
        "gold": [evidence("e", gold, **given)],
        "passages": [place("p", *pairs)],
    }


@pytest.mark.parametrize(
    ("case", "want"),
    [
        pytest.param(one((100, 180)), 1, id="exactly the threshold"),
        pytest.param(one((100, 179)), 0, id="one character less"),
        pytest.param(one((0, 8), gold=(0, 10)), 1, id="8 of 10"),
        pytest.param(one((0, 140), (160, 500)), 1, id="two spans add up"),
        pytest.param(one((200, 300)), 0, id="a zero-length touch"),
        pytest.param(one((0, 199), whole=True), 0, id="an element must be held whole"),
        pytest.param(one((0, 200), whole=True), 1, id="an element held whole"),
        pytest.param(one((90, 200), needs=[(50, 60)]), 0, id="short gold without its heading"),
        pytest.param(one((52, 200), needs=[(50, 60)]), 1, id="short gold with most of its heading"),
        pytest.param(one((0, 999), revision_id="2"), 0, id="another revision"),
        pytest.param(one((0, 999), source_id="x"), 0, id="another source"),
        pytest.param(one(), 1, id="the whole document, of unknown length"),
        pytest.param(one(revision_id="2"), 0, id="a whole document of another revision"),
    ],
)
def test_what_finds_gold(case, want):
    assert value("recall@1", **case) == want


def test_thresholds_are_compared_as_written():
    lengths = np.arange(1, 200)
    for tenths in range(1, 11):
        assert least(lengths, tenths / 10).tolist() == [-(-n * tenths // 10) for n in lengths]


def test_a_spanless_hit_covers_everything_of_its_document():
    gold = [
        evidence("e", (3, 9)),
        evidence("f", (50, 60)),
        evidence("w"),
        evidence("x", source_id="x"),
    ]
    case = {"ranking": "p", "gold": gold, "passages": [place("p", tokens=1)]}
    assert value("recall@1", **case) == 3 / 4
    assert value("joint_recall@1", **case) == 3 / 4
    assert math.isnan(value("char_recall@1", **case))


def test_alternatives_count_once_and_any_will_do():
    gold = [evidence("e", (0, 10), group_id="g"), evidence("f", (50, 60), group_id="g")]
    case = {"ranking": "p", "gold": gold, "passages": [place("p", (50, 60))]}
    assert value("recall@1", **case) == 1
    assert value("char_recall@1", **case) == 0.5


TWICE = {
    "ranking": "ab",
    "gold": [evidence("e", (0, 10))],
    "passages": [place("a", (0, 10)), place("b", (0, 12))],
}
SAME = {
    "ranking": "a",
    "gold": [evidence("e", (0, 10)), evidence("f", (0, 10))],
    "passages": [place("a", (0, 10))],
}


@pytest.mark.parametrize(
    ("name", "case", "want"),
    [
        pytest.param("ndcg@2", TWICE, 1, id="a fact found twice is paid once in ndcg"),
        pytest.param("map@2", TWICE, 1, id="and in map"),
        pytest.param("recall@2", TWICE, 1, id="and in recall"),
        pytest.param("precision@2", TWICE, 1, id="though both hits find it"),
        pytest.param("recall@1", SAME, 1, id="two facts in the same characters are both found"),
        pytest.param("map@1", SAME, 0.5, id="and take two positions"),
        pytest.param("char_recall@1", SAME, 1, id="their characters count once"),
        pytest.param("char_precision@1", SAME, 1, id="in precision too"),
        pytest.param("tokens_per_gold_char", SAME, 1, id="and in what they cost"),
    ],
)
def test_repeated_text(name, case, want):
    assert value(name, **case) == want


HALVES = {
    "ranking": "ab",
    "gold": [evidence("e", (0, 10))],
    "passages": [place("a", (0, 6)), place("b", (4, 10))],
}


@pytest.mark.parametrize(
    ("name", "want"),
    [
        pytest.param("recall@2", 0, id="no single hit finds it"),
        pytest.param("joint_recall@2", 1, id="together they do"),
        pytest.param("joint_recall@1", 0, id="the first alone does not"),
        pytest.param("char_recall@2", 1, id="overlapping hits count once in recall"),
        pytest.param("char_precision@2", 1, id="and in precision"),
        pytest.param("duplicate_ratio", 2 / 12, id="what they repeat"),
        pytest.param("context_tokens", 12, id="tokens are paid twice"),
        pytest.param("tokens_per_gold_char", 1.2, id="for each gold character"),
    ],
)
def test_two_overlapping_halves(name, want):
    assert value(name, **HALVES) == pytest.approx(want, abs=1e-15)


BUDGET = {
    "ranking": "abcd",
    "gold": [evidence("e", (20, 30)), evidence("f", (60, 70))],
    "passages": [
        place("a", (0, 10), tokens=4),
        place("b", (20, 30), tokens=6),
        place("c", (40, 50), tokens=5),
        place("d", (60, 70), tokens=1),
    ],
}


@pytest.mark.parametrize(
    ("name", "want"),
    [
        pytest.param("recall@3tok", 0, id="nothing fits"),
        pytest.param("precision@3tok", 0, id="precision of nothing is 0"),
        pytest.param("char_precision@3tok", 0, id="char precision of nothing is 0"),
        pytest.param("recall@9tok", 0, id="the hit that bursts the budget is out"),
        pytest.param("recall@10tok", 0.5, id="exactly the budget"),
        pytest.param("precision@10tok", 0.5, id="precision divides by the hits taken"),
        pytest.param("recall@11tok", 0.5, id="a later hit that would fit is not taken"),
        pytest.param("recall@16tok", 1, id="everything"),
        pytest.param("map@16tok", (1 / 2 + 2 / 4) / 2, id="positions count as ever"),
        pytest.param("judged@3tok", math.nan, id="nothing is judged"),
    ],
)
def test_a_token_budget_takes_hits_in_order(name, want):
    assert value(name, **BUDGET) == pytest.approx(want, nan_ok=True)


def test_two_facts_in_one_hit_take_two_positions_without_a_cut_under_a_budget():
    gold = [evidence("e", (0, 10)), evidence("f", (10, 20))]
    case = {"ranking": "p", "gold": gold, "passages": [place("p", (0, 20), tokens=1)]}
    assert value("ndcg@1", **case) == 1  # one position, one fact
    assert value("map@1", **case) == 0.5
    assert value("map@1tok", **case) == 1
    assert value("ndcg@1tok", **case) == 1


def test_tokens_that_nobody_counted_make_a_budget_undefined_only_where_they_matter():
    passages = [place("a", (0, 10), tokens=9), place("b", (20, 30), tokens=None)]
    case = {"ranking": "ab", "gold": [evidence("e", (0, 10))], "passages": passages}
    assert math.isnan(value("recall@9tok", **case))
    assert value("recall@8tok", **case) == 0
    assert math.isnan(value("context_tokens", **case))


@pytest.mark.parametrize(
    ("gain", "want"),
    [
        pytest.param(
            "exponential", (3 + 7 / math.log2(3)) / (7 + 3 / math.log2(3)), id="exponential"
        ),
        pytest.param("linear", (2 + 3 / math.log2(3)) / (3 + 2 / math.log2(3)), id="linear"),
    ],
)
def test_gain_of_a_grade(gain, want):
    gold = [evidence("e", (0, 10), relevance=2), evidence("f", (20, 30), relevance=3)]
    case = {"ranking": "ab", "gold": gold, "passages": [place("a", (0, 10)), place("b", (20, 30))]}
    assert value("ndcg@5", config={"gain": gain}, **case) == pytest.approx(want, abs=1e-15)


def test_a_group_without_gold_counts_in_ndcg_alone():
    gold = [evidence("e", (0, 10)), evidence("t", (20, 30), relevance=1)]
    case = {"ranking": "ba", "gold": gold, "passages": [place("a", (0, 10)), place("b", (20, 30))]}
    want = (1 + 7 / math.log2(3)) / (7 + 1 / math.log2(3))
    assert value("ndcg@2", **case) == pytest.approx(want, abs=1e-15)
    assert value("map@2", **case) == 0.5
    assert value("recall@2", **case) == 1
    assert value("precision@2", **case) == 0.5


def test_a_group_with_gold_is_found_by_its_gold_alone():
    gold = [
        evidence("e", (0, 10), group_id="g"),
        evidence("t", (20, 30), group_id="g", relevance=1),
    ]
    case = {"ranking": "b", "gold": gold, "passages": [place("a", (0, 10)), place("b", (20, 30))]}
    assert value("ndcg@1", **case) == 0


def test_evidence_that_the_asker_may_not_see_is_neither_gold_nor_ideal():
    gold = [evidence("e", (0, 10), relevance=2), evidence("x", (20, 30), visible=False)]
    case = {"ranking": "a", "gold": gold, "passages": [place("a", (0, 10))]}
    assert value("recall@1", **case) == 1
    assert value("ndcg@1", **case) == 1
