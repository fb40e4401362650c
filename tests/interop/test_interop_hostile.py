"""Whatever stands in a foreign file, it becomes rows that we read, or an error that says where."""

import copy
import csv
import gzip
import io
import itertools
import json
import random
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from rayeval.errors import ConfigError, DataError
from rayeval.execution.golden.imports import import_golden
from rayeval.golden.load import load_questions
from rayeval.interop import formats, own

HERE = Path(__file__).parent / "produced"
PASSAGE = {"document_id": "d1", "title": "T", "text": "Leave is 15 days."}
BEIR = {
    "corpus.jsonl": [{"_id": "d1", "title": "T", "text": "one"}, {"_id": "d2", "text": "two"}],
    "queries.jsonl": [{"_id": "q1", "text": "one?"}, {"_id": "q2", "text": "two?"}],
    "qrels/test.tsv": [{"query-id": "q1", "corpus-id": "d1", "score": "1"},
                       {"query-id": "q2", "corpus-id": "d2", "score": "1"}],
}  # fmt: skip
SQUAD = {"data": [{"title": "t", "paragraphs": [{"document_id": "d", "context": "It is 15 days.",
    "qas": [{"id": "q1", "question": "How long?", "is_impossible": False,
             "answers": [{"answer_start": 6, "text": "15 days"}]},
            {"id": "q2", "question": "Why?", "is_impossible": True, "answers": []}]}]}]}  # fmt: skip
HOTPOT = [{"_id": "1", "question": "Who?", "answer": "A", "context": [["T", ["It is.", "So."]]],
           "supporting_facts": [["T", 1]]}]  # fmt: skip
COLUMNS = [{"id": "1", "question": "Who?", "answer": "A",
            "context": {"title": ["T"], "sentences": [["It is.", "So."]]},
            "supporting_facts": {"title": ["T"], "sent_id": [0]}}]  # fmt: skip
MUSIQUE = [{"id": "m", "question": "Who?", "answer": "A", "answerable": True, "paragraphs": [
    {"title": "T", "paragraph_text": "It is.", "is_supporting": True}]}]  # fmt: skip
MTRAG = [{"task_id": "c<::>1", "conversation_id": "c", "Collection": "x",
          "answerability": ["ANSWERABLE"], "contexts": [PASSAGE],
          "input": [{"speaker": "user", "text": "How long?"}],
          "targets": [{"speaker": "agent", "text": "15 days"}]}]  # fmt: skip
CLAPNQ = [{"id": "1", "input": "How long?", "passages": [PASSAGE],
           "output": [{"answer": "15", "selected_sentences": ["Leave is 15 days."]}]}]  # fmt: skip
NOMIRACL = [{"query_id": "1", "docids": ["a", "b"], "results": {"m": "No."},
             "prompt": "QUESTION:\nWho?\n\nCONTEXTS:\n[1] A\n\n[2] B\n\nOUTPUT:\n"}]  # fmt: skip
HITS = [{"question_id": "q1", "chunk_id": "c1", "rank": "1", "score": "2.5", "start_char": "0",
         "end_char": "4"}]  # fmt: skip
CHROMA = [{"question": "How long?", "corpus_id": "hr", "references":
           '[{"content": "15 days", "start_index": 6, "end_index": 13}]'}]  # fmt: skip
TREC = {"qrels.txt": "q1 0 d1 1\n", "run.txt": "q1 Q0 d1 1 2.5 t\n", "topics.txt": "q1\tone\n"}


def produced(name):
    """A file that the tool itself wrote, as the values of which it consists."""
    data = (HERE / name).read_bytes()
    plain = name.removesuffix(".gz")
    text = (gzip.decompress(data) if name.endswith(".gz") else data).decode()
    if plain.endswith(".csv"):
        return {plain: list(csv.DictReader(io.StringIO(text)))}
    if plain.endswith(".jsonl"):
        return {plain: [json.loads(line) for line in text.splitlines()]}
    decoder, values, at = json.JSONDecoder(), [], 0
    while at < len(text.rstrip()):
        value, at = decoder.raw_decode(text, at + len(text[at:]) - len(text[at:].lstrip()))
        values.append(value)
    return {plain: values[0] if len(values) == 1 else values}


def columns(name):
    return {name: pq.read_table(HERE / name).to_pylist()}


SEEDS = [
    ("beir", BEIR), ("csv", {"hits.csv": HITS}), ("chroma", {"q.csv": CHROMA}), ("trec", TREC),
    ("squad", {"s.json": SQUAD}), ("hotpotqa", {"h.json": HOTPOT}),
    ("hotpotqa", {"h.jsonl": COLUMNS}), ("musique", {"m.jsonl": MUSIQUE}),
    ("mtrag", {"m.jsonl": MTRAG}), ("mtrag", {"m.json": {"tasks": MTRAG, "documents": [PASSAGE]}}),
    ("clapnq", {"c.jsonl": CLAPNQ}), ("nomiracl", {"ko.relevant.jsonl": NOMIRACL}),
    *(("ragas", produced(n)) for n in ("ragas.jsonl", "ragas.csv", "ragas.hf.csv")),
    *(("deepeval", produced(f"deepeval.{n}")) for n in ("json", "jsonl", "csv")),
    *(("langfuse", produced(f"langfuse.{n}")) for n in ("api.json", "csv", "items.json")),
    *(("ragchecker", produced(f"ragchecker.{n}.json")) for n in ("inputs", "outputs", "checked")),
    ("legalbench", produced("legalbench.json")),
    *(("openinference", produced(n)) for n in (
        "genai.otlp.jsonl", "langchain.otlp.jsonl.gz", "langchain.console.json.gz",
        "llamaindex.otlp.jsonl.gz", "phoenix.otlpv1.json.gz", "phoenix.rest.json.gz",
        "phoenix.spans.csv.gz", "phoenix.spans.jsonl.gz")),
    *(("autorag", columns(f"autorag.{n}.parquet")) for n in ("qa", "corpus", "node")),
]  # fmt: skip
ABSENT = object()
JUNK = (None, 7, -1.5, 10**400, True, "", "a\0b", "words", "\ud800", [], ["words"], [None], {},
        {"a": None}, [[[]]], ABSENT)  # fmt: skip


def places(value, path=()):
    yield path
    listed = enumerate(value) if isinstance(value, list) else ()
    for key, item in value.items() if isinstance(value, dict) else listed:
        yield from places(item, (*path, key))


def changed(files, name, path, junk):
    files = copy.deepcopy(files)
    holder, path = files, (name, *path)
    for key in path[:-1]:
        holder = holder[key]
    if junk is ABSENT:
        del holder[path[-1]]
    else:
        holder[path[-1]] = junk
    return files


def write(folder, files):
    """The files' paths; None where such a file can't hold such a value."""
    for name, value in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        rows = value if isinstance(value, list) else [value]
        if name.endswith(".parquet"):
            try:
                pq.write_table(pa.Table.from_pylist(rows), path)
            except (pa.ArrowException, ValueError, OverflowError, AttributeError, TypeError):
                return None
        elif name.endswith((".csv", ".tsv")):
            path.write_bytes(as_cells(rows, "\t" if name.endswith(".tsv") else ","))
        elif name.endswith(".txt"):
            path.write_bytes(str(value).encode(errors="surrogatepass"))
        elif name.endswith(".jsonl"):
            path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        else:
            path.write_text(json.dumps(value))
    return [str(folder / name) for name in files]


def as_cells(rows, delimiter):
    names = list(dict.fromkeys(n for row in rows if isinstance(row, dict) for n in row))
    sink = io.StringIO()
    table = csv.writer(sink, delimiter=delimiter)
    table.writerow(names)
    for row in rows:
        cells = [row.get(name) for name in names] if isinstance(row, dict) else [row]
        table.writerow([json.dumps(c) if isinstance(c, list | dict) else c for c in cells])
    return sink.getvalue().encode(errors="surrogatepass")


def check(folder, name, files):
    """Reads the files; says whether they became rows."""
    paths = write(folder, files)
    out = folder / "out"
    if not paths:
        return None
    try:
        import_golden(formats()[name], paths, str(out))
    except (DataError, ConfigError) as error:
        assert str(error)
        assert not out.exists()
        return False
    if (out / "golden.jsonl").exists():
        _, problems = load_questions(str(out / "golden.jsonl"))
        assert [p for p in problems if not p.warning] == []
    for trace in out.glob("trace*.jsonl"):
        found = own.read([str(trace)])
        rows = [*(found.trace or ()), *(found.answers or ())]
        assert found.problems == []
        assert rows
    return True


@pytest.mark.parametrize(
    ("name", "files"), SEEDS, ids=[f"{name}-{next(iter(files))}" for name, files in SEEDS]
)
class TestMutations:
    """One value of a sound file at a time is replaced by one that has no place there."""

    def cases(self, files):
        every = [(n, path) for n, value in files.items() for path in places(value)]
        return list(itertools.product(every, JUNK))

    def test_the_file_itself_comes_in(self, tmp_path, name, files):
        assert check(tmp_path, name, files)

    def test_some(self, tmp_path, name, files):
        self.go(tmp_path, name, files, random.Random(7).sample(self.cases(files), 12))

    @pytest.mark.slow
    def test_many(self, tmp_path, name, files):
        cases = self.cases(files)
        self.go(tmp_path, name, files, random.Random(8).sample(cases, min(len(cases), 300)))

    def go(self, tmp_path, name, files, cases):
        became = []
        for number, ((file, path), junk) in enumerate(cases):
            folder = tmp_path / str(number)
            try:
                became.append(check(folder, name, changed(files, file, path, junk)))
            except BaseException as error:
                error.add_note(f"{file} {path} = {junk if junk is not ABSENT else 'absent'!r:.60}")
                raise
        assert {True, False} & set(became)
