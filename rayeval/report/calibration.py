"""What a calibration says in the terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import RenderableType
from rich.text import Text

from rayeval.report.annotators import interval, people_parts
from rayeval.report.terminal import headed, listed, rendered, titled
from rayeval.words import plural

SAID = {
    "agreement": "raw agreement",
    "kappa": "Cohen's κ",
    "kappa_linear": "Cohen's κ, linear",
    "kappa_quadratic": "Cohen's κ, quadratic",
    "alpha": "Krippendorff's α",
    "alpha_nominal": "Krippendorff's α, nominal",
    "sensitivity": "sensitivity",
    "specificity": "specificity",
}
PROBES = {
    "again": "the same once more",
    "position": "lists the other way round",
    "verbosity": "everything said twice",
}
SHOWN = 10


def calibration_text(found: Mapping[str, Any]) -> str:
    """Figures with intervals, confusion, people with one another, slices, what was left out."""
    items, clusters = plural(found["n"], "item"), plural(found["clusters"], "cluster")
    table = headed("judge with people", "value", "95% interval")
    for name, said in SAID.items():
        if found[name] is None:
            table.row(said, "undefined", found["undefined"][name])
        else:
            table.row(said, f"{found[name]:.4f}", _limits(found, name))
    parts: list[RenderableType] = [titled(f"Calibration over {items} in {clusters}", table)]
    if found["positive"] is not None:
        human, judge = found["prevalence_human"], found["prevalence_judge"]
        if human is not None and judge is not None:
            more = " or more" if found["ordinal"] else ""
            said = f"positive is {found['positive']}{more}: {human:.1%} of people's labels, "
            parts.append(Text(said + f"{judge:.1%} of the judge's"))
    parts += [_confusion(found), *people_parts(found), *_slices(found)]
    parts += _corrected(found)
    parts += [*_probes(found), *_authors(found)]
    parts += _left_out(found)
    return rendered(parts)


def _corrected(found: Mapping[str, Any]) -> list[RenderableType]:
    """What a run's judge says of all its items, and what it comes to with people's labels."""
    both = found.get("corrected")
    if both is None:
        return []
    table = headed(f"{both['metric']} at answer", "value", "95% interval")
    table.row("the judge, as it is", _figure(both["judge"]), "")
    for key, said in (("labels", "people's labels alone"), ("ppi", "both (PPI++)")):
        one = both[key]
        limits = None if one["low"] is None else [one["low"], one["high"]]
        table.row(said, _figure(one["value"]), interval(limits))
    said = f"{both['labelled']:,} of {both['n']:,} verdicts are labelled; λ {both['tuning']:.2f}"
    return [titled("In the run", table), Text(said)]


def _probes(found: Mapping[str, Any]) -> list[RenderableType]:
    """Verdicts that became others though nothing had changed that counts."""
    if "probes" not in found:
        return []
    table = headed("asked again", "verdicts", "flipped", "95% interval", "up", "down", "no verdict")
    for kind, one in found["probes"].items():
        rate = "–" if not one["n"] else f"{one['flips'] / one['n']:.1%}"
        counts = (f"{one[name]:,}" for name in ("better", "worse", "lost"))
        table.row(PROBES[kind], f"{one['n']:,}", rate, interval(one["limits"]), *counts)
    return [titled("Probes: verdicts that should have stayed", table)]


def _authors(found: Mapping[str, Any]) -> list[RenderableType]:
    """Whose answers the judge likes better than people do."""
    if "authors" not in found:
        return []
    table = headed("author", "items", "people", "judge", "judge − people")
    for name, one in found["authors"].items():
        shares = (f"{one['people']:.1%}", f"{one['judge']:.1%}", f"{one['excess']:+.1%}")
        table.row(name, f"{one['n']:,}", *shares)
    parts: list[RenderableType] = [titled("Positive by author", table)]
    own = found.get("self_preference")
    if own is not None and own["value"] is not None:
        limits = None if own["low"] is None else [own["low"], own["high"]]
        verdict = {True: "it prefers its own", False: "no preference is shown", None: "too little"}
        said = f"what it has over for itself: {own['value']:+.3f} {interval(limits)}"
        parts.append(Text(f"{said}: {verdict[own['flagged']]}"))
    return parts


def _limits(found: Mapping[str, Any], name: str) -> str:
    """Of a figure that is defined; why there is none where there is none."""
    limits = found["intervals"][name]
    if limits is not None:
        return interval(limits)
    one = found["clusters"] < 2
    return "none: all items are in one cluster" if one else "none: undefined in many draws"


def _confusion(found: Mapping[str, Any]) -> RenderableType:
    table = headed("people ↓ judge →", *found["scale"])
    for label, counts in found["confusion"].items():
        table.row(label, *(f"{counts[other]:,}" for other in found["scale"]))
    weighed = " (labels counted; the figures weigh each by one over its chance)"
    return titled("Confusion" + (weighed if found["weighed"] else ""), table)


def _slices(found: Mapping[str, Any]) -> list[RenderableType]:
    if not found["slices"]:
        return []
    table = headed("slice", "items", "agreement", "κ", "κ quadratic", "α")
    for name, part in found["slices"].items():
        figures = ("agreement", "kappa", "kappa_quadratic", "alpha")
        table.row(name, f"{part['n']:,}", *(_figure(part[figure]) for figure in figures))
    return [titled("By slice", table)]


def _left_out(found: Mapping[str, Any]) -> list[RenderableType]:
    lines = []
    for key, noun, said in (
        ("n_human_only", "item", " that only people labelled"),
        ("n_judge_only", "item", " that only the judge labelled"),
        ("n_unlabelled", "row", " without a label"),
        ("n_left_out", "item", " left out: a label off the scale, or people who are at odds"),
    ):
        if found[key]:
            lines.append(plural(found[key], noun) + said)
    strange = found["out_of_scale"]
    if strange:
        some = ", ".join(f"{one['item_id']}: {one['label']}" for one in strange[:SHOWN])
        scale = ", ".join(found["scale"])
        lines.append(f"{plural(len(strange), 'label')} off the scale {scale}: {some}")
    if found["n_off_scale"]:
        strict = f"would be {found['agreement_strict']:.4f}; if it is a label, name it in --scale"
        items = plural(found["n_off_scale"], "item")
        lines.append(
            f"{items} with such a label of the judge: as disagreements, agreement {strict}"
        )
    return [listed("Not in the figures", lines)] if lines else []


def _figure(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"
