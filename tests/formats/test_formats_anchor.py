"""Gold on a page that moves: a page is followed as everything else is, by what stood around it."""

import json

import pytest
from formats_files import pdf, text

from rayeval.execution.golden.anchor import anchor_golden
from rayeval.execution.golden.lint import lint

BREAKS = "Breaks last 30 minutes."
NIGHT = text(["Night shift", BREAKS, "An allowance is paid."])
UNIFORM = text(["Uniform", BREAKS, "Shirts last six months."])
FRONT = text(["Contents", "Night shift, uniform."])
KEYS = text(["Keys", "The spare key is in safe 7."])
OLD = pdf(NIGHT, UNIFORM, KEYS)


@pytest.fixture
def anchored(tmp_path):
    """What becomes of one piece of evidence of OLD in other pages, and how it is written then."""

    def anchor(evidence, *pages, noted=True):
        row = {
            "question_id": "q",
            "question": "?",
            "evidence": [{"source_id": "h.pdf", **evidence}],
        }
        for folder, data in (("old", OLD), ("new", pdf(*pages))):
            (tmp_path / folder).mkdir(exist_ok=True)
            (tmp_path / folder / "h.pdf").write_bytes(data)
        golden = tmp_path / "g.jsonl"
        golden.write_text(json.dumps(row) + "\n")
        old, new = str(tmp_path / "old"), str(tmp_path / "new")
        if noted:
            anchor_golden(str(golden), old, out=str(golden))
            assert json.loads(golden.read_text()) == row
        found = anchor_golden(str(golden), new, out=str(golden))
        if found.sound:
            assert all(problem.warning for problem in lint(str(golden), new))
        [written] = json.loads(golden.read_text())["evidence"]
        return found, {name: written[name] for name in written if name != "source_id"}

    return anchor


def status(found):
    return next(name for name, count in found.counts.items() if count)


def test_a_quote_of_two_pages_is_followed_to_its_page(anchored):
    found, written = anchored({"quote": BREAKS, "page": 2}, FRONT, NIGHT, UNIFORM, KEYS)
    [change] = found.changes
    assert (change.status, change.message) == ("moved", "on page 3 now, not on page 2")
    assert written == {"quote": BREAKS, "page": 3}


def test_the_next_change_is_followed_from_there(anchored, tmp_path):
    anchored({"quote": BREAKS, "page": 2}, FRONT, NIGHT, UNIFORM, KEYS)
    (tmp_path / "new" / "h.pdf").write_bytes(pdf(FRONT, FRONT, NIGHT, UNIFORM, KEYS))
    golden = str(tmp_path / "g.jsonl")
    anchor_golden(golden, str(tmp_path / "new"), out=golden)
    [written] = json.loads((tmp_path / "g.jsonl").read_text())["evidence"]
    assert written["page"] == 4


@pytest.mark.parametrize(
    ("evidence", "pages", "want", "becomes"),
    [
        pytest.param({"quote": BREAKS, "page": 2}, [NIGHT, UNIFORM, FRONT], "kept",
                     {"quote": BREAKS, "page": 2}, id="the page is where it was"),
        pytest.param({"quote": "in safe 7", "page": 3}, [FRONT, NIGHT, UNIFORM, KEYS], "moved",
                     {"quote": "in safe 7", "page": 4}, id="a quote of one page"),
        pytest.param({"page": 2}, [FRONT, NIGHT, UNIFORM], "moved", {"page": 3}, id="a whole page"),
        pytest.param({"page": 2}, [NIGHT, FRONT], "lost", {"page": 2}, id="another text there"),
        pytest.param({"page": 3}, [NIGHT, FRONT], "lost", {"page": 3}, id="no such page"),
        pytest.param({"quote": BREAKS, "page": 2}, [NIGHT, text(["Dress", BREAKS, "End"])],
                     "ambiguous", {"quote": BREAKS, "page": 2}, id="nothing around it is known"),
        pytest.param({"quote": "The spare key"}, [KEYS, text(["Lost", "The spare key is gone."])],
                     "moved", {"quote": "The spare key", "page": 1}, id="a page is enough"),
    ],
)  # fmt: skip
def test_pages_with_notes(anchored, evidence, pages, want, becomes):
    found, written = anchored(evidence, *pages)
    assert status(found) == want
    assert written == becomes


def test_twice_on_the_page_it_needs_offsets_too(anchored):
    twice = text(["Uniform", BREAKS, "Shirts last six months.", BREAKS])
    found, written = anchored({"quote": BREAKS, "page": 2}, FRONT, NIGHT, twice)
    assert status(found) == "moved"
    assert (written["quote"], written["page"]) == (BREAKS, 3)
    assert written["end_char"] - written["start_char"] == len(BREAKS)


def test_without_notes_a_page_that_no_longer_fits_gives_way_to_the_only_place(anchored):
    found, written = anchored({"quote": "in safe 7", "page": 3}, FRONT, NIGHT, UNIFORM, KEYS,
                              noted=False)  # fmt: skip
    assert (status(found), written["page"]) == ("moved", 4)


def test_a_page_that_somebody_corrects_is_no_longer_as_noted(anchored, tmp_path):
    anchored({"quote": BREAKS, "page": 2}, NIGHT, UNIFORM, KEYS)
    golden = tmp_path / "g.jsonl"
    golden.write_text(golden.read_text().replace('"page": 2', '"page": 1'))
    (tmp_path / "new" / "h.pdf").write_bytes(pdf(NIGHT, UNIFORM))
    found = anchor_golden(str(golden), str(tmp_path / "new"))
    assert status(found) == "kept" and not found.changes


def test_a_page_of_a_document_without_pages_is_all_of_it_whatever_it_says(tmp_path):
    row = {"question_id": "q", "question": "?", "source_id": "a.md", "page": 2}
    for folder, said in (("old", "---\ntitle: A\n---\nOne."), ("new", "Two.")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "a.md").write_text(said)
    golden = tmp_path / "g.jsonl"
    golden.write_text(json.dumps(row) + "\n")
    anchor_golden(str(golden), str(tmp_path / "old"), out=str(golden))
    found = anchor_golden(str(golden), str(tmp_path / "new"))
    assert status(found) == "kept" and not found.changes
    assert all(problem.warning for problem in lint(str(golden), str(tmp_path / "new")))
