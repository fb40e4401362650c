"""What users read refers only to what they have."""

import re
from pathlib import Path

import pytest
from typer.main import get_command

from rayeval.cli.main import app

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
