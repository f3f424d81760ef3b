"""The stories of the methods that choose their radius from the data, privately."""

from __future__ import annotations

from dataclasses import replace

from dpsco_core.explain.stories.base import Proof, Story
from dpsco_core.explain.stories.mean import GRID
from dpsco_core.explain.stories.sco_heavy import AVERAGE, DESCENT, LOGISTIC, MOMENTS
from dpsco_core.scenario import Scenario

ADAPTIVE = Scenario(
    methods=("mean.sample", "mean.clipped", "mean.adaptive"), axis="n", grid=GRID, trials=10
)
REFERENCES = Scenario(
    methods=("mean.sample", "mean.adaptive", "mean.instance-optimal", "mean.coinpress"),
    axis="n",
    grid=GRID,
    trials=10,
)

ADAPTIVE_STORIES: tuple[Story, ...] = (
    Story(
        slug="mean.adaptive",
        what="Looks at how long the records are, privately, before it clips them: from a ladder of "
        "public radii it draws one beyond which about k records lie. The look costs a few "
        "hundredths of the budget, and saves most of what a radius chosen without looking loses. "
        "In many dimensions a second look and a test guard against data whose mean is carried by a "
        "few far records.",
        steps=(
            r"Where the public bound on the mean is large, subtract a private centre: medians of "
            r"the coordinates on a public grid, by the exponential mechanism.",
            r"Count $N(R_j)$, the records longer than each $R_j=R_{top}e^{-0.1j}$; $R_{top}$ is "
            r"the radius of simple clipping.",
            r"Draw $j$ with probability proportional to "
            r"$R_j^{-2}e^{-\frac{\varepsilon_1}2|N(R_j)-k|}$; $k$ grows like $d/\sqrt\rho$.",
            r"From $d=16$ on draw a second radius, with $k$ like $\sqrt{d/\rho}$, and test with "
            r"a noisy norm whether what lies between the two moves the mean more than noise would.",
            r"Return the mean of the clipped records plus $N(0,\sigma^2I_d)$, "
            r"$\sigma=\frac{2R}{n\sqrt{2\rho'}}$, and add the centre. Beyond the public bound "
            r"on the mean, pull it back there.",
        ),
        assumptions=(
            "A bounded p-th moment and a public bound on the mean, from which the top of the "
            "ladder is computed.",
        ),
        privacy=Proof(
            sensitivity=r"A replaced record changes each count $N(R_j)$ by at most 1, so every "
            r"score by at most 1; the difference of two clipped means by at most "
            r"$\frac{2(R_s-R_a)}n$; the mean of clipped records by $\Delta_2=2R/n$ for a radius "
            r"that is private already.",
            mechanism=r"The exponential mechanism is $\varepsilon_1$-DP and "
            r"$\frac{\varepsilon_1^2}8$-zCDP. Gaussian noise of standard deviation "
            r"$\Delta_2/\sqrt{2\rho'}$ per coordinate is $\rho'$-zCDP. Under a pure budget the "
            r"noise has density $\propto e^{-\varepsilon_2\|z\|/\Delta_2}$.",
            composition=r"Shares of $\rho$ that are fixed in advance add up. Under "
            r"$(\varepsilon,\delta)$ all choices come first, and a recursion over them gives 0.994 "
            r"to 1.000 of what Gaussian noise alone may spend; with a centre, dominating pairs "
            r"give 0.97.",
        ),
        smooth="-",
        order=r"O(nd+n\ln\ln n)",
        cost="Two passes over the records, three with a centre.",
        when="When the moment bound or the bound on the mean is loose, or not trusted to be tight: "
        "it errs about 5 % more than the best fixed radius in hindsight.",
        pitfalls=(
            "Never estimate the moment bound, or the bound on the mean, from the same records.",
            "Where a few records, all far out in one direction, carry the mean, it cuts them off: "
            "below 16 dimensions it then errs up to 20 times as much as simple clipping, above up "
            "to 4 times.",
            "In one or two dimensions the choice costs most, up to half of the error.",
            "With too few records for a look it takes none, and is simple clipping.",
        ),
        example=ADAPTIVE,
    ),
    Story(
        slug="mean.instance-optimal",
        what="Rotates the records at random, finds a private median of each coordinate, and "
        "subtracts it. Then it finds a private quantile of the lengths, clips there, averages and "
        "adds noise. It is a published way to the same end as adaptive clipping.",
        steps=(
            r"Rotate by Hadamard's matrix with random signs, which look at no data.",
            r"Halve $[-B-1,B+1]$ again and again in every coordinate, by noisy counts: a private "
            r"median. Rotate the medians back, and subtract them.",
            r"Find a radius beyond which about $k=\sqrt{2d/\rho_2}+2\sqrt{T/(2\rho_1)}$ records "
            r"lie, by $T$ noisy counts of lengths.",
            r"Return the mean of the clipped records plus $N(0,\frac{2R^2}{\rho_2n^2}I_d)$, and "
            r"add the medians.",
        ),
        assumptions=("A public bound on the norm of the mean, and a moment scale.",),
        privacy=Proof(
            sensitivity=r"A replaced record changes each of the $D$ counts of a step by at most 1, "
            r"together $\sqrt D$; a count of lengths by 1; the clipped mean by $\Delta_2=2R/n$.",
            mechanism=r"Gaussian noise of standard deviation $\Delta_2/\sqrt{2\rho}$ per "
            r"coordinate is $\rho$-zCDP, for the counts too.",
            composition=r"A quarter of $\rho$ for the medians, a twentieth for the radius, the "
            r"rest for the release. All noise is Gaussian, so the exact curve holds.",
        ),
        smooth="-",
        order=r"O(nd\ln d\ln B)",
        cost="A pass over the records for every halving of the medians' range, and two more.",
        when="To compare with: adaptive clipping errs less in most settings.",
        pitfalls=(
            "A quarter of the budget goes into medians even where the mean is known to be near 0.",
            "How the paper splits the budget is not known for certain; the split is ours.",
        ),
        example=REFERENCES,
    ),
    Story(
        slug="mean.coinpress",
        what="Clips the records to a large ball, averages with noise, and concludes how near the "
        "mean must be. It moves a smaller ball there, and does so again. The last ball is hardly "
        "larger than a normal law with the covariance that it has been told.",
        steps=(
            r"Start with the centre 0 and the public bound $r=B$ on the mean.",
            r"Project all records on the ball of radius $r+\sigma\gamma$ about the centre, "
            r"average, add noise: the new centre.",
            r"Compute the new $r$ from the noise, for a normal law of standard deviation $\sigma$; "
            r"go on, with a quarter of the budget for all steps but the last.",
            r"Return the last centre.",
        ),
        assumptions=(
            "It is told a bound on the covariance; here that is the moment scale of a coordinate.",
            "Light tails, as those of a normal law.",
        ),
        privacy=Proof(
            sensitivity=r"Every projected record lies in the ball, whatever it is: replacing one "
            r"moves the average by at most $\Delta_2=2(r+\sigma\gamma)/n$.",
            mechanism=r"Gaussian noise of standard deviation $\Delta_2/\sqrt{2\rho_s}$ per "
            r"coordinate makes a step $\rho_s$-zCDP.",
            composition=r"The shares of the steps add up to $\rho$; radii and shares are fixed in "
            r"advance.",
        ),
        smooth="-",
        order=r"O(nd)",
        cost="A pass over the records a step, of which there are one to ten.",
        when="Where the covariance is known and the tails are light; as a reference elsewhere.",
        pitfalls=(
            "A covariance that is told wrong, or skewed heavy tails, bias it: it clips hard.",
            "Its public code does not clip as the paper says; this is written from the paper.",
        ),
        example=REFERENCES,
    ),
    Story(
        slug="sco.adaptive",
        what="Gradient descent that chooses its clip radius from the gradients, privately: it "
        "looks at their lengths at the start and twice on the way. A look costs less than two "
        "hundredths of the budget. It pays where the certified scale of the gradients is "
        "loose, or misleads because they are skewed.",
        steps=(
            r"Count $N(R_j)$, the gradients longer than each $R_j=R_{top}e^{-0.1j}$, at the start; "
            r"$R_{top}$ is 32 times the certified norm.",
            r"Draw $j$ with probability proportional to "
            r"$R_j^{-2}e^{-\frac{\varepsilon_1}2|N(R_j)-k|}$; $k$ grows like $d/\sqrt\rho$.",
            r"Take T, the step size and the average from the radius $R_j$.",
            r"Look again before steps $\lfloor T/8\rfloor$ and $\lfloor T/3\rfloor$, where there "
            r"are such; T stays.",
            r"At step t clip each gradient to the last radius R and release "
            r"$\tilde g_t=\bar g_t+N(0,\sigma^2I_d)$, $\sigma=\frac{2R}n\sqrt{\frac T{2\rho'}}$.",
            f"Step: {DESCENT}.",
            AVERAGE,
        ),
        assumptions=(MOMENTS, "A bounded convex set, and a certified norm of the gradients."),
        privacy=Proof(
            sensitivity=r"At a point that is private already, a replaced record changes each count "
            r"$N(R_j)$ by at most 1, so every score by at most 1; and the mean of gradients "
            r"clipped to a radius that is private already by at most $\Delta_2=2R/n$.",
            mechanism=r"A look is an exponential mechanism: $\varepsilon_1$-DP, "
            r"$\frac{\varepsilon_1^2}8$-zCDP. Gaussian noise of standard deviation "
            r"$\Delta_2/\sqrt{2\rho'/T}$ makes a step $\rho'/T$-zCDP, whatever R is.",
            composition=r"Three looks have $0.05\rho$ together and T steps $\rho'=0.95\rho$; T "
            r"follows from the first look alone, before any step. Under $(\varepsilon,\delta)$ "
            r"looks run after steps, so each counts as its dominating pair, which composes in any "
            r"order: 0.98 of what Gaussian noise alone may spend.",
        ),
        smooth="theorem",
        order=r"O(Tnd)",
        cost="T passes, and one for every look.",
        when="When the moment bound of the gradients is loose, or they are skewed. Otherwise it "
        "does about as well as clipped gradients with a radius from the setting.",
        pitfalls=(
            "The certified norm must not be estimated from the same records.",
            "Gradients are longest at the start: with few steps the radius stays too large.",
            "With one step the other two looks are not taken, and charged all the same.",
        ),
        example=replace(LOGISTIC, methods=("sco.erm", "sco.clipped", "sco.adaptive")),
    ),
)
