"""Metrics of an answer's words against those of a reference; no model is asked.

answer, reference: texts. All return a number in [0, 1]; NaN where the reference has no words.
What a word is, and which differences don't count: `words.py`. Korean is counted by syllable.
"""

from __future__ import annotations

import math
from collections import Counter

from rapidfuzz.distance import LCSseq

from rayeval.metrics.answers.words import closed_up, pair, units


def contains_reference(answer: str, reference: str) -> float:
    """1 if the reference stands in the answer from one edge of a word to another."""
    said, wanted = pair(answer, reference)
    if not wanted:
        return math.nan
    (text, edges), (sought, _) = closed_up(said), closed_up(wanted)
    start = text.find(sought)
    while start >= 0:
        if start in edges and start + len(sought) in edges:
            return 1.0
        start = text.find(sought, start + 1)
    return 0.0


def exact_match(answer: str, reference: str) -> float:
    """1 if both are the same words in the same order; a space beside Hangul doesn't matter."""
    said, wanted = pair(answer, reference)
    return float(closed_up(said)[0] == closed_up(wanted)[0]) if wanted else math.nan


def token_f1(answer: str, reference: str) -> float:
    """Harmonic mean of the shares of words that both have, each as often as both have it.

    Source: Rajpurkar et al. 2016, doi:10.18653/v1/D16-1264.
    """
    said, wanted = map(units, pair(answer, reference))
    shared = sum((Counter(said) & Counter(wanted)).values())
    return 2 * shared / (len(said) + len(wanted)) if wanted else math.nan


def rouge_l(answer: str, reference: str) -> float:
    """ROUGE-L: the same of the longest common subsequence of words.

    Source: Lin 2004, https://aclanthology.org/W04-1013; sentence level, β = 1; RapidFuzz's LCS.
    """
    said, wanted = map(units, pair(answer, reference))
    codes = {word: code for code, word in enumerate(dict.fromkeys((*said, *wanted)))}
    both = ([codes[word] for word in side] for side in (said, wanted))
    return 2 * LCSseq.similarity(*both) / (len(said) + len(wanted)) if wanted else math.nan
