"""Scores of (question, text) pairs by a transformer, in canonical batches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rayeval.canonical import check_device, run_canonical
from rayeval.columns import Floats
from rayeval.errors import MissingExtraError, ModelError
from rayeval.models import loading


class PairScorer:
    """A sequence classifier with one output, taken as it comes: a sigmoid would tie its ends.

    Pairs longer than the limit are cut at their longer side.
    """

    def __init__(
        self,
        name: str,
        folder: str,
        *,
        max_tokens: int | None,
        device: str,
        threads: int,
        rows: int,
    ) -> None:
        check_device(device)
        self.model, self.tokenizer = load_classifier(name, folder)
        self.model.to(device)
        positions = getattr(self.model.config, "max_position_embeddings", None)
        known = [self.tokenizer.model_max_length, positions, max_tokens]
        self.limit = min(limit for limit in known if limit)
        self.device = device
        self.threads = threads
        self.rows = rows

    def scores(self, questions: Sequence[str], texts: Sequence[str]) -> Floats:
        """One score per pair, (n_pairs,), any real number; the higher the better."""
        if not questions:
            return np.empty(0)
        encoded = self.tokenizer(
            list(questions), list(texts), truncation="longest_first", max_length=self.limit
        )
        logits, _ = run_canonical(
            self.tokenizer,
            encoded,
            lambda features: self.model(**features).logits[:, 0],
            rows=self.rows,
            limit=self.limit,
            threads=self.threads,
            device=self.device,
        )
        return logits.astype(np.float64)


def load_classifier(name: str, folder: str) -> tuple[Any, Any]:
    """(model, tokenizer). Raises ModelError unless the model scores pairs by one number."""
    try:
        from transformers import AutoModelForSequenceClassification, AutoTokenizer
    except ImportError as error:
        raise MissingExtraError.of("transformers", "models", why="a cross_encoder") from error
    with loading(name):
        model, info = AutoModelForSequenceClassification.from_pretrained(
            folder, output_loading_info=True, local_files_only=True
        )
        tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
    if info["missing_keys"]:  # transformers would make them up at random
        raise ModelError(
            f"the model {name!r} is no cross-encoder: it lacks {', '.join(info['missing_keys'])}. "
            f"A cross-encoder can be fitted from it with `model: {{kind: fit, base: {name}}}`."
        )
    if model.config.num_labels != 1:
        raise ModelError(
            f"the model {name!r} gives {model.config.num_labels} scores for a pair, expected one"
        )
    return model.eval(), tokenizer
