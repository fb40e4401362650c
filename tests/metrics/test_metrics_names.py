"""Metric names, cutoffs and the configuration."""

import pytest
from pydantic import ValidationError

from rayeval.errors import ConfigError
from rayeval.metrics.config import Metrics, ShortGold
from rayeval.metrics.names import METRICS, WHOLE, Cutoff, measures, parse
from rayeval.metrics.per_query import PerQuery
from rayeval.metrics.pipeline import Arm, Pipeline


@pytest.mark.parametrize(
    ("name", "metric", "cutoff"),
    [
        pytest.param("recall@5", "recall", Cutoff(5), id="a number of hits"),
        pytest.param("ndcg@1200tok", "ndcg", Cutoff(1200, tokens=True), id="a token budget"),
        pytest.param("joint_recall@20", "joint_recall", Cutoff(20), id="two words"),
        pytest.param("context_tokens", "context_tokens", None, id="no cutoff"),
    ],
)
def test_a_name_is_a_metric_at_a_cutoff(name, metric, cutoff):
    measure = parse(name)
    assert (measure.name, measure.metric.name, measure.cutoff) == (name, metric, cutoff)


@pytest.mark.parametrize(
    ("name", "metric", "cutoff"),
    [
        ("nDCG@10", "ndcg", Cutoff(10)),
        ("ndcg_cut_10", "ndcg", Cutoff(10)),
        ("R@100", "recall", Cutoff(100)),
        ("Recall@5", "recall", Cutoff(5)),
        ("recall_5", "recall", Cutoff(5)),
        ("P@5", "precision", Cutoff(5)),
        ("P.5", "precision", Cutoff(5)),
        ("MRR@10", "mrr", Cutoff(10)),
        ("RR@1200tok", "mrr", Cutoff(1200, tokens=True)),
        ("MAP@100", "map", Cutoff(100)),
        ("map_cut_100", "map", Cutoff(100)),
        ("Success@1", "hit", Cutoff(1)),
        ("Hit@1", "hit", Cutoff(1)),
        ("Char_Recall@5", "char_recall", Cutoff(5)),
        ("MRR", "mrr", WHOLE),
        ("recip_rank", "mrr", WHOLE),
        ("AP", "map", WHOLE),
        ("nDCG", "ndcg", WHOLE),
    ],
)
def test_a_name_as_other_tools_write_it_comes_back_as_typed(name, metric, cutoff):
    measure = parse(name)
    assert (measure.name, measure.metric.name, measure.cutoff) == (name, metric, cutoff)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        pytest.param("mrr", "needs a cutoff", id="our own name without one"),
        pytest.param("Recall", "needs a cutoff", id="what nobody takes without one"),
        pytest.param("Rprec", "unknown metric 'Rprec'", id="trec_eval's alone"),
        pytest.param("recal@5", "nearest is 'recall@5'", id="misspelt"),
        pytest.param("context_token", "nearest is 'context_tokens'", id="misspelt without cutoff"),
        pytest.param("nonsense@3", "unknown metric 'nonsense@3'", id="like nothing"),
        pytest.param("recall", "needs a cutoff", id="cutoff forgotten"),
        pytest.param("context_tokens@5", "takes no cutoff", id="cutoff too many"),
        pytest.param("recall@0", "'0' is no cutoff", id="nothing at all"),
        pytest.param("recall@9999999999999999999", "is no cutoff", id="more than a number holds"),
        pytest.param("recall@" + "9" * 5000, "is no cutoff", id="more than anything holds"),
        pytest.param("recall@-1", "'-1' is no cutoff", id="negative"),
        pytest.param("recall@5tokens", "'5tokens' is no cutoff", id="unknown unit"),
        pytest.param("recall@", "'' is no cutoff", id="empty cutoff"),
        pytest.param("", "unknown metric ''", id="empty name"),
    ],
)
def test_a_name_that_means_nothing_says_what_would(name, says):
    with pytest.raises(ConfigError, match=says):
        parse(name)
    with pytest.raises(ValidationError, match=says):
        Metrics(names=[name])


def test_without_names_every_metric_at_every_cutoff():
    found = [measure.name for measure in measures(None, [5, "100tok"])]
    assert found[:4] == ["hit@5", "hit@100tok", "recall@5", "recall@100tok"]
    assert {name.partition("@")[0] for name in found} == set(METRICS)
    assert len(found) == sum(2 if metric.cut else 1 for metric in METRICS.values())


def test_a_name_typed_twice_is_one_column():
    assert [m.name for m in measures(["mrr@3", "hit@1", "mrr@3"], [])] == ["mrr@3", "hit@1"]


@pytest.mark.parametrize(
    "settings",
    [
        pytest.param({"cutoffs": []}, id="no cutoff"),
        pytest.param({"cutoffs": [0]}, id="zero"),
        pytest.param({"cutoffs": ["5 tok"]}, id="a space"),
        pytest.param({"full": 0}, id="nothing is enough"),
        pytest.param({"full": 1.1}, id="more than all"),
        pytest.param({"partial": 0.9}, id="partial above full"),
        pytest.param({"relevant": 0}, id="irrelevant is relevant"),
        pytest.param({"relevant": 4}, id="beyond the grades"),
        pytest.param({"short_gold": {"under": 12, "need": "luck"}}, id="unknown need"),
        pytest.param({"cutoff": [5]}, id="unknown key"),
    ],
)
def test_a_wrong_setting_is_refused(settings):
    with pytest.raises(ValidationError):
        Metrics(**settings)


def test_defaults_are_the_design_s():
    config = Metrics()
    assert (config.cutoffs, config.full, config.partial, config.relevant) == (
        [1, 5, 10, 20],
        0.8,
        0.2,
        2,
    )
    assert (config.gain, config.short_gold, config.names) == ("exponential", None, None)
    assert Metrics(short_gold={"under": 12, "need": "context"}).short_gold == ShortGold(under=12, need="context")  # fmt: skip


def test_a_metric_that_no_stage_has_is_refused_by_name():
    with pytest.raises(ConfigError, match="'context_tokens'"):
        PerQuery(Metrics(names=["context_tokens"]), Pipeline((Arm("bm25", "lexical", 10, "bm25"),)))


def test_every_metric_between_0_and_1_has_a_worst_value_but_these():
    hits = [m for m in METRICS.values() if m.stage != "answer"]
    without = {m.name for m in hits if m.high == 1 and m.worst is None}
    assert without == {"partial", "judged", "duplicate_ratio", "index_recall"}
    answers = {m.name: m.worst for m in METRICS.values() if m.stage == "answer"}
    assert {name for name, worst in answers.items() if worst == 1} == {"false_refusal"}
    assert {name for name, worst in answers.items() if worst == 0} == {
        *("contains_reference", "exact_match", "token_f1", "rouge_l", "answer_correctness"),
        *("right_refusal", "abstention_accuracy"),
    }
    assert all(m.worst is None for m in METRICS.values() if m.high is None)
