"""What the recorder can't write, or was given in the wrong place."""

import json
import threading

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import rayeval
from rayeval.errors import ConfigError, InfrastructureError, InputError, RowError
from rayeval.hits import hits_of
from rayeval.interop import own
from rayeval.metrics.foreign.checks import faults
from rayeval.metrics.foreign.hits import hits_of as columns_of
from rayeval.tables import FOREIGN


@pytest.fixture
def path(tmp_path, monkeypatch):
    monkeypatch.setenv("RAYEVAL_TRACE", str(tmp_path / "t.jsonl"))
    return tmp_path / "t.jsonl"


def lines(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


RECORDED = {
    "a stage": lambda t: t.stage("bm25", ["b"]),
    "a context": lambda t: t.context(["b"]),
    "an answer": lambda t: t.answer("b"),
}


@pytest.mark.parametrize("record", RECORDED.values(), ids=RECORDED)
def test_nothing_is_recorded_outside_of_the_block(path, record):
    early = rayeval.trace("early")
    with pytest.raises(InputError, match="outside of its block"):
        record(early)
    with rayeval.trace("q") as late:
        pass
    with pytest.raises(InputError, match=r"question 'q'.*outside of its block"):
        record(late)
    assert lines(path) == [{"question_id": "q", "stages": {}}]


def test_a_block_is_entered_once(path):
    t = rayeval.trace("q")
    with t:
        t.stage("bm25", ["a"])
    with pytest.raises(InputError, match="question 'q': its block was entered before"), t:
        pass
    assert len(lines(path)) == 1


@pytest.mark.parametrize(
    ("first", "second"),
    [
        pytest.param(RECORDED["a context"], RECORDED["a context"], id="two contexts"),
        pytest.param(RECORDED["an answer"], RECORDED["an answer"], id="two answers"),
        pytest.param(lambda t: t.stage("context", ["a"]), RECORDED["a context"], id="a stage of the name first"),
        pytest.param(RECORDED["a context"], lambda t: t.stage("context", ["a"]), id="a stage of the name last"),
    ],
)  # fmt: skip
def test_what_is_there_is_not_replaced(path, first, second):
    with rayeval.trace("q") as t:
        first(t)
        before = json.dumps(t._row)
        with pytest.raises(InputError, match="it is recorded already"):
            second(t)
    assert lines(path) == [json.loads(before)]


def test_a_thread_that_is_late_does_not_break_the_end_of_a_block(path):
    """Its stages are in the line, or refused."""
    late = []

    def work(t):
        try:
            for n in range(2000):
                t.stage(f"s{n}", ["x"])
        except InputError as error:
            late.append(error)

    for n in range(5):
        with rayeval.trace(f"q{n}") as t:
            thread = threading.Thread(target=work, args=(t,))
            thread.start()
        thread.join()
    assert len(lines(path)) == 5
    assert all("outside of its block" in str(error) for error in late)


def full(tmp_path):
    (tmp_path / "full.jsonl").symlink_to("/dev/full")
    return tmp_path / "full.jsonl"


def folder(tmp_path):
    (tmp_path / "folder.jsonl").mkdir()
    return tmp_path / "folder.jsonl"


def below_a_file(tmp_path):
    (tmp_path / "file").write_text("")
    return tmp_path / "file" / "t.jsonl"


UNWRITABLE = [
    pytest.param(full, InfrastructureError, "can't be written: .*No space left", id="a full disk"),
    pytest.param(folder, ConfigError, "can't be a file: .*Is a directory", id="a folder"),
    pytest.param(below_a_file, ConfigError, "can't be a file", id="a file as folder"),
]


@pytest.mark.parametrize(("make", "kind", "message"), UNWRITABLE)
def test_what_can_not_be_written_is_said(tmp_path, make, kind, message):
    with pytest.raises(kind, match=f"question 'q' is not recorded: .*{message}"):  # noqa: SIM117
        with rayeval.trace("q", path=make(tmp_path)):
            pass


@pytest.mark.parametrize(("make", "kind", "message"), UNWRITABLE)
def test_an_exception_of_the_block_goes_before_that(tmp_path, make, kind, message):
    with pytest.raises(KeyError) as raised, rayeval.trace("q", path=make(tmp_path)):
        raise KeyError("theirs")
    [note] = raised.value.__notes__
    assert note.startswith("rayeval: question 'q' is not recorded")


@pytest.mark.parametrize(
    "name", ["t.jsonl.gz", "t.jsonl.zst", "t.json", "t.parquet", "t", "a\0.jsonl", "", b"t.jsonl"]
)
def test_a_name_that_is_not_read_as_lines_is_refused_at_once(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError, match=r"^path is "):
        rayeval.trace("q", path=name)
    assert list(tmp_path.iterdir()) == []


HUGE = 10**5000  # of more digits than Python writes out


@pytest.mark.parametrize(
    "record",
    [
        pytest.param(lambda t: t.stage("s", [{"chunk_id": HUGE}]), id="an id"),
        pytest.param(lambda t: t.stage("s", [HUGE]), id="a hit"),
        pytest.param(lambda t: t.stage("s", [], latency_ms=HUGE), id="a time"),
        pytest.param(lambda t: t.answer("a", citations=[HUGE]), id="a citation"),
        pytest.param(lambda t: t.answer("a", abstained=HUGE), id="a refusal"),
        pytest.param(lambda t: rayeval.trace(HUGE), id="a question"),
        pytest.param(lambda t: t.stage("s", [{"source_id": "a", "spans": [(0, HUGE)]}]), id="a span"),
    ],
)  # fmt: skip
def test_a_number_too_long_to_be_shown_is_refused_like_others(path, record):
    with pytest.raises(InputError), rayeval.trace("q") as t:
        record(t)


NAMES = st.none() | st.sampled_from(["a", "b", 7, ""])
HIT = st.fixed_dictionaries(
    {},
    optional={
        "chunk_id": NAMES, "source_id": NAMES, "revision_id": NAMES, "text": st.sampled_from(["", "a"]),
        "spans": st.sampled_from([None, [], [(0, 3)], [(5, 5)]]), "score": st.sampled_from([None, 1, 2.5]),
    },
)  # fmt: skip


@given(st.lists(st.just("") | HIT, max_size=3))
@example([{"revision_id": "r"}])
@example([{"chunk_id": "a"}, {"source_id": "a"}])
@example([{"source_id": "a"}, {"source_id": "a", "revision_id": "r"}])
def test_what_is_recorded_can_be_scored(tmp_path_factory, found):
    try:
        hits_of(found)
    except RowError:
        return
    path = tmp_path_factory.mktemp("law") / "t.jsonl"
    with rayeval.trace("q", path=path) as t:
        t.stage("s", found)
    imported = own.read([str(path)])
    [table] = imported.trace
    assert imported.problems == []
    hits = columns_of(table.cast(FOREIGN), table["question_id"].combine_chunks(), ["s"])
    assert list(faults(hits, ["s"], any_order=False)) == []


@pytest.mark.parametrize("name", ["retrieve", "filter", "answer"])
def test_a_stage_called_as_a_stop_of_every_run_is_refused_at_once(tmp_path, name):
    with rayeval.trace("q", path=tmp_path / "t.jsonl") as trace:
        with pytest.raises(InputError, match=f"a stage is called '{name}'"):
            trace.stage(name, ["a"])
        trace.stage("search", ["a"])
