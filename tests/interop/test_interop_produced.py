"""Files that the tools themselves wrote (produced/README.md says which versions) come in right."""

import gzip
import json
from pathlib import Path

import pytest

import rayeval
from rayeval.ids import made_question_id
from rayeval.interop import formats
from rayeval.interop.out.ours import write_imported

HERE = Path(__file__).parent / "produced"
LEAVE, PARKING, LAPTOPS = (
    "연차는 15일이다.", "Parking costs 40 euros a month.", "Laptops are replaced after 4 years.",
)  # fmt: skip
ASKED = (
    "연차는 며칠인가요?", "What does parking cost?", "When are laptops replaced?", "Does it fail?",
    "What is not there?",
)  # fmt: skip


def read(name, *files):
    """Questions, documents, rows of the trace and answers; problems fail."""
    found = formats()[name].read([str(HERE / file) for file in files])
    questions, documents = list(found.questions or ()), list(found.documents or ())
    rows = [row for table in found.trace or () for row in table.to_pylist()]
    answers = [row for table in found.answers or () for row in table.to_pylist()]
    assert list(found.problems) == []
    return questions, documents, rows, answers


def hits(row):
    """What is known of the hits, without their scores."""
    return row["hits"] and [
        (h["chunk_id"], h["source_id"], h["text"], h["spans"] and h["spans"][0]["end_char"])
        for h in row["hits"]
    ]


C1, C2, C3 = (
    ("c1", "hr.md", LEAVE, 10),
    ("c2", "parking.md", PARKING, None),
    (None, None, LAPTOPS, None),
)
OF_LANGCHAIN = [
    (0, "Words", [C1, C2]), (0, "Words 2", [C3, C2]), (0, "fused", [C2, C1, C3]),
    (1, "Words", [C1, C2, C3]), (1, "ContextualCompressionRetriever", [C3, C2]),
    (2, "Words", [C1, C2]), (3, "Words", None), (4, "Words", []),
]  # fmt: skip


def stages(rows):
    numbers = {made_question_id(question): number for number, question in enumerate(ASKED)}
    return [(numbers[row["question_id"]], row["stage"], hits(row)) for row in rows]


@pytest.mark.parametrize(
    "file",
    ["langchain.otlp.jsonl.gz", "langchain.console.json.gz", "langchain.messages.json.gz"],
)
def test_langchain_has_arms_retries_errors_and_ids(file):
    _, _, rows, answers = read("openinference", file)
    assert stages(rows) == OF_LANGCHAIN
    assert [row["error"] for row in rows if row["error"]] == [
        "TimeoutError('the index did not answer')"
    ]
    assert [answer["answer"] for answer in answers] == [
        "15일입니다.",
        "40 euros.",
        "After 4 years.",
    ]
    assert all(PARKING in answer["context"][0] for answer in answers)
    assert [answer["context"][-1] for answer in answers] == list(ASKED[:3])


@pytest.mark.parametrize(
    "file",
    [
        "phoenix.spans.parquet", "phoenix.spans.jsonl.gz", "phoenix.spans.csv.gz",
        "phoenix.rest.json.gz", "phoenix.otlpv1.json.gz",
    ],
)  # fmt: skip
def test_phoenix_gives_back_what_it_was_sent(file):
    _, _, rows, answers = read("openinference", file)
    assert stages(rows) == OF_LANGCHAIN
    assert [(a["repeat"], a["answer"]) for a in answers] == [
        (0, "15일입니다."), (0, "40 euros."), (0, "After 4 years."), (1, "text text text"),
    ]  # fmt: skip


def test_llamaindex_has_one_stage_per_retrieval_and_its_reranker():
    _, _, rows, answers = read("openinference", "llamaindex.otlp.jsonl.gz")
    assert [(row["stage"], [(h["chunk_id"], h["score"]) for h in row["hits"]]) for row in rows] == [
        ("Nodes.retrieve", [("c1", 0.5), ("c2", 0.25)]), ("reranked", [("c2", 9.0), ("c1", 8.0)]),
    ]  # fmt: skip
    assert [hit["source_id"] for hit in rows[1]["hits"]] == ["parking.md", "hr.md"]
    assert answers[0]["answer"] == "text text text"
    assert PARKING in answers[0]["context"][0]


def test_spans_of_the_genai_conventions():
    _, _, rows, answers = read("openinference", "genai.otlp.jsonl")
    assert [(row["question_id"], row["stage"]) for row in rows] == [
        (made_question_id(ASKED[1]), "retrieval handbook")
    ]
    assert [(h["chunk_id"], h["text"], h["score"]) for h in rows[0]["hits"]] == [
        ("c2", PARKING, 0.9), ("c1", None, 0.1),
    ]  # fmt: skip
    assert [(a["answer"], a["context"]) for a in answers] == [
        ("40 euros.", [f"{PARKING} What does it cost?"])
    ]


@pytest.mark.parametrize("file", ["langfuse.api.json", "langfuse.csv"])
def test_langfuse_observations(file):
    _, _, rows, answers = read("langfuse", file)
    asked = [made_question_id(question) for question in (ASKED[0], ASKED[1], ASKED[3])]
    assert [(row["question_id"], row["stage"], hits(row)) for row in rows] == [
        (asked[0], "Words", [("c1", "hr.md", LEAVE, None), (None, "parking.md", PARKING, None)]),
        (asked[1], "search", [("c2", None, PARKING, None)]),
        (asked[2], "search", None),
    ]
    assert rows[1]["hits"][0]["score"] == 0.5
    assert rows[2]["error"] == "the index did not answer"
    assert [(a["answer"], a["context"][-1]) for a in answers] == [
        ("15일", ASKED[0]), ("40 euros.", f"{PARKING} What does it cost?"),
    ]  # fmt: skip


def test_langfuse_items_keep_their_ids_and_are_the_questions_of_its_traces(tmp_path):
    questions, _, _, _ = read("langfuse", "langfuse.items.json")
    assert [(q["question_id"], q["question"], q.get("reference_answer")) for q in questions] == [
        ("i0", ASKED[0], "15일"),
        ("i1", "Parking?", "40 euros."),
        ("i2", "No reference?", None),
    ]
    golden = tmp_path / "golden.jsonl"
    golden.write_text("\n".join(json.dumps({**q, "labels": "none"}) for q in questions))
    run = rayeval.score(
        str(golden), str(HERE / "langfuse.api.json"), format="langfuse", runs=str(tmp_path / "runs")
    )
    assert run.trace["question_id"].to_list() == ["i0"]  # by its text, the one that both have


def test_a_retry_counts_with_the_time_of_both_attempts():
    with gzip.open(HERE / "langchain.otlp.jsonl.gz", "rt") as lines:
        spans = [span for line in lines for span in spans_of(json.loads(line))]
    failed = next(s for s in spans if s["name"] == "Words" and s["status"].get("code") == 2)
    again = next(
        s for s in spans if s["name"] == "Words" and s["parentSpanId"] == failed["parentSpanId"]
        and s is not failed
    )  # fmt: skip
    _, _, rows, _ = read("openinference", "langchain.otlp.jsonl.gz")
    took = int(again["endTimeUnixNano"]) - int(failed["startTimeUnixNano"])
    assert rows[5]["latency_ms"] == pytest.approx(took / 1e6, abs=0.01)


def spans_of(export):
    return [s for r in export["resourceSpans"] for scope in r["scopeSpans"] for s in scope["spans"]]


@pytest.mark.parametrize("kind", ["gz", "many files", "concatenated", "lines called .json"])
def test_how_spans_are_cut_into_files_does_not_matter(tmp_path, kind):
    text = gzip.decompress((HERE / "langchain.otlp.jsonl.gz").read_bytes()).decode()
    exports = [json.loads(line) for line in text.splitlines()]
    paths = [tmp_path / "spans.json"]
    if kind == "gz":
        paths = [tmp_path / "spans.JSON.gz"]
        paths[0].write_bytes(gzip.compress(text.encode()))
    elif kind == "many files":
        paths = [tmp_path / f"{n}.json" for n in range(len(exports))]
        for path, export in zip(paths, reversed(exports), strict=True):
            path.write_text(json.dumps(export))
    else:
        indent = 1 if kind == "concatenated" else None
        paths[0].write_text("\n".join(json.dumps(export, indent=indent) for export in exports))
    found = formats()["openinference"].read([str(path) for path in paths])
    rows = [row for table in found.trace for row in table.to_pylist()]
    assert stages(rows) == OF_LANGCHAIN


def test_interleaved_spans_without_their_parents_keep_their_questions(tmp_path):
    text = gzip.decompress((HERE / "langchain.otlp.jsonl.gz").read_bytes()).decode()
    spans = [span for line in text.splitlines() for span in spans_of(json.loads(line))]
    kinds = {a["key"]: a["value"] for s in spans for a in s["attributes"]}
    assert "openinference.span.kind" in kinds
    kept = [
        s for s in spans if {"stringValue": "RETRIEVER"} in [a["value"] for a in s["attributes"]]
    ]
    kept.sort(key=lambda span: span["spanId"])
    path = tmp_path / "spans.json"
    path.write_text(json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": kept}]}]}))
    found = formats()["openinference"].read([str(path)])
    rows = [row for table in found.trace for row in table.to_pylist()]
    assert stages(rows) == OF_LANGCHAIN
    assert list(found.answers) == []


@pytest.mark.parametrize("kind", ["json", "jsonl", "csv"])
def test_deepeval_joins_a_golden_and_its_test_cases(kind):
    questions, _, rows, answers = read("deepeval", f"deepeval.{kind}")
    pieces = [LAPTOPS_BAR] if kind == "json" else ["Laptops ", " 4 years."]
    assert [(q["question"], q["reference_answer"]) for q in questions] == [
        (ASKED[0], "15일"), (ASKED[1], "40 euros."), ("Who won?", "Nobody."),
    ]  # fmt: skip
    assert [q.get("evidence") for q in questions] == [
        [{"quote": LEAVE}],
        [{"quote": NET}, *({"quote": piece} for piece in pieces)],
        None,
    ]
    assert questions[2]["labels"] == "none"
    assert hits(rows[0])[-1] == (None, "hr.md", LEAVE, None)
    assert [text for _, _, text, _ in hits(rows[0])[:-1]] == pieces
    assert [(row["question_id"], row["stage"]) for row in rows] == [
        (made_question_id(ASKED[0]), "retrieved")
    ]
    assert [(a["repeat"], a["answer"]) for a in answers] == [(0, "15일입니다."), (1, "열다섯 날")]
    assert answers[0]["context"] == [*pieces, LEAVE]


def test_deepeval_refuses_one_input_with_two_contexts(tmp_path):
    rows = [{"input": "Who?", "context": [text]} for text in ("a", "b")]
    (tmp_path / "d.json").write_text(json.dumps(rows))
    found = formats()["deepeval"].read([str(tmp_path / "d.json")])
    assert len(list(found.questions)) == 1
    ((line, kind, message),) = [(p.line, p.kind, p.message) for p in found.problems]
    assert (line, kind) == (2, "duplicate_question_id")
    assert "d.json:1 has this input with another `context`" in message


NET, LAPTOPS_BAR = 'Parking costs 40 euros\na month, "net".', "Laptops | 4 years."


@pytest.mark.parametrize("kind", ["jsonl", "csv", "pandas.csv", "hf.csv", "hf.parquet"])
def test_ragas_is_the_same_however_it_was_saved(kind):
    questions, _, rows, answers = read("ragas", f"ragas.{kind}")
    assert [(q["question"], q.get("evidence"), q.get("labels")) for q in questions] == [
        (ASKED[1], [{"quote": NET}], None), (ASKED[0], [{"quote": LEAVE}], None),
        ("Who won?", None, "none"),
    ]  # fmt: skip
    assert [(r["question_id"], [(h["chunk_id"], h["text"]) for h in r["hits"]]) for r in rows] == [
        (made_question_id(ASKED[1]), [("c3", LAPTOPS_BAR), ("c2", NET)]),
        (made_question_id(ASKED[0]), []),
    ]
    assert [a["answer"] for a in answers] == ["40 euros.", "모르겠습니다.", "Nobody."]


def test_autorag_questions_and_passages():
    questions, documents, _, _ = read("autorag", "autorag.qa.parquet", "autorag.corpus.parquet")
    found = [[(e["group_id"], e["source_id"]) for e in q["evidence"]] for q in questions]
    assert found == [[("g1", "d1")], [("g1", "d2"), ("g1", "d1"), ("g2", "d3")], []]
    assert [q["answerable"] for q in questions] == [True, True, False]
    assert [q["reference_answer"] for q in questions] == ["15일", "40 euros", "nobody knows"]
    assert documents == [
        {"source_id": f"d{n}", "text": text} for n, text in enumerate((LEAVE, PARKING, LAPTOPS), 1)
    ]


def test_autorag_hybrid_node_has_its_arms_and_its_prompt():
    _, _, rows, answers = read("autorag", "autorag.node.parquet")
    assert [(r["stage"], [h["source_id"] for h in r["hits"]]) for r in rows[:3]] == [
        ("lexical", ["d1", "d2"]), ("semantic", ["d2", "d3"]), ("fused", ["d2", "d1"]),
    ]  # fmt: skip
    assert rows[6]["hits"] == []
    assert rows[2]["hits"][0]["score"] == pytest.approx(1 / 61 + 1 / 62)
    assert [a["answer"] for a in answers] == ["15일", "40 euros", "I don't know"]
    assert PARKING in answers[0]["context"][0]


@pytest.mark.parametrize("file", ["ragchecker.inputs.json", "ragchecker.outputs.json"])
def test_ragchecker_numbers_are_no_ids(file):
    questions, _, rows, answers = read("ragchecker", file)
    assert [(q["question_id"], q.get("reference_answer")) for q in questions] == [
        ("0", "15일"), ("1", "40 euros."), ("2", None),
    ]  # fmt: skip
    assert [hits(row) for row in rows] == [
        [(None, None, LEAVE, None), (None, None, PARKING, None)], [(None, None, LAPTOPS, None)],
    ]  # fmt: skip
    assert [(a["question_id"], a["answer"]) for a in answers] == [
        ("0", "15일입니다."),
        ("1", "Forty."),
    ]
    notes = formats()["ragchecker"].read([str(HERE / file)]).notes
    assert "one `doc_id` has several texts" in notes[-1]


def test_legalbench_spans_count_line_ends_as_its_generators_do():
    questions, documents, _, _ = read("legalbench", "legalbench.json", "legalbench")
    texts = {document["source_id"]: document["text"] for document in documents}
    assert sorted(texts) == ["cuad/Laptops.txt", "cuad/Parking LEASE.txt"]
    found = [
        [
            (texts[e["source_id"]][e["start_char"] : e["end_char"]], e["quote"])
            for e in q["evidence"]
        ]
        for q in questions
    ]
    assert found == [
        [(t, t) for t in ("Korean law governs.", "대한민국 법")],
        [("two years", "two years")],
        [("four years", "four years")],
    ]
    assert questions[2]["question_id"] == questions[1]["question_id"] + "-2"


@pytest.mark.parametrize(
    ("name", "files", "context"),
    [
        ("openinference", ["langchain.otlp.jsonl.gz"],
         [{"chunk_id": "c2", "source_id": "parking.md", "text": PARKING},
          {"chunk_id": "c1", "source_id": "hr.md", "text": LEAVE,
           "spans": [{"start_char": 0, "end_char": 10}]}, LAPTOPS]),
        ("langfuse", ["langfuse.api.json"],
         [{"chunk_id": "c1", "source_id": "hr.md", "text": LEAVE},
          {"source_id": "parking.md", "text": PARKING}]),
        ("autorag", ["autorag.node.parquet"],
         [{"source_id": "d2", "text": PARKING, "score": 0.033},
          {"source_id": "d1", "text": LEAVE, "score": 0.016}]),
    ],
)  # fmt: skip
def test_a_context_is_the_hits_that_the_model_was_sent(tmp_path, name, files, context):
    """The trace that is written says so as `score --format` would find it."""
    write_imported(formats()[name].read([str(HERE / file) for file in files]), str(tmp_path))
    first = json.loads((tmp_path / "trace.jsonl").read_text().splitlines()[0])
    for hit in first["context"]:
        if isinstance(hit, dict) and "score" in hit:
            hit["score"] = round(hit["score"], 3)
    assert first["context"] == context


def test_repeats_stand_beside_their_question(tmp_path):
    write_imported(formats()["deepeval"].read([str(HERE / "deepeval.json")]), str(tmp_path))
    first, again = map(json.loads, (tmp_path / "trace.jsonl").read_text().splitlines())
    assert (first["answer"], first["context"]) == (
        "15일입니다.", [LAPTOPS_BAR, {"source_id": "hr.md", "text": LEAVE}],
    )  # fmt: skip
    assert (again["question_id"], again["repeat"], again["answer"], again["context"]) == (
        first["question_id"], 1, "열다섯 날", first["context"],
    )  # fmt: skip
