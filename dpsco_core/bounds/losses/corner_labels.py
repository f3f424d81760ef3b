r"""Lower bounds for the hinge and the logistic loss on the simplex, at the rate of heavy tails.

With probability q a record has the features :math:`\xi q^{-1/p}(e_J-\mathbf1)` and the label
:math:`\xi`, and J is hidden. On a simplex of radius r every margin is
:math:`q^{-1/p}(w_J-r)\le0`, where the hinge loss is linear, and the excess loss of an answer grows
with its distance :math:`r-w_J` from the hidden corner. A private algorithm names that corner with
probability X at most: theory/bounds-everywhere.md, 6.3 and 6.4.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from dpsco_core.base.cards import OWN, BoundCard, Privacy
from dpsco_core.base.errors import require
from dpsco_core.base.loss_classes import CONVEX
from dpsco_core.bounds.base import Bound, Hypothesis, Letter, Terms
from dpsco_core.bounds.conditions import COORDINATE_MOMENT, moment_scale
from dpsco_core.bounds.euclidean.conditions import DIAMETER
from dpsco_core.bounds.euclidean.lower_spikes import binding_words
from dpsco_core.bounds.instances.binomial import Floats, expectation, maximise, search_range
from dpsco_core.bounds.instances.distance import chance
from dpsco_core.bounds.instances.groups import Falling, falling, group_delta, some_counts
from dpsco_core.bounds.instances.level import Level, level_at
from dpsco_core.bounds.instances.prior import APPROXIMATE_BUDGET
from dpsco_core.bounds.letters import BINOMIAL, SCALE
from dpsco_core.data.hidden.corner_labels import CornerLabels
from dpsco_core.geometry.simplex import Simplex
from dpsco_core.problems import Hinge, Logistic
from dpsco_core.problems.base import Setting
from dpsco_core.problems.linear_models import LinearModelProblem

# For the logistic loss these multiples of the hinge loss's best spike probability are tried.
_SHARES_TRIED = np.geomspace(0.3, 1.3, 10)


def missed(d: int, level: Level, count: Floats) -> Floats:
    r"""Return a lower bound on the chance that a private algorithm names a wrong one of d corners.

    At each number b = `count` of spikes it is :math:`1-X(\rho b^2,\frac1d)` under zCDP, with the X
    of `chance`, or :math:`1-\frac{A+(d-1)\delta_b}{A+d-1}` with :math:`A=e^{b\varepsilon}` under
    (epsilon, delta). It falls with b.
    """
    if isinstance(level, tuple):
        growth = np.exp(np.minimum(level[0] * count, 600.0))
        failure = np.minimum(group_delta(level[0], level[1], count), 1.0)
        return np.asarray(np.maximum(0.0, (d - 1) * (1 - failure) / (growth + d - 1)))
    words = math.log(d)
    hit = chance(level * np.square(count), np.array(-words), log_words=words)
    return np.asarray(np.where(count > 0, np.minimum(1 - hit, 1 - 1 / d), 1 - 1 / d))


@lru_cache(maxsize=256)
def tabulate_missed(d: int, level: Level) -> Falling:
    """Return `missed` as a table by the number of spikes, 0 where it would be negligible."""
    if isinstance(level, tuple):
        largest_count = min((math.log(d) + 30) / level[0] + 1, 1e15)
    else:
        largest_count = math.sqrt((1.5 * math.log(d) + 40) / level) + 1
    counts = some_counts(largest_count)
    return falling(counts, missed(d, level, counts))


def linear_excess(slopes: Floats) -> Floats:
    """Return the hinge loss at margins -a less that at 0, which is a."""
    return slopes


def logistic_excess(sizes: Floats) -> Floats:
    r"""Return the logistic loss at margins -a less that at 0, :math:`\ln\frac{1+e^a}2`."""
    return np.asarray(np.logaddexp(0.0, sizes) - math.log(2))


@dataclass(frozen=True, kw_only=True)
class CornerBounds:
    """The lower bounds on one loss's excess risk over a simplex, at every spike probability."""

    n: int  # the number of records
    d: int  # the dimension, at least 2
    moment_order: float  # the moment order p, at least 2
    level: Level  # the privacy level of the algorithms that are bound
    # This function returns the excess loss at margins -a for sizes a; it is convex and increasing.
    loss: Callable[[Floats], Floats]
    reach: float = 1.0  # the largest margin g r at q = 1: the moment scale times the radius
    largest: float = 1.0  # the largest spike probability q at which the law is in the class

    def __post_init__(self) -> None:
        """Refuse a dimension below 2, and a largest probability outside (0, 1]."""
        require(self.d >= 2, "d", "at least 2", self.d)
        require(0 < self.largest <= 1, "largest", "in (0, 1]", self.largest)

    def value_at(self, q: float) -> float:
        r"""Return the lower bound on the excess risk at a spike probability q.

        .. math:: q\,E\,f\big(gr\,q^{-1/p}\,(1-X_B)\big),\quad B\sim\mathrm{Bin}(n,q)

        It holds by Jensen's inequality, because f is convex and increasing.
        """
        size = self.reach * math.pow(q, -1 / self.moment_order)
        left = tabulate_missed(self.d, self.level)
        mean = expectation(
            lambda count: self.loss(size * left(count)),
            self.n,
            np.array([q]),
            largest=left.last_count,
            fine=True,
        )
        return q * float(mean[0])

    def best(self) -> float:
        """Return the spike probability with the largest bound, or nearly that.

        For the hinge loss it is found by a search, for another loss among multiples of that one's.
        """
        left, power = tabulate_missed(self.d, self.level), 1 - 1 / self.moment_order
        scale = max(1.0, 0.05 * left.last_count)

        def linear(q: Floats) -> Floats:
            """Return the hinge loss's bound at each spike probability, up to a constant factor."""
            mean = expectation(left, self.n, q, largest=left.last_count, scale=scale)
            return np.asarray(q**power * mean)

        low, high = search_range(max(1.0, 0.5 * left.last_count), self.n, self.largest)
        q = maximise(linear, low, high)
        if self.loss is linear_excess:
            return q
        tried = [min(float(share) * q, self.largest) for share in _SHARES_TRIED]
        return max(tried, key=self.value_at)


@lru_cache(maxsize=4096)
def hardest_corner(bounds: CornerBounds) -> float:
    """Return `CornerBounds.best`, the best spike probability, from a cache."""
    return bounds.best()


def _has_corners(setting: Setting) -> bool:
    """Return whether the set is a simplex of more than one point."""
    return isinstance(setting.constraint, Simplex) and setting.d > 1


def corners_at(
    setting: Setting, loss: Callable[[Floats], Floats], privacy: Privacy
) -> CornerBounds | None:
    """Return the bounds of a loss at a setting; None without a constant or a fitting budget."""
    scale, mean, level = moment_scale(setting), setting.constants.mean_gradient_bound, None
    if 0 < scale < math.inf and mean > 0 and _has_corners(setting):
        level = level_at(setting, privacy)
    if level is None:
        return None
    assert isinstance(setting.constraint, Simplex)
    ratio = mean / (scale * math.sqrt(setting.d - 1))
    power = 1 / (1 - 1 / setting.moment_order)
    return CornerBounds(
        n=setting.n,
        d=setting.d,
        moment_order=setting.moment_order,
        level=level,
        loss=loss,
        reach=scale * setting.constraint.radius,
        largest=math.pow(ratio, power) if ratio < 1 else 1.0,
    )


ON_SIMPLEX = Hypothesis(
    text="the constraint set is a simplex",
    check=lambda s: (
        ""
        if _has_corners(s)
        else "The bound needs margins of one sign, which only a simplex of two corners or more "
        "forces, and here the set "
        f"is {s.body.name if math.isfinite(s.constants.diameter) else 'the whole space'}."
    ),
    is_about_set=True,
)
_LEFT: dict[Privacy, str] = {
    "zcdp": r"X_b\text{ the largest chance to name one of }d\text{ words at }\kappa=\rho b^2",
    "approx": r"X_b=\frac{A+(d-1)\delta_b}{A+d-1},\ A=e^{b\varepsilon},\ "
    r"\delta_b=\delta\frac{A-1}{e^\varepsilon-1}",
}
LETTERS = (
    SCALE,
    Letter("r", "radius of the simplex", lambda s: s.constants.diameter / 2),
    Letter("B", "number of spiked records, at random"),
    Letter("X", "largest chance that a private corner is the hidden one"),
    Letter("A", ""),
    Letter("b", ""),
    Letter("f", ""),
    Letter("a", ""),
    Letter(r"\kappa", "what the output may tell"),
)


def _make_row(
    problem: type[LinearModelProblem],
    privacy: Privacy,
    loss: Callable[[Floats], Floats],
    name: str,
    latex: str,
    statement: str,
) -> Bound:
    """Return the catalogue's lower bound for one loss and one notion of privacy."""
    slug = problem.card.slug
    losses = f"{name} with any labels"
    card = BoundCard(
        slug=f"lower.sco.{slug}-corners-{'cdp' if privacy == 'zcdp' else 'approx'}",
        name=f"{problem.card.name}, hidden corner, "
        f"{'zCDP' if privacy == 'zcdp' else 'every (ε, δ)'}",
        paper=OWN,
        statement=statement,
        summary="On a simplex all margins have one sign, so that the loss is as large as heavy "
        "tails make it, and privacy hides the corner where it is least. A worst case over "
        f"{losses}: features of mean 0 and gradients with bounded p-th moments and a mean within "
        f"R. {binding_words(privacy)}",
        kind="lower",
        quantity="excess risk",
        constant="explicit",
        latex=latex + r",\ " + BINOMIAL + r",\ " + _LEFT[privacy],
        privacy=privacy,
        instance=CornerLabels.card.slug,
        proof="hidden corner",
        instance_problem=slug,
        loss_class=CONVEX,
        instance_class=CONVEX,
        losses=losses,
        problems=(slug,),
    )

    def evaluate(setting: Setting) -> Terms:
        """Return the private term of the bound at a setting."""
        bounds, q = corners_at(setting, loss, privacy), setting.spike_probability
        if bounds is None:
            return {"privacy": 0.0}
        return {"privacy": bounds.value_at(hardest_corner(bounds) if q is None else q)}

    budget = (APPROXIMATE_BUDGET,) if privacy == "approx" else ()
    conditions = (COORDINATE_MOMENT, DIAMETER, ON_SIMPLEX, *budget)
    return Bound(card=card, evaluate=evaluate, hypotheses=conditions, letters=LETTERS)


CORNER_RISKS: tuple[Bound, ...] = tuple(
    _make_row(problem, privacy, loss, name, latex, statement)
    for problem, loss, name, latex, statement in (
        (
            Hinge,
            linear_excess,
            "the hinge loss",
            r"gr\max_qq^{1-1/p}E[1-X_B]",
            "docs/theory/bounds-everywhere.md, 6.3",
        ),
        (
            Logistic,
            logistic_excess,
            "the logistic loss",
            r"\max_qq\,E\,f\big(grq^{-1/p}(1-X_B)\big),\ f(a)=\ln\tfrac{1+e^a}2",
            "docs/theory/bounds-everywhere.md, 6.4",
        ),
    )
    for privacy in ("zcdp", "approx")
)
