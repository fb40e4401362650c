"""How small a difference a number of questions can show, before anything is measured.

Two runs answer the same n questions and a metric lives in [0, 1]. The smallest mean difference D
that a two-sided paired test at level ALPHA finds with probability POWER satisfies
`n * D**2 = c2 * (v - D**2)`, c2 = (z(1 - ALPHA/2) + z(POWER))**2, where v is the share of questions
on which the runs differ (each by 1; a graded metric differs by less, so this is on the safe side).
Assumed: v = DISCORDANT, and independent questions; where many share a document it takes more.
Source: Connor 1987, doi:10.2307/2531961 (McNemar's test), normal approximation.

Of few questions that approximation knows too much: FEWEST_MOVED of them must move the same way
before chance is out (a sign test's least p is 2 / 2**moved), so n questions show no less than
FEWEST_MOVED / n, and fewer than FEWEST_MOVED show nothing.

All of this is said before two runs are compared. `compare` measures how far these two differ, by
cluster, and says what that can show: more where they differ on few questions, less where questions
share documents.
"""

from __future__ import annotations

import math
from statistics import NormalDist

ALPHA, POWER, DISCORDANT = 0.05, 0.8, 0.2
FEWEST_CLUSTERS = 6
"""With fewer a gate on questions like these is always inconclusive (DESIGN §8)."""

FEWEST_MOVED = math.ceil(1 - math.log2(ALPHA))
"""Questions that must all move one way for p < ALPHA: 2 / 2**6 is .03."""


def reach(alpha: float = ALPHA, power: float = POWER) -> float:
    """How many standard errors away a true difference must lie for a two-sided test at `alpha` to
    find it with chance `power`."""
    return NormalDist().inv_cdf(1 - alpha / 2) + NormalDist().inv_cdf(power)


def detectable(n: int) -> float | None:
    """The smallest difference that `n` questions show, in (0, 1]; None: too few to show any."""
    if n < FEWEST_MOVED:
        return None
    return max(math.sqrt(reach() ** 2 * DISCORDANT / (n + reach() ** 2)), FEWEST_MOVED / n)


def questions_needed(difference: float) -> int:
    """How many questions show a `difference` in (0, 1).

    No fewer questions can differ than make up the difference, so v is at least that.
    """
    discordant = max(DISCORDANT, difference)
    needed = math.ceil(reach() ** 2 * (discordant - difference**2) / difference**2)
    return max(needed, math.ceil(FEWEST_MOVED / difference))
