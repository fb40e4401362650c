"""What a golden set of this size can tell, so that "no difference" isn't "too few questions"."""

from __future__ import annotations

import math

from rayeval.power import ALPHA, POWER, reach


def detectable(standard_error: float, *, alpha: float = ALPHA, power: float = POWER) -> float:
    """The smallest true difference that a two-sided test at `alpha` finds with chance `power`.

    standard_error: of the paired difference, by cluster.
    Source: Bloom 1995, doi:10.1177/0193841X9501900504.
    """
    return reach(alpha, power) * standard_error


def questions_needed(
    difference: float,
    standard_error: float,
    n: int,
    *,
    alpha: float = ALPHA,
    power: float = POWER,
) -> int | None:
    """How many questions of the same kind would show a true `difference`.

    n: the questions behind `standard_error`, which falls with the square root of their number
    while clusters stay as large. None where there is no spread to judge by, or nothing to show.
    """
    if difference == 0 or not standard_error > 0:
        return None
    times = detectable(standard_error, alpha=alpha, power=power) / abs(difference)
    return math.ceil(n * times**2)
