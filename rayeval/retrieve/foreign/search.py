"""Questions → what somebody else's search finds for them, as it says so."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pyarrow as pa

from rayeval.errors import RowError
from rayeval.hits import FIELDS, hits_of, taken
from rayeval.live import code
from rayeval.live.batch import answers
from rayeval.live.log import Log
from rayeval.live.service import Service
from rayeval.retrieve.foreign.config import HttpArm, PythonArm
from rayeval.stage import Stage
from rayeval.tables import FOREIGN_HIT, TEXT

ASKED = pa.schema([("question_id", TEXT), ("found", pa.list_(FOREIGN_HIT)), ("error", TEXT)])
"""`found` null: `error` says why."""

Ask = Callable[[pa.Table], Sequence[Any]]
"""Per row of a batch its hits, in a form that `hits_of` takes, or a RowError."""


def build(config: HttpArm | PythonArm, log: Log) -> Stage:
    """A stage: `question_id, question, principals` → ASKED, hits as the system listed them.

    Raises ConfigError if the system can't be asked as configured.
    """
    match config:
        case HttpArm():
            return _Search(_service(Service(config, log), config), config.depth)
        case PythonArm():
            made = code.build(config.factory, config.settings, config.folder)
            return _Search(_code(made, config.depth), config.depth)


class _Search:
    def __init__(self, ask: Ask, depth: int) -> None:
        self.ask, self.depth = ask, depth

    def __call__(self, batch: pa.Table) -> pa.Table:
        rows = [self._row(answer) for answer in self.ask(batch)]
        found = pa.Table.from_pylist(rows, schema=pa.schema(list(ASKED)[1:]))
        return found.add_column(0, ASKED.field(0), batch["question_id"])

    def _row(self, answer: Any) -> dict[str, Any]:
        """A question's hits, or why there are none."""
        try:
            if isinstance(answer, RowError):
                raise answer
            return {"found": hits_of(taken(answer, self.depth))[: self.depth]}
        except RowError as error:
            return {"error": str(error)}


def _service(service: Service, config: HttpArm) -> Ask:
    def ask(batch: pa.Table) -> Sequence[Any]:
        rows = batch.select(["question_id", "question", "principals"]).to_pylist()
        items = service.items([{**row, "depth": config.depth} for row in rows])
        return [found if isinstance(found, RowError) else _plain(found, config) for found in items]

    return ask


def _plain(items: list[Any], config: HttpArm) -> list[Any]:
    """Without a mapping of fields, those of an item's that are ours are taken."""
    if config.fields:
        return items
    return [
        {name: item[name] for name in FIELDS if name in item} if isinstance(item, dict) else item
        for item in items
    ]


def _code(made: Callable[[pa.Table], Any], depth: int) -> Ask:
    def ask(batch: pa.Table) -> Sequence[Any]:
        asked = batch.select(["question_id", "question", "principals"])
        asked = asked.append_column("depth", pa.array([depth] * batch.num_rows, pa.int64()))
        return answers(made, asked, "hits")

    return ask
