"""Pages made anew, beside the runs that they are about."""

from __future__ import annotations

from rayeval import files
from rayeval.errors import ConfigError, RunError
from rayeval.execution.decide.comparison import load_comparison
from rayeval.execution.guard import revealed
from rayeval.execution.runs import load
from rayeval.report.page.comparison import comparison_page
from rayeval.report.page.run import run_page

Page = tuple[str, bytes]


def write_page(name: str, runs: str, out: str | None = None) -> str:
    """Writes the page of a run or a comparison; returns its path.

    Raises RunError if `name` is neither, ConfigError if `out` is not named as a page.
    """
    if out is not None and not out.lower().endswith((".html", ".htm")):
        raise ConfigError(f"{out} would hold a page of HTML: call it something.html")
    found, data = page_of(name, runs)
    path = out or f"{runs.rstrip('/')}/reports/{found}/report.html"
    files.write_bytes(path, data)
    return files.absolute(path)


def page_of(name: str, runs: str) -> Page:
    """The id of what `name` means, and its page.

    A comparison on the test split is in its ledger before it is shown, whoever made it.
    """
    if is_comparison(name, runs):
        found = load_comparison(name, runs)
        revealed(*found.sides, None)
        return found.comparison_id, comparison_page(found)
    try:
        run = load(name, runs)
    except RunError as error:
        raise RunError(f"{error}; nor is it a comparison below {runs}/comparisons") from error
    return run.run_id, run_page(run)


def is_comparison(name: str, runs: str) -> bool:
    """Whether a comparison has that id, or lies at that path."""
    paths = (name.rstrip("/"), f"{runs.rstrip('/')}/comparisons/{name}")
    return any(files.exists(f"{path}/comparison.json") for path in paths)
