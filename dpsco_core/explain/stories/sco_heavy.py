"""The stories of gradient descent on heavy-tailed gradients, with a private mean as its oracle."""

from __future__ import annotations

from dataclasses import replace

from dpsco_core.explain.stories.base import Proof, Story
from dpsco_core.scenario import Scenario

GRID = (500.0, 1000.0, 2000.0, 5000.0, 10_000.0, 20_000.0)
QUADRATIC = Scenario(
    problem="quadratic",
    methods=("sco.erm", "sco.clipped", "sco.cwme"),
    d=10,
    axis="n",
    grid=GRID,
    trials=10,
)
LOGISTIC = replace(QUADRATIC, problem="logistic")
HUBER = replace(QUADRATIC, problem="huber", p=2.0)
ITERATIVE = replace(
    LOGISTIC,
    methods=("sco.erm", "sco.clipped", "sco.iterative"),
    d=5,
    n=2000,
    grid=(1000.0, 2000.0, 5000.0),
    trials=3,
)
DESCENT = r"$w_{t+1}=\Pi_W(w_t-\eta\,\tilde g_t)$, from the centre of the set W"
MOMENTS = "A bounded p-th moment of the gradients at every point of the set."
SMOOTH_RISK = "A smooth population risk (the theorem); single losses may have kinks."
AVERAGE = (
    "Return the average of the points that the theorem averages, or of the last few (practical)."
)
EXACT = (
    r"T releases on the same records, each at $\rho/T$, which may depend on one another: together "
    r"$\rho$-zCDP. Under $(\varepsilon,\delta)$ that $\rho$ is the one of the exact Gaussian "
    "curve, because T adaptive Gaussian releases hide no less than a single one of all of it."
)
FULL = "T passes: all n gradients at every one of T steps."

HEAVY_STORIES: tuple[Story, ...] = (
    Story(
        slug="sco.clipped",
        what="Gradient descent in which every record's gradient is shrunk into a ball before the "
        "average, and every average gets Gaussian noise. Gradients become centred near the "
        "optimum, so a smaller radius does than for the records themselves. In most "
        "of the small cases of the overview no private optimiser errs less.",
        steps=(
            "Choose the radius R, the steps T and the step size from the setting, never from the "
            "data.",
            r"At step t clip each gradient to norm R and average: $\bar g_t$.",
            r"Release $\tilde g_t=\bar g_t+N(0,\sigma^2I_d)$ with "
            r"$\sigma=\frac{2R}n\sqrt{\frac T{2\rho}}$.",
            f"Step: {DESCENT}.",
            AVERAGE,
        ),
        assumptions=(MOMENTS, SMOOTH_RISK, "A bounded convex set."),
        privacy=Proof(
            sensitivity=r"At a fixed point each clipped gradient is in a ball of radius R, "
            r"whatever the record: replacing one moves the mean by at most $\Delta_2=2R/n$.",
            mechanism=r"Gaussian noise of standard deviation $\Delta_2/\sqrt{2\rho/T}$ makes a "
            r"step $\rho/T$-zCDP. It needs nothing of the loss.",
            composition=EXACT,
        ),
        smooth="theorem",
        order=r"O(Tnd)",
        cost=FULL + " In practice T is a few dozen.",
        when="The first choice for an optimiser at item level: any convex loss, any set that can "
        "be projected on, heavy tails. For logistic regression compare it with noisy gradient "
        "descent and objective perturbation, which may err less.",
        pitfalls=(
            "R and T come from a model of the risk: a problem unlike the model costs accuracy, "
            "never privacy.",
            "Clipping biases the mean gradient where the gradients are skewed.",
        ),
        errata=(
            "The theorem's T, R and step size are not consistent in units (they take the moment, "
            "the smoothness and the diameter to be 1); `paper` with the theory tuning prints them, "
            "`tight` scales them.",
            "(39) needs the gradient to vanish at the optimum, and (65) needs every loss to be "
            "smooth where only the risk is assumed to be. The bound M on the mean gradient repairs "
            "the first, and the second is a hypothesis of the library's rows.",
        ),
        example=QUADRATIC,
    ),
    Story(
        slug="sco.cwme",
        what="Gradient descent with the clipped median of block averages as its gradient: every "
        "coordinate of every gradient is clipped, averaged in blocks, and the median taken. "
        "Gaussian noise on that median hides a record at every step. In practice there is a single "
        "block, and the median is the mean of clipped coordinates.",
        steps=(
            r"Choose $\tau$, the number of blocks m, T and $\eta$ from the setting.",
            r"At step t clip the entries of all gradients to $[-3\tau,3\tau]$, average m blocks of "
            r"$b=\lfloor n/m\rfloor$, take the medians.",
            r"Release them with $N(0,\sigma^2I_d)$, "
            r"$\sigma=\sqrt d\,\Delta_\infty\sqrt{\frac T{2\rho}}$.",
            f"Step: {DESCENT}.",
            AVERAGE,
        ),
        assumptions=(
            "A bounded p-th central moment of every coordinate of the gradient.",
            "Smooth losses (the covering argument of the theorem), and a bounded set.",
        ),
        privacy=Proof(
            sensitivity=r"At a fixed point replacing a record moves each coordinate of the median "
            r"by at most $\Delta_\infty=6\tau/b$ (m odd) or $3\tau/b$ (m even), and so the vector "
            r"by $\Delta_2=\sqrt d\,\Delta_\infty$.",
            mechanism=r"Gaussian noise of standard deviation $\Delta_2/\sqrt{2\rho/T}$ makes a "
            r"step $\rho/T$-zCDP.",
            composition=EXACT,
        ),
        smooth="theorem",
        order=r"O(Tnd)",
        cost=FULL,
        when="Where only moments of single coordinates are known, at small d.",
        pitfalls=(
            "Its noise grows faster with d than that of clipping whole gradients.",
            r"With the theory tuning the number of blocks is about $8d\ln(3Mn^3)$, M the "
            "diameter: it needs very many records.",
        ),
        errata=(
            r"The printed number of steps $T=R^2\rho n^2/(\tau^2d^4)$ hides a factor "
            r"$72m^2/d^2$ and is unusable; `tight` takes the T at which the noise energy of a step "
            "is R².",
            "A factor M is lost in the second term of Theorem 5.2, and its failure probability, "
            "and with it the number of blocks, is left out of the statement.",
        ),
        example=LOGISTIC,
    ),
    Story(
        slug="sco.smoothed",
        what="Gradient descent that passes every coordinate of every gradient through a smooth "
        "truncation before averaging, as Holland's estimator does. Gaussian noise hides a record "
        "at every step. It is the corrected version of the first method for heavy-tailed private "
        "optimisation (Wang et al. 2020).",
        steps=(
            r"Choose $\tau$, T and $\eta$ from the setting; the smoothing variance is 1.",
            r"At step t average $\tau\,\psi(g_{ij}/\tau)$ over the records, in every coordinate.",
            r"Release with $N(0,\sigma^2I_d)$, "
            r"$\sigma=\frac{2S_1\tau\sqrt d}n\sqrt{\frac T{2\rho}}$, $S_1\approx0.644$.",
            f"Step: {DESCENT}.",
            AVERAGE,
        ),
        assumptions=(
            "A bounded second moment of every coordinate of the gradient.",
            "Smooth losses (the theorem), and a bounded set.",
        ),
        privacy=Proof(
            sensitivity=r"Every transformed entry is in $[-S_1,S_1]$: replacing a record moves the "
            r"mean by at most $\Delta_2=2S_1\tau\sqrt d/n$ at a fixed point.",
            mechanism=r"Gaussian noise of standard deviation $\Delta_2/\sqrt{2\rho/T}$ makes a "
            r"step $\rho/T$-zCDP.",
            composition=EXACT,
        ),
        smooth="theorem",
        order=r"O(Tnd)",
        cost=FULL + " A transform of every entry makes it 20 to 40 times slower than clipping.",
        when="With nothing but a variance, when the gradients are not few.",
        pitfalls=("It does not gain from more than two or three moments.",),
        errata=(
            "The printed noise lacks the factor 2 of replacing a record; at smoothing variance 1, "
            "which the library takes, it is enough all the same.",
            r"Theorem 5.5 loses a factor $\rho^{1/4}$ and a factor M in its balance, and is stated "
            "without the logarithms that its proof has.",
        ),
        example=replace(HUBER, methods=("sco.erm", "sco.clipped", "sco.smoothed")),
    ),
    Story(
        slug="sco.cwme-strong",
        what="Gradient descent for strongly convex risks in which every step uses a block of "
        "records of its own. A record enters one step only, so every step may spend the whole "
        "budget. The last point is returned, because strong convexity forgets the start.",
        steps=(
            r"Choose T, $\tau$ and m from the setting; cut the records into T blocks.",
            r"At step t take the clipped median of means of the gradients of block t alone.",
            r"Release it with $N(0,\sigma^2I_d)$, "
            r"$\sigma=\frac{\sqrt d\,\Delta_\infty}{\sqrt{2\rho}}$, for "
            r"$b=\lfloor\lfloor n/T\rfloor/m\rfloor$.",
            r"Step with $\eta=1/(\lambda+L)$, $\lambda$ the strong convexity and L the smoothness "
            "of the risk.",
            "Return the last point.",
        ),
        assumptions=(
            "A strongly convex and smooth population risk, with both constants known.",
            "A bounded p-th central moment of every coordinate of the gradient.",
        ),
        privacy=Proof(
            sensitivity=r"A record is in one block. Replacing it moves the median of that block's "
            r"step by at most $\Delta_2=\sqrt d\,\Delta_\infty$ with $\Delta_\infty=6\tau/b$ (m "
            r"odd) or $3\tau/b$ (m even), and of no other.",
            mechanism=r"Gaussian noise of standard deviation $\Delta_2/\sqrt{2\rho}$ makes the "
            r"step $\rho$-zCDP.",
            composition=r"The blocks are disjoint: all T steps together cost $\rho$, not $T\rho$ "
            r"(parallel composition). The calibration `paper` spends $\rho/T$ a step.",
        ),
        smooth="risk",
        order=r"O(nd)",
        cost="One pass: every gradient is taken once.",
        when="For strongly convex risks when passes over the data are dear. Otherwise clipped "
        "gradients, which see all records at every step, usually err less.",
        pitfalls=(
            "Few records a step: its sampling error is that of n/T records.",
            "On a wide constraint set the gradients at the start are long: it needs more blocks or "
            "a higher clipping level, and so more noise.",
        ),
        errata=(
            r"The paper spends $\rho/T$ a step although its blocks are disjoint: valid, and needs "
            r"$\sqrt T$ times the noise.",
            "The failure probability of its proof is too large by the worst squared error, and "
            "Theorems 3.2 and 5.7 disagree on T; the library follows a repaired proof.",
        ),
        example=replace(QUADRATIC, methods=("sco.erm", "sco.clipped", "sco.cwme-strong")),
    ),
    Story(
        slug="sco.iterative",
        what="Gradient descent whose gradient is a point deep among noisy means of random groups. "
        "At every step the records are split afresh and in secret, every group's clipped mean gets "
        "noise, and a search walks to the middle. It was proposed to remove a logarithm from the "
        "rate; what is proven of it is its privacy.",
        steps=(
            r"Choose R, the groups k, T and $\eta$ from the setting.",
            r"At step t split the records into k groups of $m=\lfloor n/k\rfloor$, afresh and in "
            "secret; clip the gradients to R.",
            r"Release the k group means with $N(0,\sigma^2I_d)$ each, "
            r"$\sigma=\frac{2R}m\sqrt{\frac T{2\rho}}$, and walk to a deep point among them.",
            f"Step: {DESCENT}.",
            AVERAGE,
        ),
        assumptions=(MOMENTS, SMOOTH_RISK, "A bounded convex set."),
        privacy=Proof(
            sensitivity=r"At a step a record is in one group: replacing it moves that group's mean "
            r"by at most $2R/m$, and no other.",
            mechanism=r"Gaussian noise of standard deviation $\frac{2R}m\sqrt{\frac T{2\rho}}$ on "
            r"every group's mean: the k groups of a step are disjoint and cost $\rho/T$ together.",
            composition=EXACT + " Amplification by shuffling is not used: composing it over steps "
            "would gain nothing at sizes that run.",
        ),
        smooth="theorem",
        order=r"O(Tnd + T\cdot\text{search})",
        cost=FULL + " The search dominates at small n.",
        when="To study the claim of the paper. Clipped gradients err less at every size that runs.",
        pitfalls=(
            "Slow: a search of tens of milliseconds at every step.",
            r"Splitting costs a factor $\sqrt k$ in noise.",
        ),
        errata=(
            "Theorem 7 rests on Lemma 9, which has no proof: the noise enters the search "
            "non-linearly, and nothing bounds the bias it leaves. Its rate is drawn as a claim.",
            "The number of groups is left open; the union bound that the proof needs asks for "
            "about 800 d ln n of them, and as many records.",
            "The printed amplification would need far more groups than there are records.",
        ),
        example=ITERATIVE,
    ),
)
