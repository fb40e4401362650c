"""Ids that are whole numbers are names: their decimal digits."""

import json

from rayeval.golden.load import load_questions


def test_numbers_are_ids(tmp_path):
    row = {"question_id": 17, "question": "?", "evidence": [{"source_id": 3, "evidence_id": 1}]}
    (tmp_path / "g.jsonl").write_text(json.dumps(row))
    table, problems = load_questions(str(tmp_path / "g.jsonl"))
    assert problems == []
    [loaded] = table.to_pylist()
    assert loaded["question_id"] == "17"
    assert (loaded["evidence"][0]["source_id"], loaded["evidence"][0]["evidence_id"]) == ("3", "1")
