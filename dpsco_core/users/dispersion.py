r"""How far users' gradients and groups' iterates stray: radii that keep an honest run going.

Any radius that is fixed without looking at the data is private; it has to be large enough for the
tests to pass. These are dimension-free (note to Lowy, Liu and Asi 2024, section 2.0, R1 and R2).
Losses are convex and L-Lipschitz, items independent.
"""

from __future__ import annotations

import math

from dpsco_core.errors import require
from dpsco_core.privacy.checks import check_count, check_positive


def gradient_dispersion(lipschitz: float, items: int, failure: float) -> float:
    r"""Return R1: a user's gradient at a fixed point is this near its mean, w.p. 1 - failure.

    .. math:: \|\nabla\hat F(x, Z) - \nabla F(x)\| \le
        \frac{L}{\sqrt m}\big(1 + \sqrt{2\log(1/\gamma)}\big)

    Two users are within twice that of each other. For n users in T rounds take
    :math:`\gamma = \gamma_0/(nT)`.

    *Proof.* The mean square of the left side is at most :math:`L^2/m`, hence its mean at most
    :math:`L/\sqrt m`. Replacing one item moves it by at most 2L/m: McDiarmid's inequality gives
    :math:`P[\cdot \ge E + t] \le \exp(-t^2m/(2L^2))`.

    Examples
    --------
    >>> round(gradient_dispersion(1.0, 100, 1e-3), 4)
    0.4717
    """
    check_positive("lipschitz", lipschitz)
    check_count("items", items)
    return lipschitz / math.sqrt(items) * _tail(failure)


def iterate_dispersion(step_size: float, lipschitz: float, steps: int, failure: float) -> float:
    r"""Return R2: the average iterate of one-pass SGD is this near its expectation.

    .. math:: \|\tilde x - E\tilde x\| \le \eta L\sqrt{T/3}\big(1 + \sqrt{2\log(1/\gamma)}\big)

    with probability :math:`1-\gamma`, for the average of the T points at which gradients are taken,
    from a fixed start, projected, with :math:`\eta \le 2/\beta`.

    *Proof.* Resampling the item of step s (from 1) moves the next point by
    :math:`\eta\|\nabla f(w,z)-\nabla f(w,z')\|`: at most :math:`2\eta L`, and at most
    :math:`2\eta^2L^2` in mean square. Later steps are non-expansive, and T - s of the T averaged
    points follow. Since :math:`\sum_s(1-s/T)^2 = (T-1)(2T-1)/(6T) \le T/3`, the inequality of Efron
    and Stein gives :math:`E\|\tilde x - E\tilde x\|^2 \le \eta^2L^2T/3`, and McDiarmid's
    :math:`P[\cdot \ge E + t] \le \exp(-3t^2/(2\eta^2L^2T))`.

    Examples
    --------
    >>> round(iterate_dispersion(0.01, 1.0, 300, 1e-3), 4)
    0.4717
    """
    check_positive("step_size", step_size)
    check_positive("lipschitz", lipschitz)
    check_count("steps", steps)
    return step_size * lipschitz * math.sqrt(steps / 3) * _tail(failure)


def group_spread(
    step_size: float, lipschitz: float, steps: int, groups: int, failure: float
) -> float:
    r"""Return R2 for pairs: C groups' average iterates are pairwise this near, w.p. 1 - failure.

    Twice `iterate_dispersion` at :math:`\gamma/C`.
    """
    check_count("groups", groups)
    return 2 * iterate_dispersion(step_size, lipschitz, steps, failure / groups)


def sampled_mean_variance(variance: float, count: int, drawn: int) -> float:
    r"""Return the mean square error of the mean of a batch without replacement.

    :math:`E\|g - \bar g\|^2 = \frac{n-K}{n-1}\cdot\frac1K\cdot\frac1n\sum_j\|q_j-\bar q\|^2`: 0 for
    the whole, `variance` for a single one (Lei, Ju, Chen and Jordan 2017, Lemma A.1).

    Parameters
    ----------
    variance : float
        :math:`\frac1n\sum_j\|q_j-\bar q\|^2`, at least 0.
    count, drawn : int
        n, and K of them.
    """
    require(variance >= 0, "variance", "at least 0", variance)
    check_count("count", count)
    check_count("drawn", drawn)
    require(drawn <= count, "drawn", f"at most {count}", drawn)
    return 0.0 if drawn == count else (count - drawn) / (count - 1) / drawn * variance


def _tail(failure: float) -> float:
    require(0 < failure < 1, "failure", "above 0 and below 1", failure)
    return 1 + math.sqrt(-2 * math.log(failure))
