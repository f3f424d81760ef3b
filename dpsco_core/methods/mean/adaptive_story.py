"""What there is to tell of adaptive clipping."""

from dpsco_core.methods.mean.sentences import OVER_N
from dpsco_core.methods.story import Proof, Story

STORY = Story(
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
    smooth="no loss",
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
    example=OVER_N | {"methods": ("mean.sample", "mean.clipped", "mean.adaptive")},
)
