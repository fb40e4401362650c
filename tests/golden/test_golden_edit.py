"""A golden set's file with some rows changed: every other row keeps its bytes."""

from __future__ import annotations

import io

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from rayeval.golden.moved import Move, moved
from rayeval.golden.rewrite import rewritten


def on_line(wanted: int, **fields):
    return lambda line, row: {**row, **fields} if line == wanted else None


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(
            b'{"question":  "a"}\n{"question":"b"}\n',
            b'{"question":  "a"}\n{"question": "b", "split": "dev"}\n', id="the others' spaces",
        ),
        pytest.param(
            b'\xef\xbb\xbf{"question":"a"}\r\n{"question":"b"}\r\n',
            b'\xef\xbb\xbf{"question":"a"}\r\n{"question": "b", "split": "dev"}\r\n',
            id="U+FEFF and CRLF",
        ),
        pytest.param(
            '{}\n{"question":"한😀"}'.encode(),
            '{}\n{"question": "한😀", "split": "dev"}'.encode(), id="letters, no last line end",
        ),
        pytest.param(b"\n\n", b"\n\n", id="empty lines"),
    ],
)  # fmt: skip
def test_json_lines(before, after):
    assert rewritten(before, "jsonl", on_line(2, split="dev")) == after


@pytest.mark.parametrize(
    ("before", "after", "line"),
    [
        pytest.param(
            b'question,split\n"a",train\nb,train\n', b'question,split\n"a",train\nb,dev\n', 3,
            id="one cell",
        ),
        pytest.param(
            b'question\r\n"a, ""b"""\r\nc\r\n',
            b'question,split\r\n"a, ""b""",\r\nc,dev\r\n', 3, id="a new column, CRLF",
        ),
        pytest.param(
            b'\xef\xbb\xbfquestion,split\n"a\nb",\n\nc,\n',
            b'\xef\xbb\xbfquestion,split\n"a\nb",\n\nc,dev\n', 5,
            id="a cell of two lines, an empty line, U+FEFF",
        ),
        pytest.param(
            b"question,start_char,split\na,007,\n", b"question,start_char,split\na,007,dev\n", 2,
            id="a number stays as it was written",
        ),
    ],
)  # fmt: skip
def test_csv(before, after, line):
    assert rewritten(before, "csv", on_line(line, split="dev")) == after


def parquet(table: pa.Table) -> bytes:
    sink = io.BytesIO()
    pq.write_table(table, sink)
    return sink.getvalue()


def test_parquet_keeps_types_and_takes_new_columns():
    table = pa.table({"question": pa.array(["a", "b"]), "start_char": pa.array([1, 2], pa.int32())})
    data = rewritten(parquet(table), "parquet", on_line(2, start_char=5, split="dev"))
    found = pq.read_table(io.BytesIO(data))
    assert found.schema.field("start_char").type == pa.int32()
    assert found.to_pylist() == [
        {"question": "a", "start_char": 1, "split": None},
        {"question": "b", "start_char": 5, "split": "dev"},
    ]


def test_parquet_evidence_takes_fields_that_it_had_no_room_for():
    table = pa.table({"question": ["a"], "evidence": [[{"source_id": "s", "quote": "q"}]]})
    moves = {"e1": Move([(3, 4)], "Q", "r1")}
    data = rewritten(parquet(table), "parquet", lambda line, row: moved(row, moves))
    assert pq.read_table(io.BytesIO(data)).to_pylist()[0]["evidence"] == [
        {"source_id": "s", "quote": "Q", "start_char": 3, "end_char": 4}
    ]


@pytest.mark.parametrize(
    ("row", "name", "want"),
    [
        pytest.param(
            {"source_id": "s", "start_char": 1, "end_char": 2},
            "e1", {"source_id": "s", "start_char": 3, "end_char": 4}, id="the row's own place",
        ),
        pytest.param(
            {"evidence": [{"quote": "x"}, {"evidence_id": "b", "start_char": 1, "end_char": 2,
                                           "quote": "y", "revision_id": "r0"}]},
            "b", {"evidence": [{"quote": "x"}, {"evidence_id": "b", "start_char": 3, "end_char": 4,
                                                "quote": "Q", "revision_id": "r1"}]},
            id="by its id, with quote and revision",
        ),
        pytest.param(
            {"evidence": [{"quote": "x"}, {"spans": [{"start_char": 1, "end_char": 2}]}]},
            "e2", {"evidence": [{"quote": "x"}, {"spans": [{"start_char": 3, "end_char": 4}]}]},
            id="by its number, as spans",
        ),
    ],
)  # fmt: skip
def test_moved(row, name, want):
    before = str(row)
    assert moved(row, {name: Move([(3, 4)], "Q", "r1")}) == want
    assert str(row) == before
