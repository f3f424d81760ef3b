"""Named scenarios, each with one thing to look for."""

import re
from dataclasses import dataclass, replace
from pathlib import Path

from dpsco_app.parts.options import MEASURES, NO_SET
from dpsco_core.explain.users.crossing import LAW, OFFSET
from dpsco_core.scenario import Scenario


@dataclass(frozen=True, kw_only=True)
class Preset:
    name: str
    card: str  # The description of the preset, in at most `MOST_WORDS` words.
    look_for: str  # What to notice once the preset has run.
    scenario: Scenario
    against: str = NO_SET  # What is drawn in the second panel.
    open: str = "others"  # The question that is open below the figure.
    measure: str = MEASURES[0]  # The quantity on the vertical axis.

    @property
    def kind(self) -> str:
        """The kind of the preset's problem: "mean" or "optimisation"."""
        return "mean" if self.scenario.problem == "mean" else "optimisation"

    @property
    def slug(self) -> str:
        """The preset's name in lower case, with hyphens in place of all other characters."""
        return re.sub(r"[^a-z0-9]+", "-", self.name.lower()).strip("-")

    @property
    def picture(self) -> Path:
        """The file of the preset's thumbnail, in SVG."""
        return FOLDER / f"{self.slug}.svg"


FOLDER = Path(__file__).resolve().parents[1] / "assets" / "thumbnails"
KINDS = {"mean": "Mean estimation", "optimisation": "Optimisation"}

MOST_WORDS = 40  # The largest number of words on a card.

GRID_N = (500, 1000, 2000, 5000, 10_000, 20_000, 50_000)
GRID_EPSILON = (0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10)
SWEEP = Scenario(axis="n", grid=GRID_N, trials=10)  # The scenario that most presets modify.
CONVEX = replace(SWEEP, problem="quadratic", p=2)


PRESETS: tuple[Preset, ...] = (
    Preset(
        name="The hardest data known",
        card="The data on which the sharpest lower bound is proven: what is measured lies between "
        "what is proven possible and a limit that no private algorithm can pass.",
        look_for="Only the variance is bounded (p = 2), and the data are those on which the "
        "sharpest lower bound is proven. The best private algorithm has 3.4 times the error "
        "without privacy at every n: between 2.6 times, which no private algorithm can pass, and "
        "5.7 times, which is proven to be possible on all data with such a tail. More records "
        "shrink both errors, not their ratio.",
        scenario=replace(SWEEP, p=2, distribution="hypercube", trials=20),
        open="",
    ),
    Preset(
        name="What privacy costs",
        card="With a fixed clip radius, private estimators have 2 to 4 times the error of the "
        "sample mean. Adaptive clipping pays at most a quarter from 5,000 records on. On "
        "the hardest data known nobody escapes the price.",
        look_for="Only a variance is known (p = 2). Estimators that fix their clip radius in "
        "advance have 2 to 4 times the error of the sample mean on Student t data. Adaptive "
        "clipping looks at the lengths of the records, privately, and from 5,000 records on pays "
        "at most a quarter. Open “The hardest data known”: there a few records lie far out and "
        "carry the whole mean. Privacy has to hide them, and nobody escapes the price.",
        scenario=replace(SWEEP, p=2),
    ),
    Preset(
        name="A heavy and a light tail",
        card="More records cure it at p = 10, not at p = 2. With a heavy tail the price of a "
        "guarantee is the same at every n; with a light one it falls to 1.",
        look_for="What can be promised for all data with a tail, over what can be promised without "
        "privacy. At p = 2 the two bands are parallel: more records shrink all errors, not the "
        "price. At p = 10 the band closes on the line without privacy: with enough records "
        "privacy is free.",
        scenario=replace(SWEEP, p=2, distribution="hypercube", trials=20),
        open="light",
    ),
    Preset(
        name="More records never help",
        card="Tail index 1.5: the variance is infinite. Sampling and privacy have the same "
        "exponent: a hundred times the records shrink both errors and leave the price where it "
        "was.",
        look_for="At p = 1.5 the variance is infinite, and these are the hardest data known. The "
        "errors with and without privacy fall alike, by about a fifth where the records double: "
        "the coordinate-wise estimator has 3.5 to 4.2 times the error without privacy at 500 "
        "records and at 50,000. More records never change the price. The exponent is 1 - 1/p, a "
        "third here, where a finite variance has a half.",
        scenario=replace(
            SWEEP,
            p=1.5,
            distribution="hypercube",
            methods=("mean.sample", "mean.clipped", "mean.cwme-cdp"),
            trials=20,
        ),
    ),
    Preset(
        name="Choose the radius for me",
        card="The public bound on the mean is ten times too wide. Adaptive clipping spends a "
        "part of the budget on a private look, and has less than half of the error of "
        "simple clipping up to n = 20,000.",
        look_for="All that is known of the mean is a bound ten times too wide. Simple clipping "
        "keeps its radius safe for all of that. Adaptive clipping spends a part of the budget on a "
        "private look, centres its ball there, and has less than half of the error up to "
        "n = 20,000.",
        scenario=replace(
            SWEEP,
            p=2.5,
            offset=1,
            diameter=20,
            methods=("mean.sample", "mean.clipped", "mean.adaptive"),
            grid=GRID_N[2:],
        ),
    ),
    Preset(
        name="Where is the mean?",
        card="The mean lies somewhere in a ball of diameter D. Two estimators pay for the "
        "whole ball; adaptive clipping finds the place privately, and its error does not "
        "even double.",
        look_for="The mean has norm 1, and all that is known of it is that it lies in a ball of "
        "diameter D. Simple clipping and the coordinate-wise estimator pay for the whole ball: at "
        "D = 200 their errors are 6 and 20 times what they are at D = 2. Adaptive clipping finds "
        "the place privately: its error does not even double.",
        scenario=replace(SWEEP, p=2.5, axis="diameter", grid=(2, 4, 10, 20, 40, 100, 200)),
    ),
    Preset(
        name="d is a worst case",
        card="200 coordinates whose scales fall. Adaptive clipping keeps paying for all 200; "
        "PLAN finds out privately which ones are wide, and pays for those.",
        look_for="200 coordinates whose scales fall like j^-a at the same total variance, so "
        "that the plain mean errs about the same at every a. Adaptive clipping adds the same "
        "noise to wide and narrow coordinates and keeps paying for all 200. PLAN finds out "
        "privately which ones are wide: once the scales fall it pays for the few that are, and "
        "comes down towards the grey line. The dimension in a bound is that of the worst case.",
        scenario=replace(
            SWEEP,
            p=2.5,
            n=5000,
            d=200,
            decay=1,
            axis="decay",
            grid=(0, 0.25, 0.5, 0.75, 1, 1.5),
            methods=("mean.sample", "mean.adaptive", "mean.plan"),
        ),
    ),
    Preset(
        name="Hardest input",
        card="The data are the hard instance of the lower bound. On average over the trials no "
        "private line may enter the red region, and none does.",
        look_for="The data are the hard instance of the lower bound. On average over the trials no "
        "line of a private estimator may enter the red region, and none does. The grey one may: "
        "it is not private.",
        scenario=replace(
            SWEEP,
            p=2,
            distribution="hypercube",
            methods=("mean.sample", "mean.clipped", "mean.cwme-cdp", "mean.smoothed"),
            trials=20,
        ),
    ),
    Preset(
        name="Privacy is free",
        card="As ε grows, the private lines on Student t data fall onto the grey one: from "
        "there on the sample size, not privacy, limits the accuracy. On the hardest data "
        "known privacy still has a price.",
        look_for="As ε grows the private lines on Student t data fall onto the grey one, adaptive "
        "clipping at about ε = 1 and simple clipping at about ε = 2: from there on the sample "
        "size, not privacy, limits the accuracy. On the hardest data known privacy still has a "
        "price.",
        scenario=replace(
            SWEEP,
            p=4,
            n=50_000,
            epsilon=5.0,
            methods=("mean.sample", "mean.clipped", "mean.cwme-cdp", "mean.adaptive"),
            axis="epsilon",
            grid=GRID_EPSILON,
        ),
    ),
    Preset(
        name="Dimension bites",
        card="With Laplace noise the coordinate-wise estimator is ahead at d = 2 and level up "
        "to d = 10. Then its error grows faster: at d = 100 it is more than twice that of "
        "Gaussian noise.",
        look_for="At d = 2 the coordinate-wise estimator with Laplace noise (pure privacy) has "
        "less error than the one with Gaussian noise; at d = 5 and 10 they are about level. From "
        "there on Laplace noise grows faster with d: at d = 100 it has more than twice the error.",
        scenario=replace(
            SWEEP,
            n=20_000,
            methods=("mean.sample", "mean.clipped", "mean.cwme-cdp", "mean.cwme-pure"),
            axis="d",
            grid=(2, 5, 10, 20, 50, 100),
        ),
    ),
    Preset(
        name="Theory's constants",
        card="With the theorem's own parameters the coordinate-wise estimator has a larger "
        "error than the trivial answer 0. Rates hide such constants.",
        look_for="With the theorem's own parameters the coordinate-wise estimator has a larger "
        "error than the trivial answer 0, whose error is ‖μ‖ = 1, and iterative updating answers "
        "just that 0. Rates hide such constants.",
        scenario=replace(
            SWEEP,
            methods=(
                "mean.sample",
                "mean.clipped",
                "mean.iterative",
                "mean.cwme-cdp",
                "mean.smoothed",
            ),
            grid=(5000, 10_000, 20_000, 50_000, 100_000),
            trials=5,
            tuning="theory",
            calibration="paper",
        ),
    ),
    Preset(
        name="The price at every tail",
        card="Every error falls as p grows, and the sample mean's falls most. The price "
        "divides by it, so at one n a light tail need not be cheaper.",
        look_for="Every error falls as p grows, that of the sample mean most: the p-th moment is 1 "
        "at every p, so that the variance falls. The price divides by that error, so at one n it "
        "need not fall. On Student t data that of simple clipping and of the coordinate-wise "
        "estimator hardly changes at n = 10,000, that of adaptive clipping stays near 1, and that "
        "of noise smoothing, which uses only the variance, doubles. On the hardest data known "
        "simple clipping pays more with a light tail, though its error is smaller there. What a "
        "heavy tail spoils is how fast the price falls with n: see “A heavy and a light tail”.",
        scenario=replace(
            SWEEP,
            methods=(
                "mean.sample",
                "mean.clipped",
                "mean.cwme-cdp",
                "mean.smoothed",
                "mean.adaptive",
            ),
            axis="p",
            grid=(2, 2.5, 3, 4, 6, 10),
        ),
        measure=MEASURES[1],
    ),
    Preset(
        name="Logistic regression in private",
        card="A hundred weights from heavy-tailed features. With few records one method is "
        "worse than using no data; at n = 20,000 two others are within twice the grey "
        "line.",
        look_for="A hundred weights from heavy-tailed features. Up to n = 2,000 the "
        "coordinate-wise line is above the dashed one, which uses no data at all; at n = 20,000 "
        "the two methods that clip whole gradients are within twice the grey line.",
        scenario=replace(
            CONVEX,
            problem="logistic",
            methods=("sco.erm", "sco.noisy-gd", "sco.cwme", "sco.clipped"),
            epsilon=None,
            delta=None,
            rho=0.5,
            d=100,
            margin=1.0,
            offset=2,
            diameter=10,
            grid=(500, 1000, 2000, 5000, 10_000, 20_000),
        ),
    ),
    Preset(
        name="Clipping decides",
        card="Two methods shrink the records once and for all, and their lines go flat. "
        "Clipped gradients shrinks gradients, which are centred near the optimum, and "
        "goes on falling.",
        look_for="Noisy gradient descent and objective perturbation shrink the records once and "
        "for all: their lines go flat, since the bias of that does not fall with n. Clipped "
        "gradients shrinks gradients, which are centred near the optimum, and goes on falling.",
        scenario=replace(
            CONVEX,
            methods=("sco.erm", "sco.noisy-gd", "sco.clipped", "sco.objective-perturbation"),
        ),
    ),
    Preset(
        name="The hard convex loss",
        card="Loss and data are the hard instance of the lower bound. The best private line "
        "stays within 1.6 times the edge of the red region: hardly better than using no "
        "data.",
        look_for="Loss and data are the hard instance of the lower bound. On average over the "
        "trials no private line may enter the red region, and the best one stays within 1.6 "
        "times its edge: hardly better than the dashed line, which uses no data.",
        scenario=replace(
            CONVEX,
            problem="linear",
            distribution="hypercube",
            methods=("sco.cwme", "sco.clipped", "sco.objective-perturbation"),
            trials=20,
        ),
    ),
    Preset(
        name="One step a record: an eighth of the noise",
        card="Private SGD in one pass, twice: in a secret order, and with one random step for each "
        "record. At ε = 0.1 the random step needs an eighth of the noise.",
        look_for="Both private lines are one pass of SGD, with proven noise for replacing a "
        "record. In a secret random order the noise on a gradient is 18 times its length at "
        "ε = 0.1. Where each record takes one of many steps, at random and in secret, it is 2.3 "
        "times its length: an eighth. Read the lines across: the error of one random step at "
        "ε = 0.1 is below that of the secret order at ε = 5.",
        scenario=replace(
            SWEEP,
            problem="huber",
            n=1000,
            d=10,
            axis="epsilon",
            grid=GRID_EPSILON[1:],
            methods=("sco.erm", "sco.private-sgd", "sco.private-sgd-allocated"),
        ),
    ),
    Preset(
        name="Non-smooth: absolute",
        card="The absolute loss has kinks. Phased SGD is private for smooth losses only, and "
        "says so; clipped gradients does not mind the kinks and comes near the grey line.",
        look_for="The absolute loss has kinks. Phased SGD is private for smooth losses only, and "
        "says so below the figure. Noisy gradient descent goes flat; clipped gradients does not "
        "mind the kinks and comes near the grey line.",
        scenario=replace(
            CONVEX,
            problem="absolute",
            methods=("sco.erm", "sco.noisy-gd", "sco.phased-sgd", "sco.cwme", "sco.clipped"),
            grid=(500, 1000, 2000, 5000, 10_000, 50_000),
            trials=5,
        ),
    ),
    Preset(
        name="Gaussian width at work",
        card="The same logistic regression on two sets of the same diameter. On the ℓ₁ ball "
        "the projection takes most of the noise away: at d = 200 about a tenth is left.",
        look_for="The same logistic regression on two sets of the same diameter. The ℓ₁ ball's "
        "Gaussian width grows like √(2 ln d), that of the ℓ₂ ball like √d: on the ℓ₁ ball the "
        "projection takes most of the noise away. At d = 200 objective perturbation leaves about a "
        "tenth of what it leaves on the ℓ₂ ball.",
        scenario=replace(
            SWEEP,
            problem="logistic",
            methods=("sco.erm", "sco.objective-perturbation"),
            geometry="l1",
            n=10_000,
            d=200,
            p=4,
            axis="d",
            grid=(5, 10, 20, 50, 100, 200),
            trials=5,
        ),
        against="l2",
    ),
    Preset(
        name="A whole user hidden",
        card="Every user has m records, and privacy hides all of them. Clipping the users' "
        "means goes flat; the filtered mean is behind at 10 records per user, and ahead "
        "from 10,000 on.",
        look_for="Every user has m records, and privacy hides all of them at once. Clipping the "
        "users' means needs the same noise at every m, and its error goes flat. The filtered mean "
        "needs many records per user: behind at 10, ahead from 10,000 on, and falling. With 1 or "
        "10 it leaves more than the dashed line, the answer without data.",
        scenario=replace(
            SWEEP,
            problem="quadratic",
            distribution=LAW,
            offset=OFFSET,
            methods=("user.accelerated", "user.clipped-means"),
            n=10_000,
            d=10,
            m=10_000,
            axis="m",
            grid=(1, 10, 1000, 10_000, 100_000, 1_000_000),
            trials=5,
        ),
    ),
)
# The preset shown first, and the preset whose values a link may leave out.
FIRST, DEFAULT = PRESETS[:2]
