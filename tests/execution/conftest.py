"""The small project, and a way to run it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from execution_project import CONFIG, DOCUMENTS, QUESTIONS, write_lines

from rayeval.execution.evaluate import run_config
from rayeval.execution.job import Options
from rayeval.execution.load import load_config
from rayeval.execution.progress import Silent
from rayeval.execution.runs import Run


@pytest.fixture(scope="session")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with documents.jsonl, golden.jsonl and rayeval.yaml."""
    folder = tmp_path_factory.mktemp("project")
    write_lines(folder / "documents.jsonl", DOCUMENTS)
    write_lines(folder / "golden.jsonl", QUESTIONS)
    (folder / "rayeval.yaml").write_text(yaml.safe_dump(CONFIG, allow_unicode=True))
    return folder


@pytest.fixture
def evaluate(project: Path, tmp_path: Path) -> Callable[..., Run]:
    """Runs the project's configuration with overrides, by default in a store of its own."""

    def run(
        *sets: str, runs: Path | None = None, config: Path | None = None, **options: Any
    ) -> Run:
        loaded = load_config(str(config or project / "rayeval.yaml"), sets)
        where = Options(runs=str(runs or tmp_path / "runs"), **options)
        return run_config(loaded, where, Silent())

    return run
