"""Candidates in a new order."""

from __future__ import annotations

import numpy as np
import polars as pl
import pyarrow as pa

from rayeval.columns import Floats, Ints, combined, flatten, top_hits
from rayeval.errors import ConfigError, RowError
from rayeval.models import model_path
from rayeval.rerank.config import CrossEncoder, Fit
from rayeval.rerank.scorer import PairScorer
from rayeval.stage import Stage
from rayeval.tables import TEXT
from rayeval.words import plural, verb

KEY = ["row", "chunk_id"]


class Rerank:
    """A stage: `question`, `candidates` and a column of hits → FOUND and `reranked_pairs`.

    column: the hits (type HITS, null where not run), whose first `n_candidates` are reranked.
    `candidates`: their texts, structs of (chunk_id, text), in any order.
    """

    def __init__(self, scorer: PairScorer, column: str, *, n_candidates: int, depth: int) -> None:
        self.scorer = scorer
        self.column = column
        self.n_candidates = n_candidates
        self.depth = depth

    def __call__(self, batch: pa.Table) -> pa.Table:
        """Raises RowError, naming the question, if texts are missing or a score is NaN."""
        rows, candidates = flatten(batch["candidates"])
        self._check(batch, rows, candidates)
        questions = combined(batch["question"]).take(pa.array(rows)).to_pylist()
        scores = self.scorer.scores(questions, candidates.field("text").to_pylist())
        _check_scores(batch, rows, scores)
        absent = batch[self.column].is_null().to_numpy()
        best = top_hits(
            rows, candidates.field("chunk_id"), scores, batch.num_rows, self.depth, null=absent
        )
        return pa.table(
            {
                "question_id": batch["question_id"],
                "hits": best,
                "error": pa.nulls(batch.num_rows, TEXT),
                "reranked_pairs": np.bincount(rows, minlength=batch.num_rows),
            }
        )

    def _check(self, batch: pa.Table, rows: Ints, candidates: pa.Array) -> None:
        """The candidates are the best hits, every one with its text."""
        owners, hits = flatten(batch[self.column])
        wanted = _keys(owners, hits.field("chunk_id")).filter(
            pl.int_range(pl.len()).over("row") < self.n_candidates
        )
        given = _keys(rows, candidates.field("chunk_id")).with_columns(
            text=pl.Series(candidates.field("text"))
        )
        known = given.drop_nulls("text")
        lacking = wanted.join(known, on=KEY, how="anti")
        strange = given.join(wanted, on=KEY, how="anti")
        repeated = given.filter(given.select(KEY).is_duplicated())
        are = verb(strange.height, "is", "are")
        for wrong, what in (
            (lacking, f"no text for {lacking.height} of the candidates"),
            (strange, f"{plural(strange.height, 'candidate')} that {are} not among its hits"),
            (repeated, "a candidate twice"),
        ):
            if wrong.height:
                row, chunk_id = wrong.row(0)[:2]
                question_id = batch["question_id"][row]
                raise RowError(f"question {question_id} has {what}, first {chunk_id}")


def build_reranker(config: CrossEncoder, column: str, *, fitted: str | None = None) -> Stage:
    """The stage that reranks the hits in `column`.

    fitted: the folder of the model, where `config.model` is a Fit.
    Raises ModelError, MissingExtraError or ConfigError if the model can't be had.
    """
    if isinstance(config.model, Fit):
        if fitted is None:
            raise ConfigError("the reranker's model has to be fitted first")
        name, folder = f"fit of {config.model.base}", fitted
    else:
        name, folder = config.model, model_path(config.model)[0]
    scorer = PairScorer(
        name,
        folder,
        max_tokens=config.max_tokens,
        device=config.device,
        threads=config.threads,
        rows=config.batch,
    )
    return Rerank(scorer, column, n_candidates=config.candidates, depth=config.depth)


def reranker_revision(config: CrossEncoder) -> str:
    """Which model exactly; of a Fit, which base."""
    return model_path(config.model.base if isinstance(config.model, Fit) else config.model)[1]


def _keys(rows: Ints, chunk_ids: pa.Array) -> pl.DataFrame:
    return pl.DataFrame({"row": rows, "chunk_id": pl.Series(chunk_ids)})


def _check_scores(batch: pa.Table, rows: Ints, scores: Floats) -> None:
    wrong = np.flatnonzero(~np.isfinite(scores))
    if len(wrong):
        raise RowError(
            f"the reranker gave NaN or infinite scores for {plural(len(wrong), 'pair')}, first of "
            f"question "
            f"{batch['question_id'][int(rows[wrong[0]])]}"
        )
