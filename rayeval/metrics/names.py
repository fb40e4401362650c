"""The metrics of DESIGN §§5 and 7 by name: what each one is, and how people write its cutoff."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from rayeval.errors import ConfigError


@dataclass(frozen=True)
class Metric:
    """What is known of a metric before anything is measured."""

    name: str
    high: float | None = 1.0
    """The most it can be; None: unbounded. The least is always 0."""
    better: Literal["higher", "lower"] = "higher"
    worst: float | None = 0.0
    """What a missing row scores; None: nothing, it is only counted."""
    cut: bool = True
    """Taken at a cutoff."""
    needs_gold: bool = True
    """Undefined where the question has no gold."""
    stage: Literal["context", "ann", "answer"] | None = None
    """The one kind of stage that has it; None: every stage that gives hits."""
    needs_context: bool = False
    """Of an answer: undefined where it was given without a context on purpose (closed book)."""
    tasks: tuple[str, ...] = ()
    """What a judge must be asked for it; none: no judge is needed."""

    @property
    def judged(self) -> bool:
        """Whether it rests on a judge's verdicts."""
        return bool(self.tasks)


def _context(name: str, high: float | None, *, needs_gold: bool) -> Metric:
    return Metric(name, high, "lower", None, cut=False, needs_gold=needs_gold, stage="context")


def _counted(name: str, high: float | None, better: Literal["higher", "lower"]) -> Metric:
    return Metric(name, high, better, None, cut=False, needs_gold=False, stage="ann")


def _answer(
    name: str,
    *tasks: str,
    better: Literal["higher", "lower"] = "higher",
    worst: float | None = None,
    needs_gold: bool = False,
    needs_context: bool = True,
) -> Metric:
    """Of one answer. Without an answer nothing is known of what it would have claimed or cited."""
    return Metric(
        name, 1.0, better, worst, cut=False, needs_gold=needs_gold, stage="answer",
        needs_context=needs_context, tasks=tasks,
    )  # fmt: skip


METRICS: dict[str, Metric] = {
    metric.name: metric
    for metric in (
        Metric("hit"),
        Metric("recall"),
        Metric("all_groups"),
        Metric("joint_recall"),
        Metric("partial", worst=None),
        Metric("source_recall"),
        Metric("precision"),
        Metric("precision_returned"),
        Metric("mrr"),
        Metric("map"),
        Metric("ndcg"),
        Metric("char_recall"),
        Metric("char_precision"),
        Metric("char_iou"),
        Metric("judged", worst=None, needs_gold=False),
        _context("duplicate_ratio", 1.0, needs_gold=False),
        _context("context_tokens", None, needs_gold=False),
        _context("tokens_per_gold_char", None, needs_gold=True),
        # Counted by the search itself, and merged in from its columns:
        _counted("index_recall", 1.0, "higher"),
        _counted("lost_gold", None, "lower"),
        _counted("lost_harmless", None, "lower"),
        _answer("contains_reference", worst=0.0, needs_context=False),
        _answer("exact_match", worst=0.0, needs_context=False),
        _answer("token_f1", worst=0.0, needs_context=False),
        _answer("rouge_l", worst=0.0, needs_context=False),
        _answer("answer_correctness", "correctness", worst=0.0, needs_context=False),
        _answer("claim_precision", "claims", "reference", needs_context=False),
        _answer("claim_recall", "reference", needs_context=False),
        _answer("claim_f1", "claims", "reference", needs_context=False),
        _answer("faithfulness", "claims", "support"),
        _answer("hallucination", "claims", "support", "reference", better="lower"),
        _answer("self_knowledge", "claims", "support", "reference", better="lower"),
        _answer("noise", "claims", "support", "reference", better="lower"),
        _answer("noise_relevant", "claims", "support", "reference", better="lower"),
        _answer("noise_irrelevant", "claims", "support", "reference", better="lower"),
        _answer("context_claim_recall", "support"),
        _answer("context_utilization", "support", "reference"),
        _answer("citation_validity"),
        _answer("citation_correctness", "claims", "citations"),
        _answer("citation_completeness", "claims"),
        _answer("citation_recall", needs_gold=True),
        _answer("abstained", better="lower", needs_context=False),
        _answer("false_refusal", better="lower", worst=1.0),
        _answer("right_refusal", worst=0.0),
        _answer("abstention_accuracy", worst=0.0),
        _answer("unsupported_answer", better="lower"),
        _answer("irrelevant_context", better="lower"),
        _answer("context_relevance", "relevance"),
    )
}
"""Every metric, in the order of its columns."""


@dataclass(frozen=True)
class Cutoff:
    """How much of a ranking counts: the first `size` hits, or hits of `size` tokens together."""

    size: int
    tokens: bool = False


LARGEST = 10**12
"""The largest cutoff: as good as all, and no sum of ranks overflows."""
WHOLE = Cutoff(2**62)
"""All of a ranking."""

ALIASES = {
    "r": "recall",
    "p": "precision",
    "rr": "mrr",
    "reciprank": "mrr",
    "ap": "map",
    "mapcut": "map",
    "ndcgcut": "ndcg",
    "success": "hit",
    "hitrate": "hit",
}
"""What other tools call a metric, in lower case without marks."""
_BY_WORD = {name.replace("_", ""): metric for name, metric in METRICS.items()}
UNCUT = frozenset({"mrr", "map", "ndcg"})
"""Metrics that other tools take over the whole ranking when no cutoff is named."""


@dataclass(frozen=True)
class Measure:
    """A metric at a cutoff, under the name that was typed."""

    name: str
    metric: Metric
    cutoff: Cutoff | None = None


def parse(name: str) -> Measure:
    """`recall@5`, `ndcg@1200tok`, `context_tokens` as a value; and `nDCG@10`, `ndcg_cut_10`, `MRR`.

    Raises ConfigError for a metric that is not known, or a cutoff that is absent or too many.
    """
    base, at, typed = name.partition("@")
    metric, size = METRICS.get(base), typed if at else None
    foreign = metric is None
    if metric is None:
        word, size = split(name)
        metric = _BY_WORD.get(ALIASES.get(word, word))
    if metric is None:
        near = difflib.get_close_matches(base.lower(), METRICS, n=1, cutoff=0.0)[0]
        suggestion = f"{near}{at}{typed}" if METRICS[near].cut else near
        raise ConfigError(f"unknown metric {name!r}; the nearest is {suggestion!r}")
    if foreign and size is None and metric.name in UNCUT:
        return Measure(name, metric, WHOLE)
    return Measure(name, metric, cutoff_of(name, metric, size))


def cutoff_of(name: str, metric: Metric, size: str | None) -> Cutoff | None:
    """The cutoff in a metric's name; ConfigError if it must have one, or can't."""
    if not metric.cut and size is not None:
        raise ConfigError(f"metric {name!r} takes no cutoff: write {metric.name!r}")
    if metric.cut and size is None:
        raise ConfigError(f"metric {name!r} needs a cutoff: write e.g. '{metric.name}@5'")
    return None if size is None else cutoff(size)


def split(name: str) -> tuple[str, str | None]:
    """`nDCG@10`, `ndcg_cut_10` or `P.30` as (`ndcg` or `ndcgcut` or `p`, its cutoff)."""
    match = re.fullmatch(r"(.*?)(?:@|[._](?=[0-9]+$))(.*)", name)
    base, size = (match[1], match[2]) if match else (name, None)
    return re.sub(r"[_-]", "", base).lower(), size


def cutoff(value: int | str) -> Cutoff:
    """5 or "5" (hits), "1200tok" (a token budget). Raises ConfigError for anything else."""
    match = re.fullmatch(r"([0-9]{1,13})(tok)?", str(value))
    if match is None or not 1 <= int(match[1]) <= LARGEST:
        raise ConfigError(
            f"{value!r} is no cutoff; expected a number of hits (5) or of tokens ('1200tok'), "
            f"from 1 to {LARGEST:,}"
        )
    return Cutoff(int(match[1]), tokens=match[2] is not None)


def measures(names: Sequence[str] | None, cutoffs: Sequence[int | str]) -> tuple[Measure, ...]:
    """`names` as values, each once; without names every metric of DESIGN §5 at every cutoff."""
    if names is None:
        names = [
            name
            for metric in METRICS.values()
            for name in (_at(metric, cutoffs) if metric.cut else [metric.name])
        ]
    return tuple(parse(name) for name in dict.fromkeys(names))


def _at(metric: Metric, cutoffs: Sequence[int | str]) -> list[str]:
    return [f"{metric.name}@{size}" for size in cutoffs]
