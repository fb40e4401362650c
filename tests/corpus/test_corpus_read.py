"""Reading documents: exact text, defaults, and every problem at once."""

import json
import pickle
from dataclasses import asdict
from datetime import UTC, datetime

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from rayeval.corpus import read
from rayeval.corpus.read import PARTITION_CHARS, Unit, fingerprint, read_documents, units
from rayeval.errors import DataError
from rayeval.tables import DOCUMENTS


def documents(path, include=None):
    parts = [part for unit in units(str(path), include) for part in read_documents(unit)]
    rows = [row for table, _ in parts for row in table.to_pylist()]
    return rows, [problem for _, problems in parts for problem in problems]


def only(path):
    rows, problems = documents(path)
    assert problems == []
    (row,) = rows
    return row


def write(folder, name, data):
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data if isinstance(data, bytes) else data.encode())
    return file


def json_lines(folder, *rows):
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    return write(folder, "corpus.jsonl", "\n".join(lines) + "\n")


def test_a_folder_gives_a_document_per_file_by_its_path_below_it(tmp_path):
    write(tmp_path, "b/c.md", "# B")
    write(tmp_path, "a.TXT", "A")
    write(tmp_path, "z.htm", "<p>Z")
    write(tmp_path, "d.markdown", "D")
    write(tmp_path, "image.png", b"\x89PNG")
    write(tmp_path, ".git/x.md", "hidden")
    rows, problems = documents(tmp_path)
    assert [(row["source_id"], row["format"]) for row in rows] == [
        ("a.TXT", "text"),
        ("b/c.md", "markdown"),
        ("d.markdown", "markdown"),
        ("z.htm", "html"),
    ]
    assert problems == []
    assert rows[1]["file"] == f"{tmp_path}/b/c.md"
    assert rows[1]["line"] is None


def test_the_revision_of_a_file_is_its_text(tmp_path):
    row = only(write(tmp_path, "a.md", "가나다"))
    # printf 가나다 | sha256sum
    assert row["revision_id"] == "sha-29205b39ec5e"
    assert row["access"] == []


FRONT = "---\ntitle: 휴가\nrevision_id: 1.10\nlanguage: no\naccess: [hr, legal, hr]\n---\n"


@pytest.mark.parametrize(
    ("text", "start"),
    [
        pytest.param("plain", 0, id="nothing before"),
        pytest.param("\ufeffplain", 1, id="U+FEFF"),
        pytest.param(FRONT + "body", len(FRONT), id="front matter"),
        pytest.param("\ufeff" + FRONT + "body", len(FRONT) + 1, id="U+FEFF and front matter"),
        pytest.param("---\r\ntitle: x\r\n---\r\nbody", 20, id="CRLF"),
        pytest.param("---\rtitle: x\r---\rbody", 17, id="CR alone"),
        pytest.param("--- \ntitle: x\n---\t\nbody", 19, id="blanks after the fences"),
        pytest.param("---\ntitle: x\n---", 16, id="nothing after the closing fence"),
        pytest.param("---\n---\nbody", 8, id="empty"),
        pytest.param("---\ntitle: x\nbody", 0, id="never closed"),
        pytest.param("---\nA sentence.\n---\nbody", 0, id="prose between two rules"),
        pytest.param("\n---\ntitle: x\n---\n", 0, id="not at the very start"),
        pytest.param("----\ntitle: x\n----\n", 0, id="four dashes"),
    ],
)
def test_content_starts_after_the_front_matter_and_the_text_keeps_it(tmp_path, text, start):
    row = only(write(tmp_path, "a.md", text))
    assert row["text"] == text
    assert row["text_start"] == start


def test_front_matter_is_read_as_it_is_written(tmp_path):
    row = only(write(tmp_path, "a.md", FRONT + "body"))
    assert row["title"] == "휴가"
    assert row["revision_id"] == "1.10"
    assert row["language"] == "no"
    assert row["access"] == ["hr", "legal"]


def test_front_matter_may_say_everything_but_the_text(tmp_path):
    front = """---
source_id: hr/leave
url: https://example.org
format: text
valid_from: 2026-01-01
valid_to: 2026-07-01T09:00:00+09:00
deleted_at: null
author: someone
text: not the text
---
body"""
    row = only(write(tmp_path, "a.md", front))
    assert row["source_id"] == "hr/leave"
    assert row["format"] == "text"
    assert row["text"] == front
    assert row["valid_from"] == datetime(2026, 1, 1, tzinfo=UTC)
    assert row["valid_to"] == datetime(2026, 7, 1, tzinfo=UTC)
    assert row["deleted_at"] is None


@pytest.mark.parametrize(
    ("text", "kind", "line", "message", "warning"),
    [
        pytest.param(
            "---\na: 1\nvalid-from: 2026\n---\n",
            "unknown_field",
            3,
            "did you mean 'valid_from'",
            True,
            id="a near miss is a warning",
        ),
        pytest.param(
            "---\na: 1\nvalid_to: soon\n---\n", "bad_date", 3, "'soon'", False, id="no date"
        ),
        pytest.param(
            "---\naccess: hr\n---\n", "wrong_type", 2, "expected a list", False, id="no list"
        ),
        pytest.param(
            "---\nformat: pdf\n---\n", "unknown_format", 2, "markdown or", False, id="format"
        ),
        pytest.param(
            "---\na: [\n---\n", "invalid_front_matter", 1, "not YAML", False, id="no YAML"
        ),
        pytest.param(
            "---\na: " + "[" * 900 + "]" * 900 + "\n---\n",
            "invalid_front_matter",
            1,
            "too deeply",
            False,
            id="nested too deeply",
        ),
        pytest.param("a\0b\0", "nul_character", None, "character 1;", True, id="NUL"),
    ],
)
def test_a_file_tells_what_is_wrong_with_it(tmp_path, text, kind, line, message, warning):
    rows, (problem,) = documents(write(tmp_path, "a.md", text))
    assert (problem.kind, problem.line, problem.warning) == (kind, line, warning)
    assert message in problem.message
    assert problem.file == f"{tmp_path}/a.md"
    assert len(rows) == warning


def test_foreign_front_matter_is_nobodys_business(tmp_path):
    front = "---\nredirect_from: [a]\nversions: {fpt: '*'}\ntopics: Legal\nsubtitle: x\n---\n"
    only(write(tmp_path, "a.md", front))


def test_a_file_that_is_not_utf8_names_the_byte_and_the_line(tmp_path):
    write(tmp_path, "a.md", "첫 줄\nok ".encode() + b"\xc0\xc1")
    write(tmp_path, "b.md", "fine")
    rows, (problem,) = documents(tmp_path)
    assert [row["source_id"] for row in rows] == ["b.md"]
    assert problem.kind == "not_utf8"
    assert problem.line == 2
    assert "byte 0xc0 at offset 11 of the file" in problem.message


def test_json_lines_take_defaults_and_surrogate_pairs(tmp_path):
    file = write(
        tmp_path,
        "corpus.jsonl",
        "\ufeff"
        '{"source_id": "a", "text": "\\ud83d\\ude00", "title": null}\r\n'
        "\n"
        '{"source_id": "a", "revision_id": "2", "text": "# x\\r\\n", "format": "markdown", '
        '"language": "ko", "valid_from": "2026-01-01", "access": ["b", "a"]}\n',
    )
    first, second = documents(file)[0]
    assert first["text"] == "😀"
    assert first["format"] == "text"
    assert (first["line"], second["line"]) == (1, 3)
    assert second["text"] == "# x\r\n"
    assert second["access"] == ["a", "b"]


def test_a_row_without_text_is_a_tombstone(tmp_path):
    row = only(json_lines(tmp_path, {"source_id": "a", "deleted_at": "2026-02-03"}))
    assert row["text"] is None
    assert row["revision_id"] == "deleted-2026-02-03T00:00:00Z"
    assert row["deleted_at"] == datetime(2026, 2, 3, tzinfo=UTC)


@pytest.mark.parametrize(
    ("line", "kinds", "message"),
    [
        pytest.param("{", ["invalid_json"], "one JSON object per line", id="no JSON"),
        pytest.param("[" * 100_000, ["invalid_json"], "recursion", id="nested too deeply"),
        pytest.param("[1]", ["wrong_type"], "expected an object", id="no object"),
        pytest.param('{"text": "x"}', ["missing_field"], "source_id", id="no source"),
        pytest.param('{"source_id": "", "text": ""}', ["missing_field"], "source_id", id="empty"),
        pytest.param('{"source_id": "a"}', ["missing_field"], "deleted_at", id="no text"),
        pytest.param('{"source_id": 12, "text": "x"}', ["wrong_type"], "a number", id="a number"),
        pytest.param(
            '{"source_id": "a", "text": "x", "deleted_at": 20260801}',
            ["wrong_type"],
            "a date such as",
            id="a date as a number",
        ),
        pytest.param(
            '{"source_id": "a", "text": "x", "acess": []}',
            ["unknown_field"],
            "did you mean 'access'",
            id="a typing error",
        ),
        pytest.param(
            '{"source_id": "a", "text": "ab\\ud800"}',
            ["lone_surrogate"],
            "text has half a surrogate pair, U+D800, at character 2",
            id="half a pair",
        ),
        pytest.param(
            '{"source_id": "a", "text": "x", "access": ["b", "\\udc00"]}',
            ["lone_surrogate"],
            "access[1]",
            id="half a pair in a list",
        ),
        pytest.param(
            '{"source_id": "a", "text": "x", "access": ["b", ""]}',
            ["wrong_type"],
            "empty entry",
            id="an empty name",
        ),
        pytest.param(
            '{"valid_to": "?", "text": 3, "format": "doc"}',
            ["bad_date", "wrong_type", "missing_field", "unknown_format"],
            "",
            id="all at once",
        ),
    ],
)
def test_a_line_tells_all_that_is_wrong_with_it(tmp_path, line, kinds, message):
    good = {"source_id": "z", "text": "fine"}
    rows, problems = documents(json_lines(tmp_path, good, line, good))
    assert [row["line"] for row in rows] == [1, 3]
    assert [problem.kind for problem in problems] == kinds
    assert all(problem.line == 2 and not problem.warning for problem in problems)
    assert message in problems[0].message


def test_a_line_that_is_not_utf8_counts_its_bytes_from_the_files_start(tmp_path):
    line = b'{"source_id": "a", "text": "x"}\n'
    rows, (problem,) = documents(write(tmp_path, "c.jsonl", line + b'{"a": "\xff"}\n' + line))
    assert [row["line"] for row in rows] == [1, 3]
    assert (problem.kind, problem.line) == ("not_utf8", 2)
    assert f"byte 0xff at offset {len(line) + 7} of the file" in problem.message


def test_parquet_is_read_by_row_whatever_kind_of_text_it_holds(tmp_path):
    times = pa.array([datetime(2026, 1, 1), None], pa.timestamp("ns"))
    table = pa.table(
        {
            "source_id": pa.array(["a", "b"]).dictionary_encode(),
            "text": pa.array(["가😀", None], pa.large_string()),
            "valid_from": times,
            "deleted_at": pa.array([None, "2026-05-01"]),
            "access": pa.array([["x"], None], pa.list_(pa.string())),
            "title": pa.nulls(2),
        }
    )
    file = tmp_path / "corpus.parquet"
    pq.write_table(table, file)
    first, second = documents(file)[0]
    assert first["text"] == "가😀"
    assert first["valid_from"] == datetime(2026, 1, 1, tzinfo=UTC)
    assert first["access"] == ["x"]
    assert (first["line"], second["line"]) == (1, 2)
    assert second["text"] is None


def test_parquet_columns_are_checked_once(tmp_path):
    file = tmp_path / "corpus.parquet"
    pq.write_table(pa.table({"source_id": [1, 2], "txt": ["a", "b"]}), file)
    rows, problems = documents(file)
    assert rows == []
    assert [(problem.kind, problem.line) for problem in problems] == [
        ("unknown_field", None),
        ("wrong_type", None),
        ("missing_field", None),
    ]
    assert "did you mean 'text'" in problems[0].message


def test_parquet_rows_are_told_apart_when_one_is_not_utf8_or_out_of_time(tmp_path):
    far = pa.array([None, None, 10**18], pa.int64()).cast(pa.timestamp("us"))
    raw = pa.array([b"ok", b"\xff", b"ok"])
    text = pa.Array.from_buffers(pa.string(), 3, raw.buffers())
    table = pa.table({"source_id": ["a", "b", "c"], "text": text, "valid_to": far})
    file = tmp_path / "corpus.parquet"
    pq.write_table(table, file)
    rows, problems = documents(file)
    assert [row["source_id"] for row in rows] == ["a"]
    assert [(p.kind, p.line) for p in problems] == [("not_utf8", 2), ("bad_date", 3)]


def test_a_damaged_parquet_file_is_a_problem(tmp_path):
    _, (problem,) = documents(write(tmp_path, "corpus.parquet", b"PAR1 no more"))
    assert problem.kind == "unreadable_parquet"


def test_partitions_keep_documents_whole(tmp_path):
    sizes = [PARTITION_CHARS - 1, 1, 1, 2 * PARTITION_CHARS, 0, 5]
    rows = [{"source_id": f"{i}", "text": "가" * n} for i, n in enumerate(sizes)]
    (unit,) = units(str(json_lines(tmp_path, *rows)))
    parts = [table["source_id"].to_pylist() for table, _ in read_documents(unit)]
    assert parts == [["0", "1"], ["2"], ["3"], ["4", "5"]]


def test_partitions_of_tiny_documents_are_bounded_too(tmp_path, monkeypatch):
    monkeypatch.setattr(read, "PARTITION_ROWS", 2)
    rows = [{"source_id": f"{i}", "deleted_at": "2026-01-01"} for i in range(5)]
    (unit,) = units(str(json_lines(tmp_path, *rows)))
    assert [table.num_rows for table, _ in read_documents(unit)] == [2, 2, 1]


def test_problems_come_even_where_no_document_does(tmp_path):
    (unit,) = units(str(write(tmp_path, "a.md", b"\xff")))
    ((table, problems),) = read_documents(unit)
    assert table.schema.equals(DOCUMENTS)
    assert table.num_rows == 0
    assert len(problems) == 1


def test_units_are_runs_of_sorted_files_and_travel(tmp_path):
    for i in range(300):
        write(tmp_path, f"d/{i:03}.md", "x")
    found = units(str(tmp_path))
    assert [len(unit.names) for unit in found] == [256, 44]
    assert found[0].names[0] == "d/000.md"
    assert pickle.loads(pickle.dumps(found)) == found
    json.dumps([asdict(unit) for unit in found])


def test_a_folder_of_tables_is_a_unit_per_file(tmp_path):
    json_lines(tmp_path, {"source_id": "a", "text": "x"})
    write(tmp_path, "more/b.jsonl", '{"source_id": "b", "text": "y"}')
    assert [unit.names for unit in units(str(tmp_path))] == [("corpus.jsonl",), ("more/b.jsonl",)]
    write(tmp_path, "a.md", "documents come first: the tables here are something else")
    assert [unit.names for unit in units(str(tmp_path))] == [("a.md",)]


@pytest.mark.parametrize(
    ("include", "names"),
    [
        pytest.param(["*.md"], ["[a].md", "a.md"], id="a star stays in its folder"),
        pytest.param(
            ["**/*.md"], ["[a].md", "a.md", "x/b.md", "x/y/c.md"], id="two stars go anywhere"
        ),
        pytest.param(["x/**"], ["x/b.md", "x/d.txt", "x/y/c.md", "x/e.jsonl"], id="below a folder"),
        pytest.param(["?.md", "x/d.*"], ["a.md", "x/d.txt"], id="several"),
        pytest.param(["[a].md"], ["[a].md"], id="a bracket is a bracket"),
        pytest.param(["**/*.jsonl"], ["x/e.jsonl"], id="tables when asked for"),
        pytest.param([".h/*"], [".h/f.md"], id="hidden ones when asked for"),
    ],
)
def test_include_chooses_below_the_folder(tmp_path, include, names):
    for name in ("a.md", "x/b.md", "x/y/c.md", "x/d.txt", "x/e.jsonl", ".h/f.md", "x/g.png",
                 "[a].md"):  # fmt: skip
        write(tmp_path, name, "{}")
    found = [name for unit in units(str(tmp_path), include) for name in unit.names]
    assert found == names


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        pytest.param("nowhere", "missing_file", id="nothing there"),
        pytest.param("a.xlsx", "unknown_format", id="a kind that can't be read"),
    ],
)
def test_a_path_that_cant_be_read_says_so(tmp_path, name, kind):
    write(tmp_path, "a.xlsx", "x")
    with pytest.raises(DataError) as caught:
        units(f"{tmp_path}/{name}")
    assert [problem.kind for problem in caught.value.problems] == [kind]


def test_a_fingerprint_is_of_names_and_contents(tmp_path):
    write(tmp_path, "1/a.md", "xy")
    write(tmp_path, "1/b.md", "")
    write(tmp_path, "2/a.md", "x")
    write(tmp_path, "2/b.md", "y")
    write(tmp_path, "3/a.md", "xy")
    write(tmp_path, "3/c.md", "")
    write(tmp_path, "4/a.md", "xy")
    write(tmp_path, "4/b.md", "")
    prints = [fingerprint(units(f"{tmp_path}/{i}")[0]) for i in (1, 2, 3, 4)]
    assert prints[0] == prints[3]
    assert len(set(prints)) == 3
    assert all(len(value) == 64 for value in prints)


def test_any_file_system_of_arrow_will_do(tmp_path):
    write(tmp_path, "b/c.md", "# B")
    path = f"file://{tmp_path}"
    (unit,) = units(path)
    assert unit == Unit(path, ("b/c.md",))
    assert fingerprint(unit) == fingerprint(units(str(tmp_path))[0])
    ((table, _),) = read_documents(unit)
    assert table["file"].to_pylist() == [f"{path}/b/c.md"]
    assert only(f"{path}/b/c.md")["source_id"] == "c.md"
