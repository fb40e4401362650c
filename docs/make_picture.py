"""docs/report.png: the comparison page of the sample's two runs, with and without its reranker.

python docs/make_picture.py RUNS: the folder of runs, which is made where it has no two of them
(minutes: the sample's models run on the CPU).
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

import rayeval
from rayeval.execution.decide.comparison import write_comparison
from rayeval.execution.decide.listing import listed

DOCS = Path(__file__).parent
WIDTH, HEIGHT, MARGIN = 1240, 980, 16
"""Pixels."""
CHANGES: tuple[tuple[str, ...], ...] = ((), ("rerank=null",))


def comparison(runs: str) -> Path:
    """The page of the newest two runs there."""
    found = [row["run_id"] for row in listed(runs) if row["problem"] is None][:2]
    if len(found) < 2:
        config = DOCS.parent / "configs" / "quickstart.yaml"
        made = [rayeval.evaluate(config, sets=sets, runs=runs) for sets in CHANGES]
        found = [run.run_id for run in reversed(made)]
    return Path(str(write_comparison(rayeval.compare(*found, runs=runs), runs).path), "report.html")


def main(runs: str) -> None:
    """Opens the page and photographs it to the end of where gold is lost."""
    chromium = shutil.which("chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(
            viewport={"width": WIDTH, "height": HEIGHT}, device_scale_factor=1.5
        )
        page.goto(comparison(runs).absolute().as_uri())
        last = page.wait_for_selector("#waterfall")
        box = last.bounding_box() if last else None
        height = box["y"] + box["height"] + MARGIN if box else HEIGHT
        page.screenshot(
            path=DOCS / "report.png",
            full_page=True,
            clip={"x": 0, "y": 0, "width": WIDTH, "height": height},
        )
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1])
