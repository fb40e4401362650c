"""Traces by LangChain, LlamaIndex and OpenTelemetry's GenAI utilities, as each exporter writes them.

Run in an environment with what README.md names: `python make_spans.py FOLDER`.
"""

import gzip
import json
import os
import re
import sys
from contextlib import suppress
from io import StringIO
from pathlib import Path

os.environ["OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"] = "SPAN_ONLY"
os.environ["OTEL_SEMCONV_STABILITY_OPT_IN"] = "gen_ai_latest_experimental"

from google.protobuf.json_format import MessageToDict
from langchain_classic.chains import create_retrieval_chain
from langchain_classic.chains.combine_documents import create_stuff_documents_chain
from langchain_classic.retrievers import ContextualCompressionRetriever, EnsembleRetriever
from langchain_core.documents import Document
from langchain_core.documents.compressor import BaseDocumentCompressor
from langchain_core.language_models.fake_chat_models import FakeListChatModel
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.retrievers import BaseRetriever as LangChainRetriever
from llama_index.core.instrumentation import get_dispatcher
from llama_index.core.instrumentation.events.rerank import ReRankEndEvent, ReRankStartEvent
from llama_index.core.llms import MockLLM
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.response_synthesizers import get_response_synthesizer
from llama_index.core.retrievers import BaseRetriever as LlamaIndexRetriever
from llama_index.core.schema import NodeWithScore, TextNode
from openinference.instrumentation.langchain import LangChainInstrumentor
from openinference.instrumentation.llama_index import LlamaIndexInstrumentor
from opentelemetry.exporter.otlp.json.file.trace_exporter import FileSpanExporter
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import ConsoleSpanExporter, SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.util.genai.handler import TelemetryHandler
from opentelemetry.util.genai.types import InputMessage, OutputMessage, RetrievalDocument, Text

OUT = Path(sys.argv[1])
LEAVE = "연차는 15일이다."
PARKING = "Parking costs 40 euros a month."
LAPTOPS = "Laptops are replaced after 4 years."


def provided():
    """A provider, its spans, and what its console says."""
    memory, console, provider = InMemorySpanExporter(), StringIO(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(memory))
    provider.add_span_processor(SimpleSpanProcessor(ConsoleSpanExporter(out=console)))
    return provider, memory, console


def keep(name, data, packed=True):
    """Without the places where packages and this script lie."""
    text = re.sub(r"(/[\w.-]+)+/(site-packages/|python3\.\d+/|(?=make_spans))", "", data)
    if packed:
        (OUT / f"{name}.gz").write_bytes(gzip.compress(text.encode(), mtime=0))
    else:
        (OUT / name).write_text(text)


def otlp(spans, name, packed=True):
    stream = StringIO()
    exporter = FileSpanExporter(stream=stream)
    for start in range(0, len(spans), 7):
        exporter.export(spans[start : start + 7])
    keep(f"{name}.otlp.jsonl", stream.getvalue(), packed)
    (OUT / f"{name}.pb").write_bytes(encode_spans(spans).SerializeToString())


class Words(LangChainRetriever):
    k: int = 2
    turned: bool = False
    fail: int = 0

    def _get_relevant_documents(self, query, *, run_manager):
        if self.fail:
            self.fail -= 1
            raise TimeoutError("the index did not answer")
        place = {"source_id": "hr.md", "start_index": 0}
        found = [
            Document(id="c1", page_content=LEAVE, metadata=place),
            Document(id="c2", page_content=PARKING, metadata={"source": "parking.md", "page": 3}),
            Document(page_content=LAPTOPS),
        ]
        return found[:: -1 if self.turned else 1][: self.k]


class FirstTwo(BaseDocumentCompressor):
    def compress_documents(self, documents, query, callbacks=None):
        return list(documents)[::-1][:2]


def langchain():
    provider, memory, console = provided()
    instrumentor = LangChainInstrumentor()
    instrumentor.instrument(tracer_provider=provider)
    prompt = ChatPromptTemplate.from_messages([("system", "{context}"), ("human", "{input}")])

    def ask(retriever, question, answer):
        writer = create_stuff_documents_chain(FakeListChatModel(responses=[answer]), prompt)
        return create_retrieval_chain(retriever, writer).invoke({"input": question})

    both = EnsembleRetriever(retrievers=[Words(), Words(turned=True)], weights=[0.5, 0.5])
    ask(both, "연차는 며칠인가요?", "15일입니다.")
    packed = ContextualCompressionRetriever(base_retriever=Words(k=3), base_compressor=FirstTwo())
    ask(packed, "What does parking cost?", "40 euros.")
    again = Words(fail=1).with_retry(stop_after_attempt=2, wait_exponential_jitter=False)
    ask(again, "When are laptops replaced?", "After 4 years.")
    with suppress(TimeoutError):
        ask(Words(fail=9), "Does it fail?", "never")
    Words(k=0).invoke("What is not there?")
    instrumentor.uninstrument()
    spans = memory.get_finished_spans()
    otlp(spans, "langchain")
    keep("langchain.console.json", console.getvalue())
    keep("langchain.messages.json", json.dumps(MessageToDict(encode_spans(spans))))


class Nodes(LlamaIndexRetriever):
    def _retrieve(self, query_bundle):
        found = [("c1", LEAVE, "hr.md", 0.5), ("c2", PARKING, "parking.md", 0.25)]
        return [
            NodeWithScore(node=TextNode(id_=i, text=t, metadata={"source_id": s}), score=n)
            for i, t, s, n in found
        ]


class Turned(BaseNodePostprocessor):
    def _postprocess_nodes(self, nodes, query_bundle=None):
        tell = get_dispatcher(__name__)
        tell.event(ReRankStartEvent(query=query_bundle, nodes=nodes, top_n=2, model_name="turned"))
        found = [NodeWithScore(node=n.node, score=9.0 - i) for i, n in enumerate(nodes[::-1])]
        tell.event(ReRankEndEvent(nodes=found))
        return found


def llamaindex():
    provider, memory, _ = provided()
    instrumentor = LlamaIndexInstrumentor()
    instrumentor.instrument(tracer_provider=provider)
    writer = get_response_synthesizer(llm=MockLLM(max_tokens=3), response_mode="compact")
    RetrieverQueryEngine(Nodes(), writer, node_postprocessors=[Turned()]).query(
        "What does parking cost?"
    )
    instrumentor.uninstrument()
    otlp(memory.get_finished_spans(), "llamaindex")


def genai():
    provider, memory, _ = provided()
    handler = TelemetryHandler(tracer_provider=provider)
    tracer = provider.get_tracer("app")
    with tracer.start_as_current_span("POST /ask"):
        with handler.retrieval(data_source_id="handbook") as found:
            found.query_text, found.top_k = "What does parking cost?", 2
            found.documents = [
                {"id": "c2", "score": 0.9, "content": PARKING},
                RetrievalDocument(id="c1", score=0.1),
            ]
        with handler.inference(provider="openai", request_model="gpt-x") as said:
            said.input_messages = [
                InputMessage(role="user", parts=[Text(content=f"{PARKING} What does it cost?")])
            ]
            said.output_messages = [
                OutputMessage(
                    role="assistant", parts=[Text(content="40 euros.")], finish_reason="stop"
                )
            ]
    otlp(memory.get_finished_spans(), "genai", packed=False)


OUT.mkdir(exist_ok=True)
langchain()
llamaindex()
genai()
