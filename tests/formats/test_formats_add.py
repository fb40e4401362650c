"""`golden add`: quotes by page, languages, and golden sets that are not there yet."""

import io
import json
import sys

import pytest
import typer
from formats_files import pdf, text

from rayeval.cli.main import run_command

BREAKS = "Breaks last 30 minutes."


@pytest.fixture
def add(tmp_path):
    """`golden add` to a set of two languages, with a PDF that has a sentence on two pages."""
    docs, golden = tmp_path / "docs", tmp_path / "golden.jsonl"
    docs.mkdir()
    pages = (text([head, BREAKS]) for head in ("Night shift", "Uniform"))
    (docs / "h.pdf").write_bytes(pdf(*pages, text(["Keys are in safe 7."])))
    (docs / "m.md").write_text("A card costs 5 euros.\n")
    rows = [
        {"question_id": name, "question": f"{name}?", "language": name, "answerable": False}
        for name in ("en", "ko")
    ]
    golden.write_text("".join(json.dumps(row) + "\n" for row in rows))

    def run(*arguments, golden=golden):
        asked = ["golden", "add", str(golden), "--corpus", str(docs), "--question", "How long?"]
        code = run_command([*asked, "--store", str(tmp_path / "store"), *arguments])
        lines = golden.read_text().splitlines() if golden.exists() else []
        return code, json.loads(lines[-1]) if lines else None

    return run


@pytest.mark.parametrize("source", [[], ["--source", "h.pdf"]])
def test_a_quote_on_two_pages_of_one_document_asks_for_its_page(add, source, capsys):
    code, row = add("--quote", BREAKS, *source)
    said = " ".join(capsys.readouterr().err.split())
    assert (code, row["question_id"]) == (2, "ko")
    assert "'h.pdf' page 1, 'h.pdf' page 2; name its page, --page 1 or 2, or give more" in said
    assert "name its source" not in said and "[" not in said
    code, row = add("--quote", BREAKS, *source, "--page", "2")
    assert (code, row["evidence"]) == (0, [{"source_id": "h.pdf", "quote": BREAKS, "page": 2}])
    assert "] page 2" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("pages", "want"),
    [(["2", "0"], [2, None]), (["1"], "page 3"), (["1", "2", "3"], "3 --page: give one page")],
)
def test_every_quote_has_its_page(add, pages, want, capsys):
    quotes = ["--quote", BREAKS, "--quote", "in safe 7"]
    code, row = add(*quotes, *(part for page in pages for part in ("--page", page)))
    if isinstance(want, str):
        assert code == 2 and want in capsys.readouterr().err.replace("on page 1", "page 3")
        return
    assert (code, [item.get("page") for item in row["evidence"]]) == (0, want)


def test_a_language_puts_it_beside_the_others(add, capsys):
    assert add("--unanswerable", "--language", "ko")[1]["language"] == "ko"
    assert "--language" not in capsys.readouterr().out
    assert "language" not in add("--unanswerable", "--force")[1]
    assert "no language, as others do (en, ko)" in capsys.readouterr().out


def test_a_golden_set_that_is_not_there_needs_a_yes(add, tmp_path, capsys):
    typo = tmp_path / "goldn.jsonl"
    assert add("--unanswerable", golden=typo) == (2, None)
    said = capsys.readouterr().err
    assert "did you mean 'golden.jsonl'?" in said and "--new begins one" in said
    assert not typo.exists()
    code, row = add("--unanswerable", "--new", golden=typo)
    assert (code, row["question"]) == (0, "How long?")
    assert "the new golden set" in capsys.readouterr().out
    assert add("--unanswerable", "--force", golden=typo)[0] == 0
    assert "the new golden set" not in capsys.readouterr().out


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_at_a_terminal_the_page_is_asked_for_where_it_decides(add, monkeypatch):
    typed = {"Answer": [""], "Quote": [BREAKS, "in safe 7", ""], "Its source": ["", "h.pdf"],
             "Its page, 1, 2": ["2"], "Language, such as en, ko": ["ko"], "Slices": [""]}  # fmt: skip

    def answer(label, **_):
        return next(lines for name, lines in typed.items() if label.startswith(name)).pop(0)

    monkeypatch.setattr(sys, "stdin", Screen())
    monkeypatch.setattr(typer, "prompt", answer)
    monkeypatch.setattr(typer, "confirm", lambda *_, **__: True)
    code, row = add()
    assert code == 0 and not any(typed.values())
    assert row["language"] == "ko"
    assert row["evidence"] == [
        {"source_id": "h.pdf", "quote": BREAKS, "page": 2},
        {"source_id": "h.pdf", "quote": "in safe 7"},
    ]


@pytest.mark.parametrize("yes", [True, False])
def test_at_a_terminal_a_new_golden_set_is_asked_for(add, tmp_path, monkeypatch, yes):
    new = tmp_path / "new.jsonl"
    monkeypatch.setattr(sys, "stdin", Screen())
    monkeypatch.setattr(typer, "prompt", lambda *_, **__: "")
    monkeypatch.setattr(typer, "confirm", lambda said, **_: yes if "Begin one" in said else True)
    assert add("--unanswerable", golden=new)[0] == (0 if yes else 2)
    assert new.exists() == yes


def test_where_few_questions_say_their_language_it_is_no_matter(add, tmp_path, capsys):
    golden = tmp_path / "golden.jsonl"
    rows = [json.dumps({"question_id": f"q{n}", "question": f"{n}?", "answerable": False})
            for n in range(3)]  # fmt: skip
    golden.write_text(golden.read_text() + "\n".join(rows) + "\n")
    assert add("--unanswerable")[0] == 0
    assert "language" not in capsys.readouterr().out
