"""Graded hits of extracted and rendered formats: their evidence has the source's text as quote."""

import json

import pytest
from formats_files import pdf, text, word

import rayeval
from rayeval.execution.golden.lint import lint
from rayeval.execution.grow.session import Session

FILES = {
    "h.pdf": pdf(text(["Night shift", "Breaks last 30 minutes."]), text(["Keys are in safe 7."])),
    "c.docx": word(lambda d: (d.add_heading("Cup", 1), d.add_paragraph("Five attempts each."))),
    "p.html": b"<h1>Parking</h1><p>Two <b>hours</b> &amp; free.</p>",
    "m.md": b"# Fees\n\nA card costs 5 euros.\n",
}


@pytest.mark.parametrize("said", [True, False], ids=["with its text", "by its place alone"])
@pytest.mark.parametrize(
    ("name", "start", "quote", "seen"),
    [
        pytest.param("h.pdf", 12, "Breaks last 30 minutes.", "Breaks last 30 minutes.", id="pdf"),
        pytest.param("c.docx", 5, "Five attempts each.", "Five attempts each.", id="docx"),
        pytest.param("p.html", 16, "<p>Two <b>hours</b> &amp; free.</p>", "Two hours & free.",
                     id="html"),
        pytest.param("m.md", 8, "A card costs 5 euros.", "A card costs 5 euros.", id="markdown"),
    ],
)  # fmt: skip
def test_graded_evidence_has_the_source_s_text_as_its_quote(
    tmp_path, name, start, quote, seen, said
):
    docs, golden = tmp_path / "docs", tmp_path / "g.jsonl"
    docs.mkdir()
    for path, data in FILES.items():
        (docs / path).write_bytes(data)
    golden.write_text(json.dumps({"question_id": "q", "question": "?", "labels": "none"}) + "\n")
    place = {"start_char": start, "end_char": start + len(quote)}
    hit = {"source_id": name, "spans": [place], **({"text": seen} if said else {})}
    run = rayeval.score(str(golden), [{"question_id": "q", "stages": {"s": {"hits": [hit]}}}],
                        corpus=str(docs), metrics=["judged@1"], cutoffs=[1],
                        runs=tmp_path / "runs")  # fmt: skip
    session = Session(run, k=1)
    [item] = session.items().to_dicts()
    evidence = session.grade(item, 3).evidence
    kept = {name: evidence[name] for name in ("source_id", "start_char", "end_char", "quote")}
    assert kept == {"source_id": name, **place, "quote": quote}
    assert {p.kind for p in lint(str(golden), str(docs))} <= {"too_few_questions"}
