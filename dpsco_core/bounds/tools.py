"""What the upper-bound rows share: failure probabilities, terms, and a condition on n."""

from __future__ import annotations

import math
from collections.abc import Callable

from dpsco_core.bounds.base import Hypothesis, Terms
from dpsco_core.bounds.conditions import (
    DIRECTIONAL_MOMENT,
    GAUSSIAN_BUDGET,
    small_mean,
)
from dpsco_core.bounds.mean.coordinatewise_formulas import Parts
from dpsco_core.problems.base import Setting

BETA = 0.05  # failure probability of the explicit high-probability forms
PAPER_BETA = 0.1  # failure probability of Corollary 4.2
SMALL_MEAN = small_mean(10.0)
KAPPA = r"\kappa_p=\frac{(p-1)^{p-1}}{p^p}"
# The sharp bias of clipping at distance t from the mean: `hinge_bias`.
HINGE = r"h_p(t)=\frac{(p-1)^{p-1}}{p^p}t^{1-p},\ h_2(t)=\tfrac12\big(\sqrt{1+t^2}-t\big)"
DIRECTIONAL_CONDITIONS = (GAUSSIAN_BUDGET, DIRECTIONAL_MOMENT)


def sum_terms(parts: Parts) -> Terms:
    return {
        "sampling": parts.sampling,
        "clipping bias": parts.bias,
        "privacy noise": parts.noise,
    }


def root_sum_square(values: tuple[float, ...]) -> float:
    return math.hypot(*values)


def enough_records(text: str, needed: Callable[[Setting], int]) -> Hypothesis:
    def check(setting: Setting) -> str:
        least = needed(setting)
        if setting.n >= least:
            return ""
        return f"The statement needs n >= {text} = {least} records, and n={setting.n}."

    return Hypothesis(text=f"n >= {text}", check=check)
