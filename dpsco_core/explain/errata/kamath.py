"""What was found in Kamath, Liu and Zhang (2022)."""

from __future__ import annotations

from functools import partial

from dpsco_core.base.cards import KAMATH_2022
from dpsco_core.explain.errata import kamath_runs as runs
from dpsco_core.explain.errata.base import Erratum, Experiment

_entry = partial(Erratum, paper=KAMATH_2022)

ENTRIES: tuple[Erratum, ...] = (
    _entry(
        slug="kamath.smoothing-noise",
        statement="Algorithm 4 (CDPNSME), appendix B.5",
        severity="not private as printed",
        printed=r"Noise of variance $\tau^2d/(\rho n^2)$ gives ρ-CDP for any constant c, because "
        r"$|\phi|\le1$ and so $\Delta_2\le\sqrt d$.",
        wrong=r"The sensitivity lacks $\tau/n$ and the factor 2 of replacing a record. With "
        r"smoothing variance c the release is $2S_c^2\rho$-zCDP, $S_c$ the supremum of the "
        r"smoothed truncation: up to $\frac{16}9\rho$, and at most ρ only where $c\ge0.756$. The "
        "paper leaves c open.",
        instead=r"Variance $2S_c^2\tau^2d/(\rho n^2)$ with the exact supremum $S_c$; with "
        "calibration “paper” the ledger records what is really spent, and says so.",
        modules=("dpsco_core.methods.mean.smoothed",),
        experiment=Experiment(name="What the printed noise spends", run=runs.smoothing_noise),
    ),
    _entry(
        slug="kamath.median-sensitivity",
        statement="Algorithm 3, appendix B.3",
        severity="valid but loose",
        printed=r"A coordinate of the estimate moves by at most $12\tau m/n$.",
        wrong="True. The most that it moves is a half of that for odd m and a quarter for even m, "
        "so that an even number of blocks needs a quarter of the printed noise.",
        instead=r"$6\tau/b$ for odd and $3\tau/b$ for even m, with blocks of b records, unless "
        "calibration “paper” is chosen.",
        modules=(
            "dpsco_core.methods.mean.coordinatewise",
            "dpsco_core.methods.mean.coordinatewise_pure",
        ),
        experiment=Experiment(name="The worst neighbours by brute force", run=runs.median_moves),
    ),
    _entry(
        slug="kamath.whole-blocks",
        statement="Algorithm 3",
        severity="missing condition",
        printed=r"$m=4\log(2d/\beta)$ blocks of $n/m$ records.",
        wrong="Neither is a whole number in general, and $n\\ge m$ is not asked for. Rounding is "
        "not harmless: with m rounded up to an odd number and blocks of one record, the estimate "
        r"moves by more than the $12\tau m/n$ that the noise is made for.",
        instead=r"An integer m, blocks of $b=\lfloor n/m\rfloor$, noise for b and not for n/m, and "
        "a refusal where a block would be empty.",
        modules=(
            "dpsco_core.methods.mean.coordinatewise",
            "dpsco_core.methods.mean.coordinatewise_pure",
        ),
        experiment=Experiment(name="Rounded blocks", run=runs.rounded_blocks),
    ),
    _entry(
        slug="kamath.truncation-window",
        statement="Lemma B.1",
        severity="missing condition",
        printed=r"The truncation bias is at most $3(C/\tau)^{k-1}$ if $\mu-ce\le3\tau$.",
        wrong="False with the mean at the edge of the window: two points at distance 1 from it "
        "have bias 1/2 at every τ, and no constant C helps. What a point outside becomes (a and b) "
        r"is not defined. Theorem 4.1 uses the lemma where $|\mu_j|\le R\le\tau$, and there it is "
        "true.",
        instead=r"The window is centred at 0 and $|\mu_j|\le R<3\tau$ is a hypothesis that is "
        "checked.",
        modules=("dpsco_core.bounds.mean.coordinatewise", "dpsco_core.bounds.conditions"),
        experiment=Experiment(name="A law at the window's edge", run=runs.truncation_bias),
    ),
    _entry(
        slug="kamath.bias-constant",
        statement="Lemma B.1, Theorem 4.1, Corollary 4.2",
        severity="valid but loose",
        printed=r"Bias $3(C/\tau)^{k-1}$ with $C\ge14$ and $\tau\ge10$.",
        wrong=r"At least 3 for every $\tau\le14$, and the hidden constant holds $14^{k-1}$. With "
        r"the level of Corollary 4.2, $\tau\ge10$ asks for $n\ge10^k\sqrt{d/\rho}$ records.",
        instead=r"The sharp bias $\frac1k(\frac{k-1}k)^{k-1}t^{1-k}$, $t=3\tau-R$; the printed "
        "constants stay as a bound of their own.",
        modules=("dpsco_core.bounds.mean.coordinatewise", "dpsco_core.methods.mean.base"),
        experiment=Experiment(name="Printed and sharp bias", run=runs.bias_constant),
    ),
    _entry(
        slug="kamath.averaged-iterates",
        statement="Algorithm 1 and the proof of Theorem 3.1",
        severity="misprint",
        printed=r"The average of $w^1,\dots,w^T$, and a telescoping sum that ends at $w^T$.",
        wrong=r"The algorithm takes gradients at $w^0,\dots,w^{T-1}$, the proof at $w^1,\dots,w^T$ "
        r"with a sum that ends at $w^{T+1}$. The two averages differ by at most $RM/T$ in risk.",
        instead="Averages the points at which gradients were taken.",
        modules=("dpsco_core.methods.euclidean.framework",),
    ),
    _entry(
        slug="kamath.fixed-point-bias",
        statement="Theorem 3.1, (3)",
        severity="gap in proof",
        printed="The bias of the gradient estimate at a fixed point bounds it along the run.",
        wrong="The iterates depend on the data: the bias must be bounded at all points at once. "
        "Section 3 says so, and the covering of appendix B.4 provides it, but neither the "
        "hypothesis of the theorem nor (3) uses it.",
        instead="Explicit bounds that are uniform over the set.",
        modules=("dpsco_core.bounds.euclidean.uniform", "dpsco_core.bounds.euclidean.framework"),
    ),
    _entry(
        slug="kamath.strong-risk",
        statement="Theorem 3.2 and Theorem 5.7",
        severity="wrong constant or rate",
        printed=r"Excess risk at most $q^TM+\frac{(\lambda+L)G}{\lambda L}$ with "
        r"$q=1-\frac{\lambda L}{(\lambda+L)^2}$; and a second bound from the Cauchy-Schwarz "
        "inequality over T terms.",
        wrong="The first bounds the distance to the minimiser; the risk needs a factor R. In the "
        "second there are T + 1 terms, and the noise has a wrong index. Theorem 5.7 is said to "
        "follow at once, with another T and another factor.",
        instead="Minkowski's inequality, from which Theorem 5.7 follows; the second bound stands "
        "as one of its own with T + 1.",
        modules=(
            "dpsco_core.bounds.euclidean.framework",
            "dpsco_core.bounds.euclidean.strong",
        ),
        experiment=Experiment(name="One exact step", run=runs.strong_risk),
    ),
    _entry(
        slug="kamath.circular-steps",
        statement="Theorem 5.7",
        severity="missing condition",
        printed=r"T from G, and G up to $\tilde O$.",
        wrong="A number of steps cannot be read off a G with hidden constants, and by Lemma B.5 "
        r"this G depends on T. T is positive only where $G<\lambda L/(\lambda+L)$, of which "
        "footnote 8 (n large enough) is the only trace.",
        instead="G by its explicit formula, T by a search over whole numbers; a hypothesis says "
        "where the theorem is void.",
        modules=(
            "dpsco_core.methods.euclidean.cwme_strong",
            "dpsco_core.bounds.euclidean.strong",
        ),
    ),
    _entry(
        slug="kamath.failure-probability",
        statement="Appendix B.6, Lemma B.5",
        severity="gap in proof",
        printed=r"The second moment of the estimate is a direct consequence of Theorem 4.1 at "
        r"$\beta=\frac{Td}n+\dots$.",
        wrong=r"Theorem 4.1 says nothing on an event of probability β, where the squared error can "
        r"be of order $d\tau^2$ and not 1: this β is too large by that factor. The lemma itself is "
        "true.",
        instead="Second moments without a failure event: a plain clipped mean is enough for them.",
        modules=("dpsco_core.bounds.mean.coordinatewise",),
    ),
    _entry(
        slug="kamath.disjoint-blocks",
        statement="Algorithm 2, strongly convex; Theorem 5.7",
        severity="valid but loose",
        printed=r"$\rho/T$ for every call, and running time O(ndT).",
        wrong="True. But the calls use disjoint blocks, so that each may spend all of ρ, and every "
        "record is read once, in O(nd): the printed noise has T times the variance that is needed.",
        instead="Parallel composition in the ledger; the divided budget stays as calibration "
        "“paper” and as a bound of its own.",
        modules=("dpsco_core.methods.euclidean.cwme_strong", "dpsco_core.privacy.composition"),
    ),
    _entry(
        slug="kamath.uniform-blocks",
        statement="Theorem 5.2, appendix B.4",
        severity="missing condition",
        printed=r"$T=R^2\rho n^2/(\tau^2d^4)$, η and τ as the parameters.",
        wrong=r"The algorithm also needs β, which sets the number of blocks, and the proof takes "
        r"$m=8d\log(3Mn^3)$, about $24d\ln n$ of them: $n\ge m$ is not stated. And T makes the "
        r"noise of a step $R^2$ only up to the factor $72m^2/d^2$, a square of a logarithm that is "
        r"$10^6$ to $10^7$.",
        instead="T from the noise that is really drawn; the number of blocks is a hypothesis.",
        modules=("dpsco_core.methods.euclidean.cwme", "dpsco_core.bounds.euclidean.coordinatewise"),
        experiment=Experiment(name="The literal T and its noise", run=runs.literal_steps),
    ),
    _entry(
        slug="kamath.covering",
        statement="Appendix B.4",
        severity="misprint",
        printed=r"$\|\nabla\hat L-\nabla L\|\le2R$ “for sure”; $N(0,\sigma I)$; "
        r"$4\log(2d/\beta)=8d\log(3M/\alpha)$ at $\beta=(\alpha/M)^{2d}$.",
        wrong=r"Clipped estimates obey $3\tau\sqrt d+R$ only, which multiplies a probability "
        r"small enough to absorb it; $N(0,\sigma^2I)$; the two sides are not equal, and the "
        "right one is larger.",
        instead="The repaired chain, every constant kept.",
        modules=("dpsco_core.bounds.euclidean.uniform",),
    ),
    _entry(
        slug="kamath.lost-diameter-coordinatewise",
        statement="Theorem 5.2",
        severity="wrong constant or rate",
        printed=r"Private term $\frac{Md^2}{n\sqrt\rho}\big(\frac{\sqrt\rho n}{Md^{3/2}}\big)^{1/k}"
        "$, with M inside the threshold.",
        wrong=r"The proof's $BM$ has this term times M. Without that factor the bound grows like "
        r"$M^{1-1/k}$, and the least excess risk of private algorithms grows like M. Where M is a "
        "constant, as in Theorem 1.1, nothing changes.",
        instead=r"$\tau=(\sqrt\rho n/d^{3/2})^{1/k}$, free of M; the printed rate is a row of its "
        "own.",
        modules=("dpsco_core.bounds.euclidean.coordinatewise", "dpsco_core.methods.euclidean.cwme"),
        experiment=Experiment(
            name="Against a proven lower bound", run=runs.lost_diameter_coordinatewise
        ),
    ),
    _entry(
        slug="kamath.lost-diameter-smoothed",
        statement="Theorem 5.5",
        severity="wrong constant or rate",
        printed=r"$\sqrt M\big(d^{(3-q)/2}+d^{(1+q)/2}\rho^{-1/4}\big)/\sqrt n$.",
        wrong=r"The proof's $BM$ has M to the power 3/2 in the second term, and $\rho^{1/4}$ in "
        r"the first, which matters for $\rho>1$. The least excess risk of private algorithms grows "
        "like M, the printed bound like its root. Where M and ρ are constants nothing changes.",
        instead=r"The level $\tau^2=n/(d+\sqrt{d/\rho})$, which is at least as good as every q; "
        "the printed rate is a row of its own.",
        modules=("dpsco_core.bounds.euclidean.smoothed", "dpsco_core.methods.euclidean.smoothed"),
        experiment=Experiment(name="Against a proven lower bound", run=runs.lost_diameter_smoothed),
    ),
    _entry(
        slug="kamath.impossible-signs",
        statement="Appendices B.8 and B.9",
        severity="misprint",
        printed=r"$\nu\in\{\pm1\}^d$ with $\|\nu\|_1=d/2$.",
        wrong="There is no such vector.",
        instead=r"$\nu\in\{0,1\}^d$ of weight d/2, with which all stated numbers hold.",
        modules=("dpsco_core.bounds.instances.spikes", "dpsco_core.data.hard"),
    ),
    _entry(
        slug="kamath.void-packing",
        statement="Lemma 6.3, Theorem 6.4 (appendices B.8, B.9)",
        severity="gap in proof",
        printed=r"$p=\min(1,\sqrt d/(n\sqrt\rho))$, after which “it can be shown” by Theorem 1.4.",
        wrong=r"Wherever this p is below 1, Theorem 1.4 gives 0: the information $\rho n^2p^2=d$ "
        r"exceeds $d\ln2$, the most that the logarithm of a binary code's size can be. A smaller "
        "constant in p repairs it, and the rate stands.",
        instead="The best p is searched, and the bound is proven with its constant.",
        modules=("dpsco_core.bounds.instances.hardest", "dpsco_core.bounds.instances.spikes"),
        experiment=Experiment(name="Fano at the printed and the best p", run=runs.void_packing),
    ),
    _entry(
        slug="kamath.plotkin",
        statement="Appendix B.9, the term without privacy",
        severity="gap in proof",
        printed=r"$2^{d/8}$ words of weight d/2 at pairwise distance d/2.",
        wrong="Plotkin's bound allows at most 2d of them. The same argument with distance d/8 "
        "gives the same rate.",
        instead="Distance d/8, or exact Gilbert sizes at the best distance.",
        modules=("dpsco_core.bounds.instances.spikes",),
        experiment=Experiment(name="Words asked for and allowed", run=runs.plotkin),
    ),
    _entry(
        slug="kamath.gaussian-instance",
        statement="Appendix B.9, the term without privacy",
        severity="gap in proof",
        printed=r"$N(\mu_\nu,I)$ as the hard instance of a class with k-th moments of at most 1.",
        wrong=r"Its k-th moment exceeds 1 for every $k>2$: it is outside the class. A smaller "
        "deviation, which depends on k, repairs it.",
        instead=r"Deviation $\sigma_k=(E|Z|^k)^{-1/k}$, or bounded signs with a constant that does "
        "not depend on k.",
        modules=("dpsco_core.bounds.instances.gaussian",),
        experiment=Experiment(name="Moments of a normal variable", run=runs.gaussian_moments),
    ),
    _entry(
        slug="kamath.fano-statement",
        statement="Theorem 1.4, appendix B.10",
        severity="wrong constant or rate",
        printed=r"Risk at least $\frac r2\big(1-\frac{\beta+\log2}{\log M}\big)$ from n records, "
        r"with $d_{KL}(p_i,p_j)\le\beta$ and any loss.",
        wrong="β is the divergence of one record, so that n records need nβ; as printed the first "
        "term is false, and the paper uses the second one only. For that one the triangle "
        "inequality of the loss is used and not assumed (the squared loss has none), and the "
        "proof puts a coupling into an expectation over independent draws; the term stands.",
        instead="nβ, a squared loss with r/4, and the mutual information bounded directly.",
        modules=("dpsco_core.bounds.instances.fano",),
        experiment=Experiment(name="An algorithm below the bound", run=runs.fano_records),
    ),
    _entry(
        slug="kamath.lower-bound-class",
        statement="Theorems 6.1, 6.4 and Assumption 2.12; Lemma 6.3 and Theorem 4.1",
        severity="missing condition",
        printed="“All our theorems rely on” Assumption 2.12, and upper and lower bounds nearly "
        "match.",
        wrong="The instances of the lower bounds need not satisfy it: the linear losses of Theorem "
        "6.4 change sign, and their gradient at the optimum is not 0; the mean of the packing has "
        r"norm $p^{1-1/k}\sqrt{d/2}$, which is beyond the a-priori radius R for large d unless p "
        "is small.",
        instead="They bind the moment class; for a like-for-like comparison p is capped where the "
        "mean leaves the set.",
        modules=("dpsco_core.bounds.euclidean.lower_spikes", "dpsco_core.bounds.instances.hardest"),
    ),
    _entry(
        slug="kamath.hidden-logarithms",
        statement="Theorems 5.2 and 5.5, appendix B.11",
        severity="misprint",
        printed=r"$O(\cdot)$, and $\sqrt d\log(1/\beta)$ in (20).",
        wrong=r"Lemmas B.2 and B.4 give $\tilde O(\cdot)$ only, as Theorem 1.1 says. (20) is true "
        r"with $\sqrt{\log(1/\beta)}$ in place of $\sqrt d\log(1/\beta)$.",
        instead="Rates say which logarithms they drop; Theorem B.8 keeps them.",
        modules=("dpsco_core.bounds.euclidean.coordinatewise",),
    ),
)
