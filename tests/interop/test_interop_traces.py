"""Foreign traces: hits in tables, spans, and what `golden import` writes of them."""

import gzip
import json
from datetime import UTC, datetime, timedelta

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rayeval.cli.main import run_command
from rayeval.errors import DataError
from rayeval.ids import made_question_id
from rayeval.interop import formats, own
from rayeval.tables import FOREIGN


def trace(name, path):
    """Rows of the trace and of the answers; problems fail."""
    found = formats()[name].read([str(path)])
    tables = list(found.trace)
    assert all(table.schema == FOREIGN for table in tables)
    answers = [row for table in found.answers or () for row in table.to_pylist()]
    assert list(found.problems) == []
    return [row for table in tables for row in table.to_pylist()], answers


def faults(name, path):
    try:
        found = formats()[name].read([str(path)])
        for part in (found.trace, found.answers, found.questions):
            for _ in part or ():
                pass
        problems = found.problems
    except DataError as error:
        problems = error.problems
    return [(problem.line, problem.kind, problem.message) for problem in problems]


def test_csv_ranks_order_hits_and_stages_keep_their_order(tmp_path):
    path = tmp_path / "hits.csv"
    path.write_text(
        "﻿qid,doc_id,text,rank,score,stage,title\r\n"
        "q2,b,,2,,bm25,x\r\n"
        'q1,a,"two\nlines",1,0.5,fused,x\r\n'
        "q2,c,,1,,bm25,x\r\n"
        "q2,가 나,,1,,dense,x\r\n",
        newline="",
    )
    rows, _ = trace("csv", path)
    assert [(r["question_id"], r["stage"]) for r in rows] == [
        ("q2", "bm25"), ("q2", "dense"), ("q1", "fused"),
    ]  # fmt: skip
    assert [[h["source_id"] for h in r["hits"]] for r in rows] == [["c", "b"], ["가 나"], ["a"]]
    assert (rows[2]["hits"][0]["text"], rows[2]["hits"][0]["score"]) == ("two\nlines", 0.5)
    assert rows[2]["hits"][0]["spans"] is None
    assert "title" in formats()["csv"].read([str(path)]).notes[0]


@pytest.mark.parametrize(
    "mark", [pytest.param(";", id="semicolons"), pytest.param("\t", id="tabs")]
)
def test_csv_with_what_a_spreadsheet_puts_between_cells(tmp_path, mark):
    path = tmp_path / "hits.csv"
    path.write_text('qid,doc_id,text\r\nq1,a,"x, y"\r\n'.replace(",", mark), newline="")
    ((row,), _) = trace("csv", path)
    assert (row["question_id"], row["hits"][0]["text"]) == ("q1", f"x{mark} y")
    path.write_text("qid;doc_id\nq1;a;b\n")
    ((line, kind, said),) = faults("csv", path)
    assert (line, kind) == (2, "invalid_csv")
    assert "3 cells under 2 columns" in said


def test_csv_offsets_become_spans_and_ids_stay_text(tmp_path):
    path = tmp_path / "hits.tsv"
    path.write_text("question_id\tsource_id\tstart_char\tend_char\n007\tNA\t3\t9\n007\tb\t\t\n")
    ((row,), _) = trace("csv", path)
    first, second = row["hits"]
    assert (row["question_id"], row["stage"], first["source_id"]) == ("007", "trace", "NA")
    assert first["spans"] == [{"start_char": 3, "end_char": 9}]
    assert second["spans"] is None


@pytest.mark.parametrize(
    ("text", "line", "kind", "said"),
    [
        pytest.param("qid,text\n,x\n", 2, "missing_field", "`question_id`", id="no question"),
        pytest.param("qid,text,rank\nq,,1\n", 2, "missing_field", "no chunk id", id="no hit"),
        pytest.param('qid,text,score\nq,"a\nb",1\nq,c,NaN\n', 4, "bad_number", "'NaN'", id="nan"),
        pytest.param("qid,text,score\nq,c,inf\n", 2, "bad_number", "'inf'", id="infinite"),
        pytest.param("qid,text,rank\nq,c,1.5\n", 2, "bad_number", "whole", id="half a rank"),
        pytest.param(
            "qid,text,rank\nq,c,1\nq,d,1\n", 3, "duplicate_rank", "`rank`", id="rank twice"
        ),
        pytest.param(
            "qid,text,rank\nq,c,1\nq,d,\n", 3, "missing_field", "`rank`", id="rank missing"
        ),
        pytest.param("qid,text\nq,c,d\n", 2, "invalid_csv", "3 cells", id="too many cells"),
        pytest.param("qid,rank\nq,1\n", 1, "missing_field", "doc_id", id="no column for the hit"),
        pytest.param("qid,text,text\nq,1,2\n", 1, "field_twice", "'text'", id="a column twice"),
        pytest.param(
            "qid,text,content\nq,1,2\n", 1, "field_twice", "content", id="two names of one"
        ),
        pytest.param(
            "qid,text,start_char,end_char\nq,c,1,\n", 2, "missing_field", "pairs", id="half a span"
        ),
    ],
)
def test_csv_refuses_a_row_by_its_line(tmp_path, text, line, kind, said):
    (tmp_path / "hits.csv").write_text(text)
    ((found_line, found_kind, message),) = faults("csv", tmp_path / "hits.csv")
    assert (found_line, found_kind) == (line, kind)
    assert said in message


WORDS = st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=5)


@settings(max_examples=30)
@given(st.lists(st.tuples(WORDS, WORDS, WORDS), min_size=1, max_size=20))
def test_csv_is_the_grouping_of_its_rows(tmp_path_factory, rows):
    path = tmp_path_factory.mktemp("csv") / "hits.csv"
    quoted = [[f'"{cell.replace(chr(34), chr(34) * 2)}"' for cell in row] for row in rows]
    body = "".join(",".join(row) + "\n" for row in quoted)
    path.write_text("question_id,stage,text\n" + body, newline="")
    want = {}
    for question, stage, text in rows:
        want.setdefault((question, stage), []).append(text)
    found, _ = trace("csv", path)
    assert {(r["question_id"], r["stage"]): [h["text"] for h in r["hits"]] for r in found} == want
    names = [row["question_id"] for row in found]
    assert names == sorted(names, key=[question for question, *_ in rows].index)


def documents(*texts):
    return [
        {"document.content": text, "document.id": f"c{i}", "document.score": 1.0 - i / 10,
         "document.metadata": json.dumps({"source_id": "s"})}
        for i, text in enumerate(texts)
    ]  # fmt: skip


def phoenix():
    """Spans of one trace as Phoenix's dataframe has them: not in order."""
    start = datetime(2026, 8, 1, 9, 0, tzinfo=UTC)

    def span(number, kind, name, begin, end, parent="1", **attributes):
        return {
            "context.trace_id": "t", "context.span_id": str(number), "parent_id": parent,
            "name": name, "span_kind": kind, "status_code": "OK",
            "start_time": start + timedelta(milliseconds=begin),
            "end_time": start + timedelta(milliseconds=end),
            **{f"attributes.{key.replace('__', '.')}": v for key, v in attributes.items()},
        }  # fmt: skip

    message = [{"message.role": "user", "message.content": "prompt"}]
    said = [{"message.role": "assistant", "message.content": "said"}]
    return [
        span(1, "CHAIN", "query", 0, 100, None, input__value="Who?", output__value="Me."),
        span(4, "LLM", "llm", 60, 99, llm__input_messages=message, llm__output_messages=said),
        span(3, "RERANKER", "cohere", 40, 55, reranker__output_documents=documents("b"),
             reranker__input_documents=documents("a", "b")),
        span(2, "RETRIEVER", "vector", 5, 35.5, retrieval__documents=documents("a", "b")),
    ]  # fmt: skip


def check_phoenix(path):
    rows, answers = trace("openinference", path)
    assert [(r["question_id"], r["stage"], r["latency_ms"]) for r in rows] == [
        (made_question_id("Who?"), "vector", 30.5),
        (made_question_id("Who?"), "reranked", 15.0),
    ]
    assert [(h["chunk_id"], h["source_id"], h["text"], h["score"]) for h in rows[0]["hits"]] == [
        ("c0", "s", "a", 1.0), ("c1", "s", "b", 0.9),
    ]  # fmt: skip
    assert [(a["answer"], a["context"], a["repeat"]) for a in answers] == [("Me.", ["prompt"], 0)]


def test_phoenix_parquet(tmp_path):
    names = dict.fromkeys(name for span in phoenix() for name in span)
    rows = [{name: span.get(name) for name in names} for span in phoenix()]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "spans.parquet")
    check_phoenix(tmp_path / "spans.parquet")


def test_phoenix_json_lines(tmp_path):
    path = tmp_path / "spans.jsonl"
    path.write_text("".join(json.dumps(s, default=datetime.isoformat) + "\n" for s in phoenix()))
    check_phoenix(path)


def flat(value, at=""):
    if isinstance(value, dict):
        return [pair for k, v in value.items() for pair in flat(v, f"{at}.{k}" if at else k)]
    if isinstance(value, list):
        return [pair for i, v in enumerate(value) for pair in flat(v, f"{at}.{i}")]
    return [(at, value)]


def otlp(spans):
    """The same spans as an OTLP exporter writes them, lists flattened into numbered keys."""

    def kinds(value):
        return {"doubleValue": value} if isinstance(value, float) else {"stringValue": value}

    out = []
    for span in spans:
        given = {k.removeprefix("attributes."): v for k, v in span.items() if k.startswith("attr")}
        pairs = [("openinference.span.kind", span["span_kind"]), *flat(given)]
        row = {
            "traceId": span["context.trace_id"], "spanId": span["context.span_id"],
            "parentSpanId": span["parent_id"] or "", "name": span["name"],
            "startTimeUnixNano": str(round(span["start_time"].timestamp() * 1e6) * 1000),
            "endTimeUnixNano": str(round(span["end_time"].timestamp() * 1e6) * 1000),
            "attributes": [{"key": k, "value": kinds(v)} for k, v in pairs], "status": {},
        }  # fmt: skip
        out.append(row)
    return {"resourceSpans": [{"scopeSpans": [{"spans": out}]}]}


def test_otlp_json(tmp_path):
    (tmp_path / "spans.json").write_text(json.dumps(otlp(phoenix())))
    check_phoenix(tmp_path / "spans.json")


def test_a_long_list_keeps_its_order(tmp_path):
    texts = [f"p{i}" for i in range(12)]
    spans = [s for s in phoenix() if s["span_kind"] != "RERANKER"]
    spans[-1]["attributes.retrieval.documents"] = documents(*texts)
    (tmp_path / "spans.json").write_text(json.dumps(otlp(spans)))
    rows, _ = trace("openinference", tmp_path / "spans.json")
    assert [hit["text"] for hit in rows[0]["hits"]] == texts


def written(tmp_path, spans):
    path = tmp_path / "spans.jsonl"
    path.write_text("".join(json.dumps(s, default=datetime.isoformat) + "\n" for s in spans))
    return path


def test_a_failed_retriever_is_an_error_and_an_empty_one_is_not(tmp_path):
    spans = [s for s in phoenix() if s["span_kind"] != "RERANKER"]
    del spans[-1]["attributes.retrieval.documents"]
    ((row,), _) = trace("openinference", written(tmp_path, spans))
    assert (row["hits"], row["error"]) == ([], None)
    spans[-1] |= {"status_code": "ERROR", "status_message": "timed out"}
    ((row,), _) = trace("openinference", written(tmp_path, spans))
    assert (row["hits"], row["error"]) == (None, "timed out")


def test_a_question_asked_again_is_a_repeat(tmp_path):
    later = [{**s, "context.trace_id": "u"} for s in phoenix()]
    later[0]["attributes.output.value"] = "You."
    path = written(tmp_path, [*later, *phoenix()])
    rows, answers = trace("openinference", path)
    assert [row["stage"] for row in rows] == ["vector", "reranked"]
    assert [(a["repeat"], a["answer"]) for a in answers] == [(0, "Me."), (1, "You.")]
    found = formats()["openinference"].read([str(path)])
    assert "1 trace asks a question again" in found.notes[0]


def test_a_question_id_in_the_metadata_wins(tmp_path):
    spans = phoenix()
    spans[0]["attributes.metadata"] = json.dumps({"question_id": 17})
    rows, _ = trace("openinference", written(tmp_path, spans))
    assert {row["question_id"] for row in rows} == {"17"}


@pytest.mark.parametrize(
    ("number", "change", "said"),
    [
        pytest.param(3, {"attributes.retrieval.documents": [{"document.content": "__REDACTED__"}]}, "hidden", id="hidden text"),
        pytest.param(3, {"attributes.retrieval.documents": "x"}, "retrieval.documents", id="no list"),
        pytest.param(3, {"start_time": "yesterday"}, "`start_time`", id="no time"),
        pytest.param(3, {"context.trace_id": None}, "`context.trace_id`", id="no trace"),
    ],
)  # fmt: skip
def test_spans_that_cannot_be_mapped_are_named(tmp_path, number, change, said):
    spans = [s for s in phoenix() if s["span_kind"] != "RERANKER"]
    spans[-1] |= change
    found = faults("openinference", written(tmp_path, spans))
    assert any(said in message for _, _, message in found)


def test_a_span_called_as_a_stop_of_every_run_is_a_stage_of_another_name(tmp_path):
    spans = [s | {"name": "retrieve"} for s in phoenix() if s["span_kind"] != "RERANKER"]
    rows, _ = trace("openinference", written(tmp_path, spans))
    assert [row["stage"] for row in rows] == ["retrieve span"]


def test_a_trace_without_its_question_is_refused(tmp_path):
    spans = [s for s in phoenix() if s["span_kind"] in ("CHAIN", "RETRIEVER")]
    spans[0]["attributes.input.mime_type"] = "application/json"
    ((_, kind, message),) = faults("openinference", written(tmp_path, spans))
    assert kind == "missing_field"
    assert "'t'" in message


def test_lists_may_be_json_text_and_a_value_may_stand_above_others(tmp_path):
    spans = [s for s in phoenix() if s["span_kind"] != "RERANKER"]
    listed = [{"document": {"content": "a", "metadata": '{"source_id": "s"}'}}]
    spans[-1] |= {
        "attributes.retrieval.documents": json.dumps(listed),
        "attributes.error": True,
        "attributes.error.type": "none",
    }
    rows, _ = trace("openinference", written(tmp_path, spans))
    assert [(h["text"], h["source_id"]) for h in rows[0]["hits"]] == [("a", "s")]


def test_metadata_that_was_cut_off_is_named(tmp_path):
    spans = [s for s in phoenix() if s["span_kind"] != "RERANKER"]
    cut = [{"document.content": "a", "document.metadata": '{"source_id": "s'}]
    spans[-1]["attributes.retrieval.documents"] = cut
    ((_, kind, message),) = faults("openinference", written(tmp_path, spans))
    assert kind == "invalid_json"
    assert "metadata` is not JSON, or cut off" in message


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"input": "Who?", "chat_history": []}, {"input": "Who?", "answer": "Me."}),
        ({"kwargs": {}, "query": {"question": "Who?"}}, {"result": "Me."}),
    ],
)
def test_the_question_and_answer_in_an_object(tmp_path, asked, said):
    spans = phoenix()
    for side, value in (("input", asked), ("output", said)):
        spans[0][f"attributes.{side}.value"] = json.dumps(value)
        spans[0][f"attributes.{side}.mime_type"] = "application/json"
    rows, answers = trace("openinference", written(tmp_path, spans))
    assert rows[0]["question_id"] == made_question_id("Who?")
    assert answers[0]["answer"] == "Me."


def test_a_question_id_may_stand_on_any_span(tmp_path):
    spans = phoenix()
    spans[-1]["attributes.metadata"] = {"question_id": "q-17"}
    rows, _ = trace("openinference", written(tmp_path, spans))
    assert {row["question_id"] for row in rows} == {"q-17"}


def test_a_trace_of_our_own_may_be_compressed(tmp_path):
    row = {"question_id": "q", "stages": {"s": {"hits": ["a"]}}}
    path = tmp_path / "t.jsonl.gz"
    path.write_bytes(gzip.compress(json.dumps(row).encode()))
    tables = list(own.read([str(path)]).trace)
    assert [t["question_id"].to_pylist() for t in tables] == [["q"]]


def test_langfuse_trace_with_observations(tmp_path):
    trace_row = {
        "id": "t", "timestamp": "2026-08-01T09:00:00Z", "input": {"question": "Who?"}, "output": "Me.",
        "observations": [
            {"id": "1", "traceId": "t", "type": "RETRIEVER", "name": "kb", "input": "Who?",
             "startTime": "2026-08-01T09:00:00.010Z", "endTime": "2026-08-01T09:00:00.030Z",
             "output": [{"page_content": "a", "id": "c", "metadata": {"source_id": "s"}}, "b"]},
        ],
    }  # fmt: skip
    path = tmp_path / "t.json"
    path.write_text(json.dumps(trace_row))
    ((row,), (answer,)) = trace("langfuse", path)
    assert (row["question_id"], row["stage"], row["latency_ms"]) == (
        made_question_id("Who?"),
        "kb",
        20,
    )
    assert [(h["chunk_id"], h["source_id"], h["text"]) for h in row["hits"]] == [
        ("c", "s", "a"), (None, None, "b"),
    ]  # fmt: skip
    assert answer["answer"] == "Me."


def test_langfuse_dataset_items_come_without_gold(tmp_path):
    path = tmp_path / "items.csv"
    path.write_text('id,input,expectedOutput\nitem1,"{""query"": ""Who?""}",You.\n,Why?,So.\n')
    found = formats()["langfuse"].read([str(path)])
    assert list(found.questions) == [
        {
            "question_id": "item1",
            "question": "Who?",
            "reference_answer": "You.",
            "labels": "none",
        },
        {
            "question_id": made_question_id("Why?"),  # without an id, as traces have it
            "question": "Why?",
            "reference_answer": "So.",
            "labels": "none",
        },
    ]
    assert "golden label" in found.of_gold[-1]


def test_import_writes_our_files_and_prints_the_mapping(tmp_path, capsys):
    row = {
        "user_input": "Who?",
        "retrieved_contexts": ["a"],
        "reference_contexts": ["g"],
        "response": "Me.",
    }
    (tmp_path / "r.jsonl").write_text(json.dumps(row))
    out = tmp_path / "out"
    assert (
        run_command(["golden", "import", "ragas", str(tmp_path / "r.jsonl"), "--out", str(out)])
        == 0
    )
    printed = capsys.readouterr().out
    assert "golden.jsonl: 1 row" in printed
    assert "note: `retrieved_contexts` became" in printed
    assert sorted(path.name for path in out.iterdir()) == ["golden.jsonl", "trace.jsonl"]
    name = made_question_id("Who?")
    assert json.loads((out / "trace.jsonl").read_text()) == {
        "question_id": name, "stages": {"retrieved": {"hits": [{"text": "a"}]}},
        "answer": "Me.", "context": ["a"],
    }  # fmt: skip
    assert (
        run_command(["golden", "import", "ragas", str(tmp_path / "r.jsonl"), "--out", str(out)])
        == 2
    )
    assert "already" in " ".join(capsys.readouterr().err.split())


def test_import_json_is_one_document(tmp_path, capsys):
    (tmp_path / "r.jsonl").write_text(
        json.dumps({"user_input": "Who?", "reference_contexts": ["g"]})
    )
    arguments = [
        "golden",
        "import",
        "ragas",
        str(tmp_path / "r.jsonl"),
        "--out",
        str(tmp_path / "o"),
        "--json",
    ]
    assert run_command(arguments) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["files"] == {"golden.jsonl": 1}
    assert len(found["notes"]) == 3


def test_import_leaves_nothing_where_a_row_is_refused(tmp_path, capsys):
    (tmp_path / "r.jsonl").write_text('{"user_input": "Who?"}\n{"user_input": 3}\n')
    out = tmp_path / "out"
    assert (
        run_command(["golden", "import", "ragas", str(tmp_path / "r.jsonl"), "--out", str(out)])
        == 2
    )
    assert "r.jsonl:2 wrong_type: `user_input` is 3, expected text" in " ".join(
        capsys.readouterr().err.split()
    )
    assert not out.exists()


def test_import_help_lists_every_format(capsys):
    assert run_command(["golden", "import", "--help"]) == 0
    printed = capsys.readouterr().out
    assert all(f"{name}:" in printed for name in formats())
    assert "rayeval golden import" in printed.split("Example")[1]


def test_an_unknown_format_names_the_known(tmp_path, capsys):
    assert run_command(["golden", "import", "rags", "x", "--out", str(tmp_path)]) == 2
    assert "ragas" in " ".join(capsys.readouterr().err.split())
