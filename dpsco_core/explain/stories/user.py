"""The stories of the user-level optimisers."""

from __future__ import annotations

from dataclasses import replace

from dpsco_core.explain.stories.base import Proof, Story
from dpsco_core.scenario import Scenario

FILTERED = Scenario(
    problem="quadratic",
    distribution="hypercube",
    methods=("user.clipped-means", "user.accelerated"),
    n=10_000,
    d=5,
    m=1000,
    axis="m",
    grid=(10.0, 100.0, 1000.0, 10_000.0, 100_000.0),
    trials=5,
)
PLAIN = replace(
    FILTERED,
    distribution="student-t",
    methods=("user.clipped-means", "user.group-privacy"),
    n=5000,
    m=10,
    grid=(1.0, 3.0, 10.0, 30.0),
    trials=3,
)
LIPSCHITZ = (
    "Lipschitz losses. Where the problem has none, the practical tuning first shrinks features (or "
    "records) into a ball, and minimises the risk of those."
)
IID = (
    "The items of a user come independently from the same law as everybody's: only then do the "
    "users' gradients agree. Accuracy needs it, privacy does not."
)
TEST = (
    "Passing the noisy test says that the score is above a floor, but for half of δ; the bound "
    "holds above that floor, whatever the user's items are: nothing is assumed of the loss."
)
FEW = (
    "Its test must hide a user: with too few users (some thousand a phase at ε = 1) it does not "
    "run, and says how many it needs."
)
FILTER_WEIGHTS = (
    "a point that is near less than half of the others gets weight 0, one that is near all of them "
    "weight 1, and in between the weight is linear."
)
DISJOINT = "Phases look at disjoint users, so that each has the whole budget."
SHARED = (
    "All steps of a phase share ε: one part (0.2 to 0.5, whichever needs the least noise) for the "
    "tests, the rest for the noise. AboveThreshold pays once, however often it passes; steps with "
    "tests of their own cost a T-th of ε and δ each. " + DISJOINT
)
SENSITIVITY = (
    r"In every step a user is one of K points. Replaced, it moves the score by at most 2, and the "
    r"mean by weights by at most $\Delta$, which tends to $4\rho_h/K$ where all points agree, with "
    r"the filter's radius $\rho_h=2\tau$. " + TEST
)
STEPS_NOISE = (
    r"AboveThreshold: Laplace noise on the threshold once and on every score; Gaussian noise of "
    r"deviation $\Delta\sqrt T/\sqrt{2\rho}$ on every filtered mean of a phase of T steps, with "
    r"the exact $\rho$ of the part of $(\varepsilon,\delta)$ that is left. For at most eight "
    "steps, where that needs less noise: a test of its own at each, on a fresh secret batch of "
    "all, half or a quarter of the users, amplified by the subsampling."
)
PRINTED = (
    "The printed batch sizes exceed the number of users at every practical size, and subsampling "
    "after conditioning on tests of the same sample has no proof: `paper` uses all users of a "
    "phase, and refuses where the printed noise is not enough."
)

USER_STORIES: tuple[Story, ...] = (
    Story(
        slug="user.phased-sgd",
        what="Groups of users each run one pass of SGD from the same point, and their averages are "
        "compared. If a noisy test finds them close together, their robust mean is released with "
        "noise; otherwise the run ends at the point before. Phases with fewer users and smaller "
        "steps follow, each on users of its own.",
        steps=(
            r"Choose the phases from the setting: users, step size $\eta_i$, radius $\tau_i$.",
            r"In phase i each of C disjoint groups of $N_i$ users makes one pass of "
            r"$T_i=N_im$ steps, gradients clipped to L, and averages its points.",
            r"Score: how many pairs of averages are within $\tau_i$. If score + Laplace noise is "
            "below the threshold, stop with the last released point.",
            "Filter: " + FILTER_WEIGHTS + " Release the mean by weights with Gaussian noise.",
            "Project it: the start of the next phase, and at the end the answer.",
        ),
        assumptions=(LIPSCHITZ, "Smooth losses, so that steps do not move points apart.", IID),
        privacy=Proof(
            sensitivity=r"A user is in one group of one phase, and so is one of C points. Replaced "
            r"it moves the score by at most 2, and the mean by weights by at most $\Delta$ (tends "
            r"to $4\tau_i/C$ where all averages agree). " + TEST,
            mechanism=r"Laplace noise of scale $2/\varepsilon_1$ on the score with "
            r"$\varepsilon_1=0.4\,\varepsilon$; Gaussian noise of deviation $\Delta/\sqrt{2\rho}$ "
            r"on the mean, with the exact $\rho$ of $(0.6\,\varepsilon,\delta/2)$. The other half "
            r"of $\delta$ pays for the test's floor.",
            composition=DISJOINT + " Projecting, and stopping, only process what was released.",
        ),
        smooth="losses",
        order=r"O(nmd + C^2d)",
        cost="One pass: each item's gradient is taken at most once.",
        when="With thousands of items per user, when one pass must do.",
        pitfalls=(
            "Its filter pays only from thousands of items per user on: a user owns too few of a "
            "group's steps before. The run says by how much a plain mean would be better.",
            FEW.replace("some thousand a phase", "about 300 groups"),
        ),
        errata=(
            "The printed number of groups C does not always give the failure probability that its "
            "proof uses; it is repaired (`paper`).",
            r"The printed noise, $100\,\tau\log^2(n/\delta)/(\varepsilon C)$ at a radius of "
            r"$1000\,\eta L\sqrt T\log(ndm)$, leaves more than half of ε unspent.",
            r"The risk is stated with $1/\varepsilon$ in its private term, and its proof gives "
            r"$1/\sqrt\varepsilon$.",
        ),
        example=replace(
            FILTERED,
            methods=("user.clipped-means", "user.phased-sgd"),
            distribution="student-t",
            n=5000,
            m=30,
            grid=(10.0, 30.0, 100.0),
            trials=3,
        ),
    ),
    Story(
        slug="user.accelerated",
        what="Accelerated descent in which every user's mean gradient is a point, and all points "
        "agree the better the more items per user has. Each step tests that they agree, leaves out "
        "those that do not, and adds noise as small as their spread, which is L/√m in place of L. "
        "Phases on disjoint users halve in size and trust their start more and more.",
        steps=(
            r"Choose phases, steps T, regularisers $\lambda_i$ and $\tau\approx3L/\sqrt m$ from "
            "the setting.",
            "At every step take each user's mean gradient at the present point.",
            r"Score: how many pairs are within $2\tau$; if the noisy test fails, the whole run "
            "ends at the last private point.",
            "Filter: " + FILTER_WEIGHTS,
            r"Release the mean by weights with Gaussian noise, add the gradient of "
            r"$\frac{\lambda_i}2\|x-x_{i-1}\|^2$, and make a step of AC-SA.",
            "The next phase starts where this one ended, with users of its own.",
        ),
        assumptions=(LIPSCHITZ, "Smooth losses (acceleration).", IID),
        privacy=Proof(sensitivity=SENSITIVITY, mechanism=STEPS_NOISE, composition=SHARED),
        smooth="losses",
        order=r"O(Tnmd + Tn^2d)",
        cost="T passes over the items of a phase's users; the n² of pairwise distances is skipped "
        "where all points agree at a glance.",
        when="With a thousand items per user or more: its noise falls like 1/√m where that of "
        "clipped means stays.",
        pitfalls=(FEW, "Below about a thousand items per user clipped means need less noise."),
        errata=(
            PRINTED,
            "The filter uses the score's radius, and not twice that as Algorithm 1's does, so that "
            "two thirds of the points need not be kept; the constant is repaired.",
            "The last sum of Theorem 3.2's number of gradients can be a minimum.",
        ),
        example=FILTERED,
    ),
    Story(
        slug="user.accelerated-strong",
        what="Accelerated user-level descent for losses that are strongly convex, in stages. "
        "Strong convexity says that a good answer is close to the minimiser, so that every stage "
        "may trust its start more than the one before. Each stage has users of its own.",
        steps=(
            r"Choose stages, phases, steps and $\tau$ from the setting: the least modelled risk.",
            "Run accelerated user-level descent on the users of stage 1.",
            r"Every further stage starts where the last one ended, with a larger regulariser, for "
            r"$D_{j+1}=\min\{D_j,\sqrt{D_*D_j}\}$ in the place of the diameter (theory).",
            "Return the last point.",
        ),
        assumptions=(
            "Strongly convex and smooth losses for every item: in the catalogue, the quadratic.",
            LIPSCHITZ,
            IID,
        ),
        privacy=Proof(
            sensitivity=SENSITIVITY,
            mechanism=STEPS_NOISE,
            composition=SHARED + " So do stages.",
        ),
        smooth="losses",
        order=r"O(Tnmd + Tn^2d)",
        cost="T passes over the items of a stage's users; it may take many more steps than the "
        "convex version.",
        when="For the quadratic loss with a thousand items per user or more.",
        pitfalls=(FEW, "A stage has a part of the users only, and a test of its own to pay for."),
        errata=(
            PRINTED,
            "The set must not be shrunk between stages: the distance is bounded in mean square "
            "only.",
        ),
        example=replace(
            FILTERED,
            methods=("user.clipped-means", "user.accelerated-strong"),
            grid=(100.0, 1000.0, 10_000.0),
            trials=2,
        ),
    ),
    Story(
        slug="user.accelerated-nonsmooth",
        what="Makes a loss with kinks smooth by asking for every item's gradient at a randomly "
        "moved point, and runs accelerated user-level descent on that. The moves are fresh in "
        "every step, one an item, and their error averages out over the items. They do not depend "
        "on the data, so that privacy is that of the accelerated method.",
        steps=(
            r"Choose the radius r of the moves from the setting (1 % to 5 % of the diameter).",
            r"Take every item's gradient at $x+y$, y fresh and uniform on the ball of radius r: "
            r"the gradient of a loss that is $L\sqrt d/r$-smooth and at most $Lr$ above.",
            "Average a user's items; then test, filter, noise and AC-SA step as in the accelerated "
            "method.",
        ),
        assumptions=(
            LIPSCHITZ.replace("Lipschitz losses.", "Lipschitz losses, kinks allowed."),
            IID,
        ),
        privacy=Proof(sensitivity=SENSITIVITY, mechanism=STEPS_NOISE, composition=SHARED),
        smooth="no",
        order=r"O(Tnmd + Tn^2d)",
        cost="T passes over the items of a phase's users.",
        when="For losses with kinks and a thousand items per user or more.",
        pitfalls=(
            FEW,
            "The theorem's radius means thousands of passes; the practical one is a "
            "compromise between smoothing bias and steps.",
        ),
        errata=(
            PRINTED,
            "Lemma D.1's sandwich of the smoothed loss is reversed: it lies above the loss.",
            r"Theorem D.3 drops the term $n^{3/4}m^{3/2}\varepsilon^{-1/2}$ of its gradient count, "
            r"and its proof's regulariser lacks a factor $L/R$ and the private term.",
        ),
        example=replace(
            FILTERED,
            problem="absolute",
            distribution="student-t",
            methods=("user.clipped-means", "user.accelerated-nonsmooth"),
            grid=(10.0, 30.0),
            m=10,
            trials=2,
        ),
    ),
    Story(
        slug="user.group-privacy",
        what="Phased SGD over all items, with noise that hides a user's whole block in place of a "
        "single record. It needs no test and no filter, and runs with any number of users. Its "
        "noise does not fall with the number of items, because a user owns more of them.",
        steps=(
            r"Choose the phases from the setting: $n_i$ users and a step size $\eta_i$ each.",
            r"Phase i steps once over all items of its users, gradients clipped to L, and averages "
            "the points.",
            r"Release the average with $N(0,\sigma_i^2I_d)$, "
            r"$\sigma_i=\frac{\min(R,2\eta_iLm)}{\sqrt{2\rho}}$, R the diameter, and project it: "
            "the next start.",
            "Return the last phase's point.",
        ),
        assumptions=(LIPSCHITZ, "Smooth losses, for every possible item: privacy rests on it."),
        privacy=Proof(
            sensitivity=r"A step of size at most $2/\beta$ on a convex $\beta$-smooth loss moves "
            r"two points no further apart. Each of the m items of a replaced user does, by at most "
            r"$2\eta_iL$, once; and the average lies in a set of diameter R. So "
            r"$\Delta_2=\min(R,2\eta_iLm)$.",
            mechanism=r"Gaussian noise of standard deviation $\Delta_2/\sqrt{2\rho}$ makes a phase "
            r"$\rho$-zCDP for a user.",
            composition=DISJOINT,
        ),
        smooth="losses",
        order=r"O(nmd)",
        cost="One pass: each item's gradient is taken at most once.",
        when="With few users, or few items per user. At m = 1 it is phased SGD.",
        pitfalls=("More items per user do not lower its noise.", "Losses with kinks are refused."),
        errata=(
            "Not an error: the paper sets it aside as trivial, in a footnote; by the paper's rates "
            "it beats Algorithm 1 wherever m is at most n and ε at most 1.",
        ),
        example=PLAIN,
    ),
    Story(
        slug="user.clipped-means",
        what="Gradient descent on the mean of the users' mean gradients, each clipped to the "
        "Lipschitz constant. One user can move that mean by 2L/n, whatever its items are, and "
        "Gaussian noise hides it. It takes accelerated steps where a model says that they are "
        "better.",
        steps=(
            "Choose plain or accelerated steps and their number T from the setting.",
            r"At step t average each user's gradients, clip the mean to L, and average over users.",
            r"Release with $N(0,\sigma^2I_d)$, $\sigma=\frac{2L}n\sqrt{\frac T{2\rho}}$.",
            "Step and project; return the last point or an average.",
        ),
        assumptions=(LIPSCHITZ,),
        privacy=Proof(
            sensitivity=r"Every user's term is in a ball of radius L and depends on no other user: "
            r"replacing one moves the mean by at most $\Delta_2=2L/n$ at a fixed point.",
            mechanism=r"Gaussian noise of standard deviation $\Delta_2/\sqrt{2\rho/T}$ makes a "
            r"step $\rho/T$-zCDP for a user; no smoothness is needed.",
            composition=r"T adaptive steps on the same users cost $\rho$ together. Under "
            r"$(\varepsilon,\delta)$ that $\rho$ is the one of the exact Gaussian curve.",
        ),
        smooth="no",
        order=r"O(Tnmd)",
        cost="T passes over all items.",
        when="The first choice at user level below about a thousand items per user. At m = 1 it is "
        "noisy gradient descent.",
        pitfalls=(
            "Its noise does not fall with the number of items: from about a thousand on the filter "
            "of the accelerated method needs less.",
        ),
        example=PLAIN,
    ),
)
