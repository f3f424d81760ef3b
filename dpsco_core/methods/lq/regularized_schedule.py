r"""Regularised mirror descent on the whole space: Su, Zhao and Wang (2023), Algorithm 3.

Steps :math:`w_{t+1}=\arg\min_w\langle\nabla\hat F(w_t)+g_t,w\rangle+2\beta D_\Phi(w,w_t)+
\alpha\Phi(w)` from 0, averaged with weights :math:`q_0^t`, :math:`q_0=1+\frac\alpha{2\beta}`. The
explicit bound B3 of theory/su-zhao-wang.md, 3.4, and the steps and regulariser that make it
smallest: they look at no data.
"""

import math
from dataclasses import dataclass
from functools import lru_cache

from scipy.optimize import minimize_scalar

from dpsco_core.base.errors import NotApplicable
from dpsco_core.base.search import best_count
from dpsco_core.geometry.regular_space import RegularSpace

LARGEST_STEPS = 2_000  # full gradients, in `best_b3`
_NO_GROWTH = 700.0  # beyond, e^x leaves the range of doubles

Terms4 = tuple[float, float, float, float]


@dataclass(frozen=True, kw_only=True)
class Regularized:
    r"""What B3 depends on besides the steps and the regulariser."""

    n: int  # records
    space: RegularSpace  # the parameters' space
    # L and beta of every record, with respect to :math:`\|\cdot\|_q`; positive and finite
    lipschitz: float
    smoothness: float
    radius: float  # bound on :math:`\|\theta^*\|_q`: public, never from the data
    # bound on :math:`E\|g_1\|_{q'}^2` if the run had one step: T steps have T times as much each.
    energy: float
    # bound on the expected loss at 0, of losses of at least 0; infinite if there is none
    start_loss: float = math.inf

    @property
    def potential(self) -> float:
        r"""Bound :math:`\frac\kappa2\|\theta^*\|_q^2` on :math:`\Phi_*=\Phi(\theta^*)`."""
        return self.space.kappa * self.radius**2 / 2

    def mean_potential(self, regulariser: float) -> float:
        r"""Return a bound on :math:`E\Phi(w^*_\alpha)`, at the regularised empirical minimiser.

        .. math:: \min\Big\{\frac{L^2}{2\kappa_+\alpha^2},\ \frac{E\hat F(0)}{2\alpha},\
            \Phi_*+\frac{2L^2}{n\alpha^2}\Big\}

        The first two are those of theory/su-zhao-wang.md, 3.4, the first with the :math:`\kappa_+`
        that its proof allows. The third: :math:`\alpha E\Phi(w^*_\alpha)\le\alpha\Phi_*+E[F-\hat
        F](w^*_\alpha)`, and the stability of :math:`w^*_\alpha` bounds the last by
        :math:`2L^2/(n\alpha)`; it needs a :math:`\theta^*` that minimises F everywhere.
        """
        slope = (self.lipschitz / regulariser) ** 2
        return min(
            slope / (2 * self.space.kappa_plus),
            self.start_loss / (2 * regulariser),
            self.potential + 2 * slope / self.n,
        )


def b3(
    at: Regularized,
    steps: float,  # T >= 1; a whole number in a run
    regulariser: float,  # :math:`\alpha > 0`
    *,
    # :math:`\Phi_*` and :math:`\bar\Phi` in place of those of `at`
    potential: float | None = None,
    mean_potential: float | None = None,
) -> Terms4:
    r"""B3: an explicit bound on the mean excess risk.

    .. math::
        \alpha\Phi_*\Big(1+\frac1{q_0^T-1}\Big)+\frac S{2\beta}+
        2L\sqrt{2\Big(\frac S{2\alpha\beta}+\frac{\bar\Phi\min\{1,T(q_0-1)/q_0\}}{q_0^T-1}\Big)}+
        \frac{2L^2}{n\alpha},\quad S = T E\|g_1\|_{q'}^2

    Returns regulariser, noise, distance and stability; their sum is the bound.
    """
    potential = at.potential if potential is None else potential
    mean = at.mean_potential(regulariser) if mean_potential is None else mean_potential
    growth = regulariser / (2 * at.smoothness)
    exponent = steps * math.log1p(growth)
    rest = 1 / math.expm1(exponent) if exponent < _NO_GROWTH else 0.0
    noise = steps * at.energy / (2 * at.smoothness)
    far = mean * min(1.0, steps * growth / (1 + growth)) * rest
    return (
        regulariser * potential * (1 + rest),
        noise,
        2 * at.lipschitz * math.sqrt(2 * (noise / regulariser + far)),
        2 * at.lipschitz**2 / (at.n * regulariser),
    )


@dataclass(frozen=True, kw_only=True)
class RegularizedChoice:
    """Steps T, regulariser alpha, and the value of B3 there."""

    steps: int
    regulariser: float
    value: float


@lru_cache(maxsize=4096)
def best_b3(at: Regularized, *, most_steps: int = LARGEST_STEPS) -> RegularizedChoice:
    """Return the steps, at most `most_steps`, and the regulariser that minimise `b3`.

    The value is infinite where B3 is finite for none of them.
    """
    if not math.isfinite(at.energy * at.lipschitz * at.smoothness):
        return _no_choice(at)

    @lru_cache(maxsize=256)
    def best(steps: int) -> tuple[float, float]:
        # Outside, the first or the last term alone is above the trivial L ||theta||.
        scale = math.log(at.lipschitz / at.radius)
        found = minimize_scalar(
            lambda log: math.fsum(b3(at, steps, math.exp(log))),
            bounds=(scale - math.log(at.n), scale + 5.0),
            method="bounded",
            options={"xatol": 1e-4},
        )
        return float(found.fun), math.exp(float(found.x))

    try:
        steps = best_count(lambda t: best(t)[0], most_steps, of="number of steps")
    except NotApplicable:
        return _no_choice(at)
    value, regulariser = best(steps)
    return RegularizedChoice(steps=steps, regulariser=regulariser, value=value)


def _no_choice(at: Regularized) -> RegularizedChoice:
    return RegularizedChoice(steps=1, regulariser=at.lipschitz / at.radius, value=math.inf)


def published_choice(
    at: Regularized, epsilon: float, delta: float, *, printed: bool = False
) -> tuple[int, float]:
    r"""Return T and alpha of Theorem 7.

    .. math::
        T=\Big(\frac{n\varepsilon\sqrt\kappa}{\sqrt{d\ln(1/\delta)}}\Big)^{2/5},\quad
        \alpha=\frac{4\beta}T\log_2\frac nT

    With the printed kappa. `printed` has it in place of its root in T, which its own rate and
    condition on n contradict (theory/su-zhao-wang.md, 2.3 (c)). T is rounded, to at least 1.
    """
    steps = max(1, round(published_steps(at.n, at.space, epsilon, delta, printed=printed)))
    return steps, published_regulariser(at.n, steps, at.smoothness)


def published_steps(
    n: int, space: RegularSpace, epsilon: float, delta: float, *, printed: bool = False
) -> float:
    """Return the T of Theorem 7 before rounding."""
    kappa = space.printed_kappa
    size = n * epsilon * (kappa if printed else math.sqrt(kappa))
    return math.pow(size / math.sqrt(-space.d * math.log(delta)), 0.4)


def published_regulariser(n: int, steps: float, smoothness: float) -> float:
    r"""Return :math:`\alpha=\frac{4\beta}T\log_2\frac nT`; not positive where n <= T."""
    return 4 * smoothness / steps * math.log2(n / steps)
