"""Several runs, each by another answerer, before one judge: is it kinder to its own model?"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from rayeval.calibration.items import as_labels
from rayeval.errors import ConfigError
from rayeval.execution.runs import Run


def author_of(run: Run) -> str:
    """Who wrote a run's answers: the model that was asked, else what a scored trace was named."""
    answer = (run.manifest.get("config") or {}).get("answer") or {}
    return str(answer.get("model") or run.manifest["config"]["name"])


def side_by_side(
    people: Sequence[pl.DataFrame], verdicts: Sequence[pl.DataFrame], runs: Sequence[Run]
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """People's labels and the judge's of all runs as two tables of labels, items with `author`.

    people, verdicts: of each run, in order of `runs`. An item's id is that of its run and its own,
    since runs over the same questions have items of the same ids; clusters are shared.
    """
    labels, judged = [], []
    for human, items, run in zip(people, verdicts, runs, strict=True):
        of = pl.lit(author_of(run))
        name = pl.lit(f"{run.run_id}/") + pl.col("item_id")
        labels.append(human.with_columns(item_id=name, author=of))
        judged.append(as_labels(items).with_columns(item_id=name, author=of))
    return pl.concat(labels), pl.concat(judged)


def paired_up(human: Sequence[str], runs: Sequence[str]) -> None:
    """Raises ConfigError unless each run has its own file of labels."""
    if len(human) != max(1, len(runs)):
        raise ConfigError(
            f"{len(human)} files of people's labels for {max(1, len(runs))} runs or files of a "
            "judge's; each run has its own, in the same order: --human A.csv --run A --human B.csv "
            "--run B"
        )
