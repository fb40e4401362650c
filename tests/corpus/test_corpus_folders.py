"""Folders as they are found: empty, with links that turn back, with names that are no text."""

import os

import pytest

from rayeval.corpus.units import units
from rayeval.errors import DataError


def names(folder, include=None):
    return [name for unit in units(str(folder), include) for name in unit.names]


@pytest.mark.parametrize(
    ("files", "include", "says"),
    [
        pytest.param([], None, "the folder has no file; expected files ending in .md", id="empty"),
        pytest.param(["a.pptx", "b.xlsx", "c"], None, r"3 files \(.pptx, .xlsx, no extension\)",
                     id="other formats"),
        pytest.param(["a.md"], ["*.txt"], r"corpus.include \(\*.txt\) matches none", id="include"),
        pytest.param(["a.md"], [], r"an empty list\) matches none", id="empty include"),
    ],
)  # fmt: skip
def test_a_folder_without_documents_is_an_empty_corpus(tmp_path, files, include, says):
    for name in files:
        (tmp_path / name).write_text("x")
    with pytest.raises(DataError, match=says) as caught:
        units(str(tmp_path), include)
    assert [problem.kind for problem in caught.value.problems] == ["empty_corpus"]


def test_links_are_followed_but_not_round_in_circles(tmp_path):
    folder = tmp_path / "docs"
    (folder / "inner").mkdir(parents=True)
    (folder / "a.md").write_text("a")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "b.md").write_text("b")
    for name, target in [
        ("loop", folder), ("inner/up", ".."), ("self", "self"), ("gone.md", "nowhere"),
        ("linked", tmp_path / "elsewhere"), ("again.md", "a.md"),
    ]:  # fmt: skip
        (folder / name).symlink_to(target)
    assert names(folder) == ["a.md", "again.md", "linked/b.md"]


@pytest.mark.skipif(os.name == "nt", reason="names are text there")
def test_a_name_that_is_not_utf8_is_a_problem(tmp_path):
    (tmp_path / "a.md").write_text("a")
    for name in (b"\xff.md", b"\xff.png"):
        (tmp_path / os.fsdecode(name)).write_text("the picture is nobody's business")
    with pytest.raises(DataError, match=r"udcff.md' not_utf8: the name is not UTF-8") as caught:
        units(str(tmp_path))
    assert len(caught.value.problems) == 1
