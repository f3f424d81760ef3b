"""Coordinate-wise clipped median of means: Kamath et al. (2022), Algorithm 3, both privacies."""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, Literal

import numpy as np

from dpsco_core.base.arrays import Vector
from dpsco_core.base.cards import KAMATH_2022, MethodCard
from dpsco_core.base.errors import require
from dpsco_core.base.search import smallest_between
from dpsco_core.data.rows import Rows
from dpsco_core.methods.base import MethodCost, Plan, PrivateMethod, Release
from dpsco_core.methods.departure import ONE_BLOCK
from dpsco_core.methods.mean.base import (
    FAILURE_PROBABILITY,
    check_count,
    check_level,
    check_parts,
    check_rows,
    clipped_block_means,
    gaussian_share,
    hinge_bias,
    into_ball,
    projection_radius,
    scaled_bound,
)
from dpsco_core.methods.mean.below_two import best_level, coordinate_costs
from dpsco_core.methods.mean.sentences import EXAMPLE, KNOWN_SET, OVER_N
from dpsco_core.methods.stage import SmallRun, Split, Stage
from dpsco_core.methods.story import Proof, Story
from dpsco_core.privacy.ledger import Ledger
from dpsco_core.privacy.mechanisms import (
    GaussianNoise,
    LaplaceNoise,
    gaussian_noise_std,
    laplace_noise_scale,
)
from dpsco_core.problems.base import Setting

Noise = Literal["gaussian", "laplace"]
CLIPPED_ENTRIES = (
    "Clipped entries have a variance, and the threshold is the one at which a bound that is proven "
    "for p < 2 is least."
)
SMALLEST_THRESHOLD = 10.0  # Theorem 4.1 assumes tau >= 10.


@dataclass(frozen=True, kw_only=True)
class CoordinatewisePlan(Plan):
    threshold: float  # tau; entries are clipped to [-3 tau, 3 tau]
    blocks: int  # m consecutive ones of b records; the remainder is dropped
    block_size: int
    coordinate_sensitivity: float  # largest change of one coordinate of the median
    share: float  # rho (Gaussian) or epsilon (Laplace)
    noise: float  # standard deviation (Gaussian) or scale (Laplace) per coordinate
    answer_radius: float = math.inf  # the answer is projected on the ball of this

    @property
    def diagnostics(self) -> dict[str, float]:
        return {"clip_limit": 3 * self.threshold, "blocks": self.blocks, "noise": self.noise}


def median_sensitivity(threshold: float, blocks: int, block_size: int) -> float:
    r"""Largest change of a coordinate of Algorithm 3 when one record is replaced.

    :math:`6\tau/b` for an odd number of blocks and :math:`3\tau/b` for an even one, where the
    median is the midpoint of two block means of which one can move. Both are attained.

    Examples
    --------
    >>> median_sensitivity(10.0, 8, 100), median_sensitivity(10.0, 7, 100)
    (0.3, 0.6)
    """
    require(blocks >= 1, "blocks", "a positive integer", blocks)
    return (3 if blocks % 2 == 0 else 6) * threshold / block_size


def printed_sensitivity(threshold: float, blocks: int, n: int) -> float:
    r"""Return the paper's :math:`12\tau m/n` (Appendix B.3): valid, and 2 or 4 times too large."""
    return 12 * threshold * blocks / n


@dataclass(frozen=True, kw_only=True)
class _Coordinatewise(PrivateMethod):
    """What the two versions share: all but the noise."""

    threshold: float | None = None
    blocks: int | None = None

    noise: ClassVar[Noise]
    reads = "summed"
    cost = MethodCost(fixed=6.7e4, per_row=0.2, per_element=0.62)
    stage = Stage(
        at_once=True,
        clip=("threshold", "threshold"),
        splits=(Split(function="dpsco_core.methods.mean.base.clipped_block_means", told="blocks"),),
        small=SmallRun(fields={"blocks": 2}),
    )

    def __post_init__(self) -> None:
        check_count("blocks", self.blocks)

    def plan(self, setting: Setting) -> CoordinatewisePlan:
        n, d, gaussian = setting.n, setting.d, self.noise == "gaussian"
        share = gaussian_share(setting, self.calibration) if gaussian else setting.laplace_epsilon
        blocks = self.blocks
        is_printed = self.tuning == "theory" and setting.moment_order >= 2
        if blocks is None:
            blocks = theory_blocks(d) if is_printed else 1
            blocks += blocks % 2 if is_printed and self.calibration == "tight" else 0
        check_parts("blocks", blocks, n)

        def sensitivity(threshold: float) -> float:
            if self.calibration == "paper":
                return printed_sensitivity(threshold, blocks, n)
            return median_sensitivity(threshold, blocks, n // blocks)

        threshold = self.threshold
        if threshold is None and is_printed:
            threshold = theory_threshold(setting, share, self.noise)
        elif threshold is None:
            threshold = practical_threshold(setting, share, self.noise, sensitivity(1.0))
        check_level("threshold", threshold)
        change = sensitivity(threshold)
        if gaussian:
            noise = gaussian_noise_std(math.sqrt(d) * change, share)
        else:
            noise = laplace_noise_scale(d * change, share)
        return CoordinatewisePlan(
            setting=setting,
            threshold=threshold,
            blocks=blocks,
            block_size=n // blocks,
            coordinate_sensitivity=change,
            share=share,
            noise=noise,
            answer_radius=projection_radius(setting, self.tuning, self.threshold),
        )


@dataclass(frozen=True, kw_only=True)
class CoordinatewiseCDP(_Coordinatewise):
    """CDPCWME: clip, average in blocks, take medians, add Gaussian noise.

    Parameters
    ----------
    threshold : float, optional
        tau, in [1e-150, 1e150]. If None it is chosen from the setting.
    blocks : int, optional
        m >= 1. If None it is chosen from the setting.
    calibration : {"tight", "paper"}
        ``"paper"``: the printed sensitivity 12 tau m/n, and Bun and Steinke's conversion.
    tuning : {"practical", "theory"}
        ``"theory"``: m = 4 ln(2d/beta) rounded up (to an even number if tight) and
        tau = max(10, (sqrt(rho) n/sqrt(d))^(1/p)) (Corollary 4.2). ``"practical"``: the m and the
        tau that minimise the explicit bound on the mean squared error; that m is 1, the mean of
        the clipped entries (the median buys only high probability). For p < 2, where the corollary
        does not hold, both take those.
    """

    noise = "gaussian"
    departs = (ONE_BLOCK,)
    card = MethodCard(
        slug="mean.cwme-cdp",
        name="Coordinate-wise, Gaussian",
        paper=KAMATH_2022,
        statement="Algorithm 3 (CDPCWME), Theorem 4.1, Corollary 4.2",
        summary="Clips every coordinate, averages in blocks, takes the median of the block "
        "averages, and adds Gaussian noise.",
        privacy="zcdp",
        rate="upper.mean.cwme-cdp",
        infinite_variance=CLIPPED_ENTRIES,
    )
    story = Story(
        what="Clips every coordinate by itself, averages in blocks, and takes the median of the "
        "block averages in each coordinate. One record can move each coordinate of that median a "
        "little, and Gaussian noise hides all d coordinates at once. With one block, the practical "
        "choice, it is the mean of clipped coordinates.",
        steps=(
            r"Choose the threshold $\tau$ and the number of blocks m from the setting.",
            r"Clip every entry to $[-3\tau,3\tau]$; a NaN counts as 0.",
            r"Average m consecutive blocks of $b=\lfloor n/m\rfloor$ records.",
            "Take the median of the block averages, coordinate by coordinate.",
            r"Add $N(0,\sigma^2I_d)$ with $\sigma=\frac{\sqrt d\,\Delta_\infty}{\sqrt{2\rho}}$.",
        ),
        assumptions=(
            "A bounded p-th central moment of every coordinate: weaker than in all directions.",
            KNOWN_SET,
            r"The theorem's tuning: $m=\lceil4\ln(2d/\beta)\rceil$ and $\tau\ge10$.",
        ),
        privacy=Proof(
            sensitivity=r"A record changes one block average, each coordinate by at most "
            r"$6\tau/b$. The median of an odd number of blocks moves by at most that; of an even "
            r"number, where it is a midpoint, by at most half: $\Delta_\infty=6\tau/b$ or "
            r"$3\tau/b$. Over d coordinates $\Delta_2=\sqrt d\,\Delta_\infty$.",
            mechanism=r"Gaussian noise of standard deviation $\Delta_2/\sqrt{2\rho}$ per "
            r"coordinate is $\rho$-zCDP.",
            composition=r"One release has the whole budget; under $(\varepsilon,\delta)$ the "
            r"$\rho$ of the exact Gaussian curve.",
        ),
        smooth="no loss",
        order=r"O(nd)",
        cost="One pass over the records.",
        when="When only moments of single coordinates are known, or a guarantee with high "
        "probability is wanted (theory tuning).",
        pitfalls=(
            "Clipping coordinates lets a record be long: at large d its noise exceeds that of "
            "clipping whole records.",
            "The median of the theory tuning pays with a sensitivity that is about m/2 times as "
            "large.",
        ),
        errata=(
            r"The printed sensitivity $12\tau m/n$ is valid and two (odd m) or four (even m) times "
            "too large; the calibration `paper` keeps it.",
            r"Lemma B.1 is false as stated (its hypothesis is one-sided), and Theorem 4.1's "
            r"constant 14 makes its bound empty for $\tau\le14$. The library's explicit rows use "
            "the sharp clipping bias.",
        ),
        example=EXAMPLE,
    )
    colour = "teal"
    symbol = "diamond"

    def release(
        self, rows: Rows, plan: CoordinatewisePlan, ledger: Ledger, rng: np.random.Generator
    ) -> Release:
        value = ledger.release(
            GaussianNoise(
                l2_sensitivity=math.sqrt(plan.setting.d) * plan.coordinate_sensitivity,
                rho=plan.share,
            ),
            median_of_clipped(rows, plan),
            rng,
            label="median of clipped block means",
        )
        value = into_ball(value, plan.answer_radius)
        return Release(value=value, ledger=ledger, diagnostics=plan.diagnostics)


@dataclass(frozen=True, kw_only=True)
class CoordinatewisePure(_Coordinatewise):
    r"""DPCWME: as `CoordinatewiseCDP`, with Laplace noise.

    It also serves the other budgets: epsilon of an (epsilon, delta) budget, and of a zCDP one the
    epsilon at which Laplace noise has its rho.

    Parameters
    ----------
    threshold, blocks, calibration, tuning
        As in `CoordinatewiseCDP`; theory: tau = max(10, (epsilon n/d)^(1/p)).
    """

    noise = "laplace"
    departs = (ONE_BLOCK,)
    card = MethodCard(
        slug="mean.cwme-pure",
        name="Coordinate-wise, Laplace",
        paper=KAMATH_2022,
        statement="Algorithm 3 (DPCWME), Theorem 4.1, Corollary 4.2",
        summary="Clips every coordinate, averages in blocks, takes the median of the block "
        "averages, and adds Laplace noise: pure privacy, with no delta.",
        privacy="pure",
        rate="upper.mean.cwme-pure",
        infinite_variance=CLIPPED_ENTRIES,
    )
    story = Story(
        what="The same clipped median of block averages with Laplace noise in place of Gaussian. "
        "That is pure ε-differential privacy, with no δ. The price is a dimension: the noise grows "
        "like d where the Gaussian's grows like its square root.",
        steps=(
            r"Choose $\tau$ and m from the setting, for Laplace noise.",
            r"Clip every entry to $[-3\tau,3\tau]$, average m blocks, take the medians.",
            r"Add independent Laplace noise of scale $\frac{d\,\Delta_\infty}\varepsilon$ to every "
            "coordinate.",
        ),
        assumptions=("A bounded p-th central moment of every coordinate.", KNOWN_SET),
        privacy=Proof(
            sensitivity=r"As for the Gaussian version each coordinate moves by at most "
            r"$\Delta_\infty=6\tau/b$ (odd m) or $3\tau/b$ (even m), so that "
            r"$\Delta_1=d\,\Delta_\infty$.",
            mechanism=r"Laplace noise of scale $\Delta_1/\varepsilon$ per coordinate is "
            r"$\varepsilon$-DP: the density changes by a factor of at most "
            r"$e^{\varepsilon\|v-v'\|_1/\Delta_1}$.",
            composition=r"One release has the whole budget. Under a zCDP budget it may spend the "
            r"$\varepsilon$ with $\varepsilon+e^{-\varepsilon}-1=\rho$; under "
            r"$(\varepsilon,\delta)$ it uses $\varepsilon$ and leaves $\delta$ unspent.",
        ),
        smooth="no loss",
        order=r"O(nd)",
        cost="One pass over the records.",
        when="Under a pure budget, which Gaussian noise cannot meet. Up to about d = 20 it is "
        "level with the Gaussian version.",
        pitfalls=("The error grows with one more root of d than under concentrated privacy.",),
        errata=(
            r"The same loose printed sensitivity $12\tau m/n$ as in the Gaussian version.",
            "The lower bounds that the paper sets beside it use instances outside its own "
            "assumptions (their mean is not bounded); the library caps the spike probability.",
        ),
        example=OVER_N | {"methods": ("mean.sample", "mean.cwme-pure"), "delta": 0.0},
    )
    colour = "teal"
    symbol = "diamond-open"
    dashed = True

    def release(
        self, rows: Rows, plan: CoordinatewisePlan, ledger: Ledger, rng: np.random.Generator
    ) -> Release:
        value = ledger.release(
            LaplaceNoise(
                l1_sensitivity=plan.setting.d * plan.coordinate_sensitivity, epsilon=plan.share
            ),
            median_of_clipped(rows, plan),
            rng,
            label="median of clipped block means",
        )
        value = into_ball(value, plan.answer_radius)
        return Release(value=value, ledger=ledger, diagnostics=plan.diagnostics)


def median_of_clipped(rows: Rows, plan: CoordinatewisePlan) -> Vector:
    check_rows(rows, plan.setting)
    means = clipped_block_means(rows, 3 * plan.threshold, plan.blocks)  # steps 2.1, 2.2
    return np.asarray(np.median(means, axis=0))  # step 2.3, midpoint for even m


def theory_blocks(d: int) -> int:
    r"""Return :math:`m = \lceil 4\ln(2d/\beta)\rceil` at beta = 0.05 (Algorithm 3, step 1)."""
    return math.ceil(4 * math.log(2 * d / FAILURE_PROBABILITY))


def theory_threshold(setting: Setting, share: float, noise: Noise) -> float:
    r"""Return tau of Corollary 4.2, at least 10 and at least (R+1)/3, in units of the moment.

    :math:`(\sqrt\rho n/\sqrt d)^{1/p}` (Gaussian) or :math:`(\varepsilon n/d)^{1/p}` (Laplace).
    """
    n, d = setting.n, setting.d
    scale, bound = scaled_bound(setting)
    signal = math.sqrt(share / d) * n if noise == "gaussian" else share * n / d
    rate = math.pow(signal, 1 / setting.moment_order)
    return scale * max(rate, SMALLEST_THRESHOLD, (bound + 1) / 3)


@lru_cache(maxsize=4096)
def practical_threshold(
    setting: Setting, share: float, noise: Noise, sensitivity_per_unit: float
) -> float:
    """Return the tau that minimises squared bias plus noise energy.

    Bias: the sharp form of Lemma B.1 in every coordinate, for the worse of a mean of norm R that
    is spread over all coordinates and one that lies on a single axis; between them it can be a few
    per cent more, which concerns accuracy only. Noise energy: d times the variance of a coordinate
    at the sensitivity ``tau * sensitivity_per_unit``.

    For p < 2 the tau at which the proven mean square is least: theory/infinite-variance.md, 2.1.
    """
    d, order = setting.d, setting.moment_order
    scale, bound = scaled_bound(setting)
    unit = d * sensitivity_per_unit
    energy = unit**2 / (2 * share) if noise == "gaussian" else 2 * d * (unit / share) ** 2
    if order < 2:
        return best_level(setting, coordinate_costs, energy / 9) / 3

    def squared_error(log_t: float) -> float:
        limit = bound + math.exp(log_t)
        spread = d * hinge_bias(limit - bound / math.sqrt(d), order) ** 2
        axis = hinge_bias(limit - bound, order) ** 2 + (d - 1) * hinge_bias(limit, order) ** 2
        return float(max(spread, axis) + energy * (limit / 3) ** 2)

    log_t, _ = smallest_between(squared_error, -12.0, 40.0, what="threshold tau")
    return scale * (bound + math.exp(log_t)) / 3
