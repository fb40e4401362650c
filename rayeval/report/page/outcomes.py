"""How the answer to every question came out, in a word; and in a comparison, which way it went."""

from __future__ import annotations

import polars as pl

from rayeval.report.tables import Tables, answered_stages

STAGE = "answer"
RIGHT, REFUSED_RIGHTLY = "right", "rightly refused"
PARTLY, MIXED = "partly right", "mixed"
WRONG, REFUSED, ANYWAY = "wrong", "refused", "answered anyway"
ERROR, UNKNOWN = "error", "not known"
WORTH = {RIGHT: 2, REFUSED_RIGHTLY: 2, PARTLY: 1, MIXED: 1, WRONG: 0, REFUSED: 0, ANYWAY: 0}
"""By which an answer is better or worse than another; the rest can't be told."""
BETTER, WORSE, SAME, UNTOLD = "better", "worse", "same", "can't be told"


def outcomes(run: Tables) -> pl.DataFrame:
    """`question_id, outcome` of every question, sorted; null where nothing was answered.

    Of several tries that came out differently: `mixed`. A try that failed makes it an error.
    """
    asked = run.select("questions", ["question_id", "answerable"])
    ids = asked.select("question_id", can="answerable")
    if STAGE not in answered_stages(run):
        nothing = pl.lit(None, pl.String)
        return ids.select("question_id", outcome=nothing).sort("question_id")
    tries = run.select("per_answer", ["question_id", "refused", "right"], STAGE)
    tries = tries.join(ids, on="question_id")
    words = tries.select("question_id", word=_word()).group_by("question_id").agg(
        first=pl.col("word").first(), kinds=pl.col("word").n_unique()
    )  # fmt: skip
    told = words.select(
        "question_id", outcome=pl.when(pl.col("kinds") > 1).then(pl.lit(MIXED)).otherwise("first")
    )
    own = run.select("answers", ["question_id", "variant", "error"])
    failed = own.filter(pl.col("variant") == STAGE, pl.col("error").is_not_null())
    failed = failed.select("question_id").unique()
    found = ids.join(told, on="question_id", how="left").join(
        failed.with_columns(failed=pl.lit(value=True)), on="question_id", how="left"
    )
    broken = pl.col("failed").fill_null(value=False)
    outcome = pl.when(broken).then(pl.lit(ERROR)).otherwise("outcome")
    return found.select("question_id", outcome=outcome).sort("question_id")


def _word() -> pl.Expr:
    """What one try came to."""
    refused, can, right = pl.col("refused"), pl.col("can"), pl.col("right")
    return (
        pl.when(refused & can.is_null()).then(pl.lit(UNKNOWN))  # nobody said if it has an answer
        .when(refused & ~can).then(pl.lit(REFUSED_RIGHTLY))
        .when(refused).then(pl.lit(REFUSED))
        .when(~can & refused.is_not_null()).then(pl.lit(ANYWAY))
        .when(right == "right").then(pl.lit(RIGHT))
        .when(right == "partial").then(pl.lit(PARTLY))
        .when(right == "wrong").then(pl.lit(WRONG))
        .otherwise(pl.lit(UNKNOWN))
    )  # fmt: skip


def answer_moves(base: Tables, new: Tables) -> pl.DataFrame:
    """`question_id, went` of the questions that both runs answered, the worst first: those that
    went from right to wrong, then the others that are worse, then by id."""
    both = outcomes(base).join(outcomes(new), on="question_id", suffix=" after").drop_nulls()
    was, is_ = (
        pl.col(name).replace_strict(WORTH, default=None, return_dtype=pl.Int64)
        for name in ("outcome", "outcome after")
    )
    gained = is_ - was
    went = (
        pl.when(gained.is_null()).then(pl.lit(UNTOLD))
        .when(gained < 0).then(pl.lit(WORSE))
        .when(gained > 0).then(pl.lit(BETTER))
        .otherwise(pl.lit(SAME))
    )  # fmt: skip
    rows = both.select("question_id", went=went, gained=gained)
    return rows.sort("gained", "question_id", nulls_last=True).drop("gained")


def troubled(run: Tables) -> list[str]:
    """Questions whose answer is no good or an error, by id."""
    bad = [ERROR, *(word for word, worth in WORTH.items() if worth < WORTH[RIGHT])]
    found = outcomes(run).filter(pl.col("outcome").is_in(bad))
    return found["question_id"].to_list()
