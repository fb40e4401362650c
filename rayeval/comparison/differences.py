"""What differs between two runs, in words, and what forbids comparing them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from rayeval.errors import PairingError
from rayeval.report.tables import Tables

ASIDE = ("name", "environment", "placement", "latency", "golden", "metrics", "judge")
"""Parts of a configuration that don't change what a pipeline finds."""
KINDS = ("golden", "metrics", "tokenizer", "analyzer", "hardware", "judge")
"""What may be allowed to differ on demand."""
ONE_JUDGE = (
    "compare only under one judge, revision and prompt: judge the baseline's stored answers again"
)
FILES = {"trace": "trace", "chunks": "chunk table"}
BY_TOKENS = ("context_tokens", "tokens_per_gold_char")
"""Metrics that count tokens, besides those at a budget such as `recall@1200tok`."""


def settings(base: Tables, new: Tables) -> dict[str, tuple[Any, Any]]:
    """Every setting of the pipeline that differs, by its dotted name: what it was and is."""
    one, other = (run.manifest.get("config") or {} for run in (base, new))
    return {
        name: (was, is_)
        for name, was, is_ in _differing(one, other)
        if name.partition(".")[0] not in ASIDE
        and not name.endswith((".path", ".paths", ".label"))
        and name != "chunks"  # files too, of a scored trace
    }


def changed(base: Tables, new: Tables) -> list[str]:
    """What differs in the pipeline, in words: `chunk.size: 400 → 300`."""
    found = settings(base, new)
    lines = [f"{name}: {_shown(was)} → {_shown(is_)}" for name, (was, is_) in found.items()]
    sides = [run.manifest for run in (base, new)]
    for part, said in (("trace", "its hits are others"), ("chunks", "its file is another")):
        before, after = ((side.get(part) or {}).get("sha256") for side in sides)
        lines += [f"the {FILES[part]}: {said}"] if before != after else []
    before, after = (side["corpus"].get("snapshot") for side in sides)
    return lines + (["the corpus: its documents are others"] if before != after else [])


def elsewhere(base: Tables, new: Tables) -> list[str]:
    """What else differs: code and library versions, in words."""
    lines = []
    commits = [(run.manifest.get("code") or {}).get("commit") for run in (base, new)]
    if commits[0] != commits[1]:
        lines.append(f"code: {_short(commits[0])} → {_short(commits[1])}")
    versions = [run.manifest.get("libraries") or {} for run in (base, new)]
    for name in sorted(versions[0].keys() | versions[1].keys()):
        one, other = (side.get(name, "none") for side in versions)
        if one != other:
            lines.append(f"{name}: {one} → {other}")
    return lines


def refuse(base: Tables, new: Tables, allow: Collection[str]) -> None:
    """Raises PairingError for runs that can't be compared, but for the kinds in `allow`."""
    for kind, why in obstacles(base, new).items():
        if kind not in allow:
            raise PairingError(
                f"runs {new.run_id} and {base.run_id} can't be compared: {why}. "
                f"`--allow {kind}` compares them all the same."
            )


def groups(lines: Sequence[str]) -> set[str]:
    """The parts of the pipeline that the lines of `changed` are about."""
    parts = (line.partition(":")[0].split(".") for line in lines)
    return {".".join(part[:3]) if part[0] == "retrieve" else part[0] for part in parts}


def obstacles(base: Tables, new: Tables) -> dict[str, str]:
    """Why the runs can't be compared, by kind."""
    return dict(_obstacles(base, new))


def other_hardware(base: Tables, new: Tables) -> bool:
    """Whether their latencies come from different machines."""
    kinds = ("machine", "processor", "cores", "memory_gib", "gpus")
    sides = [run.manifest.get("hardware") or {} for run in (base, new)]
    return any(sides[0].get(kind) != sides[1].get(kind) for kind in kinds)


def _obstacles(base: Tables, new: Tables) -> Iterator[tuple[str, str]]:
    before, after = (run.manifest["golden"]["sha256"] for run in (base, new))
    if before != after:
        yield (
            "golden",
            (
                f"the golden set is another version ({before[:12]} → {after[:12]}): "
                "the same question may have other gold"
            ),
        )
    if unlike := "; ".join(_definitions(base, new)):
        yield "metrics", f"the same metric means something else ({unlike})"
    if counted := _counted(base, new):
        yield (
            "tokenizer",
            (
                f"{', '.join(counted[:3])}{', …' if len(counted) > 3 else ''} count tokens, and "
                f"the tokenizer is another ({_tokenizer(base)} → {_tokenizer(new)})"
            ),
        )
    if judges := "; ".join(_judges(base, new)):
        yield "judge", f"the judge is another ({judges}), and its metrics {ONE_JUDGE}"
    if name := _unknown_judge(base, new):
        said = f"both traces have verdicts of {name}, and neither says by which model"
        yield "judge", f"the judge may be another ({said}), and its metrics {ONE_JUDGE}"
    for arm, one, other in _analyzers(base, new):
        yield (
            "analyzer",
            (f"arm {arm} has the same settings, yet its analyzer is another: {one} → {other}"),
        )


def _definitions(base: Tables, new: Tables) -> Iterator[str]:
    """What metrics of the same name don't share; which ones were asked for is no part of that."""
    sides = []
    for run in (base, new):
        config = run.manifest.get("config") or {}
        stated = {**(config.get("metrics") or {}), "convention": config.get("convention")}
        sides.append({key: stated[key] for key in stated if key not in ("names", "cutoffs")})
    for name, was, is_ in _differing(sides[0], sides[1]):
        yield f"{name}: {_shown(was)} → {_shown(is_)}"


def _counted(base: Tables, new: Tables) -> list[str]:
    """Metrics of both runs that count tokens, where the two don't count alike."""
    sides = [run.manifest.get("tokenizer") for run in (base, new)]
    if None in sides or sides[0] == sides[1]:
        return []
    names, others = (run.aggregate.filter(pl.col("n") > 0)["metric"] for run in (base, new))
    shared = names.filter(names.is_in(others.implode())).unique(maintain_order=True)
    return [name for name in shared if name in BY_TOKENS or name.endswith("tok")]


def _tokenizer(run: Tables) -> str:
    """By its settings and version, as far as the two could differ."""
    stated = run.manifest["tokenizer"]
    return " ".join(str(value)[:40] for _, value in sorted(stated.items()))


def _judges(base: Tables, new: Tables) -> Iterator[str]:
    """What differs in the judge that both have; a task that only one of them judges is none."""
    one, other = (run.manifest.get("judge") for run in (base, new))
    if not one or not other:
        return
    prompts = [side["prompts"] for side in (one, other)]
    for name in sorted(one.keys() & other.keys() - {"tasks", "prompts"}):
        if one[name] != other[name]:
            yield f"{name}: {_shown(one[name])} → {_shown(other[name])}"
    for task in sorted(prompts[0].keys() & prompts[1].keys()):
        was, is_ = (side[task] for side in prompts)
        if was["hash"] != is_["hash"]:
            said = (f"{p['name']} {p['version']} ({p['hash'][:12]})" for p in (was, is_))
            yield f"prompt of {task}: {' → '.join(said)}"


def _unknown_judge(base: Tables, new: Tables) -> str | None:
    """Whose verdicts both have, where they came with the traces and nobody can tell it is one."""
    one, other = (run.manifest.get("judge") or {} for run in (base, new))
    same = one.get("origin") and one == other and _trace_of(base) != _trace_of(new)
    return str(one["model"]) if same else None


def _trace_of(run: Tables) -> Any:
    return (run.manifest.get("trace") or {}).get("sha256")


def _analyzers(base: Tables, new: Tables) -> Iterator[tuple[str, str, str]]:
    """Arms that are the same by their settings and not by what analysed them."""
    configs = [_arms(run) for run in (base, new)]
    models = [run.manifest.get("models") or {} for run in (base, new)]
    for arm in sorted(configs[0].keys() & configs[1].keys()):
        same = configs[0][arm] == configs[1][arm] and configs[0][arm].get("kind") == "bm25"
        if same and models[0].get(arm) != models[1].get(arm):
            yield arm, str(models[0].get(arm)), str(models[1].get(arm))


def _arms(run: Tables) -> dict[str, Any]:
    config = run.manifest.get("config") or {}
    return dict((config.get("retrieve") or {}).get("arms") or {})


def _differing(one: Any, other: Any, name: str = "") -> Iterator[tuple[str, Any, Any]]:
    """(dotted name, before, after) of every setting that differs; a part that only one side has
    is one of them."""
    if one == other:
        return
    if not isinstance(one, Mapping) or not isinstance(other, Mapping):
        yield name, one, other
        return
    for key in sorted(one.keys() | other.keys()):
        inside = f"{name}.{key}" if name else str(key)
        yield from _differing(one.get(key), other.get(key), inside)


def _shown(value: Any) -> str:
    if isinstance(value, Mapping):
        return str(value.get("kind", "there"))
    return "none" if value is None else str(value)


def _short(commit: str | None) -> str:
    return commit[:12] if commit else "unknown"
