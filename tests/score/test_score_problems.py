"""What is wrong with a trace: every problem at once, where it is, and nothing left behind."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from score_files import write_lines

import rayeval
from rayeval.errors import ConfigError, DataError, Problem
from rayeval.execution.load import judge_part
from rayeval.execution.score import ScoreOptions, score_tables
from rayeval.interop.own import read
from rayeval.report.terminal import run_text

GOLDEN = [{"question_id": "q", "question": "?", "evidence": [{"source_id": "B"}]}]
OFFSETS = [{"question_id": "q", "question": "?",
            "evidence": [{"source_id": "d", "start_char": 0, "end_char": 5}]}]  # fmt: skip


def of(*hits, name="q"):
    return {"question_id": name, "stages": {"search": {"hits": list(hits)}}}


PROBLEMS = [
    pytest.param([of({"chunk_id": "a"}, {"chunk_id": "b"}, {"chunk_id": "a"})], "repeated_hit",
                 "'search': the hit at rank 3", id="an id twice"),
    pytest.param([of({"source_id": "B"}, {"source_id": "B"})], "repeated_hit", "rank 2",
                 id="a whole document twice"),
    pytest.param([of({"source_id": "B", "score": 1}, {"source_id": "A", "score": 1.5})],
                 "score_order", "rank 2 has a higher score", id="scores against the order"),
    pytest.param([of({})], "empty_hit", "rank 1 has neither", id="a hit without any field"),
    pytest.param([of({"source_id": "d", "spans": [{"start_char": 5, "end_char": 5}]})],
                 "bad_span", "rank 1", id="an empty span"),
    pytest.param([of({"spans": [{"start_char": 5, "end_char": 9}]})], "missing_source", "rank 1",
                 id="a span of no source"),
    pytest.param([of(), of()], "duplicate_question", "trace.jsonl:1 already", id="a question twice"),
    pytest.param([of({"source_id": "B", "scor": 1})], "unknown_field", "hits[0].scor", id="a typo"),
    pytest.param([of({"source_id": True})], "wrong_type", "expected text", id="an id that is no id"),
    pytest.param([of({"source_id": "B", "score": "high"})], "bad_score", "expected a number",
                 id="a score in words"),
    pytest.param([of("")], "wrong_type", "text that is not empty", id="empty text"),
    pytest.param([{"stages": {}}], "missing_field", "question_id", id="no question"),
    pytest.param([of(3)], "wrong_type", "hits[0]", id="a number as a hit"),
    pytest.param([{**of(), "answer": "a", "citations": [{"mark": "E1"}]}], "wrong_type",
                 "expected text or a whole number", id="a citation that is no id"),
    pytest.param([[]], "wrong_type", "expected an object", id="a list as a line"),
    pytest.param([{"question_id": "q", "stages": [{"stage": "s", "hits": []}]}], "wrong_type",
                 'lists of hits: {"bm25": [{"chunk_id": "c-3"}]}', id="a list of stages"),
    pytest.param([{"question_id": "q", "stages": {"s": "B"}}], "wrong_type",
                 "`stages.s` is 'B', expected a list of hits, or an object with `hits`",
                 id="a text as a stage"),
    pytest.param([{"question_id": "q", "stages": {"s": [{"source_id": "B", "scor": 1}]}}],
                 "unknown_field", "`stages.s[0].scor` is not part of a trace (known here are chunk_id",
                 id="a typo in a bare list"),
    *(pytest.param([{"question_id": "q", "stages": {name: ["a"]}}], kind,
                   f"a stage is called '{name}'", id=f"a stage called {name}")
      for name, kind in (("retrieve", "bad_stage"), ("answer", "bad_stage"),
                         ("chunk", "bad_stage"), ("filter", "contradiction"))),
    pytest.param([of({"source_id": "B", "spans": [["a"]]})], "wrong_type",
                 "`stages.search.hits[0].spans[0]` is ['a'], expected an object", id="a list as a span"),
    pytest.param([{"question_id": "q", "stages": {"s": {"hit": []}}}], "unknown_field",
                 "`stages.s.hit` is not part of a trace (known here are hits, latency_ms, error)",
                 id="a typo in a stage"),
]  # fmt: skip


@pytest.mark.parametrize(("trace", "kind", "words"), PROBLEMS)
def test_one_problem(scored, tmp_path, trace, kind, words):
    with pytest.raises(DataError) as error:
        scored(GOLDEN, trace)
    [problem] = error.value.problems
    assert problem.kind == kind
    assert words in problem.message
    assert problem.file.endswith("trace.jsonl")
    assert not list((tmp_path / "runs").glob("2*"))


@pytest.mark.parametrize("score", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_a_score_that_is_no_finite_number(scored, tmp_path, score):
    line = f'{{"question_id": "q", "stages": {{"s": {{"hits": [{{"text": "x", "score": {score}}}]}}}}}}'
    (tmp_path / "t.jsonl").write_text(line)
    with pytest.raises(DataError, match="expected a finite number"):
        scored(GOLDEN, tmp_path / "t.jsonl")


def test_a_stage_whose_name_no_table_can_hold(scored):
    with pytest.raises(DataError, match=r"bad_stage.*NUL"):
        scored(GOLDEN, [{"question_id": "q", "stages": {"a\0b": {"hits": ["x"]}}}])


NAMELESS = [
    pytest.param({"stage": ["a\0b"]}, "bad_stage.*NUL", id="NUL in a stage"),
    pytest.param({"stage": [""]}, "bad_stage.*has no name", id="a stage without a name"),
    pytest.param({"question_id": pa.nulls(1, pa.string())}, "1 row has no", id="no question"),
    pytest.param({"latency_ms": [-5.0]}, "bad_latency.*-5", id="less than no time"),
    pytest.param({"latency_ms": [float("nan")]}, "bad_latency.*nan", id="a time that is NaN"),
]


@pytest.mark.parametrize(("columns", "words"), NAMELESS)
def test_rows_of_a_parquet_file(scored, tmp_path, columns, words):
    table = pa.table({"question_id": ["q"], "stage": ["s"], "hits": [["x"]], **columns})
    pq.write_table(table, tmp_path / "t.parquet")
    with pytest.raises(DataError, match=words):
        scored(GOLDEN, tmp_path / "t.parquet")


@pytest.mark.parametrize("text", [" \t ", "\u3000", "\u200b\ufeff"])
def test_white_space_as_a_hit_stands_nowhere(scored, tmp_path, text):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "B").with_suffix(".md").write_text("one 𝄞 two\n\n \n three 𝄞\n")
    golden = [{"question_id": "q", "question": "?", "evidence": [{"source_id": "B.md"}]}]
    run = scored(golden, [of(text, "two")], corpus=tmp_path / "docs", metrics=["hit@1", "judged@2"])
    assert run.per_query["hit@1"].to_list() == [0]
    assert run.per_query["judged@2"].to_list() == [0.5]


def test_all_problems_of_a_file_at_once(scored, tmp_path):
    lines = [
        '{"question_id": "q", "stages": 3}',
        '{"question_id": "p"]',
        '{"question_id": "r", "x": 1}',
    ]
    (tmp_path / "t.jsonl").write_text("\n".join(lines))
    with pytest.raises(DataError) as error:
        scored(GOLDEN, tmp_path / "t.jsonl")
    found = [(problem.line, problem.question_id, problem.kind) for problem in error.value.problems]
    assert found == [(1, "q", "wrong_type"), (2, "p", "invalid_json"), (3, "r", "unknown_field")]


def test_bom_crlf_and_empty_lines(tmp_path):
    path = tmp_path / "t.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"question_id": "q", "stages": {"s": {"hits": ["x"]}}}\r\n\r\n')
    [table] = read([str(path)]).trace
    assert table.select(["question_id", "stage"]).to_pylist() == [
        {"question_id": "q", "stage": "s"}
    ]


def test_offsets_and_mere_text_can_not_be_compared(scored):
    with pytest.raises(
        DataError,
        match=r"1 question \(q\) has gold without a quote.*--corpus",
    ):
        scored(OFFSETS, [of("some text")])


SPAN = {"source_id": "d", "spans": [{"start_char": 0, "end_char": 5}]}


@pytest.mark.parametrize(
    ("evidence", "hit"),
    [
        pytest.param({"quote": "a fact"}, SPAN, id="spans"),
        pytest.param({"quote": "a fact"}, {"source_id": "d"}, id="whole documents"),
        pytest.param({"quote": "a fact", "source_id": "d"}, SPAN, id="spans of its source"),
    ],
)
def test_quotes_and_hits_without_text_can_not_be_compared(scored, evidence, hit):
    golden = [{"question_id": "q", "question": "?", "evidence": [evidence]}]
    with pytest.raises(
        DataError, match=r"1 question \(q\) has gold that is quotes alone.*--corpus"
    ):
        scored(golden, [of(hit)])


@pytest.mark.parametrize(
    ("hit", "recall"),
    [
        pytest.param({"text": "a fact"}, 1, id="text"),
        pytest.param({"source_id": "d"}, 1, id="the whole source"),
        pytest.param({"source_id": "e"}, 0, id="another source"),
        pytest.param({**SPAN, "source_id": "e"}, 0, id="spans of another source"),
        pytest.param({**SPAN, "text": "a fact"}, 1, id="spans and text"),
    ],
)
def test_quotes_of_a_source_are_compared(scored, hit, recall):
    evidence = [{"quote": "a fact", "source_id": "d"}]
    run = scored([{"question_id": "q", "question": "?", "evidence": evidence}], [of(hit)])
    assert run.per_query["recall@5"].to_list() == [recall]


def test_ids_that_nobody_knows_are_not_zero(scored):
    with pytest.raises(DataError, match=r"named by chunk_id alone.*--chunks"):
        scored(GOLDEN, [of({"chunk_id": "c1"}, {"chunk_id": "c2"})])


def test_a_chunk_that_the_table_lacks(scored, tmp_path):
    table = pa.table({"chunk_id": ["c1"], "source_id": ["B"]})
    pq.write_table(table, tmp_path / "chunks.parquet")
    with pytest.raises(DataError, match=r"the chunk table lacks 'c2' \(rank 2\)"):
        scored(
            GOLDEN, [of({"chunk_id": "c1"}, {"chunk_id": "c2"})], chunks=tmp_path / "chunks.parquet"
        )


def test_a_truncated_parquet_file(scored, tmp_path):
    pq.write_table(pa.table({"question_id": ["q"], "chunk_id": ["B"]}), tmp_path / "t.parquet")
    data = (tmp_path / "t.parquet").read_bytes()
    (tmp_path / "t.parquet").write_bytes(data[: len(data) // 2])
    with pytest.raises(DataError, match="cut off or damaged"):
        scored(GOLDEN, tmp_path / "t.parquet")


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        pytest.param({"qid": ["q"], "chunk_id": ["B"]}, "qid", id="another name"),
        pytest.param({"question_id": ["q"]}, "no column `hits`", id="no hits"),
        pytest.param({"question_id": ["q"], "hits": [3]}, "expected a list of hits", id="numbers"),
        pytest.param({"question_id": ["q"], "hits": [[{"id": "B"}]]}, "field 'id'", id="a field"),
    ],
)
def test_columns_that_are_no_trace(scored, tmp_path, columns, words):
    pq.write_table(pa.table(columns), tmp_path / "t.parquet")
    with pytest.raises(DataError, match=words):
        scored(GOLDEN, tmp_path / "t.parquet")


@pytest.mark.parametrize(
    ("trace", "options", "words"),
    [
        pytest.param("nothing.jsonl", {}, "no file at", id="no such file"),
        pytest.param("golden.csv", {}, "ends in .jsonl", id="a file of another kind"),
        pytest.param([of()], {"metrics": ["recal@5"]}, "nearest is 'recall@5'", id="a metric"),
        pytest.param([of()], {"relevant": 4}, "relevant", id="a grade"),
        pytest.param([of()], {"format": "nothing"}, "no format 'nothing'", id="a format"),
        pytest.param([of()], {"name": "a/b"}, "name", id="a name"),
    ],
)
def test_what_was_asked_is_wrong(scored, tmp_path, trace, options, words):
    (tmp_path / "golden.csv").write_text("x")
    where = trace if isinstance(trace, list) else tmp_path / trace
    with pytest.raises(ConfigError, match=words):
        scored(GOLDEN, where, **options)


def test_an_empty_trace(scored, tmp_path):
    (tmp_path / "t.jsonl").write_text("")
    with pytest.raises(DataError, match="there is no row in it"):
        scored(GOLDEN, tmp_path / "t.jsonl")


def test_an_id_of_several_texts_is_said(scored):
    one = {"chunk_id": "000", "text": "leave is 25 days"}
    golden = [
        {"question_id": n, "question": "?", "evidence": [{"quote": "25 days"}]} for n in "qrs"
    ]
    cut, other = one | {"text": "25 days"}, one | {"text": "the office is in Seoul"}
    again = scored(golden, [of(one), of(cut, name="r"), of(other, name="s")])
    assert any(
        "1 chunk_id ('000') stands for several texts" in w for w in again.manifest["warnings"]
    )
    found = dict(again.per_query.select("question_id", "hit@1").iter_rows())
    assert found == {"q": 1, "r": 1, "s": 0}
    once = scored(golden, [of(one), of(cut, name="r"), of(one, name="s")])
    assert not any("several texts" in warning for warning in once.manifest["warnings"])


def test_answers_without_stages_are_no_empty_file(scored):
    with pytest.raises(DataError, match="it has answers and no `stages`"):
        scored(GOLDEN, [{"question_id": "q", "answer": "25"}])


@pytest.mark.parametrize(
    ("judge", "words"),
    [
        ("{kind: openai, modle: m}", "judge.modle: unknown key; did you mean model"),
        ("{kind: openai, model: m, url: 'http://a:99999'}", "judge.url: .*ports are 1 to 65535"),
        ("{model: m}", "judge: needs `kind`"),
    ],
)
def test_what_is_wrong_with_the_judge_is_said_in_its_files_own_keys(tmp_path, judge, words):
    path = tmp_path / "judge.yaml"
    path.write_text(f"judge: {judge}\n")
    with pytest.raises(ConfigError, match=rf"judge\.yaml: {words}"):
        judge_part(str(path))


def test_rows_at_hand_are_checked_too(tmp_path):
    path = tmp_path / "g.csv"
    path.write_text("question_id,question,source_id\nq,?,B\n")
    with pytest.raises(DataError, match=r"trace:1.*`id` is not part"):
        rayeval.score(path, [{"question_id": "q", "id": 3}], runs=tmp_path)


def test_a_hit_without_a_score_hides_no_contradiction(scored):
    hits = [
        {"source_id": name, "score": score} for name, score in zip("ABC", [1, None, 2], strict=True)
    ]
    with pytest.raises(DataError, match=r"score_order.*rank 3 has a higher score"):
        scored(GOLDEN, [of(*hits)])
    assert scored(GOLDEN, [of(*hits)], sort="score").per_query.height == 1
    scored(GOLDEN, [of(*(hits[i] for i in (2, 1, 0)))])


FAILED = [
    {"question_id": "q", "error": "Timeout"},
    {"question_id": "r", "stages": {}, "error": "Down"},
]


def test_a_trace_of_errors_is_a_run_of_errors(scored):
    golden = [*GOLDEN, {**GOLDEN[0], "question_id": "r"}, {**GOLDEN[0], "question_id": "s"}]
    run = scored(golden, FAILED)
    assert run.summary()["status"] == {"success": 0, "failed": 0, "error": 2, "missing": 1}
    [cell] = run.aggregate.filter(metric="recall@5").to_dicts()
    assert (cell["n_error"], cell["n_missing"], cell["n"], cell["mean"]) == (2, 1, 1, 0.0)
    said = "Shares are of all 3 questions; means leave out 2 with an error, and count 1 missing as"
    assert said in run_text(run)
    assert said in (Path(run.path) / "summary.md").read_text("utf-8")
    assert said in (Path(run.path) / "report.html").read_text("utf-8")
    assert "Shares are of" not in run_text(scored(GOLDEN, [of({"source_id": "B"})]))


def test_a_trace_without_rows_is_no_run(scored):
    with pytest.raises(DataError, match="empty_trace"):
        scored(GOLDEN, [])


TYPES = [
    pytest.param({"latency_ms": ["soon"]}, "`latency_ms` is string, expected numbers", id="a time in words"),
    pytest.param({"error": [5]}, "`error` is int64, expected text", id="an error in numbers"),
    pytest.param({"stage": [1.5]}, "`stage` is double, expected text", id="a stage"),
    pytest.param({"hits": [[{"chunk_id": "c", "score": "x"}]]}, r"`hits\[\].score` is string", id="a score in words"),
    pytest.param({"hits": [[{"source_id": "B", "spans": "x"}]]}, r"`hits\[\].spans` is string", id="spans in words"),
    pytest.param({"hits": [[{"source_id": "B", "spans": [{"start_char": 1}]}]]}, "expected lists of start_char", id="half a span"),
    pytest.param({"hits": [[{"text": 5}]]}, r"`hits\[\].text` is int64, expected text", id="text in numbers"),
]  # fmt: skip


@pytest.mark.parametrize(("columns", "words"), TYPES)
def test_columns_of_other_types_are_the_inputs_fault(scored, tmp_path, columns, words):
    table = {"question_id": ["q"], "stage": ["s"], "hits": [["x"]], **columns}
    pq.write_table(pa.table(table), tmp_path / "t.parquet")
    with pytest.raises(DataError, match=f"wrong_type.*{words}"):
        scored(GOLDEN, tmp_path / "t.parquet")


def broken_after(tables):
    yield from tables
    raise DataError([Problem("mine", 7, "q", "wrong_type", "the second table is bad")])


def left(folder):
    """Files of the store, those of a scorer's own steps aside."""
    found = [*Path(folder).rglob("traces/*"), *Path(folder).rglob("*.tmp")]
    return sorted(path.name for path in found)


def tables_of(tmp_path, *rows):
    return list(read([str(write_lines(tmp_path / "t.jsonl", list(rows)))]).trace)


@pytest.mark.parametrize("size", [1, 1 << 20], ids=["after a whole run", "within the first"])
def test_wrong_tables_leave_nothing_in_the_store(tmp_path, monkeypatch, size):
    monkeypatch.setattr("rayeval.execution.score.spool.RUN_BYTES", size)
    golden = write_lines(tmp_path / "g.jsonl", GOLDEN)
    tables = tables_of(tmp_path, of({"source_id": "B"}))
    where = ScoreOptions(runs=str(tmp_path / "runs"))
    with pytest.raises(DataError, match="the second table is bad"):
        score_tables(str(golden), broken_after(tables), where)
    assert left(tmp_path / "runs") == []


def test_tables_that_cannot_be_scored_leave_only_what_was_there(tmp_path):
    golden = write_lines(tmp_path / "g.jsonl", GOLDEN)
    good = tables_of(tmp_path, of({"source_id": "B"}))
    where = ScoreOptions(runs=str(tmp_path / "runs"))
    score_tables(str(golden), good, where)
    before = left(tmp_path / "runs")
    assert len(before) == 1
    wrong = tables_of(tmp_path, of({"chunk_id": "a"}, {"chunk_id": "a"}))
    for tables in (wrong, broken_after(good)):
        with pytest.raises(DataError):
            score_tables(str(golden), tables, where)
    assert left(tmp_path / "runs") == before


def test_a_wrong_file_leaves_no_sorted_runs(tmp_path, monkeypatch):
    monkeypatch.setattr("rayeval.execution.score.spool.RUN_BYTES", 1)
    monkeypatch.setattr("rayeval.interop.own.jsonl.ROWS", 1)
    golden = write_lines(tmp_path / "g.jsonl", GOLDEN)
    trace = tmp_path / "t.jsonl"
    trace.write_text(json.dumps(of({"source_id": "B"})) + "\n" + '{"question_id": "p"]')
    with pytest.raises(DataError, match=r"t\.jsonl:2"):
        rayeval.score(golden, trace, runs=tmp_path / "runs")
    assert list((tmp_path / "runs").rglob("*.parquet")) == []
