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
from dpsco_core.methods.euclidean.sentences import LOGISTIC, MOMENTS
from dpsco_core.methods.euclidean.tuning import FEW_STEPS
from dpsco_core.methods.mean.base import check_level, gaussian_share
from dpsco_core.methods.stage import PARTS, SmallRun, Stage
from dpsco_core.methods.statistics import EncodedClippedMeans
from dpsco_core.methods.steps import Descent, PrefixSums
from dpsco_core.methods.story import Proof, Story
from dpsco_core.privacy.mechanisms.correlated import Encoding
from dpsco_core.problems import SCO_PROBLEMS
from dpsco_core.problems.base import Setting


@dataclass(frozen=True, kw_only=True)
class CorrelatedPhase:
    """One pass over records of its own, from where the last phase ended."""

    start: int  # its first record, by index
    batch: int  # records of a step
    descent: Descent  # T, eta and what is averaged
    encoding: Encoding  # what hides all its steps together

    @property
    def steps(self) -> int:
        return self.descent.steps


@dataclass(frozen=True, kw_only=True)
class CorrelatedDescent(DescentMethod):
    r"""One pass over the records in T batches, the noise correlated from step to step.

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
    story = Story(
        what="One pass of gradient descent over the records in batches, in which the noise of a "
        "step is correlated with that of the steps before. Each step takes back a part of the "
        "noise added earlier, and the sum of all steps, which is where the descent stands, keeps "
        "little of it. It is how private models are trained in practice where records come once.",
        steps=(
            r"Choose the radius R, the number of batches T and the step size from the setting, "
            r"never from the data; a batch has $b=\lfloor n/T\rfloor$ records. On a wide set the "
            "pass is made in up to four phases, each on records of its own and as here, from where "
            "the last one ended.",
            r"At step t clip the gradients of batch t at $w_t$ to norm R and average: $g_t$.",
            r"Draw $z_t\sim N(0,\sigma^2I_d)$, $\sigma=\frac{2R}b\frac{\kappa_T}{\sqrt{2\rho}}$ "
            r"with $\kappa_T^2=\sum_{k<T}r_k^2$, and release $\tilde g_t=g_t+\sum_{k\le t}"
            r"s_kz_{t-k}$. $r_k$ and $s_k$ are the coefficients of $(1-x)^{-1/2}$ and "
            r"$(1-x)^{1/2}$: 1, then $s_1=-\frac12$, $s_2=-\frac18$, all negative.",
            r"Step: $w_{t+1}=\Pi_W(w_0-\eta\sum_{s\le t}\tilde g_s)$. The sum is not projected, "
            "only the point is: otherwise the noise would no longer cancel.",
            "Return the average of the last half of the points, or the last one (practical), or "
            "the average of all points at which gradients were asked (theory).",
        ),
        assumptions=(MOMENTS, "A bounded convex set."),
        privacy=Proof(
            sensitivity=r"Together the steps are a function of $CG+Z$: row t of G is $g_t$, and C "
            r"is lower triangular with the entries $r_k$. A record is in one batch, where it moves "
            r"one row of G by at most $2R/b$; that moves CG by at most "
            r"$\Delta_2=\frac{2R}b\kappa_T$, which a record of the first batch attains.",
            mechanism=r"Given all that was released before, row t of $CG+Z$ is Gaussian, and its "
            r"centre differs between neighbours by at most $r_{t-k}\frac{2R}b$, k the batch of the "
            r"record: $\frac{\alpha r_{t-k}^2}{2\sigma^2}\frac{4R^2}{b^2}$ in Rényi divergence.",
            composition=r"Adaptive composition adds these up to $\alpha\rho$, $\rho=\frac"
            r"{\Delta_2^2}{2\sigma^2}$, although later gradients depend on earlier noise: "
            r"one Gaussian release of the whole. Phases have disjoint records and cost the "
            r"dearest, $\rho$. No batch is sampled, and nothing is amplified.",
        ),
        smooth="nothing",
        order=r"O(nd+T^2d)",
        cost="One pass: each record's gradient is taken at most once. A phase has at most 512 "
        "steps.",
        when="When records can be seen only once: among the methods of one pass it has by far the "
        "smallest error in the cases measured. Clipped gradients, which pass over the data again "
        "and again, mostly have a smaller one still.",
        pitfalls=(
            "Which records are in which batch must not depend on the data, and no record may be "
            "in two of them: a second pass needs about 1.6 times the noise, more than the √2 of "
            "independent noise.",
            "The noise of a step is larger than independent noise would be. The gain is in the "
            "sum.",
            "The step size and the number of batches come from a model of the risk. On a very wide "
            "set and with few records it does not count on a minimiser that is far away, and a "
            "single pass may not arrive there.",
        ),
        errata=(
            "The paper sums along a binary tree; the Toeplitz square root, from later work on "
            "matrix factorisations, has less noise at every number of steps. The library computes "
            "its sensitivity exactly.",
        ),
        example=LOGISTIC | {"methods": ("sco.erm", "sco.clipped", "sco.phased-sgd", "sco.ftrl")},
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
        last, access = phases[-1], PhasesOfBatches(phases=phases)
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
                "noise_std": last.encoding.noise_std,
                "phases": float(len(phases)),
                "batch_size": float(last.batch),
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
    """Return the phases on so many records, one after the other."""
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
    """Return the certified L; raises `NotApplicable` where there is none."""
    lipschitz = setting.constants.lipschitz
    if math.isinf(lipschitz):
        raise NotApplicable(
            "The theorem needs a Lipschitz loss for every record, and the records of this problem "
            "are unbounded.",
            nearest="set tuning=practical, which clips gradients",
            changes=(("tuning", "practical"),),
        )
    return lipschitz
