"""What a golden set of this size can tell, so that "no difference" isn't "too few questions"."""

from __future__ import annotations

import math

from scipy import stats


def detectable(standard_error: float, *, alpha: float = 0.05, power: float = 0.8) -> float:
    """The smallest true difference that a two-sided test at `alpha` finds with chance `power`.

    standard_error: of the paired difference, by cluster.
    Source: Bloom 1995, doi:10.1177/0193841X9501900504.
    """
    return float(stats.norm.ppf(1 - alpha / 2) + stats.norm.ppf(power)) * standard_error


def questions_needed(
    difference: float, standard_error: float, n: int, *, alpha: float = 0.05, power: float = 0.8
) -> int | None:
    """How many questions of the same kind would show a true `difference`.

    n: the questions behind `standard_error`, which falls with the square root of their number
    while clusters stay as large. None where there is no spread to judge by, or nothing to show.
    """
    if difference == 0 or not standard_error > 0:
        return None
    reach = detectable(standard_error, alpha=alpha, power=power) / abs(difference)
    return math.ceil(n * reach**2)
