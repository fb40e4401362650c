"""`golden split`: questions dealt out by what they share, with a report of what leaks."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from functools import partial
from pathlib import PurePosixPath
from typing import Any, get_args

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from rayeval import files
from rayeval.columns import Ints, flatten
from rayeval.errors import ConfigError
from rayeval.execution.golden.sources import sound_questions, sound_reading
from rayeval.execution.job import Options
from rayeval.golden.config import Split
from rayeval.golden.file import put
from rayeval.golden.leakage import leakage
from rayeval.golden.records import format_of
from rayeval.golden.rewrite import Row, rewritten
from rayeval.golden.shared import values
from rayeval.golden.split import by_time, dealt, groups
from rayeval.words import plural, verb

RATIOS = "train=60,dev=20,test=20"
EXPECTED = f"expected e.g. {RATIOS}"


def split_golden(
    golden: str, out: str, *, by: str, ratios: str = RATIOS, seed: int, corpus: str | None = None
) -> dict[str, Any]:
    """Writes the golden set to `out` with every question's `split`; returns what came of it.

    by: `time`, or what `golden.shared.values` knows.
    ratios: `split=share,…`; shares are any positive numbers.
    corpus: needed where the gold's source is found by its quote alone.
    Raises DataError if the golden set breaks its contract, ConfigError if it can't be split so.
    """
    shares = parsed_ratios(ratios)
    if format_of(out) != format_of(golden):
        raise ConfigError(
            f"{out}: a split keeps the format of {golden}; name a file that ends in "
            f"{PurePosixPath(golden).suffix}"
        )
    read = files.read_bytes(golden) if files.exists(golden) else b""
    questions = sound_questions(golden)
    with tempfile.TemporaryDirectory(prefix="rayeval-") as folder:
        if corpus is not None:
            questions = sound_reading(golden, corpus, Options(store=folder)).questions
    group, splits = (
        _by_time(questions, shares) if by == "time" else _by(questions, by, shares, seed)
    )
    before = questions["split"].to_pylist()
    lines = dict(zip(questions["line"].to_pylist(), splits, strict=True))
    put(golden, out, rewritten(read, format_of(golden), partial(_put, lines)), was=read)
    at = questions.schema.get_field_index("split")
    questions = questions.set_column(at, "split", pa.array(splits, pa.large_string()))
    return {
        "path": golden,
        "written": out,
        "by": by,
        "seed": seed,
        "splits": _splits(shares, splits, group),
        "groups": len(np.unique(group)),
        "largest_group": int(np.bincount(group).max()),
        "moved": sum(old not in (None, new) for old, new in zip(before, splits, strict=True)),
        "leakage": leakage(questions),
    }


def parsed_ratios(text: str) -> dict[str, float]:
    """`train=60,test=40` as numbers, in its order.

    Raises ConfigError for another split, a share that is no positive number, or a split twice.
    """
    shares: dict[str, float] = {}
    for part in text.split(","):
        name, _, number = (piece.strip() for piece in part.partition("="))
        try:
            share = float(number)
        except ValueError:
            share = float("nan")
        if name not in get_args(Split) or name in shares or not 0 < share < float("inf"):
            raise ConfigError(
                f"--ratios {text}: {part!r} is not a new one of {', '.join(get_args(Split))} with "
                f"a positive share; {EXPECTED}"
            )
        shares[name] = share
    if not sum(shares.values()) < float("inf"):
        raise ConfigError(f"--ratios {text}: the shares add up to more than any number; {EXPECTED}")
    return shares


def _put(lines: Mapping[int, str], line: int, row: Row) -> Row | None:
    """The row in its split, if that is another than it says."""
    return None if row.get("split") == lines[line] else {**row, "split": lines[line]}


def _by(
    questions: pa.Table, by: str, shares: Mapping[str, float], seed: int
) -> tuple[Ints, list[str]]:
    """(group of each question, its split); a group is called by the first of its values."""
    if by == "source":
        _need_sources(questions)
    found = values(questions, by)
    group = groups(found, questions.num_rows)
    ids = pl.Series(questions["question_id"].to_pylist(), dtype=pl.String)
    named = found.select("value", group=pl.Series(group).gather(found["row"]))
    first = named.group_by("group").agg(pl.col("value").min())
    frame = pl.DataFrame({"group": group, "id": ids}).join(
        first, on="group", how="left", maintain_order="left"
    )
    # A question without a value may not fall in with a group that is called like it.
    names = frame.select(pl.coalesce("value", pl.lit("\0") + pl.col("id")))["value"].to_list()
    return group, dealt(names, shares, seed=seed)


def _need_sources(questions: pa.Table) -> None:
    """Evidence found by its quote alone ties its question to a source that isn't known yet."""
    rows, evidence = flatten(questions["evidence"])
    if "problems" in questions.column_names:
        return
    unknown = np.unique(rows[pc.is_null(evidence.field("source_id")).to_numpy(False)])
    if len(unknown):
        ids = questions["question_id"].take(pa.array(unknown[:3])).to_pylist()
        have = verb(len(unknown), "has", "have")
        raise ConfigError(
            f"{plural(len(unknown), 'question')} {have} evidence that names no source, e.g. "
            f"{', '.join(ids)}; "
            "give --corpus, so that their quotes can be found"
        )


def _by_time(questions: pa.Table, shares: Mapping[str, float]) -> tuple[Ints, list[str]]:
    times = questions["asked_at"].to_pylist()
    without = questions.filter(pc.is_null(questions["asked_at"]))["question_id"].to_pylist()
    if without:
        have = verb(len(without), "has", "have")
        raise ConfigError(
            f"--by time: {plural(len(without), 'question')} {have} no `asked_at`, e.g. "
            f"{', '.join(without[:3])}; fill it in, or split by source"
        )
    _, group = np.unique(np.array(times, dtype="datetime64[us]"), return_inverse=True)
    return group.astype(np.int64), by_time(times, shares)


def _splits(shares: Mapping[str, float], splits: list[str], group: Ints) -> dict[str, Any]:
    """Each split's size as it is and as it was wanted."""
    total = sum(shares.values())
    frame = pl.DataFrame({"split": splits, "group": group})
    return {
        name: {
            "questions": splits.count(name),
            "groups": frame.filter(pl.col("split") == name)["group"].n_unique(),
            "share": splits.count(name) / len(splits),
            "wanted": share / total,
        }
        for name, share in shares.items()
    }
