"""A small corpus as the shards of a lexical search, for the tests of this room."""

from dataclasses import dataclass, field

import pyarrow as pa

from rayeval.retrieve.filter import Filter
from rayeval.retrieve.lexical.analyzers import Whitespace
from rayeval.retrieve.lexical.bm25 import Bm25, Bm25Search
from rayeval.retrieve.lexical.terms import TermCounts, statistics
from rayeval.tables import CATALOGUE, CHUNKS, TEXT, TEXTS, conform, empty


@dataclass
class OneShard:
    partitions: dict
    wholes: dict
    number: int = 0
    count: int = 1

    def tables(self, name):
        return iter(self.partitions[name])

    def table(self, name):
        return self.wholes[name]


@dataclass
class Corpus:
    """texts: by chunk id; each chunk is a source of its own, with revision 1."""

    texts: dict
    analyzer: object = field(default_factory=Whitespace)
    access: dict = field(default_factory=dict)
    stale: frozenset = frozenset()

    def chunks(self, ids=None):
        ids = list(self.texts if ids is None else ids)
        columns = {
            "chunk_id": pa.array(ids, TEXT),
            "source_id": pa.array(ids, TEXT),
            "revision_id": pa.array(["1"] * len(ids), TEXT),
            "text": pa.array([self.texts[i] for i in ids], TEXT),
            "access": pa.array([self.access.get(i, []) for i in ids], TEXTS),
        }
        return conform(pa.table(columns), CHUNKS)

    def shards(self, *groups):
        """A shard per group of chunk ids (default: one of all), its partitions of two chunks."""
        count = TermCounts(self.analyzer)
        ids = list(self.texts)
        catalogue = pa.table(
            {
                "source_id": pa.array(ids, TEXT),
                "revision_id": pa.array(["1"] * len(ids), TEXT),
                "current": [i not in self.stale for i in ids],
            }
        )
        wholes = {
            "statistics": statistics([count(self.chunks())]),
            "catalogue": conform(catalogue, CATALOGUE) if ids else empty(CATALOGUE),
        }
        shards = []
        for group in groups or [ids]:
            parts = [self.chunks(group[n : n + 2]) for n in range(0, len(group), 2)]
            tables = {"chunks": parts, "terms": [count(part) for part in parts]}
            shards.append(OneShard(tables, wholes))
        return shards


def asked(questions, principals=None, **columns):
    """A batch of questions q0, q1, …"""
    return pa.table(
        {
            "question_id": pa.array([f"q{n}" for n in range(len(questions))], TEXT),
            "question": pa.array(questions, TEXT),
            "principals": pa.array(principals or [[]] * len(questions), TEXTS),
            **columns,
        }
    )


def answer(scatter, shards, batch):
    return scatter.gather([scatter.load(shard)(batch) for shard in shards])


def search(corpus, questions, *groups, principals=None, filtering=None, **settings):
    """FOUND for `questions` over the corpus in the given groups of chunks."""
    scatter = Bm25Search(Bm25(analyzer=corpus.analyzer, **settings), filtering or Filter())
    return answer(scatter, corpus.shards(*groups), asked(questions, principals))


def hits(found):
    return [[(h["chunk_id"], h["score"]) for h in row] for row in found["hits"].to_pylist()]


def ids(found):
    return [[h["chunk_id"] for h in row] for row in found["hits"].to_pylist()]
