"""The context that somebody else's selector hands on."""

from __future__ import annotations

from typing import Any, ClassVar

import pyarrow as pa
from pydantic import Field, PositiveInt

from rayeval.columns import combined
from rayeval.context.selection import SELECTED, Selection
from rayeval.errors import RowError
from rayeval.live.asking import Ask, asker, failing, outcomes
from rayeval.live.chosen import Candidates, named, offered
from rayeval.live.config import Http, Python
from rayeval.live.log import Log
from rayeval.stage import Stage, StageConfig
from rayeval.tables import HITS, TEXT, conform


class _Selector(StageConfig):
    candidates: PositiveInt = Field(20, description="best hits that it may choose from")

    def identity(self) -> dict[str, Any]:
        """As of any live system, under a name that no other stage's identity has."""
        return {**super().identity(), "asked": "context"}


class HttpSelector(_Selector, Http):
    """A selecting service. Items of its answer name candidates by `chunk_id`, or by `index` from 0;
    `{candidates}` are objects of chunk_id and text, `{texts}` the texts alone."""

    PLACEHOLDERS: ClassVar[tuple[str, ...]] = ("question", "question_id", "candidates", "texts")
    NEEDED: ClassVar[tuple[str, ...]] = ("candidates", "texts")


class PythonSelector(_Selector, Python):
    """Code of the user's own: called with a table of question_id, question and candidates (lists of
    chunk_id and text), it gives the chunk ids of every question's context, in order."""


LiveSelector = HttpSelector | PythonSelector


def build(config: LiveSelector, column: str, log: Log) -> Stage:
    """A stage: `question`, `candidates`, `passages` and a column of hits → SELECTED.

    Raises ConfigError if the system can't be asked as configured.
    """
    return _Selected(asker(config, log), column, config.candidates)


class _Selected:
    def __init__(self, ask: Ask, column: str, depth: int) -> None:
        self.ask, self.column, self.depth = ask, column, depth
        self.measure = Selection("chosen", depth=None, max_tokens=None)

    def __call__(self, batch: pa.Table) -> pa.Table:
        lists = offered(batch, self.column, self.depth)
        answers = outcomes(self.ask, batch, lists)
        known = (batch[name].to_pylist() for name in ("question_id", self.column))
        chosen = [_row(*row) for row in zip(*known, answers, lists, strict=True)]
        kept = pa.Table.from_pylist(chosen, schema=pa.schema([("hits", HITS), ("error", TEXT)]))
        measured = self.measure(batch.append_column("chosen", combined(kept["hits"])))
        columns = {name: measured[name] for name in measured.column_names}
        return conform(
            pa.table({**columns, "hits": kept["hits"], "error": kept["error"]}), SELECTED
        )


def _row(question_id: str, hits: Any, answer: Any, candidates: Candidates) -> dict[str, Any]:
    """The hits that were chosen of one question's, in the order of the choice."""
    try:
        if isinstance(answer, RowError):
            raise answer
        scores = {hit["chunk_id"]: hit["score"] for hit in hits or []}
        chosen = [name for name, _ in named(answer, candidates)]
    except RowError as error:
        return failing(question_id, error)
    return {"hits": [{"chunk_id": name, "score": scores[name]} for name in chosen]}
