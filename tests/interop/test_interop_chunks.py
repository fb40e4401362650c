"""A table of chunks in JSON Lines: every part of it has the types of the first."""

import json

import pytest

from rayeval.errors import DataError
from rayeval.interop.own.chunks import tables


@pytest.fixture(params=[8, 1 << 26], ids=["many parts", "one part"])
def read(tmp_path, monkeypatch, request):
    monkeypatch.setattr("rayeval.interop.own.chunk_lines.BLOCK", request.param)

    def reader(*rows):
        path = tmp_path / "chunks.jsonl"
        path.write_text("\n".join(r if isinstance(r, str) else json.dumps(r) for r in rows) + "\n")
        return [row for table in tables([str(path)]) for row in table.to_pylist()]

    return reader


@pytest.mark.parametrize(
    ("rows", "line", "kind", "said"),
    [
        ([{"chunk_id": 1, "text": "a"}, {"chunk_id": "x", "text": "b"}], 2, "wrong_type",
         "`chunk_id` is 'x', expected a whole number"),
        ([{"chunk_id": "1", "text": "a"}, {"chunk_id": 2, "text": "b"}], 2, "wrong_type",
         "`chunk_id` is 2, expected text"),
        ([{"chunk_id": 1, "source_id": "a"}, {"chunk_id": 2, "source_id": 3}], 2, "wrong_type",
         "`source_id` is 3, expected text"),
        ([{"chunk_id": 1.5, "text": "a"}], 1, "wrong_type", "`chunk_id` is 1.5, expected text"),
        ([{"chunk_id": "a", "text": "x"}, {"chunk_id": "b", "text": 7}], 2, "wrong_type",
         "`text` is 7, expected text"),
        ([{"chunk_id": "a", "text": "x"}, "[]"], 2, "wrong_type", "expected an object"),
        ([{"chunk_id": "a", "text": "x"}, "{"], 2, "invalid_json", "not JSON"),
        ([{"id": "a", "text": "x"}], None, "missing_field", "the columns are id, text"),
    ],
)  # fmt: skip
def test_the_wrong_line_is_named(read, rows, line, kind, said):
    with pytest.raises(DataError) as raised:
        read(*rows)
    ((found_line, found_kind, message),) = [
        (p.line, p.kind, p.message) for p in raised.value.problems
    ]
    assert (found_line, found_kind) == (line, kind)
    assert said in message


def test_ids_and_texts_that_look_like_times_stay_as_they_are(read):
    day = "2026-01-01"
    rows = read({"chunk_id": day, "text": day}, {"chunk_id": "2026-01-02", "text": "b"})
    assert [(row["chunk_id"], row["text"]) for row in rows] == [(day, day), ("2026-01-02", "b")]


def test_whole_numbers_are_their_decimals_and_other_fields_do_not_matter(read):
    rows = read(
        {"chunk_id": 1, "source_id": None, "text": "a", "meta": {"x": 1}},
        {
            "chunk_id": 22,
            "source_id": 7,
            "text": None,
            "meta": "y",
            "start_char": 0.0,
            "end_char": 3,
        },
    )
    assert [(row["chunk_id"], row["source_id"]) for row in rows] == [("1", None), ("22", "7")]
    assert rows[1]["spans"] == [{"start_char": 0, "end_char": 3}]
