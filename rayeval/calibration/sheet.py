"""A sheet for people: what the judge was shown and not what it said, as a spreadsheet opens it."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from rayeval.calibration.items import SCALES
from rayeval.calibration.sample import keyed

SHOWN = {
    "support": ("claim", "evidence"),
    "reference": ("question", "reference_answer", "claim"),
    "citations": ("claim", "evidence"),
    "correctness": ("question", "reference_answer", "answer"),
    "relevance": ("question", "evidence"),
}
"""Task → what its judge sees (`judge/tasks`): who sees more, or less, answers another question."""
FILLED = ("label", "annotator", "cluster", "language", "slice", "sample")
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""How a cell begins that a spreadsheet would compute."""
ASKED = {
    "support": "Does `evidence` support `claim`?",
    "reference": "Does `reference_answer` support `claim`, read as an answer to `question`?",
    "citations": "Does `evidence`, which is all that the claim cites, support `claim`?",
    "correctness": "Is `answer` right? `reference_answer` is: compare with it, and nothing else.",
    "relevance": "How much does `evidence` help to answer `question`?",
}
_ALL = "whoever reads it must agree with all of the claim; other words and languages are fine"
_NEITHER = "neither; so is a claim of which only a part is in it"
_AGAINST = "it says what can't be true together with the claim"
MEANT = {
    "support": {"supported": _ALL, "contradicted": _AGAINST, "not_in_context": _NEITHER},
    "reference": {"supported": _ALL, "contradicted": _AGAINST, "not_in_reference": _NEITHER},
    "citations": {
        "supported": _ALL,
        "unsupported": "anything in the claim is not in it, or it contradicts the claim",
    },
    "correctness": {
        "correct": "all that is asked, as in the reference; nothing contradicts it; more is fine",
        "partial": "some of what is asked is right, and some is missing or wrong",
        "incorrect": "what is asked is not answered, or wrongly",
    },
    "relevance": {
        "3": "it answers the question directly and completely",
        "2": "it has a part of the answer, or a condition without which there is none",
        "1": "it is on the topic, and supports no part of an answer",
        "0": "it is about something else",
    },
}
"""Task → label → what it means, as the judge is told (`judge/tasks/*.md`)."""


def sheet(
    drawn: pl.DataFrame, texts: Mapping[str, str], task: str, *, sample: str, seed: int
) -> bytes:
    """CSV with a byte order mark, so that Korean is read as Korean; `label` is empty.

    drawn: requests, with ids of `requests_of`. texts: chunk id → text. sample: the draw's mark.
    Rows are in an order of their own by `seed`: whoever stops early has labelled any of them.
    """
    order = pl.Series([keyed(f"row {seed}", name) for name in drawn["item_id"]], dtype=pl.String)
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\r\n")
    columns = ("item_id", *SHOWN[task], *FILLED)
    writer.writerow(columns)
    for row in drawn.with_columns(order=order).sort("order").iter_rows(named=True):
        cells = {**row, "claim": row["text"], "evidence": _evidence(row["chunks"], texts)}
        cells |= {"label": "", "annotator": "", "sample": sample}
        writer.writerow([_cell(cells[name]) for name in columns])
    return b"\xef\xbb\xbf" + out.getvalue().encode("utf-8", "replace")


def instruction(task: str) -> str:
    """What people are asked, and the labels they may give, the best first."""
    lines = [f"  {label}: {MEANT[task][label]}" for label in reversed(SCALES[task])]
    return "\n".join([ASKED[task], "Write under `label` one of", *lines])


def _evidence(chunks: Sequence[str], texts: Mapping[str, str]) -> str:
    """The passages; of several each with its number."""
    if len(chunks) < 2:
        return "".join(texts[chunk] for chunk in chunks)
    return "\n\n".join(f"[{n}] {texts[chunk]}" for n, chunk in enumerate(chunks, 1))


def _cell(value: Any) -> str:
    text = "" if value is None else str(value)
    return f"'{text}" if text.startswith(_FORMULA) else text
