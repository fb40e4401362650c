"""GPT-4's refusals on NoMIRACL, from the command line."""

import pytest
import refusals

pytestmark = pytest.mark.slow  # public data


@pytest.mark.data
def test_gpt_4_refuses_148_of_250_unanswerable_korean_questions_and_32_others(
    shared_data, tmp_path
):
    folder = shared_data("nomiracl_ko_en")
    found = refusals.refusals(refusals.imported(folder, "ko", tmp_path), "gpt-4-azure")
    counts = (found["right_refusals"], found["unanswerable"], found["false_refusals"],
              found["answerable"])  # fmt: skip
    assert counts == (148, 250, 32, 250)
    assert (found["right_refusal"], found["false_refusal"]) == (0.592, 0.128)
    assert found["precision"] == 148 / 180
    assert found["accuracy"] == (148 + 218) / 500
