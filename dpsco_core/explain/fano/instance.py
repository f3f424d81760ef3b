r"""The private lower bounds on one mean problem: over the spike probability, and compared.

The class is that of the front page: coordinates with central p-th moment at most 1 and means of
norm at most R. Every value comes from `dpsco_core.bounds` or from a row of the catalogue.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from dpsco_core.base.cards import Privacy
from dpsco_core.base.errors import require
from dpsco_core.base.parsing import one_of
from dpsco_core.bounds import LOWER_MEAN_BOUNDS
from dpsco_core.bounds.instances import (
    distance,
    hypercube,
    leakage,
    packing,
    spikes,
    tracing,
    two_sided,
)
from dpsco_core.bounds.instances import rate_distortion as distortion
from dpsco_core.bounds.instances.hardest import largest_spike_probability
from dpsco_core.bounds.instances.prior import approximate_level
from dpsco_core.catalogue import bound
from dpsco_core.explain.fano.builder import (
    DistanceProof,
    ExpectileProof,
    PackingProof,
    SignProof,
)
from dpsco_core.privacy.budget import PureDP
from dpsco_core.problems import Setting
from dpsco_core.scenario import Scenario

Hard = Literal["hypercube", "spike"]  # the hard families of Fano's proofs
Proof = Literal["hypercube", "spike", "tracing"]
Class = Literal["zcdp", "pure", "approx"]
HARDS: tuple[Hard, ...] = ("hypercube", "spike")
PROOFS = (*HARDS, "tracing")
CURVE_POINTS = 65
# The curve extends from this multiple of the smallest best probability to this multiple of the
# largest.
CURVE_SPAN = (1 / 30, 30.0)

Level = tuple[float, float]  # the epsilon and the delta of a budget


@dataclass(frozen=True, kw_only=True)
class MeanInstance:
    """The mean problem on which bounds are built."""

    scenario: Scenario  # a scenario at a single point, of mean estimation on a hard instance

    def __post_init__(self) -> None:
        """Refuse a scenario without a proof: another problem, another law, or one with an axis."""
        chosen = self.scenario
        require(chosen.problem == "mean", "problem", "mean", chosen.problem)
        one_of("distribution", chosen.distribution, PROOFS)
        traced = chosen.distribution == "tracing"
        require(not traced or chosen.d >= 2, "d", "at least 2", chosen.d)
        require(chosen.axis is None, "axis", "left out", chosen.axis)

    @property
    def setting(self) -> Setting:
        """The setting of the point, at which the bounds are evaluated."""
        return self.scenario.setting

    @property
    def rho(self) -> float:
        """The rho at which bounds on zCDP algorithms are evaluated."""
        return self.setting.rho

    @property
    def epsilon(self) -> float:
        """The epsilon at which bounds on pure algorithms are evaluated."""
        return self.setting.pure_epsilon

    @property
    def mean_bound(self) -> float:
        """The bound R on the norm of the mean."""
        return self.setting.constants.mean_gradient_bound

    def level(self, binds: Class, hard: Proof) -> leakage.Leakage | Level | float | None:
        """Return the privacy parameters of bounds on a class of algorithms, `binds`.

        They are rho, epsilon, (epsilon, delta) or, for tracing, the leakage that these allow. None
        if the budget says nothing of (epsilon, delta).
        """
        if binds == "approx":
            approximate = approximate_level(self.setting)
            if approximate is None or hard == "hypercube":
                return approximate
            return leakage.approximate_leakage(*approximate, self.scenario.d)
        if hard == "tracing":
            return leakage.concentrated_leakage(self.rho)
        return self.rho if binds == "zcdp" else self.epsilon

    def largest(self, hard: Proof, binds: Class = "zcdp") -> float:
        """Return the largest spike probability that keeps the means within R."""
        d, order = self.scenario.d, self.scenario.p
        if hard == "tracing":
            spread = leakage.FULL if binds == "approx" else leakage.CONCENTRATED
            return tracing.largest_tracing_probability(d, order, self.mean_bound, spread)
        return largest_spike_probability(hard, d, order, self.mean_bound)

    @property
    def own_probability(self) -> float:
        """The spike probability at which the instance is drawn."""
        probability = self.setting.spike_probability
        assert probability is not None
        return probability

    def proof(self, q: float) -> PackingProof | SignProof:
        """Return the numbers of Fano's proof at spike probability q on the point's instance."""
        s = self.scenario
        proof = PackingProof if s.distribution == "spike" else SignProof
        return proof(n=s.n, d=s.d, order=s.p, q=q, rho=self.rho, epsilon=self.epsilon)

    def by_distance(self, q: float) -> DistanceProof:
        """Return the numbers of Fano's proof by distance at q."""
        s = self.scenario
        return DistanceProof(n=s.n, d=s.d, order=s.p, q=q, rho=self.rho, epsilon=self.epsilon)

    def expectiles(self, q: float) -> ExpectileProof | None:
        """Return the numbers of the proof by expectiles at q; None under a zCDP budget."""
        level = approximate_level(self.setting)
        if level is None:
            return None
        s, (epsilon, delta) = self.scenario, level
        return ExpectileProof(
            n=s.n, d=s.d, order=s.p, q=q, rho=self.rho, epsilon=epsilon, delta=delta
        )


def mean_instance(
    *,
    hard: str = "hypercube",
    n: int = 10_000,
    d: int = 200,
    p: float = 4.0,
    epsilon: float | None = None,
    delta: float | None = None,
    rho: float | None = 0.01,
    mean_bound: float = 2.0,
    methods: Sequence[str] = (),
    trials: int = 20,
    seed: int = 0,
) -> MeanInstance:
    """Return the hard mean problem at a point; arguments as those of `Scenario`.

    Raises `InvalidInput` for a value outside its range.
    """
    return MeanInstance(
        scenario=Scenario(
            problem="mean",
            distribution=hard,
            methods=tuple(methods),
            n=n,
            d=d,
            p=p,
            epsilon=epsilon,
            delta=delta,
            rho=rho,
            diameter=2 * mean_bound,
            offset=min(1.0, mean_bound),  # The means of hard instances do not depend on the offset.
            trials=trials,
            seed=seed,
        ).validate(sampling=False)
    )


@dataclass(frozen=True, eq=False, kw_only=True)
class FanoCurve:
    """A bound as a function of the spike probability."""

    slug: str  # the slug of the bound in the catalogue
    binds: Class
    hard: Proof
    # increasing spike probabilities, shape (k,), and the bound at each
    q: NDArray[np.float64]
    values: NDArray[np.float64]
    # the probability with the largest bound, among those whose means are within R, and that bound
    best_q: float
    best: float

    @property
    def name(self) -> str:
        """The name of the bound's row in the catalogue."""
        return bound(f"lower.mean.{self.slug}").card.name


def packing_at(q: float, n: int, d: int, order: float, level: Level) -> float:
    """Return the packing bound on the l2 error at spike probability q, tail index `order`."""
    return packing.packing("l2", q, n, d, order, *level)


def best_packing(n: int, d: int, order: float, level: Level, largest: float) -> float:
    """Return the spike probability at which the packing bound is largest."""
    return packing.best("l2", n, d, order, *level, largest)


_FORMS: tuple[tuple[str, Class, Proof, Callable[..., float], Callable[..., float]], ...] = (
    ("two-sided-cdp", "zcdp", "hypercube", two_sided.two_sided, two_sided.best),
    ("fano-distance-cdp", "zcdp", "hypercube", distance.fano_distance, distance.best),
    ("hypercube-cdp", "zcdp", "hypercube", hypercube.hypercube_cdp, hypercube.best_cdp),
    ("rate-distortion-cdp", "zcdp", "hypercube", distortion.distortion, distortion.best),
    ("tracing-cdp", "zcdp", "tracing", tracing.tracing_l2, tracing.best_tracing),
    ("fano-cdp-gilbert", "zcdp", "spike", spikes.spike_fano_cdp_gilbert, spikes.best_cdp_gilbert),
    ("fano-cdp", "zcdp", "spike", spikes.spike_fano_cdp, spikes.best_cdp),
    ("hypercube-pure", "pure", "hypercube", hypercube.hypercube_pure, hypercube.best_pure),
    ("fano-pure", "pure", "spike", spikes.spike_pure, spikes.best_pure),
    ("approx-tracing", "approx", "tracing", tracing.tracing_l2, tracing.best_tracing),
    ("approx-packing", "approx", "hypercube", packing_at, best_packing),
)


def curves(instance: MeanInstance) -> tuple[FanoCurve, ...]:
    """Return each lower bound as a curve over the spike probability, with its largest value.

    Bounds on every (epsilon, delta) algorithm are included if the budget has an epsilon; at delta =
    0 they are bounds on pure algorithms.
    """
    s = instance.scenario
    n, d, order = s.n, s.d, s.p
    forms = []
    for slug, binds, hard, form, best in _FORMS:
        level = instance.level(binds, hard)
        if level is not None:
            largest = instance.largest(hard, binds)
            q = best(n, d, order, level, largest)
            pure = binds == "approx" and s.delta == 0
            forms.append((slug, "pure" if pure else binds, hard, level, largest, q, form))
    peaks = [(q, form(q, n, d, order, level)) for _, _, _, level, _, q, form in forms]
    likely = [q for q, value in peaks if value > 0]
    low = max(1e-12, CURVE_SPAN[0] * min(likely, default=1 / n))
    high = min(1.0, CURVE_SPAN[1] * max(likely, default=1 / n))
    grid = np.geomspace(low, high, CURVE_POINTS)
    grid[-1] = high
    out = []
    for (slug, binds, hard, level, largest, q, form), (_, top) in zip(forms, peaks, strict=True):
        grid_part = grid[grid <= largest * (1 + 1e-12)]
        values = np.array([form(float(x), n, d, order, level) for x in grid_part])
        out.append(
            FanoCurve(
                slug=slug, binds=binds, hard=hard, q=grid_part, values=values, best_q=q, best=top
            )
        )
    return tuple(out)


def largest(curves: Sequence[FanoCurve], notion: Class) -> dict[Class, FanoCurve]:
    """Return the largest bound on each class that a budget is about; `notion` is its weakest.

    A pure budget binds the concentrated algorithms too: ε-DP ones are ε·tanh(ε/2)-zCDP.
    """
    classes: tuple[Class, ...] = ("approx", "zcdp") if notion == "approx" else (notion,)
    implied = {"pure": ("pure", "zcdp")}
    return {
        kind: sorted(
            (c for c in curves if c.binds in implied.get(kind, (kind,))), key=lambda c: -c.best
        )[0]
        for kind in classes
    }


@dataclass(frozen=True, kw_only=True)
class Floors:
    """The floors of one problem."""

    # The lower bound for n records without any privacy, from sign patterns: bound N2 of
    # theory/kamath-liu-zhang.md, 4.6, or (S) of theory/approx-lower-bounds.md, 6, within R.
    sampling: float
    # The lower bound N1 of theory/kamath-liu-zhang.md, 4.6, for normal data with an unrestricted
    # mean, without privacy.
    gaussian: float
    # The largest bounds for rho-zCDP and for epsilon-DP algorithms; an epsilon-DP algorithm is also
    # epsilon*tanh(epsilon/2)-zCDP.
    concentrated: float
    pure: float


def floors(instance: MeanInstance) -> Floors:
    """Return the floors, from the catalogue's rows at their own best spike probabilities."""
    free = replace(instance.setting, spike_probability=None)
    implied = replace(free, budget=PureDP(epsilon=instance.epsilon))
    return Floors(
        sampling=max(bound(f"lower.mean.{x}-signs").value(free) for x in ("bounded", "biased")),
        gaussian=bound("lower.mean.gaussian").value(free),
        concentrated=largest_floor(free, ("zcdp",)),
        pure=largest_floor(implied, ("pure", "zcdp", "approx")),
    )


def largest_floor(setting: Setting, binds: Sequence[Privacy]) -> float:
    """Return the largest explicit bound on classes of algorithms on an instance; 0 without any."""
    return max(
        (
            b.value(setting)
            for b in LOWER_MEAN_BOUNDS
            if b.card.constant == "explicit"
            and b.card.quantity == "l2 error"
            and b.card.privacy in binds
            and b.card.instance
        ),
        default=0.0,
    )
