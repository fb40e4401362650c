"""What Langfuse gives of traces and datasets: `python make_langfuse.py FOLDER`.

A server can't be asked here, so the SDK's own spans are put into its own models of the API's
replies, and these are written as the SDK writes them.
"""

import csv
import json
import sys
from datetime import UTC, datetime
from io import StringIO
from pathlib import Path

from langchain_core.documents import Document
from langchain_core.language_models.fake_chat_models import FakeListChatModel
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnablePassthrough
from langfuse import Langfuse
from langfuse.api import DatasetItem, ObservationV2
from langfuse.langchain import CallbackHandler
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

OUT, SPANS = Path(sys.argv[1]), InMemorySpanExporter()
CLIENT = Langfuse(
    public_key="pk-lf-0", secret_key="sk-lf-0", base_url="http://127.0.0.1:9", span_exporter=SPANS
)
PARKING = "Parking costs 40 euros a month."


class Words(BaseRetriever):
    def _get_relevant_documents(self, query, *, run_manager):
        place = {"source_id": "hr.md"}
        return [
            Document(id="c1", page_content="연차는 15일이다.", metadata=place),
            Document(page_content=PARKING, metadata={"source": "parking.md"}),
        ]


def traced():
    prompt = ChatPromptTemplate.from_messages([("system", "{context}"), ("human", "{question}")])
    asked = {"context": Words(), "question": RunnablePassthrough()}
    chain = asked | prompt | FakeListChatModel(responses=["15일"]) | StrOutputParser()
    chain.invoke("연차는 며칠인가요?", config={"callbacks": [CallbackHandler()]})
    begin = CLIENT.start_as_current_observation
    asked = {"question": "What does parking cost?"}
    with begin(name="ask", as_type="chain", input=asked) as whole:
        query = {"query": "parking cost", "top_k": 2}
        with begin(name="search", as_type="retriever", input=query) as search:
            found = {"id": "c2", "text": PARKING, "score": 0.5}
            search.update(output={"documents": [found]})
        sent = [{"role": "user", "content": f"{PARKING} What does it cost?"}]
        with begin(name="writer", as_type="generation", model="m", input=sent) as said:
            said.update(output={"role": "assistant", "content": "40 euros."})
        whole.update(output={"answer": "40 euros."})
    with begin(name="search", as_type="retriever", input="Does it fail?") as search:
        search.update(level="ERROR", status_message="the index did not answer")
    CLIENT.flush()
    return SPANS.get_finished_spans()


def observation(span):
    told = {k.removeprefix("langfuse.observation."): v for k, v in span.attributes.items()}
    moment = lambda ns: datetime.fromtimestamp(ns / 1e9, UTC)  # noqa: E731
    return ObservationV2(
        id=f"{span.context.span_id:016x}", trace_id=f"{span.context.trace_id:032x}",
        parent_observation_id=f"{span.parent.span_id:016x}" if span.parent else None,
        project_id="p", name=span.name, type=told["type"].upper(),
        start_time=moment(span.start_time), end_time=moment(span.end_time),
        input=told.get("input"), output=told.get("output"), metadata={},
        level=told.get("level", "DEFAULT"), status_message=told.get("status_message"),
    )  # fmt: skip


def table(rows):
    """As the page of observations exports them: objects as JSON in cells."""
    text = StringIO()
    writer = csv.DictWriter(text, list(rows[0]))
    writer.writeheader()
    for row in rows:
        writer.writerow({k: v if isinstance(v, str) else json.dumps(v) for k, v in row.items()})
    return text.getvalue()


found = [json.loads(observation(span).json(by_alias=True)) for span in traced()]
page = {"data": found, "meta": {"cursor": None}}
(OUT / "langfuse.api.json").write_text(json.dumps(page, ensure_ascii=False))
flat = [{key: value for key, value in row.items() if value is not None} for row in found]
names = list(dict.fromkeys(key for row in flat for key in row))
(OUT / "langfuse.csv").write_text(table([{n: row.get(n, "") for n in names} for row in flat]))
now = datetime(2026, 11, 30, tzinfo=UTC)
items = [
    DatasetItem(
        id=f"i{number}", status="ACTIVE", input=asked, expected_output=said, metadata=None,
        dataset_id="d", dataset_name="handbook", created_at=now, updated_at=now,
        media_references=[],
    )
    for number, (asked, said) in enumerate(
        [("연차는 며칠인가요?", "15일"), ({"question": "Parking?"}, {"answer": "40 euros."}),
         ("No reference?", None)]
    )
]  # fmt: skip
rows = [json.loads(item.json(by_alias=True)) for item in items]
(OUT / "langfuse.items.json").write_text(
    json.dumps({"data": rows, "meta": {"page": 1}}, ensure_ascii=False)
)
