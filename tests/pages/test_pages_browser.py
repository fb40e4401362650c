"""Pages in a real Chromium: they render, filter, sort, route, and obey nothing that they show."""

from pathlib import Path

import polars as pl
import pytest
from pages_runs import HOSTILE, tables

import rayeval.report.page
from rayeval.report.page.run import run_page

pytestmark = pytest.mark.pages
SCRIPTS = Path(rayeval.report.page.__file__).parent


def count(page) -> str:
    return page.locator("#matrix-count").inner_text()


def ids(page) -> list[str]:
    return page.locator("table.matrix tbody th").all_inner_texts()


def test_the_first_screen_says_what_costs_most(open_page, made_up):
    page = open_page(made_up)
    assert (
        page.locator("h1")
        .inner_text()
        .startswith("40 of 120 questions lose their gold at reranked: q-00000, ")
    )
    lost = page.get_by_role("button", name="40 questions first lost at reranked; list them")
    assert lost.get_attribute("aria-expanded") == "false"
    lost.click()
    assert lost.get_attribute("aria-expanded") == "true"
    assert page.locator("tr.opened a").first.inner_text() == "q-00000"
    page.get_by_role("link", name="all of them in the list").click()
    page.wait_for_url("**#questions?stage=reranked")
    assert count(page) == "40 of 120 questions"


def test_filters_are_in_the_address_and_come_back_from_it(open_page, made_up):
    page = open_page(made_up)
    page.locator("select[name=slice]").select_option("table")
    page.locator("select[name=ended]").select_option("RERANK_DEMOTED_GOLD")
    assert count(page) == "20 of 120 questions"
    page.get_by_label("Search").fill("q-0006")
    assert ids(page) == ["q-00060", "q-00066"]
    assert page.url.endswith("#questions?q=q-0006&slice=table&ended=RERANK_DEMOTED_GOLD")
    again = open_page(page.url)
    assert ids(again) == ["q-00060", "q-00066"]
    assert again.locator("select[name=slice]").input_value() == "table"
    again.get_by_role("button", name="Clear").click()
    assert count(again) == "120 of 120 questions"
    assert again.locator("select[name=slice]").input_value() == ""


def test_sorting_says_its_direction_and_keeps_the_focus(open_page, made_up):
    page = open_page(made_up)
    head = page.locator("table.matrix th", has=page.locator("[data-sort=id]"))
    assert head.get_attribute("aria-sort") == "ascending"
    page.get_by_role("button", name="Question", exact=True).click()
    assert page.locator("table.matrix th").first.get_attribute("aria-sort") == "descending"
    assert ids(page)[0] == "q-00119"
    assert page.evaluate("document.activeElement.dataset.sort") == "id"
    page.locator("[data-sort='at:reranked']").click()
    assert ids(page)[0] == "q-00000"
    page.locator("[data-sort='at:reranked']").click()
    assert ids(page)[0] == "q-00001"
    page.get_by_role("button", name="Next").click()
    assert len(ids(page)) == 50
    assert "page=2" in page.url


def test_a_question_has_a_page_where_the_failure_is_read(open_page, made_up):
    page = open_page(made_up)
    page.locator("ol.questions a").first.click()
    page.wait_for_selector("#gold")
    assert page.url.endswith("#q/q-00000")
    assert page.evaluate("document.activeElement.tagName") == "H1"
    assert page.locator("h1").get_attribute("lang") == "ko"
    assert page.locator(".verdict").inner_text() == "RERANK_DEMOTED_GOLD at reranked"
    assert page.locator("#gold mark").first.inner_text() == " 장비 신청은 5일이 걸린다. The"
    assert "gold at 3" in page.locator("#stage-0").inner_text()
    assert "gold not found" in page.locator("#stage-1").inner_text()
    page.locator("#stage-0").get_by_text("Label it").first.click()
    assert (
        '"question_id":"q-00000","chunk_id":"chunk-7","grade":3'
        in page.locator("#stage-0 code").first.inner_text()
    )
    page.get_by_role("link", name="Next").first.click()
    assert page.url.endswith("#q/q-00001")
    page.go_back()
    page.go_back()
    page.wait_for_selector("#waterfall")


def test_a_question_that_is_not_there_is_said(open_page, made_up):
    page = open_page(made_up.as_uri() + "#q/%E0%A4%A")
    assert page.locator("h1").inner_text() == "No page for %E0%A4%A"


def test_hostile_texts_are_shown_and_not_obeyed(open_page, hostile):
    comparison, runs = hostile
    for address in (
        runs / "comparisons" / comparison.comparison_id,
        runs / comparison.facts["new"],
    ):
        page = open_page(address / "report.html")
        assert f"1 {HOSTILE}".replace("\u2028", "") in page.locator(
            "table.matrix"
        ).inner_text().replace("\u2028", "")
        page.locator("table.matrix tbody a").first.click()
        page.wait_for_selector("#gold")
        assert "<img src=x onerror=alert(2)>" in page.locator("main").inner_text()
        assert page.locator("main img, main script").count() == 0


def test_a_comparison_shows_old_beside_new(open_page, hostile):
    comparison, runs = hostile
    page = open_page(runs / "comparisons" / comparison.comparison_id / "report.html")
    assert page.locator("#metrics svg.interval").count() > 3
    assert page.locator("select[name=change]").count() == 1
    for stage in page.locator("select[name=slices-0] option").all_inner_texts():
        page.locator("select[name=slices-0]").select_option(stage)
        for metric in page.locator("select[name=slices-1] option").all_inner_texts():
            page.locator("select[name=slices-1]").select_option(metric)
            assert page.locator("#slices tbody tr").count() > 0, (stage, metric)
    page.goto(page.url + "#q/2%20ko")
    page.wait_for_selector("#gold")
    assert page.locator("#stage-0 .stage").count() == 2
    assert page.locator("h1").inner_text() == "장비 신청은 며칠 걸리나요"
    assert "".join(page.locator("#gold mark").all_inner_texts()) == "장비 신청은 닷새가 걸린다."
    assert page.locator(".sides h3").all_inner_texts()[0].startswith("before")


def test_ten_thousand_questions_stay_usable(open_page, tmp_path):
    (tmp_path / "report.html").write_bytes(run_page(tables(10_000)))
    page = open_page(tmp_path / "report.html")
    assert count(page) == "10,000 of 10,000 questions"
    assert len(ids(page)) == 50
    for text in ("q-0", "q-09", "q-099", "q-0999", "q-09999"):
        page.get_by_label("Search").fill(text)
    assert ids(page) == ["q-09999"]
    page.goto(page.url.partition("#")[0] + "#q/q-09997")
    page.wait_for_selector("#waterfall", state="detached")
    assert "shows only those in full" in page.locator("main").inner_text()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_stands_in_the_way_of_assistive_tools(open_page, made_up, hostile, scheme):
    from axe_playwright_python.sync_playwright import Axe

    comparison, runs = hostile
    compared = runs / "comparisons" / comparison.comparison_id / "report.html"
    addresses = [
        made_up.as_uri(),
        f"{made_up.as_uri()}#q/q-00000",
        compared.as_uri(),
        f"{compared.as_uri()}#q/2%20ko",
    ]
    for address in addresses:
        page = open_page(address, color_scheme=scheme)
        found = Axe().run(page).response["violations"]
        bad = [
            (each["id"], each["nodes"][0]["html"][:200])
            for each in found
            if each["impact"] in ("serious", "critical")
        ]
        assert bad == [], address


def test_the_keyboard_reaches_the_content_and_the_questions(open_page, made_up):
    page = open_page(made_up)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    page.keyboard.press("Enter")
    assert page.locator("#waterfall").is_visible()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.getAttribute('href')") == "#q/q-00000"
    page.keyboard.press("Enter")
    page.wait_for_selector("#gold")
    assert page.locator("h1").inner_text() == "장비 신청 0 how long"


def test_dark_is_dark_and_print_is_black_on_white(open_page, made_up):
    page = open_page(made_up, color_scheme="dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(23, 24, 26)"
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.locator("form.controls").is_hidden()
    assert page.locator("table.waterfall").is_visible()
    assert len(page.pdf()) > 10_000


def test_a_folder_of_runs_is_listed_compared_and_drawn_over_time(open_page, server):
    page = open_page(f"http://127.0.0.1:{server.server_port}/")
    assert page.locator("h1").inner_text() == "2 runs"
    assert page.locator("#trends svg circle").count() == 2
    assert page.locator("select[name=trend-1]").input_value() == "recall@5"
    for stage in page.locator("select[name=trend-0] option").all_inner_texts():
        page.locator("select[name=trend-0]").select_option(stage)
        for metric in page.locator("select[name=trend-1] option").all_inner_texts():
            page.locator("select[name=trend-1]").select_option(metric)
            assert page.locator("#trends svg circle").count() > 0, (stage, metric)
    page.get_by_role("button", name="Compare the two chosen").click()
    assert page.locator("[role=status]").inner_text() == "Choose two runs; 0 chosen."
    for box in page.get_by_role("checkbox").all():
        box.check()
    page.get_by_role("button", name="Compare the two chosen").click()
    page.wait_for_selector("#waterfall")
    assert "/compare?run=" in page.url
    page.go_back()
    page.locator("tbody th a").first.click()
    page.wait_for_selector("#waterfall")
    assert "/run/" in page.url


def none_answerable():
    run = tables(4)
    run.failures = run.failures.clear()
    run.questions = run.questions.with_columns(answerable=pl.lit(False))
    return run


def broken():
    """The first stage failed for every question, and nothing was timed."""
    run, first = tables(4), pl.col("stage") == "bm25"
    error, hits = pl.when(first).then(pl.lit("boom")), pl.when(~first).then("hits")
    run.trace = run.trace.with_columns(error=error, hits=hits)
    run.latency = run.latency.clear()
    return run


@pytest.mark.parametrize(
    ("run", "sentence"),
    [
        pytest.param(lambda: tables(0), "No answerable question", id="no question"),
        pytest.param(none_answerable, "No answerable question", id="none answerable"),
        pytest.param(broken, "2 of 4 questions lose", id="a stage that failed"),
    ],
)
def test_a_run_that_lacks_nearly_everything_is_a_page(open_page, tmp_path, run, sentence):
    (tmp_path / "report.html").write_bytes(run_page(run()))
    page = open_page(tmp_path / "report.html")
    assert sentence in page.locator("h1").inner_text()
    links = page.locator("table.matrix tbody a")
    if links.count():
        links.first.click()
        page.wait_for_selector("#gold")
        assert page.locator("h1").inner_text() == "장비 신청 0 how long"


@pytest.mark.parametrize(
    ("question", "text", "said"),
    [
        pytest.param("fee of service401?", "The fee of service44x and service402.",
                     "1 of the question's 2 words: fee", id="another name is another thing"),
        pytest.param("fee of service401?", "Service401 has a fee.",
                     "2 of the question's 2 words: fee, service401", id="the same name"),
        pytest.param("service401은 얼마", "service401의 값",
                     "1 of the question's 2 words: service401", id="a name and a particle"),
        pytest.param("error 17", "error 173", "1 of the question's 2 words: error", id="numbers"),
        pytest.param("a fee", "Feedback on fees.",
                     "0 of the question's 1 word · begins alike: fee…", id="an ending, not a word"),
        pytest.param("장비 신청을 하면 5일", "5일 안에 장비를 신청은",
                     "1 of the question's 4 words: 5일 · begins alike: 장비…, 신청…",
                     id="whole words first, then Korean beginnings"),
        pytest.param("費用", "費用は高い", "0 of the question's 1 word · begins alike: 費用…",
                     id="no spaces between words"),
    ],
)  # fmt: skip
def test_a_shared_beginning_is_not_the_word(browser, question, text, said):
    page = browser.new_page()
    page.set_content('<script id="data" type="application/json">{}</script>')
    for script in ("dom", "data", "passage", "hits"):
        page.add_script_tag(path=SCRIPTS / f"{script}.js")
    told = """([question, text]) => {
        const words = wordsOf(question);
        return whyText(words, sharedWords(text, words), "");
    }"""
    assert page.evaluate(told, [question, text]) == said
    page.close()
