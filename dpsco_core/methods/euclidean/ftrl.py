"""One pass with noise that cancels: DP-FTRL with the Toeplitz square root."""

import math
from dataclasses import dataclass

from dpsco_core.base.cards import KAIROUZ_2021, MethodCard
from dpsco_core.base.errors import NotApplicable
from dpsco_core.methods.access import PhasesOfBatches
from dpsco_core.methods.base import MethodCost
from dpsco_core.methods.departure import Departure
from dpsco_core.methods.descent import DescentMethod, DescentPlan
from dpsco_core.methods.euclidean.ftrl_plan import practical_pass, theorem_steps
from dpsco_core.methods.euclidean.tuning import FEW_STEPS
from dpsco_core.methods.records.base import check_level, gaussian_share
from dpsco_core.methods.stage import PARTS, SmallRun, Stage
from dpsco_core.methods.statistics import EncodedClippedMeans
from dpsco_core.methods.steps import Descent, PrefixSums
from dpsco_core.privacy.mechanisms.correlated import Encoding
from dpsco_core.problems import SCO_PROBLEMS
from dpsco_core.problems.base import Setting


@dataclass(frozen=True, kw_only=True)
class CorrelatedPhase:
    """One pass over a block of records, from the last point of the previous phase."""

    start: int  # the index of the first record
    batch: int  # the number of records per step
    descent: Descent  # the number of steps T, the step size eta and the averaging
    encoding: Encoding  # the noise mechanism that protects all steps together

    @property
    def steps(self) -> int:
        """The number of steps of the phase."""
        return self.descent.steps


@dataclass(frozen=True, kw_only=True)
class CorrelatedDescent(DescentMethod):
    r"""One pass over the records in T batches, with noise correlated between steps.

    .. math:: w_{t+1} = \Pi_W\Big(w_0 - \eta\sum_{s\le t}\tilde g_s\Big)

    with :math:`\tilde g_s` the mean of the clipped gradients of batch s at :math:`w_s`, and noise
    of which most cancels in the sum (`dpsco_core.privacy.mechanisms.correlated`).

    Parameters
    ----------
    radius : float, optional
        Clip radius R, in [1e-150, 1e150]. If None it is chosen from the setting.
    descent : Descent, optional
        Steps, step size and averaging. If None they are chosen from the setting.
    calibration : {"tight", "paper"}
        Under an (epsilon, delta) budget: rho from the exact Gaussian curve, or from Bun and
        Steinke's conversion.
    tuning : {"practical", "theory"}
        ``"theory"``: R is the certified Lipschitz constant, and T and eta minimise the bound of
        theory/practice.md, 1.5. ``"practical"``: `dpsco_core.methods.euclidean.ftrl_plan`.
    """

    radius: float | None = None
    descent: Descent | None = None

    reads = "summed"
    cost = MethodCost(fixed=2.7e5, per_row=5, per_element=0.6, per_piece=9e4)
    departs = (
        Departure(
            tag="square root, no tree",
            text="Its noise is correlated by the Toeplitz square root, where the paper has a tree.",
        ),
    )
    card = MethodCard(
        slug="sco.ftrl",
        name="Correlated noise (DP-FTRL)",
        short="Correlated noise",
        paper=KAIROUZ_2021,
        statement="DP-FTRL, with the Toeplitz square root in place of a tree",
        summary="One pass in batches: every step gets Gaussian noise that later steps take back, "
        "so that little of it is left in the sum of the gradients.",
        privacy="zcdp",
        problems=SCO_PROBLEMS,
        caveat="No bound on its error is printed. The clip radius and the batches are chosen from "
        "the setting by a model of accuracy.",
    )
    stage = Stage(
        free_steps=True,
        clip=("radius", "radius"),
        splits=PARTS,
        small=SmallRun(fields={"descent": FEW_STEPS}),
        others={
            "phases": SmallRun(
                scenario={"problem": "huber", "diameter": 20.0, "n": 200, "epsilon": 8.0},
                fields={"descent": None},
            )
        },
    )
    colour = "magenta"
    symbol = "diamond"

    def plan(self, setting: Setting) -> DescentPlan:
        """Return the plan with the given radius and descent, or with those of the tuning."""
        rho = gaussian_share(setting, self.calibration)
        records: tuple[int, ...] = (setting.n,)
        descents: tuple[Descent, ...]
        radius = self.radius
        if self.tuning == "theory":
            radius = lipschitz_constant(setting) if radius is None else radius
            descents = (theorem_steps(setting, rho, radius),)
        elif self.descent is None or radius is None:
            chosen = practical_pass(setting, rho, radius)
            radius, records, descents = chosen.radius, chosen.records, chosen.descents
        if self.descent is not None:
            if self.descent.steps > setting.n:
                raise NotApplicable(
                    f"Each of the {self.descent.steps} steps takes a record of its own.",
                    n=self.descent.steps,
                )
            records, descents = (setting.n,), (self.descent,)
        check_level("radius", radius)
        phases = _phases(setting, rho, radius, records, descents)
        steps = PrefixSums(descents=descents)
        last_phase, access = phases[-1], PhasesOfBatches(phases=phases)
        return DescentPlan(
            setting=setting,
            statistic=EncodedClippedMeans(
                radius=radius, encodings=tuple(phase.encoding for phase in phases)
            ),
            access=access,
            descent=steps,
            rho=rho,
            rho_step=rho,
            diagnostics=steps.diagnostics
            | {
                "clip_radius": radius,
                "noise_std": last_phase.encoding.noise_std,
                "phases": float(len(phases)),
                "batch_size": float(last_phase.batch),
                "gradient_calls": float(access.gradients(setting, steps.steps)),
            },
        )


def _phases(
    setting: Setting,
    rho: float,
    radius: float,
    records: tuple[int, ...],
    descents: tuple[Descent, ...],
) -> tuple[CorrelatedPhase, ...]:
    """Return consecutive phases with the given numbers of records and steps, and their noise."""
    phases, start = [], 0
    for size, descent in zip(records, descents, strict=True):
        batch = size // descent.steps
        encoding = Encoding(
            steps=descent.steps, size=setting.d, l2_sensitivity=2 * radius / batch, rho=rho
        )
        phases.append(CorrelatedPhase(start=start, batch=batch, descent=descent, encoding=encoding))
        start += size
    return tuple(phases)


def lipschitz_constant(setting: Setting) -> float:
    """Return the certified Lipschitz constant of the losses; raise `NotApplicable` without one."""
    lipschitz = setting.constants.lipschitz
    if math.isinf(lipschitz):
        raise NotApplicable(
            "The theorem needs a Lipschitz loss for every record, and the records of this problem "
            "are unbounded.",
            nearest="set tuning=practical, which clips gradients",
            changes=(("tuning", "practical"),),
        )
    return lipschitz
