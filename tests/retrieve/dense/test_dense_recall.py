"""Index recall: by id, ties credited, padding and duplicates never."""

import numpy as np
import pyarrow as pa
import pytest

from rayeval.retrieve.dense.recall import IndexRecall
from rayeval.tables import HITS, TEXT

GOLD = pa.list_(pa.struct([("chunk_id", TEXT)]))


def recall(exact, ann, gold=(), depth=3, tolerance=1e-6):
    def hits(pairs):
        return None if pairs is None else [{"chunk_id": i, "score": s} for i, s in pairs]

    batch = pa.table(
        {
            "dense_exact": pa.array([hits(exact)], HITS),
            "dense_ann": pa.array([hits(ann)], HITS),
            "gold_chunks": pa.array([[{"chunk_id": i} for i in gold]], GOLD),
        }
    )
    stage = IndexRecall("dense_exact", "dense_ann", depth=depth, tolerance=tolerance)
    (row,) = stage(batch).to_pylist()
    return row["index_recall"], row["lost_gold"], row["lost_harmless"]


ABC = [("a", 0.9), ("b", 0.8), ("c", 0.7)]


@pytest.mark.parametrize(
    ("exact", "ann", "gold", "want"),
    [
        pytest.param(ABC, ABC, "abc", (1.0, 0, 0), id="all found"),
        pytest.param(ABC, [*ABC[::-1]], "", (1.0, 0, 0), id="order does not matter"),
        pytest.param(ABC, [("a", 0.9)], "", (1 / 3, 0, 2), id="short list loses harmless ones"),
        pytest.param(ABC, ABC[1:], "a", (2 / 3, 1, 0), id="gold lost"),
        pytest.param(ABC, ABC[1:], "bz", (2 / 3, 0, 1), id="gold kept, another lost"),
        pytest.param(ABC, [], "ab", (0.0, 2, 1), id="nothing found"),
        pytest.param(
            ABC, [*ABC[:2], ("d", 0.7 - 1e-7)], "", (1.0, 0, 0), id="a tie with the last counts"
        ),
        pytest.param(ABC, [*ABC[:2], ("d", 0.7 - 1e-4)], "", (2 / 3, 0, 1), id="no tie"),
        pytest.param(
            ABC, [*ABC[:2], ("d", 0.7)], "c", (1.0, 1, 0), id="a tie does not replace gold"
        ),
        pytest.param(ABC, [("a", 0.9)] * 3, "", (1 / 3, 0, 2), id="one id thrice is one"),
        pytest.param(
            ABC, [("a", 0.9), (None, 0.9), (None, 0.9)], "", (1 / 3, 0, 2), id="padding is nobody"
        ),
        pytest.param(
            [*ABC, ("d", 0.6)], [*ABC[:2], ("d", 0.6), ("c", 0.7)], "", (2 / 3, 0, 1),
            id="only the first depth hits count",
        ),
        pytest.param(ABC[:2], ABC[:2], "", (1.0, 0, 0), id="fewer chunks than depth"),
    ],
)  # fmt: skip
def test_recall_of_one_question(exact, ann, gold, want):
    assert recall(exact, ann, gold) == pytest.approx(want)


@pytest.mark.parametrize(
    ("exact", "ann"),
    [
        pytest.param(None, ABC, id="exact not run"),
        pytest.param(ABC, None, id="index not run"),
        pytest.param([], [], id="nothing to find"),
    ],
)
def test_recall_is_undefined(exact, ann):
    value, gold, harmless = recall(exact, ann, "a")
    assert np.isnan(value)
    assert (gold, harmless) == (None, None)


def test_padded_lists_that_agree_in_their_padding_share_nothing():
    padded = [(None, 0.0), (None, 0.0)]
    assert recall([("a", 0.9), *padded], [("b", 0.1), *padded]) == (0.0, 0, 1)
