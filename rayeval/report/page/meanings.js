// The metrics of answers: which ones there are, and what each one is.

/** Metrics in groups, and what each one is. */
const MEANINGS = {
  Right: {
    answer_correctness: "the judge: correct 1, partial ½, incorrect 0",
    claim_f1: "claim precision and recall in one figure",
    claim_precision: "claims that the reference supports",
    claim_recall: "the reference's claims that the answer supports",
    contains_reference: "the reference answer stands in the answer",
    exact_match: "the same words as the reference",
    token_f1: "words in common with the reference",
    rouge_l: "words in common with the reference, in order",
  },
  Supported: {
    faithfulness: "claims that the context supports",
    hallucination: "claims that neither context nor reference supports",
    self_knowledge: "claims that only the reference supports",
    noise: "claims that only the context supports",
    noise_relevant: "noise from a chunk that is relevant",
    noise_irrelevant: "noise from the rest",
    context_claim_recall: "the reference's claims that the context supports",
    context_utilization: "of those, what the answer makes use of",
    unsupported_answer: "answered though the context held no evidence",
  },
  Cited: {
    citation_validity: "marks that name something in the context",
    citation_correctness: "claims that what they cite supports",
    citation_completeness: "claims that cite something",
    citation_recall: "gold facts that a cited chunk finds",
  },
  Refused: {
    abstained: "answers that are refusals",
    false_refusal: "refusals of answerable questions",
    right_refusal: "refusals of unanswerable questions",
    abstention_accuracy: "rightly refused, or rightly tried",
  },
  Context: {
    context_relevance: "the judge's grades of the context's chunks",
    irrelevant_context: "unanswerable questions that were handed a context",
  },
};
const ALL_MEANINGS = Object.assign({}, ...Object.values(MEANINGS));
const METRIC_ORDER = Object.keys(ALL_MEANINGS);
const LOWER = new Set(
  (
    "hallucination self_knowledge noise noise_relevant noise_irrelevant abstained false_refusal " +
    "unsupported_answer irrelevant_context"
  ).split(" "),
);
const FIRST = new Set(
  (
    "answer_correctness claim_f1 contains_reference faithfulness hallucination citation_validity " +
    "citation_correctness citation_recall false_refusal right_refusal abstention_accuracy"
  ).split(" "),
);

const meaning = (name) => `${ALL_MEANINGS[name]}${LOWER.has(name) ? "; less is better" : ""}`;
