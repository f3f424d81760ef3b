"""What was found in Arora, Marinov and Ullah (2020)."""

from __future__ import annotations

from functools import partial

from dpsco_core.card import ARORA_2020
from dpsco_core.errata import arora_runs as runs
from dpsco_core.errata.base import Erratum, Experiment

_entry = partial(Erratum, paper=ARORA_2020)

ENTRIES: tuple[Erratum, ...] = (
    _entry(
        slug="arora.one-step",
        statement="Lemma 2, Theorem 5",
        severity="not private as printed",
        printed=r"Noise for sensitivity L makes one step "
        r"$\big(\frac1n(e^{\tilde\epsilon}-1),\frac\delta n\big)$-private.",
        wrong="Replacing a record moves its gradient by 2L: two gradients of size L may point "
        "against each other. The lemma is false as stated.",
        instead="Sensitivity 2L. Theorem 6 survives: its constant 8 is more than twice √3.",
        modules=("dpsco_core.sco.private_sgd", "dpsco_core.bounds.sco_private_sgd"),
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
        statement="Theorem 6",
        severity="gap in proof",
        printed=r"Condition on $\tau\le2n$ and add $2e^{-n/16}$ to δ.",
        wrong="Conditioning changes the law of the indices, and it is not argued that this is "
        "harmless.",
        instead="No condition and no such term: steps without a gradient cost nothing.",
        modules=("dpsco_core.privacy.shuffled_steps", "dpsco_core.sco.private_sgd"),
    ),
    _entry(
        slug="arora.delta-sum",
        statement="Theorem 6",
        severity="wrong constant or rate",
        printed=r"$\delta+\delta'+2e^{-n/16}$.",
        wrong=r"Theorem 5 at $\tau=2n$ gives $2\delta+\delta'$. The constant 8 of the noise makes "
        "up for it.",
        instead="The printed guarantee is checked against the sound accountant at run time.",
        modules=("dpsco_core.sco.private_sgd",),
        experiment=Experiment(name="What the chain adds up to", run=runs.delta_sums),
    ),
    _entry(
        slug="arora.second-order",
        statement="Theorem 5",
        severity="wrong constant or rate",
        printed=r"Second-order term $4\tau\tilde\epsilon^2/n^2$.",
        wrong=r"The proof's inequalities give 8; 4 is right for $\tilde\epsilon\le1$ and fails by "
        r"about 1 % at $\tilde\epsilon=1.256$.",
        instead="Exact composition.",
        modules=("dpsco_core.privacy.shuffled_steps",),
        experiment=Experiment(name="The exact second-order factor", run=runs.second_order),
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
        statement="Section 5",
        severity="misprint",
        printed="An analysis in Rényi privacy is announced; ε “inversely proportional to the "
        "number of samples”; “noisy mirror descent”.",
        wrong=r"The proof is classical advanced composition, $\epsilon=O(1/\sqrt n)$, and only the "
        "Euclidean step is analysed.",
        instead="Mirror descent with a general potential is a method of its own, with its own "
        "bound.",
        modules=("dpsco_core.sco.lp_noisy", "dpsco_core.bounds.lq_explicit"),
    ),
    _entry(
        slug="arora.amplification-loses",
        statement="Theorem 6 with Remark 1",
        severity="wrong constant or rate",
        printed=r"$\sigma=\frac{8L\sqrt{\log(1/\delta)}}{\sqrt n\,\epsilon}$.",
        wrong="Below about 10,000 records it is more noise than no amplification asks for.",
        instead="The least noise that either accountant proves; the printed noise is calibration "
        "“paper”.",
        modules=("dpsco_core.privacy.shuffled_steps", "dpsco_core.bounds.sco_private_sgd"),
        experiment=Experiment(name="Three noises for one target", run=runs.noise_of_the_theorem),
    ),
    _entry(
        slug="arora.vacuous-remark",
        statement="Remark 1",
        severity="missing condition",
        printed=r"$\frac{5LD}{\sqrt n}+\frac{160LD\sqrt d\log(3/\delta)}{\epsilon n}$.",
        wrong=r"In its own regime of ε it is below the trivial LD only for more than "
        r"$1600\,d\log(3/\delta)$ records.",
        instead="The regime is a hypothesis, and a bound above the trivial one says so.",
        modules=("dpsco_core.bounds.rows_sco_private_sgd",),
        experiment=Experiment(name="The remark at its largest ε", run=runs.vacuous_remark),
    ),
    _entry(
        slug="arora.regimes",
        statement="Theorem 6, its proof, Remark 1",
        severity="misprint",
        printed=r"$\epsilon\le\frac1{2\sqrt n}$, $\frac{1.256}{\sqrt n}$, $\frac1{\sqrt n}$.",
        wrong="Three different regimes for one statement.",
        instead=r"$\frac1{2\sqrt n}$ where the theorem is quoted; the sound accountant needs none.",
        modules=("dpsco_core.bounds.rows_sco_private_sgd",),
    ),
    _entry(
        slug="arora.utility-constants",
        statement="Corollary 1, Theorem 4, Theorem 6",
        severity="wrong constant or rate",
        printed="Constants 2, 5/2 and 5.",
        wrong="They do not follow from one another: with the proven number of steps the regret has "
        "5/2 and the risk 5; with the exact one 1.193 and 1.693, so that all are true. Theorem 4 "
        "gives 2.5 where Theorem 6 prints 5.",
        instead="The sum over the steps that are really made, at its best step size.",
        modules=("dpsco_core.bounds.sco_private_sgd",),
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
        modules=("dpsco_core.sco.private_sgd", "dpsco_core.bounds.sco_private_sgd"),
    ),
    _entry(
        slug="arora.diameter",
        statement="Section 2 and Theorem 4 against Section 4 and Theorem 6",
        severity="missing condition",
        printed="D.",
        wrong="A bound on norms in one place, a diameter in the other.",
        instead="The distance from the first iterate to the minimiser, from the set's diameter.",
        modules=("dpsco_core.bounds.sco_private_sgd",),
    ),
    _entry(
        slug="arora.stopping-rule",
        statement="Algorithm 1, prose, Lemma 1, appendix A",
        severity="misprint",
        printed=r"Stop at $>n/2$, $\ge n/2$, $=n$; $E\tau=O(n+ne^{-n/16})$; "
        r"$\Pr[q_T\le n/2]\le2e^{-T/16}$ “from the above”.",
        wrong=r"Three rules; $2n+32e^{-n/8}$ by the quoted tail, which needs the union bound.",
        instead="The pseudo-code's rule, and the exact mean number of steps.",
        modules=("dpsco_core.sco.private_sgd", "dpsco_core.bounds.sco_private_sgd"),
    ),
    _entry(
        slug="arora.mirror-notation",
        statement="Sections 2 and 4, Theorem 3, (3)",
        severity="misprint",
        printed=r"A dual norm with min, Lipschitz “w.r.t. the dual norm”, "
        r"$\frac1\alpha\|\cdot\|_*^2$, $\nabla f_t(w_t)$ inside $D_{\Phi^*}$, "
        r"$\mathcal N(0,\sigma I)$.",
        wrong=r"max; the primal norm; $\frac1{2\alpha}$; $\nabla\Phi(w_t)$; $\sigma^2$. (3) lacks "
        "an expectation and loses a factor 2.",
        instead="The corrected forms.",
        modules=("dpsco_core.geometry.mirror", "dpsco_core.sco.lp_noisy"),
    ),
    _entry(
        slug="arora.prior-rates",
        statement="Sections 1, 3 and 6",
        severity="misprint",
        printed=r"Empirical risk $d/(\epsilon n)$ for Bassily et al. (2014), two population "
        r"rates for the same work, $(n\epsilon)^2/\sqrt d$ gradients.",
        wrong=r"$\sqrt d/(\epsilon n)$; only the form with max is meaningful; a plain balance "
        r"gives $(n\epsilon)^2/d$.",
        instead="The original rates, each said to be quoted.",
        modules=("dpsco_core.bounds.sco_rates", "dpsco_core.bounds.rows_sco_prior"),
    ),
)
