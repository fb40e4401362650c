"""Files that are not lines of UTF-8: every reader says so, and in the same words."""

import json
import re

import pytest

from rayeval.corpus.read import read_documents
from rayeval.corpus.units import Unit
from rayeval.encoded import wide
from rayeval.errors import DataError, InputError
from rayeval.execution.grow.sheet import rows
from rayeval.golden.load import load_questions
from rayeval.interop.formats import formats
from rayeval.interop.own import chunks, jsonl

WIDE = "the file is UTF-16; save it as UTF-8"
CARRIAGE = "lines end with a carriage return alone; save the file with line ends of LF or CRLF"


def problems(read):
    try:
        return read()
    except DataError as error:
        return error.problems


def trace(path):
    found = []
    list(jsonl.Lines(found).read(str(path)))
    return found


def chunk_table(path):
    return list(chunks.tables([str(path)]))


def corpus(path):
    return [p for _, found in read_documents(Unit(str(path.parent), (path.name,))) for p in found]


def golden(path):
    return load_questions(str(path))[1]


def imported(name):
    def read(path):
        found = formats()[name].read([str(path)])
        for part in (found.questions, found.trace):
            list(part or ())
        return found.problems

    return read


def lines(*rows):
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


TRACE = lines(*({"question_id": f"q{n}", "hits": ["é"]} for n in (1, 2)))
CHUNKS = lines(*({"chunk_id": f"c{n}", "text": "é"} for n in (1, 2)))
DOCUMENTS = lines(*({"source_id": f"d{n}", "text": "é"} for n in (1, 2)))
QUESTIONS = lines(*({"question": f"é{n}", "answerable": False} for n in (1, 2)))
DEEPEVAL = lines(*({"input": f"é{n}", "actual_output": "é"} for n in (1, 2)))
RUN = "q1 Q0 dé 1 0.5 r\nq1 Q0 e 2 0.4 r\n"
QRELS = "q1 0 dé 1\nq2 0 d 1\n"
FILES = [
    pytest.param(trace, "t.jsonl", TRACE, id="trace"),
    pytest.param(chunk_table, "c.jsonl", CHUNKS, id="chunks"),
    pytest.param(corpus, "d.jsonl", DOCUMENTS, id="documents"),
    pytest.param(golden, "g.jsonl", QUESTIONS, id="golden set"),
    pytest.param(imported("deepeval"), "e.jsonl", DEEPEVAL, id="import"),
    pytest.param(imported("csv"), "h.csv", "question_id,text\nq1,é\n", id="CSV"),
    pytest.param(imported("trec"), "x.qrels", QRELS, id="TREC"),
]


@pytest.mark.parametrize(("read", "name", "text"), FILES)
@pytest.mark.parametrize("kind", ["utf-16", "utf-16-le", "utf-16-be"])
def test_utf16_is_called_so_once(tmp_path, read, name, text, kind):
    (tmp_path / name).write_bytes(text.encode(kind))
    found = problems(lambda: read(tmp_path / name))
    assert [(p.line, p.kind, p.message) for p in found] == [(1, "not_utf8", WIDE)]


@pytest.mark.parametrize(("read", "name", "text"), FILES)
def test_a_byte_that_is_not_utf8_is_named(tmp_path, read, name, text):
    (tmp_path / name).write_bytes(text.encode("latin-1"))
    first = problems(lambda: read(tmp_path / name))[0]
    assert first.kind == "not_utf8"
    assert first.message.startswith("byte 0xe9 at offset ")
    assert first.message.endswith(" is not UTF-8; save the file as UTF-8")


@pytest.mark.parametrize(("read", "name", "text"), [f for f in FILES if f.id not in ("CSV", "chunks")])  # fmt: skip
def test_lines_that_end_in_carriage_returns_are_told(tmp_path, read, name, text):
    (tmp_path / name).write_bytes(text.replace("\n", "\r").encode())
    found = problems(lambda: read(tmp_path / name))
    assert [p.message for p in found] == [CARRIAGE]


@pytest.mark.parametrize(("name", "text"), [("h.csv", "question_id,text\rq1,é\r"), ("c.jsonl", CHUNKS)])  # fmt: skip
def test_readers_that_know_carriage_returns_read_them(tmp_path, name, text):
    (tmp_path / name).write_bytes(text.replace("\n", "\r").encode())
    read = imported("csv") if name == "h.csv" else chunk_table
    assert not [p for p in read(tmp_path / name) if not hasattr(p, "num_rows")]


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("s.csv", "question_id,chunk_id,grade\n".encode("utf-16"), WIDE),
        ("s.jsonl", '{"grade": 1}\n'.encode("utf-16"), WIDE),
        ("s.csv", "é".encode("latin-1"), "byte 0xe9 at offset 0 of the file is not UTF-8"),
        ("s.jsonl", b'{"grade": ""}\r{"grade": ""}\r', CARRIAGE),
    ],
)
def test_a_sheet_of_grades_is_told_as_other_files_are(tmp_path, name, data, said):
    (tmp_path / name).write_bytes(data)
    with pytest.raises(InputError, match=re.escape(said)):
        list(rows(str(tmp_path / name)))


@pytest.mark.parametrize(
    ("data", "want"),
    [
        pytest.param("{".encode("utf-32"), "the file is UTF-32; save it as UTF-8", id="UTF-32"),
        pytest.param(b'{"a": 1}', None, id="ASCII"),
        pytest.param(b"\xef\xbb\xbf{}", None, id="a mark of UTF-8"),
        pytest.param(b"", None, id="nothing"),
        pytest.param("한국어 질문입니다".encode(), None, id="Korean"),
    ],
)
def test_first_bytes_tell_the_form(data, want):
    assert wide(data) == want
