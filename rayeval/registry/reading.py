"""Documents and questions: what is read, parsed, cut and located."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from rayeval.chunk import stage as chunking
from rayeval.chunk.config import Chunk
from rayeval.chunk.tokens import Tokenizer
from rayeval.corpus import catalogue as catalogues
from rayeval.corpus import extract, parse, read
from rayeval.corpus import units as corpus_units
from rayeval.corpus.config import Corpus, Parse
from rayeval.corpus.units import Unit
from rayeval.errors import DataError, Problem
from rayeval.golden import load, revisions
from rayeval.golden.config import Golden
from rayeval.golden.evaluate import Evaluate
from rayeval.marked import CORPUS, GOLDEN, WITHIN, marked_problems, marked_rows
from rayeval.metrics.config import Metrics
from rayeval.registry.produced import Produced
from rayeval.stage import Shard, Stage


def units(config: Corpus) -> list[Unit]:
    """What there is to read; DataError if there is nothing, MissingExtraError if it can't be."""
    found = corpus_units.units(config.path, config.include)
    if not found:
        raise DataError([catalogues.nothing_at(config.path)])
    extractors(found)
    return found


def lost_links(config: Corpus) -> list[Problem]:
    """Warnings of links in the corpus that lead nowhere."""
    return corpus_units.lost_links(config.path, config.include)


def extractors(units: Sequence[Unit]) -> dict[str, str]:
    """Format → what gives the text of its documents, and its version."""
    return extract.extractors(name for unit in units for name in unit.names)


def fingerprint(unit: Unit) -> str:
    """The content of a unit, by hash."""
    return corpus_units.fingerprint(unit)


def documents(every: Sequence[Unit], shard: Shard) -> Produced:
    """The documents of unit `shard.number`."""
    unit = every[shard.number]
    folder = unit.path("")
    for table, found in read.read_documents(unit):
        problems = marked_problems(found, WITHIN, folder)
        yield marked_rows(table, WITHIN, folder), problems


def catalogue(as_of: datetime | None, shard: Shard) -> Produced:
    """Every document without its text."""
    yield catalogues.catalogue(shard.tables("documents"), as_of, path=CORPUS)


def parser(config: Parse, shard: Shard) -> Stage:
    """Documents → elements."""
    return parse.build(config)


def chunker(config: Chunk, tokenizer: Tokenizer, shard: Shard) -> Stage:
    """Documents with elements → chunks."""
    return chunking.build(config, tokenizer)


def questions(config: Golden, relevant: int, limit: int | None, shard: Shard) -> Produced:
    """The golden set's questions in blocks, with the problems of the whole file."""
    table, problems = load.load_questions(config.path, config.format, relevant=relevant)
    table = revisions.choose_revisions(table, shard.table("catalogue"))
    table = load.in_splits(marked_rows(table, GOLDEN, config.path), config.splits)
    table = table if limit is None else table.slice(0, limit)
    problems = problems or nothing_selected(config, table.num_rows)
    problems = marked_problems(problems, GOLDEN, config.path)
    size = block_rows(table.num_rows)
    for start in range(0, max(1, table.num_rows), size):
        yield table.slice(start, size), problems if start == 0 else ()


def block_rows(n: int) -> int:
    """Questions to a block: enough blocks to share out, none too large to hold with its hits."""
    return min(1024, max(64, -(-n // 16)))


def nothing_selected(config: Golden, rows: int) -> list[Problem]:
    """A problem if none of the golden set's questions is of the splits that are wanted."""
    if rows:
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
