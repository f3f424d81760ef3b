"""What was found in Arora, Marinov and Ullah (2020)."""

from __future__ import annotations

from functools import partial

from dpsco_core.base.cards import ARORA_2020
from dpsco_core.explain.errata import arora_runs as runs
from dpsco_core.explain.errata.base import Erratum, Experiment

_entry = partial(Erratum, paper=ARORA_2020)

ENTRIES: tuple[Erratum, ...] = (
    _entry(
        slug="arora.one-step",
        statement="Lemma 2",
        severity="not private as printed",
        printed=r"Noise of deviation $\frac{L\sqrt{3\log(1/\delta)}}{\tilde\epsilon}$ makes one "
        r"step $\big(\frac1n(e^{\tilde\epsilon}-1),\frac\delta n\big)$-private.",
        wrong="Replacing a record can move its gradient by 2L, because two gradients of length L "
        "may point in opposite directions. With noise for L the exact δ of the step exceeds the "
        "claim.",
        instead="Sensitivity 2L. Theorem 6 survives: its constant 8 is more than twice √3.",
        modules=(
            "dpsco_core.methods.euclidean.private_sgd",
            "dpsco_core.bounds.euclidean.private_sgd",
        ),
        experiment=Experiment(name="One step, exactly", run=runs.one_step),
    ),
    _entry(
        slug="arora.hidden-state",
        statement="Proof of Theorem 5",
        severity="gap in proof",
        printed="Advanced composition of Lemma 2 at every step.",
        wrong="The lemma holds for a fixed set of used records; that set is neither fixed nor "
        "released and depends on what is released, differently on neighbours.",
        instead="Given the pattern of steps the run is a sequence of one-record steps in uniformly "
        "random order: amplification by shuffling, with a proof and for every ε.",
        modules=("dpsco_core.privacy.shuffled_steps",),
    ),
    _entry(
        slug="arora.conditioned-index",
        statement="Proof of Theorem 5",
        severity="gap in proof",
        printed="The likelihood ratio of the iterates as a product of ratios given the drawn "
        "indices.",
        wrong="Lemma 2 averages over the very index that is conditioned on: without the average "
        "nothing is amplified.",
        instead="The same accountant of shuffled steps.",
        modules=("dpsco_core.privacy.shuffled_steps",),
    ),
    _entry(
        slug="arora.short-runs",
        statement="Proof of Theorem 6",
        severity="gap in proof",
        printed=r"Condition on $\tau\le2n$ and add $2e^{-n/16}$ to δ.",
        wrong="Conditioning changes the law of the indices, and the proof does not say why that is "
        "harmless. It is.",
        instead="No condition and no such term: steps without a gradient cost nothing.",
        modules=("dpsco_core.privacy.shuffled_steps", "dpsco_core.methods.euclidean.private_sgd"),
    ),
    _entry(
        slug="arora.delta-sum",
        statement="Proof of Theorem 6",
        severity="misprint",
        printed=r"Theorem 5 implies $\delta+\delta'$ at $\tau=2n$.",
        wrong=r"Its $\frac\tau n\delta+\delta'$ is $2\delta+\delta'$ there. The theorem holds as "
        "stated, because its noise has the constant 8 where Theorem 5 has √3.",
        instead="The printed guarantee is checked against the sound accountant at run time.",
        modules=("dpsco_core.methods.euclidean.private_sgd",),
        experiment=Experiment(name="What the chain adds up to", run=runs.delta_sums),
    ),
    _entry(
        slug="arora.second-order",
        statement="Proof of Theorem 5",
        severity="gap in proof",
        printed=r"Second-order term $4\tau\tilde\epsilon^2/n^2$.",
        wrong=r"The proof's inequalities $\epsilon_0\le2\tilde\epsilon/n$ and "
        r"$\epsilon_1\le2\epsilon_0$ give 8. A sharper bound on the divergence, "
        r"$\epsilon_0\tanh(\epsilon_0/2)$, gives less than 4, so that the printed term is large "
        "enough.",
        instead="Exact composition.",
        modules=("dpsco_core.privacy.shuffled_steps",),
        experiment=Experiment(name="The second-order factor", run=runs.second_order),
    ),
    _entry(
        slug="arora.azuma",
        statement="Proof of Theorem 5",
        severity="misprint",
        printed=r"Denominator $2\tau\epsilon_0^2\epsilon_1^2$ in Azuma's exponent, $\epsilon^2$ in "
        "the last line.",
        wrong=r"$2\tau\epsilon_0^2$ and $\tilde\epsilon^2$: the exponent is not $\log\delta'$ as "
        "printed.",
        instead="Not used.",
        modules=("dpsco_core.privacy.shuffled_steps",),
    ),
    _entry(
        slug="arora.announced-renyi",
        statement="Abstract, Sections 1 and 5",
        severity="misprint",
        printed="ε is “inversely proportional to the number of samples”; privacy by “the standard "
        "analysis for Rényi differential privacy”.",
        wrong=r"Theorem 6 has $\epsilon\le\frac1{2\sqrt n}$; its proof is advanced composition of "
        r"$(\epsilon_0,\delta_0)$ steps.",
        instead="The theorem's regime is a hypothesis of its bounds; privacy is proven by the "
        "accountant of shuffled steps.",
        modules=("dpsco_core.bounds.euclidean.private_sgd", "dpsco_core.privacy.shuffled_steps"),
    ),
    _entry(
        slug="arora.amplification-loses",
        statement="Theorem 6",
        severity="valid but loose",
        printed=r"$\sigma=\frac{8L\sqrt{\log(1/\delta)}}{\sqrt n\,\epsilon}$.",
        wrong=r"Private, and below about 10,000 records (at $\delta=10^{-6}$) more noise than no "
        "amplification asks for.",
        instead="The least noise that either accountant proves; the printed noise is calibration "
        "“paper”.",
        modules=(
            "dpsco_core.privacy.shuffled_steps",
            "dpsco_core.bounds.euclidean.private_sgd",
        ),
        experiment=Experiment(name="Three noises for one target", run=runs.noise_of_the_theorem),
    ),
    _entry(
        slug="arora.vacuous-remark",
        statement="Remark 1",
        severity="valid but loose",
        printed=r"$\frac{5LD}{\sqrt n}+\frac{160LD\sqrt d\log(3/\delta)}{\epsilon n}$.",
        wrong="Within the remark's own range of ε it is above the trivial LD unless there are more "
        r"than $400\,d\log(3/\delta)$ records; within that of Theorem 6, "
        r"$1600\,d\log(3/\delta)$.",
        instead="The regime is a hypothesis, and a bound above the trivial one says so.",
        modules=("dpsco_core.bounds.euclidean.private_sgd",),
        experiment=Experiment(name="The remark at its largest ε", run=runs.vacuous_remark),
    ),
    _entry(
        slug="arora.regimes",
        statement="Theorem 6, its proof, Remark 1",
        severity="misprint",
        printed=r"$\epsilon\le\frac1{2\sqrt n}$, $\frac{1.256}{\sqrt n}$, $\frac1{\sqrt n}$.",
        wrong="Remark 1 uses the theorem beyond its stated range, though within that of its proof.",
        instead=r"$\frac1{2\sqrt n}$ where the theorem is quoted; the sound accountant needs none.",
        modules=("dpsco_core.bounds.euclidean.private_sgd",),
    ),
    _entry(
        slug="arora.utility-constants",
        statement="Corollary 1, Theorem 4, Theorem 6",
        severity="gap in proof",
        printed="Constants 2, 5/2 and 5.",
        wrong="All three are true, but not by the given proofs: with the number of steps that is "
        "proven, the regret has 5/2 and the risk 5. With the exact number they are 1.193 and "
        "1.693. Theorem 4 gives 2.5 where Theorem 6 prints 5.",
        instead="The sum over the steps that are really made, at its best step size.",
        modules=("dpsco_core.bounds.euclidean.private_sgd",),
        experiment=Experiment(name="The sharp constant", run=runs.utility_constants),
    ),
    _entry(
        slug="arora.online-to-batch",
        statement="Lemma 1, Algorithm 1's output",
        severity="misprint",
        printed=r"Factor n, and an average over $F_\tau$.",
        wrong=r"The factor is the number $m\approx n/2$ of gradient steps, and the average is over "
        "their times, at the iterates before the update. The sum of the noise terms is a stopped "
        "martingale, not Wald's lemma.",
        instead=r"$m=\lfloor n/2\rfloor+1$ and the iterates at which gradients were taken.",
        modules=(
            "dpsco_core.methods.euclidean.private_sgd",
            "dpsco_core.bounds.euclidean.private_sgd",
        ),
    ),
    _entry(
        slug="arora.diameter",
        statement="Section 2 and Theorem 4 against Section 4 and Theorem 6",
        severity="misprint",
        printed="D.",
        wrong="A bound on norms in one place, a diameter in the other. Both are right for the "
        "first iterate of Theorem 3, the minimiser of the potential; for another one the first "
        "is not.",
        instead="The distance from the first iterate to the minimiser, from the set's diameter.",
        modules=("dpsco_core.bounds.euclidean.private_sgd",),
    ),
    _entry(
        slug="arora.stopping-rule",
        statement="Algorithm 1, prose, Lemma 1, Appendix A",
        severity="misprint",
        printed=r"Stop at $>n/2$, $\ge n/2$, $=n$; "
        r"$\Pr[q_T\le n/2]\le2e^{-T/16}$ for $T\ge2n$ “from the above derivation”.",
        wrong="Three rules. McDiarmid's inequality gives that tail at T = 2n and not at T = 3n; "
        "the union bound gives it for all.",
        instead="The pseudo-code's rule, and the exact mean number of steps.",
        modules=(
            "dpsco_core.methods.euclidean.private_sgd",
            "dpsco_core.bounds.euclidean.private_sgd",
        ),
    ),
    _entry(
        slug="arora.mirror-notation",
        statement="Sections 2 and 4, Theorem 3, (3)",
        severity="misprint",
        printed=r"A dual norm with min, Lipschitz “w.r.t. the dual norm”, "
        r"$\nabla f_t(w_t)$ inside $D_{\Phi^*}$, $\mathcal N(0,\sigma I)$.",
        wrong=r"max; the primal norm; $\nabla\Phi(w_t)$; $\sigma^2$. The middle of (3) lacks an "
        "expectation.",
        instead="The corrected forms.",
        modules=("dpsco_core.geometry.mirror", "dpsco_core.methods.lq.noisy"),
    ),
    _entry(
        slug="arora.prior-rates",
        statement="Section 3",
        severity="misprint",
        printed=r"For Bassily et al. (2014) an empirical risk $\frac d{\epsilon n}$, and "
        r"population risks $\frac{d^{1/4}}{\sqrt n\,\epsilon}$ and $\max\big(\frac{d^{1/4}}{\sqrt "
        r"n},\frac{\sqrt d}{\epsilon n}\big)$.",
        wrong=r"$\frac d{\epsilon n}$ is the rate of pure privacy, beside rates of "
        r"$(\epsilon,\delta)$-privacy, where it is $\frac{\sqrt d}{\epsilon n}$; and one result is "
        "quoted with two rates.",
        instead="The original rates, each said to be quoted.",
        modules=("dpsco_core.bounds.euclidean.prior",),
    ),
)
