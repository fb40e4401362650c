"""A sheet for people: the items without the judge's verdicts, as a spreadsheet opens it."""

from __future__ import annotations

import csv
import io

import polars as pl

from rayeval.calibration.items import SCALES

COLUMNS = ("item_id", "question", "answer", "text", "evidence", "label", "annotator", "cluster",
           "language", "slice", "inclusion_probability")  # fmt: skip
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""How a cell begins that a spreadsheet would compute."""


def sheet(drawn: pl.DataFrame, texts: dict[str, str], task: str) -> bytes:
    """CSV with a byte order mark, so that Korean is read as Korean; `label` is empty.

    texts: chunk id → text.
    """
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(COLUMNS)
    for row in drawn.iter_rows(named=True):
        evidence = "\n\n".join(texts.get(chunk, "") for chunk in row["chunks"])
        cells = {**row, "evidence": evidence, "label": "", "annotator": ""}
        writer.writerow([_cell(cells[name]) for name in COLUMNS])
    return b"\xef\xbb\xbf" + out.getvalue().encode("utf-8", "replace")


def instruction(task: str) -> str:
    """What people are asked, and the labels they may give."""
    asked = {
        "support": "Does the evidence support the claim in `text`?",
        "reference": "Does the reference answer support the claim in `text`?",
        "citations": "Does the cited evidence alone support the claim in `text`?",
        "correctness": "Is the answer right?",
        "relevance": "How relevant is the evidence to the question?",
    }
    return f"{asked[task]}\nWrite one of these under `label`: {', '.join(SCALES[task])}."


def _cell(value: object) -> str:
    text = "" if value is None else str(value)
    return f"'{text}" if text.startswith(_FORMULA) else text
