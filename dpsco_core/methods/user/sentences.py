"""Sentences and examples that the stories of several methods share."""

from typing import Any

FILTERED: dict[str, Any] = {
    "problem": "quadratic",
    "distribution": "hypercube",
    "methods": ("user.clipped-means", "user.accelerated"),
    "n": 10000,
    "d": 5,
    "m": 1000,
    "axis": "m",
    "grid": (10.0, 100.0, 1000.0, 10000.0, 100000.0),
    "trials": 5,
}
PLAIN: dict[str, Any] = FILTERED | {
    "distribution": "student-t",
    "methods": ("user.clipped-means", "user.group-privacy"),
    "n": 5000,
    "m": 10,
    "grid": (1.0, 3.0, 10.0, 30.0),
    "trials": 3,
}
LIPSCHITZ = (
    "Lipschitz losses. Where the problem has none, the practical tuning first shrinks features (or "
    "records) into a ball, and minimises the risk of those; a user's mean record where the "
    "gradients are linear in it and the method takes no more of a user."
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
