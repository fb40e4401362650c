"""Canonical batches: a text's batch has a shape that only the text decides."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rayeval.canonical import BUCKET, canonical_batches, check_device
from rayeval.errors import ConfigError


@given(st.lists(st.integers(1, 100), max_size=60), st.integers(1, 9), st.sampled_from([100, 128]))
def test_every_text_is_in_a_batch_of_its_own_shape(lengths, rows, limit):
    seen = []
    for members, width in canonical_batches(np.array(lengths, np.int64), rows=rows, limit=limit):
        alike = [lengths[m] for m in members]
        assert len(members) == rows
        assert {min(-(-n // BUCKET) * BUCKET, limit) for n in alike} == {width}
        assert len({n == width for n in alike}) == 1  # full ones among themselves
        seen += dict.fromkeys(members.tolist())
    assert sorted(seen) == list(range(len(lengths)))


@pytest.mark.parametrize(
    ("lengths", "want"),
    [
        pytest.param(
            [3, 20, 4], [([0, 2, 0, 2], 16), ([1, 1, 1, 1], 32)], id="filled up by members"
        ),
        pytest.param([16, 15], [([0] * 4, 16), ([1] * 4, 16)], id="full and padded apart"),
        pytest.param([1] * 5, [([0, 1, 2, 3], 16), ([4] * 4, 16)], id="a last batch of one"),
        pytest.param([], [], id="nothing"),
    ],
)
def test_batches_of_four(lengths, want):
    found = canonical_batches(np.array(lengths, np.int64), rows=4, limit=512)
    assert [(members.tolist(), width) for members, width in found] == want


@pytest.mark.parametrize("device", ["tpu", "cuda:99x", ""])
def test_a_device_that_is_not_there(device):
    torch = pytest.importorskip("torch")
    if torch.cuda.is_available():
        pytest.skip("there is a GPU here")
    with pytest.raises(ConfigError, match="there is: cpu"):
        check_device(device)
