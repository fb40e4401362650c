"""The Arrow schemas of answers, and of what a judge makes of them (DESIGN §§6-7)."""

from __future__ import annotations

import pyarrow as pa

from rayeval.tables import TEXT, TEXTS

VARIANTS = ("answer", "closed_book", "gold_context")
"""The stages of a run at which questions are answered: with the run's context, without any, and
with the gold evidence for context."""

CITATION = pa.struct([("mark", TEXT), ("chunk_id", TEXT)])
"""A citation as it is written (`E1`), and the chunk that it names; null: there is none such."""

ANSWER = pa.struct(
    [
        ("variant", TEXT),  # answer | closed_book | gold_context
        ("repeat", pa.int64()),  # from 0
        ("answer", TEXT),  # with its marks; null where `abstained`, or where `error` says why
        ("abstained", pa.bool_()),
        ("citations", pa.list_(CITATION)),  # in order of first use, each once
        ("context", TEXTS),  # chunk ids as handed over: [E1] is the first
        ("finish_reason", TEXT),
        ("prompt_tokens", pa.int64()),
        ("completion_tokens", pa.int64()),
        ("cost_usd", pa.float64()),  # null without a price
        ("latency_ms", pa.float64()),
        ("request", TEXT),  # under which the log has it
        ("error", TEXT),
    ]
)
"""One answer to a question. What a foreign trace doesn't tell is null."""

ANSWERED = pa.schema([("question_id", TEXT), ("answers", pa.list_(ANSWER)), ("error", TEXT)])
"""What an answer stage gives for a question: its repeats in order."""

CLAIM = pa.struct(
    [
        ("text", TEXT),
        ("citations", TEXTS),  # chunk ids that it cites, of those in the context; null: not told
        ("support", TEXT),  # supported | contradicted | not_in_context
        ("chunks", TEXTS),  # of the context, those that support it
        ("reference", TEXT),  # supported | contradicted | not_in_reference
        ("cited", TEXT),  # supported | unsupported, by the evidence that it cites
    ]
)
"""A claim of an answer. What was not judged, or couldn't be, is null."""

REFERENCE_CLAIM = pa.struct(
    [
        ("text", TEXT),
        ("answer", TEXT),  # supported | contradicted | not_in_answer
        ("context", TEXT),  # supported | contradicted | not_in_context
        ("chunks", TEXTS),  # of the context, those that support it
    ]
)

GRADED = pa.struct([("chunk_id", TEXT), ("grade", pa.int64())])
OUTCOME = pa.struct(
    [
        ("task", TEXT),
        ("outcome", TEXT),  # ok | unparseable | wrong_count | out_of_range | truncated | timed_out
        ("reason", TEXT),  #   | refused | failed | budget
        ("request", TEXT),
        ("prompt_tokens", pa.int64()),  # of the reply; of one that served several, in all of them
        ("completion_tokens", pa.int64()),
        ("cost_usd", pa.float64()),  # null without a price
    ]
)
"""How asking a judge went: anything but `ok` is no verdict and never a score."""

JUDGED = pa.struct(
    [
        ("variant", TEXT),
        ("repeat", pa.int64()),
        ("claims", pa.list_(CLAIM)),  # null: not judged; empty: the answer claims nothing
        ("reference_claims", pa.list_(REFERENCE_CLAIM)),
        ("correctness", TEXT),  # correct | partial | incorrect
        ("relevance", pa.list_(GRADED)),  # of the context's chunks, 0-3
        ("outcomes", pa.list_(OUTCOME)),
    ]
)
"""What a judge made of one answer."""

JUDGEMENTS = pa.schema([("question_id", TEXT), ("judged", pa.list_(JUDGED)), ("error", TEXT)])

VERDICTS = pa.schema(
    [
        ("question_id", TEXT),
        ("repeat", pa.int64()),
        ("judge", TEXT),
        ("passages", TEXTS),  # that it was shown: E1 is the first
        ("claims", pa.list_(CLAIM)),  # their `chunks` are marks of these passages
        ("reference_claims", pa.list_(REFERENCE_CLAIM)),  # as well
        ("outcomes", pa.list_(OUTCOME)),
    ]
)
"""What a judge of somebody else's said of a foreign pipeline's answers."""
