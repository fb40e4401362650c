"""Large exports: what is read is set aside on disk, and comes out as if it had been in memory."""

import json
import random
import tempfile
import tracemalloc
from pathlib import Path

import pyarrow as pa
import pytest

from rayeval.errors import InfrastructureError, Problem
from rayeval.interop import formats, spill
from rayeval.interop.out.ours import trace_rows, write_imported
from rayeval.interop.records import Record
from rayeval.interop.spans import Span
from rayeval.interop.spill import Spill
from rayeval.interop.traces import imported_traces
from rayeval.tables import ANSWERS


@pytest.mark.parametrize("size", [1, 1 << 20], ids=["on disk", "in memory"])
def test_values_come_out_in_order_and_by_place(monkeypatch, size):
    monkeypatch.setattr(spill, "MEMORY_BYTES", size)
    kept, values = Spill(), [{"a": "가" * n, "b": [n, None]} for n in range(50)]
    places = [kept.add(value) for value in values]
    assert list(kept) == values
    assert [kept.at(place) for place in reversed(places)] == values[::-1]
    one, other = iter(kept), iter(kept)
    assert [next(one), next(one), next(other), next(one)] == [*values[:2], values[0], values[2]]
    assert list(Spill()) == []


def test_what_has_no_room_is_the_machine_s_fault(monkeypatch):
    class Full:
        def __init__(self, max_size):
            pass

        def write(self, data):
            raise OSError(28, "No space left on device")

        def close(self):
            pass

    monkeypatch.setattr(tempfile, "SpooledTemporaryFile", Full)
    with pytest.raises(InfrastructureError, match=r"No space left.*TMPDIR"):
        Spill().add("a")


def span(trace, at, kind, text, **said):
    start = 1_000_000 * trace + at
    return Span(
        Record("spans.jsonl", at, {}), f"t{trace}", f"s{at}", f"s{at - 1}" if at else None,
        kind.lower(), kind, start, start + 10, None,
        {"input": {"value": f"question {trace}"}, "metadata": text} | said,
    )  # fmt: skip


def spans(traces, size=0):
    """Three spans to a trace, each with a text of its own of `size` characters."""
    for trace in range(traces):
        text = f"{trace}{'x' * size}"
        found = {"documents": [{"document": {"content": f"passage {trace}"}}]}
        yield span(trace, 0, "CHAIN", text, output={"value": f"answer {trace}"})
        yield span(trace, 1, "RETRIEVER", text, retrieval=found)
        asked = [{"message": {"role": "user", "content": f"passage {trace}"}}]
        yield span(trace, 2, "LLM", text, llm={"input_messages": asked})


def laid_out(found):
    parts = (found.trace, found.answers)
    return [[t.to_pylist() for t in part] for part in parts], list(found.notes), found.problems


@pytest.mark.parametrize("size", [1, 1 << 30], ids=["on disk", "in memory"])
def test_spans_may_lie_anywhere(monkeypatch, size):
    ordered = list(spans(40))
    again = span(50, 0, "CHAIN", "", input={"value": "question 3"}, output={"value": "second"})
    ordered += [again, span(50, 1, "RETRIEVER", "", retrieval={"documents": []})]
    ordered += [span(60, 0, "CHAIN", ""), span(70, 0, "RETRIEVER", "", input={"value": " "})]
    problems: list[Problem] = []
    want = laid_out(imported_traces(iter(ordered), problems))
    assert len(want[0][0][0]) == 40
    assert [row["answer"] for row in want[0][1][0]][-1] == "second"
    assert len(want[1]) == 2
    assert [problem.kind for problem in want[2]] == ["missing_field"]
    monkeypatch.setattr(spill, "MEMORY_BYTES", size)
    mixed = random.Random(3).sample(ordered, len(ordered))
    assert laid_out(imported_traces(iter(mixed), [])) == want


def test_memory_holds_no_more_than_a_few_traces(monkeypatch):
    monkeypatch.setattr(spill, "MEMORY_BYTES", 1)
    tracemalloc.start()
    try:
        found = imported_traces(spans(300, size=20_000), [])
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert sum(table.num_rows for table in found.trace) == 300
    assert peak < 2_000_000, "of 6 MB"


def test_an_import_gives_the_same_bytes(tmp_path, monkeypatch):
    file = Path(__file__).parent / "produced" / "langchain.otlp.jsonl.gz"
    written = []
    for size in (1, 1 << 30):
        monkeypatch.setattr(spill, "MEMORY_BYTES", size)
        folder = tmp_path / str(size)
        write_imported(formats()["openinference"].read([str(file)]), str(folder))
        written.append((folder / "trace.jsonl").read_bytes())
    assert written[0] == written[1]
    rows = [json.loads(line) for line in written[0].splitlines()]
    assert any("answer" in row for row in rows)


def test_an_import_holds_no_answers(monkeypatch):
    monkeypatch.setattr(spill, "MEMORY_BYTES", 1)

    def answers():
        for n in range(300):
            said = {"question_id": f"q{n}", "answer": f"{n}{'x' * 20_000}", "context": []}
            yield pa.Table.from_pylist([said], schema=ANSWERS)

    tracemalloc.start()
    try:
        count = sum(1 for _ in trace_rows([], answers()))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert count == 300
    assert peak < 2_000_000, "of 6 MB"
