import math

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter

from rayeval.errors import ConfigError
from rayeval.fuse.fusion import Fuse, Rrf, Weighted, build
from rayeval.tables import FOUND, HITS, TEXT


def batch(**arms):
    """Questions q0, q1, …; per arm a list, per question, of {chunk_id: score} or None."""
    n = len(next(iter(arms.values())))
    columns = {"question_id": pa.array([f"q{i}" for i in range(n)], TEXT)}
    for arm, rows in arms.items():
        listed = [None if row is None else ranked(row) for row in rows]
        columns[arm] = pa.array(listed, HITS)
    return pa.table(columns)


def ranked(scores):
    order = sorted(scores, key=lambda chunk: (-scores[chunk], chunk))
    return [{"chunk_id": chunk, "score": scores[chunk]} for chunk in order]


def fused(config, **arms):
    found = build(config, tuple(arms))(batch(**arms))
    assert found.schema == FOUND
    assert found["error"].null_count == found.num_rows
    return [[(h["chunk_id"], h["score"]) for h in row] for row in found["hits"].to_pylist()]


WORDS, MEANING = {"a": 9.0, "b": 8.0, "c": 7.0}, {"c": 0.9, "a": 0.5}
Z = math.sqrt(1.5)  # of 9 and 7 among 9, 8, 7: mean 8, standard deviation sqrt(2 / 3)


@pytest.mark.parametrize(
    ("config", "want"),
    [
        pytest.param(
            Rrf(),
            [("a", 1 / 61 + 1 / 62), ("c", 1 / 63 + 1 / 61), ("b", 1 / 62)],
            id="reciprocal ranks",
        ),
        pytest.param(
            Rrf(k=0, weights={"dense": 0.5}),
            [("a", 1 + 0.5 / 2), ("c", 1 / 3 + 0.5), ("b", 1 / 2)],
            id="reciprocal ranks, k 0, one weight",
        ),
        pytest.param(
            Rrf(weights={"bm25": 0}), [("c", 1 / 61), ("a", 1 / 62)], id="weight 0 takes no part"
        ),
        pytest.param(Rrf(depth=1), [("a", 1 / 61 + 1 / 62)], id="depth"),
        pytest.param(
            Weighted(weights={"dense": 3}),
            [("c", 0 + 3 * 1.0), ("a", 1.0 + 0), ("b", 0.5)],
            id="min-max, absent is 0",
        ),
        pytest.param(
            Weighted(normalise="z_score"),
            [("a", Z - 1), ("c", -Z + 1), ("b", 0 - 1)],
            id="z-scores, absent is the arm's lowest",
        ),
    ],
)
def test_two_arms_by_hand(config, want):
    (found,) = fused(config, bm25=[WORDS], dense=[MEANING])
    assert [chunk for chunk, _ in found] == [chunk for chunk, _ in want]
    assert [score for _, score in found] == pytest.approx([s for _, s in want], rel=1e-14)


@pytest.mark.parametrize(
    ("config", "each"),
    [
        pytest.param(Weighted(), 1.0, id="min-max: all are best"),
        pytest.param(Weighted(normalise="z_score"), 0.0, id="z-score: all are average"),
    ],
)
@pytest.mark.parametrize("score", [0.1, 0.0, -3.0])
def test_equal_scores(config, each, score):
    (found,) = fused(config, bm25=[{"c": score, "a": score, "b": score}])
    assert found == [("a", each), ("b", each), ("c", each)]


@pytest.mark.parametrize("config", [Rrf(), Weighted(), Weighted(normalise="z_score")])
def test_questions_and_arms_without_hits(config):
    hits = {"a": 2.0, "b": 1.0}
    found = fused(config, bm25=[{}, None, hits, None], dense=[{}, None, None, hits])
    assert found[:2] == [[], []]
    assert found[2] == found[3]
    assert [chunk for chunk, _ in found[2]] == ["a", "b"]
    assert fused(config, bm25=[], dense=[]) == []


def test_ties_by_chunk_id():
    found = fused(Rrf(), bm25=[{"b": 1.0}, {"가": 1.0}], dense=[{"a": 1.0}, {"z": 1.0}])
    assert [[chunk for chunk, _ in row] for row in found] == [["a", "b"], ["z", "가"]]


ROW = st.none() | st.dictionaries(st.sampled_from("abcdef"), st.floats(-5, 5, width=16), max_size=5)
CONFIG = st.one_of(
    st.builds(Rrf, k=st.sampled_from([0, 60]), weights=st.just({"y": 0.3})),
    st.builds(Weighted, normalise=st.sampled_from(["min_max", "z_score"])),
)


def by_hand(config, arms):
    """{chunk_id: score} of one question."""
    union = {chunk for _, row in arms for chunk in row or {}}
    total = dict.fromkeys(union, 0.0)
    for arm, row in arms:
        hits, weight = ranked(row or {}), config.weights.get(arm, 1)
        worth, absent = {}, 0.0
        values = [hit["score"] for hit in hits]
        mean = sum(values) / max(len(values), 1)
        spread = math.sqrt(sum((v - mean) ** 2 for v in values) / max(len(values), 1))
        for rank, hit in enumerate(hits, 1):
            flat = max(values) == min(values)
            if config.kind == "rrf":
                worth[hit["chunk_id"]] = 1 / (config.k + rank)
            elif config.normalise == "min_max":
                width = max(values) - min(values)
                worth[hit["chunk_id"]] = 1 if flat else (hit["score"] - min(values)) / width
            else:
                worth[hit["chunk_id"]] = 0 if flat else (hit["score"] - mean) / spread
                absent = min(worth.values())
        for chunk in union:
            total[chunk] += weight * worth.get(chunk, absent)
    return total


@settings(max_examples=60, deadline=None)
@given(CONFIG, st.lists(st.tuples(ROW, ROW, ROW), max_size=4))
def test_every_question_is_fused_as_if_alone(config, rows):
    columns = dict(zip("xyz", zip(*rows, strict=True), strict=True)) if rows else {"y": []}
    stage, table = build(config, tuple(columns)), batch(**columns)
    whole = stage(table)
    single = [stage(table.slice(n, 1)) for n in range(len(rows))]
    assert (
        pa.concat_tables([FOUND.empty_table(), *single])
        .combine_chunks()
        .equals(whole.combine_chunks())
    )
    for row, hits in zip(rows, whole["hits"].to_pylist(), strict=True):
        want = by_hand(config, list(zip("xyz", row, strict=True)))
        assert {h["chunk_id"]: h["score"] for h in hits} == pytest.approx(want, abs=1e-9)
        assert hits == sorted(hits, key=lambda h: (-h["score"], h["chunk_id"]))


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        pytest.param({"dens": 2}, "did you mean 'dense'", id="a misspelt arm"),
        pytest.param({"bm25": 0, "dense": 0}, "leaves no arm", id="no arm left"),
    ],
)
def test_weights_that_can_t_be_meant(weights, message):
    with pytest.raises(ConfigError, match=message):
        build(Rrf(weights=weights), ("bm25", "dense"))


@pytest.mark.parametrize(
    "wrong",
    [
        {"kind": "rrf", "weights": {"bm25": -1}},
        {"kind": "rrf", "k": -1},
        {"kind": "rrf", "normalise": "min_max"},
        {"kind": "weighted", "normalise": "minmax"},
        {"kind": "weighted", "weights": {"bm25": math.nan}},
        {"kind": "borda"},
    ],
)
def test_settings_out_of_range_are_refused(wrong):
    with pytest.raises(ValueError):
        TypeAdapter(Fuse).validate_python(wrong)
