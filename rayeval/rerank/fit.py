"""A cross-encoder fitted to a golden set's own questions: quick, and no match for a real one.

With some hundred questions a cross-encoder rarely beats the retrieval it reorders (Zhang et al.
2020, "A Little Bit Is Worse Than None", doi:10.18653/v1/2020.sustainlp-1.14): fitted to the sample
handbook from MiniLM, it orders candidates no better than chance. It is here so that a pipeline with
a reranker can be run, and its losses seen, where no model can be had.
"""

from __future__ import annotations

import shutil
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from rayeval.canonical import torch_threads
from rayeval.columns import Ints
from rayeval.errors import ConfigError, MissingExtraError
from rayeval.models import loading, model_path

NOTHING = (
    "there is nothing to fit a reranker on: no question of the golden set's train split has gold "
    "within one passage. Name a ready cross-encoder as `rerank.model` instead."
)

GROUPS = 4
"""Questions per step."""

WARM_UP = 0.1
"""Share of the steps in which the learning rate climbs; then it falls to 0."""


def fit(
    pairs: pa.Table,
    folder: str,
    *,
    base: str,
    epochs: int,
    learning_rate: float,
    seed: int,
    max_tokens: int = 128,
    threads: int = 2,
) -> None:
    """Writes to `folder` a cross-encoder that tells each positive of `pairs` from its negatives.

    pairs: PAIRS, in any order. base: the model to start from. On the CPU, so that the same input
    gives the same model on one kind of hardware; the folder appears when it is complete.
    Raises ConfigError if there are no pairs, ModelError if there is no base.
    """
    if not pairs.num_rows:
        raise ConfigError(NOTHING)
    try:
        import torch
    except ImportError as error:
        raise MissingExtraError.of("torch", "models", why="fitting a reranker") from error
    with torch.random.fork_rng(devices=[]), torch_threads(threads):
        torch.manual_seed(seed)
        model, tokenizer = _start(base)
        texts = _Texts(pairs, tokenizer, max_tokens)
        orders = np.random.default_rng(seed)
        steps = [s for _ in range(epochs) for s in _steps(orders, pairs.num_rows)]
        _train(torch, model, texts, steps, learning_rate)
    _save(model.eval(), tokenizer, Path(folder))


def _start(base: str) -> tuple[Any, Any]:
    from transformers import AutoModelForSequenceClassification, AutoTokenizer
    from transformers.utils import logging

    source, _ = model_path(base)
    with loading(base):
        logging.set_verbosity_error()  # that the head is new is the point
        model = AutoModelForSequenceClassification.from_pretrained(
            source, num_labels=1, local_files_only=True
        )
        tokenizer = AutoTokenizer.from_pretrained(source, local_files_only=True)
        logging.set_verbosity_warning()
    return model.train(), tokenizer


class _Texts:
    """`pairs` as padded batches; in an order of their own, whatever order they came in."""

    def __init__(self, pairs: pa.Table, tokenizer: Any, max_tokens: int) -> None:
        pairs = pairs.sort_by([("question", "ascending"), ("positive", "ascending")])
        self.tokenizer = tokenizer
        self.max_tokens = max_tokens
        self.questions = pairs["question"].to_pylist()
        self.positives = pairs["positive"].to_pylist()
        self.negatives = pairs["negatives"].to_pylist()

    def batch(self, groups: Ints) -> tuple[Any, list[int]]:
        """Tensors of all pairs of `groups`, each positive first, and how many a group has."""
        texts = [[self.positives[g], *self.negatives[g]] for g in groups]
        sizes = [len(group) for group in texts]
        asked = [
            self.questions[g] for g, size in zip(groups, sizes, strict=True) for _ in range(size)
        ]
        encoded = self.tokenizer(
            asked,
            [text for group in texts for text in group],
            truncation="longest_first",
            max_length=self.max_tokens,
            padding=True,
            return_tensors="pt",
        )
        return encoded, sizes


def _steps(orders: np.random.Generator, count: int) -> Iterator[Ints]:
    """An epoch: every group once, in a random order."""
    order = orders.permutation(count)
    for start in range(0, count, GROUPS):
        yield order[start : start + GROUPS]


def _train(torch: Any, model: Any, texts: _Texts, steps: list[Ints], learning_rate: float) -> None:
    """Softmax over each group: its positive should score highest.

    Source: Gao et al. 2021, doi:10.1007/978-3-030-72240-1_26, localised contrastive estimation.
    """
    optimizer = torch.optim.AdamW(model.parameters(), lr=learning_rate, weight_decay=0.01)
    warm = max(1, int(WARM_UP * len(steps)))
    rate = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda n: min((n + 1) / warm, (len(steps) - n) / len(steps))
    )
    for groups in steps:
        encoded, sizes = texts.batch(groups)
        scores = model(**encoded).logits[:, 0].split(sizes)
        loss = sum(torch.logsumexp(group, 0) - group[0] for group in scores) / len(sizes)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        rate.step()


def _save(model: Any, tokenizer: Any, folder: Path) -> None:
    temporary = folder.with_name(f".{folder.name}.{uuid.uuid4().hex[:12]}.tmp")
    try:
        model.save_pretrained(temporary)
        tokenizer.save_pretrained(temporary)
        temporary.replace(folder)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
