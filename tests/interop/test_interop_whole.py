"""Columns of whole numbers that pandas made floats of, and values that are none, with their rows."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from rayeval.errors import DataError
from rayeval.interop import csv
from rayeval.interop.own import chunks, read

NAN = float("nan")


def texts(path):
    """The texts of every question's hits, in their order."""
    return {
        row["question_id"]: [hit["text"] for hit in row["hits"]]
        for table in read([str(path)]).trace
        for row in table.to_pylist()
    }


def hits(tmp_path, **columns):
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"question_id": ["q1", "q1", "q2"], "text": ["a", "b", "c"], **columns}), path)  # fmt: skip
    return path


def refused(call):
    with pytest.raises(DataError) as error:
        call()
    return [(p.line, p.question_id, p.message) for p in error.value.problems]


def test_whole_numbers_as_floats_are_ranks(tmp_path):
    path = hits(tmp_path, rank=pa.array([2.0, 1.0, None]), repeat=[0.0, 0.0, 0.0])
    assert texts(path) == {"q1": ["b", "a"], "q2": ["c"]}


@pytest.mark.parametrize("name", ["rank", "repeat"])
@pytest.mark.parametrize("value", [1.5, NAN, -3.0, float("inf")])
def test_a_value_that_is_no_whole_number_is_refused_with_its_row(tmp_path, name, value):
    path = hits(tmp_path, **{name: [1.0, value, 1.0]})
    said = f"`{name}` is {value}, expected a whole number of 0 or more"
    assert refused(lambda: texts(path)) == [(2, "q1", said)]


def test_a_rank_below_zero_is_refused(tmp_path):
    said = "`rank` is -3, expected a whole number of 0 or more"
    assert refused(lambda: texts(hits(tmp_path, rank=[5, -3, 1]))) == [(2, "q1", said)]


def test_a_repeat_of_nested_rows_is_refused_with_its_row(tmp_path):
    table = pa.table({"question_id": ["q1", "q2"], "hits": [["a"], ["b"]], "repeat": [0.0, 0.5]})
    pq.write_table(table, tmp_path / "t.parquet")
    said = "`repeat` is 0.5, expected a whole number of 0 or more"
    assert refused(lambda: texts(tmp_path / "t.parquet")) == [(2, "q2", said)]


def test_csv_reads_whole_numbers_as_pandas_writes_them(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("question_id,text,rank,repeat\nq1,a,2.0,0.0\nq1,b,1.00,\nq2,c,,\n")
    [table] = csv.read([str(path)]).trace
    assert [[h["text"] for h in row["hits"]] for row in table.to_pylist()] == [["b", "a"], ["c"]]


@pytest.mark.parametrize("cell", ["1.5", "-1", "nan", "1e3", "."])
def test_csv_refuses_others_with_their_row(tmp_path, cell):
    path = tmp_path / "t.csv"
    path.write_text(f"question_id,text,rank\nq1,a,1\nq1,b,{cell}\n")
    said = f"`rank` is {cell!r}, expected a whole number of 0 or more"
    assert refused(lambda: csv.read([str(path)])) == [(3, "q1", said)]


SPANS = pa.list_(pa.struct([("start_char", pa.float64()), ("end_char", pa.float64())]))


def test_spans_of_floats_are_spans_where_they_are_whole(tmp_path):
    rows = {"chunk_id": ["c1"], "source_id": ["d"], "spans": pa.array([[{"start_char": 0.0, "end_char": 4.0}]], SPANS)}  # fmt: skip
    pq.write_table(pa.table({**rows, "tokens": [3.0]}), tmp_path / "c.parquet")
    [table] = chunks.tables([str(tmp_path / "c.parquet")])
    assert table["spans"].to_pylist() == [[{"start_char": 0, "end_char": 4}]]
    assert table["tokens"].to_pylist() == [3]


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"tokens": [2.5]}, "chunk 'c1': `tokens` is 2.5, expected a whole number of 0 or more"),
        ({"spans": pa.array([[{"start_char": 0.0, "end_char": 1.5}]], SPANS)},
         "chunk 'c1': `end_char` is 1.5, expected a whole number below 2^63"),
    ],
)  # fmt: skip
def test_chunks_of_others_are_named(tmp_path, columns, said):
    rows = {"chunk_id": ["c1"], "source_id": ["d"], "text": ["x"], **columns}
    pq.write_table(pa.table(rows), tmp_path / "c.parquet")
    found = refused(lambda: list(chunks.tables([str(tmp_path / "c.parquet")])))
    assert [message for _, _, message in found] == [said]


def test_every_line_of_chunks_that_is_wrong_is_named(tmp_path):
    path = tmp_path / "c.jsonl"
    every = [[{"start_char": 0, "end_char": 1}], [{"start_char": {}, "end_char": 1}],
             [{"start_char": 0, "end_char": 1}, {"start_char": 1, "end_char": 1.5}],
             [{"start_char": 0}], [7]]  # fmt: skip
    rows = [{"chunk_id": f"c-{n}", "source_id": "d", "spans": spans}
            for n, spans in enumerate(every, 1)]  # fmt: skip
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    found = refused(lambda: list(chunks.tables([str(path)])))
    assert [(line, message) for line, _, message in found] == [
        (2, "chunk 'c-2': `spans[0].start_char` is {}, expected a whole number"),
        (3, "chunk 'c-3': `spans[1].end_char` is 1.5, expected a whole number"),
        (4, "chunk 'c-4': `spans[0].end_char` is None, expected a whole number"),
        (5, "chunk 'c-5': `spans[0]` is 7, expected start_char and end_char"),
    ]
