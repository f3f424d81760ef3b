"""Sentences and examples that the stories of several methods share."""

from typing import Any

GRID = (500.0, 1000.0, 2000.0, 5000.0, 10_000.0, 20_000.0)
QUADRATIC: dict[str, Any] = {
    "problem": "quadratic",
    "methods": ("sco.erm", "sco.clipped", "sco.cwme"),
    "d": 10,
    "axis": "n",
    "grid": GRID,
    "trials": 10,
}
LOGISTIC: dict[str, Any] = QUADRATIC | {"problem": "logistic"}
HUBER: dict[str, Any] = QUADRATIC | {"problem": "huber", "p": 2.0}
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
NO_BOUND = "Nothing hides a record: it is here to show what privacy costs."
LIPSCHITZ = (
    "Lipschitz losses. Where the problem has none, the practical tuning first shrinks features (or "
    "records) into a ball, and minimises the risk of those: a bias that does not fall with n."
)
CONVEX_SET = "A convex set that is bounded and can be projected on."
ALLOCATED_SENSITIVITY = (
    r"A record enters the sum of one step, and a replaced one stays there: it moves that sum by at "
    r"most $\Delta_2=2C$. The sum is divided by the public $n/T$, never by how many records it has."
)
ALLOCATED_MECHANISM = (
    r"Gaussian noise on every sum. Which step is a record's own is secret, so that both laws are "
    r"averages over T steps: $\frac1T\sum_te^{sz_t}$ against $\frac1T\sum_te^{-sz_t}$, "
    r"$s=C/\sigma$, at worst. Their δ at ε is computed by one Fourier transform, every rounding "
    r"upwards, and σ is the least that the budget allows."
)
ALLOCATED_LEDGER = (
    r"All steps are one entry, $(\varepsilon,\delta)$-DP together, though each may depend on what "
    r"the earlier ones released. In zCDP there is nearly nothing to gain, and such a budget is "
    "refused."
)
ALLOCATED_PITFALLS = (
    "A shuffle into batches of equal size is another sampler, and this proof is not about it: the "
    "places of two records depend on each other there.",
    "The steps of the records, and how many each step has, must never be released.",
)
