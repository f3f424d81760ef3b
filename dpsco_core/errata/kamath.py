"""What was found in Kamath, Liu and Zhang (2022)."""

from __future__ import annotations

from functools import partial

from dpsco_core.card import KAMATH_2022
from dpsco_core.errata import kamath_runs as runs
from dpsco_core.errata.base import Erratum, Experiment

_entry = partial(Erratum, paper=KAMATH_2022)

ENTRIES: tuple[Erratum, ...] = (
    _entry(
        slug="kamath.smoothing-noise",
        statement="Algorithm 4 (CDPNSME), appendix B.5",
        severity="not private as printed",
        printed=r"The noise variance $\tau^2d/(\rho n^2)$, because $|\phi|\le1$.",
        wrong=r"The sensitivity lacks $\tau/n$ and the factor 2 of replacing a record: the release "
        r"is $2S_c^2\rho$-zCDP, up to $\frac{16}9\rho$ for a small smoothing variance c, whose "
        "value is not given either.",
        instead=r"Variance $2S_c^2\tau^2d/(\rho n^2)$ with the exact supremum $S_c$; with "
        "calibration “paper” the ledger records what is really spent, and says so.",
        modules=("dpsco_core.mean.smoothed",),
        experiment=Experiment(name="What the printed noise spends", run=runs.smoothing_noise),
    ),
    _entry(
        slug="kamath.smoothing-closed-form",
        statement="Algorithm 4, the integral in closed form (by reference)",
        severity="missing condition",
        printed="The smoothed truncation has a closed form.",
        wrong=r"Evaluated as it stands, it cancels terms of size $|x/\tau|^3$: for entries beyond "
        r"$10^5\tau$ it leaves the range that the noise is made for, without any bound.",
        instead="An integral that does not cancel, in a table over τ/x, and always a clamp at the "
        "supremum, so that rounding cannot widen the sensitivity. NaN counts as 0.",
        modules=("dpsco_core.mean.smooth_clip",),
        experiment=Experiment(name="The raw formula on large entries", run=runs.closed_form),
    ),
    _entry(
        slug="kamath.median-sensitivity",
        statement="Algorithm 3, appendix B.3",
        severity="wrong constant or rate",
        printed=r"A coordinate of the estimate moves by at most $12\tau m/n$.",
        wrong="Valid, but 2 times (odd m) or 4 times (even m) too large: the noise is four times "
        "what is needed with an even number of blocks.",
        instead=r"$6\tau/b$ for odd and $3\tau/b$ for even m, with blocks of b records, unless "
        "calibration “paper” is chosen.",
        modules=("dpsco_core.mean.coordinatewise",),
        experiment=Experiment(name="The worst neighbours by brute force", run=runs.median_moves),
    ),
    _entry(
        slug="kamath.whole-blocks",
        statement="Algorithm 3",
        severity="missing condition",
        printed=r"$m=4\log(2d/\beta)$ blocks of $n/m$ records.",
        wrong="Neither is an integer in general, and the a-priori radius R is never used.",
        instead=r"An integer m, blocks of $b=\lfloor n/m\rfloor$, noise for b and not for n/m, and "
        "a refusal where a block would be empty.",
        modules=("dpsco_core.mean.coordinatewise",),
    ),
    _entry(
        slug="kamath.truncation-window",
        statement="Lemma B.1",
        severity="missing condition",
        printed=r"The truncation bias is at most $3(C/\tau)^{k-1}$ if $\mu-ce\le3\tau$.",
        wrong="False: with the mean at the edge of the window two points at distance 1 have bias "
        "1/2 at every τ. The ends of the window are not defined.",
        instead=r"The window is centred at 0 and $|\mu_j|\le R<3\tau$ is a hypothesis that is "
        "checked.",
        modules=("dpsco_core.bounds.upper_coordinatewise", "dpsco_core.bounds.conditions"),
        experiment=Experiment(name="A law at the window's edge", run=runs.truncation_bias),
    ),
    _entry(
        slug="kamath.bias-constant",
        statement="Lemma B.1, Theorem 4.1",
        severity="wrong constant or rate",
        printed=r"Bias $3(C/\tau)^{k-1}$ with $C\ge14$ and $\tau\ge10$.",
        wrong=r"Above 3 for every $\tau\le14$; it hides $14^{k-1}$, and the hypothesis $\tau\ge10$ "
        r"asks for $n\ge10^k\sqrt{d/\rho}$ records.",
        instead=r"The sharp bias $\frac1k(\frac{k-1}k)^{k-1}t^{1-k}$, $t=3\tau-R$; the printed "
        "constants stay as a bound of their own.",
        modules=("dpsco_core.bounds.upper_coordinatewise", "dpsco_core.mean.base"),
        experiment=Experiment(name="Printed and sharp bias", run=runs.bias_constant),
    ),
    _entry(
        slug="kamath.averaged-iterates",
        statement="Algorithm 1 and the proof of Theorem 3.1",
        severity="misprint",
        printed=r"The average of $w^1,\dots,w^T$, and a telescoping sum that ends at $w^T$.",
        wrong="Gradients are taken at other indices than those that are averaged.",
        instead="Averages the points at which gradients were taken.",
        modules=("dpsco_core.sco.framework",),
    ),
    _entry(
        slug="kamath.fixed-point-bias",
        statement="Theorem 3.1, (3)",
        severity="gap in proof",
        printed="The bias of the gradient estimate at a fixed point bounds it along the run.",
        wrong="The iterates depend on the data: the bias must be bounded at all points at once.",
        instead="Explicit bounds that are uniform over the set.",
        modules=("dpsco_core.bounds.sco_uniform", "dpsco_core.bounds.sco_framework"),
    ),
    _entry(
        slug="kamath.strong-risk",
        statement="Theorem 3.2 and Theorem 5.7",
        severity="gap in proof",
        printed="A bound on the excess risk from Cauchy's inequality over T terms.",
        wrong="The first display bounds a distance and not a risk, there are T + 1 terms, the "
        "noise has a wrong index, and Theorem 5.7 has another T and factor than it gives.",
        instead="Minkowski's inequality, from which Theorem 5.7 follows; the display stands as a "
        "bound of its own with T + 1.",
        modules=("dpsco_core.bounds.sco_framework", "dpsco_core.bounds.sco_strong"),
    ),
    _entry(
        slug="kamath.circular-steps",
        statement="Theorem 5.7",
        severity="missing condition",
        printed=r"T from G, and G up to $\tilde O$.",
        wrong="T and G are defined through each other, with hidden constants in a parameter of the "
        r"algorithm; T is positive only where $G<\lambda L/(\lambda+L)$.",
        instead="G by its explicit formula, T by a search over whole numbers; a hypothesis says "
        "where the theorem is void.",
        modules=("dpsco_core.sco.cwme_strong", "dpsco_core.bounds.sco_strong"),
    ),
    _entry(
        slug="kamath.failure-probability",
        statement="Appendix B.6",
        severity="wrong constant or rate",
        printed=r"$\beta=\frac{Td}n+\dots$ for the second moment of the estimate.",
        wrong=r"On the event that fails the squared error is of order $d\tau^2$ and not 1: β is "
        "too large by that factor.",
        instead="Second moments without a failure event: a plain clipped mean is enough for them.",
        modules=("dpsco_core.bounds.upper_coordinatewise",),
    ),
    _entry(
        slug="kamath.disjoint-blocks",
        statement="Algorithm 2, strongly convex",
        severity="wrong constant or rate",
        printed=r"$\rho/T$ for every call, and cost O(ndT).",
        wrong="The calls use disjoint blocks: each may spend all of ρ, and the cost is O(nd). "
        "Valid as printed, with T times the noise variance that is needed.",
        instead="Parallel composition in the ledger; the divided budget stays as calibration "
        "“paper” and as a bound of its own.",
        modules=("dpsco_core.sco.cwme_strong", "dpsco_core.privacy.composition"),
    ),
    _entry(
        slug="kamath.uniform-blocks",
        statement="Theorem 5.2, appendix B.4",
        severity="missing condition",
        printed=r"β is not in the statement, and $T=M^2\rho n^2/(\tau^2d^4)$.",
        wrong=r"$m\approx24d\ln n$ blocks are needed, and T ignores the factor $72m^2/d^2$ of "
        r"the noise, of order $10^6$ to $10^7$.",
        instead="T from the noise that is really drawn; the number of blocks is a hypothesis.",
        modules=("dpsco_core.sco.cwme", "dpsco_core.bounds.sco_uniform"),
        experiment=Experiment(name="The literal T and its noise", run=runs.literal_steps),
    ),
    _entry(
        slug="kamath.covering",
        statement="Appendix B.4",
        severity="misprint",
        printed=r"Covering number $(M/\alpha)^d$, medians that move by $Lm\alpha$, a bound "
        r"“$\le2R$ for sure”, $N(0,\sigma I)$.",
        wrong=r"$(3M/\alpha)^d$; $L\alpha$; clipped estimates obey $3\tau\sqrt d+R$ only; "
        r"$N(0,\sigma^2I)$; and $4\log2d$ is dropped from m.",
        instead="The repaired chain, every constant kept.",
        modules=("dpsco_core.bounds.sco_uniform",),
    ),
    _entry(
        slug="kamath.lost-diameter-coordinatewise",
        statement="Theorem 5.2",
        severity="wrong constant or rate",
        printed=r"Private term $\frac{d^2M}{n\sqrt\rho}\big(\frac{\sqrt\rho n}{Md^{3/2}}\big)^{1/k}"
        "$, with M inside the threshold.",
        wrong="The excess risk is linear in the diameter M at fixed gradients; a factor M is lost.",
        instead=r"$\tau=(\sqrt\rho n/d^{3/2})^{1/k}$, free of M; the printed rate is a row of its "
        "own.",
        modules=("dpsco_core.bounds.sco_rates", "dpsco_core.sco.cwme"),
        experiment=Experiment(
            name="The private term as M grows", run=runs.lost_diameter_coordinatewise
        ),
    ),
    _entry(
        slug="kamath.lost-diameter-smoothed",
        statement="Theorem 5.5",
        severity="wrong constant or rate",
        printed=r"$\sqrt M\big(d^{(3-q)/2}+d^{(1+q)/2}\rho^{-1/4}\big)/\sqrt n$.",
        wrong=r"The proof has $\rho^{1/4}$ in the first term and M to the power 3/2 in the second.",
        instead=r"The level $\tau^2=n/(d+\sqrt{d/\rho})$, which is better than every q; the "
        "printed rate is a row of its own.",
        modules=("dpsco_core.bounds.sco_rates", "dpsco_core.sco.smoothed"),
        experiment=Experiment(name="Against a proven lower bound", run=runs.lost_diameter_smoothed),
    ),
    _entry(
        slug="kamath.impossible-signs",
        statement="Appendices B.8 and B.9",
        severity="misprint",
        printed=r"$\nu\in\{\pm1\}^d$ with $\|\nu\|_1=d/2$.",
        wrong="There is no such vector.",
        instead=r"$\nu\in\{0,1\}^d$ of weight d/2, with which all stated numbers hold.",
        modules=("dpsco_core.bounds.spikes", "dpsco_core.data.hard"),
    ),
    _entry(
        slug="kamath.void-packing",
        statement="Lemma 6.3, Theorem 6.4 (appendices B.8, B.9)",
        severity="wrong constant or rate",
        printed=r"$p=\min(1,\sqrt d/(n\sqrt\rho))$, after which “it can be shown”.",
        wrong="With constant 1 Fano's inequality gives 0 for every binary code.",
        instead="The best p is searched, and the bound is proven with its constant.",
        modules=("dpsco_core.bounds.best", "dpsco_core.bounds.spikes"),
        experiment=Experiment(name="Fano at the printed and the best p", run=runs.void_packing),
    ),
    _entry(
        slug="kamath.plotkin",
        statement="Appendix B.9, the term without privacy",
        severity="gap in proof",
        printed=r"$2^{d/8}$ words at pairwise distance d/2.",
        wrong="Plotkin's bound allows at most 2d of them.",
        instead="Distance d/8, or exact Gilbert sizes at the best distance.",
        modules=("dpsco_core.bounds.spikes",),
        experiment=Experiment(name="Words asked for and allowed", run=runs.plotkin),
    ),
    _entry(
        slug="kamath.gaussian-instance",
        statement="Lemma 6.3, appendix B.9",
        severity="gap in proof",
        printed="A Gaussian of variance 1 as the hard instance.",
        wrong=r"Its k-th moment exceeds 1 for every $k>2$: it is outside the class.",
        instead=r"Deviation $\sigma_k=(E|Z|^k)^{-1/k}$, or bounded signs with a constant that does "
        "not depend on k.",
        modules=("dpsco_core.bounds.gaussian",),
        experiment=Experiment(name="Moments of a normal variable", run=runs.gaussian_moments),
    ),
    _entry(
        slug="kamath.fano-statement",
        statement="Theorem 1.4, appendix B.10",
        severity="missing condition",
        printed=r"Fano's inequality for concentrated privacy with a bound β on the divergence.",
        wrong="β is per sample, so that the bound needs nβ; the triangle inequality of the loss is "
        "used and not assumed; the proof puts a coupling into an expectation over independent "
        "draws.",
        instead="nβ, a squared loss with r/4, and the mutual information bounded directly.",
        modules=("dpsco_core.bounds.fano",),
    ),
    _entry(
        slug="kamath.lower-bound-class",
        statement="Theorems 6.1, 6.4 and Assumption 2.12; Lemma 6.3 and Theorem 4.1",
        severity="missing condition",
        printed="Lower bounds for the class of the upper bounds.",
        wrong=r"Their instances are outside it: losses change sign, gradients at the minimum are "
        r"not 0, and $\|\mu\|=p^a\sqrt{d/2}$ is beyond the a-priori radius R.",
        instead="They bind the moment class; for a like-for-like comparison p is capped where the "
        "mean leaves the set.",
        modules=("dpsco_core.bounds.lower_sco", "dpsco_core.bounds.best"),
    ),
    _entry(
        slug="kamath.hidden-logarithms",
        statement="Theorems 5.2 and 5.5, appendix B.11",
        severity="misprint",
        printed=r"$O(\cdot)$, and $\log$ in (20).",
        wrong=r"The lemmas give $\tilde O(\cdot)$ only; (20) has $\sqrt d$ too much and lacks a "
        "root of its logarithm.",
        instead="Rates say which logarithms they drop; Theorem B.8 keeps them.",
        modules=("dpsco_core.bounds.sco_rates", "dpsco_core.bounds.rows_sco_coordinatewise"),
    ),
)
