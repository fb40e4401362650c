"""Answers in a real Chromium: read, linked to their evidence, compared, and never obeyed."""

from pathlib import Path

import polars as pl
import pytest
from answered_tables import answered_tables
from pages_runs import HOSTILE

from rayeval.report.page.run import run_page

pytestmark = pytest.mark.pages


def report(found) -> str:
    return Path(found.path, "report.html").as_uri()


@pytest.fixture
def read(open_page, answered):
    """Opens a question of the first run."""
    return lambda name: open_page(f"{report(answered[0])}#q/{name}")


def text(page, selector="#replies") -> str:
    return " ".join(page.locator(selector).inner_text().split())


def ids(page) -> list[str]:
    return page.locator("table.matrix tbody th").all_inner_texts()


def test_the_first_page_tells_what_answers_are_worth(open_page, answered):
    page = open_page(report(answered[0]))
    told = text(page, "#answers")
    assert "3 right, 1 rightly refused, 1 mixed, 1 refused, 1 answered anyway, 2 wrong, 1 error" in told  # fmt: skip
    assert "answer: refused 2 of 4 answers to unanswerable questions (right, 50%)" in told
    assert "all of the evidence 7 5 2" in told
    assert "nothing: unanswerable 2 2" in told
    assert "What perfect retrieval would buy; an interval that holds 0 shows no difference" in told
    assert "95% by cluster" in told.partition("What perfect retrieval")[2]
    assert page.locator("#waterfall h2").inner_text() == "Where gold is lost and answers fail"
    assert "at answer those without a fault found" in text(page, "#waterfall caption")
    assert "at answer no fault found, ○ lost, or at fault" in text(page, "table.matrix caption")
    assert {"no fault found", "at fault", "not observed"} == {
        *page.locator("table.matrix td:last-child .mark").evaluate_all(
            "marks => marks.map((mark) => mark.title)"
        )
    }
    assert page.locator("#answers svg.interval.share").count() > 15
    assert page.locator("#risk svg.risk path.line").count() == 1
    page.locator("select[name=risk-0]").select_option("bm25")
    assert "At bm25, if only" in text(page, "#risk")
    assert "within questions" in told
    assert "What it took" in told
    assert "gold_context 18 1,800 360 $0.4860" in told
    page.locator("select[name=answer-slices-0]").select_option("faithfulness")
    assert "faithfulness by slice" in text(page, "#answer-slices")
    assert "office" in text(page, "#answer-slices")


def test_the_judge_s_standing_is_said(open_page, answered, tmp_path):
    told = text(open_page(report(answered[0])), "#answers")
    assert "scripted-judge, revision not declared, temperature 0, seed 42" in told
    assert "Nobody has calibrated this judge" in told
    assert "claims that the context supports · judge not calibrated for it" in told
    assert "22 of 26; 4 wrong_count" in told
    assert "100% of 16" in told
    assert "1 question could not be judged" in told
    (tmp_path / "r.html").write_bytes(run_page(answered_tables(40)))
    known = text(open_page(tmp_path / "r.html"), "#answers")
    assert "People's labels say how far it can be trusted" in known
    assert "κ quadratic 0.740 [0.620 to 0.830], 120 labels in en; floor 0.4" in known


def test_an_answer_is_read_beside_its_evidence_with_its_claims(read):
    page = read("vpn")
    told = text(page)
    assert "Reference answer VPN tokens expire after 90 days." in told
    assert "Tries 1, 2, the same the judge: ✓ right" in told
    assert "They are renewed by post. [E1][E9 no such evidence]" in told
    [first, second] = page.locator("#replies .claims").first.locator("li").all_inner_texts()
    assert "context: ✓ supported E1" in " ".join(first.split())
    assert "what it cites: ? it cites nothing" in " ".join(first.split())
    assert "context: – not in it" in " ".join(second.split())
    assert "what it cites: ✗ not supported E1" in " ".join(second.split())
    assert "100 tokens read · 20 written · $0.0270 · ended: stop" in told
    assert "closed book: from memory alone" in told
    assert "Refused: it doesn't know without evidence." in told
    assert "with the gold evidence for context" in told


def test_a_mark_leads_to_its_evidence_and_the_address_stays(read):
    page = read("vpn")
    link = page.locator("#replies .said a.cite").first
    link.focus()
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "e0-answer-0-E1"
    assert "VPN tokens expire" in page.locator("#e0-answer-0-E1").inner_text()
    assert page.url.endswith("#q/vpn")
    page.locator("#replies .said a.cite").nth(1).click()
    assert page.evaluate("document.activeElement.id") == "e0-gold_context-0-E1"
    assert page.locator("#e0-gold_context-0-E1").is_visible(), "its list was folded"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        pytest.param("desk", "Refused to answer, though the question is answerable; its context held all of the evidence.", id="a false refusal"),
        pytest.param("moon", "Refused, and rightly: the documents don't answer this question.", id="a right refusal"),
        pytest.param("mars", "✗ answered though unanswerable", id="an answer to nothing"),
        pytest.param("broken", "Error: failed: http://127.0.0.1", id="an endpoint's error"),
        pytest.param("broken", "Error: unparseable: the reply is no JSON", id="a reply that is none"),
        pytest.param("badge", "Not judged: support, wrong_count", id="a verdict that is none"),
        pytest.param("badge", "context: ? not judged", id="a claim without a verdict"),
        pytest.param("train", "Try 2 the judge: ✗ wrong", id="tries that differ"),
        pytest.param("it", "그리고 팀장이 승인한다. [E1, E2 no such evidence]", id="Korean"),
    ],
)  # fmt: skip
def test_whatever_came_of_an_answer_is_said_in_words(read, name, said):
    assert said in text(read(name))


def test_korean_answers_are_marked_as_korean(read):
    page = read("it")
    assert page.locator("#replies .said").first.get_attribute("lang") == "ko"
    assert page.locator("#replies .claims li span").first.get_attribute("lang") == "ko"


def test_hostile_answers_are_shown_and_not_obeyed(read):
    page = read("hostile")
    assert "<b>Bold</b> </script><script>alert(1)</script>" in text(page)
    assert HOSTILE.split("\u2028")[1].strip() in text(page)
    assert page.locator("main img, main script, main b").count() == 0


def test_questions_are_found_by_how_their_answer_came_out(open_page, answered):
    page = open_page(report(answered[0]))
    page.get_by_role("link", name="2 wrong").click()
    page.wait_for_url("**#questions?answer=wrong")
    assert ids(page) == ["badge", "hostile"]
    again = open_page(page.url)
    assert ids(again) == ["badge", "hostile"]
    assert again.locator("select[name=answer]").input_value() == "wrong"
    again.get_by_role("button", name="Clear").click()
    again.locator("[data-sort=answer]").click()
    assert ids(again)[-1] == "broken", "errors are the last"


def test_a_comparison_lists_the_answers_that_got_worse_first(open_page, answered):
    page = open_page(report(answered[2]))
    told = text(page, "#answers")
    assert told.index("Answers that became worse (1) leave right → wrong") < told.index("became better (2)")  # fmt: skip
    assert "desk refused → right" in told
    assert "mars answered anyway → rightly refused" in told
    rows = page.locator("#answer-deltas table").first.locator("tbody th").all_inner_texts()
    assert {"answer_correctness *", "faithfulness *", "hallucination *", "right_refusal"} <= set(
        rows
    )
    assert "answer" not in page.locator("select[name=by-stage-0] option").all_inner_texts()
    page.get_by_role("link", name="1 worse").click()
    page.wait_for_url("**#questions?went=worse&sort=went")
    assert ids(page) == ["leave"]
    page.locator("select[name=went]").select_option("")
    assert ids(page)[0] == "leave", "right to wrong before all others"


def test_a_comparison_opens_on_the_answer_and_says_what_its_figures_are(open_page, answered):
    page = open_page(report(answered[2]))
    assert page.locator("select[name=answer-deltas-0]").input_value() == "answer"
    assert "Every metric is the same for every question at bm25, context." in text(page, "#metrics")
    assert page.locator("#metrics table").count() == 0, "nothing to choose from where nothing moved"
    told = text(page, "#answer-deltas")
    assert "p: the two-sided chance" in told
    assert "answer_correctness *" in told
    assert "contains_reference *" not in told
    assert "passes no gate: the judge is not calibrated for" in told
    assert "What it took, base → new" in text(page, "#answers")
    slices = page.locator("#answer-delta-slices tbody th").all_inner_texts()
    assert "office" in slices
    assert "origin:unknown" not in slices


def test_old_answers_stand_beside_new_ones(open_page, answered):
    page = open_page(f"{report(answered[2])}#q/leave")
    [old, new] = page.locator("#replies > .sides").first.locator("> div").all_inner_texts()
    assert "Every employee has 25 days of paid leave. [E1]" in old
    assert "✓ right" in " ".join(old.split())
    assert "Every employee has 30 days of paid leave. [E1]" in new
    assert "context: – not in it" in " ".join(new.split())
    page.goto(f"{report(answered[2])}#q/train")
    page.get_by_text("The same before and after.").first.wait_for()
    assert page.locator("#replies .said").count() == 4  # two tries, with either context, once


def test_a_question_without_an_answer_is_said(open_page, tmp_path):
    run = answered_tables(3)
    run.answers, run.per_answer = (
        table.filter(pl.col("question_id") != "q-00001") for table in (run.answers, run.per_answer)
    )
    (tmp_path / "r.html").write_bytes(run_page(run))
    page = open_page(tmp_path / "r.html")
    assert "1 right, 1 wrong, 1 without an answer of 3 questions." in text(page, "#answers")
    page.get_by_role("link", name="1 without an answer").click()
    page.wait_for_url("**#questions?answer=none")
    page.get_by_role("link", name="q-00001").last.click()
    page.wait_for_selector("#replies")
    assert "No answer to this question is there." in text(page)


def test_ten_thousand_answers_stay_usable(open_page, tmp_path):
    (tmp_path / "r.html").write_bytes(run_page(answered_tables(10_000)))
    page = open_page((tmp_path / "r.html").as_uri() + "#questions?answer=wrong")
    assert page.locator("#matrix-count").inner_text() == "2,000 of 10,000 questions"
    page.get_by_label("Search").fill("q-00005")
    assert ids(page) == ["q-00005"]
    page.goto((tmp_path / "r.html").as_uri() + "#q/q-00000")
    page.wait_for_selector("#replies")
    assert "2 more pieces that nobody names" in text(page)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["", "#q/vpn", "#q/broken", "#q/hostile"])
def test_nothing_stands_in_the_way_of_assistive_tools(open_page, answered, scheme, name):
    from axe_playwright_python.sync_playwright import Axe

    for found in (answered[0], answered[2]):
        page = open_page(report(found) + name, color_scheme=scheme)
        page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
        bad = [
            (each["id"], each["nodes"][0]["html"][:200])
            for each in Axe().run(page).response["violations"]
            if each["impact"] in ("serious", "critical")
        ]
        assert bad == []


def test_answers_are_printed_black_on_white_and_narrow_screens_do_not_overflow(read):
    page = read("vpn")
    page.emulate_media(media="print", color_scheme="dark")
    assert page.locator("#replies details[open]").count() == 0
    assert len(page.pdf()) > 10_000
    assert page.locator("#replies details:not([open])").count() == 0, "paper shows all"
    page.emulate_media(media="screen")
    page.set_viewport_size({"width": 390, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
