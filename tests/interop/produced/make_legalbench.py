"""A benchmark as LegalBench-RAG's generators write it: `python make_legalbench.py FOLDER`.

The models are those of its benchmark_types.py (commit 0c97003), written anew; like its generators
this reads the corpus with `open` and finds the snippets in what that gives.
"""

import sys
from pathlib import Path

from pydantic import BaseModel, computed_field

OUT = Path(sys.argv[1])
CORPUS = OUT / "legalbench"


class Snippet(BaseModel):
    file_path: str
    span: tuple[int, int]

    @computed_field
    @property
    def answer(self) -> str:
        with (CORPUS / self.file_path).open() as f:
            return f.read()[self.span[0] : self.span[1]]


class QAGroundTruth(BaseModel):
    query: str
    snippets: list[Snippet]


class Benchmark(BaseModel):
    tests: list[QAGroundTruth]


def found(file, *quotes):
    text = (CORPUS / file).open().read()
    starts = [text.index(quote) for quote in quotes]
    spans = [(start, start + len(quote)) for start, quote in zip(starts, quotes, strict=True)]
    return [Snippet(file_path=file, span=span) for span in spans]


(CORPUS / "cuad").mkdir(parents=True, exist_ok=True)
(CORPUS / "cuad" / "Parking LEASE.txt").write_bytes(
    "Parking lease\r\n\r\n§ 1 The term is two years.\r\n§ 2 Korean law governs. 대한민국 법\r\n".encode()
)
(CORPUS / "cuad" / "Laptops.txt").write_bytes(b"Lease of laptops\nThe term is four years.\n")
law = "Consider the lease; What is the governing law?"
term = "Consider the lease; What is the term?"
tests = [
    QAGroundTruth(
        query=law, snippets=found("cuad/Parking LEASE.txt", "Korean law governs.", "대한민국 법")
    ),
    QAGroundTruth(query=term, snippets=found("cuad/Parking LEASE.txt", "two years")),
    QAGroundTruth(query=term, snippets=found("cuad/Laptops.txt", "four years")),
]
text = Benchmark(tests=tests).model_dump_json(indent=4)
(OUT / "legalbench.json").write_text(text)
