"""Golden sets of other tools, each field where it belongs, each fault with its place."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from rayeval.cli.main import run_command
from rayeval.errors import ConfigError, DataError
from rayeval.golden.load import load_questions
from rayeval.ids import made_question_id
from rayeval.interop import formats
from rayeval.interop.out.ours import write_imported
from rayeval.interop.reading import listed


def lines(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


def whole(path, value):
    path.write_text(json.dumps(value), encoding="utf-8")
    return str(path)


def read(name, *paths):
    """Questions, documents, trace rows, answers; problems fail."""
    found = formats()[name].read(list(paths))
    parts = (
        list(found.questions or ()),
        list(found.documents or ()),
        [row for table in found.trace or () for row in table.to_pylist()],
        [row for table in found.answers or () for row in table.to_pylist()],
    )
    assert list(found.problems) == []
    return parts


def faults(name, *paths):
    """(line, kind, message) of what can't be mapped."""
    try:
        found = formats()[name].read(list(paths))
        for part in (found.questions, found.documents, found.trace, found.answers):
            for _ in part or ():
                pass
        problems = found.problems
    except DataError as error:
        problems = error.problems
    return [(problem.line, problem.kind, problem.message) for problem in problems]


@pytest.fixture
def beir(tmp_path):
    """A collection whose grades a test gives."""

    def write(qrels, *, split="test"):
        (tmp_path / "qrels").mkdir(exist_ok=True)
        corpus = [{"_id": "d1", "title": "T", "text": "one"}, {"_id": 2, "text": "two"}]
        lines(tmp_path / "corpus.jsonl", corpus)
        lines(
            tmp_path / "queries.jsonl", [{"_id": "q1", "text": "Which?"}, {"_id": 7, "text": "?"}]
        )
        head = "query-id\tcorpus-id\tscore\n"
        (tmp_path / "qrels" / f"{split}.tsv").write_bytes((head + qrels).encode())
        return str(tmp_path)

    return write


def test_beir_binary_grades_become_three_and_say_so(beir):
    folder = beir("q1\td1\t1\nq1\t2\t0\n")
    questions, documents, trace, _ = read("beir", folder)
    assert questions == [
        {
            "question_id": "q1",
            "question": "Which?",
            "evidence": [{"source_id": "d1", "relevance": 3}, {"source_id": "2", "relevance": 0}],
            "split": "test",
        }
    ]
    assert documents == [
        {"source_id": "d1", "title": "T", "text": "one"},
        {"source_id": "2", "text": "two"},
    ]
    assert trace == []
    notes = formats()["beir"].read([folder]).notes
    assert "1 became relevance 3" in notes[0]
    assert any("1 query has no judgement" in note for note in notes)


def test_beir_graded_judgements_are_kept(beir):
    folder = beir("q1\td1\t2\r\n7\t2\t1\r\n", split="other")
    questions, *_ = read("beir", folder)
    assert [e["relevance"] for q in questions for e in q["evidence"]] == [2, 1]
    assert not any(q.keys() & {"answerable", "labels"} for q in questions)  # 1 is for us to say
    assert "split" not in questions[0]
    found = formats()["beir"].read([folder])
    assert (found.relevant, found.notes[0]) == (1, "grades 0 to 3 are kept as relevance")


def test_beir_query_of_which_no_document_is_relevant_is_not_labelled(beir):
    folder = beir("q1\td1\t2\n7\t2\t0\n")
    first, second = read("beir", folder)[0]
    assert "labels" not in first and second["labels"] == "none" and "answerable" not in second
    assert any("1 question is not labelled (no document is graded above 0)" in note
               for note in formats()["beir"].read([folder]).notes)  # fmt: skip


@pytest.mark.parametrize(
    ("qrels", "line", "kind", "said"),
    [
        pytest.param("q1\td1\t4\n", 2, "bad_grade", "'4'", id="a grade beyond 3"),
        pytest.param("q1\td1\t-1\n", 2, "bad_grade", "'-1'", id="a negative grade"),
        pytest.param("q1\td1\t0.5\n", 2, "bad_grade", "'0.5'", id="half a grade"),
        pytest.param("q1\td1\t1\nq9\td1\t1\n", 3, "unknown_question", "'q9'", id="unknown query"),
        pytest.param("q1\td1\t1\nq1\td1\t1\n", 3, "duplicate_judgement", "'d1'", id="judged twice"),
        pytest.param("q1\td1\n", 2, "invalid_csv", "2 cells", id="a column is missing"),
        pytest.param("q1\t\t1\n", 2, "missing_field", "empty", id="an id is missing"),
    ],
)
def test_beir_refuses_a_judgement_by_its_line(beir, qrels, line, kind, said):
    ((found_line, found_kind, message),) = faults("beir", beir(qrels))
    assert (found_line, found_kind) == (line, kind)
    assert said in message


RAGAS = {
    "user_input": "Who?",
    "retrieved_contexts": ["a", "b"],
    "retrieved_context_ids": [1, "x"],
    "reference_contexts": ["gold", "gold", "more"],
    "response": "Me.",
    "reference": "You.",
}


def test_ragas_maps_every_field(tmp_path):
    (question,), _, trace, answers = read("ragas", lines(tmp_path / "r.jsonl", [RAGAS]))
    name = made_question_id("Who?")
    assert question == {
        "question_id": name,
        "question": "Who?",
        "reference_answer": "You.",
        "evidence": [{"quote": "gold"}, {"quote": "more"}],
    }
    assert [(row["stage"], row["question_id"]) for row in trace] == [("retrieved", name)]
    assert [(h["chunk_id"], h["text"]) for h in trace[0]["hits"]] == [("1", "a"), ("x", "b")]
    assert (answers[0]["answer"], answers[0]["context"]) == ("Me.", ["a", "b"])


def test_ragas_reads_older_names_of_csv_as_pandas_writes_it(tmp_path):
    contexts = str(["it's", "b"]).replace('"', '""')
    row = f'"Who, then?","{contexts}",You.,Me.'
    path = tmp_path / "r.csv"
    path.write_text(f"\ufeffquestion,contexts,ground_truth,answer\r\n{row}\r\n", newline="")
    (question,), _, trace, _ = read("ragas", str(path))
    assert (question["question"], question["reference_answer"]) == ("Who, then?", "You.")
    assert [hit["text"] for hit in trace[0]["hits"]] == ["it's", "b"]


def test_ragas_parquet_and_json_lines_are_one(tmp_path):
    pq.write_table(
        pa.Table.from_pylist([{**RAGAS, "retrieved_context_ids": ["1", "x"]}]),
        tmp_path / "r.parquet",
    )
    here = read("ragas", str(tmp_path / "r.parquet"))
    assert here == read("ragas", lines(tmp_path / "r.jsonl", [RAGAS]))


@pytest.mark.parametrize(
    ("change", "kind", "said"),
    [
        pytest.param({"user_input": None}, "missing_field", "`user_input`", id="no question"),
        pytest.param({"user_input": " "}, "missing_field", "blank", id="a blank question"),
        pytest.param({"user_input": [{}]}, "unsupported", "multi-turn", id="a conversation"),
        pytest.param(
            {"retrieved_contexts": "a"}, "wrong_type", "`retrieved_contexts`", id="no list"
        ),
        pytest.param({"retrieved_contexts": ["a", 1]}, "wrong_type", "[1]", id="a number as text"),
        pytest.param({"retrieved_context_ids": ["x"]}, "wrong_length", "1 `retr", id="too few ids"),
        pytest.param(
            {"retrieved_context_ids": [True, "x"]}, "wrong_type", "True", id="true as an id"
        ),
        pytest.param({"user_input": "\ud800"}, "lone_surrogate", "U+D800", id="half a character"),
    ],
)
def test_ragas_refuses_naming_row_and_field(tmp_path, change, kind, said):
    path = lines(tmp_path / "r.jsonl", [{"user_input": "ok"}, {**RAGAS, **change}])
    ((line, found, message),) = faults("ragas", path)
    assert (line, found) == (2, kind)
    assert said in message


@pytest.mark.parametrize(
    ("cell", "texts"),
    [
        pytest.param("['a' 'b']", ["a", "b"], id="numpy"),
        pytest.param("['it\\'s' \n \"b ' c\"]", ["it's", "b ' c"], id="numpy over two lines"),
        pytest.param("['a, b']", ["a, b"], id="one text"),
        pytest.param("['a', 'b']", ["a", "b"], id="python"),
        pytest.param("[]", [], id="empty"),
    ],
)
def test_a_list_in_a_cell(cell, texts):
    assert listed(cell, "contexts") == texts


@pytest.mark.parametrize("cell", ["['a' 'b', 'c']", "['a' ... 'b']", "['a' 'b'", "['a'] ['b']"])
def test_a_list_that_could_mean_two_things_is_refused(tmp_path, cell):
    path = tmp_path / "r.csv"
    path.write_text(f'question,contexts\nWho?,"{cell}"\n')
    ((line, kind, message),) = faults("ragas", str(path))
    assert (line, kind) == (2, "wrong_type")
    assert "as JSON or Python writes it" in message


def test_all_bad_rows_are_named_at_once(tmp_path):
    path = tmp_path / "r.jsonl"
    path.write_bytes(b'{"user_input": 1}\n{"user_input"\n\xff\n[]\n{"user_input": "ok"}\n')
    found = faults("ragas", str(path))
    assert sorted(line for line, *_ in found) == [1, 2, 3, 4]
    assert {kind for _, kind, _ in found} == {"wrong_type", "invalid_json", "not_utf8"}


def test_one_question_twice_is_named_with_both_places(tmp_path):
    path = lines(tmp_path / "r.jsonl", [RAGAS, RAGAS])
    ((line, kind, message),) = faults("ragas", path)
    assert (line, kind) == (2, "duplicate_question_id")
    assert "r.jsonl:1" in message


@pytest.mark.parametrize("name", [n for n in formats() if n not in ("beir", "legalbench", "trec")])
def test_another_extension_is_refused(tmp_path, name):
    (tmp_path / "x.xml").write_text("<a/>")
    ((_, kind, message),) = faults(name, str(tmp_path / "x.xml"))
    assert kind == "unknown_format"
    assert "'.xml'" in message


@pytest.mark.parametrize("name", list(formats()))
def test_a_missing_file_is_said(tmp_path, name):
    extension = {
        "beir": ".tsv", "csv": ".csv", "chroma": ".csv", "autorag": ".parquet",
        "openinference": ".jsonl", "ragas": ".jsonl", "clapnq": ".jsonl", "nomiracl": ".jsonl",
        "mtrag": ".jsonl",
    }.get(name, ".json")  # fmt: skip
    kinds = {kind for _, kind, _ in faults(name, str(tmp_path / f"none{extension}"))}
    assert kinds == {"missing_file"}


def test_chroma_needs_all_references_and_finds_its_sources(tmp_path):
    (tmp_path / "talk.md").write_text("A😀B says hello")
    reference = json.dumps([{"content": "B", "start_index": 2, "end_index": 3}] * 1)
    (tmp_path / "q.csv").write_text(
        'question,references,corpus_id\nWho?,"{}",talk\n'.format(reference.replace('"', '""'))
    )
    files = [str(tmp_path / name) for name in ("q.csv", "talk.md")]
    (question,), documents, *_ = read("chroma", *files)
    assert question["evidence"] == [
        {"source_id": "talk.md", "start_char": 2, "end_char": 3, "quote": "B"}
    ]
    assert documents == [{"source_id": "talk.md", "text": "A😀B says hello"}]
    (alone,), none, *_ = read("chroma", files[0])
    assert (alone["evidence"][0]["source_id"], none) == ("talk", [])


@pytest.mark.parametrize(
    ("gt", "groups", "answerable"),
    [
        pytest.param([["a", "b"], ["c"]], [("g1", "a"), ("g1", "b"), ("g2", "c")], True, id="and of or"),
        pytest.param(["a", "b"], [("g1", "a"), ("g2", "b")], True, id="a flat list is and"),
        pytest.param("a", [("g1", "a")], True, id="a text is one passage"),
        pytest.param([[]], [], False, id="nothing to find is unanswerable"),
    ],
)  # fmt: skip
def test_autorag_groups(tmp_path, gt, groups, answerable):
    row = {"qid": "q", "query": "Who?", "retrieval_gt": gt, "generation_gt": ["x", "y"]}
    row |= {
        "retrieved_ids": ["c", "a"],
        "retrieved_contents": ["C", "A"],
        "retrieve_scores": [2.0, 1.0],
    }
    pq.write_table(pa.Table.from_pylist([row]), tmp_path / "qa.parquet")
    corpus = [{"doc_id": "a", "contents": "A", "metadata": {"x": 1}}]
    pq.write_table(pa.Table.from_pylist(corpus), tmp_path / "corpus.parquet")
    paths = [str(tmp_path / name) for name in ("qa.parquet", "corpus.parquet")]
    (question,), documents, trace, _ = read("autorag", *paths)
    assert [(e["group_id"], e["source_id"]) for e in question["evidence"]] == groups
    assert (question["answerable"], question["reference_answer"]) == (answerable, "x")
    assert documents == [{"source_id": "a", "text": "A"}]
    assert [(h["source_id"], h["text"], h["score"]) for h in trace[0]["hits"]] == [
        ("c", "C", 2.0), ("a", "A", 1.0),
    ]  # fmt: skip


def test_squad_answers_are_alternatives_by_offset(tmp_path):
    answers = [
        {"text": "B", "answer_start": 2},
        {"text": "B", "answer_start": 2},
        {"text": "😀B", "answer_start": 1},
    ]
    qas = [
        {"id": 5, "question": "Who?", "answers": answers, "is_impossible": False},
        {"id": "n", "question": "Why?", "answers": [], "is_impossible": True,
         "plausible_answers": answers},
    ]  # fmt: skip
    path = whole(
        tmp_path / "s.json",
        {"data": [{"title": "T", "paragraphs": [{"context": "A😀B", "qas": qas}]}]},
    )
    (first, second), documents, *_ = read("squad", path)
    place = {"group_id": "g1", "source_id": "T#1"}
    assert first["question_id"] == "5"
    assert first["evidence"] == [
        {**place, "start_char": 2, "end_char": 3, "quote": "B"},
        {**place, "start_char": 1, "end_char": 3, "quote": "😀B"},
    ]
    assert (second["answerable"], second["evidence"]) == (False, [])
    assert documents == [{"source_id": "T#1", "text": "A😀B"}]


def test_squad_names_the_field_within_the_file(tmp_path):
    qas = [{"id": 1, "question": "Who?", "answers": [{"text": "B", "answer_start": "2"}]}]
    path = whole(
        tmp_path / "s.json",
        {"data": [{"title": "T", "paragraphs": [{"context": "AB", "qas": qas}]}]},
    )
    ((_, _, message),) = faults("squad", path)
    assert "`data[0].paragraphs[0].qas[0].answers[0].answer_start` is '2'" in message


@pytest.mark.parametrize(
    "form",
    [
        pytest.param(lambda c, f: (c, f), id="the original"),
        pytest.param(
            lambda c, f: (
                {"title": [t for t, _ in c], "sentences": [s for _, s in c]},
                {"title": [t for t, _ in f], "sent_id": [n for _, n in f]},
            ),
            id="hugging face",
        ),
    ],
)
def test_hotpotqa_facts_stand_where_their_offsets_say(tmp_path, form):
    context, facts = form([["T", ["One.", " Two. ", "Three."]]], [["T", 1], ["T", 2]])
    row = {
        "_id": "h",
        "question": "Who?",
        "answer": "x",
        "context": context,
        "supporting_facts": facts,
    }
    (question,), (document,), *_ = read("hotpotqa", whole(tmp_path / "h.json", [row]))
    assert document["text"] == "One. Two. Three."
    found = [document["text"][e["start_char"] : e["end_char"]] for e in question["evidence"]]
    assert found == [e["quote"] for e in question["evidence"]] == ["Two.", "Three."]
    assert all("group_id" not in e for e in question["evidence"])


def test_hotpotqa_refuses_a_sentence_that_is_not_there(tmp_path):
    row = {
        "_id": "h",
        "question": "Who?",
        "context": [["T", ["One."]]],
        "supporting_facts": [["T", 1]],
    }
    ((line, kind, message),) = faults("hotpotqa", whole(tmp_path / "h.json", [row]))
    assert (line, kind) == (1, "unknown_sentence")
    assert "`supporting_facts[0]`" in message


def test_musique_needs_every_supporting_paragraph(tmp_path):
    paragraphs = [
        {"title": "T", "paragraph_text": text, "is_supporting": flag}
        for text, flag in (("a", True), ("b", False), ("c", True))
    ]
    row = {
        "id": "m",
        "question": "Who?",
        "answer": "x",
        "paragraphs": paragraphs,
        "answerable": True,
    }
    rows = [row, {**row, "id": "n", "answerable": False}]
    (first, second), documents, *_ = read("musique", lines(tmp_path / "m.jsonl", rows))
    assert [e["source_id"] for e in first["evidence"]] == [
        documents[0]["source_id"],
        documents[2]["source_id"],
    ]
    assert (second["answerable"], second["evidence"]) == (False, [])
    assert len({d["source_id"] for d in documents}) == len(documents) == 3


def test_mtrag_has_history_cluster_and_the_unanswerable(tmp_path):
    turns = [
        {"speaker": s, "text": t} for s, t in (("user", "Hi"), ("agent", "Yes?"), ("user", "Who?"))
    ]
    row = {
        "task_id": "c<::>2", "conversation_id": "c", "Collection": "fiqa", "answerability": ["PARTIAL"],
        "input": turns, "targets": [{"speaker": "agent", "text": "Me."}],
        "contexts": [{"document_id": "d", "text": "t", "title": ""}],
    }  # fmt: skip
    rows = [row, {**row, "task_id": "c<::>3", "answerability": ["UNDERSPECIFIED"]}]
    (first, second), documents, *_ = read("mtrag", lines(tmp_path / "m.jsonl", rows))
    assert first["history"] == [
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": "Yes?"},
    ]
    assert (first["question"], first["cluster"], first["reference_answer"]) == ("Who?", "c", "Me.")
    assert first["evidence"] == [{"source_id": "d", "relevance": 2}]
    assert (second["answerable"], second["evidence"]) == (False, [])
    assert second["slices"] == ["underspecified", "fiqa"]
    assert documents == [{"source_id": "d", "text": "t"}]


def test_clapnq_annotators_are_alternatives(tmp_path):
    passage = {"title": "T", "text": "One . Two . Three ."}
    output = [
        {"answer": "x", "selected_sentences": ["One .", "Three ."]},
        {"answer": "", "selected_sentences": []},
        {"answer": "y", "selected_sentences": ["Two ."]},
    ]
    row = {"id": "9", "input": "which", "passages": [passage], "output": output}
    (question,), _, *_ = read("clapnq", lines(tmp_path / "c.jsonl", [row]))
    spans = [[(s["start_char"], s["end_char"]) for s in e["spans"]] for e in question["evidence"]]
    assert spans == [[(0, 5), (12, 19)], [(6, 11)]]
    assert {e["group_id"] for e in question["evidence"]} == {"g1"}


def test_legalbench_spans_and_corpus(tmp_path):
    (tmp_path / "corpus" / "cuad").mkdir(parents=True)
    (tmp_path / "corpus" / "cuad" / "a.txt").write_bytes(b"Party A\r\nagrees")
    snippet = {"file_path": "cuad/a.txt", "span": [8, 14], "answer": "agrees"}
    path = whole(tmp_path / "b.json", {"tests": [{"query": "What?", "snippets": [snippet]}]})
    (question,), (document,), *_ = read("legalbench", path, str(tmp_path / "corpus"))
    (evidence,) = question["evidence"]
    assert document["source_id"] == evidence["source_id"] == "cuad/a.txt"
    assert document["text"][evidence["start_char"] : evidence["end_char"]] == evidence["quote"]


@pytest.mark.parametrize("camel", [False, True], ids=["snake case", "camel case"])
def test_deepeval(tmp_path, camel):
    names = ("expectedOutput", "actualOutput", "retrievalContext") if camel else (
        "expected_output", "actual_output", "retrieval_context")  # fmt: skip
    row = {
        "input": "Who?",
        "context": ["gold"],
        **dict(zip(names, ("You.", "Me.", ["a"]), strict=True)),
    }
    (question,), _, trace, answers = read("deepeval", whole(tmp_path / "d.json", [row]))
    assert (question["reference_answer"], question["evidence"]) == ("You.", [{"quote": "gold"}])
    assert [h["text"] for h in trace[0]["hits"]] == ["a"]
    assert answers[0]["answer"] == "Me."


def test_ragchecker(tmp_path):
    result = {
        "query_id": 3, "query": "Who?", "gt_answer": "You.", "response": "Me.",
        "retrieved_context": [{"doc_id": "d", "text": "t"}],
    }  # fmt: skip
    path = whole(tmp_path / "r.json", {"results": [result]})
    (question,), _, trace, answers = read("ragchecker", path)
    assert (question["question_id"], question["reference_answer"]) == ("3", "You.")
    assert [(h["chunk_id"], h["text"]) for h in trace[0]["hits"]] == [("d", "t")]
    assert answers[0]["answer"] == "Me."


PROMPT = "Read.\n\nQUESTION:\n누구?\n\nCONTEXTS:\n[1] 하나\n\n[2] 둘\n\nOUTPUT:\n"


def nomiracl(folder, **fields):
    row = {"query_id": 7, "docids": ["a", "b"], "prompt": PROMPT, **fields}
    folder.mkdir(exist_ok=True)
    return lines(folder / "ko.relevant.jsonl", [row])


def test_what_each_model_said_becomes_a_trace_of_its_own(tmp_path):
    said = {"gpt/4 x": "I don't know.", "other": "", "../up": "Yes"}
    found = formats()["nomiracl"].read([nomiracl(tmp_path / "in", results=said)])
    assert found.notes[-1] == "the outputs of 3 models became trace-MODEL.jsonl"
    written = write_imported(found, str(tmp_path / "out"))
    names = {"trace-gpt_4_x.jsonl", "trace-other.jsonl", "trace-.._up.jsonl"}
    assert names <= set(written) == {path.name for path in (tmp_path / "out").iterdir()}
    hits = [{"source_id": "ko-a"}, {"source_id": "ko-b"}]
    assert json.loads((tmp_path / "out" / "trace-gpt_4_x.jsonl").read_text()) == {
        "question_id": "ko-7",
        "stages": {"retrieved": {"hits": hits}},
        "context": hits,
        "answer": "I don't know.",
    }
    with pytest.raises(ConfigError, match="already"):
        write_imported(formats()["nomiracl"].read([nomiracl(tmp_path / "in", results=said)]),
                       str(tmp_path / "out"))  # fmt: skip


def test_prompts_without_outputs_have_one_trace_and_outputs_that_are_no_texts_are_named(tmp_path):
    written = write_imported(formats()["nomiracl"].read([nomiracl(tmp_path)]), str(tmp_path / "o"))
    assert set(written) == {"golden.jsonl", "docs.jsonl", "trace.jsonl"}
    bad = formats()["nomiracl"].read([nomiracl(tmp_path, results={"m": 3})])
    with pytest.raises(DataError, match="expected an object with a text per model"):
        write_imported(bad, str(tmp_path / "bad"))
    assert not (tmp_path / "bad").exists()


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "folder", "files", "questions", "evidence", "documents"),
    [
        pytest.param("chroma", "chroma_chunking", ["questions_df.csv", "*.md"], 472, 790, 5, id="chroma"),
        pytest.param("clapnq", "clapnq", ["*.jsonl"], 600, 370, 597, id="clapnq"),
        pytest.param("hotpotqa", "hipporag_multihop", ["hotpotqa_train.json"], 100, 229, 994, id="hotpotqa"),
        pytest.param("musique", "hipporag_multihop", ["musique_train.json"], 100, 237, 1890, id="musique"),
        pytest.param("nomiracl", "nomiracl_ko_en", ["*.jsonl"], 1000, 0, 9552, id="nomiracl"),
        pytest.param("mtrag", "mtrag_human", ["reference.jsonl"], 507, 851, 1152, id="mtrag"),
        pytest.param("squad", "covidqa", ["*.json"], 1380, 1380, 98, id="covidqa"),
        pytest.param("ragchecker", "ragchecker_meta", ["human_labeled_data.json"], 280, 0, 0, id="ragchecker"),
    ],
)  # fmt: skip
def test_real_data_comes_whole(
    shared_data, tmp_path, name, folder, files, questions, evidence, documents
):
    paths = [str(path) for glob in files for path in sorted(shared_data(folder).glob(glob))]
    written = write_imported(formats()[name].read(paths), str(tmp_path))
    assert written["golden.jsonl"] == questions
    assert written.get("docs.jsonl", 0) == documents
    table, problems = load_questions(str(tmp_path / "golden.jsonl"))
    unlabelled = {"nomiracl": 500, "ragchecker": 280}.get(name, 0)
    assert [p.kind for p in problems] == ["unlabelled"] * bool(unlabelled)
    assert table["labels"].to_pylist().count("none") == unlabelled
    assert sum(len(row) for row in table["evidence"].to_pylist()) == evidence


def test_a_failed_import_leaves_no_folder(tmp_path, capsys):
    wrong = tmp_path / "wrong.jsonl"
    wrong.write_text('{"x": 1}\n' * 25)
    (tmp_path / "there").mkdir()
    for out in (tmp_path / "new" / "deep", tmp_path / "there"):
        assert run_command(["golden", "import", "ragas", str(wrong), "--out", str(out)]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "… and 5 more: 5 missing_field" in said and "validate" not in said
    assert not (tmp_path / "new").exists()
    assert list((tmp_path / "there").iterdir()) == []


def test_a_folder_in_place_of_a_file_is_called_one(tmp_path, capsys):
    folder = tmp_path / "chroma"
    folder.mkdir()
    (folder / "questions_df.csv").write_text("question,references,corpus_id\n")
    for format_, kinds in (("chroma", ".csv"), ("csv", ".csv or .tsv")):
        assert (
            run_command(["golden", "import", format_, str(folder), "--out", str(tmp_path / "o")])
            == 2
        )
        said = " ".join(capsys.readouterr().err.split())
        assert f"this is a folder, expected {kinds}; in it is questions_df.csv" in said
