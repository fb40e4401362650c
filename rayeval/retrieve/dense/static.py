"""Static embeddings: sums of tokens' vectors, without a transformer (model2vec and the like)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from rayeval.canonical import torch_threads
from rayeval.columns import Ints
from rayeval.retrieve.dense.vectors import Vectors

NAME = "StaticEmbedding"
"""What sentence-transformers calls the module."""


def is_static(model: Any) -> bool:
    """Whether a sentence-transformers model begins with static embeddings."""
    return type(model[0]).__name__ == NAME


def embed_static(
    model: Any, texts: Sequence[str], *, rows: int, limit: int, threads: int, device: str
) -> tuple[Vectors, Ints]:
    """Vectors (n_texts, dim), and the tokens of each text, at most `limit`.

    Every text is summed by itself; batches have one number of rows all the same, for the modules
    that may follow.
    """
    import torch

    found = model[0].tokenizer.encode_batch(list(texts), add_special_tokens=False)
    tokens = [np.array(one.ids[:limit], dtype=np.int64) for one in found]
    vectors = []
    with torch.inference_mode(), torch_threads(threads):
        for start in range(0, len(tokens), rows):
            members = np.resize(np.arange(start, min(start + rows, len(tokens))), rows)
            features = _features([tokens[i] for i in members])
            placed = {name: torch.from_numpy(value).to(device) for name, value in features.items()}
            vectors.append(model(placed)["sentence_embedding"].float().cpu().numpy())
    lengths = np.array([len(ids) for ids in tokens], dtype=np.int64)
    return np.concatenate(vectors)[: len(tokens)], lengths


def _features(tokens: Sequence[npt.NDArray[np.int64]]) -> dict[str, npt.NDArray[np.int64]]:
    """All tokens in a row, and where each text's begin."""
    ends = np.cumsum([len(ids) for ids in tokens])
    return {"input_ids": np.concatenate(tokens), "offsets": np.append(0, ends[:-1])}
