"""Every row comes back, as a result or as an error (law 2)."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rayeval.errors import ConfigError, RowError
from rayeval.execution.calls import aligned, errors_of, flat, gathered
from rayeval.tables import FOUND, HITS

IDS = ("question_id",)
SCHEMA = pa.schema([("question_id", pa.large_string()), ("y", pa.int64()),
                    ("error", pa.large_string())])  # fmt: skip


def batch(values, **more) -> pa.Table:
    ids = pa.array([f"q{n}" for n in range(len(values))], pa.large_string())
    return pa.table({"question_id": ids, "x": pa.array(values, pa.int64()), **more})


class Squares:
    """Fails on sevens, whoever shares their batch."""

    def __call__(self, table: pa.Table) -> pa.Table:
        values = table["x"].to_pylist()
        if 7 in values:
            raise ValueError("a seven")
        return pa.table({"y": pa.array([v * v for v in values], pa.int64())})


@given(st.lists(st.integers(0, 9), max_size=40), st.integers(1, 50))
def test_rows_keep_their_place_and_only_those_at_fault_fail(values, size):
    table = aligned(Squares(), batch(values), size, SCHEMA)
    assert table["question_id"].to_pylist() == [f"q{n}" for n in range(len(values))]
    assert table["y"].to_pylist() == [None if v == 7 else v * v for v in values]
    assert errors_of(table) == [
        (f"q{n}", "unexpected ValueError: a seven") for n, v in enumerate(values) if v == 7
    ]


def test_upstream_errors_are_passed_on_and_the_stage_is_not_asked():
    table = batch([7, 2], **{"bm25.error": pa.array(["no index", None], pa.large_string())})
    assert aligned(Squares(), table, 8, SCHEMA)["error"].to_pylist() == [
        "upstream bm25: no index", None,
    ]  # fmt: skip
    again = table.rename_columns(["question_id", "x", "fused.error"])
    again = again.set_column(2, "fused.error", pa.array(["upstream bm25: no index", None]))
    assert aligned(Squares(), again, 8, SCHEMA)["error"][0].as_py() == "upstream bm25: no index"


def test_rows_outside_the_sample_are_neither_run_nor_errors():
    table = aligned(Squares(), batch([7, 2], sampled=pa.array([False, True])), 8, SCHEMA)
    assert (table["y"].to_pylist(), table["error"].to_pylist()) == ([None, 4], [None, None])


def test_errors_of_the_whole_run_are_not_rows():
    def misconfigured(table):
        raise ConfigError("no such model")

    with pytest.raises(ConfigError):
        aligned(misconfigured, batch([1]), 8, SCHEMA)


def test_a_flat_stage_lists_the_rows_that_failed():
    schema = pa.schema([("y", pa.int64())])
    table, errors = flat(Squares(), batch([1, 7, 3]), 2, schema)
    assert table["y"].to_pylist() == [1, 9]
    assert [row for row, _ in errors] == ["q1"]


@pytest.mark.parametrize(
    ("hits", "says"),
    [
        pytest.param([("a", 1.0), ("a", 0.5)], "chunk a more than once", id="a chunk twice"),
        pytest.param([("a", float("nan"))], "chunk a is not a finite number", id="NaN"),
        pytest.param([("a", float("inf"))], "chunk a is not a finite number", id="infinite"),
        pytest.param([("a", None)], "chunk a is not a finite number", id="no score"),
    ],
)
def test_unsound_hits_are_that_rows_error(hits, says):
    def search(table):
        good = [{"chunk_id": "b", "score": 1.0}]
        bad = [{"chunk_id": chunk, "score": score} for chunk, score in hits]
        rows = [bad if x == 7 else good for x in table["x"].to_pylist()]
        return pa.table({"hits": pa.array(rows, HITS)})

    table = aligned(search, batch([1, 7, 2]), 8, FOUND)
    assert [error and says in error for error in table["error"].to_pylist()] == [None, True, None]
    assert table["hits"].is_valid().to_pylist() == [True, False, True]


def test_a_row_that_failed_on_one_shard_is_an_error():
    class Sum:
        def gather(self, parts):
            return pa.table({"y": parts[0]["y"]})

    def shard(table):
        if 3 in table["x"].to_pylist():
            raise RowError("not on this shard")
        return pa.table({"y": table["x"]})

    asked = batch([1, 3])
    answers = [aligned(Squares(), asked, 8, SCHEMA), aligned(shard, asked, 8, SCHEMA)]
    table = gathered(Sum(), asked, answers, SCHEMA)
    assert table["y"].to_pylist() == [1, None]
    assert table["error"].to_pylist() == [None, "not on this shard"]
