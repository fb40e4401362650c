"""Pages on disk, and a browser to open them."""

import os
import shutil
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from rayeval.execution.decide.view import serve
from rayeval.report.page.run import run_page

sys.path[:0] = [str(Path(__file__).parents[1] / room) for room in ("answer", "chat", "judge")]


@pytest.fixture(scope="session")
def hostile(tmp_path_factory):
    """(comparison, folder of its runs) over hostile texts."""
    from pages_runs import hostile_pair

    return hostile_pair(tmp_path_factory.mktemp("pages") / "hostile")


@pytest.fixture(scope="session")
def answered(tmp_path_factory):
    """(a run with answers and their judge, a second one, their comparison)."""
    from answered_runs import answered_pair

    return answered_pair(tmp_path_factory.mktemp("pages") / "answered")


@pytest.fixture(scope="session")
def made_up(tmp_path_factory) -> Path:
    """The page of a run of 120 questions."""
    from pages_runs import tables

    path = tmp_path_factory.mktemp("pages") / "report.html"
    path.write_bytes(run_page(tables(120)))
    return path


@pytest.fixture(scope="session")
def server(hostile):
    """`rayeval view` of the hostile runs."""
    with serve(str(hostile[1]), 0) as running:
        thread = threading.Thread(target=running.serve_forever)
        thread.start()
        yield running
        running.shutdown()
        thread.join()


@pytest.fixture(scope="session")
def browser() -> Iterator:
    """The system's Chromium."""
    from playwright.sync_api import sync_playwright

    found = (
        os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    )
    if found is None:
        pytest.fail("no chromium here: make test-pages installs it, or set CHROMIUM")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield chromium
        chromium.close()


@pytest.fixture
def open_page(browser):
    """Opens an address; whatever the console or a dialog says fails the test."""
    contexts, said = [], []

    def opened(address, **settings):
        contexts.append(browser.new_context(viewport={"width": 1280, "height": 900}, **settings))
        page = contexts[-1].new_page()
        page.set_default_timeout(60_000)
        page.on("console", lambda message: said.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on(
            "dialog", lambda dialog: (said.append(f"dialog {dialog.message}"), dialog.dismiss())
        )
        page.goto(address if isinstance(address, str) else address.as_uri())
        return page

    yield opened
    for context in contexts:
        context.close()
    assert said == []
