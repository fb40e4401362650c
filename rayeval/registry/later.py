"""After search: fuse, rerank, select."""

from __future__ import annotations

import tempfile

import pyarrow as pa

from rayeval.context import live as selecting
from rayeval.context import selection
from rayeval.context.live import HttpSelector, PythonSelector
from rayeval.context.selection import Budget, TopK
from rayeval.fuse import fusion
from rayeval.fuse.fusion import Fuse
from rayeval.registry.live import request_log
from rayeval.registry.produced import Produced
from rayeval.rerank import folder
from rayeval.rerank import live as ranking
from rayeval.rerank import stage as reranking
from rayeval.rerank.config import CrossEncoder, Fit
from rayeval.rerank.fit import fit
from rayeval.rerank.live import HttpReranker, PythonReranker
from rayeval.rerank.pairs import training_pairs
from rayeval.stage import Shard, Stage


def fuser(config: Fuse, arms: tuple[str, ...], shard: Shard) -> Stage:
    """The arms' hits as one list."""
    return fusion.build(config, arms)


def reranker(
    config: CrossEncoder | HttpReranker | PythonReranker,
    column: str,
    requests: str | None,
    shard: Shard,
) -> Stage:
    """The best hits in another order. requests: as for `asking`."""
    if not isinstance(config, CrossEncoder):
        return ranking.build(config, column, request_log(requests, shard))
    fitted = None
    if isinstance(config.model, Fit):
        fitted = folder.unpacked(shard.table("model"))
    return reranking.build_reranker(config, column, fitted=fitted)


def fitted(config: Fit, shard: Shard) -> Produced:
    """A cross-encoder fitted on one split, as the files of its folder."""
    tables = zip(shard.tables("documents"), shard.tables("elements"), strict=True)
    parsed = (table.append_column("elements", found["elements"]) for table, found in tables)
    questions = pa.concat_tables(shard.tables("resolved"))
    pairs = training_pairs(questions, parsed, split=config.split)
    with tempfile.TemporaryDirectory() as place:
        fit(
            pairs,
            f"{place}/model",
            base=config.base,
            epochs=config.epochs,
            learning_rate=config.learning_rate,
            seed=config.seed,
        )
        yield folder.packed(f"{place}/model"), ()


def selector(
    config: TopK | Budget | HttpSelector | PythonSelector,
    column: str,
    requests: str | None,
    shard: Shard,
) -> Stage:
    """The hits that are handed on. requests: as for `asking`."""
    if isinstance(config, HttpSelector | PythonSelector):
        return selecting.build(config, column, request_log(requests, shard))
    return selection.build(config, column)
