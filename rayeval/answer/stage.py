"""Questions and their evidence → answers with citations, or abstentions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pyarrow as pa

from rayeval.answer.citations import citations, mark, marks
from rayeval.answer.config import OpenAIAnswer, Variant, VllmAnswer
from rayeval.answer_tables import ANSWERED
from rayeval.chat.engine import Engine, Failed, Reply, Request
from rayeval.chat.structured import Bad, parse
from rayeval.live.chosen import Candidates, offered
from rayeval.live.retry import AGAIN
from rayeval.tables import conform
from rayeval.words import blank

SCHEMA = {
    "type": "object",
    "properties": {"abstained": {"type": "boolean"}, "answer": {"type": "string"}},
    "required": ["abstained", "answer"],
    "additionalProperties": False,
}
"""What a reply must be; `abstained` comes first, so that it is decided first."""

GOLD: Variant = "gold_context"
SUMS = ("prompt_tokens", "completion_tokens", "cost_usd")
MEASURED = pa.schema(
    [
        *list(ANSWERED)[:-1],
        ("latency_ms", pa.float64()),
        ("prompt_tokens", pa.int64()),
        ("completion_tokens", pa.int64()),
        ("cost_usd", pa.float64()),
        ANSWERED.field("error"),
    ]
)
"""ANSWERED, and of every question the mean time of an answer and what all of them took together;
null where that is unknown of one."""

Evidence = Callable[[pa.Table], list[list[dict[str, str]]]]


def build(
    config: OpenAIAnswer | VllmAnswer,
    variant: Variant,
    engine: Engine,
    *,
    column: str | None,
    depth: int | None,
) -> Answers:
    """A stage: `question_id, question, history, language` and the evidence → MEASURED.

    column: `answer`: the hits that are handed over, the first `depth` of them (None: all), whose
    texts are `candidates`. `gold_context`: `gold_texts` is the evidence, and `answerable` says
    whether there must be some. `closed_book`: there is none.
    """
    evidence: dict[Variant, Evidence] = {
        "answer": lambda batch: offered(batch, str(column), depth),
        "closed_book": lambda batch: [[] for _ in range(batch.num_rows)],
        "gold_context": lambda batch: [row or [] for row in batch["gold_texts"].to_pylist()],
    }
    return Answers(config, variant, engine, evidence[variant])


class Answers:
    """See `build`.

    A question is an error where the service failed one of its repeats, or none of its replies is an
    answer; else a reply that is none is an answer with an `error`. None is ever an empty answer.
    """

    def __init__(
        self,
        config: OpenAIAnswer | VllmAnswer,
        variant: Variant,
        engine: Engine,
        evidence: Evidence,
    ) -> None:
        self._variant, self._repeats = variant, config.repeats
        self._prompt = config.prompt_of(variant)
        self._engine, self._evidence = engine, evidence

    def __call__(self, batch: pa.Table) -> pa.Table:
        """A row per question, in order."""
        lists = self._evidence(batch)
        asked = self.requests(batch, lists)
        said = iter(self._engine.complete([request for some in asked for request in some]))
        rows = [
            self._row([pieces["chunk_id"] for pieces in evidence], [next(said) for _ in requests])
            for evidence, requests in zip(lists, asked, strict=True)
        ]
        table = pa.Table.from_pylist(rows, schema=pa.schema(list(MEASURED)[1:]))
        return conform(table.add_column(0, MEASURED.field(0), batch["question_id"]), MEASURED)

    def requests(self, batch: pa.Table, lists: Sequence[Candidates]) -> list[list[Request]]:
        """What the repeats of every question ask; nothing of one whose gold says nothing."""
        rows = batch.select(["question", "history", "language"]).to_pylist()
        gold = self._variant == GOLD
        needs = batch["answerable"].to_pylist() if gold else [False] * len(rows)
        return [
            self._asked(row, evidence) if evidence or needed is False else []
            for row, evidence, needed in zip(rows, lists, needs, strict=True)
        ]

    def _asked(self, row: Mapping[str, Any], evidence: Candidates) -> list[Request]:
        pieces = [
            {"mark": mark(number), "text": piece["text"]}
            for number, piece in enumerate(evidence, start=1)
        ]
        history = row["history"] or []
        messages = self._prompt.messages(**{**row, "history": history, "evidence": pieces})
        return [
            Request(messages, self._prompt.hash, SCHEMA, repeat) for repeat in range(self._repeats)
        ]

    def _row(self, context: Sequence[str], said: Sequence[Reply | Failed]) -> dict[str, Any]:
        """One question's row; without what was said there was nothing to ask about."""
        if not said:
            return {"error": "none of its gold evidence has a text"}
        answers = [
            {
                "variant": self._variant,
                "repeat": repeat,
                "context": context,
                **_answer(one, context),
            }
            for repeat, one in enumerate(said)
        ]
        errors = [answer["error"] for answer in answers if answer["error"]]
        passing = [error for error in errors if error.endswith(AGAIN)]
        if passing or len(errors) == len(answers):
            return {"error": (passing or errors)[0]}
        sums = {name: _sum([answer.get(name) for answer in answers]) for name in SUMS}
        times = [answer["latency_ms"] for answer in answers if "latency_ms" in answer]
        return {"answers": answers, "latency_ms": sum(times) / len(times), **sums}


def _answer(said: Reply | Failed, context: Sequence[str]) -> dict[str, Any]:
    """What a reply says, as ANSWER, or why it is none."""
    if isinstance(said, Failed):
        return {"request": said.request, "error": f"{said.outcome}: {said.reason}"}
    known = {
        name: getattr(said, name)
        for name in ("finish_reason", *SUMS, "latency_ms", "request")
    }  # fmt: skip
    value = parse(said, SCHEMA)
    if isinstance(value, Bad):
        return {**known, "error": f"{value.outcome}: {value.reason}"}
    text = value["answer"].strip()
    if value["abstained"]:
        return {**known, "abstained": True, "citations": [], "error": None}
    if blank(text):
        return {**known, "error": "unparseable: the answer is empty, though it is no abstention"}
    cited = citations(marks(text), context)
    return {**known, "answer": text, "abstained": False, "citations": cited, "error": None}


def _sum(values: Sequence[Any]) -> Any:
    """None where one is unknown."""
    return None if None in values else sum(values)
