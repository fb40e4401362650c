"""A step: what is computed, from which outputs, under which content address.

`make` builds what computes; it is a picklable callable over configurations (a class or a
`functools.partial`), so a worker builds its own stage and no model travels. Three kinds:

- produce: `make(shard) -> Iterator[(table, problems)]`, for reading and reducing;
- map:     `make(shard) -> Stage`, applied partition by partition;
- scatter: `make() -> Scatter`, a block of questions against every shard of the corpus.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import pyarrow as pa

from rayeval import tables

CODE_VERSION = 1
"""Raised when execution itself changes what is stored."""

Kind = Literal["produce", "map", "scatter"]


@dataclass(frozen=True)
class Column:
    """A column of an earlier step's output, and its name in this step's batch."""

    key: str
    column: str
    name: str


@dataclass(frozen=True)
class Step:
    """One computation with one stored output."""

    name: str
    kind: Kind
    identity: Mapping[str, Any]
    """Everything but inputs that decides the output: configuration, model, code version."""
    make: Callable[..., Any]
    schema: pa.Schema
    batch: tuple[Column, ...] = ()
    """map, scatter: the batch, column by column; their partitions are aligned."""
    sharded: Mapping[str, str] = field(default_factory=dict)
    """What `shard.tables` offers, shared out over the shards: name → key."""
    own: Mapping[str, str] = field(default_factory=dict)
    """What `shard.tables` offers of the shard's own number alone: name → key."""
    whole: Mapping[str, str] = field(default_factory=dict)
    """What `shard.table` offers: name → key."""
    parts: int | None = None
    """produce: how many tasks it is (None: one). map, scatter: as many as the batch has."""
    aligned: bool = True
    """map: one output row per input row (errors are rows); else flat (errors are counted)."""
    tolerant: bool = False
    """Rows with upstream errors reach the stage, which deals with them itself."""
    fallible: bool = False
    """A row may fail here and become an error; elsewhere a failure is a fault of rayeval's."""
    pinned: bool = False
    """The shards are configuration (an ANN's partitions): each sees every input partition."""
    model: bool = False
    """Needs a model: placed on GPUs where placement has them."""
    alone: Callable[..., Any] | None = None
    """As `make`, for one row at a time, without the padding that keeps batches canonical: the
    latency pass times this, and keeps none of its results."""
    single: bool = False
    """Whoever is asked sets limits that hold for all of it: one worker computes it."""
    threads: bool = False
    """Its stage may be called by several threads at once, and gains from it: it spends its time in
    libraries that let other threads run."""
    reuse: str | None = None
    """Rows are looked up by text among earlier outputs that name the same `reuse`."""

    names: Mapping[str, str] = field(default_factory=dict)
    """What marks in its rows and problems stand for (rayeval.marked), in this run."""

    @property
    def key(self) -> str:
        """The content address of the output: 40 hex digits."""
        recipe = {
            "identity": self.identity,
            "kind": self.kind,
            "batch": [[c.key, c.column, c.name] for c in self.batch],
            "sharded": dict(self.sharded),
            "own": dict(self.own),
            "whole": dict(self.whole),
            "parts": self.parts,
            "versions": [CODE_VERSION, tables.VERSION],
        }
        return digest(recipe)


def digest(value: Any) -> str:
    """The first 40 hex digits of the sha256 of `value` as canonical JSON."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:40]
