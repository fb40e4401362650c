"""What steps would still ask of a chat model, where their inputs are stored: the log is looked up,
and nobody is asked."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa
import pyarrow.compute as pc

from rayeval import files
from rayeval.chat.config import Chat, OpenAI
from rayeval.chat.engine import Engine
from rayeval.chat.peek import Peek
from rayeval.columns import flatten
from rayeval.execution import calls, inputs
from rayeval.execution.plan.answer import chat_log
from rayeval.execution.step import Step
from rayeval.execution.store import Output
from rayeval.live.log import Nothing, log_in
from rayeval.stage import Stage

MOST = 20_000
"""Questions beyond which writing all requests again is not cheap."""
BATCH = 256
EXTRACTING = {"claims": ("support", "reference", "citations"),
              "reference_claims": ("reference_support", "recall")}  # fmt: skip
"""What a judge is asked about claims, by the request that must be answered before."""


@dataclass(frozen=True)
class Peeked:
    """A step's requests, as far as the log and its inputs tell."""

    lacking: Mapping[str, int]
    """Digest → tokens of its prompt, of those that the log lacks."""
    known: int
    tables: Sequence[pa.Table]
    """The step's output, by partition, of what the log has."""

    def waiting(self) -> dict[str, int]:
        """Task of a judge → how often it may be asked once claims are there that are lacking."""
        found: dict[str, int] = {}
        for table in self.tables:
            _, judged = flatten(table["judged"])
            _, outcomes = flatten(judged.field("outcomes"))
            open_ = pc.is_in(outcomes.field("request"), value_set=pa.array(list(self.lacking)))
            for task, waiting in EXTRACTING.items():
                n = pc.sum(pc.and_(open_, pc.equal(outcomes.field("task"), task))).as_py() or 0
                found |= dict.fromkeys(waiting, n) if n else {}
        return found


def peeked(
    root: str,
    step: Step,
    config: Chat,
    build: Callable[[Engine], Stage],
    given: Mapping[str, Sequence[pa.Table]],
) -> Peeked | None:
    """What the log has of a step's requests; None where that is not known, or not cheap to know.

    given: outputs of earlier steps that are not stored, by key and partition.
    """
    if not isinstance(config, OpenAI) or files.is_uri(root):
        return None
    stored = tuple(column for column in step.batch if column.key not in given)
    if any(Output(root, column.key).manifest() is None for column in stored):
        return None
    commits = Output(root, stored[0].key).manifest() or []
    if sum(file.rows for commit in commits for file in commit.files) > MOST:
        return None
    folder = f"{root}/requests/{chat_log(config)}"
    engine = Peek(config, log_in(folder) if files.is_folder(folder) else Nothing())
    stage = build(engine)
    tables = [
        calls.aligned(stage, batch, BATCH, step.schema, tolerant=step.tolerant)
        for batch in _batches(root, step, given)
    ]
    return Peeked(engine.lacking, len(engine.known), tables)


def _batches(root: str, step: Step, given: Mapping[str, Sequence[pa.Table]]) -> Iterator[pa.Table]:
    stored = replace(step, batch=tuple(c for c in step.batch if c.key not in given))
    for part in range(inputs.count(root, stored.batch[0].key)):
        table = inputs.batch(root, stored, part)
        for column in step.batch:
            if column.key in given:
                table = table.append_column(column.name, given[column.key][part][column.column])
        yield table.select([column.name for column in step.batch])
