"""Embeddings by a server with OpenAI's embeddings endpoint."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rayeval.columns import Floats
from rayeval.errors import ConfigError, RowError
from rayeval.live.retry import UnavailableError
from rayeval.retrieve.dense.endpoint import Endpoint
from rayeval.retrieve.dense.vectors import Vectors, unit
from rayeval.words import plural


class RemoteEmbedder:
    """Sends `batch` texts per request; a first one asks how long vectors are.

    Servers count tokens by request, which depends on the batch, so tokens stay unknown.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        model: str,
        prefix: str,
        body: Mapping[str, Any],
        dimensions: int | None,
        normalize: bool,
        batch: int,
    ) -> None:
        self.endpoint = endpoint
        asked = {} if dimensions is None else {"dimensions": dimensions}
        self.body = {"encoding_format": "float", **asked, **body, "model": model}
        self.prefix = prefix
        self.normalize = normalize
        self.batch = batch
        self.dim = len(self._post(["length"])[0])
        if dimensions not in (None, self.dim):
            raise ConfigError(
                f"{endpoint.url} gives vectors of length {self.dim}, though `dimensions` is "
                f"{dimensions}: leave it out, or take a model that can shorten its vectors"
            )

    def embed(self, texts: Sequence[str]) -> tuple[Vectors, None]:
        """Vectors (n_texts, dim). Raises RowError if a text is refused or its vector is wrong."""
        parts = [np.empty((0, self.dim), np.float32)]
        for start in range(0, len(texts), self.batch):
            wide = self._matrix(self._post(texts[start : start + self.batch]))
            parts.append(unit(wide) if self.normalize else wide.astype(np.float32))
        return np.concatenate(parts), None

    def _post(self, texts: Sequence[str]) -> list[list[float]]:
        body = {**self.body, "input": [self.prefix + text for text in texts]}
        return self.endpoint.post(body, lambda answer: self._embeddings(answer, len(texts)))

    def _embeddings(self, answer: Any, count: int) -> list[list[float]]:
        """The embeddings in the order of the texts, which `index` tells, not the list."""
        try:
            by_index = {item["index"]: item["embedding"] for item in answer["data"]}
            listed = len(answer["data"])
        except (TypeError, KeyError) as error:
            raise UnavailableError(
                f"{self.endpoint.url} gave an answer without embeddings"
            ) from error
        if listed != count or set(by_index) != set(range(count)):
            raise UnavailableError(
                f"{self.endpoint.url} gave {plural(listed, 'embedding')} for "
                f"{plural(count, 'text')}, "
                f"expected one for each index from 0 to {count - 1}"
            )
        return [by_index[i] for i in range(count)]

    def _matrix(self, embeddings: list[list[float]]) -> Floats:
        wrong = [e for e in embeddings if not isinstance(e, list) or len(e) != self.dim]
        if wrong:
            found = len(wrong[0]) if isinstance(wrong[0], list) else "no list"
            raise RowError(f"the embedder gave a vector of length {found}, expected {self.dim}")
        try:
            wide = np.array(embeddings, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise RowError(f"the embedder gave a vector that isn't all numbers: {error}") from error
        if not (np.abs(wide) <= np.finfo(np.float32).max).all():
            raise RowError("the embedder gave a vector with NaN, or with numbers beyond float32")
        return wide
