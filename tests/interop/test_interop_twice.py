"""Tables with one name twice, which Arrow holds: refused wherever one is opened."""

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import rayeval
from rayeval.corpus.read import read_documents
from rayeval.corpus.units import Unit
from rayeval.errors import ConfigError, DataError
from rayeval.golden.load import load_questions
from rayeval.interop.formats import formats
from rayeval.interop.own import chunks
from rayeval.interop.own.parquet import opened
from rayeval.twice import named_twice

GOLDEN = [{"question_id": "q1", "question": "?", "evidence": [{"source_id": "d1"}]}]


def corpus(path):
    found = read_documents(Unit(str(path.parent), (path.name,)))
    raise DataError([problem for _, problems in found for problem in problems])


def golden(path):
    raise DataError(load_questions(str(path))[1])


def imported(name):
    def read(path):
        found = formats()[name].read([str(path)])
        for part in (found.questions, found.trace):
            list(part or ())
        raise DataError(found.problems)

    return read


OPENED = [
    pytest.param(lambda path: opened(str(path)), ["question_id", "text"], "text", id="trace"),
    pytest.param(lambda path: list(chunks.tables([str(path)])), ["chunk_id", "text"], "text",
                 id="chunks"),
    pytest.param(corpus, ["source_id", "text"], "text", id="corpus"),
    pytest.param(golden, ["question_id", "question"], "question", id="golden set"),
    pytest.param(imported("trec"), ["query_id", "doc_id", "relevance"], "doc_id", id="qrels"),
    pytest.param(imported("autorag"), ["qid", "query"], "qid", id="AutoRAG"),
    pytest.param(imported("ragas"), ["user_input", "response"], "user_input", id="ragas"),
    pytest.param(imported("openinference"), ["name", "context"], "name", id="OpenInference"),
]  # fmt: skip


@pytest.mark.parametrize(("read", "names", "again"), OPENED)
def test_a_column_that_is_there_twice_is_named(tmp_path, read, names, again):
    path = tmp_path / "given.parquet"
    pq.write_table(pa.table([["x"]] * (len(names) + 1), names=[*names, again]), path)
    with pytest.raises(DataError) as error:
        read(path)
    said = f"column {again!r} is there twice; keep one"
    assert ("field_twice", said) in [(p.kind, p.message) for p in error.value.problems]


def test_fields_of_structs_are_looked_at_however_deep():
    inner = pa.struct([pa.field("a", pa.int64()), pa.field("a", pa.string())])
    schema = pa.schema([("hits", pa.list_(pa.struct([("spans", pa.list_(inner))]))), ("b", inner)])
    assert named_twice(schema) == [
        "field `hits[].spans[].a` is there twice; keep one",
        "field `b.a` is there twice; keep one",
    ]


def test_names_that_differ_are_no_fault():
    assert named_twice(pa.schema([("a", pa.struct([("a", pa.int64())])), ("A", pa.int64())])) == []


def test_a_golden_set_with_a_field_twice_is_refused(tmp_path):
    item = pa.struct([pa.field("source_id", pa.string()), pa.field("source_id", pa.string())])
    array = pa.StructArray.from_arrays([pa.array(["d"]), pa.array(["e"])], fields=list(item))
    lists = pa.ListArray.from_arrays(pa.array([0, 1], pa.int32()), array)
    pq.write_table(pa.table({"question": ["?"], "evidence": lists}), tmp_path / "g.parquet")
    found = load_questions(str(tmp_path / "g.parquet"))[1]
    assert "field `evidence[].source_id` is there twice; keep one" in [p.message for p in found]


@pytest.mark.parametrize("kind", [pd.DataFrame, pa.table])
def test_a_table_at_hand_is_refused_in_plain_words(tmp_path, monkeypatch, kind):
    monkeypatch.chdir(tmp_path)
    names = ["question_id", "source_id", "source_id"]
    rows = [["q1", "d1", "d2"]]
    table = pd.DataFrame(rows, columns=names) if kind is pd.DataFrame else pa.table(
        [["q1"], ["d1"], ["d2"]], names=names)  # fmt: skip
    with pytest.raises((ConfigError, DataError), match=r"source_id.*keep one"):
        rayeval.score(GOLDEN, table)
