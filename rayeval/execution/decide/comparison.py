"""A comparison of two runs, and its folder beside them."""

from __future__ import annotations

import hashlib
import io
import json
import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import polars as pl

from rayeval import files
from rayeval.comparison import differences
from rayeval.comparison.deltas import deltas
from rayeval.comparison.latency import latency_deltas
from rayeval.comparison.measure import known
from rayeval.comparison.pairs import Pairs, pair
from rayeval.comparison.transitions import counted
from rayeval.errors import RunError
from rayeval.execution.decide.calibrated import known_records
from rayeval.execution.decide.facts import facts_of
from rayeval.execution.decide.shards import Listed, listed, sharded_deltas, sharded_lists, too_large
from rayeval.execution.evaluate import placed
from rayeval.execution.job import Options as Where
from rayeval.execution.placement import Placement
from rayeval.execution.runs import Run, load
from rayeval.report import whole
from rayeval.report.compared import headline, uncalibrated
from rayeval.report.comparison import comparison_text
from rayeval.report.favoured import worth_showing
from rayeval.report.page.comparison import comparison_page
from rayeval.report.spent import spent
from rayeval.report.whole import Whole, whole_of

FACTS = "comparison.json"
TABLES = ("deltas", "transitions", "latency", "ranks", "unjudged")
COUNTS = ("ends", "moves", "open")
"""Tables of a comparison that doesn't list all."""


@dataclass(frozen=True)
class Options:
    """How to compare."""

    shared: bool = False
    """On the questions that both runs have."""
    allow: Collection[str] = ()
    """What may differ all the same, of `differences.KINDS`."""
    metrics: Sequence[str] | None = None
    """Those with intervals by slice; default: the ones that reports show."""
    seed: int = 42
    replicates: int = 10_000
    purpose: str | None = None
    """For the ledger of the test split."""
    calibration: Sequence[str] = ()
    """Files of records of judges, besides those that the runs carry."""
    poisson: bool = False
    """Add up Poisson weights shard by shard, even if the runs are small enough to be held."""
    where: Where = field(default_factory=Where)
    """Who computes the shards."""


@dataclass(frozen=True)
class Comparison:
    """Two runs side by side. `print(comparison)` says what changed."""

    comparison_id: str
    path: str | None
    """Null until it is written."""
    facts: dict[str, Any]
    """What was compared, what differs and what to be careful about."""
    deltas: pl.DataFrame
    transitions: pl.DataFrame
    """A row per answerable question: how it ended in both runs."""
    latency: pl.DataFrame
    ranks: pl.DataFrame
    """A row per (question, gold group, stage): its rank in both runs."""
    unjudged: pl.DataFrame
    """Unjudged hits that only one of the runs has near its top."""
    whole: Whole
    """Counts of all questions: of more than 20,000 that were read shard by shard, `transitions`,
    `ranks` and `unjudged` have those that matter most (`facts["listed"]` says how many)."""
    sides: tuple[Run, Run]
    """Base, new."""

    def summary(self) -> dict[str, Any]:
        """What `compare --json` prints (DESIGN §12)."""
        whole = self.deltas.filter(pl.col("slice").is_null())
        stages: dict[str, dict[str, dict[str, Any]]] = {}
        for row in whole.iter_rows(named=True):
            kept = {
                name: _plain(row[name]) for name in ("mean", "low", "high", "p", "n", "clusters")
            }
            stages.setdefault(row["stage"], {})[row["metric"]] = kept
        first = headline(self)
        return {
            "sentence": first.text,
            "note": first.note,
            "comparison_id": self.comparison_id,
            "path": self.path,
            "deltas": stages,
            "transitions": counted(self.whole.ends),
            "uncalibrated": uncalibrated(self.facts),
            "spent": dict(zip(("base", "new"), map(spent, self.sides), strict=True)),
            **{name: self.facts[name] for name in ("changed", "elsewhere", "warnings")},
        }

    def __str__(self) -> str:
        return comparison_text(self)


def compare_runs(base: Run, new: Run, options: Options) -> Comparison:
    """The differences of `new` from `base`.

    Raises PairingError for runs that can't be compared, unless `options` allow it.
    """
    differences.refuse(base, new, options.allow)
    pairs = pair(base, new, shared=options.shared)
    every = list(dict.fromkeys(m for stage in pairs.stages for m in pairs.metrics(stage)))
    for name in options.metrics or ():
        known(name, every, "--metrics:")
    shown = options.metrics or worth_showing(every)
    timed = "hardware" in options.allow or not differences.other_hardware(base, new)
    seed, count = options.seed, options.replicates
    figures, found = _computed(pairs, shown, options)
    return Comparison(
        comparison_id=_id(base, new, options),
        path=None,
        facts=facts_of(
            base,
            new,
            pairs,
            found,
            options.purpose,
            timed=timed,
            known=known_records(options.calibration),
        )
        | {"seed": seed, "replicates": count},
        deltas=figures,
        transitions=found.transitions,
        latency=latency_deltas(base, new, seed=seed, count=count) if timed else _no_latency(),
        ranks=found.ranks,
        unjudged=found.unjudged,
        whole=found.whole,
        sides=(base, new),
    )


def _computed(pairs: Pairs, shown: Sequence[str], options: Options) -> tuple[pl.DataFrame, Listed]:
    """The differences, and what is told by question: shard by shard where that is too much."""
    seed, count = options.seed, options.replicates
    if not options.poisson and not too_large(pairs):
        return deltas(pairs, shown, seed=seed, count=count), listed(pairs)
    with placed(Placement(), options.where) as executor:
        figures = sharded_deltas(pairs, shown, executor, seed=seed, count=count)
        few = len(pairs.base.ids) <= whole.LISTED
        return figures, listed(pairs) if few else sharded_lists(pairs, executor)


def write_comparison(found: Comparison, runs: str) -> Comparison:
    """Its tables, its summary in Markdown, its page and its facts, below RUNS/comparisons."""
    folder = f"{runs.rstrip('/')}/comparisons/{found.comparison_id}"
    written = Comparison(**{**found.__dict__, "path": folder})
    tables = {name: getattr(written, name) for name in TABLES}
    if "listed" in found.facts:
        tables |= {name: getattr(written.whole, name) for name in COUNTS}
    stated = {}
    for name, table in tables.items():
        data = io.BytesIO()
        table.write_parquet(data, compression="zstd", statistics=False)
        stated[f"{name}.parquet"] = files.put(folder, f"{name}.parquet", data.getvalue())
    text = f"```\n{written}\n```\n"
    stated["comparison.md"] = files.put(folder, "comparison.md", text.encode())
    stated["report.html"] = files.put(folder, "report.html", comparison_page(written))
    files.write_json(f"{folder}/{FACTS}", {**found.facts, "files": stated})
    return written


def load_comparison(name: str, runs: str) -> Comparison:
    """The written comparison of that id, or at that path; its runs lie below `runs`.

    Raises RunError if there is none, or if it is damaged.
    """
    paths = (name.rstrip("/"), f"{runs.rstrip('/')}/comparisons/{name}")
    folder = next((path for path in paths if files.exists(f"{path}/{FACTS}")), None)
    if folder is None:
        raise RunError(
            f"no comparison {name!r}: neither a path nor an id below {runs}/comparisons; "
            f"`rayeval compare RUN --baseline RUN` makes one"
        )
    try:
        facts = files.read_json(f"{folder}/{FACTS}")
        tables = _read(folder, TABLES)
        counts = Whole(**_read(folder, COUNTS)) if "listed" in facts else None
        sides = load(str(facts["base"]), runs), load(str(facts["new"]), runs)
    except (ValueError, KeyError, TypeError, FileNotFoundError, pl.exceptions.PolarsError) as error:
        raise RunError(
            f"the comparison at {folder} is damaged ({error}); `rayeval compare` makes it anew"
        ) from error
    if counts is None:
        slices = sides[1].select("questions", ["question_id", "slices"])
        counts = whole_of(tables["transitions"], tables["ranks"], tables["unjudged"], slices)
    return Comparison(folder.rpartition("/")[2], folder, facts, **tables, whole=counts, sides=sides)


def _read(folder: str, names: Sequence[str]) -> dict[str, pl.DataFrame]:
    return {
        name: pl.read_parquet(io.BytesIO(files.read_bytes(f"{folder}/{name}.parquet")))
        for name in names
    }


def _id(base: Run, new: Run, options: Options) -> str:
    """Readable, and another one for other options."""
    name = f"{new.run_id}_vs_{base.run_id}"
    if replace(options, purpose=None, calibration=(), where=Where()) == Options():
        return name
    stated = [options.shared, sorted(options.allow), options.metrics, options.seed]
    stated += [options.replicates, *(["poisson"] if options.poisson else [])]
    return f"{name}_{hashlib.sha256(json.dumps(stated).encode()).hexdigest()[:16]}"


def _no_latency() -> pl.DataFrame:
    from rayeval.comparison.latency import SCHEMA

    return pl.DataFrame(schema=SCHEMA)


def _plain(value: Any) -> Any:
    return None if isinstance(value, float) and math.isnan(value) else value
