"""Which revision is current, what is there twice, and what identifies a corpus."""

import itertools
from datetime import UTC, date, datetime

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from rayeval.corpus.catalogue import catalogue, snapshot_hash
from rayeval.corpus.config import Corpus, Parse
from rayeval.tables import CATALOGUE, DOCUMENTS

untimed = settings(deadline=None)  # the machine's load is no property of the code

DATES = ("valid_from", "valid_to", "deleted_at")


def day(n):
    return datetime(2026, 1, n, tzinfo=UTC)


def row(source="a", revision="1", text="x", **more):
    dates = {name: day(n) for name, n in more.items() if name in DATES and isinstance(n, int)}
    filled = {"format": "text", "access": [], "text_start": 0, "file": f"{source}.md"}
    return filled | more | dates | {"source_id": source, "revision_id": revision, "text": text}


def listed(*rows, as_of=None):
    table = pa.Table.from_pylist(list(rows), schema=DOCUMENTS)
    return catalogue([table], as_of)


def current(*rows, as_of=None):
    table, problems = listed(*rows, as_of=as_of)
    assert problems == []
    chosen = table.filter(table["current"])
    return list(
        zip(chosen["source_id"].to_pylist(), chosen["revision_id"].to_pylist(), strict=True)
    )


TWO = (row(revision="1", valid_from=1), row(revision="2", valid_from=5))
GONE = row(revision="3", text=None, deleted_at=9)


@pytest.mark.parametrize(
    ("rows", "as_of", "want"),
    [
        pytest.param(TWO, None, "2", id="without a time the newest"),
        pytest.param(TWO, day(4), "1", id="the newer one has not begun"),
        pytest.param(TWO, day(5), "2", id="begun at this very moment"),
        pytest.param((row(revision="1", valid_from=3),), day(2), None, id="nothing has begun"),
        pytest.param((row(revision="1"), *TWO[1:]), day(2), "1", id="no start: always there"),
        pytest.param((row(revision="9"), *TWO), day(9), "2", id="no start is older than a start"),
        pytest.param((row(revision="a"), row(revision="b")), None, "b", id="a tie: revision id"),
        pytest.param((row(valid_to=5),), day(4), "1", id="still valid"),
        pytest.param((row(valid_to=5),), day(5), None, id="valid no longer"),
        pytest.param((row(valid_to=5),), None, "1", id="without a time valid_to doesn't matter"),
        pytest.param((row(deleted_at=5),), day(4), "1", id="to be deleted"),
        pytest.param((row(deleted_at=5),), day(5), None, id="deleted"),
        pytest.param((row(deleted_at=5),), None, None, id="without a time deleted is deleted"),
        pytest.param((row(valid_to=9, deleted_at=2),), day(5), None, id="deleted while valid"),
        pytest.param((*TWO, GONE), day(8), "2", id="a tombstone to come"),
        pytest.param((*TWO, GONE), day(9), None, id="a tombstone"),
        pytest.param((*TWO, GONE), None, None, id="a tombstone without a time"),
        pytest.param((*TWO, GONE, row(revision="4", valid_from=10)), None, "4", id="back again"),
        pytest.param(
            (TWO[0], row(revision="2", valid_from=5, valid_to=6)),
            day(7),
            None,
            id="the newest has ended: the older one doesn't come back",
        ),
    ],
)
def test_the_current_revision(rows, as_of, want):
    expected = [] if want is None else [("a", want)]
    for order in itertools.permutations(rows):
        assert current(*order, as_of=as_of) == expected


def test_each_source_has_its_own():
    rows = [row("b", "1"), row("a", "2"), row("가", "1"), row("a", "1")]
    assert current(*rows) == [("a", "2"), ("b", "1"), ("가", "1")]


def test_the_catalogue_has_all_but_the_text_sorted():
    table, _ = listed(row("b", text="가😀", access=["x"]), row("a", text=None, deleted_at=1))
    assert table.schema.equals(CATALOGUE)
    assert table["source_id"].to_pylist() == ["a", "b"]
    assert table["chars"].to_pylist() == [0, 2]
    assert table["tombstone"].to_pylist() == [True, False]
    assert table["access"].to_pylist() == [[], ["x"]]


def test_a_document_there_twice_names_both_places():
    rows = [row(file="c.jsonl", line=n, text=str(n)) for n in (7, 3, 5)]
    table, problems = listed(*rows, row("b"))
    assert [(p.kind, p.file, p.line) for p in problems] == [
        ("duplicate_document", "c.jsonl", 5),
        ("duplicate_document", "c.jsonl", 7),
    ]
    assert "already at c.jsonl:3" in problems[0].message
    assert table.num_rows == 2
    assert table["digest"][0] == listed(rows[1])[0]["digest"][0]


@pytest.mark.parametrize(
    "rows",
    [
        pytest.param([], id="nothing"),
        pytest.param([row(text=None, deleted_at=1)], id="nothing but tombstones"),
    ],
)
def test_an_empty_corpus_is_a_problem(rows):
    _, (problem,) = listed(*rows)
    assert problem.kind == "empty_corpus"
    assert catalogue([], None, path="docs")[1][0].file == "docs"


CHANGES = [
    pytest.param({"text": "y"}, id="text"),
    pytest.param({"text": ""}, id="no characters"),
    pytest.param({"title": "x"}, id="title"),
    pytest.param({"url": "x"}, id="url, not title"),
    pytest.param({"language": "ko"}, id="language"),
    pytest.param({"format": "html"}, id="format"),
    pytest.param({"access": ["x"]}, id="access"),
    pytest.param({"valid_from": 1}, id="valid_from"),
    pytest.param({"valid_to": 1}, id="valid_to, not valid_from"),
]


@pytest.mark.parametrize("change", CHANGES)
def test_the_snapshot_is_of_everything_that_a_document_says(change):
    assert snapshot_hash(listed(row())[0]) != snapshot_hash(listed(row(**change))[0])


def test_the_snapshot_is_not_of_places():
    moved = row(file="elsewhere.md", line=3)
    assert snapshot_hash(listed(row())[0]) == snapshot_hash(listed(moved)[0])
    assert snapshot_hash(listed(row())[0]) != snapshot_hash(listed(row(), row("b"))[0])


dates = st.one_of(st.none(), st.integers(1, 4).map(day))
records = st.builds(
    lambda s, r, text, a, b, c: row(s, r, text, valid_from=a, valid_to=b, deleted_at=c or day(2)),
    st.sampled_from("ab"),
    st.sampled_from("123"),
    st.sampled_from(["x", "y", None]),
    dates,
    dates,
    dates,
)


@untimed
@given(st.lists(records, max_size=8), st.randoms(), dates, st.integers(0, 8))
def test_order_and_split_never_matter(rows, random, as_of, cut):
    shuffled = random.sample(rows, len(rows))
    parts = [pa.Table.from_pylist(part, DOCUMENTS) for part in (shuffled[:cut], shuffled[cut:])]
    table, problems = catalogue(parts, as_of)
    other, same = listed(*rows, as_of=as_of)
    assert table.equals(other)
    assert len(problems) == len(same)
    per_source = table.filter(table["current"])["source_id"].to_pylist()
    assert len(per_source) == len(set(per_source))


@pytest.mark.parametrize(
    "as_of",
    [
        pytest.param("2026-08-01", id="a date as text"),
        pytest.param(date(2026, 8, 1), id="a date"),
        pytest.param(datetime(2026, 8, 1), id="a time without zone is UTC"),
        pytest.param("2026-08-01T00:00:00Z", id="a time with zone"),
        pytest.param("2026-08-01T09:00:00+09:00", id="a time elsewhere"),
    ],
)
def test_as_of_is_one_moment_however_it_is_written(as_of):
    config = Corpus(path="docs", as_of=as_of)
    assert config.as_of == datetime(2026, 8, 1, tzinfo=UTC)
    assert config.identity()["as_of"] == "2026-08-01T00:00:00Z"


@pytest.mark.parametrize("as_of", [20260801, 1.5, True, "soon", "0001-01-01T00:00:00+09:00"])
def test_as_of_is_no_number(as_of):
    with pytest.raises(ValidationError, match="no date such as 2026-08-01"):
        Corpus(path="docs", as_of=as_of)


def test_parsing_is_identified_by_its_library():
    assert set(Parse().identity()) == {"html", "markdown_it", "v"}
