"""The steps on documents: read, catalogue, parse, chunk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from rayeval import registry
from rayeval.corpus.units import Unit
from rayeval.execution.plan.builder import Builder, columns, with_error
from rayeval.execution.step import Step
from rayeval.tables import CATALOGUE, CHUNKS, DOCUMENTS, PARSED


@dataclass(frozen=True)
class CorpusSteps:
    """What the rest of the plan reads of the corpus."""

    documents: Step
    catalogue: Step
    elements: Step
    chunks: Step


def corpus_steps(
    builder: Builder, units: Sequence[Unit], fingerprints: Sequence[str]
) -> CorpusSteps:
    """Documents in units → catalogue, elements, chunks."""
    config = builder.config
    documents = builder.add(
        Step(
            name="documents",
            kind="produce",
            identity={"units": list(fingerprints), "extractors": registry.extractors(units)},
            make=partial(registry.documents, tuple(units)),
            schema=DOCUMENTS,
            parts=len(units),
        )
    )
    as_of = None if config.corpus.as_of is None else config.corpus.as_of.isoformat()
    catalogue = builder.add(
        Step(
            name="catalogue",
            kind="produce",
            identity={"as_of": as_of},
            make=partial(registry.catalogue, config.corpus.as_of, config.corpus.path),
            schema=CATALOGUE,
            sharded={"documents": documents.key},
        )
    )
    elements = builder.add(
        Step(
            name="elements",
            kind="map",
            fallible=True,
            identity=config.parse.identity(),
            make=partial(registry.parser, config.parse),
            schema=with_error(PARSED),
            batch=columns(documents, *DOCUMENTS.names),
        )
    )
    chunks = builder.add(
        Step(
            name="chunks",
            kind="map",
            fallible=True,
            identity={
                **config.chunk.identity(),
                "tokenizer": config.tokenizer.identity(),
            },
            make=partial(registry.chunker, config.chunk, config.tokenizer),
            schema=CHUNKS,
            batch=(
                *columns(documents, *(name for name in DOCUMENTS.names if name != "layout")),
                *columns(elements, "elements", error="elements.error"),
            ),
            aligned=False,
        )
    )
    return CorpusSteps(documents, catalogue, elements, chunks)
