"""The LLMJudge submissions against the human grades."""

import pytest

from rayeval.calibration import Scale, calibrated
from rayeval.interop.labels import read_labels

pytestmark = pytest.mark.data
KAPPAS = {
    "willia-umbrela1": (0.2863, 0.5044),
    "TREMA-nuggets": (0.0604, 0.1555),
}
FLAGGED = {"RMITIR-llama70B": {"5"}, "h2oloo-zeroshot2": {"10"}}


@pytest.mark.parametrize("stated", [True, False])
def test_agreement_with_the_human_grades(shared_data, stated):
    """Without a scale, it is that of the labels that people gave."""
    folder = shared_data("llmjudge")
    human = read_labels(str(folder / "llmjudge_test_qrel_idx.txt"))
    scale = Scale.of(["0", "1", "2", "3"]) if stated else None
    found = {
        path.stem: calibrated(human, read_labels(str(path)), scale=scale)
        for path in sorted((folder / "submissions").glob("*.txt"))
    }
    assert len(found) == 8
    for name, (plain, quadratic) in KAPPAS.items():
        assert round(found[name]["kappa"], 4) == plain
        assert round(found[name]["kappa_quadratic"], 4) == quadratic
    for name, one in found.items():
        assert {row["label"] for row in one["out_of_scale"]} == FLAGGED.get(name, set())
        assert one["n"] + one["n_left_out"] == 4423
        assert one["n_off_scale"] == one["n_left_out"] == len(one["out_of_scale"])
        assert one["clusters"] == 25
