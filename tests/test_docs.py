"""What users read refers only to what they have."""

import re
from pathlib import Path

import pytest
import yaml
from typer.main import get_command

from rayeval.cli.main import app
from rayeval.gates.config import Gate, Gates
from rayeval.metrics.names import METRICS

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_no_page_refers_to_the_design_which_is_not_in_the_repository(page):
    assert not re.findall(r"DESIGN|§", page.read_text())


def helps(command):
    yield command.help or ""
    yield from (getattr(param, "help", "") or "" for param in command.params)
    for inner in getattr(command, "commands", {}).values():
        yield from helps(inner)


def test_no_help_does_either():
    assert not [text for text in helps(get_command(app)) if re.search(r"DESIGN|§", text)]


def test_every_metric_is_defined():
    pages = "".join(
        (ROOT / "docs" / name).read_text() for name in ("metrics.md", "answer-metrics.md")
    )
    named = set(re.findall(r"`([a-z_0-9]+)(?:@k)?`", pages))
    assert set(METRICS) - named == set()


def test_every_key_of_a_gate_is_explained():
    page = (ROOT / "docs" / "deciding.md").read_text()
    assert set(Gate.model_fields) - set(re.findall(r"`([a-z_]+)`", page)) == set()


def test_the_gates_of_the_page_are_gates():
    page = (ROOT / "docs" / "deciding.md").read_text()
    blocks = re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)
    assert [len(Gates.model_validate(yaml.safe_load(block)).gates) for block in blocks] == [4, 3]
