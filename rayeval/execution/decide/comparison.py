"""A comparison of two runs, and its folder beside them."""

from __future__ import annotations

import hashlib
import io
import json
import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from rayeval import files
from rayeval.comparison import differences
from rayeval.comparison.deltas import deltas
from rayeval.comparison.latency import latency_deltas
from rayeval.comparison.pairs import Pairs, pair
from rayeval.comparison.transitions import counted, transitions
from rayeval.errors import PairingError
from rayeval.execution.runs import Run
from rayeval.report.comparison import comparison_text
from rayeval.report.overview import worth_showing

TABLES = ("deltas", "transitions", "latency")


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
    latency: pl.DataFrame

    def summary(self) -> dict[str, Any]:
        """What `compare --json` prints (DESIGN §12)."""
        whole = self.deltas.filter(pl.col("slice").is_null())
        stages: dict[str, dict[str, dict[str, Any]]] = {}
        for row in whole.iter_rows(named=True):
            kept = {
                name: _plain(row[name]) for name in ("mean", "low", "high", "p", "n", "clusters")
            }
            stages.setdefault(row["stage"], {})[row["metric"]] = kept
        return {
            "comparison_id": self.comparison_id,
            "path": self.path,
            "deltas": stages,
            "transitions": counted(self.transitions),
            **{name: self.facts[name] for name in ("changed", "elsewhere", "warnings")},
        }

    def __str__(self) -> str:
        return comparison_text(self)


def compare_runs(base: Run, new: Run, options: Options) -> Comparison:
    """The differences of `new` from `base`.

    Raises PairingError for runs that can't be compared, unless `options` allow it.
    """
    for kind, why in differences.obstacles(base, new).items():
        if kind not in options.allow:
            raise PairingError(
                f"runs {new.run_id} and {base.run_id} can't be compared: {why}. "
                f"`--allow {kind}` compares them all the same."
            )
    pairs = pair(base, new, shared=options.shared)
    shown = options.metrics or worth_showing([m for s in pairs.stages for m in pairs.metrics(s)])
    timed = "hardware" in options.allow or not differences.other_hardware(base, new)
    seed, count = options.seed, options.replicates
    return Comparison(
        comparison_id=_id(base, new, options),
        path=None,
        facts=_facts(base, new, pairs, options, timed=timed),
        deltas=deltas(pairs, shown, seed=seed, count=count),
        transitions=transitions(pairs),
        latency=latency_deltas(base, new, seed=seed, count=count) if timed else _no_latency(),
    )


def write_comparison(found: Comparison, runs: str) -> Comparison:
    """Its tables, its summary in Markdown and its facts, below RUNS/comparisons."""
    folder = f"{runs.rstrip('/')}/comparisons/{found.comparison_id}"
    written = Comparison(**{**found.__dict__, "path": folder})
    stated = {}
    for name in TABLES:
        data = io.BytesIO()
        getattr(written, name).write_parquet(data, compression="zstd", statistics=False)
        stated[f"{name}.parquet"] = files.put(folder, f"{name}.parquet", data.getvalue())
    text = f"```\n{written}\n```\n"
    stated["comparison.md"] = files.put(folder, "comparison.md", text.encode())
    files.write_json(f"{folder}/comparison.json", {**found.facts, "files": stated})
    return written


def _facts(base: Run, new: Run, pairs: Pairs, options: Options, *, timed: bool) -> dict[str, Any]:
    changed = differences.changed(base, new)
    return {
        "base": base.run_id,
        "new": new.run_id,
        "questions": len(pairs.base.ids),
        "clusters": int(pairs.clusters.max()) + 1,
        "only_base": list(pairs.lost),
        "only_new": list(pairs.added),
        "changed": changed,
        "elsewhere": differences.elsewhere(base, new),
        "warnings": list(_warnings(base, new, pairs, changed, timed=timed)),
        "seed": options.seed,
        "replicates": options.replicates,
    }


def _warnings(
    base: Run, new: Run, pairs: Pairs, changed: Sequence[str], *, timed: bool
) -> list[str]:
    found = []
    parts = sorted(differences.groups(changed))
    if len(parts) > 1:
        found.append(
            f"more than one thing changed ({', '.join(parts)}): the differences can't be laid to "
            "any of them alone"
        )
    if pairs.lost or pairs.added:
        found.append(
            f"compared on {len(pairs.base.ids)} shared questions; {len(pairs.lost)} are only in "
            f"the baseline, {len(pairs.added)} only in the new run"
        )
    if not timed:
        found.append("latency is not compared: the two runs were timed on different hardware")
    found += [f"{why} (compared all the same)" for why in differences.obstacles(base, new).values()]
    return found


def _id(base: Run, new: Run, options: Options) -> str:
    """Readable, and another one for other options."""
    name = f"{new.run_id}_vs_{base.run_id}"
    if options == Options():
        return name
    stated = [options.shared, sorted(options.allow), options.metrics, options.seed]
    stated.append(options.replicates)
    return f"{name}_{hashlib.sha256(json.dumps(stated).encode()).hexdigest()[:16]}"


def _no_latency() -> pl.DataFrame:
    from rayeval.comparison.latency import SCHEMA

    return pl.DataFrame(schema=SCHEMA)


def _plain(value: Any) -> Any:
    return None if isinstance(value, float) and math.isnan(value) else value
