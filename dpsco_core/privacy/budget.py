r"""Privacy budgets and the conversions between them.

All three notions are for *replace-one* neighbours: two data sets of the same, public size that
differ in one record. Conversions come in two strengths. ``"paper"`` is what Bun and Steinke (2016)
printed and the five papers use; ``"tight"`` is the exact optimum over Renyi orders (Canonne, Kamath
and Steinke, 2020, Proposition 12). `gaussian_epsilon` and its inverses are sharper still, but they
hold for (compositions of) Gaussian mechanisms only.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from scipy.optimize import brentq, minimize_scalar
from scipy.special import log_ndtr

from dpsco_core.errors import require

Conversion = Literal["tight", "paper"]

EPSILON_MAX = 1e6
RHO_MAX = 1e9


def _positive(name: str, value: float, largest: float) -> None:
    ok = isinstance(value, (int, float)) and math.isfinite(value) and 0 < value <= largest
    require(ok, name, f"a positive number of at most {largest:g}", value)


@dataclass(frozen=True, kw_only=True)
class PureDP:
    r"""Pure differential privacy: :math:`P[M(X) \in Y] \le e^\varepsilon P[M(X') \in Y]`.

    Parameters
    ----------
    epsilon : float
        In (0, 1e6].
    """

    epsilon: float

    def __post_init__(self) -> None:
        _positive("epsilon", self.epsilon, EPSILON_MAX)

    def to_zcdp(self, conversion: Conversion = "tight") -> ZCDP:
        r"""Return the zCDP guarantee implied, :math:`\rho = \varepsilon^2/2`.

        This is an *implication*, the opposite direction of the other classes: Gaussian noise
        cannot be calibrated to a pure budget. Bun and Steinke (2016), Proposition 1.4; both
        conversions agree.
        """
        return ZCDP(rho=self.epsilon**2 / 2)

    def __str__(self) -> str:
        return f"{self.epsilon:.4g}-DP"


@dataclass(frozen=True, kw_only=True)
class ZCDP:
    r"""Zero-concentrated DP: :math:`D_\alpha(M(X) \| M(X')) \le \rho\alpha` for all alpha > 1.

    The papers call it CDP. Bun and Steinke (2016), Definition 1.1.

    Parameters
    ----------
    rho : float
        In (0, 1e9].
    """

    rho: float

    def __post_init__(self) -> None:
        _positive("rho", self.rho, RHO_MAX)

    def to_zcdp(self, conversion: Conversion = "tight") -> ZCDP:
        """Return itself."""
        return self

    def to_approx(self, delta: float, conversion: Conversion = "tight") -> ApproxDP:
        """Return the (epsilon, delta) guarantee that every `rho`-zCDP algorithm has."""
        return ApproxDP(epsilon=zcdp_epsilon(self.rho, delta, conversion), delta=delta)

    def __str__(self) -> str:
        return f"{self.rho:.4g}-zCDP"


@dataclass(frozen=True, kw_only=True)
class ApproxDP:
    r"""Approximate DP: :math:`P[M(X) \in Y] \le e^\varepsilon P[M(X') \in Y] + \delta`.

    Parameters
    ----------
    epsilon : float
        In (0, 1e6].
    delta : float
        In (0, 1).
    """

    epsilon: float
    delta: float

    def __post_init__(self) -> None:
        _positive("epsilon", self.epsilon, EPSILON_MAX)
        _check_delta(self.delta)

    def to_zcdp(self, conversion: Conversion = "tight") -> ZCDP:
        """Return the largest rho such that every rho-zCDP algorithm meets this budget.

        ``"paper"`` inverts Bun and Steinke's formula, ``"tight"`` the exact optimum over Renyi
        orders. For a Gaussian mechanism alone `gaussian_rho` allows more.
        """
        return ZCDP(rho=zcdp_rho(self.epsilon, self.delta, conversion))

    def __str__(self) -> str:
        return f"({self.epsilon:.4g}, {self.delta:.3g})-DP"


Budget = PureDP | ZCDP | ApproxDP


def _check_delta(delta: float) -> None:
    ok = isinstance(delta, (int, float)) and 0 < delta < 1
    require(ok, "delta", "a number strictly between 0 and 1", delta)


def zcdp_epsilon(rho: float, delta: float, conversion: Conversion = "tight") -> float:
    r"""Smallest epsilon such that rho-zCDP implies (epsilon, delta)-DP.

    ``"paper"``: :math:`\rho + 2\sqrt{\rho\ln(1/\delta)}` (Bun and Steinke 2016, Proposition 1.3).
    ``"tight"``: :math:`\inf_{\alpha>1} \alpha\rho + \frac{\ln(1/\delta) + (\alpha-1)\ln(1-1/\alpha)
    - \ln\alpha}{\alpha-1}` (Canonne, Kamath and Steinke 2020, Proposition 12), never below 0. Any
    order gives a valid epsilon, so the search errs on the safe side.

    Examples
    --------
    >>> round(zcdp_epsilon(0.5, 1e-6), 6), round(zcdp_epsilon(0.5, 1e-6, "paper"), 6)
    (5.221534, 5.756522)
    """
    _positive("rho", rho, RHO_MAX)
    _check_delta(delta)
    log_1_delta = -math.log(delta)
    paper = rho + 2 * math.sqrt(rho * log_1_delta)
    if conversion == "paper":
        return paper

    def epsilon_at(log_order: float) -> float:  # log_order = ln(alpha - 1)
        excess = math.exp(log_order)
        log_alpha = math.log1p(excess)
        bracket = log_1_delta + excess * (log_order - log_alpha) - log_alpha
        return (1 + excess) * rho + bracket / excess

    guess = 0.5 * (math.log(log_1_delta + 1e-300) - math.log(rho))
    found = minimize_scalar(
        epsilon_at, bounds=(guess - 12, guess + 12), method="bounded", options={"xatol": 1e-10}
    )
    return min(paper, max(0.0, float(found.fun)))


@lru_cache(maxsize=4096)
def zcdp_rho(epsilon: float, delta: float, conversion: Conversion = "tight") -> float:
    r"""Largest rho such that rho-zCDP implies (epsilon, delta)-DP; the inverse of `zcdp_epsilon`.

    ``"paper"`` is :math:`(\sqrt{\varepsilon+\ln(1/\delta)}-\sqrt{\ln(1/\delta)})^2`. The tight root
    is rounded down, so that converting back never exceeds `epsilon`.
    """
    _positive("epsilon", epsilon, EPSILON_MAX)
    _check_delta(delta)
    log_1_delta = -math.log(delta)
    # (sqrt(e+l)-sqrt(l))^2 without cancellation
    paper = (epsilon / (math.sqrt(epsilon + log_1_delta) + math.sqrt(log_1_delta))) ** 2
    if conversion == "paper":
        return paper
    low = math.log(paper)
    # A zCDP guarantee cannot beat the Gaussian mechanism that attains it.
    high = math.log(gaussian_rho(epsilon, delta)) + 1e-6

    def excess(log_rho: float) -> float:
        return zcdp_epsilon(math.exp(log_rho), delta) - epsilon

    if excess(low) > 0:  # the paper's formula is already the optimum, to rounding
        return paper * (1 - 1e-9)
    root = float(brentq(excess, low, high, xtol=1e-13))
    return _step_down(root, lambda log_rho: excess(log_rho) <= 0)


def gaussian_delta(rho: float, epsilon: float) -> float:
    r"""Exact delta at epsilon of a Gaussian mechanism that is rho-zCDP.

    With :math:`\nu = \sqrt{2\rho}` the ratio of sensitivity to noise,
    :math:`\delta = \Phi(\nu/2 - \varepsilon/\nu) - e^\varepsilon\Phi(-\nu/2 - \varepsilon/\nu)`
    (Balle and Wang 2018, Theorem 8). Adaptive compositions of Gaussian mechanisms whose ratios are
    fixed in advance have the curve of their total rho.
    """
    _positive("rho", rho, RHO_MAX)
    nu = math.sqrt(2 * rho)
    log_first = float(log_ndtr(nu / 2 - epsilon / nu))
    log_second = epsilon + float(log_ndtr(-nu / 2 - epsilon / nu))
    if log_second >= log_first:
        return 0.0
    return math.exp(log_first) * -math.expm1(log_second - log_first)


@lru_cache(maxsize=4096)
def gaussian_epsilon(rho: float, delta: float) -> float:
    """Smallest epsilon of a Gaussian mechanism that is rho-zCDP, at delta; rounded up.

    Examples
    --------
    >>> round(gaussian_epsilon(0.5, 1e-6), 6)
    4.886554
    """
    _positive("rho", rho, RHO_MAX)
    _check_delta(delta)
    if gaussian_delta(rho, 0.0) <= delta:
        return 0.0
    high = rho + 2 * math.sqrt(rho * -math.log(delta)) + 1e-9
    root = float(brentq(lambda e: gaussian_delta(rho, e) - delta, 0.0, high, xtol=1e-14))
    for _ in range(200):
        if gaussian_delta(rho, root) <= delta:
            return root
        root += 1e-15 + abs(root) * 2e-16 * 4
    return high


@lru_cache(maxsize=4096)
def gaussian_rho(epsilon: float, delta: float) -> float:
    """Largest rho whose Gaussian mechanism is (epsilon, delta)-DP; rounded down.

    This is the least noise that a Gaussian release, or an adaptive composition of them, may
    draw at an (epsilon, delta) budget.

    Examples
    --------
    >>> round(gaussian_rho(1.0, 1e-6), 10)
    0.0280144819
    """
    _positive("epsilon", epsilon, EPSILON_MAX)
    _check_delta(delta)
    log_1_delta = -math.log(delta)
    low = math.log((epsilon / (math.sqrt(epsilon + log_1_delta) + math.sqrt(log_1_delta))) ** 2)

    def meets(log_rho: float) -> bool:
        return gaussian_delta(math.exp(log_rho), epsilon) <= delta

    high = low + 1.0
    while meets(high) and high < math.log(RHO_MAX):
        high += 1.0
    if meets(high):
        return RHO_MAX
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if meets(middle) else (low, middle)
    return math.exp(low) * (1 - 1e-15)


def _step_down(root: float, meets: object) -> float:
    """Move a logarithm down by a few ulps until its value meets the condition."""
    assert callable(meets)
    step = 1e-13
    while not meets(root):
        root -= step
        step *= 2
    return math.exp(root)


def pure_epsilon(budget: Budget) -> float:
    r"""Largest epsilon such that every epsilon-DP algorithm meets `budget`.

    :math:`\sqrt{2\rho}` for zCDP (Bun and Steinke 2016, Proposition 1.4), epsilon otherwise.
    """
    match budget:
        case PureDP(epsilon=epsilon) | ApproxDP(epsilon=epsilon):
            return epsilon
        case ZCDP(rho=rho):
            return math.sqrt(2 * rho)


def gaussian_allowance(budget: Budget) -> float:
    """Largest total rho of Gaussian releases that meets `budget`; 0 for a pure budget."""
    match budget:
        case PureDP():
            return 0.0
        case ZCDP(rho=rho):
            return rho
        case ApproxDP(epsilon=epsilon, delta=delta):
            return gaussian_rho(epsilon, delta)


def concentrated_rho(budget: Budget) -> float:
    r"""The rho at which a concentrated-DP lower bound is drawn for `budget`.

    zCDP: its rho. (epsilon, delta): the rho of the Gaussian releases that meet it, because an
    (epsilon, delta) guarantee alone is not a concentrated one. Pure: :math:`\varepsilon^2/2`.
    """
    if isinstance(budget, PureDP):
        return budget.to_zcdp().rho
    return gaussian_allowance(budget)
