"""BM25 against bm25s: index and search with the same terms, k1, b and number of threads.

    python benchmarks/bm25.py [--chunks 61000] [--questions 5000] [--repeats 3]

Texts are chunks of 800 characters of public documentation (shared/data/scale beside the checkout,
or under RAYEVAL_DATA), generated where that is absent. Both sides get terms, not texts: bm25s with
a number for each, its fastest form; rayeval as its analyzer gives them, to be counted, reduced to
statistics and weighed as in a run. The best of a few repeats decides. The ten best scores must
agree (bm25s keeps float32), so that only ties may be ordered differently.
"""

from __future__ import annotations

import argparse
import os
import tarfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import bm25s
import numpy as np
import pyarrow as pa
from bm25s.tokenization import Tokenized

from rayeval.columns import Floats, flatten, lists
from rayeval.retrieve.filter import Filter
from rayeval.retrieve.lexical.analyzers import UnicodeWords, build
from rayeval.retrieve.lexical.bm25 import Bm25, Bm25Search
from rayeval.retrieve.lexical.terms import count_terms, statistics
from rayeval.tables import TEXT, TEXTS

CHARS, WORDS, DEPTH, THREADS, PARTITION, BATCH = 800, 8, 10, 2, 5000, 500
DATA = Path(os.environ.get("RAYEVAL_DATA", Path(__file__).parents[2] / "shared" / "data"))


class OneShard:
    """The inputs of a search on one machine."""

    number, count = 0, 1

    def __init__(self, terms: list[pa.Table]) -> None:
        self.terms, self.statistics = terms, statistics(terms)

    def tables(self, name: str) -> Iterator[pa.Table]:
        """`terms`: without a filter nothing else is read."""
        return iter({"terms": self.terms}[name])

    def table(self, name: str) -> pa.Table:
        """`statistics`."""
        return {"statistics": self.statistics}[name]


def documents() -> Iterator[str]:
    """Real ones, else made of words as rare as words are (Zipf)."""
    for archive in sorted((DATA / "scale").glob("*.tar.gz")):
        with tarfile.open(archive) as files:
            for member in files:
                content = files.extractfile(member)
                if member.name.endswith(".md") and content:
                    yield content.read().decode("utf-8", "replace")
    rng = np.random.default_rng(0)
    while True:
        yield " ".join(f"w{word}" for word in rng.zipf(1.3, 10_000))


def chunks(n: int) -> list[str]:
    """The first `n` chunks of all documents."""
    texts: list[str] = []
    for text in documents():
        texts += [text[start : start + CHARS] for start in range(0, len(text), CHARS)]
        if len(texts) >= n:
            break
    return texts[:n]


def questions(texts: list[str], n: int) -> list[str]:
    """Runs of eight words from random chunks that have as many."""
    rng = np.random.default_rng(1)
    asked: list[str] = []
    while len(asked) < n:
        words = texts[rng.integers(len(texts))].split()
        if len(words) >= WORDS:
            start = rng.integers(len(words) - WORDS + 1)
            asked.append(" ".join(words[start : start + WORDS]))
    return asked


def ours(terms: list[pa.ListArray], batch: pa.Table) -> tuple[float, float, Floats]:
    """Seconds to index, seconds to search, the best scores of every question."""
    ids = [
        pa.array([f"{n:04}-{i:04}" for i in range(len(part))], TEXT) for n, part in enumerate(terms)
    ]
    start = time.perf_counter()
    shard = OneShard([count_terms(*part) for part in zip(ids, terms, strict=True)])
    search = Bm25Search(Bm25(depth=DEPTH), Filter()).load(shard)
    indexed = time.perf_counter()
    batches = [batch.slice(first, BATCH) for first in range(0, batch.num_rows, BATCH)]
    with ThreadPoolExecutor(THREADS) as pool:
        found = pa.concat_tables(pool.map(search, batches))
    seconds = indexed - start, time.perf_counter() - indexed
    rows, hits = flatten(found["hits"])
    scores = np.zeros((batch.num_rows, DEPTH))  # as bm25s fills up what it didn't find
    scores[rows, np.arange(len(rows)) - np.searchsorted(rows, rows)] = hits.field("score")
    return *seconds, scores


def theirs(terms: Tokenized, asked: list[list[str]]) -> tuple[float, float, Floats]:
    """The same of bm25s."""
    start = time.perf_counter()
    peer = bm25s.BM25(method="lucene", k1=1.2, b=0.75)
    peer.index(terms, show_progress=False)
    indexed = time.perf_counter()
    _, scores = peer.retrieve(asked, k=DEPTH, n_threads=THREADS, show_progress=False)
    return indexed - start, time.perf_counter() - indexed, scores


def main() -> None:
    """Prints seconds of both, and how many times faster rayeval is."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chunks", type=int, default=61_000)
    parser.add_argument("--questions", type=int, default=5_000)
    parser.add_argument("--repeats", type=int, default=3)
    wanted = parser.parse_args()
    texts = chunks(wanted.chunks)
    asked = pa.array(questions(texts, wanted.questions), TEXT)
    batch = pa.table(
        {
            "question_id": pa.array([f"q{n}" for n in range(len(asked))], TEXT),
            "question": asked,
            "principals": pa.nulls(len(asked), TEXTS),
        }
    )
    analyse = build(UnicodeWords()).terms
    column = pa.array(texts, TEXT)
    terms = [analyse(column.slice(n, PARTITION)) for n in range(0, len(texts), PARTITION)]
    vocabulary, ids = ready_made(terms)
    best: dict[str, tuple[float, float]] = {}
    for _ in range(wanted.repeats):
        *mine, found = ours(terms, batch)
        *peers, expected = theirs(Tokenized(ids, vocabulary), analyse(asked).to_pylist())
        np.testing.assert_allclose(found, expected, rtol=1e-4)
        for name, seconds in (("rayeval", mine), ("bm25s", peers)):
            best[name] = min(best.get(name, seconds), seconds, key=sum)
    for name, (index, search) in best.items():
        print(f"{name:8} index {index:6.2f} s   search {search:6.2f} s")
    print(f"ratio {sum(best['bm25s']) / sum(best['rayeval']):.2f} (bar 1.0): bm25s / rayeval")


def ready_made(terms: list[pa.ListArray]) -> tuple[dict[str, int], list[list[int]]]:
    """The terms as bm25s likes them best: a number for every distinct one."""
    rows, items = flatten(pa.chunked_array(terms))
    encoded = items.dictionary_encode()
    vocabulary = {term: n for n, term in enumerate(encoded.dictionary.to_pylist())}
    return vocabulary, lists(rows, encoded.indices, sum(map(len, terms))).to_pylist()


if __name__ == "__main__":
    main()
