"""What was found in Su, Zhao and Wang (2023)."""

from __future__ import annotations

from functools import partial

from dpsco_core.card import SU_2023
from dpsco_core.errata import su_runs as runs
from dpsco_core.errata.base import Erratum, Experiment

_entry = partial(Erratum, paper=SU_2023)

ENTRIES: tuple[Erratum, ...] = (
    _entry(
        slug="su.jacobian-rank",
        statement="Algorithms 1 and 2",
        severity="wrong constant or rate",
        printed=r"$r=\min\{d,2\,\mathrm{rank}\}$ in the regulariser.",
        wrong="Too small when the rank is above d/2: the change of variables costs up to ε/2 where "
        "the proof has ε/4. The share of the objective step is really exceeded; no violation of "
        "the whole claim is known.",
        instead=r"$\lambda\ge\beta/(2n(e^{\epsilon/(4\,\mathrm{rank})}-1))$, what the determinant "
        "needs.",
        modules=("dpsco_core.sco.objective_plan", "dpsco_core.bounds.sco_objective"),
        experiment=Experiment(name="The Jacobian's share of ε", run=runs.jacobian_budget),
    ),
    _entry(
        slug="su.objective-share",
        statement="Theorem 1, in one dimension",
        severity="gap in proof",
        printed=r"The objective step is $(\epsilon/2,\delta/2)$-private.",
        wrong="Three records, one dimension, a clipped linear slope: its exact δ is far above "
        "δ/2 at the printed λ.",
        instead=r"$\lambda\ge\beta/(2n(e^{\epsilon/(4\,\mathrm{rank})}-1))$, under which the step "
        "keeps its share.",
        modules=("dpsco_core.sco.objective_plan",),
        experiment=Experiment(name="Exact δ of the objective step", run=runs.objective_share),
    ),
    _entry(
        slug="su.any-loss",
        statement="Theorems 1 and 3",
        severity="gap in proof",
        printed="Any loss of the class.",
        wrong="The gradients' difference is taken at a point that depends on the noise, so that "
        "its direction does too; the one-dimensional tail holds for generalised linear losses and "
        "squared distances.",
        instead="Other losses are refused with this reason.",
        modules=("dpsco_core.sco.objective_plan",),
    ),
    _entry(
        slug="su.certified-accuracy",
        statement="Algorithms 1 and 2",
        severity="missing condition",
        printed="Any efficient optimiser, such as SVRG or SGD, of accuracy α.",
        wrong="Privacy of the output noise needs the accuracy surely, not on average; and α must "
        "not depend on the data. At the theorem's α it soon is below rounding.",
        instead="A deterministic solver that stops on a certificate, and noise for the accuracy "
        "that was certified in advance.",
        modules=("dpsco_core.sco.solver", "dpsco_core.sco.objective_plan"),
    ),
    _entry(
        slug="su.accuracy-cap",
        statement="Theorem 2",
        severity="wrong constant or rate",
        printed=r"Second cap on α with $n^{3/2}$.",
        wrong=r"Its own Remark 1 has $n^{5/2}$; with $n^{3/2}$ the output noise has a larger rate "
        "than the theorem.",
        instead=r"$n^{5/2}$; the printed cap is a bound of its own.",
        modules=("dpsco_core.bounds.sco_objective", "dpsco_core.sco.objective_plan"),
        experiment=Experiment(name="The bound at both accuracies", run=runs.accuracy_cap),
    ),
    _entry(
        slug="su.modulus-units",
        statement="Algorithm 2",
        severity="gap in proof",
        printed=r"$\lambda=\max\{\frac{r\beta}{\epsilon n}-\Delta,0\}$.",
        wrong=r"Δ is a modulus in the norm of the set; in $\ell_2$ it is $\Delta/R^2$, so that too "
        "much is subtracted on sets wider than 1; and the factor is half of Algorithm 1's. The "
        "step's share of ε is not kept.",
        instead=r"The $\ell_2$ modulus, and the factor that the determinant needs.",
        modules=("dpsco_core.bounds.sco_objective", "dpsco_core.sco.objective_perturbation"),
        experiment=Experiment(name="Δ and the l2 modulus", run=runs.modulus_units),
    ),
    _entry(
        slug="su.stray-epsilon",
        statement="Theorem 4",
        severity="misprint",
        printed=r"$\frac{L^2\|C\|_2^2}{\Delta n\epsilon}$.",
        wrong="No ε: introduction, Table 1 and Remark 2 have none.",
        instead="The first term without ε; the printed one is a row of its own.",
        modules=("dpsco_core.bounds.sco_objective",),
        experiment=Experiment(name="The first term with and without", run=runs.stray_epsilon),
    ),
    _entry(
        slug="su.width-lower-bound",
        statement="Theorem 5, abstract",
        severity="wrong constant or rate",
        printed="Optimal “up to logarithms”, elsewhere “by a factor”.",
        wrong=r"The gap to Theorem 4 is $C_{\min}^{-2}\log^4(2d)$, a power of d on most sets; "
        r"population and empirical risks are mixed, and $n\le$ meets $n\ge$.",
        instead="The formula, with its hypotheses.",
        modules=("dpsco_core.bounds.sco_objective", "dpsco_core.bounds.lower_sco_other"),
    ),
    _entry(
        slug="su.mirror-index",
        statement="Algorithms 3 and 4",
        severity="wrong constant or rate",
        printed=r"$\Phi=\frac\kappa2\|\cdot\|_{\kappa_+}^2$ with $\kappa_+=\frac\kappa{\kappa-1}$.",
        wrong="Not strongly convex in the norm in large dimension, and undefined at κ = 1; the "
        "same letter is another number in Definition 3.",
        instead="The index conjugate to the smooth norm: q itself where d is large.",
        modules=("dpsco_core.geometry.mirror", "dpsco_core.geometry.regular_space"),
        experiment=Experiment(name="Growth of both potentials", run=runs.mirror_index),
    ),
    _entry(
        slug="su.kappa-constant",
        statement="Section 3, Algorithms 3 and 4, Table 2",
        severity="wrong constant or rate",
        printed=r"$\kappa=\min\{\frac1{q-1},2\log d\}$.",
        wrong="A factor of up to e is missing in the logarithmic branch. Algorithm 3's noise has "
        "room for it.",
        instead="The exact constant of regularity.",
        modules=("dpsco_core.geometry.regular_space",),
        experiment=Experiment(name="Printed and exact κ", run=runs.kappa_without_e),
    ),
    _entry(
        slug="su.surface-area",
        statement="Definition 4",
        severity="misprint",
        printed="“Area” is the surface measure of the unit sphere.",
        wrong=r"The normalising constant is right for $d\cdot\mathrm{vol}(B_+)$ only.",
        instead="The density with d times the volume; the sampler needs neither.",
        modules=("dpsco_core.privacy.generalized_gaussian",),
        experiment=Experiment(name="The integral by quadrature", run=runs.surface_area),
    ),
    _entry(
        slug="su.composition-delta",
        statement="Lemma 1",
        severity="misprint",
        printed=r"$\delta'=\delta/T$ in every step.",
        wrong=r"The total is 2δ: $\delta/(2T)$.",
        instead="Composition in zCDP, without such a split.",
        modules=("dpsco_core.privacy.composition", "dpsco_core.privacy.generalized_gaussian"),
    ),
    _entry(
        slug="su.one-logarithm",
        statement="Algorithm 3, Theorem 6",
        severity="gap in proof",
        printed=r"$\sigma^2=\frac{64L^2\kappa T\log(1/\delta)}{n^2\epsilon^2}$ by Lemmas 1 and 3.",
        wrong="Those lemmas give a product of two logarithms, 15 to 22 times the variance. The "
        "theorem is true nevertheless.",
        instead="Proven by zCDP of the generalized Gaussian, with about 8 times less variance.",
        modules=("dpsco_core.privacy.generalized_gaussian", "dpsco_core.sco.lp_regularized"),
    ),
    _entry(
        slug="su.mirror-coefficient",
        statement="Algorithm 3, step (1)",
        severity="wrong constant or rate",
        printed=r"$\beta D_\Phi$.",
        wrong=r"The weights, α and the proof belong to $2\beta D_\Phi$.",
        instead=r"$2\beta D_\Phi$; privacy does not depend on it.",
        modules=("dpsco_core.sco.lp_regularized", "dpsco_core.problems.lq_regularized"),
    ),
    _entry(
        slug="su.steps-of-theorem-7",
        statement="Theorem 7",
        severity="missing condition",
        printed=r"$T\propto\kappa^{2/5}$, and a condition on n.",
        wrong=r"The stated rate needs $\kappa^{1/5}$; the condition is vacuous; what is needed is "
        r"$\alpha\le2\beta$ and $n>T$.",
        instead=r"$\sqrt\kappa$ inside, and both conditions as hypotheses.",
        modules=("dpsco_core.problems.lq_regularized", "dpsco_core.bounds.rows_lq_rates"),
    ),
    _entry(
        slug="su.zero-minimiser",
        statement="Theorem 8",
        severity="misprint",
        printed=r"A bound proportional to $\|\theta^*\|^2$.",
        wrong=r"It vanishes at $\theta^*=0$; an additive term of order L is hidden.",
        instead="The additive term is there; the printed row stands beside it.",
        modules=("dpsco_core.bounds.lq_rates", "dpsco_core.bounds.lq_explicit"),
    ),
    _entry(
        slug="su.hidden-constant",
        statement="Algorithm 4, Theorem 9",
        severity="missing condition",
        printed=r"$\sigma_1^2=O(\cdot)$.",
        wrong="A noise needs a number; the constant by the theorem's own proof is above 100.",
        instead="The closed form of the shuffle solved for the noise, or the exact divergence.",
        modules=("dpsco_core.privacy.generalized_gaussian", "dpsco_core.privacy.shuffled_steps"),
        experiment=Experiment(name="The constant behind O(·)", run=runs.hidden_constant),
    ),
    _entry(
        slug="su.noise-placement",
        statement="Algorithm 4",
        severity="misprint",
        printed=r"$\frac{\sum_{x\in B_t}g_x+Z_x^t}{|B_t|}$ and $\mathcal{GG}_{\|\cdot\|_+,"
        r"(\sigma_1^2)}$.",
        wrong="One draw a record, as Remark 4 has it: one a batch at this size is not private when "
        "batches are large.",
        instead=r"One draw of $\mathcal{GG}_{\|\cdot\|_+}(0,\sigma_1^2)$ a record.",
        modules=("dpsco_core.sco.lp_shuffled", "dpsco_core.sco.lp_mirror"),
    ),
    _entry(
        slug="su.lost-kappa",
        statement="Theorem 10",
        severity="wrong constant or rate",
        printed=r"$\kappa^{1/2}$ with generalized Gaussian noise a record.",
        wrong=r"A sum of such vectors is not one of them: $\kappa^{3/4}$. Gaussian noise gives "
        r"$\kappa^{1/2}$.",
        instead="Explicit bounds for both noises; Gaussian noise where it is smaller.",
        modules=("dpsco_core.problems.lq_noise", "dpsco_core.bounds.lq_explicit"),
        experiment=Experiment(name="The spread of a sum", run=runs.lost_kappa),
    ),
    _entry(
        slug="su.inner-minimum",
        statement="Theorem 10",
        severity="missing condition",
        printed=r"Threshold $\beta M+\lambda$, $\gamma_t=\sqrt T$, no σ.",
        wrong=r"It presumes a stationary point inside the set and $\gamma>\beta$, and the scales "
        "of the gradients are missing.",
        instead=r"A bound on the population gradient in the place of βM, $\gamma\ge2\beta$, and "
        "parameters with their units.",
        modules=("dpsco_core.sco.lp_mirror", "dpsco_core.bounds.lq_conditions"),
    ),
    _entry(
        slug="su.table-2",
        statement="Table 2, rows 1, 3 and q of at least 2",
        severity="misprint",
        printed="First terms without n.",
        wrong=r"They lack $1/\sqrt n$, which the prose and the source have.",
        instead="The corrected rows; the printed ones stand beside them.",
        modules=("dpsco_core.bounds.lq_rates",),
        experiment=Experiment(name="The first term as n grows", run=runs.table_without_n),
    ),
    _entry(
        slug="su.table-1",
        statement="Table 1, row 3; introduction, item 3; section 5.2",
        severity="misprint",
        printed=r"$m_{public}$ and no ε; $\sqrt{\kappa^2d\log(1/\delta)}$; amplification by "
        r"$\tilde O(1/n)$.",
        wrong=r"Unreliable; a fourth root; $\tilde O(1/\sqrt n)$.",
        instead="Row 3 is left out, the others are corrected.",
        modules=("dpsco_core.bounds.rows_sco_prior", "dpsco_core.bounds.lq_rates"),
    ),
)
