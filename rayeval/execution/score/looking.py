"""The steps that hold a trace against the documents: what it says of places, and its texts."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import pyarrow as pa

from rayeval import files, registry
from rayeval.chunk.tokens import Tokenizer
from rayeval.execution.plan.builder import Builder, columns, per_question
from rayeval.execution.plan.corpus import DocumentSteps
from rayeval.execution.score.inputs import ScoreInputs
from rayeval.execution.step import Step
from rayeval.golden.locate import SPOT, Locate
from rayeval.interop.own.claims import CLAIMS
from rayeval.registry.claims import MISPLACED
from rayeval.registry.scoring import Scoring
from rayeval.tables import QUESTIONS, TEXT

PART_BYTES = 256 << 20
"""Of a trace and its chunks, whose distinct places are held in memory together."""


@dataclass(frozen=True)
class Looked:
    """What the documents say of a trace."""

    claims: Step
    """Every place that a hit or a chunk states."""
    misplaced: Step
    """Those that are wrong."""
    anchored: Step
    """Where texts stand that say nothing of it, or something wrong."""
    counted: Step | None
    """The tokens of what stands at places that come without a text; None: nobody asks for them."""

    @property
    def whole(self) -> dict[str, str]:
        """What scoring reads of it."""
        found = {"misplaced": self.misplaced.key, "texts": self.anchored.key}
        return found | ({} if self.counted is None else {"span_tokens": self.counted.key})


def looking_steps(
    builder: Builder,
    inputs: ScoreInputs,
    scoring: Scoring,
    corpus: DocumentSteps,
    tokenizer: Tokenizer,
) -> Looked:
    """The places are checked, then the texts located as a quote is (DESIGN §4)."""
    read = {"trace": inputs.trace_sha256, "chunks": inputs.chunks_sha256}
    catalogue = {"catalogue": corpus.catalogue.key}
    claims = builder.add(
        Step(
            name="claims",
            kind="produce",
            identity={"step": "claims", "v": 1, **read},
            make=partial(registry.claims, scoring.paths, scoring.chunks),
            schema=CLAIMS,
            whole=catalogue,
            parts=_parts((*scoring.paths, *scoring.chunks)),
        )
    )
    misplaced = _misplaced(builder, claims, corpus)
    texts = builder.add(
        Step(
            name="texts",
            kind="produce",
            identity={"step": "texts", "v": 3, **read},
            make=partial(registry.texts, scoring.paths, scoring.chunks),
            schema=QUESTIONS,
            whole={**catalogue, "misplaced": misplaced.key},
        )
    )
    counted = _counted(builder, claims, corpus, tokenizer) if scoring.counts_tokens else None
    return Looked(claims, misplaced, _anchored(builder, texts, corpus), counted)


def _misplaced(builder: Builder, claims: Step, corpus: DocumentSteps) -> Step:
    standing = builder.add(
        Step(
            name="standing",
            kind="scatter",
            identity={"step": "standing", "v": 1},
            make=registry.Standing,
            schema=per_question(fault=TEXT, unit=TEXT),
            batch=columns(claims, *(n for n in CLAIMS.names if n != "lacks")),
            sharded={"documents": corpus.documents.key},
        )
    )
    return builder.add(
        Step(
            name="misplaced",
            kind="produce",
            identity={"step": "misplaced", "v": 1},
            make=registry.misplaced,
            schema=MISPLACED,
            sharded={"claims": claims.key, "standing": standing.key},
        )
    )


def _counted(builder: Builder, claims: Step, corpus: DocumentSteps, tokenizer: Tokenizer) -> Step:
    return builder.add(
        Step(
            name="span_tokens",
            kind="scatter",
            identity={"step": "span tokens", "v": 1, "tokenizer": tokenizer.identity()},
            make=partial(registry.SpanTokens, tokenizer),
            schema=per_question(tokens=pa.int64()),
            batch=columns(claims, *(n for n in CLAIMS.names if n != "lacks")),
            sharded={"documents": corpus.documents.key},
        )
    )


def _anchored(builder: Builder, texts: Step, corpus: DocumentSteps) -> Step:
    return builder.add(
        Step(
            name="anchored",
            kind="scatter",
            identity={"step": "located"},
            make=Locate,
            schema=per_question(spots=pa.list_(SPOT)),
            batch=columns(texts, *QUESTIONS.names),
            sharded={"documents": corpus.documents.key, "elements": corpus.elements.key},
            whole={"catalogue": corpus.catalogue.key},
        )
    )


def _parts(paths: tuple[str, ...]) -> int:
    size = 0
    for path in paths:
        fs, inner = files.open_fs(path)
        size += fs.get_file_info(inner).size or 0
    return 1 + size // PART_BYTES
