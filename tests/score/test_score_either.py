"""Ids that may be chunks' or documents', and gold that nothing can be compared with."""

import pytest
from score_files import write_lines

import rayeval
from rayeval.errors import DataError

GOLDEN = [
    {"question_id": "q1", "question": "How long?", "evidence": [{"source_id": "en.md", "quote": "21 days"}]},
    {"question_id": "q2", "question": "What?", "evidence": [{"source_id": "fr.md"}]},
]  # fmt: skip
CHUNKS = [
    {"chunk_id": "en#0", "source_id": "en.md", "text": "The loan period is 21 days."},
    {"chunk_id": "en.md", "source_id": "en.md", "text": "Films."},
]


@pytest.fixture
def score(tmp_path):
    """Scores ids in a file of another tool; returns hit@1 by question and the run's warnings."""
    golden = write_lines(tmp_path / "golden.jsonl", GOLDEN)
    chunks = write_lines(tmp_path / "chunks.jsonl", CHUNKS)

    def scored(kind, ids, *, given=True, **options):
        path = tmp_path / f"run.{kind}"
        if kind == "trec":
            path.write_text("".join(f"{q} Q0 {i} 1 9 mine\n" for q, i in ids.items()))
        else:
            name = kind if kind != "csv" else "doc_id"
            rows = "".join(f"{q},{i},1\n" for q, i in ids.items())
            path = tmp_path / "run.csv"
            path.write_text(f"question_id,{name},rank\n{rows}")
        run = rayeval.score(golden, path, format="trec" if kind == "trec" else "csv",
                            chunks=chunks if given else None, metrics=["source_recall@1"],
                            runs=tmp_path / "runs", **options)  # fmt: skip
        found = run.per_query.select("question_id", "source_recall@1")
        return dict(found.iter_rows()), run.manifest["warnings"]

    return scored


@pytest.mark.parametrize("kind", ["trec", "csv"])
def test_ids_of_the_chunk_table_are_chunks_and_others_documents(score, kind):
    found, warnings = score(kind, {"q1": "en#0", "q2": "fr.md"})
    assert found == {"q1": 1, "q2": 1}
    assert "of the 2 ids of hits 1 is a chunk of --chunks, and 1 is a document" in warnings


@pytest.mark.parametrize("kind", ["trec", "csv"])
def test_an_id_that_is_neither_is_counted(score, kind):
    found, warnings = score(kind, {"q1": "en#0", "q2": "fr#0"})
    assert found == {"q1": 1, "q2": 0}
    [line] = [line for line in warnings if "neither" in line]
    assert line.startswith("1 of 2 ids of hits (fr#0) is neither of a chunk in --chunks")


@pytest.mark.parametrize("kind", ["trec", "csv"])
@pytest.mark.parametrize("given", [True, False])
def test_ids_of_which_none_is_known_are_refused(score, kind, given):
    with pytest.raises(DataError, match=r"unknown_ids: none of the 1 ids of hits \(x#0\)") as error:
        score(kind, {"q1": "x#0"}, given=given)
    assert ("the chunks are en#0, en.md" in str(error.value)) == given


def test_a_column_of_sources_names_sources(score):
    """`en.md` is a chunk's id too; a hit that says it is a source stays one."""
    found, warnings = score("source_id", {"q1": "en.md"})
    assert found["q1"] == 1
    assert not [line for line in warnings if "chunk of --chunks" in line]


def asked(**evidence):
    return [{"question_id": "q", "question": "?", "evidence": [{"source_id": "d", **evidence}]}]


def hits(*found):
    return [{"question_id": "q", "stages": {"s": {"hits": list(found)}}}]


SPANS = {"source_id": "d", "spans": [{"start_char": 0, "end_char": 9}]}
BLIND = [
    pytest.param({}, "text", "without a quote", id="a document against text"),
    pytest.param({}, {"source_id": "d", "text": "text"}, "without a quote", id="of the source"),
    pytest.param({"element_id": "table-1", "cell": "r1c1"}, "text", "without a quote", id="a cell"),
    pytest.param({"start_char": 0, "end_char": 9}, "text", "without a quote", id="offsets"),
    pytest.param({}, SPANS, "parts of it", id="a document against a part of it"),
    pytest.param({"element_id": "table-1"}, SPANS, "parts of it", id="an element against a part"),
]


@pytest.mark.parametrize(("evidence", "hit", "words"), BLIND)
def test_what_cannot_be_compared_is_refused(scored, evidence, hit, words):
    with pytest.raises(DataError, match=rf"not_comparable: 1 question \(q\) has gold .*{words}"):
        scored(asked(**evidence), hits(hit))


@pytest.mark.parametrize("hit", [SPANS | {"source_id": "e"}, {"source_id": "e", "text": "t"}])
def test_a_hit_of_another_source_is_a_miss(scored, hit):
    run = scored(asked(), hits(hit), metrics=["recall@1"])
    assert run.per_query["recall@1"].to_list() == [0]


def test_sources_can_be_compared_wherever_they_are_all_that_is_asked(scored):
    run = scored(asked(), hits(SPANS), metrics=["source_recall@1"])
    assert run.per_query["source_recall@1"].to_list() == [1]


RAGAS = {"user_input": "How long?", "retrieved_contexts": ["The loan period is 21 days."],
         "response": "21 days", "reference_contexts": ["21 days"]}  # fmt: skip


def test_notes_about_gold_are_not_of_a_trace(tmp_path):
    golden = write_lines(tmp_path / "golden.jsonl", GOLDEN[:1])
    trace = write_lines(tmp_path / "ragas.jsonl", [RAGAS])
    run = rayeval.score(golden, trace, format="ragas", runs=tmp_path)
    assert [line for line in run.manifest["warnings"] if "reference_contexts" in line] == []
    assert "`retrieved_contexts` became the stage `retrieved`" in run.manifest["warnings"]


def test_a_text_of_two_questions_is_refused_even_if_one_has_the_id_made_of_it(tmp_path):
    from rayeval.ids import made_question_id

    twins = [GOLDEN[0], GOLDEN[0] | {"question_id": made_question_id("How long?")}]
    golden = write_lines(tmp_path / "golden.jsonl", twins)
    trace = write_lines(tmp_path / "ragas.jsonl", [RAGAS])
    with pytest.raises(DataError, match="ambiguous_text: the golden set has 2 questions"):
        rayeval.score(golden, trace, format="ragas", runs=tmp_path)
    named = hits("The loan period is 21 days.")
    named[0]["question_id"] = twins[1]["question_id"]
    run = rayeval.score(golden, named, runs=tmp_path, metrics=["recall@1"])
    assert sorted(run.per_query["recall@1"].to_list()) == [0, 1]
