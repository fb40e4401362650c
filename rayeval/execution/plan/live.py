"""The steps of an arm that asks a live system: ask, look its hits up, put them in place."""

from __future__ import annotations

from functools import partial

import pyarrow as pa

from rayeval import registry
from rayeval.execution.plan.arm import Arm
from rayeval.execution.plan.builder import Builder, columns, per_question
from rayeval.execution.plan.corpus import CorpusSteps
from rayeval.execution.step import Step, digest
from rayeval.golden.placing import PLACED
from rayeval.live.config import Http, Python
from rayeval.retrieve.foreign.config import HttpArm, PythonArm
from rayeval.retrieve.foreign.passages import PLACED_HITS
from rayeval.retrieve.foreign.search import ASKED
from rayeval.tables import PASSAGES


def request_log(config: Http | Python) -> str | None:
    """The name of the log of what a service answered: whoever asks it the same has it there."""
    if isinstance(config, Python):
        return None
    names = ("url", "method", "body", "headers", "version")
    return digest({name: getattr(config, name) for name in names})


def live_arm(
    builder: Builder,
    name: str,
    config: HttpArm | PythonArm,
    corpus: CorpusSteps,
    resolved: Step,
) -> Arm:
    """`asked:NAME` gives hits as the system lists them, `spots:NAME` where they may lie, `NAME` the
    run's own hits and the passages that are no chunks of the corpus."""
    asked = builder.add_asking(
        Step(
            name=f"asked:{name}",
            kind="map",
            fallible=True,
            identity=config.identity(),
            make=partial(registry.asking, config, request_log(config)),
            alone=partial(registry.asking, config, None),
            schema=ASKED,
            batch=columns(
                resolved, "question_id", "question", "principals", error="resolved.error"
            ),
            single=isinstance(config, Http),
        )
    )
    spots = _spots(builder, name, asked, corpus)
    placed = builder.add(
        Step(
            name=name,
            kind="map",
            identity={"step": "placed", "tokenizer": builder.run.tokenizer.identity()},
            make=partial(registry.placed, builder.run.tokenizer),
            schema=PLACED_HITS,
            batch=(
                *columns(asked, "question_id", "found", error="failed"),
                *columns(spots, "spots", "own"),
            ),
            tolerant=True,
            fallible=True,
        )
    )
    return Arm(name, config, {name: placed}, asking=asked)


def _spots(builder: Builder, name: str, asked: Step, corpus: CorpusSteps) -> Step:
    return builder.add(
        Step(
            name=f"spots:{name}",
            kind="scatter",
            identity={"step": "spots"},
            make=registry.Placed,
            schema=per_question(spots=pa.list_(PLACED), own=PASSAGES),
            batch=columns(asked, "question_id", "found", error=f"asked:{name}.error"),
            sharded={
                "documents": corpus.documents.key,
                "elements": corpus.elements.key,
                "chunks": corpus.chunks.key,
            },
            whole={"catalogue": corpus.catalogue.key},
        )
    )
