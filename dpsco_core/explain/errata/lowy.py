"""What was found in Lowy, Liu and Asi (2024)."""

from __future__ import annotations

from functools import partial

from dpsco_core.base.cards import LOWY_2024
from dpsco_core.explain.errata import lowy_runs as runs
from dpsco_core.explain.errata.base import Erratum, Experiment

_entry = partial(Erratum, paper=LOWY_2024)

ENTRIES: tuple[Erratum, ...] = (
    _entry(
        slug="lowy.kept-points",
        statement="Algorithm 2, Lemma C.2",
        severity="gap in proof",
        printed=r"Score and filter both have the radius $2\tau$; the lemma is “a direct "
        "consequence” of one by Asi and Liu (2024), as Lemma B.2 is for Algorithm 1.",
        wrong="In Algorithm 1 the filter's radius is twice the score's, and then a score of "
        r"$\frac23C$ keeps that many points. With equal radii 40 % may be all that is kept. The "
        "lemma's order survives, with another constant.",
        instead=r"What equal radii prove, $\frac{s-aK}{1-a}$, or a filter radius twice as large; "
        "either with its own sensitivity.",
        modules=("dpsco_core.privacy.filter.sensitivity", "dpsco_core.privacy.filter.robust_mean"),
        experiment=Experiment(name="A hub and six petals", run=runs.kept_points),
    ),
    _entry(
        slug="lowy.laplace-tail",
        statement="Algorithm 1, the number of groups C",
        severity="missing condition",
        printed=r"$C=\frac{100}\varepsilon\log(20nme^\varepsilon/\delta)$.",
        wrong=r"The proof needs the test's noise below $\frac{2C}{15}$ but for a probability of "
        r"$\frac\delta{10e^\varepsilon}$. This C gives that only if "
        r"$(nm)^2\ge20e^\varepsilon/\delta$.",
        instead=r"At least $\frac{150}\varepsilon\log\frac{20e^\varepsilon}\delta$ groups, or a "
        "calibrated test.",
        modules=("dpsco_core.methods.user.printed_groups", "dpsco_core.methods.user.requirements"),
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
        modules=("dpsco_core.methods.user.requirements", "dpsco_core.methods.user.phased_sgd"),
        experiment=Experiment(name="Users and groups at the condition", run=runs.empty_groups),
    ),
    _entry(
        slug="lowy.gaussian-definition",
        statement="Definition A.5, Lemma A.6",
        severity="missing condition",
        printed=r"$\sigma=\Delta\sqrt{2\log(2/\delta)}/\varepsilon$ for every $\varepsilon>0$; "
        "“the Laplace mechanism”.",
        wrong=r"Too small for large ε: from about 6.4 on at $\delta=\frac12$, from about 9.7 on "
        r"at $\delta=10^{-6}$. The proofs use it at $\varepsilon/4\le2.5$, where it holds. The "
        "noise is Gaussian.",
        instead="The exact multiplier.",
        modules=("dpsco_core.methods.user.level", "dpsco_core.privacy.budget"),
        experiment=Experiment(name="Exact δ of the definition", run=runs.gaussian_definition),
    ),
    _entry(
        slug="lowy.batches",
        statement="Algorithm 3, proof of Theorem C.3",
        severity="missing condition",
        printed=r"“The assumption in the theorem ensures that $K_i\le n_i$ for all i”.",
        wrong=r"Not with the printed $K_i$: the last phases, where $T_i$ is about $\ln(ndm)$, "
        "want hundreds of times the users that they have.",
        instead="All users of the phase at every step, which needs no subsampling.",
        modules=(
            "dpsco_core.methods.user.requirements",
            "dpsco_core.methods.user.accelerated.printed",
        ),
        experiment=Experiment(name="Users wanted over users there", run=runs.batch_too_large),
    ),
    _entry(
        slug="lowy.missing-logarithm",
        statement="Algorithm 2, proof of Theorem C.1",
        severity="gap in proof",
        printed=r"$\sigma_i=1000\tau\sqrt{T_i}\log(nde^\varepsilon/\delta)/(\varepsilon n_i)$.",
        wrong=r"The proof's chain asks for two logarithms of $1/\delta$: one in the sensitivity "
        "(8), and half a one each in Lemmas A.6 and A.7. No constant makes up for that at every "
        "δ. A violation is not known.",
        instead="A calibrated noise; the printed one only where it is at least the required one.",
        modules=(
            "dpsco_core.methods.user.accelerated.printed",
            "dpsco_core.methods.user.requirements",
        ),
        experiment=Experiment(name="Printed noise and the chain's", run=runs.missing_logarithm),
    ),
    _entry(
        slug="lowy.with-replacement",
        statement="Algorithm 2, line 3",
        severity="gap in proof",
        printed="Users are drawn “uniformly with replacement”.",
        wrong="One user may fill several slots. The sensitivity of the score, Lemma A.8 and the "
        "variance in (12) are for sampling without replacement.",
        instead="Without replacement.",
        modules=("dpsco_core.privacy.subsampling", "dpsco_core.methods.user.accelerated.batches"),
        experiment=Experiment(name="Users with several slots", run=runs.repeated_users),
    ),
    _entry(
        slug="lowy.amplified-tests",
        statement="Proof of Theorem C.1",
        severity="gap in proof",
        printed="Amplification by subsampling after conditioning on the tests.",
        wrong="The tests look at the subsample: given them it is no longer uniform.",
        instead="Full batches, or test and noise amplified together as one mechanism.",
        modules=(
            "dpsco_core.privacy.filter.noisy_test",
            "dpsco_core.methods.user.accelerated.batches",
        ),
    ),
    _entry(
        slug="lowy.threshold-noise",
        statement="Algorithm 2, line 4; Algorithm 4",
        severity="misprint",
        printed="Threshold noise inside the loop, a stop at the first “above”.",
        wrong="AboveThreshold draws one threshold; here the run goes on while above. The indices "
        "of ν, of the score and of the output are off by one.",
        instead="One threshold a phase, on the negated score.",
        modules=("dpsco_core.privacy.filter.noisy_test",),
    ),
    _entry(
        slug="lowy.accelerated-sequences",
        statement="Algorithm 2",
        severity="misprint",
        printed=r"One sequence $x^t$, output $x^{T_i}$, noise $\mathcal N(0,\sigma_i^2)$.",
        wrong="The accelerated method that is cited has three sequences; it takes gradients at "
        "the middle one and returns the aggregate. (Remark C.5 says that its stages are left "
        r"out.) The noise is $\mathcal N(0,\sigma_i^2I_d)$, and the last iterate $x^{T_i+1}$.",
        instead="The method of Ghadimi and Lan with its three sequences, in stages.",
        modules=("dpsco_core.methods.user.accelerated.sgd",),
    ),
    _entry(
        slug="lowy.projection",
        statement="Algorithm 1, line 22",
        severity="missing condition",
        printed=r"$x_i=\tilde x_i+\zeta_i$, and “output 0”.",
        wrong="The point may leave the set, where the loss need not be Lipschitz; 0 need not be in "
        "the set.",
        instead="A projection; after a halt the last point that does not depend on the phase.",
        modules=("dpsco_core.methods.user.phased_sgd",),
    ),
    _entry(
        slug="lowy.unused-users",
        statement="Algorithm 1",
        severity="valid but loose",
        printed=r"Phases from $i=1$, with $n_i=(1-2^{-q})n2^{-iq}$.",
        wrong=r"$n(1-2^{-q})$ users are never used. The first step size is $\eta2^{-p}$ where the "
        "proof has η: a constant $2^p$.",
        instead="Phases that halve the users, from the first on.",
        modules=("dpsco_core.methods.user.phased_sgd", "dpsco_core.methods.user.calibrated"),
    ),
    _entry(
        slug="lowy.first-noise",
        statement="Algorithm 1 with its constants",
        severity="valid but loose",
        printed=r"$\tau_i=1000\eta_iL\sqrt{T_i}\log(ndm)$, "
        r"$\sigma_i=100\tau_i\log^2(n/\delta)/(\varepsilon C)$.",
        wrong="With the least J that Theorem B.1 allows, the noise of the first phase is "
        "hundreds of diameters and does not fall with n; a larger J divides it by $2^J$ and "
        "multiplies the sampling error by as much.",
        instead="Dimension-free radii with proven constants and an exact multiplier.",
        modules=("dpsco_core.methods.user.calibrated", "dpsco_core.privacy.filter.plan"),
        experiment=Experiment(name="Noise of the first phase", run=runs.first_phase_noise),
    ),
    _entry(
        slug="lowy.power-of-epsilon",
        statement="Theorem 2.1 (B.1)",
        severity="valid but loose",
        printed=r"Private term with $\varepsilon^{-1}$.",
        wrong=r"The proof gives $\varepsilon^{-1/2}$, which is less for small ε.",
        instead="Both rates are rows.",
        modules=("dpsco_core.bounds.user.rates",),
        experiment=Experiment(name="Stated and proven rate", run=runs.power_of_epsilon),
    ),
    _entry(
        slug="lowy.reversed-sandwich",
        statement="Lemma D.1",
        severity="misprint",
        printed=r"$f_r\le f\le f_r+Lr$.",
        wrong=r"By Jensen $f\le f_r\le f+Lr$. Nothing else changes.",
        instead=r"$0\le f_r-f\le Lr\frac d{d+1}$.",
        modules=("dpsco_core.methods.user.smoothing",),
        experiment=Experiment(name="The mean norm in a ball", run=runs.reversed_sandwich),
    ),
    _entry(
        slug="lowy.smoothed-regulariser",
        statement="Proof of Theorem D.3",
        severity="gap in proof",
        printed=r"$\lambda=1/\sqrt{mn}$.",
        wrong="The factor L/R and the private term of Theorem C.3's λ are missing. By (18) the "
        r"risk is optimal then only for $d\lesssim\varepsilon^2n$. With Theorem C.3's λ the "
        "theorem stands.",
        instead="The regulariser of Theorem C.3.",
        modules=("dpsco_core.methods.user.accelerated.nonsmooth",),
        experiment=Experiment(name="Private error at both", run=runs.regulariser_without_privacy),
    ),
    _entry(
        slug="lowy.dropped-gradients",
        statement="Theorem 4.1 (D.3)",
        severity="wrong constant or rate",
        printed=r"$mn(1+n^{3/8}m^{1/4}\varepsilon^{1/4})$ gradients.",
        wrong=r"By the proof's $T_i$ and $K_i$ there is a term $n^{3/4}m^{3/2}\varepsilon^{-1/2}$ "
        r"more, which is the largest for $m>n^{5/2}\varepsilon^3$; and $\varepsilon^{5/4}$ in the "
        r"place of $\varepsilon^{1/4}$, which is less for ε below 1.",
        instead="The whole count; the printed one is a row of its own.",
        modules=("dpsco_core.bounds.user.complexity",),
        experiment=Experiment(name="Both counts", run=runs.gradient_count),
    ),
    _entry(
        slug="lowy.sum-for-minimum",
        statement="Theorem 3.2 (C.3)",
        severity="valid but loose",
        printed="A sum of two terms at the end of the count.",
        wrong="Their minimum is enough: either alone bounds the same number.",
        instead="The minimum; the sum is a row of its own.",
        modules=("dpsco_core.bounds.user.complexity",),
        experiment=Experiment(name="Sum and minimum", run=runs.sum_for_minimum),
    ),
    _entry(
        slug="lowy.omitted-condition",
        statement="Theorem 3.2 (C.3)",
        severity="missing condition",
        printed=r"$\varepsilon\le10$ and $\delta<1/(mn)$.",
        wrong="The condition on n of Theorem 3.1, "
        r"$n^{1-q}>\frac{100\log(20nmde^\varepsilon/\delta)}{\varepsilon(1-2^{-q})}$, is needed "
        "too: without it the algorithm is not known to be private.",
        instead="Conditions as hypotheses; results say what a neighbour replaces.",
        modules=("dpsco_core.bounds.user.conditions", "dpsco_core.bounds.user.rates"),
    ),
    _entry(
        slug="lowy.stability-constants",
        statement="Proofs of Lemma 2.3, of Theorems C.1 and C.3, (16)–(18)",
        severity="misprint",
        printed=r"$4\eta^2L^2$; $e^{\varepsilon/2}$ after $e^{\varepsilon/4}$; one logarithm for "
        r"two; $\frac{L^2}\lambda$ before a term with $\tau\propto L$.",
        wrong=r"$16\eta^2L^2$; the exponents do not add up as shown, without harm; two logarithms; "
        r"$L^2$ counts twice.",
        instead="Proofs with their own constants.",
        modules=("dpsco_core.methods.user.level",),
    ),
)
