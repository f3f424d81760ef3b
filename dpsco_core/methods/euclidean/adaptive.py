"""SCO with clipped gradients whose clip radius is chosen privately, as the descent goes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpsco_core.base.arrays import Vector
from dpsco_core.base.cards import OWN, SCO_PROBLEMS, MethodCard
from dpsco_core.methods.base import (
    Calibration,
    Method,
    MethodCost,
    Plan,
    Reads,
    Release,
    Stage,
    Tuning,
)
from dpsco_core.methods.euclidean.base import check_sample
from dpsco_core.methods.euclidean.clipped import theorem_descent, theorem_radius
from dpsco_core.methods.euclidean.descent import descend
from dpsco_core.methods.euclidean.lipschitz import refuse_pure
from dpsco_core.methods.euclidean.sentences import AVERAGE, DESCENT, LOGISTIC, MOMENTS
from dpsco_core.methods.euclidean.tuning import Descent, practical_descent, typical_norm
from dpsco_core.methods.mean.base import check_level, clipped_mean
from dpsco_core.methods.mean.ladder import ladder, norm_counts, radius_choice
from dpsco_core.methods.story import Proof, Story
from dpsco_core.privacy.budget import ApproxDP, PureDP, zcdp_rho
from dpsco_core.privacy.choices import ExponentialChoice
from dpsco_core.privacy.ledger import Ledger
from dpsco_core.privacy.selection import choice_epsilon, selection_rho
from dpsco_core.problems.base import Setting
from dpsco_core.problems.samples.protocol import Sample

LOOKS = 3
LOOK_SHARE = 0.05  # of rho, for all looks together
TOP_FACTOR = 32.0  # of the certified norm of a gradient: the ladder begins there


@dataclass(frozen=True, kw_only=True)
class AdaptiveDescentPlan(Plan):
    """The parameters of one run; none of them depends on the data.

    Parameters
    ----------
    top_radius : float
        The largest radius of the ladder.
    epsilon : float
        Of each look.
    target : float
        k: about so many gradients are to be longer than the radius.
    capped : bool
        Whether k was cut to n/2: too few records.
    rho, steps_rho : float
        Of everything, and of all steps together.
    descent : Descent or None
        Steps, step size and averaging; None: they follow from the radius of the first look.
    expected : Descent
        What they would be at the certified norm of a gradient, for predictions of the work.
    """

    top_radius: float
    epsilon: float
    target: float
    capped: bool
    rho: float
    steps_rho: float
    descent: Descent | None
    expected: Descent

    @property
    def passes(self) -> float:
        return self.expected.steps

    @property
    def gradients(self) -> None:  # the first look decides on the steps
        return None

    @property
    def radii(self) -> Vector:
        """The ladder, falling."""
        return ladder(self.top_radius, self.setting.n)

    def descent_at(self, radius: float) -> Descent:
        """Return the descent for the radius of the first look."""
        return _chosen_descent(self.setting, radius, self.steps_rho, self.descent)


@dataclass(frozen=True, kw_only=True)
class AdaptiveDescent(Method):
    r"""Projected gradient descent on means of clipped gradients, the clip radius chosen privately.

    A look is an exponential mechanism on a ladder of public radii: it chooses the one that about k
    of the n gradients are longer than. The first look is at the start; the number T of steps, their
    size and the average follow from its radius. There are two more, before steps
    :math:`\lfloor T/8\rfloor` and :math:`\lfloor T/3\rfloor`, where T has them; all three are
    charged. The T steps are those of `ClippedDescent`, at an equal share each of what the looks
    leave of rho, whatever the radius is (theory/adaptive-methods.md, 3).

    Parameters
    ----------
    radius : float, optional
        The largest radius of the ladder, in [1e-150, 1e150], which must not be chosen from the
        data. If None 32 times the certified norm of a gradient, at most the Lipschitz constant.
    descent : Descent, optional
        Steps, step size and averaging. If None they follow from the first look.
    calibration : {"tight", "paper"}
        Under an (epsilon, delta) budget: fixed pairs for the looks with the exact Gaussian curve,
        or Bun and Steinke's conversion.
    tuning : {"practical", "theory"}
        ``"theory"``: the ladder begins at R of Zhao et al. (2024), equation (19), times M, and T
        and eta are those of Theorem 4 at that radius.
    """

    radius: float | None = None
    descent: Descent | None = None
    calibration: Calibration = "tight"
    tuning: Tuning = "practical"

    reads: ClassVar[Reads] = "summed"
    cost: ClassVar[MethodCost] = MethodCost(fixed=1.2e5, per_row=9, per_element=1.2, unit="step")
    card: ClassVar[MethodCard] = MethodCard(
        slug="sco.adaptive",
        name="Adaptively clipped gradients",
        paper=OWN,
        statement="Choosing the clip radius privately, 3",
        summary="Gradient descent: looks at the lengths of the gradients, privately, to choose the "
        "radius that it clips them to; averages, and adds Gaussian noise at every step.",
        privacy="zcdp",
        problems=SCO_PROBLEMS,
        caveat="No bound on its error is proven. Where gradients are longest at the start, the "
        "first look chooses too large a radius, and with one step there is no other look.",
    )
    story: ClassVar[Story] = Story(
        what="Gradient descent that chooses its clip radius from the gradients, privately: it "
        "looks at their lengths at the start and twice on the way. A look costs less than two "
        "hundredths of the budget. It pays where the certified scale of the gradients is "
        "loose, or misleads because they are skewed.",
        steps=(
            r"Count $N(R_j)$, the gradients longer than each $R_j=R_{top}e^{-0.1j}$, at the start; "
            r"$R_{top}$ is 32 times the certified norm.",
            r"Draw $j$ with probability proportional to "
            r"$R_j^{-2}e^{-\frac{\varepsilon_1}2|N(R_j)-k|}$; $k$ grows like $d/\sqrt\rho$.",
            r"Take T, the step size and the average from the radius $R_j$.",
            r"Look again before steps $\lfloor T/8\rfloor$ and $\lfloor T/3\rfloor$, where there "
            r"are such; T stays.",
            r"At step t clip each gradient to the last radius R and release "
            r"$\tilde g_t=\bar g_t+N(0,\sigma^2I_d)$, $\sigma=\frac{2R}n\sqrt{\frac T{2\rho'}}$.",
            f"Step: {DESCENT}.",
            AVERAGE,
        ),
        assumptions=(MOMENTS, "A bounded convex set, and a certified norm of the gradients."),
        privacy=Proof(
            sensitivity=r"At a point that is private already, a replaced record changes each count "
            r"$N(R_j)$ by at most 1, so every score by at most 1; and the mean of gradients "
            r"clipped to a radius that is private already by at most $\Delta_2=2R/n$.",
            mechanism=r"A look is an exponential mechanism: $\varepsilon_1$-DP, "
            r"$\frac{\varepsilon_1^2}8$-zCDP. Gaussian noise of standard deviation "
            r"$\Delta_2/\sqrt{2\rho'/T}$ makes a step $\rho'/T$-zCDP, whatever R is.",
            composition=r"Three looks have $0.05\rho$ together and T steps $\rho'=0.95\rho$; T "
            r"follows from the first look alone, before any step. Under $(\varepsilon,\delta)$ "
            r"looks run after steps, so each counts as its dominating pair, which composes in any "
            r"order: 0.98 of what Gaussian noise alone may spend.",
        ),
        smooth="the risk, for its theorem",
        order=r"O(Tnd)",
        cost="T passes, and one for every look.",
        when="When the moment bound of the gradients is loose, or they are skewed. Otherwise it "
        "does about as well as clipped gradients with a radius from the setting.",
        pitfalls=(
            "The certified norm must not be estimated from the same records.",
            "Gradients are longest at the start: with few steps the radius stays too large.",
            "With one step the other two looks are not taken, and charged all the same.",
        ),
        example=LOGISTIC | {"methods": ("sco.erm", "sco.clipped", "sco.adaptive")},
    )
    colour: ClassVar[str] = "moss"
    symbol: ClassVar[str] = "bowtie"
    stage: ClassVar[Stage] = Stage(free_steps=True, clip=("radius", "top_radius"))

    def plan(self, setting: Setting) -> AdaptiveDescentPlan:
        """Return the parameters at `setting`; raises `NotApplicable` where it cannot run."""
        refuse_pure(setting)
        rho = looks_rho(setting, self.calibration)
        steps_rho = (1 - LOOK_SHARE) * rho
        epsilon = choice_epsilon(LOOK_SHARE * rho, LOOKS)
        theory = self.tuning == "theory"
        if self.radius is not None:
            top = self.radius
        elif theory:
            top = theorem_radius(setting, rho, "tight")
        else:
            top = min(TOP_FACTOR * typical_norm(setting), setting.constants.lipschitz)
        descent = self.descent
        if descent is None and theory:
            descent = theorem_descent(setting, steps_rho, top, "tight")
        typical = top if descent is not None else min(top, typical_norm(setting))
        wanted = 1.5 * setting.d * math.sqrt(2 / rho) + 4 / epsilon
        plan = AdaptiveDescentPlan(
            setting=setting,
            top_radius=top,
            epsilon=epsilon,
            target=min(wanted, setting.n / 2),
            capped=wanted > setting.n / 2,
            rho=rho,
            steps_rho=steps_rho,
            descent=descent,
            expected=_chosen_descent(setting, typical, steps_rho, descent),
        )
        for name, level in (("radius", top), ("least radius", plan.radii[-1])):
            check_level(name, float(level))
        return plan

    def release(
        self, sample: Sample, plan: AdaptiveDescentPlan, ledger: Ledger, rng: np.random.Generator
    ) -> Release:
        """Run the algorithm of theory/adaptive-methods.md, 3."""
        check_sample(sample, plan.setting)
        radii = plan.radii
        chosen: list[float] = []

        def look(w: Vector) -> None:
            counts = norm_counts(sample.gradients(w), radii)
            choice = radius_choice(radii, counts, plan.target, plan.epsilon)
            place = ledger.select(choice, rng=rng, label=f"radius, look {len(chosen) + 1}")
            chosen.append(float(radii[place]))

        look(sample.constraint.centre)
        descent = plan.descent_at(chosen[0])
        rho_step = plan.steps_rho / descent.steps
        places = look_places(descent.steps)

        def oracle(w: Vector, t: int) -> Vector:
            if t in places:
                look(w)
            return ledger.gaussian(
                clipped_mean(sample.gradients(w), chosen[-1]),
                l2_sensitivity=2 * chosen[-1] / plan.setting.n,
                rho=rho_step,
                rng=rng,
                label="mean of clipped gradients",
            )

        found = descend(sample.constraint, descent, oracle)
        # What a run has spent must not depend on what its looks have found.
        for _ in range(LOOKS - len(chosen)):
            ledger.select(_no_look(plan.epsilon), rng=rng, label="a look that no step was left for")
        return Release(
            value=found.value,
            ledger=ledger,
            # What is private, and public numbers: a count of norms is neither.
            diagnostics={
                "clip_radius": chosen[-1],
                "first_radius": chosen[0],
                "top_radius": plan.top_radius,
                "looks": float(len(chosen)),
                "noise_std": 2 * chosen[-1] / plan.setting.n / math.sqrt(2 * rho_step),
                "target_count": plan.target,
                "target_capped": float(plan.capped),
                "steps": float(descent.steps),
                "step_size": descent.step_size,
                "averaged": float(descent.steps if descent.queried else descent.averaged),
                "rho_step": rho_step,
            },
            iterates=found.path.points,
            iterate_steps=found.path.steps,
        )


def looks_rho(setting: Setting, calibration: Calibration) -> float:
    """Return the rho of the looks and the steps together: the later looks run after some steps.

    So that under an (epsilon, delta) budget only the rule for any order holds.
    """
    budget = setting.budget
    assert not isinstance(budget, PureDP)
    if calibration == "paper" and isinstance(budget, ApproxDP):
        return zcdp_rho(budget.epsilon, budget.delta, "paper")
    return selection_rho(budget, ((LOOK_SHARE, LOOKS),), choices_first=False)


def look_places(steps: int) -> frozenset[int]:
    """Return before which steps, from 0, there is another look; the first one is apart.

    Examples
    --------
    >>> [sorted(look_places(steps)) for steps in (1, 2, 6, 24)]
    [[], [1], [1, 2], [3, 8]]
    """
    return frozenset(t for t in (max(1, steps // 8), steps // 3) if 1 <= t < steps)


def _no_look(epsilon: float) -> ExponentialChoice:
    """Return a choice that looks at nothing, and is charged as a look is."""
    return ExponentialChoice(scores=np.zeros(2), sensitivity=1.0, epsilon=epsilon)


def _chosen_descent(
    setting: Setting, radius: float, rho: float, descent: Descent | None
) -> Descent:
    if descent is not None:
        return descent
    energy = 2 * setting.d * radius**2 / (rho * setting.n**2)
    return practical_descent(setting, energy, radius, growing=True)
