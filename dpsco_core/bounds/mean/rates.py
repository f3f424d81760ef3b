r"""The rates of mean estimation that several statements share, with hidden constants set to 1.

Moments are scaled to 1 and :math:`a=1-1/p`. Upper rates are not capped by the trivial error.
"""

import math

from dpsco_core.problems.base import Setting


def mean_rate_cdp(setting: Setting, rho: float) -> tuple[float, float]:
    r"""Return the rate of Kamath et al. (2022), Corollary 4.2, concentrated DP; at most sqrt(d).

    Upper bounds are at ``setting.gaussian_rho``, lower ones at ``setting.rho``.
    """
    return private_rate(setting, math.sqrt(setting.d), math.sqrt(max(rho, 0.0)))


def mean_rate_pure(setting: Setting) -> tuple[float, float]:
    """Return the rate of Kamath et al. (2022), Corollary 4.2 and Lemma 6.3, for pure DP."""
    return private_rate(setting, float(setting.d), setting.pure_epsilon)


def private_rate(setting: Setting, top: float, level: float) -> tuple[float, float]:
    r"""Return the sampling and the private term of a rate, with constants 1.

    They are :math:`\sqrt{d/n}` and :math:`\sqrt d(\text{top}/(\text{level}\,n))^{1-1/p}`. The
    second one is infinite at level 0.
    """
    n, d, order = setting.n, setting.d, setting.moment_order
    private = math.sqrt(d) * (top / (level * n)) ** (1 - 1 / order) if level > 0 else math.inf
    return math.sqrt(d / n), private
