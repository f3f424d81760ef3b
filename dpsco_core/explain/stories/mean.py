"""The stories of the mean estimators."""

from __future__ import annotations

from dpsco_core.explain.stories.base import Proof, Story
from dpsco_core.scenario import Scenario

GRID = (500.0, 1000.0, 2000.0, 5000.0, 10_000.0, 20_000.0, 50_000.0)
EXAMPLE = Scenario(
    methods=("mean.sample", "mean.clipped", "mean.cwme-cdp"), axis="n", grid=GRID, trials=10
)
PURE = Scenario(
    methods=("mean.sample", "mean.cwme-pure"), delta=0.0, axis="n", grid=GRID, trials=10
)
SMOOTHED = Scenario(
    methods=("mean.sample", "mean.clipped", "mean.smoothed"), p=2.0, axis="n", grid=GRID, trials=10
)
ITERATIVE = Scenario(
    methods=("mean.sample", "mean.clipped", "mean.iterative"),
    d=5,
    axis="n",
    grid=(1000.0, 5000.0, 20_000.0, 50_000.0),
    trials=10,
)
ROBUST = Scenario(
    methods=("mean.sample", "mean.median-of-means"), p=2.0, axis="n", grid=GRID, trials=20
)
NO_BOUND = "Nothing hides a single record: use it only to see what privacy costs."
KNOWN_SET = "A public bound on the norm of the true mean (half the diameter of its set)."

MEAN_STORIES: tuple[Story, ...] = (
    Story(
        slug="mean.sample",
        what="Adds all records and divides by n. Among unbiased estimators it has the least "
        "variance for Gaussian data, and its mean squared error is the trace of the covariance "
        "over n. It is the grey reference of every figure: no privacy at all.",
        steps=(r"Return $\bar X = \frac1n\sum_{i=1}^n X_i$.",),
        assumptions=("A finite variance, so that the error has a mean square.",),
        privacy=None,
        smooth="-",
        order=r"O(nd)",
        cost="One pass over the records.",
        when="As the reference without privacy.",
        pitfalls=(
            NO_BOUND,
            "One wild record can move it anywhere: with heavy tails its error has heavy tails too.",
        ),
        example=EXAMPLE,
    ),
    Story(
        slug="mean.median-of-means",
        what="Cuts the records into blocks, averages every block, and takes the median of the "
        "averages in each coordinate. A few wild records spoil a few blocks, and a median does "
        "not mind a few spoilt values. It errs little with high probability although only a "
        "variance exists; it is not private.",
        steps=(
            r"Take $m=\lceil4\ln(2d/\beta)\rceil$ consecutive blocks of $b=\lfloor n/m\rfloor$ "
            r"records, $\beta=0.05$; drop the remainder.",
            "Average the records of every block.",
            "Return the median of the averages, coordinate by coordinate.",
        ),
        assumptions=("A finite variance of every coordinate.", "At least as many records as m."),
        privacy=None,
        smooth="-",
        order=r"O(nd + md\ln m)",
        cost="One pass over the records.",
        when="As the robust reference without privacy: what the coordinate-wise private "
        "estimators become when clipping and noise are taken away.",
        pitfalls=(
            NO_BOUND,
            "On skewed data the median of block averages is biased towards the bulk.",
        ),
        example=ROBUST,
    ),
    Story(
        slug="mean.clipped",
        what="Shrinks every record that is longer than a radius R onto the ball of that radius, "
        "and averages. Then no record can move the average by more than 2R/n, and Gaussian noise "
        "of that size hides it. All the art is in R: a large one means much noise, a small one "
        "means that true values are cut off.",
        steps=(
            "Choose R from n, d, the moment and the budget, never from the data.",
            r"Clip: $Y_i=\min\{1,R/\|X_i\|\}\,X_i$; a record that is not finite counts as 0.",
            r"Average: $\bar Y=\frac1n\sum_iY_i$.",
            r"Return $\bar Y+N(0,\sigma^2I_d)$ with $\sigma=\frac{2R}{n\sqrt{2\rho}}$.",
        ),
        assumptions=(
            "A bounded p-th moment, which says how much clipping costs.",
            KNOWN_SET,
        ),
        privacy=Proof(
            sensitivity=r"Every clipped record lies in a ball of radius R, whatever the record "
            r"is. Replacing one moves the average by at most $\Delta_2=2R/n$.",
            mechanism=r"Gaussian noise of standard deviation $\Delta_2/\sqrt{2\rho}$ per "
            r"coordinate is $\rho$-zCDP, for every R.",
            composition=r"There is one release, so it gets the whole budget. Under an "
            r"$(\varepsilon,\delta)$ budget $\rho$ is the largest at which one Gaussian release "
            r"meets it by the exact curve; the calibration `paper` takes equation (15), "
            r"$\rho=\varepsilon^2/(1+2\sqrt{\ln(1/\delta)})^2$.",
        ),
        smooth="-",
        order=r"O(nd)",
        cost="One pass over the records.",
        when="The first choice for a mean under (ε, δ) or zCDP: simple, fast, and among the best "
        "at nearly every size.",
        pitfalls=(
            "A radius that is tuned on the data would break the proof; here it never is.",
            "Clipping is towards 0: if the true mean is far from 0, centre the data first.",
        ),
        errata=(
            "The paper's upper bound is proven for moments in every direction and its lower bound "
            "for moments of every coordinate, so its claim that they match is not established for "
            "either class.",
            "At n = 10,000, d = 10, p = 3 and ε = 1 the paper's radius (19) with its conversion "
            "(15) erred five times as much as a quarter of that radius with the exact curve. The "
            "calibration `tight` takes the exact curve, the tuning `practical` its own radius.",
        ),
        example=EXAMPLE,
    ),
    Story(
        slug="mean.iterative",
        what="Splits the records at random into k groups, and releases the clipped mean of every "
        "group with noise. Then it walks to a point that lies deep among these noisy means, as a "
        "median does on the line. The idea is an error with high probability; the price is a "
        "noise that is larger by the square root of k.",
        steps=(
            r"Draw a fresh, secret, uniformly random split into k groups of $m=\lfloor n/k\rfloor$ "
            "records; drop the rest.",
            "Clip every record to norm R.",
            r"Release $Q_j=$ mean of group j $+\,N(0,\frac{2R^2}{\rho m^2}I_d)$ for all k groups.",
            r"From $c=0$ repeat: search the direction in which most $Q_j-c$ lie far out, and move "
            "a quarter of that distance along it; stop where there is none.",
            "Return the best centre, projected on the ball of the public bound on the mean.",
        ),
        assumptions=(
            "A bounded p-th moment.",
            KNOWN_SET,
            r"Theorem 5 needs $k=\lceil800\ln(1/\beta)\rceil=2397$ groups; the practical tuning "
            "takes 8, for which the theorem says nothing.",
        ),
        privacy=Proof(
            sensitivity=r"A record is in one group. Replacing it moves the mean of that group by "
            r"at most $2R/m$, and no other.",
            mechanism=r"Gaussian noise of standard deviation $\frac{2R}{m\sqrt{2\rho}}$ on every "
            r"group mean is $\rho$-zCDP for that group. The walk sees the noisy means only.",
            composition=r"The groups are disjoint, so all k releases together cost $\rho$, not "
            r"$k\rho$ (parallel composition). Under an $(\varepsilon,\delta)$ budget the secret "
            r"split may allow a larger $\rho$ a group (amplification by shuffling, evaluated "
            "exactly); the larger of the two is used.",
        ),
        smooth="-",
        order=r"O(nd + \text{steps}\cdot kd)",
        cost="One pass over the records, then a search that does not depend on n.",
        when="To see what the paper's optimal estimator does. At sizes that fit a screen simple "
        "clipping errs less.",
        pitfalls=(
            "For d of at least 3 finding the deepest direction is NP-hard; a heuristic search "
            "stands in, and no error bound is proven for what it finds. Privacy does not depend "
            "on it.",
            "The split must be secret and fresh wherever amplification is used.",
        ),
        errata=(
            "Theorem 6 asks for a symmetric estimate only, and its proof shuffles groups as if "
            "they were single records: with a fixed split and many groups the statement fails. "
            "Algorithm 3 divides at random; for a fresh, secret, uniform split, which is what the "
            "library draws, the conclusion is true by another proof.",
            "The side condition of the theorem that (24) rests on is omitted in the paper, without "
            "harm to the conclusion; the library enforces it.",
        ),
        example=ITERATIVE,
    ),
    Story(
        slug="mean.cwme-cdp",
        what="Clips every coordinate by itself, averages in blocks, and takes the median of the "
        "block averages in each coordinate. One record can move each coordinate of that median a "
        "little, and Gaussian noise hides all d coordinates at once. With one block, the practical "
        "choice, it is the mean of clipped coordinates.",
        steps=(
            r"Choose the threshold $\tau$ and the number of blocks m from the setting.",
            r"Clip every entry to $[-3\tau,3\tau]$; a NaN counts as 0.",
            r"Average m consecutive blocks of $b=\lfloor n/m\rfloor$ records.",
            "Take the median of the block averages, coordinate by coordinate.",
            r"Add $N(0,\sigma^2I_d)$ with $\sigma=\frac{\sqrt d\,\Delta_\infty}{\sqrt{2\rho}}$.",
        ),
        assumptions=(
            "A bounded p-th central moment of every coordinate: weaker than in all directions.",
            KNOWN_SET,
            r"The theorem's tuning: $m=\lceil4\ln(2d/\beta)\rceil$ and $\tau\ge10$.",
        ),
        privacy=Proof(
            sensitivity=r"A record changes one block average, each coordinate by at most "
            r"$6\tau/b$. The median of an odd number of blocks moves by at most that; of an even "
            r"number, where it is a midpoint, by at most half: $\Delta_\infty=6\tau/b$ or "
            r"$3\tau/b$. Over d coordinates $\Delta_2=\sqrt d\,\Delta_\infty$.",
            mechanism=r"Gaussian noise of standard deviation $\Delta_2/\sqrt{2\rho}$ per "
            r"coordinate is $\rho$-zCDP.",
            composition=r"One release has the whole budget; under $(\varepsilon,\delta)$ the "
            r"$\rho$ of the exact Gaussian curve.",
        ),
        smooth="-",
        order=r"O(nd)",
        cost="One pass over the records.",
        when="When only moments of single coordinates are known, or a guarantee with high "
        "probability is wanted (theory tuning).",
        pitfalls=(
            "Clipping coordinates lets a record be long: at large d its noise exceeds that of "
            "clipping whole records.",
            "The median of the theory tuning pays with a sensitivity that is about m/2 times as "
            "large.",
        ),
        errata=(
            r"The printed sensitivity $12\tau m/n$ is valid and two (odd m) or four (even m) times "
            "too large; the calibration `paper` keeps it.",
            r"Lemma B.1 is false as stated (its hypothesis is one-sided), and Theorem 4.1's "
            r"constant 14 makes its bound empty for $\tau\le14$. The library's explicit rows use "
            "the sharp clipping bias.",
        ),
        example=EXAMPLE,
    ),
    Story(
        slug="mean.cwme-pure",
        what="The same clipped median of block averages with Laplace noise in place of Gaussian. "
        "That is pure ε-differential privacy, with no δ. The price is a dimension: the noise grows "
        "like d where the Gaussian's grows like its square root.",
        steps=(
            r"Choose $\tau$ and m from the setting, for Laplace noise.",
            r"Clip every entry to $[-3\tau,3\tau]$, average m blocks, take the medians.",
            r"Add independent Laplace noise of scale $\frac{d\,\Delta_\infty}\varepsilon$ to every "
            "coordinate.",
        ),
        assumptions=("A bounded p-th central moment of every coordinate.", KNOWN_SET),
        privacy=Proof(
            sensitivity=r"As for the Gaussian version each coordinate moves by at most "
            r"$\Delta_\infty=6\tau/b$ (odd m) or $3\tau/b$ (even m), so that "
            r"$\Delta_1=d\,\Delta_\infty$.",
            mechanism=r"Laplace noise of scale $\Delta_1/\varepsilon$ per coordinate is "
            r"$\varepsilon$-DP: the density changes by a factor of at most "
            r"$e^{\varepsilon\|v-v'\|_1/\Delta_1}$.",
            composition=r"One release has the whole budget. Under a zCDP budget it may spend "
            r"$\varepsilon=\sqrt{2\rho}$; under $(\varepsilon,\delta)$ it uses $\varepsilon$ and "
            r"leaves $\delta$ unspent.",
        ),
        smooth="-",
        order=r"O(nd)",
        cost="One pass over the records.",
        when="Under a pure budget: it is the only method of the catalogue that meets one. Up to "
        "about d = 20 it is level with the Gaussian version.",
        pitfalls=("The error grows with one more root of d than under concentrated privacy.",),
        errata=(
            r"The same loose printed sensitivity $12\tau m/n$ as in the Gaussian version.",
            "The lower bounds that the paper sets beside it use instances outside its own "
            "assumptions (their mean is not bounded); the library caps the spike probability.",
        ),
        example=PURE,
    ),
    Story(
        slug="mean.smoothed",
        what="Passes every entry through a smooth S-shaped function that is nearly the identity in "
        "the middle and flat far out, and averages. The function is the mean of a truncation over "
        "multiplicative noise, in closed form, so that nothing random happens to the data. "
        "Gaussian noise then hides one record.",
        steps=(
            r"Choose the level $\tau$ and the smoothing variance c from the setting.",
            r"Transform: $\psi(u;c)=E\,\phi(u(1+\sqrt c\,Z))$ with $\phi(x)=x-x^3/6$ up to "
            r"$|x|=\sqrt2$ and constant beyond; Z standard normal.",
            r"Average: $\frac\tau n\sum_i\psi(X_{ij}/\tau;c)$ in every coordinate j.",
            r"Add $N(0,\sigma^2I_d)$ with $\sigma=\frac{2S_c\tau\sqrt d}{n\sqrt{2\rho}}$, "
            r"$S_c=\sup|\psi|=\frac{2\sqrt2}3(2\Phi(1/\sqrt c)-1)$.",
        ),
        assumptions=(
            "A bounded second moment of every coordinate. A third one helps a little, higher ones "
            "do not.",
        ),
        privacy=Proof(
            sensitivity=r"Every transformed entry is in $[-S_c,S_c]$ ($S_1\approx0.644$), also in "
            r"rounding. Replacing a record moves each coordinate by at most $2\tau S_c/n$, and so "
            r"$\Delta_2=2\tau S_c\sqrt d/n$.",
            mechanism=r"Gaussian noise of standard deviation $\Delta_2/\sqrt{2\rho}$ per "
            r"coordinate is $\rho$-zCDP.",
            composition=r"One release has the whole budget; under $(\varepsilon,\delta)$ the "
            r"$\rho$ of the exact Gaussian curve.",
        ),
        smooth="-",
        order=r"O(nd)",
        cost="One pass, with two normal distribution functions an entry: some 40 times the time "
        "of clipping at d = 20.",
        when="With nothing but a variance (p = 2) it is close to the best; with more moments "
        "simple clipping overtakes it.",
        pitfalls=(
            r"Its bias falls like $1/\tau$, or $1/\tau^2$ with three moments, however many more "
            "exist.",
        ),
        errata=(
            r"The printed variance $\tau^2d/(\rho n^2)$ lacks the factor 2 of replacing a record: "
            r"the release is $2S_c^2\rho$-zCDP, up to $\frac{16}9\rho$. It is enough where "
            r"$c\ge0.7557$; below, the calibration `paper` says in its ledger that it overspends.",
            "The paper leaves c open, and whether it is a variance or a deviation.",
        ),
        example=SMOOTHED,
    ),
)
