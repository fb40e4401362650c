"""The steps on documents: read, catalogue, parse, chunk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from rayeval import registry
from rayeval.corpus.config import Corpus, Parse
from rayeval.corpus.units import Unit
from rayeval.execution.plan.builder import Builder, columns, with_error
from rayeval.execution.step import Step
from rayeval.marked import CORPUS, WITHIN
from rayeval.tables import CATALOGUE, CHUNKS, DOCUMENTS, PARSED


@dataclass(frozen=True)
class DocumentSteps:
    """The corpus before it is cut."""

    documents: Step
    catalogue: Step
    elements: Step


@dataclass(frozen=True)
class CorpusSteps(DocumentSteps):
    """What the rest of the plan reads of the corpus."""

    chunks: Step


def document_steps(
    builder: Builder, corpus: Corpus, parse: Parse, units: Sequence[Unit], prints: Sequence[str]
) -> DocumentSteps:
    """Documents in units → catalogue, elements."""
    folder = {WITHIN: units[0].path("") if units else ""}
    documents = builder.add(
        Step(
            name="documents",
            kind="produce",
            identity={"v": 2, "units": list(prints), "extractors": registry.extractors(units)},
            make=partial(registry.documents, tuple(units)),
            schema=DOCUMENTS,
            parts=len(units),
            names=folder,
        )
    )
    as_of = None if corpus.as_of is None else corpus.as_of.isoformat()
    catalogue = builder.add(
        Step(
            name="catalogue",
            kind="produce",
            identity={"as_of": as_of},
            make=partial(registry.catalogue, corpus.as_of),
            schema=CATALOGUE,
            sharded={"documents": documents.key},
            names={CORPUS: corpus.path, **folder},
        )
    )
    elements = builder.add(
        Step(
            name="elements",
            kind="map",
            fallible=True,
            identity=parse.identity(),
            make=partial(registry.parser, parse),
            schema=with_error(PARSED),
            batch=columns(documents, *DOCUMENTS.names),
        )
    )
    return DocumentSteps(documents, catalogue, elements)


def corpus_steps(
    builder: Builder, units: Sequence[Unit], fingerprints: Sequence[str]
) -> CorpusSteps:
    """Documents in units → catalogue, elements, chunks."""
    config = builder.run
    found = document_steps(builder, config.corpus, config.parse, units, fingerprints)
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
                *columns(found.documents, *(n for n in DOCUMENTS.names if n != "layout")),
                *columns(found.elements, "elements", error="elements.error"),
            ),
            aligned=False,
        )
    )
    return CorpusSteps(found.documents, found.catalogue, found.elements, chunks)
