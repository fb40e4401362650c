"""Sheets for people: what of a run they label, and with which chance it was drawn for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from rayeval import files
from rayeval.calibration.calibrated import UNSTATED
from rayeval.calibration.items import items_of, scale_of
from rayeval.calibration.record import FEWEST
from rayeval.calibration.requests import KEEP, Mark, drawn_of
from rayeval.calibration.sheet import sheet
from rayeval.errors import ConfigError, RunError
from rayeval.execution.runs import MANIFEST, Run, load
from rayeval.words import plural


def verdicts(run: Run, task: str) -> pl.DataFrame:
    """The items of a run's judge (`calibration.items.SCHEMA`). Raises ConfigError without one."""
    scale_of(task)
    found = items_of(run.judgements, run.answers, run.questions, task)
    if found.is_empty():
        judged = ", ".join((run.manifest.get("judge") or {}).get("tasks", ())) or "nothing"
        raise ConfigError(f"run {run.run_id} has no verdict of {task!r}; its judge judged {judged}")
    return found


@dataclass(frozen=True)
class Sheet:
    """What was written for people to label."""

    n: int
    """Rows."""
    requests: int
    """How many different things the judge was asked."""
    verdicts: int
    """How often it was asked."""
    short: dict[str, int]
    """Rows in each language that has fewer than a gate needs labelled."""


def write_sheet(
    run: Run, task: str, n: int, path: str, *,
    seed: int, by: Sequence[str] = (), force: bool = False,
) -> Sheet:  # fmt: skip
    """A sheet of `n` requests for people to label, of all where there are fewer.

    by: slices from each of which some are drawn. Raises ConfigError for one that no question has,
    and if there is a file already, which may hold labels, unless `force`.
    """
    if files.exists(path) and not force:
        raise ConfigError(
            f"{path} is there already, and may hold labels: give --out another name, or --force "
            "to write over it"
        )
    items = verdicts(run, task).filter(pl.col("variant") == "answer")
    drawn = _drawn(run, task, n, seed, by)
    texts = _texts(run, drawn)
    mark = str(Mark.of(run.run_id, n, seed, by, drawn))
    files.write_bytes(path, sheet(drawn, texts, task, sample=mark, seed=seed))
    language = pl.col("language").fill_null(UNSTATED)
    few = drawn.group_by(language).len().filter(pl.col("len") < FEWEST).sort("language")
    return Sheet(drawn.height, items["request"].n_unique(), items.height, dict(few.iter_rows()))


def _drawn(run: Run, task: str, n: int, seed: int, by: Sequence[str]) -> pl.DataFrame:
    items = _sliced(verdicts(run, task), run, by)
    return drawn_of(items, task, n, seed=seed, by=["slice"] if by else [])


def _texts(run: Run, drawn: pl.DataFrame) -> dict[str, str]:
    """What the chunks say. Raises RunError where the run doesn't know."""
    wanted = drawn["chunks"].explode().drop_nulls().unique().sort().to_list()
    texts = dict(run.rows("passages", "chunk_id", wanted).select("chunk_id", "text").iter_rows())
    if lacking := [name for name in wanted if texts.get(name) is None]:
        raise RunError(
            f"run {run.run_id} doesn't hold the text of {plural(len(lacking), 'passage')} that its "
            f"judge saw (e.g. {lacking[0]}), which people would have to see too"
        )
    return texts


def _sliced(items: pl.DataFrame, run: Run, by: Sequence[str]) -> pl.DataFrame:
    """With `slice`: the first of `by` that an item's question is in; null where it is in none."""
    slices = run.questions.select("question_id", "slices")
    known = set(slices["slices"].explode().drop_nulls().unique())
    for name in by:
        if name not in known:
            said = ", ".join(sorted(known)) or "no question is in any"
            raise ConfigError(f"--by {name!r}: no question is in that slice; there are: {said}")
    where = [pl.when(pl.col("slices").list.contains(name)).then(pl.lit(name)) for name in by]
    first = pl.coalesce(*where, pl.lit(None, pl.String)).alias("slice")
    return items.join(
        slices.select("question_id", first), on="question_id", how="left", maintain_order="left"
    )


def chances(people: pl.DataFrame, run: Run, task: str) -> pl.DataFrame:
    """`item_id, sample, chance` of every draw that people's labels are of."""
    marks = people["sample"].drop_nulls().unique().sort().to_list()
    found = [_drawn_again(mark, run, task) for mark in marks]
    empty = {"item_id": pl.String, "sample": pl.String, "chance": pl.Float64}
    return pl.concat([pl.DataFrame(schema=empty), *found])


def _drawn_again(said: str, run: Run, task: str) -> pl.DataFrame:
    """The same draw once more, from the run that it was of."""
    mark = Mark.read(said)
    if mark is None:
        raise ConfigError(f"`sample` is {said!r}, which is no draw; {KEEP}, as it was written")
    of = _run_of(mark, run)
    drawn = _drawn(of, task, mark.n, mark.seed, mark.by)
    if Mark.of(of.run_id, mark.n, mark.seed, mark.by, drawn) != mark:
        raise ConfigError(
            f"{said!r} is no draw of {task!r} from run {of.run_id} as this version draws: name the "
            "task of the sheet, or give an `inclusion_probability` with every label"
        )
    return drawn.select("item_id", sample=pl.lit(said), chance="inclusion_probability")


def _run_of(mark: Mark, run: Run) -> Run:
    """The run that was drawn from, beside `run`: labels serve another judge of its answers too."""
    if Mark.named(run.run_id) == mark.run:
        return run
    folder = run.path.rpartition("/")[0] or "."
    places = (name.partition("/") for name in files.list_files(folder))
    known = {name for name, _, rest in places if rest == MANIFEST}
    for name in sorted(known):
        if Mark.named(name) == mark.run:
            return load(f"{folder}/{name}")
    raise ConfigError(
        f"the labels were drawn from another run than {run.run_id}, and it is not in {folder}: put "
        "it there, or name it by --run"
    )
