"""Lines that a killed process or a full disk tore."""

import pytest
from live_search import QUESTIONS

import rayeval
from rayeval.interop import own


@pytest.fixture
def path(tmp_path, monkeypatch):
    monkeypatch.setenv("RAYEVAL_TRACE", str(tmp_path / "t.jsonl"))
    return tmp_path / "t.jsonl"


def read(path):
    """The questions of a trace, what is wrong with it, and what is to be said of it."""
    found = own.read([str(path)])
    names = [name for table in found.trace for name in table["question_id"].to_pylist()]
    list(found.answers)
    return names, found.problems, found.notes


def recorded_line(path):
    with rayeval.trace('q-"2"\\\n가') as t:
        t.stage(
            "bm25", [{"chunk_id": "a", "text": "한글 \\ \t😀", "score": -8.5e-10}], latency_ms=1
        )
        t.stage("dense", [{"source_id": "s", "start_char": 1, "end_char": 20}])
        t.answer(None, abstained=True, citations=[])
    line = path.read_bytes().removesuffix(b"\n")
    path.unlink()
    return line


def test_a_torn_line_costs_its_own_question_wherever_it_was_torn(path):
    line = recorded_line(path)
    good = b'{"question_id": "q-1", "stages": {"bm25": {"hits": ["a"]}}}\n'
    for size in range(1, len(line)):
        path.write_bytes(good + line[:size])
        at_the_end = read(path)
        with rayeval.trace("q-3") as t:
            t.stage("bm25", ["b"])
        for (names, problems, notes), want in (
            (at_the_end, ["q-1"]),
            (read(path), ["q-1", "q-3"]),
        ):
            assert (names, problems) == (want, [])
            assert [f"{path}:2 [" in note for note in notes] == [True]


def test_a_line_that_lacks_its_end_alone_is_whole(path):
    line = recorded_line(path)
    path.write_bytes(line)
    with rayeval.trace("q-3") as t:
        t.stage("bm25", ["b"])
    names, problems, notes = read(path)
    assert (set(names), problems, list(notes)) == ({'q-"2"\\\n가', "q-3"}, [], [])


@pytest.mark.parametrize(
    "line",
    [
        '{"question_id": "q"]',
        '{"question_id": "q", "stages": [',
        '{"question_id":"q",',
        '{"id": "q',
    ],
)
def test_what_the_recorder_never_began_is_refused(path, line):
    path.write_text(line)
    _, [problem], notes = read(path)
    assert (problem.line, problem.kind, list(notes)) == (1, "invalid_json", [])


def test_the_run_names_what_was_torn(path):
    torn = '{"question_id": "q-2", "stages": {"bm25": {"hits": [{"te\n'
    path.write_text('{"question_id": "q-1", "stages": {"bm25": {"hits": ["a"]}}}\n' + torn)
    run = rayeval.score(QUESTIONS, path, runs=path.parent / "runs")
    [said] = [line for line in run.manifest["warnings"] if "t.jsonl" in line and "torn" not in line]
    assert said == (
        "1 line of the trace ends in the middle, as where the process that wrote it was killed or "
        f"the disk was full, and counts as not written: {path}:2 [q-2]"
    )
    again = rayeval.score(QUESTIONS, path, runs=path.parent / "runs")  # of what is stored
    assert said in again.manifest["warnings"]
