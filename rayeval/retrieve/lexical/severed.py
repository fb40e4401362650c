"""Facts cut off from their subject: would the chunk have been found with its neighbour's words?"""

from __future__ import annotations

import numpy as np
import polars as pl
import pyarrow as pa

from rayeval.columns import Floats, Ints, combined, flatten, lists
from rayeval.retrieve.lexical.analyzers import build
from rayeval.retrieve.lexical.bm25 import Bm25
from rayeval.retrieve.lexical.index import Corpus, weigh
from rayeval.stage import Shard, Stage


class Severed:
    """Gold chunks that one BM25 arm misses because their subject stands in the chunk next to them.

    Batch: `question`, the arm's own hits in a column of its name, and `neighbours`: a list of
    structs of a gold chunk's `chunk_id`, its `text`, `joined`, its text joined with the chunk
    before and with the chunk after, and `beside`, the ids of these. Result: `severed`, the ids of
    those gold chunks, in that order, for which a joined text

    - holds a term of the question that the gold chunk lacks, and
    - would stand within the arm's depth: scored as one chunk in place of the two, with the corpus's
      statistics as they are, fewer than `depth` of the other hits score higher.
    """

    def __init__(self, config: Bm25, arm: str) -> None:
        self.config = config
        self.arm = arm

    def load(self, shard: Shard) -> Stage:
        """Needs `statistics`; the same on every shard, so any one of them answers."""
        return _Severed(self.config, self.arm, Corpus(shard.table("statistics")))


class _Severed:
    def __init__(self, config: Bm25, arm: str, corpus: Corpus) -> None:
        self.config = config
        self.arm = arm
        self.corpus = corpus
        self.analysis = build(config.analyzer)

    def __call__(self, batch: pa.Table) -> pa.Table:
        rows, gold = flatten(batch["neighbours"])
        chunk, joined = flatten(gold.field("joined"))
        asked, _ = self._counted(combined(batch["question"]), "row")
        own, _ = self._counted(gold.field("text"), "chunk")
        shared, lengths = self._counted(joined, "joined")
        shared = shared.with_columns(
            chunk=chunk[shared["joined"]], row=rows[chunk][shared["joined"]]
        )
        shared = shared.join(asked, on=["row", "term"], suffix="_asked").sort("joined", "term")
        scores = self._scores(shared, lengths)
        gained = shared.join(own, on=["chunk", "term"], how="anti")["joined"].unique().to_numpy()
        ids = gold.field("chunk_id")
        _, beside = flatten(gold.field("beside"))
        pair = ids.take(pa.array(chunk)), beside
        ahead = _ahead(batch[self.arm], rows[chunk], pair, scores)
        severed = np.unique(chunk[gained[ahead[gained] < self.config.depth]])
        return pa.table(
            {"severed": lists(rows[severed], ids.take(pa.array(severed)), batch.num_rows)}
        )

    def _counted(self, texts: pa.Array, name: str) -> tuple[pl.DataFrame, Ints]:
        """(text number, term, count) of every distinct term, and the terms in every text."""
        rows, terms = flatten(self.analysis.terms(texts))
        counted = pl.DataFrame({name: rows, "term": pl.Series(terms)}).group_by(name, "term").len()
        return counted, np.bincount(rows, minlength=len(texts))

    def _scores(self, shared: pl.DataFrame, lengths: Ints) -> Floats:
        """(n_joined,), summed in the order of `shared`, as a chunk's score would be."""
        joined = shared["joined"].to_numpy()
        weights = weigh(
            self.corpus.idf(shared["term"].to_arrow()),
            shared["len"].to_numpy().astype(np.int64),
            lengths[joined],
            k1=self.config.k1,
            b=self.config.b,
            mean=self.corpus.mean_length,
        )
        added = shared["len_asked"].to_numpy() * weights
        return np.bincount(joined, weights=added, minlength=len(lengths)).astype(np.float64)


def _ahead(
    hits: pa.ChunkedArray, rows: Ints, pair: tuple[pa.Array, pa.Array], scores: Floats
) -> Ints:
    """(n,): how many hits of its row, those of its own pair of chunks aside, score higher."""
    row, found = flatten(hits)
    ranked = pl.DataFrame(
        {
            "row": row,
            "hit": pl.Series(found.field("chunk_id")),
            "score": found.field("score").to_numpy(),
        }
    )
    left, right = (pl.Series(ids) for ids in pair)
    joined = pl.DataFrame({"row": rows, "left": left, "right": right, "own": scores})
    pairs = joined.with_row_index("n").join(ranked, on="row")
    higher = pairs.filter(
        pl.col("score") > pl.col("own"),
        pl.col("hit") != pl.col("left"),
        pl.col("hit") != pl.col("right"),
    )
    return np.bincount(higher["n"].to_numpy(), minlength=len(rows))
