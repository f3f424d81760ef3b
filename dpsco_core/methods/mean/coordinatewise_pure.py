"""The coordinate-wise median of means with Laplace noise: Kamath et al. (2022), Algorithm 3."""

from dataclasses import dataclass, replace

import numpy as np

from dpsco_core.base.cards import KAMATH_2022, MethodCard
from dpsco_core.data.rows import Rows
from dpsco_core.methods.base import MethodCost, PrivateMethod, Release, Stage
from dpsco_core.methods.mean.coordinatewise import (
    CoordinatewisePlan,
    check_blocks,
    choose,
    median_of_clipped,
)
from dpsco_core.methods.mean.sentences import KNOWN_SET, OVER_N
from dpsco_core.methods.story import Proof, Story
from dpsco_core.privacy.ledger import Ledger
from dpsco_core.privacy.mechanisms import laplace_noise_scale
from dpsco_core.problems.base import Setting


@dataclass(frozen=True, kw_only=True)
class CoordinatewisePure(PrivateMethod):
    r"""DPCWME: as `CoordinatewiseCDP`, with Laplace noise.

    .. math:: \tilde\mu_j = \mathrm{median}(\hat\mu^1_j, \dots, \hat\mu^m_j)
        + \mathrm{Lap}\Big(0, \frac{d\Delta_\infty}\varepsilon\Big)

    Pure epsilon-DP, hence it also serves the other budgets: epsilon of an (epsilon, delta)
    budget, :math:`\sqrt{2\rho}` of a zCDP one.

    Parameters
    ----------
    threshold, blocks, calibration, tuning
        As in `CoordinatewiseCDP`; theory: tau = max(10, (epsilon n/d)^(1/p)).
    """

    threshold: float | None = None
    blocks: int | None = None

    reads = "summed"
    cost = MethodCost(fixed=6.7e4, per_row=0.2, per_element=0.62)
    card = MethodCard(
        slug="mean.cwme-pure",
        name="Coordinate-wise, Laplace",
        paper=KAMATH_2022,
        statement="Algorithm 3 (DPCWME), Theorem 4.1, Corollary 4.2",
        summary="Clips every coordinate, averages in blocks, takes the median of the block "
        "averages, and adds Laplace noise: pure privacy, with no delta.",
        privacy="pure",
        rate="upper.mean.cwme-pure",
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
            composition=r"One release has the whole budget. Under a zCDP budget it may spend "
            r"$\varepsilon=\sqrt{2\rho}$; under $(\varepsilon,\delta)$ it uses $\varepsilon$ and "
            r"leaves $\delta$ unspent.",
        ),
        smooth="no loss",
        order=r"O(nd)",
        cost="One pass over the records.",
        when="Under a pure budget, which besides it only adaptive clipping meets. Up to about "
        "d = 20 it is level with the Gaussian version.",
        pitfalls=("The error grows with one more root of d than under concentrated privacy.",),
        errata=(
            r"The same loose printed sensitivity $12\tau m/n$ as in the Gaussian version.",
            "The lower bounds that the paper sets beside it use instances outside its own "
            "assumptions (their mean is not bounded); the library caps the spike probability.",
        ),
        example=OVER_N | {"methods": ("mean.sample", "mean.cwme-pure"), "delta": 0.0},
    )
    stage = Stage(at_once=True, clip=("threshold", "threshold"))
    colour = "lime"
    symbol = "diamond-open"

    def __post_init__(self) -> None:
        check_blocks(self.blocks)

    def plan(self, setting: Setting) -> CoordinatewisePlan:
        epsilon = setting.pure_epsilon
        chosen = choose(self, setting, epsilon, "laplace")
        noise = laplace_noise_scale(setting.d * chosen.coordinate_sensitivity, epsilon)
        return replace(chosen, noise=noise)

    def release(
        self, rows: Rows, plan: CoordinatewisePlan, ledger: Ledger, rng: np.random.Generator
    ) -> Release:
        """Run DPCWME."""
        value = ledger.laplace(
            median_of_clipped(rows, plan),
            l1_sensitivity=rows.d * plan.coordinate_sensitivity,
            epsilon=plan.share,
            rng=rng,
            label="median of clipped block means",
        )
        return Release(value=value, ledger=ledger, diagnostics=plan.diagnostics)
