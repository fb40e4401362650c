"""Metrics of claims, as RAGChecker defines them, from a judge's verdicts.

Source: Ru et al. 2024, arXiv:2408.08067, §3.3. A claim that is contradicted is not supported.
All arrays are by JUDGED entry, (n_judged,), and hold a share in [0, 1]: NaN where there is nothing
to divide by, and where a verdict is missing.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rayeval.columns import Floats, Ints, flatten
from rayeval.metrics.evidence import bools
from rayeval.metrics.ranking import share, tally
from rayeval.metrics.spans import Bools

NOT_SUPPORTED = ("contradicted", "not_in_context")
"""What else the context can say of a claim."""


@dataclass(frozen=True)
class Verdicts:
    """One list of claims of every entry, and what was said of each."""

    entry: Ints
    """(n_claims,)"""
    items: pa.Array
    known: Bools
    """(n_judged,): there is a list, if an empty one."""

    def is_(self, field: str, verdict: str) -> Bools:
        """(n_claims,): the verdict in `field` is this one."""
        return bools(pc.equal(self.items.field(field), verdict), False)

    def lacking(self, field: str) -> tuple[Bools, Bools]:
        """(n_judged,) each: a verdict is missing, or the list; only some of them are."""
        there = bools(self.items.field(field).is_valid(), False)
        given, lost = (tally(self.entry, flags, len(self.known)) for flags in (there, ~there))
        return (lost > 0) | ~self.known, (lost > 0) & (given > 0)

    def share(self, part: Bools, of: Bools | None = None) -> Floats:
        """Claims of `part` / claims (`of`: of those)."""
        n = len(self.known)
        whole = np.bincount(self.entry if of is None else self.entry[of], minlength=n)
        return share(tally(self.entry, part, n), whole)


NEEDS: dict[str, tuple[tuple[str, str], ...]] = {
    "claim_precision": (("own", "reference"),),
    "claim_recall": (("wanted", "answer"),),
    "claim_f1": (("own", "reference"), ("wanted", "answer")),
    "faithfulness": (("own", "support"),),
    "hallucination": (("own", "reference"), ("own", "support")),
    "self_knowledge": (("own", "reference"), ("own", "support")),
    "noise": (("own", "reference"), ("own", "support")),
    "noise_relevant": (("own", "reference"), ("own", "support"), ("wanted", "context")),
    "noise_irrelevant": (("own", "reference"), ("own", "support"), ("wanted", "context")),
    "context_claim_recall": (("wanted", "context"),),
    "context_utilization": (("wanted", "context"), ("wanted", "answer")),
    "citation_correctness": (("citing", "cited"),),
    "citation_completeness": (("own", "text"),),
}
"""Metric → the verdicts that it rests on, as (list of claims, field)."""

OWN, WANTED = ("claims",), ("reference_claims",)
ASKED: dict[tuple[str, str], tuple[str, ...]] = {
    ("own", "text"): OWN,
    ("own", "reference"): (*OWN, "reference"),
    ("own", "support"): (*OWN, "support", "context"),
    ("wanted", "answer"): (*WANTED, "recall"),
    ("wanted", "context"): (*WANTED, "reference_support", "context"),
    ("citing", "cited"): (*OWN, "citations", "context"),
}
"""Verdict → what a judge is asked before it is there (`outcomes` name it so)."""


def tasks_of(metric: str) -> frozenset[str]:
    """What must go well that a metric of claims has its verdicts."""
    return frozenset(task for need in NEEDS[metric] for task in ASKED[need])


class Claims:
    """An answer's claims against reference and context, and the reference's against both."""

    def __init__(self, judged: pa.Array) -> None:
        self.own, self.wanted = _verdicts(judged, "claims"), _verdicts(judged, "reference_claims")
        citing = pc.greater(pc.list_value_length(self.own.items.field("citations")), 0)
        self.cites = bools(citing, False)
        """(n_claims,)"""
        self.citing = Verdicts(
            self.own.entry[self.cites], self.own.items.filter(pa.array(self.cites)), self.own.known
        )
        self.in_reference = self.own.is_("reference", "supported")
        self.in_context = self.own.is_("support", "supported")

    def lacking(self, metric: str) -> tuple[Bools, Bools]:
        """(n_judged,) each: a verdict that the metric needs is missing; only some of them are."""
        found = [getattr(self, part).lacking(field) for part, field in NEEDS[metric]]
        missing, partly = (np.any(each, axis=0) for each in zip(*found, strict=True))
        return missing, partly

    def value(self, metric: str) -> Floats:
        """(n_judged,): the metric of that name, where no verdict is missing."""
        found: Floats = getattr(self, metric)()
        return np.where(self.lacking(metric)[0], np.nan, found)

    def claim_precision(self) -> Floats:
        """Claims that the reference supports / claims."""
        return self.own.share(self.in_reference)

    def claim_recall(self) -> Floats:
        """The reference's claims that the answer supports / the reference's claims."""
        return self.wanted.share(self.wanted.is_("answer", "supported"))

    def claim_f1(self) -> Floats:
        """Harmonic mean of precision and recall; 0 where both are 0."""
        p, r = self.claim_precision(), self.claim_recall()
        return np.where(p + r == 0, 0.0, 2 * p * r / np.where(p + r == 0, 1.0, p + r))

    def faithfulness(self) -> Floats:
        """Claims that the context supports / claims."""
        return self.own.share(self.in_context)

    def hallucination(self) -> Floats:
        """Claims that neither the reference nor the context supports / claims."""
        return self.own.share(~self.in_reference & ~self.in_context)

    def self_knowledge(self) -> Floats:
        """Claims that the reference supports and the context does not / claims."""
        return self.own.share(self.in_reference & ~self.in_context)

    def noise(self) -> Floats:
        """Claims that the context supports and the reference does not / claims."""
        return self.own.share(~self.in_reference & self.in_context)

    def noise_relevant(self) -> Floats:
        """The noise that a relevant chunk supports: one that supports a claim of the reference."""
        return self._of_chunks(self._on_relevant)

    def noise_irrelevant(self) -> Floats:
        """The noise that irrelevant chunks alone support."""
        return self._of_chunks(~self._on_relevant)

    def context_claim_recall(self) -> Floats:
        """The reference's claims that the context supports / the reference's claims."""
        return self.wanted.share(self.wanted.is_("context", "supported"))

    def context_utilization(self) -> Floats:
        """Of the reference's claims that the context supports, the share that the answer has."""
        there = self.wanted.is_("context", "supported")
        used = there & self.wanted.is_("answer", "supported")
        return self.wanted.share(used, of=there)

    def citation_correctness(self) -> Floats:
        """Claims that their own citations support / claims that cite something."""
        return self.citing.share(self.citing.is_("cited", "supported"))

    def citation_completeness(self) -> Floats:
        """Claims that cite something in the context / claims."""
        return self.own.share(self.cites)

    def _of_chunks(self, part: Bools) -> Floats:
        """Noise in `part`; NaN where it isn't told which chunks a supported claim rests on."""
        count = pc.fill_null(pc.list_value_length(self.own.items.field("chunks")), 0)
        nowhere = self.in_context & bools(pc.equal(count, 0), False)
        found = self.own.share(~self.in_reference & self.in_context & part)
        return np.where(tally(self.own.entry, nowhere, len(found)) > 0, np.nan, found)

    @cached_property
    def _on_relevant(self) -> Bools:
        """(n_claims,): a relevant chunk supports it."""
        claim, chunk = flatten(self.own.items.field("chunks"))
        wanted, relevant = flatten(self.wanted.items.field("chunks"))
        there = self.wanted.is_("context", "supported")[wanted]
        names = pa.concat_arrays([chunk, relevant]).dictionary_encode()
        code = names.indices.to_numpy(zero_copy_only=False).astype(np.int64)
        width = len(names.dictionary) + 1
        mine = self.own.entry[claim] * width + code[: len(chunk)]
        theirs = (self.wanted.entry[wanted] * width + code[len(chunk) :])[there]
        flags = np.zeros(len(self.own.entry), bool)
        flags[claim[np.isin(mine, theirs)]] = True
        return flags


def _verdicts(judged: pa.Array, field: str) -> Verdicts:
    """The claims in `field` (`claims` or `reference_claims`) of JUDGED structs."""
    entry, items = flatten(judged.field(field))
    return Verdicts(entry, items, np.asarray(judged.field(field).is_valid()))
