"""What to look at next, by the failure that costs most questions."""

from __future__ import annotations

from collections.abc import Sequence

ADVICE = {
    "INGESTION_MISSING_SOURCE": "the corpus lacks documents that the gold names: check corpus.path",
    "INGESTION_MISSING_REVISION": "gold points at revisions that are not there: re-anchor it",
    "PARSE_GOLD_TEXT_LOST": "parsing drops gold text: look at those documents' elements",
    "CHUNK_GOLD_SPLIT": "chunks cut gold in two: try a larger chunk.size or an overlap",
    "CHUNK_CONTEXT_SEVERED": "chunks hold the fact without its subject: try kind: structure, a "
    "larger size, or an overlap",
    "FILTER_FALSE_NEGATIVE": "the filter hides gold that the asker may see: check access and as_of",
    "SPARSE_VOCAB_MISMATCH": "questions and documents share no word: try another analyzer or a "
    "dense arm",
    "SPARSE_OUTRANKED": "other chunks share more words: try a larger depth or a dense arm",
    "DENSE_SEMANTIC_MISS": "the embedder puts other chunks nearer: try another model, its "
    "prefixes, or a larger depth",
    "ANN_NEIGHBOR_MISS": "the ANN index loses what exact search finds: raise ef_search or probes",
    "FUSION_DEMOTED_GOLD": "fusion ranks gold below its depth: raise fuse.depth or weigh the arms",
    "RERANK_DEMOTED_GOLD": "the reranker puts gold below its depth: try another model, or none",
    "CONTEXT_BUDGET_DROPPED_GOLD": "the context has no room for gold: raise its budget or depth",
    "CONTEXT_ASPECT_UNCOVERED": "the context lacks a required aspect: raise its depth",
    "GENERATION_INCORRECT": "the evidence was there and the answer is wrong: read some, then try "
    "another prompt or model",
    "GENERATION_UNSUPPORTED_CLAIM": "answers say more than their context: ask for less in the "
    "prompt, or try another model",
    "CITATION_INVALID": "answers cite what they were not given: state the form of citations in the "
    "prompt",
    "GENERATION_FALSE_ABSTENTION": "refused though the evidence was there: soften the prompt, or "
    "put the evidence first",
    "RETRIEVAL_MISSED_GOLD": "a stage of the trace lacks gold: see what it found instead",
}


def advice(lost: Sequence[tuple[str, Sequence[str]]], most: int = 3) -> tuple[str, ...]:
    """A line for each of the codes that cost most questions. lost: (code, question ids)."""
    return tuple(
        f"{code} ({_counted(questions)}): {ADVICE[code]}" for code, questions in lost[:most]
    )


def unscored(
    run_id: str, error: Sequence[str], missing: Sequence[str], said: str | None = None
) -> tuple[str, ...]:
    """A line for the questions that ended in an error, and one for those without a row.

    said: what the error says in which most of them ended.
    """
    lines = []
    if error:
        why = f"`rayeval show {run_id} {error[0]}` shows one"
        told = f"{said}; " if said else ""
        lines.append(f"error ({_counted(error)}): {told}without a score where it failed; {why}")
    if missing:
        lacks = "the trace lacks them, or a stage or the answer of theirs, which count as the worst"
        lines.append(f"missing ({_counted(missing)}): {lacks}")
    return tuple(lines)


def unlabelled(run_id: str, questions: Sequence[str]) -> tuple[str, ...]:
    """A line for the questions whose evidence nobody has looked for yet."""
    if not questions:
        return ()
    said = f"not labelled ({_counted(questions)}): their gold is not known yet"
    return (f"{said}; `rayeval golden label {run_id}` grades the hits",)


def _counted(questions: Sequence[str]) -> str:
    """How many there are, and the first."""
    return f"{len(questions)}: {', '.join(questions[:3])}" + (", …" if len(questions) > 3 else "")
