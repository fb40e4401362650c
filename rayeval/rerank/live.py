"""Candidates in the order of somebody else's reranker."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Self

import pyarrow as pa
from pydantic import Field, PositiveInt, model_validator

from rayeval.errors import RowError
from rayeval.live.asking import Ask, asker, failing, outcomes
from rayeval.live.chosen import Candidates, finite, named, offered
from rayeval.live.config import Http, Python
from rayeval.live.log import Log
from rayeval.scalars import real
from rayeval.stage import Stage, StageConfig
from rayeval.tables import HITS, TEXT
from rayeval.words import plural, verb


class _Reranker(StageConfig):
    candidates: PositiveInt = Field(20, description="best hits that are handed over")
    depth: PositiveInt = Field(10, description="hits kept of these, and {depth} in a request")

    @model_validator(mode="after")
    def _enough_candidates(self) -> Self:
        if self.depth > self.candidates:
            raise ValueError(
                f"depth is {self.depth}, but there {verb(self.candidates, 'is', 'are')} "
                f"{plural(self.candidates, 'candidate')}"
            )
        return self

    def identity(self) -> dict[str, Any]:
        """As of any live system, under a name that no other stage's identity has."""
        return {**super().identity(), "asked": "rerank"}


class HttpReranker(_Reranker, Http):
    """A reranking service. Items of its answer name candidates by `chunk_id`, or by `index` from 0,
    with a `score` or in their order; `{candidates}` are objects of chunk_id and text, `{texts}` the
    texts alone."""

    PLACEHOLDERS: ClassVar[tuple[str, ...]] = (
        "question", "question_id", "candidates", "texts", "depth",
    )  # fmt: skip
    NEEDED: ClassVar[tuple[str, ...]] = ("candidates", "texts")


class PythonReranker(_Reranker, Python):
    """Code of the user's own: called with a table of question_id, question and candidates (lists of
    chunk_id and text), it gives every question's scores, or its chunk ids in order."""


LiveReranker = HttpReranker | PythonReranker

RERANKED = pa.schema(
    [("question_id", TEXT), ("hits", HITS), ("reranked_pairs", pa.int64()), ("error", TEXT)]
)


def build(config: LiveReranker, column: str, log: Log) -> Stage:
    """A stage: `question`, `candidates` and a column of hits → RERANKED.

    Raises ConfigError if the system can't be asked as configured.
    """
    return _Rerank(asker(config, log), column, config)


class _Rerank:
    def __init__(self, ask: Ask, column: str, config: LiveReranker) -> None:
        self.ask, self.column, self.config = ask, column, config

    def __call__(self, batch: pa.Table) -> pa.Table:
        lists = offered(batch, self.column, self.config.candidates)
        answers = outcomes(self.ask, batch, lists)
        names = batch["question_id"].to_pylist()
        rows = [self._row(*row) for row in zip(names, answers, lists, strict=True)]
        found = pa.Table.from_pylist(rows, schema=pa.schema(list(RERANKED)[1:]))
        return found.add_column(0, RERANKED.field(0), batch["question_id"])

    def _row(self, question_id: str, answer: Any, candidates: Candidates) -> dict[str, Any]:
        """The kept hits of one question. The best of all come only out of an order of all of them:
        fewer than are kept, or what is no candidate, is an error (DESIGN §9, law 5)."""
        try:
            if isinstance(answer, RowError):
                raise answer
            ranked = ranking(answer, candidates)
            least = min(self.config.depth, len(candidates))
            if len(ranked) < least:
                raise RowError(
                    f"{len(ranked)} of {plural(len(candidates), 'candidate')} came back, expected "
                    f"{least}"
                )
        except RowError as error:
            return failing(question_id, error)
        hits = [{"chunk_id": name, "score": score} for name, score in ranked[: self.config.depth]]
        return {"hits": hits, "reranked_pairs": len(candidates)}


def ranking(answer: Any, candidates: Candidates) -> list[tuple[str, float]]:
    """(chunk_id, score) by (-score, chunk_id); of a mere order, the score is minus the rank.

    answer: a score of every candidate, or what `named` takes.
    """
    if isinstance(answer, Sequence) and answer and real(answer[0]) is not None:
        if len(answer) != len(candidates):
            raise RowError(
                f"{plural(len(answer), 'score')} for {plural(len(candidates), 'candidate')}"
            )
        scores = [finite(score) for score in answer]
        found = list(zip((one["chunk_id"] for one in candidates), scores, strict=True))
    else:
        found = [
            (name, -float(rank) if score is None else score)
            for rank, (name, score) in enumerate(named(answer, candidates), 1)
        ]
    return sorted(found, key=lambda item: (-item[1], item[0]))
