"""A key that stands twice in one object of JSON Lines or YAML: a problem with its line, never the last."""

import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rayeval.corpus.read import read_documents
from rayeval.corpus.units import Unit
from rayeval.errors import ConfigError, DataError
from rayeval.execution.decide.gating import read_gates
from rayeval.execution.load import load_config
from rayeval.golden.load import load_questions
from rayeval.interop.formats import formats
from rayeval.interop.out.ours import write_imported
from rayeval.interop.own import chunks, jsonl
from rayeval.interop.own.keys import key_twice


def golden(path):
    return load_questions(str(path))[1]


def corpus(path):
    return [p for _, found in read_documents(Unit(str(path.parent), (path.name,))) for p in found]


def trace(path):
    problems = []
    list(jsonl.Lines(problems).read(str(path)))
    return problems


def chunk_table(path):
    with pytest.raises(DataError) as error:
        list(chunks.tables([str(path)]))
    return error.value.problems


def ragas(path):
    with pytest.raises(DataError) as error:
        write_imported(formats()["ragas"].read([str(path)]), str(path.parent / "out"))
    return error.value.problems


GOOD = '{"question_id": "p", "question": "?", "answerable": false}\n'
TWICE = [
    pytest.param(golden, GOOD, '{"question": "a", "question": "b", "answerable": false}', id="golden"),
    pytest.param(golden, GOOD, '{"question": "a", "evidence": [{"source_id": "a", "source_id": "b"}]}', id="evidence"),
    pytest.param(corpus, '{"source_id": "a", "text": "x"}\n', '{"source_id": "b", "text": "x", "text": "y"}', id="corpus"),
    pytest.param(trace, '{"question_id": "p", "stages": {}}\n', '{"question_id": "q", "question_id": "r", "stages": {}}', id="a trace's question"),
    pytest.param(trace, '{"question_id": "p", "stages": {}}\n', '{"question_id": "q", "stages": {"s": {"hits": []}, "s" : {"hits": []}}}', id="a stage"),
    pytest.param(trace, '{"question_id": "p", "stages": {}}\n', '{"question_id": "q", "stages": {"s": {"hits": [{"text": "a: \\": b", "text":"c"}]}}}', id="a field of a hit"),
    pytest.param(trace, '{"question_id": "p", "stages": {}}\n', '{"question_id": "q", "stages": {"s": {"hits": [{"source_id": "a", "spans": [{"start_char": 1, "start_char": 2, "end_char": 3}]}]}}}', id="a span"),
    pytest.param(chunk_table, '{"chunk_id": "c", "source_id": "a"}\n', '{"chunk_id": "d", "source_id": "a", "chunk_id": "e"}', id="chunks"),
    pytest.param(ragas, '{"user_input": "a?"}\n', '{"user_input": "b?", "user_input": "c?"}', id="an import"),
]  # fmt: skip


@pytest.mark.parametrize(("read", "good", "twice"), TWICE)
def test_a_key_twice_is_named_by_line(tmp_path, read, good, twice):
    path = tmp_path / "f.jsonl"
    path.write_text(good + "\n" + twice + "\n", "utf-8")
    [problem] = read(path)
    assert (problem.line, problem.kind) == (3, "field_twice")
    assert "is given twice in one object; keep one" in problem.message


def test_a_chunk_table_that_is_cut_off_says_where(tmp_path):
    path = tmp_path / "f.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"chunk_id": "c", "source_id": "a"}\r\n{"chunk_id": "d", "sou')
    [problem] = chunk_table(path)
    assert (problem.line, problem.kind) == (2, "invalid_json")


@pytest.mark.parametrize(
    ("read", "text"),
    [
        pytest.param(load_config, "golden: {path: g}\ncorpus: {path: c}\ngolden: {path: h}\n", id="configuration"),
        pytest.param(load_config, "golden: {path: g, path: h}\n", id="within a group"),
        pytest.param(read_gates, "gates:\n  - {metric: mrr@5, min: 0.1, min: 0.2}\n", id="gates"),
    ],
)  # fmt: skip
def test_a_key_twice_in_yaml(tmp_path, read, text):
    path = tmp_path / "f.yaml"
    path.write_text(text)
    with pytest.raises(ConfigError, match="given twice"):
        read(str(path))


TEXT = st.text(st.sampled_from('ab":\\ {}'), max_size=6)
HIT = st.one_of(
    TEXT.filter(bool),
    st.fixed_dictionaries({}, optional={"text": TEXT, "chunk_id": TEXT, "score": st.just(1)}),
)
STAGE = st.fixed_dictionaries({"hits": st.lists(HIT, max_size=3)})
LINE = st.fixed_dictionaries(
    {"question_id": TEXT, "stages": st.dictionaries(TEXT, STAGE, max_size=3)},
    optional={"answer": TEXT},
)


@given(LINE, st.sampled_from([(",", ":"), (", ", ": "), (" , ", " : ")]))
def test_a_line_without_such_a_key_is_never_blamed(line, signs):
    assert key_twice(json.dumps(line, separators=signs).encode(), line) is None


@given(LINE, st.sampled_from([(",", ":"), (", ", " : ")]))
def test_a_key_twice_is_found_wherever_text_looks_like_keys(line, signs):
    written = io.StringIO(json.dumps(line, separators=signs))
    doubled = (
        written.read()[:-1] + signs[0] + json.dumps({"question_id": "x"}, separators=signs)[1:]
    )
    assert "question_id" in key_twice(doubled.encode(), json.loads(doubled))
