"""What was found in Su, Zhao and Wang (2023).

In the text of the conference, whose proofs are in an appendix that was not at hand: an entry here
is about what the main text states, and a statement whose proof is not known is not called wrong.
"""

from __future__ import annotations

from functools import partial

from dpsco_core.base.cards import SU_2023
from dpsco_core.explain.errata import su_runs as runs
from dpsco_core.explain.errata.base import Erratum, Experiment

_entry = partial(Erratum, paper=SU_2023)

ENTRIES: tuple[Erratum, ...] = (
    _entry(
        slug="su.any-loss",
        statement="Theorems 1 and 3",
        severity="gap in proof",
        printed="Privacy for every loss of Assumption 1 or 2.",
        wrong="The usual proof of objective perturbation bounds the noise along the difference "
        "of two gradients as if that were a fixed vector. It is taken at the minimiser, and so "
        "depends on the noise. For generalised linear losses and squared distances that is "
        "repaired; for others neither a proof nor a counterexample is known here.",
        instead="Other losses are refused with this reason.",
        modules=("dpsco_core.methods.euclidean.objective_plan",),
    ),
    _entry(
        slug="su.certified-accuracy",
        statement="Algorithms 1 and 2",
        severity="missing condition",
        printed="An optimiser such as proximal SVRG or projected SGD ensures accuracy α.",
        wrong="Both have it on average only. The noise that hides the remaining distance needs "
        "it in every run, so that the optimiser has to certify it. At Theorem 4's α it is soon "
        "below rounding.",
        instead="A deterministic solver that stops on a certificate, and noise for the accuracy "
        "that was certified in advance.",
        modules=(
            "dpsco_core.methods.euclidean.solver",
            "dpsco_core.methods.euclidean.objective_plan",
        ),
    ),
    _entry(
        slug="su.accuracy-cap",
        statement="Theorem 2",
        severity="misprint",
        printed=r"Second cap on α with $n^{3/2}$.",
        wrong="Remark 1 has $n^{5/2}$. By its inequality for the projected noise, the theorem's "
        "rate follows with $n^{5/2}$, and with $n^{3/2}$ only $n^{-1/4}$.",
        instead=r"$n^{5/2}$; the printed cap is a bound of its own.",
        modules=(
            "dpsco_core.bounds.euclidean.objective",
            "dpsco_core.methods.euclidean.objective_plan",
        ),
        experiment=Experiment(name="The projected noise at both", run=runs.accuracy_cap),
    ),
    _entry(
        slug="su.modulus-units",
        statement="Algorithm 2, Theorem 3",
        severity="not private as printed",
        printed=r"$\lambda=\max\{\frac{r\beta}{\epsilon n}-\Delta,0\}$ for every symmetric set.",
        wrong=r"Δ is a modulus in the norm of the set; in $\ell_2$ it is $\Delta/R^2$. On a set "
        "wider than the unit ball too much is subtracted, and a single curved record changes how "
        r"often the minimiser falls near a point by more than $e^\epsilon$. (Where λ is 0 the "
        "objective is also only half as strongly convex as Algorithm 1's.)",
        instead=r"The $\ell_2$ modulus, and the factor that the determinant needs.",
        modules=(
            "dpsco_core.bounds.euclidean.objective_strong",
            "dpsco_core.methods.euclidean.objective_perturbation",
        ),
        experiment=Experiment(name="One record on an interval", run=runs.modulus_units),
    ),
    _entry(
        slug="su.stray-epsilon",
        statement="Theorem 4",
        severity="misprint",
        printed=r"$\frac{L^2\|C\|_2^2}{\Delta n\epsilon}$.",
        wrong="The introduction and Table 1 have no ε there. As printed it is true, and weaker.",
        instead="The first term without ε; the printed one is a row of its own.",
        modules=("dpsco_core.bounds.euclidean.objective_strong",),
        experiment=Experiment(name="The first term with and without", run=runs.stray_epsilon),
    ),
    _entry(
        slug="su.width-lower-bound",
        statement="Abstract, introduction, Theorem 5",
        severity="wrong constant or rate",
        printed="Optimal “up to a logarithmic factor”.",
        wrong=r"The two bounds differ by $C_{\min}^{-2}\log^4(2d)$, as the text after Theorem 5 "
        r"says but for the logarithm: a power of d on a cube or an $\ell_1$ ball. The theorem is "
        r"about empirical risk and writes population risk; its $n\le$ meets Theorem 4's $n\ge$.",
        instead="The formula, with its hypotheses.",
        modules=("dpsco_core.bounds.euclidean.lower_other",),
    ),
    _entry(
        slug="su.mirror-index",
        statement="Algorithms 3 and 4",
        severity="wrong constant or rate",
        printed=r"$\Phi=\frac\kappa2\|\cdot\|_{\kappa_+}^2$ with $\kappa_+=\frac\kappa{\kappa-1}$ "
        "is 1-strongly convex.",
        wrong=r"Not in the norm of the space, in large dimension. Definition 3 uses $\kappa_+$ "
        "for another number.",
        instead="The index conjugate to the smooth norm: q itself where d is large.",
        modules=("dpsco_core.geometry.mirror", "dpsco_core.geometry.regular_space"),
        experiment=Experiment(name="Growth of both potentials", run=runs.mirror_index),
    ),
    _entry(
        slug="su.kappa-constant",
        statement="Section 3, Algorithms 3 and 4, Table 2",
        severity="wrong constant or rate",
        printed=r"$\kappa=\min\{\frac1{q-1},2\log d\}$.",
        wrong=r"The line before has $2e\log d$, and the smooth norm that is chosen there needs "
        r"more than $2\log d$. Algorithm 3's noise has room for it.",
        instead="The exact constant of that norm.",
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
        slug="su.one-logarithm",
        statement="Algorithm 3, Theorem 6",
        severity="gap in proof",
        printed=r"$\sigma^2=\frac{64L^2\kappa T\log(1/\delta)}{n^2\epsilon^2}$.",
        wrong="Lemmas 1 and 3, whose constant is the same 64, give "
        r"$\log\frac{2T}\delta\log\frac4\delta$ in the place of the logarithm, 15 to 28 times as "
        "much. The theorem is true nevertheless, for δ up to 0.8.",
        instead="Proven by zCDP of the generalized Gaussian, with about 8 times less variance.",
        modules=("dpsco_core.privacy.generalized_gaussian", "dpsco_core.methods.lq.regularized"),
    ),
    _entry(
        slug="su.mirror-coefficient",
        statement="Algorithm 3, step (1)",
        severity="misprint",
        printed=r"$\beta D_\Phi$.",
        wrong=r"The weights $\big(\frac{2\beta+\alpha}{2\beta}\big)^t$ of the output are those of "
        r"$2\beta D_\Phi$.",
        instead=r"$2\beta D_\Phi$; privacy does not depend on it.",
        modules=("dpsco_core.methods.lq.regularized", "dpsco_core.methods.lq.regularized_schedule"),
    ),
    _entry(
        slug="su.steps-of-theorem-7",
        statement="Theorem 7",
        severity="misprint",
        printed=r"$T\propto\kappa^{2/5}$, and $n\ge "
        r"O\big(\frac{\epsilon^4}{(d\log(1/\delta))^2\kappa^{1/2}}\big)$.",
        wrong=r"The rate, $\kappa/T$, and the condition on n belong to $\kappa^{1/5}$. The right "
        "side of the condition is below 1.",
        instead=r"$\sqrt\kappa$ inside the power, with $\alpha\le2\beta$ and $n>T$ as hypotheses.",
        modules=("dpsco_core.methods.lq.regularized_schedule", "dpsco_core.bounds.lq.lipschitz"),
    ),
    _entry(
        slug="su.zero-minimiser",
        statement="Theorem 8",
        severity="misprint",
        printed=r"A bound proportional to $\|\theta^*\|^2$.",
        wrong=r"It vanishes at $\theta^*=0$, which no algorithm's risk does for all losses: an "
        r"additive term $L\big(\frac1{\sqrt n}+\frac{\sqrt{d\log(1/\delta)}}{\epsilon n}\big)$ is "
        "hidden.",
        instead="The additive term is there; the printed row stands beside it.",
        modules=("dpsco_core.bounds.lq.lipschitz", "dpsco_core.bounds.lq.phased"),
    ),
    _entry(
        slug="su.hidden-constant",
        statement="Algorithm 4, Theorem 9",
        severity="missing condition",
        printed=r"$\sigma_1^2=O(\cdot)$.",
        wrong="A noise needs a number. By the closed form of the shuffling theorem that is "
        "cited, and Lemma 3, the constant is above 100.",
        instead="The closed form of the shuffle solved for the noise, or the exact divergence.",
        modules=("dpsco_core.privacy.generalized_gaussian", "dpsco_core.privacy.shuffled_steps"),
        experiment=Experiment(name="The constant behind O(·)", run=runs.hidden_constant),
    ),
    _entry(
        slug="su.noise-placement",
        statement="Algorithm 4",
        severity="misprint",
        printed=r"$\frac{\sum_{x\in B_t}g_x+Z_x^t}{|B_t|}$ and "
        r"$\mathcal{GG}_{\|\cdot\|_+,(\sigma_1^2)}$.",
        wrong="Brackets are missing around the sum's terms: by its index, and by Remark 4, there "
        "is one draw a record. One draw a batch of this size would not be private for large "
        "batches.",
        instead=r"One draw of $\mathcal{GG}_{\|\cdot\|_+}(0,\sigma_1^2)$ a record.",
        modules=("dpsco_core.methods.lq.shuffled", "dpsco_core.methods.lq.mirror"),
    ),
    _entry(
        slug="su.inner-minimum",
        statement="Theorem 10",
        severity="missing condition",
        printed=r"Gradients longer than $\beta M+\lambda$ become 0; no σ in λ, T and γ.",
        wrong="βM bounds the mean gradient only if the risk is stationary somewhere in the set. "
        "A linear loss of slope above λ has β = 0: then every gradient becomes 0. The scale σ of "
        "the gradients is missing.",
        instead=r"A bound on the population gradient in the place of βM, $\gamma\ge2\beta$, and "
        "parameters with their units.",
        modules=("dpsco_core.methods.lq.mirror", "dpsco_core.bounds.lq.conditions"),
    ),
    _entry(
        slug="su.table-2",
        statement="Table 2, rows 1 and 3, exponents of at least 2",
        severity="misprint",
        printed="First terms without n.",
        wrong=r"They lack $1/\sqrt n$: section 5.1 has it for row 1, and the Euclidean rate of "
        "Kamath et al. (2022), to which row 3 reduces, has it too.",
        instead="The corrected rows; the printed ones stand beside them.",
        modules=("dpsco_core.bounds.lq.lipschitz", "dpsco_core.bounds.lq.heavy"),
        experiment=Experiment(name="The first term as n grows", run=runs.table_without_n),
    ),
    _entry(
        slug="su.stray-root",
        statement="Introduction, item 3; Section 5.2",
        severity="misprint",
        printed=r"$\sqrt{\kappa^2d\log(1/\delta)}$; amplification by $\tilde O(1/n)$.",
        wrong=r"A fourth root, as in Table 2 and Theorem 10; $\tilde O(1/\sqrt n)$, as in Remark "
        "4.",
        instead="The corrected forms.",
        modules=("dpsco_core.bounds.euclidean.prior", "dpsco_core.bounds.lq.heavy"),
    ),
)
