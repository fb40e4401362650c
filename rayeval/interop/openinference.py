"""OpenInference / OpenTelemetry spans: Phoenix's dataframe and API, OTLP JSON, the SDK's console.

Mapping. The spans of a `trace_id` are one question: the root's `input.value`, else a retriever's,
else `reranker.query`, else the last user message to the LLM; of an `input.value` that is JSON, its
`question`, `query` or `input`. Its id is `question_id` in a span's `metadata`, else one made of the
question, as in a golden set. A RETRIEVER span is a stage called as the span, in the order in which
they ended; names that repeat get a number, and one that a run needs for itself (`retrieve`) becomes
`retrieve span`. One that holds two or more others joins them: it is the
stage `fused`, they are its arms. A RERANKER's output is the stage `reranked` (its input a stage
`reranker input` where no retriever came before). A failed attempt counts with the one that followed
it. `document.id` is the chunk id; `source_id` (or `source`), `revision_id`, `start_char` and
`end_char` (or `start_index`) are taken from `document.metadata`. Latency is end minus start. The
answer is the root's `output.value`, else what the last LLM said; its context is what the LLM was
sent. When a question was asked again, its later traces count as repeats of the answer only. Traces
that neither retrieve nor rerank are left out. Spans with OpenTelemetry's `gen_ai` attributes are
read as OpenInference's (interop/genai.py).
"""

from __future__ import annotations

from collections.abc import Sequence

from rayeval.interop.imported import Imported
from rayeval.interop.parts import Problems
from rayeval.interop.span_files import read_spans
from rayeval.interop.traces import imported_traces

NAME = "openinference"
FILES = "spans of Phoenix (.parquet, .csv, .jsonl, .json) or of an OTLP exporter (.json, .jsonl)"


def read(paths: Sequence[str]) -> Imported:
    """What was retrieved, reranked and answered; gold is not in such a file."""
    problems = Problems()
    return imported_traces(read_spans(paths, problems), problems)
