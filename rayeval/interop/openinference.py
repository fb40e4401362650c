"""OpenInference / OpenTelemetry spans: Phoenix's dataframe (Parquet, JSON Lines), OTLP JSON.

Mapping. The spans of a `trace_id` are one question: the root's `input.value`, else a retriever's,
else `reranker.query`, else the last user message to the LLM; values whose mime type is JSON are not
taken. Its id is `question_id` in the root's `metadata`, else one made of the question, as in a
golden set. A RETRIEVER span is a stage called as the span, a RERANKER's output the stage `reranked`
(its input a stage `reranker input` where no retriever came before), in the order in which they
ended; names that repeat get a number. `document.id` is the chunk id; `source_id`, `revision_id`,
`start_char` and `end_char` are taken from `document.metadata`. Latency is end minus start. The
answer is the root's `output.value`, else the LLM's last output message; its context is what the LLM
was sent. When a question was asked again, its later traces count as repeats of the answer only.
Traces that neither retrieve nor rerank are left out.
"""

from __future__ import annotations

from collections.abc import Sequence

from rayeval.interop.imported import Imported
from rayeval.interop.parts import Problems
from rayeval.interop.spans import read_spans
from rayeval.interop.traces import imported_traces

NAME = "openinference"
FILES = "spans as Phoenix (.parquet, .jsonl, .json) or an OTLP exporter (.json, .jsonl) writes them"


def read(paths: Sequence[str]) -> Imported:
    """What was retrieved, reranked and answered; gold is not in such a file."""
    problems = Problems()
    return imported_traces(read_spans(paths, problems), problems)
