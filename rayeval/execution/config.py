"""A run's configuration: every room's settings in one file."""

from __future__ import annotations

from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, NonNegativeInt, model_validator

from rayeval.answer.config import Answer
from rayeval.chunk.config import Chunk
from rayeval.chunk.tokens import Tokenizer, Words
from rayeval.context.live import HttpSelector, PythonSelector
from rayeval.context.selection import Budget, TopK
from rayeval.corpus.config import Corpus, Parse
from rayeval.errors import ConfigError
from rayeval.execution.placement import Placement
from rayeval.fuse.fusion import Fuse, weights_of
from rayeval.golden.config import Golden
from rayeval.judge.config import Judge
from rayeval.metrics.config import Metrics
from rayeval.rerank.config import CrossEncoder
from rayeval.rerank.live import HttpReranker, PythonReranker
from rayeval.retrieve.dense.config import Dense
from rayeval.retrieve.filter import Filter
from rayeval.retrieve.foreign.config import HttpArm, PythonArm
from rayeval.retrieve.lexical.bm25 import Bm25

Arm = Annotated[Bm25 | Dense | HttpArm | PythonArm, Field(discriminator="kind")]
Rerank = Annotated[CrossEncoder | HttpReranker | PythonReranker, Field(discriminator="kind")]
Context = Annotated[TopK | Budget | HttpSelector | PythonSelector, Field(discriminator="kind")]

# fmt: off
STAGES = ("ingest", "parse", "chunk", "filter", "retrieve", "fuse", "fused", "rerank", "reranked",
          "context", "answer", "closed_book", "gold_context", "judge", "retrieval", "end_to_end")
STEPS = ("documents", "catalogue", "elements", "chunks", "questions", "located", "spots",
         "resolved", "gold_chunks", "passages", "exact_sample", "candidates", "offered", "fitted",
         "claims", "standing", "misplaced", "texts", "span_tokens", "gold_texts", "answers",
         "answer_rows",
         "judged", "judged_again", "judged_twice", "judgement_rows", "judged_again_rows",
         "missed", "neighbours", "per_query", "per_answer", "top_scores", "abstention",
         "thresholds", "risk_coverage", "spread", "failures", "aggregate", "slices")
COLUMNS = ("question_id", "question", "answerable", "labels", "evidence", "required_aspects",
           "removed_gold", "sampled")
# fmt: on
"""Of batches in which every arm has a column too."""
RESERVED = frozenset((*STAGES, *STEPS, *COLUMNS))
"""Names that mean something else in a run; no arm may take them."""


class Part(BaseModel):
    """A part of the configuration: closed, so that a typo is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Retrieve(Part):
    """The arms that search, side by side, and what is left out of all of them."""

    filter: Filter = Filter()
    arms: dict[str, Arm] = Field(min_length=1)


class Latency(Part):
    """The serial pass: one question at a time, after warm-up."""

    sample: NonNegativeInt = Field(0, description="questions to time one at a time; 0: none")


class RunConfig(Part):
    """What `rayeval run` runs. Paths are relative to the file that holds them."""

    name: str = Field("run", pattern=r"^[\w.-]+$", description="part of the run's id")
    environment: str | None = Field(None, description="where this ran, for the manifest")
    golden: Golden
    corpus: Corpus
    parse: Parse = Parse()
    tokenizer: Tokenizer = Words()
    chunk: Chunk
    retrieve: Retrieve
    fuse: Fuse | None = None
    rerank: Rerank | None = None
    context: Context | None = None
    answer: Answer | None = None
    judge: Judge | None = None
    metrics: Metrics = Metrics()
    latency: Latency = Latency()
    placement: Placement = Placement()
    seed: int = 42

    @model_validator(mode="after")
    def _stages_fit(self) -> Self:
        names = stage_names(self.retrieve.arms)
        for name in dict.fromkeys([*self.retrieve.arms, *names]):
            if name in RESERVED or not name.isidentifier():
                raise ValueError(
                    f"retrieve.arms: {name!r} can't be an arm's name; expected a plain word that "
                    f"names nothing else in a run, such as 'bm25', 'dense' or 'titles'"
                )
        if len(set(names)) < len(names):
            raise ValueError(f"retrieve.arms: two arms give a stage of one name: {names}")
        later = (self.rerank, self.context, self.answer)
        if self.fuse is None and len(self.retrieve.arms) > 1 and any(later):
            raise ValueError(
                f"fuse: missing; with {len(self.retrieve.arms)} arms, rerank, context and answer "
                f"need one fused list, e.g. fuse: {{kind: rrf, depth: 20}}"
            )
        if self.judge is not None and self.answer is None:
            raise ValueError("judge: there are no answers to judge; answer: is missing")
        try:
            if self.fuse is not None:
                weights_of(self.fuse, tuple(self.retrieve.arms))
        except ConfigError as error:
            raise ValueError(str(error)) from error
        return self


def stage_names(arms: dict[str, Any]) -> list[str]:
    """The trace's stages of the arms, in order: a dense arm gives `_exact` and maybe `_ann`."""
    names: list[str] = []
    for name, arm in arms.items():
        if isinstance(arm, Dense):
            names += [f"{name}_exact"] + ([f"{name}_ann"] if arm.ann else [])
        else:
            names.append(name)
    return names
