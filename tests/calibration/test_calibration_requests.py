"""Distinct requests, drawn and weighed, say what all verdicts say: by simulation."""

import numpy as np
import polars as pl
import pytest

from rayeval.calibration.corrected import corrected
from rayeval.calibration.items import SCHEMA, scale_of
from rayeval.calibration.labels import pair_labels
from rayeval.calibration.requests import Mark, drawn_of, judged, requests_of, weighed
from rayeval.interop import labels

SETS = 200


def population(rng):
    """40 questions of 3 claims; what many repeats say is mostly true. The judge errs, and says of
    the same thing now this and now that. → items, and request → people's label."""
    rows, truth = [], {}
    for question in range(40):
        for claim in range(3):
            copies = int(rng.integers(1, 6))
            name = f"support/q{question}/{claim}"
            true = rng.random() < (0.95 if copies > 3 else 0.3)
            truth[name] = "supported" if true else "not_in_context"
            for repeat in range(copies):
                said = true if rng.random() < 0.8 else not true
                rows.append(
                    {"item_id": f"support/q{question}/answer/{repeat}/{claim}", "request": name,
                     "question_id": f"q{question}", "text": f"{claim}", "chunks": ["c"],
                     "verdict": "supported" if said else "not_in_context", "variant": "answer",
                     "repeat": repeat, "cluster": f"q{question}"}
                )  # fmt: skip
    return pl.DataFrame(rows, schema=SCHEMA).sort("item_id"), truth


def labelled(drawn, truth):
    rows = [{"item_id": name, "label": truth[name], "sample": "s"} for name in drawn["item_id"]]
    return pl.DataFrame([dict.fromkeys(labels.SCHEMA) | row for row in rows], schema=labels.SCHEMA)


def test_estimates_from_distinct_requests_are_those_of_all_verdicts():
    rng = np.random.default_rng(11)
    items, truth = population(rng)
    per_query = pl.DataFrame(
        {"question_id": items["question_id"].unique(), "stage": "answer", "faithfulness": 1.0}
    )
    said = items["request"].replace_strict(truth)
    tries = items.group_by("question_id").agg(tries=pl.col("repeat").n_unique())
    part = 1 / (40 * pl.col("tries") * pl.len().over("question_id", "repeat"))
    parts = items.join(tries, on="question_id", maintain_order="left").select(part=part)["part"]
    want = float((parts * (said == "supported")).sum())
    agreement = float((said == items["verdict"]).mean())
    found = []
    for seed in range(SETS):
        drawn = drawn_of(items, "support", 40, seed=seed)
        assert drawn["item_id"].is_unique().all()
        chances = drawn.select("item_id", sample=pl.lit("s"), chance="inclusion_probability")
        people = weighed(labelled(drawn, truth), items, chances)
        paired = pair_labels(people, judged(items, people), scale_of("support"))
        both = corrected(items, per_query, per_query, paired, "support")
        same = paired.human == paired.judge
        found.append(
            (both["labels"]["value"], both["ppi"]["value"], np.average(same, weights=paired.weights),
             same.mean(), both["labels"]["low"] <= want <= both["labels"]["high"])
        )  # fmt: skip
    people, both, alike, plain, held = np.mean(found, axis=0)
    assert people == pytest.approx(want, abs=0.015)
    assert both == pytest.approx(want, abs=0.015)
    assert alike == pytest.approx(agreement, abs=0.02)
    assert abs(plain - agreement) > 0.05  # what is drawn more often, and once, is not all
    assert held > 0.9


def test_a_request_stands_for_its_verdicts_whatever_their_order():
    items, _ = population(np.random.default_rng(3))
    asked = requests_of(items)
    assert asked["copies"].sum() == items.height
    assert asked.height == items["request"].n_unique() == 120
    assert requests_of(items.sample(fraction=1, shuffle=True, seed=1)).equals(asked)


def test_a_mark_says_which_draw_it_was():
    items, _ = population(np.random.default_rng(3))
    drawn = drawn_of(items, "support", 40, seed=-1)
    mark = Mark.of("2026/a run", 40, -1, ("a/b", "표+수"), drawn)
    assert Mark.read(f" {mark} ") == mark
    assert (
        Mark.of("2026/a run", 40, -1, mark.by, drawn.with_columns(inclusion_probability=0.5))
        != mark
    )
    assert "2026" not in str(mark)  # a run's name may say whose answers people label
    assert Mark.read("40/x/1//abc") is Mark.read("abc") is None
