"""A run of a search function."""

import json

import pytest
from live_search import QUESTIONS, search

import rayeval


@pytest.fixture(scope="module")
def golden(tmp_path_factory):
    path = tmp_path_factory.mktemp("golden") / "golden.jsonl"
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in QUESTIONS))
    return path


@pytest.fixture(scope="module")
def run(golden):
    return rayeval.evaluate(search, golden=golden, k=3, runs=golden.parent / "runs")
