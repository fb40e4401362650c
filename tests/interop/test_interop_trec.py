"""TREC's files: what is read, and what is refused and where."""

import gzip

import polars as pl
import pytest

from rayeval.errors import DataError
from rayeval.interop import trec
from rayeval.interop.trec import read_judgements, read_run
from rayeval.tables import FOREIGN

LINE = "q1 Q0 d1 1 2.5 tag\n"


def write(folder, content, name="run.txt") -> str:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return str(path)


@pytest.mark.parametrize(
    ("content", "want"),
    [
        pytest.param("q1 Q0 d1 1 2.5 t\nq1 Q0 d2 2 1e-3 t\n", [("q1", "d1", 2.5), ("q1", "d2", 0.001)], id="plain"),
        pytest.param("q1 Q0 d1 1 2.5 t", [("q1", "d1", 2.5)], id="no line end at the end"),
        pytest.param("q1\tQ0\td1\t1\t2.5\tt\n", [("q1", "d1", 2.5)], id="tabs"),
        pytest.param("q1 Q0 d1 1   2.5\tt\r\nq2 Q0 d1 1 1 t\r\n", [("q1", "d1", 2.5), ("q2", "d1", 1.0)], id="CRLF and mixed blanks"),
        pytest.param("\ufeffq1 Q0 d1 1 2.5 t\n", [("q1", "d1", 2.5)], id="BOM"),
        pytest.param("\n  \n q1 Q0 d1 1 2.5 t \n\n", [("q1", "d1", 2.5)], id="blank lines, blanks around"),
        pytest.param("# a b c 1 d\nq1 Q0 m#1 1 2.5 t\n  # more\n", [("q1", "m#1", 2.5)], id="comments, # in an id"),
        pytest.param("q1 Q0 d1 1 2.5 my tag\n", [("q1", "d1", 2.5)], id="more after the tag"),
        pytest.param("q1 Q0 d1 x 2.5 t\n", [("q1", "d1", 2.5)], id="the rank is not looked at"),
        pytest.param("q1 Q0 d1 1 inf t\nq1 Q0 d2 1 -inf t\n", [("q1", "d1", float("inf")), ("q1", "d2", -float("inf"))], id="infinite"),
        pytest.param("질문 Q0 문서\u00a0\u3000\u20281 1 +2.5 t\n", [("질문", "문서\u00a0\u3000\u20281", 2.5)], id="what Unicode calls a space is none"),
        pytest.param('q1 Q0 "d1 1 2.5 t\nq1 Q0 d,2 1 2 t\n', [("q1", '"d1', 2.5), ("q1", "d,2", 2.0)], id="quotes and commas are letters"),
        pytest.param("1 Q0 007 1 2.5 t\n", [("1", "007", 2.5)], id="numbers are text"),
    ],
)  # fmt: skip
def test_a_run(tmp_path, content, want):
    assert read_run(write(tmp_path, content)).rows() == want


@pytest.mark.parametrize(
    ("content", "line", "kind", "says"),
    [
        pytest.param(LINE + "q1 Q0 d2 2 2.5\n", 2, "malformed_line", "expected 6 fields .* found 5: q1 Q0 d2 2 2.5", id="five fields"),
        pytest.param("# c\n\n" + LINE + "q1  Q0 d2 2 2.5\n", 4, "malformed_line", "found 5", id="five fields and two blanks"),
        pytest.param("q1 Q0 d1 1 2.5 \n", 1, "malformed_line", "found 5", id="no tag"),
        pytest.param(LINE + "q1 Q0 d2 2", 2, "malformed_line", "found 4", id="cut off"),
        pytest.param("q1 Q0 my doc 1 2.5 t\n", 1, "malformed_line", "space in an id", id="a space in an id"),
        pytest.param(LINE + "q1 Q0 d2 2 nan t\n", 2, "nan_score", "the score of 'd2' is NaN", id="NaN"),
        pytest.param("\n" + LINE + "q1 Q0 d2 2 NaN t\n", 3, "nan_score", "NaN", id="NaN in an uneven file"),
        pytest.param(LINE + "q1 Q0 d2 2 high t\n", 2, "bad_score", "'high', expected a number", id="a word for a score"),
        pytest.param(LINE.encode() + b"q1 Q0 d\xe9 2 1 t\n", 2, "not_utf8", "byte 0xe9", id="latin-1"),
        pytest.param(b"q1 Q0 d\x00 2 1 t\n", 1, "not_text", "NUL", id="a NUL character"),
        pytest.param("", None, "empty_file", "no line in it", id="empty"),
        pytest.param("\n# nothing\n", None, "empty_file", "no line in it", id="nothing but comments"),
    ],
)  # fmt: skip
def test_a_run_that_is_refused(tmp_path, content, line, kind, says):
    path = write(tmp_path, content)
    with pytest.raises(DataError, match=says) as error:
        read_run(path)
    [problem] = error.value.problems
    assert (problem.file, problem.line, problem.kind) == (path, line, kind)


def test_every_bad_line_is_named(tmp_path):
    with pytest.raises(DataError) as error:
        read_run(write(tmp_path, "a\n" + LINE + "q1 Q0 d2 2 x t\nq2 Q0\n"))
    assert [(p.line, p.question_id) for p in error.value.problems] == [
        (1, "a"),
        (3, "q1"),
        (4, "q2"),
    ]


@pytest.mark.parametrize(
    ("content", "kinds"),
    [
        pytest.param("q1 0 a 0.5\nq1 0 b 1\nq1 0 c 1e2\n", [(1, "bad_grade"), (3, "bad_grade")], id="not whole"),
        pytest.param("q1 0 a 128\n", [(1, "bad_grade")], id="beyond trec_eval's grades"),
        pytest.param("q1 0 doc a 1\n", [(1, "malformed_line")], id="a space in an id"),
        pytest.param("q1\ta\t1\n", [(1, "malformed_line")], id="three columns"),
        pytest.param("q1 0 a 1\n# c\nq1 0 b 1\nq1 0 a 0\n", [(1, "repeated_id"), (4, "repeated_id")], id="judged twice"),
        pytest.param("", [(None, "empty_file")], id="empty"),
    ],
)  # fmt: skip
def test_judgements_that_are_refused(tmp_path, content, kinds):
    with pytest.raises(DataError) as error:
        read_judgements(write(tmp_path, content))
    assert [(problem.line, problem.kind) for problem in error.value.problems] == kinds


def test_judgements(tmp_path):
    path = write(tmp_path, "q1 0 a 1.0\nq1\t0\tb\t-1\r\n q2 Q0 a +2\n")
    assert read_judgements(path).rows() == [("q1", "a", 1), ("q1", "b", -1), ("q2", "a", 2)]


def test_a_packed_file(tmp_path):
    assert read_run(write(tmp_path, gzip.compress(LINE.encode()), "run.gz")).height == 1


@pytest.mark.parametrize("blank", [" ", "\t", "  ", "\r\n"])
@pytest.mark.parametrize("at", [0, 3, 8])
def test_lines_over_the_edge_of_a_block(tmp_path, monkeypatch, blank, at):
    monkeypatch.setattr("rayeval.interop.trec.text._BLOCK", 16)
    monkeypatch.setattr("rayeval.interop.trec.text._PART", 48)
    lines = [f"q{n} Q0 d{n} 1 {n} t\n" for n in range(12)]
    lines[at] = (
        lines[at].replace(" ", blank, 1) if blank != "\r\n" else lines[at].replace("\n", blank)
    )
    want = [(f"q{n}", f"d{n}", float(n)) for n in range(12)]
    assert read_run(write(tmp_path, "".join(lines))).rows() == want


@pytest.mark.parametrize("tag", ["my tag", "my true", "my 1"])
def test_short_and_long_lines_do_not_cancel_out(tmp_path, tag):
    content = f"q1 Q0 d1 1 2.5\nq1 Q0 d2 2 2.5 {tag}\n"
    with pytest.raises(DataError, match="found 5"):
        read_run(write(tmp_path, content))


def test_parquet_ids_may_be_anything(tmp_path):
    path = str(tmp_path / "run.parquet")
    ids = ["a b", "탭\t", "x" * 5000]
    pl.DataFrame(
        {"qid": [1, 1, 2], "docno": ids, "score": [3, 2, 1], "rank": [1, 2, 1]}
    ).write_parquet(path)
    assert read_run(path).rows() == list(zip(["1", "1", "2"], ids, [3.0, 2.0, 1.0], strict=True))


@pytest.mark.parametrize(
    ("columns", "says"),
    [
        pytest.param({"qid": ["q"], "docno": ["d"]}, "no column for the score: expected one of score", id="no score"),
        pytest.param({"qid": [1.5], "docno": ["d"], "score": [1]}, "the query is Float64, expected text", id="ids that are no ids"),
        pytest.param({"qid": ["q"], "docno": ["d"], "score": ["1"]}, "the score is String, expected numbers", id="text for a score"),
        pytest.param({"qid": ["q", "q"], "docno": ["d", None], "score": [1, 2]}, "run.parquet:2 .*no document", id="no id"),
        pytest.param({"qid": ["q", "q"], "docno": ["d", "e"], "score": [1, float("nan")]}, "run.parquet:2 .*not NaN", id="NaN"),
        pytest.param({"qid": [], "docno": [], "score": []}, "no row in it", id="no row"),
    ],
)  # fmt: skip
def test_parquet_that_is_refused(tmp_path, columns, says):
    path = str(tmp_path / "run.parquet")
    schema = (
        {"qid": pl.String, "docno": pl.String, "score": pl.Float64}
        if columns["qid"] == []
        else None
    )
    pl.DataFrame(columns, schema, strict=False).write_parquet(path)
    with pytest.raises(DataError, match=says):
        read_run(path)


def test_truncated_parquet(tmp_path):
    path = tmp_path / "run.parquet"
    pl.DataFrame({"qid": ["q"], "docno": ["d"], "score": [1.0]}).write_parquet(path)
    path.write_bytes(path.read_bytes()[:-10])
    with pytest.raises(DataError, match="cut off or damaged"):
        read_run(str(path))


def test_fractional_grades_in_parquet(tmp_path):
    path = str(tmp_path / "qrels.parquet")
    frame = pl.DataFrame({"query_id": ["q", "q"], "doc_id": ["a", "b"], "relevance": [1.0, 0.5]})
    frame.write_parquet(path)
    with pytest.raises(DataError, match=r"qrels\.parquet:2 .*whole number"):
        read_judgements(path)
    frame.head(1).write_parquet(path)
    assert read_judgements(path).rows() == [("q", "a", 1)]


def test_no_such_file():
    for read in (read_run, read_judgements):
        for name in ("nowhere.txt", "nowhere.parquet"):
            with pytest.raises(DataError, match="there is no such file"):
                read(name)


def questions(tmp_path, qrels, topics=None):
    paths = [write(tmp_path, qrels, "qrels")]
    paths += [write(tmp_path, topics, "topics")] if topics else []
    found = trec.read(paths)
    return list(found.questions), list(found.of_gold)


def test_binary_judgements_become_0_and_3(tmp_path):
    rows, notes = questions(tmp_path, "q2 0 a 1\nq1 0 b 0\nq2 0 c 0\nq2 0 d -1\n")
    assert [(row["question_id"], row.get("labels")) for row in rows] == [
        ("q2", None),
        ("q1", "none"),
    ]
    assert not any("answerable" in row for row in rows)
    assert rows[0]["evidence"] == [
        {"source_id": "a", "relevance": 3},
        {"source_id": "c", "relevance": 0},
    ]
    assert (
        "1 became relevance 3" in notes[0]
        and "1 question is not labelled (no document is graded above 0)" in notes[1]
        and "1 negative" in notes[2]
        and "called by their ids" in notes[3]
    )


def test_grades_0_to_3_are_kept(tmp_path):
    rows, notes = questions(tmp_path, "q1 0 a 1\nq1 0 b 3\n")
    assert [item["relevance"] for item in rows[0]["evidence"]] == [1, 3]
    assert "kept as relevance" in notes[0]


def test_beir_judgements_are_read_by_their_header(tmp_path):
    path = tmp_path / "test.tsv"
    path.write_text("query-id\tcorpus-id\tscore\nq 1\ta\t2\nq2\ta\t0\n")
    assert trec.read_judgements(str(path)).rows() == [("q 1", "a", 2), ("q2", "a", 0)]


@pytest.mark.parametrize(
    ("row", "kind"),
    [
        pytest.param("q2\tb\t0.5", "bad_grade", id="half a grade"),
        pytest.param("q2\tb\t", "missing_field", id="no grade"),
        pytest.param("q1\ta\t0", "repeated_id", id="judged twice"),
    ],
)
def test_beir_judgements_are_refused_by_their_line(tmp_path, row, kind):
    path = tmp_path / "test.tsv"
    path.write_text(f"query-id\tcorpus-id\tscore\nq1\ta\t2\n{row}\n")
    with pytest.raises(DataError) as error:
        trec.read_judgements(str(path))
    problem = error.value.problems[-1]
    assert (problem.line, problem.kind) == (3, kind)


def test_other_grades_are_not_guessed(tmp_path):
    with pytest.raises(DataError, match="grades 4, 5: expected 0 to 3"):
        questions(tmp_path, "q1 0 a 5\nq1 0 b 1\nq1 0 c 4\n")


@pytest.mark.parametrize(
    "topics",
    [
        pytest.param("q1\tWhat is  it?\r\n", id="two columns"),
        pytest.param(
            "<top>\n<num> Number: q1\n<title> What is\nit?\n\n<desc> more\n</top>\n", id="TREC"
        ),
        pytest.param("<top><num>q1</num><title>What is it?</title></top>", id="closed tags"),
        pytest.param("<DOC>\n<DOCNO> q1 </DOCNO>\n What is\nit? </DOC>", id="documents as topics"),
    ],
)
def test_topics(tmp_path, topics):
    rows, notes = questions(tmp_path, "q1 0 a 1\n", topics)
    assert rows[0]["question"] == "What is it?" and len(notes) == 1


def test_topics_that_are_refused(tmp_path):
    with pytest.raises(DataError) as error:
        questions(tmp_path, "q1 0 a 1\n", "q1\tone\nq1\ttwo\nq2\t\n")
    assert [(p.line, p.kind) for p in error.value.problems] == [
        (2, "duplicate_question_id"),
        (3, "malformed_topic"),
    ]


def test_a_run_as_a_trace(tmp_path):
    found = trec.read(
        [write(tmp_path, "q2 Q0 a 1 1 t\nq2 Q0 b 2 1 t\nq1 Q0 a 9 5 t\nq2 Q0 c 3 7 t\n")]
    )
    [table] = found.trace
    assert table.schema == FOREIGN and found.questions is None
    rows = [
        (row["question_id"], row["stage"], [hit["source_id"] for hit in row["hits"]])
        for row in table.to_pylist()
    ]
    assert rows == [("q1", "trace", ["a"]), ("q2", "trace", ["c", "b", "a"])]


def test_topics_alone_are_no_golden_set(tmp_path):
    with pytest.raises(DataError, match="neither judgements nor a run"):
        trec.read([write(tmp_path, "<top><num>q1</num><title>What?</title></top>")])


def test_two_runs_at_once(tmp_path):
    paths = [write(tmp_path, LINE, name) for name in ("a.txt", "b.txt")]
    with pytest.raises(DataError, match=r"a\.txt and .*b\.txt are both run"):
        trec.read(paths)
