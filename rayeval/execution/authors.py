"""Several runs, each by another answerer, before one judge: is it kinder to its own model?"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from rayeval.errors import ConfigError
from rayeval.execution.runs import Run


def author_of(run: Run) -> str:
    """Who wrote a run's answers: the model that was asked, else what a scored trace was named."""
    answer = (run.manifest.get("config") or {}).get("answer") or {}
    return str(answer.get("model") or run.manifest["config"]["name"])


def side_by_side(
    sides: Sequence[tuple[pl.DataFrame, pl.DataFrame]], runs: Sequence[Run]
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """People's labels and the judge's of all runs as two tables of labels, items with `author`.

    sides: of each run both, in order of `runs`. An item's id is that of its run and its own,
    since runs over the same questions have items of the same ids; clusters are shared.
    """
    named = [
        [
            frame.with_columns(
                item_id=pl.lit(f"{run.run_id}/") + pl.col("item_id"), author=pl.lit(author_of(run))
            )
            for frame in both
        ]
        for both, run in zip(sides, runs, strict=True)
    ]
    people, judge = (pl.concat(frames) for frames in zip(*named, strict=True))
    return people, judge


def paired_up(human: Sequence[str], runs: Sequence[str]) -> None:
    """Raises ConfigError unless each run has its own file of labels."""
    if len(human) != max(1, len(runs)):
        raise ConfigError(
            f"{len(human)} files of people's labels for {max(1, len(runs))} runs or files of a "
            "judge's; each run has its own, in the same order: --human A.csv --run A --human B.csv "
            "--run B"
        )
