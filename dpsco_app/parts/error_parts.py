"""The names and colours of the parts of an error, the same on every page."""

import math
from collections.abc import Mapping

from dpsco_app.figure.colours import BIAS, NOISE, OPTIMISATION, SAMPLING, Pair
from dpsco_core.explain.error_parts import PARTS

PART_NAMES = {
    "optimisation": "optimisation",
    "bias": "clipping bias",
    "sampling": "sampling",
    "noise": "noise",
}
PART_COLOURS: dict[str, Pair] = {
    "optimisation": OPTIMISATION,
    "bias": BIAS,
    "sampling": SAMPLING,
    "noise": NOISE,
}
assert tuple(PART_NAMES) == tuple(PART_COLOURS) == PARTS


def percents(parts: Mapping[str, float]) -> dict[str, int]:
    """Return the shares of non-negative parts in whole percents that add up to 100.

    The percents lost by rounding down go to the parts that lost most.

    Examples
    --------
    >>> percents({"sampling": 1.0, "bias": 1.0, "noise": 1.0})
    {'sampling': 34, 'bias': 33, 'noise': 33}
    """
    total = sum(parts.values())
    exact = {name: 100 * value / total for name, value in parts.items()}
    whole = {name: math.floor(share) for name, share in exact.items()}
    by_loss = sorted(exact, key=lambda name: whole[name] - exact[name])
    return {name: n + (name in by_loss[: 100 - sum(whole.values())]) for name, n in whole.items()}
