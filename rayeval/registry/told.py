"""The answers in somebody else's trace, beside what they were handed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from itertools import groupby
from typing import Any

import polars as pl
import pyarrow as pa

from rayeval.answer import foreign
from rayeval.answer.citations import any_marks
from rayeval.answer_tables import ANSWERED
from rayeval.chunk.tokens import Tokenizer
from rayeval.columns import combined
from rayeval.metrics.foreign.hits import Hits
from rayeval.metrics.per_query import by_question
from rayeval.registry.packing import in_place
from rayeval.registry.scoring import READ, Scorer, Scoring, scorer
from rayeval.stage import Shard, Stage
from rayeval.tables import TEXT

TOLD = pa.schema(
    [
        *list(ANSWERED)[:-1],
        ("texts", pa.list_(pa.struct([("chunk_id", TEXT), ("text", TEXT)]))),
        ("counts", pa.struct([(name, pa.int64()) for name in foreign.COUNTS])),
        ANSWERED.field("error"),
    ]
)
"""ANSWERED, what the context says, and how many answers refuse, or may do so."""


def told(config: Scoring, tokenizer: Tokenizer, corpus: bool, shard: Shard) -> Stage:
    """Questions → what the trace answers. `given`: tables.ANSWERS."""
    return Told(scorer(config, tokenizer, corpus, shard), shard.table("given"))


class Told:
    """A row per question; null where the trace has no answer."""

    def __init__(self, scorer: Scorer, given: pa.Table) -> None:
        config = scorer.config
        self.scorer, self.stage = scorer, config.handed
        self.hands_over = (
            config.handed is not None and config.pipeline.kind(config.handed) == "context"
        )
        self.given = given.sort_by([("question_id", "ascending"), ("repeat", "ascending")])
        self.ids = pl.Series(self.given["question_id"])
        marked = any_marks(self.given["answer"])
        self._answer = partial(foreign.answer, marked=marked, counted=config.refusals)

    def __call__(self, batch: pa.Table) -> pa.Table:
        """TOLD, in order."""
        ordered = by_question(batch.select(list(READ)))
        _, hits, seen, _ = self.scorer.read(ordered)
        kept = pa.table(self.scorer.kept(hits, seen, ordered.num_rows))
        ids = combined(ordered["question_id"])
        errors = _errors(hits)
        given = dict(self._given(ids))
        rows = [
            self._row(given.get(name, []), kept.slice(at, 1).to_pylist()[0], errors.get(at))
            for at, name in enumerate(ids.to_pylist())
        ]
        table = pa.Table.from_pylist(rows, schema=pa.schema(list(TOLD)[1:]))
        table = table.add_column(0, TOLD.field(0), ordered["question_id"])
        return table.take(in_place(ordered["question_id"], batch["question_id"]))

    def _given(self, ids: pa.Array) -> Iterator[tuple[str, list[dict[str, Any]]]]:
        """Question → its rows of ANSWERS, of questions by id."""
        if not len(ids):
            return
        start = int(self.ids.search_sorted(ids[0].as_py(), "left"))
        end = int(self.ids.search_sorted(ids[-1].as_py(), "right"))
        rows = self.given.slice(start, end - start).to_pylist()
        for name, group in groupby(rows, lambda row: row["question_id"]):
            yield name, list(group)

    def _row(
        self, given: list[dict[str, Any]], kept: Mapping[str, Any], error: str | None
    ) -> dict[str, Any]:
        if not given:
            return {"error": error}
        places = {place["chunk_id"]: place for place in kept["passages"]}
        lists = {row["stage"]: row["hits"] for row in kept["trace"]}
        found = lists.get(self.stage)
        hits = None if found is None else [places[hit["chunk_id"]] for hit in found]
        answers, texts = [], dict[str, str | None]()
        for row in given:
            context = foreign.handed(hits, row["context"] or [], context=self.hands_over)
            answers.append(self._answer(row, context))
            texts |= {hit["chunk_id"]: hit["text"] for hit in context or []}
        said = [{"chunk_id": name, "text": text} for name, text in texts.items()]
        return {"answers": answers, "texts": said, "counts": foreign.counts(given, answers)}


def _errors(hits: Hits) -> dict[int, str]:
    """Question of the batch → why it failed as a whole."""
    if "error" not in hits.table.column_names:
        return {}
    said = zip(hits.question.tolist(), hits.stage.tolist(), hits.table["error"].to_pylist(),
               strict=True)  # fmt: skip
    return {question: error for question, stage, error in said if stage < 0 and error is not None}
