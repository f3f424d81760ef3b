"""What was found in Lowy, Liu and Asi (2024)."""

from __future__ import annotations

from functools import partial

from dpsco_core.card import LOWY_2024
from dpsco_core.errata import lowy_runs as runs
from dpsco_core.errata.base import Erratum, Experiment

_entry = partial(Erratum, paper=LOWY_2024)

ENTRIES: tuple[Erratum, ...] = (
    _entry(
        slug="lowy.kept-points",
        statement="Algorithm 2, Lemma C.2",
        severity="wrong constant or rate",
        printed=r"One radius for score and filter, and at least $\frac23K$ points kept.",
        wrong="False with equal radii: 40 % may be all that is kept. The sensitivity's constant "
        "changes, its order does not.",
        instead=r"What equal radii prove, $\frac{s-aK}{1-a}$, or a filter radius twice as large; "
        "either with its own sensitivity.",
        modules=("dpsco_core.privacy.filter_sensitivity", "dpsco_core.privacy.robust_filter"),
        experiment=Experiment(name="A hub and six petals", run=runs.kept_points),
    ),
    _entry(
        slug="lowy.laplace-tail",
        statement="Algorithm 1, the number of groups C",
        severity="missing condition",
        printed=r"$C=\frac{100}\varepsilon\log(20nme^\varepsilon/\delta)$.",
        wrong=r"The proof needs the test's noise in its range but for $\delta/(10e^\varepsilon)$; "
        r"C gives that only if $(nm)^2\ge20e^\varepsilon/\delta$.",
        instead=r"At least $\frac{150}\varepsilon\log\frac{20e^\varepsilon}\delta$ groups, or a "
        "calibrated test.",
        modules=("dpsco_core.users.printed_groups", "dpsco_core.problems.user_requirements"),
        experiment=Experiment(name="The tail and what δ has for it", run=runs.laplace_excess),
    ),
    _entry(
        slug="lowy.empty-groups",
        statement="Theorem B.1",
        severity="missing condition",
        printed=r"$n^{1-q}\ge\frac{100\log(n/\delta)}{(1-2^{-q})\varepsilon}$.",
        wrong="C has a larger logarithm: the last phase may have fewer users than groups. For n up "
        "to 10,000 and ε up to 1 the algorithm cannot run as printed.",
        instead="Every condition is checked by itself; the refusal names the number of users.",
        modules=("dpsco_core.problems.user_requirements", "dpsco_core.users.phased_sgd"),
        experiment=Experiment(name="Users and groups at the condition", run=runs.empty_groups),
    ),
    _entry(
        slug="lowy.gaussian-definition",
        statement="Definition A.5, Lemma A.6",
        severity="not private as printed",
        printed=r"$\sigma=\Delta\sqrt{2\log(2/\delta)}/\varepsilon$ for every $\varepsilon>0$; "
        "“Laplace”.",
        wrong=r"Too small from ε of about 9 to 10 on. The proofs use it at $\varepsilon/4\le2.5$, "
        "where it holds. The noise is Gaussian.",
        instead="The exact multiplier.",
        modules=("dpsco_core.problems.user_level", "dpsco_core.privacy.budget"),
        experiment=Experiment(name="Exact δ of the definition", run=runs.gaussian_definition),
    ),
    _entry(
        slug="lowy.batches",
        statement="Algorithm 3, Theorem C.1",
        severity="missing condition",
        printed=r"$K_i\le n_i$ “ensured by the assumption”.",
        wrong="Not with these constants: the last phases want hundreds of times the users that "
        "they have.",
        instead="All users of the phase at every step, which needs no subsampling.",
        modules=("dpsco_core.problems.user_requirements", "dpsco_core.users.accelerated_printed"),
        experiment=Experiment(name="Users wanted over users there", run=runs.batch_too_large),
    ),
    _entry(
        slug="lowy.missing-logarithm",
        statement="Algorithm 2",
        severity="wrong constant or rate",
        printed=r"$\sigma_i=1000\tau\sqrt{T_i}\log(nde^\varepsilon/\delta)/(\varepsilon n_i)$.",
        wrong=r"The worst case needs $\log^2(1/\delta)$ with subsampling, $\log^{3/2}$ without. "
        "The 1000 covers full batches; with subsampling it is too little for small δ.",
        instead="A calibrated noise; the printed one only where it is at least the required one.",
        modules=("dpsco_core.users.accelerated_printed", "dpsco_core.problems.user_requirements"),
        experiment=Experiment(name="Printed over required noise", run=runs.missing_logarithm),
    ),
    _entry(
        slug="lowy.with-replacement",
        statement="Algorithm 2, line 3",
        severity="missing condition",
        printed="Users are drawn “uniformly with replacement”.",
        wrong="One user may fill several slots; Lemma A.8, the variance lemma and all "
        "sensitivities are for sampling without replacement.",
        instead="Without replacement.",
        modules=("dpsco_core.privacy.subsampling", "dpsco_core.users.accelerated_batches"),
        experiment=Experiment(name="Users with several slots", run=runs.repeated_users),
    ),
    _entry(
        slug="lowy.amplified-tests",
        statement="Proof of Theorem C.1",
        severity="gap in proof",
        printed="Amplification by subsampling after conditioning on the tests.",
        wrong="The tests look at the subsample: given them it is no longer uniform.",
        instead="Full batches, or test and noise amplified together as one mechanism.",
        modules=("dpsco_core.privacy.filtered", "dpsco_core.users.accelerated_batches"),
    ),
    _entry(
        slug="lowy.threshold-noise",
        statement="Algorithm 2, line 4; Algorithm 4",
        severity="misprint",
        printed="Threshold noise inside the loop, a stop at the first “above”.",
        wrong="AboveThreshold draws one threshold; here the run goes on while above. The indices "
        "of ν, of the score and of the output are off by one.",
        instead="One threshold a phase, on the negated score.",
        modules=("dpsco_core.privacy.filtered",),
    ),
    _entry(
        slug="lowy.accelerated-sequences",
        statement="Algorithm 2",
        severity="misprint",
        printed=r"One sequence $x^t$, output $x^{T_i}$, noise $\mathcal N(0,\sigma_i^2)$.",
        wrong="The accelerated method has three sequences; gradients are taken at the middle one, "
        r"and the aggregate is the answer; $\mathcal N(0,\sigma_i^2I_d)$.",
        instead="The method of Ghadimi and Lan with its three sequences, in stages.",
        modules=("dpsco_core.users.accelerated_sgd",),
    ),
    _entry(
        slug="lowy.projection",
        statement="Algorithm 1, line 22",
        severity="missing condition",
        printed=r"$x_i=\tilde x_i+\zeta_i$, and “output 0”.",
        wrong="The point may leave the set, where the loss need not be Lipschitz; 0 need not be in "
        "the set.",
        instead="A projection; after a halt the last point that does not depend on the phase.",
        modules=("dpsco_core.users.phased_sgd",),
    ),
    _entry(
        slug="lowy.unused-users",
        statement="Algorithm 1",
        severity="wrong constant or rate",
        printed=r"Phases from $i=1$, with $n_i=(1-2^{-q})n2^{-iq}$.",
        wrong=r"$n(1-2^{-q})$ users are never used, and the first step size is shrunk although the "
        "proof has it whole: a constant $2^p$.",
        instead="Phases that halve the users, from the first on.",
        modules=("dpsco_core.users.phased_sgd", "dpsco_core.problems.user_calibrated"),
    ),
    _entry(
        slug="lowy.first-noise",
        statement="Algorithm 1 with its constants",
        severity="wrong constant or rate",
        printed=r"$\tau_i=1000\eta_iL\sqrt{T_i}\log(ndm)$, $\sigma_i=100\tau_i\log^2(n/\delta)/"
        r"(\varepsilon C)$.",
        wrong="The noise of the first phases is hundreds of diameters at every n, m and d: it is "
        "clipped by the set.",
        instead="Dimension-free radii with proven constants and an exact multiplier.",
        modules=("dpsco_core.problems.user_calibrated", "dpsco_core.privacy.filter_plan"),
        experiment=Experiment(name="Noise of the first phase", run=runs.first_phase_noise),
    ),
    _entry(
        slug="lowy.power-of-epsilon",
        statement="Theorem 2.1 (B.1)",
        severity="wrong constant or rate",
        printed=r"Private term with $\varepsilon^{-1}$.",
        wrong=r"The proof gives $\varepsilon^{-1/2}$.",
        instead="Both rates are rows.",
        modules=("dpsco_core.bounds.user_rates",),
        experiment=Experiment(name="Stated and proven rate", run=runs.power_of_epsilon),
    ),
    _entry(
        slug="lowy.trivial-is-better",
        statement="Footnote 3 against Theorem 2.1",
        severity="missing condition",
        printed="State of the art in linear time.",
        wrong="Group privacy on an item-level method has a smaller rate whenever m is at most n "
        "and ε at most 1.",
        instead="Group privacy and clipped user gradients are methods to compare with; the page "
        "Users shows where who is better.",
        modules=("dpsco_core.users.group_privacy", "dpsco_core.bounds.user_rates"),
        experiment=Experiment(name="Two rates as m grows", run=runs.trivial_is_better),
    ),
    _entry(
        slug="lowy.reversed-sandwich",
        statement="Lemma D.1",
        severity="misprint",
        printed=r"$f_r\le f\le f_r+Lr$.",
        wrong=r"By Jensen $f\le f_r\le f+Lr$. Nothing else changes.",
        instead=r"$0\le f_r-f\le Lr\frac d{d+1}$.",
        modules=("dpsco_core.bounds.user_rates", "dpsco_core.problems.user_smoothing"),
        experiment=Experiment(name="The mean norm in a ball", run=runs.reversed_sandwich),
    ),
    _entry(
        slug="lowy.smoothed-regulariser",
        statement="Theorem D.3",
        severity="wrong constant or rate",
        printed=r"$\lambda=1/\sqrt{mn}$.",
        wrong=r"The factor L/R and the private term are missing: optimal only for "
        r"$d\lesssim\varepsilon^2n$.",
        instead="The regulariser of Theorem C.3.",
        modules=("dpsco_core.users.accelerated_nonsmooth", "dpsco_core.bounds.user_rates"),
        experiment=Experiment(name="Private error at both", run=runs.regulariser_without_privacy),
    ),
    _entry(
        slug="lowy.dropped-gradients",
        statement="Theorem 4.1 (D.3)",
        severity="wrong constant or rate",
        printed=r"$mn(1+n^{3/8}m^{1/4}\varepsilon^{1/4})$ gradients.",
        wrong=r"$n^{3/4}m^{3/2}\varepsilon^{-1/2}$ is dropped, and $\varepsilon^{1/4}$ should be "
        r"$\varepsilon^{5/4}$.",
        instead="The whole count; the printed one is a row of its own.",
        modules=("dpsco_core.bounds.user_complexity",),
        experiment=Experiment(name="Both counts", run=runs.gradient_count),
    ),
    _entry(
        slug="lowy.sum-for-minimum",
        statement="Theorem 3.2 (C.3)",
        severity="wrong constant or rate",
        printed="A sum of two terms at the end of the count.",
        wrong="Their minimum: either alone bounds the same number.",
        instead="The minimum; the sum is a row of its own.",
        modules=("dpsco_core.bounds.user_complexity",),
        experiment=Experiment(name="Sum and minimum", run=runs.sum_for_minimum),
    ),
    _entry(
        slug="lowy.small-epsilon",
        statement="Lemma 3.5, Theorems 3.1, 3.2",
        severity="missing condition",
        printed=r"$\varepsilon\le10$, “$(\varepsilon,\delta)$-DP”.",
        wrong=r"The lemma has a constant $e^{2\varepsilon}$; Theorem 3.2 omits the condition on n; "
        "user-level privacy is meant.",
        instead="Conditions as hypotheses; results say what a neighbour replaces.",
        modules=("dpsco_core.bounds.user_conditions", "dpsco_core.bounds.rows_user_rates"),
    ),
    _entry(
        slug="lowy.stability-constants",
        statement="Proofs of Lemma 2.3, of Theorems C.1 and C.3, (16)–(18)",
        severity="misprint",
        printed=r"$4\eta^2L^2$; $e^{\varepsilon/2}$ after $e^{\varepsilon/4}$; one logarithm for "
        r"two; $\frac{L^2}\lambda$ before a term with $\tau\propto L$.",
        wrong=r"$16\eta^2L^2$; the exponents do not add up as shown, without harm; two logarithms; "
        r"$L^2$ counts twice.",
        instead="Proofs of the notes with their own constants.",
        modules=("dpsco_core.bounds.user_rates", "dpsco_core.problems.user_level"),
    ),
    _entry(
        slug="lowy.prior-conditions",
        statement="Introduction and Remark 3.3",
        severity="misprint",
        printed=r"Bassily and Sun (2023) need $m\le\max(\sqrt d,n\varepsilon^2/\sqrt d)$, and "
        r"$m<n$; smooth methods before took $(mn)^{3/2}$, and $mn^{3/2}$.",
        wrong="Two versions of one condition, and of one count.",
        instead="The rows quote the first, and say that they are quoted.",
        modules=("dpsco_core.bounds.rows_user_rates", "dpsco_core.bounds.rows_user_gradients"),
    ),
)
