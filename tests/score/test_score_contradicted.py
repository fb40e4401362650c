"""Places that hits and chunks state are held against the documents."""

import polars as pl
import pytest
from score_files import write_lines

import rayeval
from rayeval.errors import DataError

EN = "# Loans\n\nThe loan period is 21 days. It can be renewed twice.\n"
KO = "# 대출\n\n책은 한 번에 열두 권까지 빌린다. 대출 기간은 21일이다. 두 번 연장할 수 있다.\n"
HTML = "<p>Night buses run every <b>40</b> minutes &amp; cost 3.10.</p>\n<p>Day: 2.40</p>\n"
DOCUMENTS = {"en.md": EN, "ko.md": KO, "bus.html": HTML}
QUOTES = {"en": ("en.md", "The loan period is 21 days."), "ko": ("ko.md", "대출 기간은 21일이다."),
          "bus": ("bus.html", "Night buses run every <b>40</b> minutes")}  # fmt: skip
GOLDEN = [{"question_id": name, "question": f"{name}?", "evidence": [{"source_id": s, "quote": q}]}
          for name, (s, q) in QUOTES.items()]  # fmt: skip


def place(source, text, shift=0, unit="utf-32-le", width=4):
    document = DOCUMENTS[source]
    at = document.index(text)
    ends = (len(document[:n].encode(unit)) // width + shift for n in (at, at + len(text)))
    return dict(zip(("start_char", "end_char"), ends, strict=True))


def hit(name, **how):
    source, quote = QUOTES[name]
    return {"source_id": source, "text": quote, "spans": [place(source, quote, **how)]}


@pytest.fixture
def score(tmp_path):
    """Scores hits of questions over the documents; returns recall by question and warnings."""
    (tmp_path / "docs").mkdir()
    for name, text in DOCUMENTS.items():
        (tmp_path / "docs" / name).write_text(text)
    golden = write_lines(tmp_path / "golden.jsonl", GOLDEN)

    def scored(hits, **options):
        rows = [{"question_id": n, "stages": {"s": {"hits": [h]}}} for n, h in hits.items()]
        run = rayeval.score(golden, rows, corpus=tmp_path / "docs", metrics=["recall@1"],
                            runs=tmp_path / "runs", **options)  # fmt: skip
        recall = run.per_query.filter(pl.col("question_id").is_in(list(hits)))
        return dict(recall.select("question_id", "recall@1").iter_rows()), run.manifest["warnings"]

    return scored


def about(warnings, *words):
    return [line for line in warnings if all(word in line for word in words)]


def test_right_places_say_nothing(score):
    recall, warnings = score({name: hit(name) for name in QUOTES})
    assert recall == {"en": 1, "ko": 1, "bus": 1}
    assert not about(warnings, "place")


def test_offsets_in_bytes_are_told_and_the_text_counts_where_it_is_found(score):
    recall, warnings = score({n: hit(n, unit="utf-8", width=1) for n in QUOTES})
    assert recall == {"en": 1, "ko": 1, "bus": 1}
    [line] = about(warnings, "another text")
    assert "1 of 3 places of hits or chunks (ko.md[" in line
    assert "the numbers fit as UTF-8 bytes: convert them" in line


def test_shifted_offsets_are_told_and_fit_no_unit(score):
    recall, warnings = score({"ko": hit("ko", shift=-7), "en": hit("en")})
    assert recall == {"ko": 1, "en": 1}
    [line] = about(warnings, "1 of 2 places", "another text")
    assert "convert" not in line


def test_chunks_are_held_against_the_documents_too(score, tmp_path):
    chunks = [{"chunk_id": n, **hit(n, unit="utf-8", width=1)} for n in QUOTES]
    path = write_lines(tmp_path / "chunks.jsonl", chunks)
    recall, warnings = score({n: {"chunk_id": n} for n in QUOTES}, chunks=path)
    assert recall == {"en": 1, "ko": 1, "bus": 1}
    assert about(warnings, "1 of 3 places", "UTF-8 bytes")


HANDED_ON = {
    "a heading before it": "Loans > Periods\nThe loan period is 21 days.",
    "shortened": "The loan period is…",
    "other white space": "The loan\nperiod  is 21 days. ",
}


@pytest.mark.parametrize("case", HANDED_ON)
def test_a_text_that_was_changed_on_the_way_stands_where_it_says(score, case):
    recall, warnings = score({"en": hit("en") | {"text": HANDED_ON[case]}})
    assert recall == {"en": 1}
    assert not about(warnings, "place")


def test_a_rendered_text_stands_in_its_markup(score):
    text = "Night buses run every 40 minutes"
    recall, warnings = score({"bus": hit("bus") | {"text": text}})
    assert recall == {"bus": 1}
    assert not about(warnings, "place")


def test_a_text_that_stands_nowhere_finds_nothing_whatever_its_offsets(score):
    recall, warnings = score({"en": hit("en") | {"text": "Something else is said here."}})
    assert recall == {"en": 0}
    assert about(warnings, "1 of 1 place", "another text")
    assert about(warnings, "1 of 1 text of the trace stand nowhere")


@pytest.mark.parametrize("end", [len(EN) + 1, 9999])
def test_a_span_beyond_the_end_covers_nothing(score, end):
    spans = [{"start_char": 0, "end_char": end}]
    recall, warnings = score({"en": {"source_id": "en.md", "spans": spans}, "ko": hit("ko")})
    assert recall == {"en": 0, "ko": 1}
    assert about(warnings, "1 of 2 places", f"en.md[0,{end})", "beyond the end")
    assert not about(warnings, "nowhere")


def test_a_text_that_is_there_may_end_behind_the_last_character(score):
    start = EN.index("The loan")
    beyond = {"source_id": "en.md", "text": EN[start:],
              "spans": [{"start_char": start, "end_char": len(EN) + 1}]}  # fmt: skip
    recall, warnings = score({"en": beyond})
    assert (recall, about(warnings, "place")) == ({"en": 1}, [])


def test_a_revision_and_a_source_that_the_corpus_lacks(score):
    recall, warnings = score({"en": hit("en") | {"revision_id": "v9"}, "ko": hit("ko"),
                              "bus": {"source_id": "/data/docs/bus.html"}})  # fmt: skip
    assert recall == {"en": 0, "ko": 1, "bus": 0}
    assert about(warnings, "en.md@v9[", "a revision that the corpus lacks")
    [line] = about(warnings, "not in the corpus")
    assert line.startswith("1 source of hits or chunks is not in the corpus")
    assert "/data/docs/bus.html. The corpus has bus.html: call them so" in line


@pytest.mark.parametrize("stated", [{}, {"spans": [{"start_char": 0, "end_char": 9}]}])
def test_a_trace_whose_sources_the_corpus_lacks_is_refused(score, stated):
    with pytest.raises(DataError, match=r"unknown_sources: 1 source .*: nolib.md. The corpus has"):
        score({"en": {"source_id": "nolib.md", **stated}})


def test_places_are_the_same_however_many_parts_hold_them(score, monkeypatch):
    hits = {n: hit(n, unit="utf-8", width=1) for n in QUOTES}
    want = score(hits)
    monkeypatch.setattr("rayeval.execution.score.looking.PART_BYTES", 100)
    monkeypatch.setattr("rayeval.interop.own.claims.FEW", 1)
    monkeypatch.setattr("rayeval.interop.own.claims.ROWS", 1)
    assert score(hits, store=None) == want
    assert score(hits | {}, name="again") == want


def test_a_run_of_rayeval_s_own_contradicts_nothing(tmp_path):
    """Every kind of chunk of the sample: tables, parents, Korean, HTML."""
    sample = "rayeval/samples/handbook"
    config = {
        "golden": {"path": f"{sample}/golden.jsonl", "splits": ["test"]},
        "corpus": {"path": f"{sample}/docs"},
        "chunk": {"kind": "structure", "size": 300},
        "retrieve": {"arms": {"bm25": {"kind": "bm25", "depth": 50}}},
    }
    run = rayeval.evaluate(config, runs=tmp_path / "runs")
    again = rayeval.score(f"{sample}/golden.jsonl", f"{run.path}/trace.parquet",
                          chunks=f"{run.path}/passages.parquet", corpus=f"{sample}/docs",
                          runs=tmp_path / "runs")  # fmt: skip
    assert not about(again.manifest["warnings"], "place")
    found = [one.per_query.filter(stage="bm25") for one in (run, again)]
    both = found[0].join(found[1], on="question_id")
    assert both.height
    assert (both["recall@5"].eq_missing(both["recall@5_right"])).all()
