"""Every metric of one variant's answers: names on one side, kernels on the other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rayeval.columns import Floats, combined, flatten
from rayeval.metrics.answers import overlap
from rayeval.metrics.answers.claims import Claims, tasks_of
from rayeval.metrics.answers.context import NONE, Handed
from rayeval.metrics.answers.given import given
from rayeval.metrics.block import Block
from rayeval.metrics.evidence import bools, ints
from rayeval.metrics.names import METRICS, Metric
from rayeval.metrics.pipeline import Pipeline
from rayeval.metrics.ranking import ranking, share
from rayeval.metrics.spans import Bools
from rayeval.tables import TEXT

CREDIT = {"correct": 1.0, "partial": 0.5, "incorrect": 0.0}
"""What a judge's verdict on an answer is worth."""
BEST_GRADE = 3
WHOLE = {
    "answer_correctness": frozenset({"correctness"}),
    "context_relevance": frozenset({"relevance", "context"}),
}
"""The metrics that rest on no claim → what a judge is asked for them."""
WITHOUT_REFERENCE = frozenset(
    {"faithfulness", "citation_correctness", "citation_completeness", "context_relevance"}
)
"""The metrics of a judge that need no reference answer."""
OF_CITATIONS = frozenset({"citation_correctness", "citation_completeness"})
"""The metrics of a judge that need an answer that says what it cites, if nothing."""


@dataclass(frozen=True)
class Value:
    """One metric of every answer; arrays (n_answers,)."""

    number: Floats
    """NaN where undefined, and where the judge failed."""
    failed: Bools
    """The judge gave no verdict where it was to give one."""


class AnswerValues:
    """What one variant's answers are worth, metric by metric.

    A reference counts where the question is answerable: elsewhere a refusal is right. A refused
    answer claims and cites nothing, so that metrics of claims and citations are undefined; it does
    not hold the reference and is not correct, so that those are 0.
    """

    def __init__(self, batch: pa.Table, block: Block, pipeline: Pipeline, variant: str) -> None:
        self.given = given(batch, variant)
        answerable = bools(combined(batch["answerable"]), True)
        row = self.given.row
        self.can = answerable[row]
        self.told = bools(combined(batch["answerable"]).is_valid(), False)[row]
        """(n_answers,): somebody said whether the question has an answer."""
        stages = pipeline.handed if variant == "answer" else ()
        found = [ranking(batch, stage, block.relevance.passages) for stage in stages]
        self.handed = Handed(self.given, block, answerable, found)
        self.references = _references(batch)
        """(n_rows,), null where there is none; `reference` is that of every answer."""
        self.reference = self.references.take(pa.array(row))
        self.referred = bools(self.reference.is_valid(), False) & self.can

    @cached_property
    def claims(self) -> Claims:
        """The claims of every entry that a judge gave."""
        return Claims(self.given.judged)

    def value(self, metric: Metric) -> Value:
        """One metric of every answer."""
        if not metric.judged:
            return Value(PLAIN[metric.name](self), np.zeros(len(self.given.row), bool))
        name, given = metric.name, self.given
        applies = given.said if name in WITHOUT_REFERENCE else given.said & self.referred
        if name in OF_CITATIONS:
            applies = applies & self.handed.told
        if name == "context_relevance":
            applies = (self.handed.size > 0) & ~given.failed
        if name == "context_claim_recall":  # of the context, whatever was made of it
            applies = self.referred & ~given.failed
        number, missing, partly = self._of_judge(name)
        failed = applies & self._failed(name, missing, partly)
        number = np.where(applies, given.of_entries(number), np.nan)
        if name == "answer_correctness":
            number[self.referred & (given.abstained == 1)] = 0.0
        return Value(number, failed)

    def _of_judge(self, name: str) -> tuple[Floats, Bools, Bools]:
        """(n_judged,) each: value, a verdict is missing, only some of them are."""
        judged = self.given.judged
        if name == "answer_correctness":
            verdict = judged.field("correctness")
            codes = ints(pc.index_in(verdict, value_set=pa.array(list(CREDIT), TEXT)), -1)
            number = np.append(list(CREDIT.values()), np.nan)[codes]
            return number, codes < 0, np.zeros(len(codes), bool)
        if name == "context_relevance":
            return _relevance(judged)
        return self.claims.value(name), *self.claims.lacking(name)

    def _failed(self, name: str, missing: Bools, partly: Bools) -> Bools:
        """(n_answers,): what is missing is so because the judge failed, not for not being asked.

        It failed at one of the tasks that the metric rests on; what became of others is theirs.
        """
        entry, outcomes = flatten(self.given.judged.field("outcomes"))
        tasks = pa.array(sorted(WHOLE.get(name) or tasks_of(name)), TEXT)
        bad = bools(pc.not_equal(outcomes.field("outcome"), "ok"), False)
        bad &= bools(pc.is_in(outcomes.field("task"), value_set=tasks), False)
        tried = np.bincount(entry[bad], minlength=len(missing)) > 0
        without = self.given.entry < 0
        lost = without & (self.given.said | self.given.unjudged[self.given.row])
        return lost | self.given.entries(missing & (tried | partly))

    def words(self, measure: Callable[[str, str], float]) -> Floats:
        """(n_answers,): a measure of (answer, reference); a refusal holds nothing of it."""
        said = self.given.said & self.referred
        number = np.where(self.referred & (self.given.abstained == 1), 0.0, np.nan)
        at = pa.array(np.flatnonzero(said))
        texts = (self.given.items.field("answer"), self.reference)
        pairs = zip(*(text.take(at).to_pylist() for text in texts), strict=True)
        number[said] = [measure(answer, reference) for answer, reference in pairs]
        return number

    def right(self, *, judged: bool) -> pa.Array:
        """(n_answers,), as `per_answer.ANSWERED` says it."""
        name = "answer_correctness" if judged else "contains_reference"
        number = self.value(METRICS[name]).number
        known = ~np.isnan(number) & self.given.said
        codes = np.where(known, 2 - 2 * np.where(known, number, 0.0), -1).astype(np.int64)
        return pa.array(["right", "partial", "wrong"], TEXT).take(pa.array(codes, mask=~known))

    def refused(self, *, answerable: bool) -> Floats:
        """(n_answers,): 1 for a refusal; NaN of the questions of the other kind, and of those of
        which nobody said of which kind they are."""
        return np.where(self.told & (self.can == answerable), self.given.abstained, np.nan)

    def abstained_rightly(self) -> Floats:
        """(n_answers,): 1 where a refusal, or an answer, is what the question asks for."""
        right = np.where(self.can, 1 - self.given.abstained, self.given.abstained)
        return np.where(self.told, right, np.nan)

    def unsupported(self) -> Floats:
        """(n_answers,): 1 where something was answered; NaN where its context held evidence."""
        return np.where(self.handed.evidence == NONE, 1 - self.given.abstained, np.nan)

    def irrelevant(self) -> Floats:
        """(n_answers,): 1 where a question without evidence was given a context."""
        known = ~self.can & (self.handed.size >= 0) & ~self.given.failed
        return np.where(known, self.handed.size > 0, np.nan)


PLAIN: dict[str, Callable[[AnswerValues], Floats]] = {
    "contains_reference": lambda v: v.words(overlap.contains_reference),
    "exact_match": lambda v: v.words(overlap.exact_match),
    "token_f1": lambda v: v.words(overlap.token_f1),
    "rouge_l": lambda v: v.words(overlap.rouge_l),
    "citation_validity": lambda v: np.where(v.given.said, v.handed.citation_validity(), np.nan),
    "citation_recall": lambda v: np.where(v.given.said & v.can, v.handed.citation_recall(), np.nan),
    "abstained": lambda v: v.given.abstained,
    "false_refusal": lambda v: v.refused(answerable=True),
    "right_refusal": lambda v: v.refused(answerable=False),
    "abstention_accuracy": AnswerValues.abstained_rightly,
    "unsupported_answer": AnswerValues.unsupported,
    "irrelevant_context": AnswerValues.irrelevant,
}


def _references(batch: pa.Table) -> pa.Array:
    """(n_rows,): the reference answers; null where there is none."""
    if "reference_answer" not in batch.column_names:
        return pa.nulls(batch.num_rows, TEXT)
    return combined(batch["reference_answer"])


def _relevance(judged: pa.Array) -> tuple[Floats, Bools, Bools]:
    """The mean grade of every entry's chunks / the best grade there is."""
    column = judged.field("relevance")
    entry, graded = flatten(column)
    grade = ints(graded.field("grade"), -1)
    chunks = np.bincount(entry, minlength=len(column))
    lost = np.bincount(entry[grade < 0], minlength=len(column))
    total = np.bincount(entry, weights=grade, minlength=len(column))
    missing = (lost > 0) | np.asarray(column.is_null())
    number = np.where(missing, np.nan, share(total, BEST_GRADE * chunks))
    return number, missing, (lost > 0) & (lost < chunks)
