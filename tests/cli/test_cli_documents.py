"""Documents say what the code does."""

import importlib.util
import re
from pathlib import Path

import pytest

from rayeval.cli.main import run_command
from rayeval.execution.load import load_config

ROOT = Path(__file__).parents[2]


def test_the_configuration_page_is_up_to_date():
    spec = importlib.util.spec_from_file_location("page", ROOT / "docs/make_configuration.py")
    page = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(page)
    stated = (ROOT / "docs/configuration.md").read_text(encoding="utf-8")
    assert stated == page.document(), "run `make docs`"


@pytest.mark.parametrize("path", sorted(ROOT.glob("configs/*.yaml")), ids=lambda path: path.name)
def test_every_shipped_configuration_loads(path):
    assert load_config(str(path)).config.retrieve.arms


@pytest.mark.parametrize("path", [ROOT / "README.md", *sorted(ROOT.glob("docs/**/*.md"))],
                         ids=lambda path: path.name)  # fmt: skip
def test_links_between_documents_lead_somewhere(path):
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", path.read_text(encoding="utf-8")):
        if not target.startswith("http"):
            assert (path.parent / target).exists(), target


def test_every_command_of_the_readme_is_one(capsys):
    assert run_command(["--help"]) == 0
    commands = capsys.readouterr().out
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    blocks = "\n".join(re.findall(r"```\n(.*?)```", text, re.DOTALL))
    inline = re.findall(r"`rayeval ([a-z]+)", text)
    for name in {*inline, *re.findall(r"^rayeval ([a-z]+)", blocks, re.MULTILINE)}:
        assert f" {name} " in commands
