r"""Privacy budgets and the conversions between them.

All three notions are for *replace-one* neighbours: two data sets of the same, public size that
differ in one record. Conversions come in two strengths. ``"paper"`` is the printed formula of Bun
and Steinke (2016), which the five papers use; ``"tight"`` is the exact optimum over Renyi orders
(Canonne, Kamath and Steinke, 2020, Proposition 12). `gaussian_epsilon` and its inverses are sharper
still, but hold for (compositions of) Gaussian mechanisms only.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np

# `scipy.stats` is imported on first use, because the import takes a third of a second.
import scipy
from numpy.typing import NDArray
from scipy.special import erfcx, expit, ndtr

from dpsco_core.base.errors import require
from dpsco_core.base.root import find_root
from dpsco_core.base.valley import lowest_between
from dpsco_core.privacy.concentration import laplace_epsilon, pure_epsilon_of, pure_rho

Conversion = Literal["tight", "paper"]

EPSILON_MAX = 1e6
RHO_MAX = 1e12  # The rho of every pure algorithm up to EPSILON_MAX is smaller.
# The relative accuracy of the exact Gaussian curve, whose inverse is rounded to the safe side.
CURVE_ACCURACY = 1e-12
BINOMIAL_ACCURACY = 1e-9  # the accuracy of sums of binomial probabilities


def _check_range(name: str, value: float, largest: float) -> None:
    """Raise `InvalidInput` unless a value is a number above 0 and at most `largest`."""
    is_valid = isinstance(value, (int, float)) and math.isfinite(value) and 0 < value <= largest
    require(is_valid, name, f"a positive number of at most {largest:g}", value)


@dataclass(frozen=True, kw_only=True)
class PureDP:
    r"""Pure differential privacy: :math:`P[M(X) \in Y] \le e^\varepsilon P[M(X') \in Y]`."""

    epsilon: float  # in (0, 1e6]

    def __post_init__(self) -> None:
        """Refuse an epsilon outside its range."""
        _check_range("epsilon", self.epsilon, EPSILON_MAX)

    def to_zcdp(self, conversion: Conversion = "tight") -> ZCDP:
        r"""Return the implied zCDP guarantee.

        This is an *implication*, the opposite direction of the other classes: Gaussian noise
        cannot be calibrated to a pure budget. ``"tight"`` is
        :math:`\rho = \varepsilon\tanh(\varepsilon/2)`, which randomised response attains (see
        `pure_rho`), ``"paper"`` is :math:`\varepsilon^2/2` (Bun and Steinke 2016, Proposition 1.4).
        """
        return ZCDP(rho=self.epsilon**2 / 2 if conversion == "paper" else pure_rho(self.epsilon))

    def __str__(self) -> str:
        """Return the budget as text, such as "1-DP"."""
        return f"{self.epsilon:.4g}-DP"


@dataclass(frozen=True, kw_only=True)
class ZCDP:
    r"""Zero-concentrated DP: :math:`D_\alpha(M(X) \| M(X')) \le \rho\alpha` for all alpha > 1.

    The papers call it CDP. Bun and Steinke (2016), Definition 1.1.
    """

    rho: float  # in (0, 1e12]

    def __post_init__(self) -> None:
        """Refuse a rho outside its range."""
        _check_range("rho", self.rho, RHO_MAX)

    def to_zcdp(self, conversion: Conversion = "tight") -> ZCDP:
        """Return this guarantee itself."""
        return self

    def to_approx(self, delta: float, conversion: Conversion = "tight") -> ApproxDP:
        """Return the (epsilon, delta) guarantee of every `rho`-zCDP algorithm."""
        return ApproxDP(epsilon=zcdp_epsilon(self.rho, delta, conversion), delta=delta)

    def __str__(self) -> str:
        """Return the budget as text, such as "0.5-zCDP"."""
        return f"{self.rho:.4g}-zCDP"


@dataclass(frozen=True, kw_only=True)
class ApproxDP:
    r"""Approximate DP: :math:`P[M(X) \in Y] \le e^\varepsilon P[M(X') \in Y] + \delta`."""

    epsilon: float  # in (0, 1e6]
    delta: float  # in (0, 1)

    def __post_init__(self) -> None:
        """Refuse an epsilon or a delta outside its range."""
        _check_range("epsilon", self.epsilon, EPSILON_MAX)
        _check_delta(self.delta)

    def to_zcdp(self, conversion: Conversion = "tight") -> ZCDP:
        """Return the largest rho such that every rho-zCDP algorithm meets this budget.

        ``"paper"`` inverts Bun and Steinke's formula, ``"tight"`` the exact optimum over Renyi
        orders. For a Gaussian mechanism alone `gaussian_rho` allows more.
        """
        return ZCDP(rho=zcdp_rho(self.epsilon, self.delta, conversion))

    def __str__(self) -> str:
        """Return the budget as text, such as "(1, 1e-06)-DP"."""
        return f"({self.epsilon:.4g}, {self.delta:.3g})-DP"


Budget = PureDP | ZCDP | ApproxDP


def _check_delta(delta: float) -> None:
    """Raise `InvalidInput` unless delta is strictly between 0 and 1."""
    is_valid = isinstance(delta, (int, float)) and 0 < delta < 1
    require(is_valid, "delta", "a number strictly between 0 and 1", delta)


def zcdp_epsilon(rho: float, delta: float, conversion: Conversion = "tight") -> float:
    r"""Return the smallest epsilon such that rho-zCDP implies (epsilon, delta)-DP.

    ``"paper"``: :math:`\rho + 2\sqrt{\rho\ln(1/\delta)}` (Bun and Steinke 2016, Proposition 1.3).
    ``"tight"``: :math:`\inf_{\alpha>1} \alpha\rho + \frac{\ln(1/\delta) + (\alpha-1)\ln(1-1/\alpha)
    - \ln\alpha}{\alpha-1}` (Canonne, Kamath and Steinke 2020, Proposition 12), never below 0. Any
    order gives a valid epsilon, so the search errs on the safe side, and a bound on the rounding is
    added.

    Examples
    --------
    >>> round(zcdp_epsilon(0.5, 1e-6), 6), round(zcdp_epsilon(0.5, 1e-6, "paper"), 6)
    (5.221534, 5.756522)
    """
    _check_range("rho", rho, RHO_MAX)
    _check_delta(delta)
    log_1_delta = -math.log(delta)
    paper = rho + 2 * math.sqrt(rho * log_1_delta)
    if conversion == "paper":
        return paper

    def epsilon_at(log_order: float) -> float:
        """Return the epsilon that Renyi order alpha proves, by ln(alpha - 1)."""
        excess = math.exp(log_order)
        log_alpha = math.log1p(excess)
        bracket = log_1_delta + excess * (log_order - log_alpha) - log_alpha
        return (1 + excess) * rho + bracket / excess

    def rounding_at(log_order: float) -> float:
        """Return a bound on the rounding of `epsilon_at`, whose terms cancel for small epsilon."""
        excess = math.exp(log_order)
        log_alpha = math.log1p(excess)
        terms = (1 + excess) * rho + (log_1_delta + log_alpha) / excess
        return 8 * float(np.finfo(float).eps) * (terms + abs(log_order) + log_alpha)

    guess = 0.5 * (math.log(log_1_delta + 1e-300) - math.log(rho))
    place, lowest = lowest_between(epsilon_at, guess - 12, guess + 12, tolerance=1e-10)
    return min(paper, max(0.0, lowest + rounding_at(place)))


@lru_cache(maxsize=4096)
def zcdp_rho(epsilon: float, delta: float, conversion: Conversion = "tight") -> float:
    r"""Return the largest rho such that rho-zCDP implies (epsilon, delta)-DP.

    It is the inverse of `zcdp_epsilon`.

    ``"paper"`` is :math:`(\sqrt{\varepsilon+\ln(1/\delta)}-\sqrt{\ln(1/\delta)})^2`. The tight root
    is rounded down, so that converting back never exceeds `epsilon`.
    """
    _check_range("epsilon", epsilon, EPSILON_MAX)
    _check_delta(delta)
    paper = _paper_rho(epsilon, delta)
    if conversion == "paper":
        return paper

    def excess(log_rho: float) -> float:
        """Return the epsilon that rho = exp(log_rho) implies, minus the allowed epsilon."""
        return zcdp_epsilon(math.exp(log_rho), delta) - epsilon

    low = math.log(paper)
    # The Gaussian mechanism attains its zCDP guarantee, so no conversion allows a larger rho.
    high = math.log(gaussian_rho(epsilon, delta)) + 1e-6
    if excess(low) > 0:  # the paper's formula is already optimal up to rounding
        return paper * (1 - 1e-9)
    root = float(find_root(excess, low, high, xtol=1e-13))
    step = 1e-13
    while excess(root) > 0:
        root -= step
        step *= 2
    return math.exp(root)


# Nodes and weights of Gauss-Legendre quadrature on [0, 1].
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(12)
_NODES, _WEIGHTS = (_NODES + 1) / 2, _WEIGHTS / 2


def gaussian_delta(rho: float, epsilon: float) -> float:
    r"""Return the exact delta at epsilon of a Gaussian mechanism that is rho-zCDP.

    With :math:`\nu = \sqrt{2\rho}` the ratio of sensitivity to noise,
    :math:`\delta = \Phi(\nu/2 - \varepsilon/\nu) - e^\varepsilon\Phi(-\nu/2 - \varepsilon/\nu)`
    (Balle and Wang 2018, Theorem 8). Adaptive compositions of Gaussian mechanisms with ratios fixed
    in advance have the curve of their total rho.

    It is accurate to a relative 1e-12. Raises `InvalidInput` if a value is outside its range.

    Parameters
    ----------
    rho : float
        In (0, 1e12].
    epsilon : float
        At least 0.
    """
    _check_range("rho", rho, RHO_MAX)
    require(0 <= epsilon < math.inf, "epsilon", "a number of at least 0", epsilon)
    nu = math.sqrt(2 * rho)
    low = (epsilon - rho) / nu
    high = (epsilon + rho) / nu
    # Since e^epsilon phi(high) = phi(low), Mills' ratio m = Phi(-x)/phi(x) avoids large cancelling
    # terms.
    density = math.exp(-low * low / 2) / math.sqrt(2 * math.pi)
    if nu < 1:  # The difference m(low) - m(high) is the integral of -m' = 1 - x m.
        points = low + nu * _NODES
        return density * nu * float(_WEIGHTS @ (1 - points * _mills(points)))
    ratio_low, ratio_high = _mills(np.array([low, high]))
    if low > 0:
        return density * float(ratio_low - ratio_high)
    return float(ndtr(-low)) - density * float(ratio_high)


def _mills(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the Mills ratio (1 - cdf(x)) / pdf(x) of the normal law."""
    return math.sqrt(math.pi / 2) * erfcx(x / math.sqrt(2))


@lru_cache(maxsize=4096)
def gaussian_epsilon(rho: float, delta: float) -> float:
    """Return the least epsilon at delta of a Gaussian rho-zCDP mechanism, rounded up.

    Examples
    --------
    >>> round(gaussian_epsilon(0.5, 1e-6), 6)
    4.886554
    """
    _check_range("rho", rho, RHO_MAX)
    _check_delta(delta)
    safe = delta * (1 - CURVE_ACCURACY)

    def is_met(epsilon: float) -> bool:
        """Return whether the mechanism has a delta of at most `safe` at this epsilon."""
        return gaussian_delta(rho, epsilon) <= safe

    if is_met(0.0):
        return 0.0
    # The conversion of Bun and Steinke (2016) is an upper bound.
    largest = (rho + 2 * math.sqrt(rho * -math.log(delta))) * (1 + 1e-9)
    return _bisect(is_met, holds=largest, fails=0.0)


@lru_cache(maxsize=4096)
def gaussian_rho(epsilon: float, delta: float) -> float:
    """Return the largest rho whose Gaussian mechanism is (epsilon, delta)-DP, rounded down.

    This gives the least noise that a Gaussian release, or an adaptive composition of them, may draw
    at an (epsilon, delta) budget.

    Examples
    --------
    >>> round(gaussian_rho(1.0, 1e-6), 10)
    0.0280144819
    """
    _check_range("epsilon", epsilon, EPSILON_MAX)
    _check_delta(delta)
    safe = delta * (1 - CURVE_ACCURACY)

    def is_met(log_rho: float) -> bool:
        """Return whether the mechanism of rho = exp(log_rho) has a delta of at most `safe`."""
        return gaussian_delta(math.exp(log_rho), epsilon) <= safe

    low = math.log(_paper_rho(epsilon, delta)) - 1e-9
    high = low + 1.0
    while is_met(high):
        low, high = high, high + 1.0
    return math.exp(_bisect(is_met, holds=low, fails=high))


@lru_cache(maxsize=4096)
def repeated_pure_epsilon(epsilon: float, releases: int, delta: float) -> float:
    r"""Return the least epsilon at delta of repeated epsilon-DP releases, rounded up.

    By the optimal composition theorem (Kairouz, Oh and Viswanath 2015, Theorem 3.3) no adaptive
    composition loses more than randomised responses of the same epsilon, one for each release. For
    k of them with :math:`B\sim\mathrm{Bin}(k, e^\varepsilon/(1+e^\varepsilon))` true answers, the
    delta at :math:`\varepsilon'` is :math:`E\big[1-e^{\varepsilon'-(2B-k)\varepsilon}\big]_+`.

    Examples
    --------
    >>> [round(repeated_pure_epsilon(e, k, 1e-6), 6) for e, k in ((1.0, 10), (0.1, 100))]
    [9.999977, 4.774568]
    """
    _check_range("epsilon", epsilon, EPSILON_MAX)
    _check_delta(delta)
    likely = float(expit(epsilon))
    # The probability outside this spread is below 1e-300.
    spread = 40 * math.sqrt(releases * likely * (1 - likely)) + 1

    def is_met(target: float) -> bool:
        """Return whether the releases are (target, delta)-DP together."""
        fewest = math.floor((releases + target / epsilon) / 2) + 1
        highest = min(releases, math.ceil(max(fewest, releases * likely) + spread))
        answers = np.arange(fewest, highest + 1, dtype=np.float64)
        losses = (2 * answers - releases) * epsilon
        reached = scipy.stats.binom.pmf(answers, releases, likely) @ -np.expm1(
            np.minimum(target - losses, 0)
        )
        return float(reached) <= delta * (1 - BINOMIAL_ACCURACY)

    if is_met(0.0):
        return 0.0
    return _bisect(is_met, holds=releases * epsilon, fails=0.0)


def _bisect(is_met: Callable[[float], bool], *, holds: float, fails: float) -> float:
    """Return a number at which `is_met` is true, by bisection towards one at which it is false.

    `holds` and `fails` are the ends of the search: `is_met` is true at the first.
    """
    for _ in range(200):
        middle = (holds + fails) / 2
        if middle in (holds, fails):
            break
        holds, fails = (middle, fails) if is_met(middle) else (holds, middle)
    return holds


def _paper_rho(epsilon: float, delta: float) -> float:
    """Return the largest rho that Bun and Steinke's conversion allows at (epsilon, delta)."""
    # This is the square of sqrt(e+l) - sqrt(l), l = ln(1/delta), computed without cancellation.
    log_1_delta = -math.log(delta)
    return (epsilon / (math.sqrt(epsilon + log_1_delta) + math.sqrt(log_1_delta))) ** 2


def pure_epsilon(budget: Budget) -> float:
    r"""Return an epsilon such that every epsilon-DP algorithm meets `budget`.

    For zCDP it is the largest, the solution of :math:`\varepsilon\tanh(\varepsilon/2)=\rho` (see
    `pure_rho`); the papers have :math:`\sqrt{2\rho}`. Otherwise it is epsilon, as in the papers; a
    slightly larger one would do (delta would pay for some of it).
    """
    match budget:
        case PureDP(epsilon=epsilon) | ApproxDP(epsilon=epsilon):
            return epsilon
        case ZCDP(rho=rho):
            return min(pure_epsilon_of(rho), EPSILON_MAX)


def laplace_allowance(budget: Budget) -> float:
    r"""Return the largest epsilon of one release with Laplace noise that meets `budget`.

    Laplace noise costs less zCDP than other releases of its epsilon do: under a zCDP budget it is
    the solution of :math:`\varepsilon+e^{-\varepsilon}-1=\rho` (see `laplace_rho`), and
    `pure_epsilon` otherwise.
    """
    match budget:
        case ZCDP(rho=rho):
            return min(laplace_epsilon(rho), EPSILON_MAX)
        case _:
            return pure_epsilon(budget)


def gaussian_allowance(budget: Budget) -> float:
    """Return the largest total rho of Gaussian releases that meets `budget`; 0 if it is pure DP."""
    match budget:
        case PureDP():
            return 0.0
        case ZCDP(rho=rho):
            return rho
        case ApproxDP(epsilon=epsilon, delta=delta):
            return gaussian_rho(epsilon, delta)


def concentrated_rho(budget: Budget) -> float:
    r"""Return the rho of the concentrated-DP lower bounds for `budget`.

    For zCDP it is its rho. For (epsilon, delta) it is the rho of the Gaussian releases that meet
    it, because an (epsilon, delta) guarantee alone is not a concentrated one. For a pure budget it
    is :math:`\varepsilon\tanh(\varepsilon/2)`, the least that every such algorithm has.
    """
    if isinstance(budget, PureDP):
        return budget.to_zcdp().rho
    return gaussian_allowance(budget)
