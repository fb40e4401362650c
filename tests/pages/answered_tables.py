"""Runs with answers, made of tables alone, as large as a test wants them."""

import polars as pl
from pages_runs import Tables, tables

from rayeval.answer.rows import ROWS
from rayeval.judge.rows import ROWS as JUDGEMENTS
from rayeval.metrics.answers.refusals import ABSTENTION
from rayeval.metrics.answers.spread import SPREAD

PINS = {"model": "m", "revision": None, "temperature": 0.0, "seed": 42, "tasks": ["correctness"],
        "prompts": {"correctness": {"name": "p", "version": "1", "hash": "ab" * 16}}}  # fmt: skip
RECORD = {"judge": {"model": "m", "revision": None, "prompt": "ab" * 16, "task": "correctness", "language": "en"},
          "n": 120, "clusters": 60, "kappa": 0.71, "kappa_quadratic": 0.74, "agreement": 0.9, "floor": 0.4,
          "sensitivity": 0.9, "specificity": 0.9, "alpha": 0.7, "prevalence_human": 0.5, "labels_sha256": {},
          "intervals": {"kappa_quadratic": [0.62, 0.83]}, "made": "2026-01-01"}  # fmt: skip


def empty(schema) -> pl.DataFrame:
    return pl.DataFrame(schema.empty_table())


def answered_tables(n: int, repeats: int = 1, chars: int = 40) -> Tables:
    """Every fifth answer of `n` questions is wrong; each takes up `chars` characters and 12 pieces."""
    run = tables(n)
    ids = [f"q-{number:05d}" for number in range(n)]
    keys = [(number, name, repeat) for number, name in enumerate(ids) for repeat in range(repeats)]
    context = [[f"chunk-{(number + step) % 50}" for step in range(12)] for number in range(n)]
    run.answers = pl.DataFrame(
        {
            "question_id": [name for _, name, _ in keys],
            "variant": "answer",
            "repeat": [repeat for *_, repeat in keys],
            "answer": [f"It takes {number} days [E1]. ".ljust(chars, "x") for number, *_ in keys],
            "abstained": False,
            "citations": [[{"mark": "E1", "chunk_id": context[number][0]}] for number, *_ in keys],
            "context": [context[number] for number, *_ in keys],
        },
        schema_overrides={"repeat": pl.Int64},
    ).pipe(_filled, ROWS)
    right = pl.Series(["wrong" if number % 5 == 0 else "right" for number, *_ in keys])
    told = {"evidence": pl.lit("all"), "refused": pl.lit(value=False), "right": right}
    run.per_answer = run.answers.select("question_id", "repeat", stage=pl.lit("answer"))
    run.per_answer = run.per_answer.with_columns(**told)
    _measure(run, ids, [float(number % 5 != 0) for number in range(n)])
    run.judgements, run.judged_again = empty(JUDGEMENTS), empty(JUDGEMENTS)
    run.abstention, run.spread = empty(ABSTENTION), empty(SPREAD)
    run.manifest |= {"answers": ["answer"], "judge": PINS, "calibration": [RECORD], "files": {}}
    return run


def _measure(run: Tables, ids: list[str], correct: list[float]) -> None:
    """One metric of answers, over all and by slice."""
    n = len(ids)
    run.per_query = pl.DataFrame(
        {"question_id": ids, "stage": "answer", "status": "ok", "answer_correctness": correct}
    )
    whole = {"stage": "answer", "metric": "answer_correctness", "mean": sum(correct) / max(n, 1), "n": n,
             "n_undefined": 0, "n_missing": 0, "n_error": 0}  # fmt: skip
    run.aggregate = pl.concat([run.aggregate, pl.DataFrame([whole])])
    parts = [pl.DataFrame([{**whole, "n": n // 2, "slice": name}]) for name in ("code", "table")]
    run.slices = pl.concat([run.slices, *parts])


def _filled(table: pl.DataFrame, schema) -> pl.DataFrame:
    """The table with the schema's other columns, all null."""
    return pl.concat([empty(schema), table], how="diagonal_relaxed").select(schema.names)
