"""The ledger: every comparison on the test split that was shown, once, and none lost."""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import polars as pl
import pytest

from rayeval.cli.main import run_command
from rayeval.errors import DataError, InfrastructureError
from rayeval.golden.ledger import Entry, carry, entries, ledger_path, marks, reveal


@pytest.mark.parametrize(
    ("golden", "want"),
    [
        ("golden.jsonl", "golden.ledger.jsonl"),
        ("/a.b/golden", "/a.b/golden.ledger.jsonl"),
        ("s3://bucket/set.v2.csv", "s3://bucket/set.v2.ledger.jsonl"),
        ("a/.hidden", "a/.hidden.ledger.jsonl"),
    ],
)
def test_the_ledger_lies_beside_the_golden_set(golden, want):
    assert ledger_path(golden) == want


def test_no_ledger_is_no_comparison(tmp_path):
    assert entries(str(tmp_path / "golden.jsonl")) == []


def test_an_entry_comes_back_with_who_and_when(tmp_path, monkeypatch):
    golden = str(tmp_path / "golden.jsonl")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    monkeypatch.setenv("GIT_CONFIG_SYSTEM", "/dev/null")
    monkeypatch.setenv("LOGNAME", "지수")
    entry = Entry("r1", "r2", {"chunk.size": [400, 300]}, "smaller chunks")
    assert reveal(golden, entry) == 1
    [found] = entries(golden)
    assert (found.baseline, found.run, found.purpose) == ("r1", "r2", "smaller chunks")
    assert found.config_diff == {"chunk.size": [400, 300]}
    assert found.who == "지수"
    assert found.at.endswith("+00:00")


def test_the_same_two_runs_count_once(tmp_path):
    golden = str(tmp_path / "golden.jsonl")
    assert reveal(golden, Entry("r1", "r2")) == 1
    before = Path(ledger_path(golden)).read_bytes()
    assert reveal(golden, Entry("r1", "r2", purpose="again")) == 1
    assert reveal(golden, Entry("r2", "r1")) == 1
    assert Path(ledger_path(golden)).read_bytes() == before
    assert reveal(golden, Entry("r1", "r3")) == 2
    assert Path(ledger_path(golden)).read_bytes().startswith(before)


def test_what_a_killed_writer_left_is_no_entry(tmp_path):
    golden = str(tmp_path / "golden.jsonl")
    reveal(golden, Entry("r1", "r2"))
    path = Path(ledger_path(golden))
    path.write_bytes(path.read_bytes() + b'{"baseline": "r1", "ru')
    assert len(entries(golden)) == 1
    assert reveal(golden, Entry("r1", "r3")) == 2
    assert [entry.run for entry in entries(golden)] == ["r2", "r3"]


@pytest.mark.parametrize("line", ["no json", "[1]", '{"runs": "x"}', '{"baseline": "a"}'])
def test_a_damaged_ledger_is_never_passed_over(tmp_path, line):
    golden = str(tmp_path / "golden.jsonl")
    reveal(golden, Entry("r1", "r2"))
    path = Path(ledger_path(golden))
    path.write_text(line + "\n" + path.read_text())
    before = path.read_bytes()
    for act in (lambda: entries(golden), lambda: reveal(golden, Entry("r1", "r3"))):
        with pytest.raises(DataError, match=r"ledger\.jsonl:1 damaged_ledger"):
            act()
    assert path.read_bytes() == before


def test_a_ledger_that_cannot_be_written(tmp_path):
    with pytest.raises(InfrastructureError, match="shown only once it is entered"):
        reveal(str(tmp_path / "no folder" / "golden.jsonl"), Entry("r1", "r2"))


def test_an_object_store_keeps_a_ledger_too(tmp_path):
    golden = f"file://{tmp_path}/golden.jsonl"
    assert [reveal(golden, Entry("r1", run)) for run in ("r2", "r3", "r2")] == [1, 2, 2]
    assert len(entries(str(tmp_path / "golden.jsonl"))) == 2


def _enter(golden: str, name: str) -> None:
    for number in range(10):
        reveal(golden, Entry("base", f"{name}-{number}", who=name, at="now"))


def test_many_at_once_lose_nothing(tmp_path):
    golden = str(tmp_path / "golden.jsonl")
    with ThreadPoolExecutor(4) as pool:  # each with the file opened anew, as processes do
        list(pool.map(_enter, [golden] * 4, ["a", "b", "c", "d"]))
    lines = Path(ledger_path(golden)).read_text().splitlines()
    assert len({json.loads(line)["run"] for line in lines}) == len(lines) == 40


TESTED = [{"question": f"Question {n:02}?", "split": "test"} for n in range(40)]


def asked(rows):
    return marks(pl.DataFrame(rows, {"question": pl.String, "split": pl.String}))


@pytest.mark.parametrize(
    ("rows", "counts"),
    [
        pytest.param(TESTED, True, id="a copy"),
        pytest.param(TESTED[::2], True, id="half of it"),
        pytest.param([{"question": "A?", "split": "test"}, *TESTED], True, id="one more"),
        pytest.param([{**TESTED[0], "question": " Question 00? "}], True, id="white space"),
        pytest.param([{**row, "split": "dev"} for row in TESTED], False, id="not tested on"),
        pytest.param([{"question": "Another?", "split": "test"}], False, id="other questions"),
    ],
)
def test_what_counts_are_the_questions_not_the_name_of_their_file(tmp_path, rows, counts):
    seen, other = str(tmp_path / "golden.jsonl"), str(tmp_path / "copy.csv")
    reveal(seen, Entry("r1", "r2", asked=asked(TESTED)))
    assert len(entries(other, asked(rows))) == counts
    assert reveal(other, Entry("r2", "r1", asked=asked(rows))) == 1
    assert Path(ledger_path(other)).exists() is not counts
    assert reveal(other, Entry("r2", "r3", asked=asked(rows))) == 1 + 1
    assert len(entries(seen, asked(TESTED))) == (2 if counts else 1)


def test_a_damaged_ledger_beside_it_is_said(tmp_path):
    (tmp_path / "other.ledger.jsonl").write_text("no json\n")
    with pytest.raises(DataError, match=r"other\.ledger\.jsonl:1 damaged_ledger"):
        reveal(str(tmp_path / "golden.jsonl"), Entry("r1", "r2", asked=asked(TESTED)))


def test_a_file_that_the_questions_are_written_to_takes_the_ledger_along(tmp_path):
    seen, out = str(tmp_path / "golden.jsonl"), str(tmp_path / "elsewhere" / "g2.jsonl")
    (tmp_path / "elsewhere").mkdir()
    reveal(seen, Entry("r1", "r2", who="지수", at="then"))
    carry(seen, seen)
    carry(seen, out)
    carry(seen, out)
    assert entries(out) == entries(seen) and len(entries(out)) == 1


def test_the_ledger_of_no_golden_set_is_refused(tmp_path, capsys):
    golden = tmp_path / "nope.jsonl"
    assert run_command(["golden", "ledger", str(golden)]) == 2
    assert f"there is no file at {golden}" in " ".join(capsys.readouterr().err.split())
    reveal(str(golden), Entry("r1", "r2"))  # the golden set is gone, its ledger isn't
    assert run_command(["golden", "ledger", str(golden)]) == 0
