"""The Korean project that docs/first-results.md measures is one that can be run."""

import first_results
import yaml

from rayeval.execution.job import Options
from rayeval.execution.validate import validate_config


def test_the_sample_as_json_lines_is_valid(tmp_path):
    first_results._korean_project(tmp_path, distractors=False)
    config = yaml.safe_load((first_results.ROOT / "configs/lexical.yaml").read_text())
    config["corpus"]["path"], config["golden"] = "documents.jsonl", {"path": "golden.jsonl"}
    (tmp_path / "rayeval.yaml").write_text(yaml.safe_dump(config))
    found = validate_config(str(tmp_path / "rayeval.yaml"), [], Options(str(tmp_path / "runs")))
    assert [problem for problem in found if not problem.warning] == []
