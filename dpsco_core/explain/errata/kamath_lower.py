"""Experiments on the lower bounds of Kamath, Liu and Zhang (2022)."""

import math

from dpsco_core.explain.errata.base import Finding
from dpsco_core.methods.records.base import hinge_constant

# RHO is the budget, ORDER the moment order, and RADIUS the bound R on the mean in Theorem 4.1.
RHO, ORDER, RADIUS = 0.5, 4.0, 10.0


def one_dimension_risk(n: int) -> float:
    r"""Return an upper bound on the risk of a private algorithm for losses -wx on [-1, 1].

    It answers :math:`w=\Pi_{[-1,1]}(\sqrt3\,y/s)`, y the average of records clipped at
    :math:`\tau`, with Gaussian noise, and :math:`s^2\ge\mathrm{Var}(y)`. If y has the mean
    :math:`\mu` then the risk :math:`\mu E(1-w)` is at most :math:`s/\sqrt3`: for
    :math:`\mu\ge\frac2{\sqrt3}s` by Cantelli's argument, and below it because

    .. math:: 1-w\le\frac{3(u-y+\mu)^2}{8s^2},\quad u=\sqrt3s-\mu.

    The bias of clipping adds at most twice itself (theory/kamath-liu-zhang.md, 4.6).
    """
    # The records have this moment, since their mean is at most R.
    moment = math.pow(1 + RADIUS, ORDER)

    def risk(tau: float) -> float:
        """Return the bound on the risk at the clipping threshold tau."""
        bias = hinge_constant(ORDER) * moment * math.pow(tau, 1 - ORDER)
        noise = 2 * tau / (n * math.sqrt(2 * RHO))
        return math.hypot(1 / math.sqrt(n), noise) / math.sqrt(3) + 2 * bias

    return min(risk(RADIUS * 1.1**k) for k in range(120))


def sampling_constant() -> Finding:
    """Compare the first term of Theorem B.7 with the risk of a private algorithm for d = 1."""
    rows = []
    for n in (10**6, 10**8, 10**10):
        printed, reached = math.sqrt(1 / n), one_dimension_risk(n)
        rows.append((n, printed, reached, reached / printed))
    last_row = rows[-1]
    return Finding(
        sentence=f"At n = {last_row[0]:.0e}, d = 1 and ρ = {RHO:g} a zCDP algorithm errs by at "
        f"most {last_row[3]:.3g} √(d/n) for every law with a fourth central moment of at most 1 "
        f"and a mean of at most {RADIUS:g}: the first term needs a constant below 1.",
        columns=("n", "√(d/n)", "risk at most", "ratio"),
        rows=tuple(rows),
        shows=all(row[3] < 1 for row in rows),
        conditions=(("k ≥ 2", ORDER >= 2), ("ρ > 0", RHO > 0)),
    )
