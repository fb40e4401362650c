"""Which metrics people look at first, and which of them decide, by name."""

from __future__ import annotations

from collections.abc import Sequence

from rayeval.answer_tables import VARIANTS
from rayeval.errors import ConfigError
from rayeval.metrics.names import METRICS, Measure, parse

PREFERRED = ("hit@1", "recall@5", "recall@10", "all_groups@5", "ndcg@10", "mrr@10", "judged@10")
OF_ANSWERS = ("answer_correctness", "faithfulness", "citation_recall", "contains_reference",
              "abstention_accuracy")  # fmt: skip
FEW = 12
"""Metrics that a person named one by one: all of them are shown."""
DECIDES = ("recall@5", "all_groups@5", "hit@5")
"""Metrics by which what was found is summed up, in order of preference."""
ANSWERS_DECIDE = (("answer_correctness",), ("contains_reference", "token_f1"), ("claim_f1",),
                  ("faithfulness",), ("abstention_accuracy",))  # fmt: skip
"""The same of answers: a group has a say only where nothing before it was measured."""


def worth_showing(metrics: Sequence[str], most: int = 6) -> tuple[str, ...]:
    """The metrics that people look at first, at the cutoffs that there are; then the others, in
    order; and those of answers."""
    said = [name for name in metrics if (known := METRICS.get(name)) and known.stage == "answer"]
    of_hits = [name for name in metrics if name not in said]
    favoured = [found for name in PREFERRED if (found := stand_in(name, of_hits))]
    shown = list(dict.fromkeys([*favoured, *of_hits]))[:most]
    return (*shown, *(name for name in OF_ANSWERS if name in said))


def asked_for(metrics: Sequence[str], names: Sequence[str] | None) -> tuple[str, ...]:
    """The metrics that a run's settings name, as they name them, if they are FEW; else those that
    are `worth_showing`.

    metrics: of hits. names: of the settings; None where they name none.
    """
    named = tuple(name for name in names or () if name in metrics)
    return named if 0 < len(named) <= FEW else worth_showing(metrics)


def stand_in(name: str, metrics: Sequence[str]) -> str | None:
    """`name` where it is among `metrics`; else the same metric at the largest of their cutoffs.

    A hit at a large cutoff says little, so it is the smallest there. Cutoffs that count tokens come
    last. None where the metric is there at no cutoff.
    """
    if name in metrics:
        return name
    kind = parse(name).metric
    cutoffs = {
        other: measure.cutoff
        for other in metrics
        if (measure := _parsed(other)) and measure.metric == kind and measure.cutoff
    }
    counted = [other for other, cutoff in cutoffs.items() if not cutoff.tokens] or list(cutoffs)
    best = min if kind.name == "hit" else max
    return best(counted, key=lambda other: cutoffs[other].size) if counted else None


def deciding_stage(stages: Sequence[str]) -> str:
    """The last stage that finds hits, else the answers: brackets decide nothing."""
    of_hits = [stage for stage in stages if stage not in VARIANTS]
    return of_hits[-1] if of_hits else stages[0]


def deciding_of_hits(metrics: Sequence[str]) -> list[str]:
    """Those of a stage's metrics by which it is summed up, the first the best; more is better."""
    named = [name for name in DECIDES if name in metrics]
    if named:
        return named
    more = [name for name in metrics if _more_is_better(name)]
    found = stand_in("recall@5", more)
    return [found] if found else list(worth_showing(more)[:1])


def deciding_of_answers(metrics: Sequence[str]) -> list[str]:
    """The same of the answers' metrics."""
    groups = ([name for name in group if name in metrics] for group in ANSWERS_DECIDE)
    return next((group for group in groups if group), [])


def _more_is_better(name: str) -> bool:
    measure = _parsed(name)
    return measure is None or measure.metric.better == "higher"


def _parsed(name: str) -> Measure | None:
    """None for another convention's."""
    try:
        return parse(name)
    except ConfigError:
        return None
