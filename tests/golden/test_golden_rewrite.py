"""A golden file with one row more, or one changed: all else keeps its bytes."""

import csv
import io
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rayeval.errors import ConfigError, DataError
from rayeval.golden.file import read_golden
from rayeval.golden.rewrite import appended, replaced

BOM = b"\xef\xbb\xbf"
ROW = {"question_id": "새", "question": "😀?", "evidence": [{"source_id": "s", "quote": "가\n나"}]}
LINE = json.dumps(ROW, ensure_ascii=False).encode()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(b"", LINE + b"\n", id="a new file"),
        pytest.param(b'{"question":"a"}\n', b'{"question":"a"}\n' + LINE + b"\n", id="at the end"),
        pytest.param(b'{"question":"a"}', b'{"question":"a"}\n' + LINE + b"\n", id="no line end"),
        pytest.param(b"{}\r\n{}\r\n", b"{}\r\n{}\r\n" + LINE + b"\r\n", id="CRLF stays CRLF"),
        pytest.param(BOM + b"{}\n\n", BOM + b"{}\n\n" + LINE + b"\n", id="BOM and empty line stay"),
    ],
)
def test_json_lines_appended(before, after):
    assert appended(before, "jsonl", ROW) == after


@pytest.mark.parametrize("end", [b"\n", b"\r\n"], ids=["LF", "CRLF"])
@pytest.mark.parametrize("mark", [b"", BOM], ids=["plain", "BOM"])
def test_json_lines_replaced_touches_one_line(mark, end):
    lines = [b'{"question": "a" }', b"", b'{ "question":"b"}', b'{"question":"c\xe2\x80\xa8"}']
    after = mark + end.join([lines[0], b"", LINE, lines[3]])
    assert replaced(mark + end.join(lines), "jsonl", {3: ROW}) == after


def test_csv_keeps_the_bytes_of_other_records():
    before = b'question,quote,source_id\r\n"a ""b""",\'x\',s\r\n\r\n"two\nlines",q,t\r\n'
    row = {"question": "new", "evidence": [{"source_id": "s", "quote": "a,b"}]}
    after = appended(before, "csv", row)
    assert after == before + b'new,"a,b",s\r\n'
    changed = replaced(after, "csv", {2: {"question": "A", "quote": "x", "source_id": "s"}})
    assert changed == after.replace(b'"a ""b""",\'x\',s', b"A,x,s")
    changed = replaced(after, "csv", {4: {"question": "two", "quote": "q"}})
    assert changed == after.replace(b'"two\nlines",q,t', b"two,q,")


def test_csv_without_the_columns_of_a_row_gets_them():
    before = BOM + b"question,answer\na,b\n"
    row = {"question": "c", "reference_answer": "d", "slices": ["x", "y"], "answerable": False}
    after = appended(before, "csv", row)
    assert after == BOM + b"question,answer,slices,answerable\na,b,,\nc,d,x;y,false\n"


def test_csv_evidence_moves_into_a_column_of_its_own():
    before = b"question_id,question,source_id,quote\nq,a,s,x\n"
    items = [{"source_id": "s", "quote": "x"}, {"evidence_id": "e2", "source_id": "t"}]
    after = replaced(before, "csv", {2: {"question_id": "q", "question": "a", "evidence": items}})
    [record] = csv.DictReader(io.StringIO(after.decode()))
    assert (record["source_id"], record["quote"]) == ("", "")
    assert json.loads(record["evidence"]) == items


def test_parquet_gets_columns_and_fields_that_it_lacks(tmp_path):
    path = tmp_path / "g.parquet"
    old = [{"question_id": 0, "question": "a", "evidence": [{"source_id": "s", "quote": "x"}]},
           {"question_id": 1, "question": "b", "evidence": [{"source_id": "t", "quote": "y"}]}]  # fmt: skip
    for row in old:
        row["question_id"] = f"q{row['question_id']}"
    pq.write_table(pa.Table.from_pylist(old), path)
    new = {
        **old[0],
        "evidence": [{"source_id": "s", "start_char": 1, "end_char": 2}],
        "split": "dev",
    }
    path.write_bytes(replaced(path.read_bytes(), "parquet", {1: new}))
    path.write_bytes(appended(path.read_bytes(), "parquet", {"question_id": "q2", "question": "c",
                                                             "answerable": False}))  # fmt: skip
    rows = read_golden(str(path)).rows
    assert list(rows) == ["q0", "q1", "q2"]
    assert rows["q0"][1]["evidence"][0]["start_char"] == 1
    assert rows["q1"][1]["evidence"][0]["quote"] == "y"


def test_parquet_that_cannot_hold_the_row():
    sink = io.BytesIO()
    pq.write_table(pa.table({"question": ["a"], "evidence": ["text"]}), sink)
    with pytest.raises(ConfigError, match="columns can't hold the row"):
        appended(sink.getvalue(), "parquet", ROW)


TEXTS = st.text(st.characters(codec="utf-8"), min_size=1).filter(str.strip)


@settings(max_examples=50)
@given(
    question=TEXTS.filter(lambda t: "\r" not in t and "\n" not in t),
    slices=st.lists(TEXTS, min_size=1, max_size=3),
    quote=TEXTS,
    kind=st.sampled_from(["jsonl", "csv"]),
)
def test_what_is_appended_is_read_back(tmp_path_factory, question, slices, quote, kind):
    path = tmp_path_factory.mktemp("g") / f"g.{kind}"
    path.write_bytes(
        appended(b"", kind, {"question_id": "old", "question": "x", "answerable": False})
    )
    row = {"question_id": "new", "question": question, "slices": slices,
           "evidence": [{"source_id": "s", "quote": quote}, {"source_id": "t", "quote": quote}]}  # fmt: skip
    path.write_bytes(appended(path.read_bytes(), kind, row))
    try:
        golden = read_golden(str(path))
    except DataError as error:  # a slice's name may be one that rayeval fills by itself
        assert {problem.kind for problem in error.problems} <= {"reserved_slice"}
        return
    found = golden.rows["new"][1]
    assert {name: found[name] for name in row} == row


@pytest.mark.parametrize("change", ["", "another"], ids=["gone", "moved down"])
def test_a_row_that_moved_meanwhile_is_not_written_over(tmp_path, change):
    """Somebody edits the file while another grades: no other question's row may be lost."""
    path = tmp_path / "g.jsonl"
    row = {"question_id": "q", "question": "?", "answerable": False}
    path.write_text(json.dumps(row) + "\n")
    golden = read_golden(str(path))
    above = json.dumps({**row, "question_id": "new"}) + "\n"
    path.write_text(above + (json.dumps(row) + "\n" if change else ""))
    before = path.read_bytes()
    with pytest.raises(DataError, match="changed since it was read"):
        golden.replace({"q": {**row, "question": "!"}})
    assert path.read_bytes() == before
