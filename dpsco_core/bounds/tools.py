"""What the upper-bound rows share: failure probabilities, terms, and a condition on n."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from dpsco_core.base.errors import require
from dpsco_core.bounds.base import Hypothesis, Letter, Terms, TermsOfRun
from dpsco_core.bounds.conditions import DIRECTIONAL_MOMENT, GAUSSIAN_BUDGET, small_mean
from dpsco_core.methods.base import Method
from dpsco_core.methods.records.base import hinge_bias
from dpsco_core.problems.base import Setting

# Explicit high-probability bounds are evaluated at this failure probability.
BETA = 0.05
# Corollary 4.2 of Kamath et al. (2022) is stated with this failure probability.
PAPER_BETA = 0.1
SMALL_MEAN = small_mean(10.0)
KAPPA = r"\kappa_p=\frac{(p-1)^{p-1}}{p^p}"
# This is the sharp bias of clipping at distance t from the mean, `hinge_bias`, in LaTeX.
HINGE = r"h_p(t)=\frac{(p-1)^{p-1}}{p^p}t^{1-p},\ h_2(t)=\tfrac12\big(\sqrt{1+t^2}-t\big)"
# If the answer of a run lies in a ball, the formula of its bound begins with this LaTeX, whose
# letters are `BALL`.
IN_BALL = r"\min\{D,V\},\ V="
BALL = (
    Letter("D", "diameter of the ball that holds the run's answer; infinite where none does"),
    # The formula itself defines V, so that the list of letters leaves it out.
    Letter("V", ""),
)
PARTS = ("sampling", "clipping bias", "privacy noise")
DIRECTIONAL_CONDITIONS = (GAUSSIAN_BUDGET, DIRECTIONAL_MOMENT)


def check_beta(beta: float) -> None:
    """Raise `InvalidInput` unless beta, a failure probability, is between 0 and 1."""
    require(0 < beta < 1, "beta", "between 0 and 1", beta)


@dataclass(frozen=True, kw_only=True)
class Parts:
    """The terms of an explicit bound, in the units of the error."""

    sampling: float  # the part of the error due to finitely many records
    bias: float  # the part of the error due to clipping
    noise: float  # the part of the error due to privacy

    @property
    def values(self) -> tuple[float, float, float]:
        """The terms, in the order of `PARTS`."""
        return self.sampling, self.bias, self.noise

    def total(self) -> float:
        """Return the sum of the terms, which is the bound if it holds with high probability."""
        return math.fsum((self.sampling, self.bias, self.noise))

    def root_sum_square(self) -> float:
        """Return the root of the sum of squares, which is the bound on a root mean square error."""
        return math.hypot(self.sampling, self.bias, self.noise)

    def scaled(self, unit: float) -> Parts:
        """Return the parts with every term multiplied by `unit`."""
        return Parts(sampling=unit * self.sampling, bias=unit * self.bias, noise=unit * self.noise)


def in_ball(parts: Parts, combine: Callable[[tuple[float, ...]], float], radius: float) -> Parts:
    """Return the terms of an error bound if the answer and the mean lie in a ball of this radius.

    Terms that combine to more than the ball's diameter are scaled down to the diameter; infinite
    ones, by which nothing is proven of a run, stay (theory/bounds-of-runs.md, 2).
    """
    value, diameter = combine(parts.values), 2 * radius
    return parts.scaled(diameter / value) if diameter < value < math.inf else parts


def at_run(
    method: Method,
    formula: Callable[[Any], Parts],  # the parts as a function of a plan of the method
    combine: Callable[[tuple[float, ...]], float],
) -> TermsOfRun:
    """Return the bound on a method's runs whose terms `formula` computes from the plan.

    The answer and the mean lie in the ball of the plan, which caps the terms: see `in_ball`.
    """

    def terms(plan: Any) -> tuple[float, ...]:
        """Return the terms of the bound at the parameters of a run's plan."""
        return in_ball(formula(plan), combine, plan.answer_radius).values

    return TermsOfRun(method=method, names=PARTS, formula=terms)


def void(sampling: float) -> Parts:
    """Return the terms of a bound that proves nothing: only the sampling term may be finite."""
    return Parts(sampling=sampling, bias=math.inf, noise=math.inf)


def terms_of(formula: Callable[[Setting], Parts]) -> Callable[[Setting], Terms]:
    """Return the function that evaluates a formula at a setting and names its terms by `PARTS`."""

    def terms(setting: Setting) -> Terms:
        """Return the terms of the formula at a setting, by name."""
        return dict(zip(PARTS, formula(setting).values, strict=True))

    return terms


def rate_terms(
    names: tuple[str, ...],
    unit: Callable[[Setting], float],
    rate: Callable[[Setting], tuple[float, ...]],
) -> Callable[[Setting], Terms]:
    """Return the function that evaluates a rate at a setting: its terms by name, times a unit.

    `rate` returns the terms in the order of `names`, and `unit` their common factor.
    """

    def terms(setting: Setting) -> Terms:
        """Return the terms of the rate at a setting, by name."""
        size = unit(setting)
        return {name: size * term for name, term in zip(names, rate(setting), strict=True)}

    return terms


def joint_bias(level: float, mean_bound: float, d: int, order: float) -> float:
    r"""Return a bound on the l2 norm of the bias b of clipping every coordinate to [-T, T].

    .. math:: \sum_jb_j^2\le(d-1)\psi(0)+\psi(R)+(\sqrt d-1)R\psi'(0),\quad\psi(a)=h_p(T-a)^2

    `level` is T, and `mean_bound` the bound R < T on the norm of the mean; the bound is infinite
    for T <= R. It uses that not all coordinates of the mean can be as large as R. See
    theory/kamath-liu-zhang.md, 3.2.
    """
    centre, edge = hinge_bias(level, order), hinge_bias(level - mean_bound, order)
    if math.isinf(edge):
        return math.inf
    slope = 2 * centre**2 * (order - 1)
    slope /= math.sqrt(1 + level**2) if order == 2 else level
    mixed = (math.sqrt(d) - 1) * mean_bound * slope
    return math.sqrt((d - 1) * centre**2 + edge**2 + mixed)


def directional_unit(setting: Setting) -> float:
    """Return M, the root of the bound on the gradients' moments in every direction."""
    return setting.constants.directional_moment


def root_sum_square(values: tuple[float, ...]) -> float:
    """Return the root of the sum of the squares."""
    return math.hypot(*values)


def enough_records(text: str, smallest_n: Callable[[Setting], int]) -> Hypothesis:
    """Return the condition that n is at least `smallest_n` of a setting; `text` is its formula."""

    def check(setting: Setting) -> str:
        """Return the reason why n is too small; empty if it is not."""
        fewest = smallest_n(setting)
        if setting.n >= fewest:
            return ""
        return f"The statement needs n >= {text} = {fewest} records, and n={setting.n}."

    return Hypothesis(text=f"n >= {text}", check=check)
