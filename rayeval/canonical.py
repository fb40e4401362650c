"""Batches whose shape depends on nothing but the text itself (DESIGN §9).

A model's output can depend on who shares its batch: on padding, and on the kernels that a shape
selects. So every text is padded to the bucket of its own length, every batch has the same number of
rows, and threads are set: a text's result is then the same, bit for bit, whoever its neighbours
are. MiniLM on a CPU gives other bits with one thread than with two (at 16 tokens), so threads, like
rows, belong to what decides a result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt

from rayeval.errors import ConfigError, MissingExtraError

BUCKET = 16
"""In tokens."""


def canonical_batches(
    lengths: npt.NDArray[np.int64], *, rows: int, limit: int
) -> Iterator[tuple[npt.NDArray[np.int64], int]]:
    """Who is computed together, and padded to how many tokens.

    lengths: (n_texts,), in tokens, at most `limit`.
    Yields (members, width): (rows,) texts whose bucket ends at `width`. A last batch is filled up
    with its own members again, which changes nothing for them.
    """
    width = np.minimum(-(-lengths // BUCKET) * BUCKET, limit)
    # Texts that fill their bucket stay among themselves: with no padding at all in a batch some
    # models skip the mask, and with it take another kernel.
    shape = 2 * width + (lengths < width)
    order = np.argsort(shape, kind="stable")
    for alike in np.split(order, np.flatnonzero(np.diff(shape[order])) + 1):
        for start in range(0, len(alike), rows):
            yield np.resize(alike[start : start + rows], rows), int(width[alike[0]])


def check_device(device: str) -> None:
    """Raises ConfigError unless torch can compute on `device` here."""
    try:
        import torch
    except ImportError as error:
        raise MissingExtraError.of("torch", "models", why=f"device {device!r}") from error
    kind = device.partition(":")[0]
    present = {"cpu": True, "cuda": torch.cuda.is_available()}
    present["mps"] = torch.backends.mps.is_available()
    if not present.get(kind, False):
        here = ", ".join(name for name, there in present.items() if there)
        raise ConfigError(f"there is no device {device!r} on this machine; there is: {here}")


@contextmanager
def torch_threads(threads: int) -> Iterator[None]:
    """torch computes with `threads` inside, and as before afterwards."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def run_canonical(
    tokenizer: Any,
    encoded: Mapping[str, list[list[int]]],
    forward: Callable[[Any], Any],
    *,
    rows: int,
    limit: int,
    threads: int,
    device: str,
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int64]]:
    """What a torch model gives for tokenised texts, in their order.

    tokenizer: of transformers. encoded: its output, truncated to `limit` tokens, not padded.
    forward: padded tensors → a tensor of `rows` rows.
    Returns (n_texts, ...) results and (n_texts,) lengths in tokens. At least one text.
    """
    import torch

    lengths = np.array([len(ids) for ids in encoded["input_ids"]], dtype=np.int64)
    places, outputs = [], []
    with torch.inference_mode(), torch_threads(threads):
        for members, width in canonical_batches(lengths, rows=rows, limit=limit):
            batch = {name: [values[i] for i in members] for name, values in encoded.items()}
            fixed = {"padding": "max_length", "max_length": width, "return_tensors": "pt"}
            padded = tokenizer.pad(batch, **fixed).to(device)
            outputs.append(forward(padded).float().cpu().numpy())
            places.append(members)
    results = np.empty((len(lengths), *outputs[0].shape[1:]), dtype=np.float32)
    results[np.concatenate(places)] = np.concatenate(outputs)
    return results, lengths
