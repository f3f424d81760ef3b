r"""Private SGD over half of the records: Arora, Marinov and Ullah (2020), Algorithm 1.

It makes :math:`m=\lfloor n/2\rfloor+1` gradient steps in secret random order, with noise-only steps
in between, N in all. Noise has deviation :math:`\sigma` per coordinate. D bounds the distance from
the first iterate, the centre, to the minimiser: the diameter as printed, half of it in a centred
ball. See theory/arora-marinov-ullah.md, 2.1 and 3.
"""

from __future__ import annotations

import math

from scipy.special import digamma

from dpsco_core.bounds.conditions import check_sizes
from dpsco_core.privacy.budget import ApproxDP, Budget, gaussian_allowance
from dpsco_core.privacy.shuffled_steps import shuffle_steps


def gradient_steps(n: int) -> int:
    r"""Return :math:`m=\lfloor n/2\rfloor+1`."""
    check_sizes(n, 1)
    return n // 2 + 1


def expected_steps(n: int) -> float:
    r"""Return :math:`EN=n(H_n-H_{n-m})`, the expected number of steps of any kind.

    Examples
    --------
    >>> round(expected_steps(16), 6), round(expected_steps(1000), 6)
    (12.60595, 694.647431)
    """
    m = gradient_steps(n)
    if n <= 64:
        return math.fsum(n / (n - k) for k in range(m))
    return n * float(digamma(n + 1) - digamma(n - m + 1))


def sound_noise(n: int, lipschitz: float, budget: Budget) -> float:
    r"""Return the least sound :math:`\sigma` at the budget; infinite for a pure one.

    A step has sensitivity 2L, and a record enters one step. (epsilon, delta): the better of the
    two accountants of `shuffle_steps`. zCDP: :math:`2L/\sqrt{2\rho}`, without amplification.
    """
    if isinstance(budget, ApproxDP):
        return 2 * lipschitz * shuffle_steps(n, budget.epsilon, budget.delta).noise_multiplier
    rho = gaussian_allowance(budget)
    return 2 * lipschitz / math.sqrt(2 * rho) if rho > 0 else math.inf


def printed_noise(n: int, lipschitz: float, epsilon: float, delta: float) -> float:
    r"""Return :math:`\sigma=\frac{8L\sqrt{\ln(1/\delta)}}{\sqrt n\,\varepsilon}` of Theorem 6."""
    return 8 * lipschitz * math.sqrt(-math.log(delta)) / (math.sqrt(n) * epsilon)


def regret(
    n: int, d: int, lipschitz: float, distance: float, noise_std: float
) -> tuple[float, float]:
    r"""Corollary 1 through Lemma 1: :math:`\frac{2\sqrt n}mD(L+\sigma\sqrt d)`.

    The printed regret :math:`2D(L+\sigma\sqrt d)\sqrt n` over the m averaged steps; gradients' and
    noise's parts.
    """
    scale = 2 * math.sqrt(n) / gradient_steps(n) * distance
    return scale * lipschitz, scale * noise_std * math.sqrt(d)


def utility(
    n: int, d: int, lipschitz: float, distance: float, noise_std: float
) -> tuple[float, float]:
    r"""Theorem 4: :math:`\frac52\frac{D(L+\sigma\sqrt d)}{\sqrt n}`.

    Examples
    --------
    >>> round(sum(utility(1000, 5, 1.0, 1.0, 2.0)), 7)
    0.4326103
    """
    scale = 2.5 * distance / math.sqrt(n)
    return scale * lipschitz, scale * noise_std * math.sqrt(d)


def sharp(
    n: int,
    d: int,
    lipschitz: float,
    distance: float,
    noise_std: float,
    *,
    step: float | None = None,
) -> tuple[float, float, float]:
    r"""The sharp form of Theorem 4.

    .. math:: \frac{D^2}{2\eta m}+\frac{\eta(L^2m+\sigma^2d\,EN)}{2m}

    At the best step it is :math:`\frac Dm\sqrt{L^2m+\sigma^2d\,EN}`. See
    theory/arora-marinov-ullah.md, 3.

    Parameters
    ----------
    n, d : int
    lipschitz, distance, noise_std : float
        L, D and sigma.
    step : float or None
        None for the best one, :math:`\eta=D/\sqrt{L^2m+\sigma^2d\,EN}`.

    Returns
    -------
    optimisation, gradients, noise : float
        Their sum is the bound.
    """
    m = gradient_steps(n)
    steps = lipschitz**2 * m
    noise = noise_std**2 * d * expected_steps(n)
    if math.isinf(noise):
        return math.inf, math.inf, math.inf
    if step is None:
        step = distance / math.sqrt(steps + noise) if steps + noise > 0 else math.inf
    if math.isinf(step):
        return 0.0, 0.0, 0.0
    return distance**2 / (2 * step * m), step * steps / (2 * m), step * noise / (2 * m)


def pruned(
    n: int, d: int, lipschitz: float, distance: float, noise_std: float
) -> tuple[float, float]:
    r"""The sharp form without noise-only steps: :math:`D\sqrt{(L^2+\sigma^2d)/m}`.

    B7 of theory/arora-marinov-ullah.md, 2.6 with m gradients. Its two terms are the roots of the
    two parts: the bound is the root of the sum of their squares.

    Examples
    --------
    >>> round(math.hypot(*pruned(1000, 5, 1.0, 1.0, 2.0)), 7)
    0.2047344
    """
    scale = distance / math.sqrt(gradient_steps(n))
    return scale * lipschitz, scale * noise_std * math.sqrt(d)


def printed_step(n: int, d: int, lipschitz: float, distance: float, noise_std: float) -> float:
    r"""Return :math:`\eta=\frac D{\sqrt n(L+\sigma\sqrt d)}`."""
    return distance / (math.sqrt(n) * (lipschitz + noise_std * math.sqrt(d)))


def main_theorem(
    n: int, d: int, lipschitz: float, distance: float, epsilon: float, delta: float
) -> tuple[float, float]:
    r"""Theorem 6: :math:`\frac{5LD}{\sqrt n},\frac{20LD\sqrt{d\ln(1/\delta)}}{\varepsilon n}`.

    Its epsilon and delta are parameters of the noise, not the guarantee: see `theorem_parameters`.
    """
    scale = lipschitz * distance
    return 5 * scale / math.sqrt(n), 20 * scale * math.sqrt(-d * math.log(delta)) / (epsilon * n)


def theorem_parameters(n: int, epsilon: float, delta: float) -> tuple[float, float]:
    r"""Return Theorem 6's (epsilon, delta) for a target guarantee, with :math:`\delta'=\delta`.

    .. math::
        \delta_6=\frac{\bar\delta-2e^{-n/16}}2,\quad
        \varepsilon_6=\frac{\bar\varepsilon}{4(\sqrt{\ln(1/\delta_6)}+2)}

    NaN where :math:`\bar\delta\le2e^{-n/16}`.
    """
    left = (delta - 2 * math.exp(-n / 16)) / 2
    if left <= 0:
        return math.nan, math.nan
    return epsilon / (4 * (math.sqrt(-math.log(left)) + 2)), left


def remark(
    n: int, d: int, lipschitz: float, distance: float, epsilon: float, delta: float
) -> tuple[float, float]:
    r"""Remark 1: :math:`\frac{5LD}{\sqrt n},\frac{160LD\sqrt d\ln(3/\delta)}{\varepsilon n}`.

    Theorem 6 with :math:`\delta_6=\delta/3`,
    :math:`\varepsilon_6=\varepsilon/(8\sqrt{\ln(3/\delta)})`.
    """
    log_size = math.log(3 / delta)
    scale = lipschitz * distance
    return 5 * scale / math.sqrt(n), 160 * scale * math.sqrt(d) * log_size / (epsilon * n)
