"""What happens on a worker: read a partition, call the stage, commit what it gave."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pyarrow as pa
import pyarrow.compute as pc

from rayeval.errors import Problem
from rayeval.execution import calls, inputs, reuse
from rayeval.execution.step import Step
from rayeval.execution.store import Commit, Output
from rayeval.execution.threads import wait_passively
from rayeval.stage import Stage
from rayeval.tables import conform


class Worker:
    """Computes partitions of steps over one store; keeps the stages that it has built."""

    def __init__(self, root: str, batch_rows: int) -> None:
        wait_passively()
        self.root, self.batch_rows = root, batch_rows
        self.stages: dict[tuple[str, int, int], Stage] = {}
        self.known: dict[str, reuse.Known] = {}

    def stage(self, step: Step, number: int = 0, count: int = 1) -> Stage:
        """The step's stage for one shard, built on first use."""
        place = (step.key, number, count)
        if place not in self.stages:
            shard = inputs.StoreShard(self.root, step, number, count)
            scatters = step.kind == "scatter"
            self.stages[place] = step.make().load(shard) if scatters else step.make(shard)
        return self.stages[place]

    def forget(self, step: Step) -> None:
        """Frees what was built for `step`."""
        self.stages = {place: s for place, s in self.stages.items() if place[0] != step.key}
        self.known.pop(step.key, None)

    def compute(self, step: Step, part: int) -> Commit:
        """One partition of a produce or map step, committed."""
        start = time.time()
        output = Output(self.root, step.key)
        if step.kind == "produce":
            problems: list[Problem] = []
            tables = self._produced(step, part, problems)
            return output.commit(part, tables, started=start, problems=problems)
        table, errors = self._mapped(step, inputs.batch(self.root, step, part))
        return output.commit(part, [table], started=start, errors=errors)

    def answer(self, step: Step, batch: pa.Table, number: int = 0, count: int = 1) -> pa.Table:
        """One shard's answer to a batch: a row per row, null where `error` says why."""
        stage = self.stage(step, number, count)
        return calls.aligned(stage, batch, self.batch_rows, step.schema, tolerant=step.tolerant)

    def _produced(self, step: Step, part: int, problems: list[Problem]) -> Iterator[pa.Table]:
        shard = inputs.StoreShard(self.root, step, part, step.parts or 1)
        for table, found in step.make(shard):
            problems.extend(found)
            yield conform(table, step.schema)

    def _mapped(self, step: Step, batch: pa.Table) -> tuple[pa.Table, calls.Errors]:
        if step.reuse is not None:
            table = self._reusing(step, batch)
        elif step.aligned:
            table = conform(self.answer(step, batch), step.schema)
        else:
            stage, tolerant = self.stage(step), step.tolerant
            return calls.flat(stage, batch, self.batch_rows, step.schema, tolerant=tolerant)
        return table, calls.errors_of(table)

    def _reusing(self, step: Step, batch: pa.Table) -> pa.Table:
        """As `answer`, but a text is computed once, now or in an earlier output of its model."""
        if step.key not in self.known:
            self.known[step.key] = reuse.Known(self.root, step)
        wanted = reuse.digests(batch["text"])
        known = self.known[step.key].rows(wanted.unique())
        new = pc.invert(pc.is_in(wanted, value_set=known["text_digest"].combine_chunks()))
        fresh = batch.append_column("text_digest", wanted).filter(new)
        fresh = first_of_each(fresh, "text_digest")
        answered = conform(self.answer(step, fresh), step.schema)
        place = step.schema.get_field_index("text_digest")
        answered = answered.set_column(place, step.schema.field(place), fresh["text_digest"])
        whole = pa.concat_tables([known, answered])
        rows = reuse.spread(whole, wanted, step.schema)
        return rows.set_column(0, rows.schema.field(0), batch[0].cast(rows.schema.field(0).type))


def merge(output: Output, part: int, table: pa.Table, *, started: float) -> Commit:
    """Block `part` of a scatter step, gathered, committed."""
    return output.commit(part, [table], started=started, errors=calls.errors_of(table))


def first_of_each(table: pa.Table, column: str) -> pa.Table:
    """The first row of every distinct value of `column`."""
    seen: dict[bytes, int] = {}
    for row, value in enumerate(table[column].to_pylist()):
        seen.setdefault(value, row)
    return table.take(pa.array(seen.values(), pa.int64()))
