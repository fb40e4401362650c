"""JSON Lines, CSV and Parquet: the same questions, and files that are broken."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rayeval.errors import ConfigError
from rayeval.golden.load import load_questions

BOM = b"\xef\xbb\xbf"


def parquet(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink)
    return sink.getvalue().to_pybytes()


def kinds(problems):
    return [(p.kind, p.line) for p in problems]


def without_lines(table):
    return table.drop_columns(["file", "line"])


ROWS = [
    {"question": "며칠?", "answer": "5일", "quote": "5일이 걸린다"},
    {"question": "Who, \"exactly\"?\nAnd when?", "answer": "HR", "quote": "ask HR"},
    {"question": "Never said?", "answerable": False},
]  # fmt: skip
COLUMNS = pa.schema(
    [(name, pa.string()) for name in ("question", "answer", "quote")] + [("answerable", pa.bool_())]
)
CSV = """question,answer,quote,answerable
며칠?,5일,5일이 걸린다,
"Who, ""exactly""?
And when?",HR,ask HR,yes

Never said?,,,No
"""


def test_the_simplest_shape_is_the_same_in_every_format(load):
    want, problems = load(*ROWS)
    assert problems == []
    for name, data in {
        "g.csv": CSV.encode(),
        "bom.csv": BOM + CSV.replace("\n", "\r\n").encode(),
        "g.parquet": parquet(pa.Table.from_pylist(ROWS, schema=COLUMNS)),
        "bom.jsonl": BOM + "\r\n".join(map(json.dumps, ROWS)).encode(),
    }.items():
        table, problems = load(data, name=name)
        assert problems == [], name
        got = table.to_pylist()
        for row, wanted in zip(got, want.to_pylist(), strict=True):
            row["question"] = row["question"].replace("\r\n", "\n")
            assert {**row, "question_id": "", "line": 0, "file": ""} == {
                **wanted, "question_id": "", "line": 0, "file": ""
            }  # fmt: skip


def test_csv_lines_are_those_where_records_begin(load):
    table, _ = load(CSV.encode(), name="g.csv")
    assert sorted(table["line"].to_pylist()) == [2, 3, 6]


def test_csv_cells_hold_what_json_would(load):
    evidence = [{"source_id": "a.md", "quote": "x"}]
    cells = [
        "q", "Why?", json.dumps(evidence).replace('"', '""'), "a; b", '[""p""]', "TRUE", "2026-08-01",
    ]  # fmt: skip
    header = "question_id,question,evidence,slices,principals,validated,asked_at"
    record = ",".join(f'"{cell}"' for cell in cells)
    table, problems = load(f"{header}\n{record}\n".encode(), name="g.csv")
    row = table.to_pylist()[0]
    assert problems == []
    assert row["evidence"][0]["source_id"] == "a.md"
    assert (row["slices"], row["principals"], row["validated"]) == (["a", "b"], ["p"], True)
    assert row["asked_at"] == datetime(2026, 8, 1, tzinfo=UTC)


def test_one_location_in_csv_columns(load):
    header = (
        "question,source_id,revision_id,start_char,end_char,quote,page,relevance,cell,element_id"
    )
    data = f"{header}\nWhy?,a.md,r1,3,5.0,,7,2,,\n"
    table, problems = load(data.encode(), name="g.csv")
    (evidence,) = table["evidence"].to_pylist()[0]
    assert problems == []
    assert {k: v for k, v in evidence.items() if v} == {
        "evidence_id": "e1", "group_id": "e1", "source_id": "a.md", "revision_id": "r1",
        "spans": [{"start_char": 3, "end_char": 5}], "page": 7, "relevance": 2,
    }  # fmt: skip


CSV_PROBLEMS = [
    pytest.param("question,quotte\nWhy?,x\n", [("unknown_field", 1), ("answerable_without_evidence", 2)], id="unknown column"),
    pytest.param("querstion,quote\nWhy?,x\n", [("unknown_field", 1), ("missing_field", 1)], id="no question"),
    pytest.param("question,quote,quote\nWhy?,x,y\n", [("field_twice", 1)], id="column twice"),
    pytest.param("question,quote\nWhy?,x,y\nHow?\n", [("invalid_csv", 2), ("invalid_csv", 3)], id="cells and columns"),
    pytest.param("question;quote\nWhy?;x\n", [("invalid_csv", 1)], id="semicolons"),
    pytest.param("question\tquote\nWhy?\tx\n", [("invalid_csv", 1)], id="tabs"),
    pytest.param('question,quote\n"a"b,x\nWhy?,"x\n', [("invalid_csv", 2), ("invalid_csv", 3)], id="quotes"),
    pytest.param("question,quote,relevance\nWhy?,x,high\n", [("wrong_type", 2)], id="not a number"),
    pytest.param("question,quote,answerable\nWhy?,x,maybe\n", [("wrong_type", 2)], id="not true or false"),
    pytest.param("question,evidence\nWhy?,a.md\n", [("invalid_json", 2)], id="not JSON"),
    pytest.param("question,quote\n", [("empty_golden_set", None)], id="only a header"),
    pytest.param("", [("empty_golden_set", None)], id="nothing"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "want"), CSV_PROBLEMS)
def test_csv_problems(load, text, want):
    assert kinds(load(text.encode(), name="g.csv")[1]) == want


def test_csv_bytes_that_are_not_utf8(load):
    data = BOM + b"question,quote\nWhy?,x\nHow\xff?,y\nWho?,\xe9\xe8\n"
    table, problems = load(data, name="g.csv")
    assert kinds(problems) == [("not_utf8", 3), ("not_utf8", 4)]
    assert "0xff at offset 28 " in problems[0].message
    assert data[28] == 0xFF
    assert table["question"].to_pylist() == ["Why?"]


@pytest.mark.parametrize("name", ["g.csv", "g.jsonl"])
@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_a_file_in_utf_16_is_one_problem(load, name, encoding):
    table, problems = load(("\ufeff" + CSV).encode(encoding), name=name)
    assert (table.num_rows, kinds(problems)) == (0, [("not_utf8", 1)])


def test_json_lines_that_are_not_utf8(load):
    data = b'{"question":"Why?","quote":"x"}\n{"question":"\xff"}\n{"question":"\xed\xa0\x80"}\n{"question":"How?","quote":"y"}'
    table, problems = load(data)
    assert kinds(problems) == [("not_utf8", 2), ("not_utf8", 3)]
    assert f"offset {data.index(0xFF)} " in problems[0].message
    assert f"offset {data.index(0xED)} " in problems[1].message
    assert table.num_rows == 2


@pytest.mark.parametrize(
    ("line", "kind", "found"),
    [
        pytest.param(r'{"question": "\ud800", "quote": "x"}', "lone_surrogate", "`question` holds U+D800", id="lone"),
        pytest.param(r'{"evidence": [{"quote": "ab\uDC00"}]}', "lone_surrogate", "`evidence[0].quote` holds U+DC00 at character 2", id="nested"),
        pytest.param(r'{"\udfff": 1}', "lone_surrogate", "U+DFFF", id="a field's name"),
        pytest.param('{"question": ', "invalid_json", "Expecting value", id="cut off"),
        pytest.param("{'question': 1}", "invalid_json", "double quotes", id="single quotes"),
        pytest.param("[" * 100_000, "invalid_json", "deeply", id="nested without end"),
        pytest.param('{"page": ' + "1" * 5000 + "}", "invalid_json", "digits", id="a number without end"),
    ],
)  # fmt: skip
def test_json_that_cannot_be_read(load, line, kind, found):
    table, problems = load(f'{line}\n{{"question": "Why?", "quote": "x"}}\n'.encode())
    assert kinds(problems) == [(kind, 1)]
    assert found in problems[0].message
    assert table.num_rows == 1


def test_a_whole_pair_and_odd_line_separators_are_text(load):
    question = "\\ud83d\\ude00\u2028\u0085?"
    table, problems = load(f'{{"question": "{question}", "quote": "x"}}\n'.encode())
    assert problems == []
    assert table["question"].to_pylist() == ["😀\u2028\u0085?"]


def test_parquet_in_the_types_that_tools_write(load):
    table = pa.table({
        "question_id": pa.array(["a", "b"]).dictionary_encode(),
        "question": pa.array(["Why?", "How?"], pa.large_string()),
        "source_id": ["a.md", None],
        "start_char": pa.array([1.0, None]),
        "end_char": pa.array([2, None], pa.int32()),
        "answerable": [None, False],
        "asked_at": pa.array([10**18 + 1, None], pa.timestamp("ns")),
    })  # fmt: skip
    got, problems = load(parquet(table), name="g.parquet")
    assert problems == []
    rows = got.to_pylist()
    assert rows[0]["evidence"][0]["spans"] == [{"start_char": 1, "end_char": 2}]
    assert rows[0]["asked_at"] == datetime(2001, 9, 9, 1, 46, 40, tzinfo=UTC)
    assert [row["line"] for row in rows] == [1, 2]


@pytest.mark.parametrize(
    ("data", "want"),
    [
        pytest.param(parquet(pa.table({"question": ["Why?"], "quote": ["x"], "relevence": [1]})), [("unknown_field", None)], id="unknown column"),
        pytest.param(parquet(pa.table({"quote": ["x"]})), [("missing_field", None)], id="no question"),
        pytest.param(parquet(pa.table({"question": [1], "quote": ["x"]})), [("wrong_type", 1)], id="numbers as questions"),
        pytest.param(parquet(pa.table({"question": pa.array([], pa.string())})), [("empty_golden_set", None)], id="no rows"),
        pytest.param(parquet(pa.table({"question": ["Why?"]}))[:60], [("unreadable_file", None)], id="cut off"),
        pytest.param(b"question\nWhy?\n", [("unreadable_file", None)], id="not Parquet"),
    ],
)  # fmt: skip
def test_parquet_problems(load, data, want):
    assert kinds(load(data, name="g.parquet")[1]) == want


def test_parquet_text_that_is_not_utf8(load):
    buffers = pa.array([b"Why?", b"\xff", b"How?"]).buffers()
    questions = pa.Array.from_buffers(pa.string(), 3, buffers)
    table, problems = load(
        parquet(pa.table({"question": questions, "quote": ["x"] * 3})), name="g.parquet"
    )
    assert kinds(problems) == [("not_utf8", 2)]
    assert sorted(table["line"].to_pylist()) == [1, 3]


def test_a_file_that_is_not_there(tmp_path):
    assert kinds(load_questions(str(tmp_path / "no.jsonl"))[1]) == [("missing_file", None)]
    assert kinds(load_questions(str(tmp_path), "csv")[1]) == [("missing_file", None)]


def test_a_format_that_nobody_knows(tmp_path):
    with pytest.raises(ConfigError, match=r"'\.xlsx', expected one of \.jsonl"):
        load_questions(str(tmp_path / "golden.xlsx"))
    with pytest.raises(ConfigError, match="nowhere"):
        load_questions("nowhere://bucket/golden.jsonl")


def test_a_named_format_goes_before_the_extension(load):
    table, problems = load(b"question,quote\nWhy?,x\n", name="g.txt", kind="csv")
    assert (table.num_rows, problems) == (1, [])


def test_a_uri(load, tmp_path):
    load(*ROWS)
    table, problems = load_questions(f"file://{tmp_path}/golden.jsonl")
    assert (table.num_rows, problems) == (3, [])


def test_order_in_the_file_is_no_matter(load):
    rows = [{"question": f"q{n}", "quote": "x"} for n in range(50)]
    table, _ = load(*rows)
    other, _ = load(*reversed(rows))
    assert without_lines(table).equals(without_lines(other))


FIELDS = st.sampled_from([
    "question_id", "question", "history", "answerable", "answer", "evidence", "evidence_groups", "slices",
    "origin", "created_from", "split", "asked_at", "label_version", "group_id", "alternatives", "content",
    "evidence_id", "source_id", "quote", "spans", "start_char", "end_char", "page", "bbox", "relevance",
])  # fmt: skip
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
    | st.sampled_from(["q", "e1", "2026-08-01", "log", "dev", "", "\ud800"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(FIELDS | st.text(max_size=3), inner, max_size=4),
    max_leaves=12,
)  # fmt: skip
ROW = st.fixed_dictionaries(
    {}, optional={
        "question": JSON | st.text(max_size=3), "evidence": st.lists(JSON, max_size=3) | JSON,
        "evidence_groups": st.lists(JSON, max_size=2), "history": JSON, "asked_at": JSON,
        "quote": JSON, "source_id": JSON, "start_char": JSON, "question_id": JSON, "label_version": JSON,
    },
)  # fmt: skip


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=150, deadline=None
)
@given(st.lists(ROW | JSON, max_size=4))
def test_no_value_is_too_odd_to_be_judged(load, rows):
    table, problems = load("\n".join(map(json.dumps, rows)).encode())
    assert table.num_rows <= len(rows)
    assert len(problems) > 0 or table.num_rows == len(rows)
    str(problems).encode()


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=100, deadline=None
)
@given(st.binary(max_size=60) | st.text('a"\n\r,;[{}]\\:1', max_size=40).map(str.encode))
def test_no_bytes_are_too_odd_to_be_judged(load, data):
    for name in ("g.jsonl", "g.csv", "g.parquet"):
        _, problems = load(data, name=name)
        assert problems
    load(b"question,quote,evidence,relevance,answerable\n" + data, name="g.csv")
