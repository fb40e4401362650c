"""Configurations → what computes: the one place that knows every room.

Functions that end in a `shard` are steps' makers: a worker calls them with the step's inputs and
builds its own stage.
"""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

import pyarrow as pa
import pyarrow.compute as pc

from rayeval.chunk import stage as chunking
from rayeval.chunk.config import Chunk
from rayeval.chunk.tokens import Tokenizer
from rayeval.columns import flatten, lists
from rayeval.context import selection
from rayeval.context.selection import Context
from rayeval.corpus import catalogue as catalogues
from rayeval.corpus import parse, read
from rayeval.corpus import units as corpus_units
from rayeval.corpus.config import Corpus, Parse
from rayeval.corpus.units import Unit
from rayeval.errors import Problem
from rayeval.fuse import fusion
from rayeval.fuse.fusion import Fuse
from rayeval.golden import load, revisions
from rayeval.golden.config import Golden
from rayeval.golden.evaluate import Evaluate
from rayeval.metrics.config import Metrics
from rayeval.metrics.failure.first_failure import FirstFailure
from rayeval.metrics.failure.missed import Missed
from rayeval.metrics.per_query import Extras, PerQuery
from rayeval.metrics.pipeline import Pipeline
from rayeval.metrics.totals import Totals
from rayeval.rerank import folder
from rayeval.rerank import stage as reranking
from rayeval.rerank.config import CrossEncoder, Fit
from rayeval.rerank.fit import fit
from rayeval.rerank.pairs import training_pairs
from rayeval.retrieve.dense import ann, embed
from rayeval.retrieve.dense.config import Dense, Embedder, Side
from rayeval.retrieve.dense.exact import ExactSearch
from rayeval.retrieve.dense.ranks import ExactRanks, ExactScores
from rayeval.retrieve.dense.recall import IndexRecall
from rayeval.retrieve.filter import Filter
from rayeval.retrieve.lexical import terms
from rayeval.retrieve.lexical.analyzers import Analyzer
from rayeval.retrieve.lexical.bm25 import Bm25, Bm25Search
from rayeval.retrieve.lexical.ranks import Bm25Ranks, Bm25Scores
from rayeval.retrieve.lexical.severed import Severed
from rayeval.stage import Scatter, Shard, Stage
from rayeval.tables import TEXT

Produced = Iterator[tuple[pa.Table, Sequence[Problem]]]


# Documents and chunks


def units(config: Corpus) -> list[Unit]:
    """What there is to read."""
    return corpus_units.units(config.path, config.include)


def fingerprint(unit: Unit) -> str:
    """The content of a unit, by hash."""
    return corpus_units.fingerprint(unit)


def documents(every: Sequence[Unit], shard: Shard) -> Produced:
    """The documents of unit `shard.number`."""
    return read.read_documents(every[shard.number])


def catalogue(as_of: datetime | None, path: str, shard: Shard) -> Produced:
    """Every document without its text."""
    yield catalogues.catalogue(shard.tables("documents"), as_of, path=path)


def parser(config: Parse, shard: Shard) -> Stage:
    """Documents → elements."""
    return parse.build(config)


def chunker(config: Chunk, tokenizer: Tokenizer, shard: Shard) -> Stage:
    """Documents with elements → chunks."""
    return chunking.build(config, tokenizer)


# Questions


def questions(config: Golden, relevant: int, limit: int | None, shard: Shard) -> Produced:
    """The golden set's questions in blocks, with the problems of the whole file."""
    table, problems = load.load_questions(config.path, config.format, relevant=relevant)
    table = revisions.choose_revisions(table, shard.table("catalogue"))
    table = load.in_splits(table, config.splits)
    table = table if limit is None else table.slice(0, limit)
    problems = problems or _nothing_selected(config, table)
    size = block_rows(table.num_rows)
    for start in range(0, max(1, table.num_rows), size):
        yield table.slice(start, size), problems if start == 0 else ()


def block_rows(n: int) -> int:
    """Questions to a block: enough blocks to share out, none too large to hold with its hits."""
    return min(1024, max(64, -(-n // 16)))


def _nothing_selected(config: Golden, table: pa.Table) -> list[Problem]:
    if table.num_rows:
        return []
    message = f"no question is of the splits {config.splits}; name others, or none for all"
    return [Problem(config.path, None, None, "empty_golden_set", message)]


def evaluator(config: Metrics, shard: Shard) -> Stage:
    """Located evidence → what is gold for each asker."""
    short = config.short_gold
    return Evaluate(
        shard.table("catalogue"),
        relevant=config.relevant,
        full=config.full,
        short_under=0 if short is None else short.under,
        short_need="context" if short is None else short.need,
    )


# Arms


def term_counter(config: Analyzer, shard: Shard) -> Stage:
    """Chunks → their terms."""
    return terms.TermCounts(config)


def statistics(shard: Shard) -> Produced:
    """Terms of all chunks → the statistics of the corpus."""
    yield terms.statistics(shard.tables("terms")), ()


def embedder(config: Embedder, side: Side, shard: Shard) -> Stage:
    """Texts → vectors."""
    return embed.build_embedder(config, side)


def ann_index(config: Dense, shard: Shard) -> Produced:
    """The approximate index of partition `shard.number`."""
    if config.ann is not None:
        yield ann.build_ann(config.ann, shard), ()


def search(config: Bm25 | Dense, filtering: Filter) -> Scatter:
    """The arm's exact search."""
    match config:
        case Bm25():
            return Bm25Search(config, filtering)
        case Dense():
            return ExactSearch(config, filtering)


def scores(config: Bm25 | Dense) -> Scatter:
    """What wanted chunks score in the arm."""
    match config:
        case Bm25():
            return Bm25Scores(config)
        case Dense():
            return ExactScores()


def ranks(config: Bm25 | Dense, filtering: Filter) -> Scatter:
    """The true ranks of chunks with scores, in the arm."""
    match config:
        case Bm25():
            return _Ranks(Bm25Ranks(config, filtering))
        case Dense():
            return _Ranks(ExactRanks(filtering))


class _Ranks:
    """Ranks from 1, of counts of what stands before."""

    def __init__(self, counting: Scatter) -> None:
        self.counting = counting

    def load(self, shard: Shard) -> Stage:
        """As what it counts with."""
        return self.counting.load(shard)

    def gather(self, parts: Sequence[pa.Table]) -> pa.Table:
        """One more than stand before, in all shards together."""
        rows, before = flatten(self.counting.gather(parts)["outranked_by"])
        return pa.table({"ranks": lists(rows, pc.add(before, 1), parts[0].num_rows)})


# After search


def fuser(config: Fuse, arms: tuple[str, ...], shard: Shard) -> Stage:
    """The arms' hits as one list."""
    return fusion.build(config, arms)


def reranker(config: CrossEncoder, column: str, shard: Shard) -> Stage:
    """The best hits in another order."""
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


def selector(config: Context, column: str, shard: Shard) -> Stage:
    """The hits that are handed on."""
    return selection.build(config, column)


def severed(config: Bm25, arm: str, shard: Shard) -> Stage:
    """Gold chunks whose subject was cut off, as the arm sees it."""
    return Severed(config, arm).load(shard)


# Judgement


def missed(pipeline: Pipeline, full: float, shard: Shard) -> Stage:
    """The chunks that hold gold which no arm found."""
    return Missed(pipeline, full=full)


def index_recall(exact: str, approximate: str, depth: int, shard: Shard) -> Stage:
    """What an approximate search lost of the exact one."""
    return IndexRecall(exact, approximate, depth=depth)


def per_query(config: Metrics, pipeline: Pipeline, extras: Extras, shard: Shard) -> Stage:
    """A row per (question, stage)."""
    return PerQuery(config, pipeline, extras)


def first_failure(pipeline: Pipeline, full: float, shard: Shard) -> Stage:
    """A row per answerable question."""
    return FirstFailure(pipeline, full=full)


def totals(measured: Mapping[str, Sequence[str]], table: str, shard: Shard) -> Produced:
    """`aggregate` or `slices` of all questions."""
    found = Totals(measured)
    for numbers, asked in zip(shard.tables("per_query"), shard.tables("questions"), strict=True):
        found.add(numbers, asked)
    yield found.aggregate() if table == "aggregate" else found.slices(), ()


def sample(size: int, seed: int, shard: Shard) -> Produced:
    """Per block of questions, which are among the `size` whose ids hash lowest under `seed`."""
    blocks = [table["question_id"].to_pylist() for table in shard.tables("resolved")]
    keys = sorted(_drawn(name, seed) for block in blocks for name in block)
    last = keys[min(size, len(keys)) - 1] if keys else b""
    for block in blocks:
        sampled = [_drawn(name, seed) <= last for name in block]
        yield pa.table({"question_id": pa.array(block, TEXT), "sampled": sampled}), ()


def _drawn(question_id: str, seed: int) -> bytes:
    return hashlib.sha256(f"{seed}:{question_id}".encode()).digest()
