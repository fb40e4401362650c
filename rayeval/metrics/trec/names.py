"""The measures of trec_eval by name, as trec_eval and other tools write them."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from rayeval.errors import ConfigError
from rayeval.metrics.names import Cutoff, Measure, Metric, cutoff, cutoff_of, split
from rayeval.words import plural

COUNTS = ("num_q", "num_ret", "num_rel", "num_rel_ret")
"""Measures that trec_eval adds up over queries, where it averages others."""
CUT = ("P", "recall", "ndcg_cut", "map_cut", "success")
PLAIN = ("map", "ndcg", "recip_rank", "Rprec", "bpref", "set_P", "set_recall", "set_F")
DEPTHS = (1, 5, 10, 15, 20, 30, 100, 200, 500, 1000)
"""trec_eval's own default cutoffs, and 1."""

TREC: dict[str, Metric] = {
    **{name: Metric(name, high=None, cut=False, needs_gold=False) for name in COUNTS},
    **{name: Metric(name, cut=False, needs_gold=False) for name in PLAIN},
    **{name: Metric(name, needs_gold=False) for name in ("P", "recall", "success")},
}
"""The measures; `map`, `ndcg` and `recip_rank` may have a cutoff as well."""

_WORDS = {
    **{name.replace("_", "").lower(): name for name in TREC},
    **{"ap": "map", "mapcut": "map", "ndcgcut": "ndcg", "rr": "recip_rank", "mrr": "recip_rank"},
    **{"precision": "P", "prec": "P", "r": "recall", "hit": "success", "hitrate": "success"},
    **{"rprecision": "Rprec", "setr": "set_recall", "setprecision": "set_P"},
}
"""What people write, in lower case without marks."""
_OPTIONAL = ("map", "ndcg", "recip_rank")


def parse(name: str) -> Measure:
    """`ndcg_cut_10`, `P.30`, `nDCG@10`, `R@100`, `MRR`, `AP`, … as a value.

    Raises ConfigError for a measure that is not known, or a cutoff that is absent or too many.
    """
    word, size = split(name)
    if word not in _WORDS:
        near = _WORDS[difflib.get_close_matches(word, _WORDS, n=1, cutoff=0.0)[0]]
        raise ConfigError(
            f"unknown measure {name!r} in the TREC convention; the nearest is {near!r}. All are "
            f"{', '.join((*COUNTS, *PLAIN))}, {', '.join(f'{each}_5' for each in CUT)}"
        )
    metric = TREC[_WORDS[word]]
    if metric.name in _OPTIONAL and (size is not None or word.endswith("cut")):
        metric = Metric(metric.name, needs_gold=False)
    at = cutoff_of(name, metric, size)
    return Measure(name, metric, None if at is None else _in_documents(at))


def measures(
    names: Sequence[str] | None, cutoffs: Sequence[int | str] | None = None
) -> list[Measure]:
    """`names` as values, each once; without names all of them, at `cutoffs` or trec_eval's own."""
    depths = [_in_documents(cutoff(value)).size for value in cutoffs or DEPTHS]
    if names is None:
        cut = [f"{name}_{depth}" for name in CUT for depth in depths]
        names = [*PLAIN, *cut, *COUNTS]
    return [parse(name) for name in dict.fromkeys(names)]


def _in_documents(at: Cutoff) -> Cutoff:
    if at.tokens:
        raise ConfigError(f"the TREC convention counts documents, not {plural(at.size, 'token')}")
    return at
