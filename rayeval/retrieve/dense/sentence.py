"""Embeddings by sentence-transformers, in canonical batches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rayeval.canonical import check_device, run_canonical
from rayeval.columns import Ints
from rayeval.errors import MissingExtraError, ModelError
from rayeval.models import loading, model_path
from rayeval.retrieve.dense.static import embed_static, is_static
from rayeval.retrieve.dense.vectors import Vectors, unit

NO_LIMIT = 100_000
"""transformers writes 10**30 where a tokenizer states no limit."""


class SentenceEmbedder:
    """A sentence-transformers model; texts longer than its limit are cut."""

    def __init__(
        self,
        model: str,
        *,
        prefix: str,
        max_tokens: int | None,
        normalize: bool,
        device: str,
        threads: int,
        rows: int,
    ) -> None:
        self.model = _load(model, device)
        self.tokenizer = self.model.tokenizer
        self.dim = int(self.model.get_embedding_dimension())
        self.prefix = prefix
        self.limit = _limit(model, self.model, max_tokens)
        self.normalize = normalize
        self.device = device
        self.threads = threads
        self.rows = rows

    def embed(self, texts: Sequence[str]) -> tuple[Vectors, Ints]:
        """Vectors (n_texts, dim), and the tokens of each text, special ones counted."""
        if not texts:
            return np.empty((0, self.dim), np.float32), np.empty(0, np.int64)
        prefixed = [self.prefix + text for text in texts]
        shape: Any = {
            "rows": self.rows,
            "limit": self.limit,
            "threads": self.threads,
            "device": self.device,
        }
        if is_static(self.model):
            vectors, tokens = embed_static(self.model, prefixed, **shape)
        else:
            encoded = self.tokenizer(prefixed, truncation=True, max_length=self.limit)
            vectors, tokens = run_canonical(self.tokenizer, encoded, self._forward, **shape)
        return unit(vectors) if self.normalize else vectors, tokens

    def _forward(self, features: Any) -> Any:
        return self.model(dict(features))["sentence_embedding"]


def _load(name: str, device: str) -> Any:
    try:
        from sentence_transformers import SentenceTransformer
    except ImportError as error:
        raise MissingExtraError.of(
            "sentence-transformers", "models", why="the embedder sentence_transformers"
        ) from error
    check_device(device)
    folder, _ = model_path(name)
    with loading(name):
        return SentenceTransformer(folder, device=device, local_files_only=True).eval()


def _limit(name: str, model: Any, asked: int | None) -> int:
    """In tokens: the smallest of what is asked, the tokenizer's and the model's limit."""
    if is_static(model):
        return asked or NO_LIMIT
    tokenizer, config = model.tokenizer, getattr(model[0], "config", None)
    if config is None or not callable(tokenizer):
        raise ModelError(
            f"the model {name!r} has no transformers tokenizer; only transformer models and static "
            f"embeddings can be run in this process. Serve it behind an embeddings endpoint (kind: "
            f"openai) instead."
        )
    positions = getattr(config, "max_position_embeddings", None) or NO_LIMIT
    known = [n for n in (tokenizer.model_max_length, positions) if n < NO_LIMIT]
    return min([*known, asked or NO_LIMIT])
