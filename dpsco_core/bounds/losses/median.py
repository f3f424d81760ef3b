r"""Lower bounds for the geometric median, proven with points so far away that distances are linear.

A point :math:`K\nu_je_j` has probability s/d for every coordinate j; all others are :math:`\pm Ku`
with a fair sign. On a set within the ball of radius r, for unit vectors v,
:math:`0\le\|w-Kv\|-K+\langle w,v\rangle\le\frac{r^2}{2(K-r)}`, so that for large K the excess risk
is that of a linear loss, given by the mean of v: see theory/bounds-everywhere.md, 6.5. The
gradients are unit vectors, and no moment of the points is bounded. The set has to touch the ball in
the direction of every sign vector, as the cube does; for other sets see `median_words`.
"""

import math
from functools import lru_cache

import numpy as np

from dpsco_core.base.cards import OWN, BoundCard, Privacy
from dpsco_core.base.errors import require
from dpsco_core.base.loss_classes import LIPSCHITZ, SMOOTH_LIPSCHITZ
from dpsco_core.bounds.base import Bound, Letter, Terms
from dpsco_core.bounds.euclidean.conditions import DIAMETER
from dpsco_core.bounds.euclidean.conditions import LIPSCHITZ as BOUNDED_GRADIENTS
from dpsco_core.bounds.euclidean.lower_spikes import binding_words
from dpsco_core.bounds.instances.binomial import Floats
from dpsco_core.bounds.instances.level import Level, level_at
from dpsco_core.bounds.instances.prior import APPROXIMATE_BUDGET
from dpsco_core.bounds.losses.signs import best_chance, mean_share_left, unlearnt_square_share
from dpsco_core.bounds.lq.conditions import TOUCHED
from dpsco_core.data.hidden.far_points import FAR_DISTANCE, FarPoints
from dpsco_core.problems import GeometricMedian
from dpsco_core.problems.base import Setting


def median_values(s: Floats, n: int, d: int, level: Level, *, fine: bool = False) -> Floats:
    r"""Return the bound on the unit ball at each share s of points on the axes, for infinite K.

    .. math:: \frac s{\sqrt d}\big[1-(Em^2)^{1/2}\big],\quad B\sim\mathrm{Bin}(n,\tfrac sd)

    Here m is the posterior mean of a sign, and B the number of points on its axis. The root is
    taken of the mean over B, since an answer may rely on the coordinates with many points.
    """
    left = mean_share_left(unlearnt_square_share(level), n, s / d, level, fine=fine)
    return np.asarray(s / math.sqrt(d) * left / (1 + np.sqrt(np.maximum(0.0, 1 - left))))


def median_bound(s: float, n: int, d: int, level: Level, *, distance: float = math.inf) -> float:
    """Return a lower bound on the median's excess risk on the unit ball, at a share s of points.

    They lie on the axes, `distance` radii away, and privacy is that of `level`.

    Examples
    --------
    >>> round(median_bound(0.0102, 10_000, 20, 0.0280145), 6)
    0.000955
    """
    require(0 <= s <= 1, "s", "between 0 and 1", s)
    require(distance > 1, "far", "above 1", distance)
    value = float(median_values(np.array([s]), n, d, level, fine=True)[0])
    return max(0.0, value - 1 / (2 * (distance - 1)))


@lru_cache(maxsize=4096)
def hardest(n: int, d: int, level: Level, largest: float = 1.0) -> float:
    """Return the share s of points on the axes, in (0, largest], with the largest bound."""
    chance = best_chance(lambda x: median_values(x * d, n, d, level), n, level, largest / d)
    return min(largest, chance * d)


_LEFT: dict[Privacy, str] = {
    "zcdp": r"\big[1-\sqrt{E\,T(\rho B^2)^2}\big],\ "
    r"2T\,\mathrm{artanh}\,T=\kappa\text{ at }T(\kappa)",
    "approx": r"\big[1-\sqrt{E[1-\tau_B]}\big],\ \tau_b=\sum_i\frac{2p_iq_i}{p_i+q_i}"
    r"\text{ over the pieces of }G^{\circ b},\ "
    r"G(x)=\min\big(1,\,e^\varepsilon x+\delta,\,1-e^{-\varepsilon}(1-\delta-x)\big)",
}
LETTERS = (
    Letter("s", "probability of a point on an axis, the best one"),
    Letter("B", "number of points on an axis, at random"),
    Letter("T", "largest root mean square of the posterior mean of a sign"),
    Letter(r"\tau", "share of the squared error of a sign that b points leave"),
    Letter("G", "largest power against one changed record of a test with false alarm x"),
    Letter("x", ""),
    Letter("q", ""),
    Letter("p", ""),
    Letter(r"\kappa", "what the output may tell"),
)


def _make_row(privacy: Privacy) -> Bound:
    """Return the catalogue's lower bound for the geometric median and one notion of privacy."""
    slug = GeometricMedian.card.slug
    losses = "the distance loss with any points"
    card = BoundCard(
        slug=f"lower.sco.{slug}-{'cdp' if privacy == 'zcdp' else 'approx'}",
        name=f"{GeometricMedian.card.name}, far points, "
        f"{'zCDP' if privacy == 'zcdp' else 'every (ε, δ)'}",
        paper=OWN,
        statement="docs/theory/bounds-everywhere.md, 6.5",
        summary="A few points far out along axes pull the median, and privacy hides in which "
        f"directions. A worst case over {losses}: gradients are unit vectors with a mean within R, "
        f"and it does not hold for points of bounded moments. {binding_words(privacy)}",
        kind="lower",
        quantity="excess risk",
        constant="explicit",
        latex=r"\frac M2\max_s\frac s{\sqrt d}"
        + _LEFT[privacy]
        + r",\ B\sim\mathrm{Bin}(n,\tfrac sd)",
        privacy=privacy,
        instance=FarPoints.card.slug,
        proof="hidden signs",
        instance_problem=slug,
        loss_class=LIPSCHITZ,
        # The losses of the instance become arbitrarily smooth as the distance grows.
        instance_class=SMOOTH_LIPSCHITZ,
        losses=losses,
        problems=(slug,),
    )

    def evaluate(setting: Setting) -> Terms:
        """Return the private term of the bound at a setting."""
        level, radius = level_at(setting, privacy), setting.constants.diameter / 2
        s, n, d = setting.spike_probability, setting.n, setting.d
        mean = setting.constants.mean_gradient_bound
        exists = math.isfinite(radius) and mean > 0 and setting.constants.lipschitz >= 1
        if level is None or not exists:
            return {"privacy": 0.0}
        if s is None:
            # A larger share of points on the axes would make the mean gradient longer than R.
            s = hardest(n, d, level, min(1.0, mean * math.sqrt(d)))
            return {"privacy": radius * median_bound(s, n, d, level)}
        return {"privacy": radius * median_bound(s, n, d, level, distance=FAR_DISTANCE)}

    budget = (APPROXIMATE_BUDGET,) if privacy == "approx" else ()
    conditions = (BOUNDED_GRADIENTS, DIAMETER, TOUCHED, *budget)
    return Bound(card=card, evaluate=evaluate, hypotheses=conditions, letters=LETTERS)


MEDIAN_RISKS: tuple[Bound, ...] = (_make_row("zcdp"), _make_row("approx"))
"""The bounds of the geometric median."""
