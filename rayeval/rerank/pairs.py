"""What a reranker can learn from a golden set: which passage answers, and which only look alike."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
from scipy.sparse import csr_matrix

from rayeval.columns import Floats, flatten
from rayeval.tables import TEXT, TEXTS

PAIRS = pa.schema([("question", TEXT), ("positive", TEXT), ("negatives", TEXTS)])
"""A question, a passage that holds its gold, and passages that don't."""

KINDS = ("paragraph", "table", "list", "code", "quote")
"""Elements that read as passages by themselves."""


def training_pairs(
    questions: pa.Table, documents: Iterable[pa.Table], *, split: str, negatives: int = 3
) -> pa.Table:
    """PAIRS of the questions of `split`, in the order of their ids.

    questions: RESOLVED. documents: DOCUMENTS with the column `elements` of PARSED; only those that
    hold gold of the split are kept, so a corpus of any size will do.
    Passages are elements under the heading next above them. A question's negatives are those most
    like it in their pairs of characters, and one at random, keyed by its id; never one with its
    gold, even from another place. Gold that no single element holds teaches nothing.
    """
    gold = _gold(questions, split)
    passages = _passages(documents, gold)
    held = _held(gold, passages)
    if held.is_empty():
        return PAIRS.empty_table()
    texts = passages["text"].unique().sort()
    asked = held.unique("question_id").sort("question_id")
    alike = _likeness(asked["question"], texts)
    rows = []
    for (question_id, question), likeness in zip(
        asked.select("question_id", "question").iter_rows(), alike, strict=True
    ):
        right = held.filter(pl.col("question_id") == question_id)["text"]
        wrong = _negatives(question_id, likeness, texts, right, negatives)
        rows += [(question, positive, wrong) for positive in right]
    columns = zip(zip(*rows, strict=True), PAIRS.types, strict=True)
    return pa.table([pa.array(list(values), kind) for values, kind in columns], schema=PAIRS)


def _held(gold: pl.DataFrame, passages: pl.DataFrame) -> pl.DataFrame:
    """Each question with the passages that hold a gold span of it whole, by ids and text."""
    inside = (pl.col("start_char") <= pl.col("gold_start")) & (
        pl.col("gold_end") <= pl.col("end_char")
    )
    pairs = gold.join(passages, on=["source_id", "revision_id"]).filter(inside)
    return pairs.unique(["question_id", "text"]).sort("question_id", "text")


def _gold(questions: pa.Table, split: str) -> pl.DataFrame:
    """Every span of gold of the split's answerable questions."""
    chosen = questions.filter(pc.equal(questions["split"], split))
    rows, evidence = flatten(chosen["evidence"])
    owners, spans = flatten(evidence.field("spans"))
    frame = pl.DataFrame(
        {
            "question_id": pl.Series(chosen["question_id"]).gather(rows[owners]),
            "question": pl.Series(chosen["question"]).gather(rows[owners]),
            "gold": pl.Series(evidence.field("gold")).gather(owners),
            "source_id": pl.Series(evidence.field("source_id")).gather(owners),
            "revision_id": pl.Series(evidence.field("revision_id")).gather(owners),
            "gold_start": pl.Series(spans.field("start_char")),
            "gold_end": pl.Series(spans.field("end_char")),
        }
    )
    return frame.filter("gold")


def _passages(documents: Iterable[pa.Table], gold: pl.DataFrame) -> pl.DataFrame:
    """The passages of the documents in `gold`, where they lie, and what they say."""
    key = ["source_id", "revision_id"]
    schema = {
        **dict.fromkeys([*key, "text"], pl.String),
        "start_char": pl.Int64,
        "end_char": pl.Int64,
    }
    parts = [pl.DataFrame(schema=schema)]
    for table in documents:
        frame = pl.DataFrame(table.select([*key, "text", "elements"]))
        frame = frame.join(gold.select(key).unique(), on=key, how="semi")
        nested = frame.rename({"text": "source"}).explode("elements").unnest("elements")
        kept = nested.filter(pl.col("kind").is_in(KINDS))
        own = pl.col("source").str.slice(
            pl.col("start_char"), pl.col("end_char") - pl.col("start_char")
        )
        said = pl.concat_str(
            pl.col("heading_path").list.last(),
            pl.coalesce("text", own),
            separator="\n",
            ignore_nulls=True,
        )
        parts.append(kept.with_columns(text=said).select(*schema))
    return pl.concat(parts)


def _likeness(questions: pl.Series, texts: pl.Series) -> Floats:
    """Cosines (n_questions, n_texts) of counts of character pairs, rare ones weighing more."""
    counts = _bigrams(pl.concat([questions, texts]))
    seen = np.bincount(counts.indices, minlength=counts.shape[1])
    weights = counts.multiply(np.log1p(counts.shape[0] / np.maximum(seen, 1))).tocsr()
    length = np.sqrt(weights.multiply(weights).sum(axis=1))
    scaled = weights.multiply(1 / np.maximum(length, 1e-12)).tocsr()
    cosines: Floats = (scaled[: len(questions)] @ scaled[len(questions) :].T).toarray()
    return cosines


def _bigrams(texts: pl.Series) -> csr_matrix:
    frame = pl.DataFrame({"text": texts.str.to_lowercase()}).with_row_index("row")
    letters = frame.with_columns(letter=pl.col("text").str.split("")).explode("letter")
    pairs = letters.with_columns(
        pair=pl.col("letter") + pl.col("letter").shift(-1).over("row")
    ).drop_nulls("pair")
    codes = pairs["pair"].rank("dense").to_numpy().astype(np.int64) - 1
    ones = np.ones(len(codes))
    return csr_matrix((ones, (pairs["row"].to_numpy(), codes)), shape=(len(texts), codes.max() + 1))


def _negatives(
    question_id: str, likeness: Floats, texts: pl.Series, right: pl.Series, count: int
) -> list[str]:
    order = np.argsort(-likeness, kind="stable")
    wrong = texts.gather(order).filter(~texts.gather(order).is_in(right.to_list()))
    seed = int.from_bytes(hashlib.sha256(question_id.encode()).digest()[:8])
    rest = wrong[count - 1 :]
    drawn = np.random.default_rng(seed).integers(len(rest), size=min(1, len(rest)))
    return [*wrong[: count - 1], *rest.gather(drawn)]
