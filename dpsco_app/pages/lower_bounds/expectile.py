"""The proof by expectiles in words: what binds every (ε, δ) algorithm, and every pure one."""

import math

from dpsco_app.pages.lower_bounds.proof import ProofStep
from dpsco_app.pages.lower_bounds.words import brief
from dpsco_core.bounds.instances.expectiles import EXACT
from dpsco_core.explain.fano.builder import ExpectileProof

ABOUT_EXPECTILE = (
    "This proof compares all sign patterns at once. Privacy keeps the output from making any "
    "pattern much more likely than another. So whatever you answer, most patterns stay possible, "
    "and most patterns are far from any one answer."
)


def expectile_steps(at: ExpectileProof) -> tuple[ProofStep, ...]:
    """Return the proof that binds every (epsilon, delta) algorithm, at one spike probability."""
    spikes = "one spike" if at.typical == 1 else f"{at.typical} spikes"
    void = at.failure >= 1
    return (
        ProofStep(
            name="All sign patterns",
            why=f"Nature picks one of the $2^d$ patterns ν of d = {at.d} signs. With probability "
            f"q = {brief(at.q)} a record shows the spike $q^{{-1/p}}\\nu$, otherwise it is 0. The "
            "mean is $q^{1-1/p}\\nu$.",
            number=brief(at.theta),
            unit="size of a coordinate of the mean",
        ),
        ProofStep(
            name="Few records tell",
            why="Only the $B\\sim\\mathrm{Bin}(n,q)$ spikes depend on ν. The algorithm may even be "
            "told which records they are.",
            number=brief(at.expected_changes),
            unit="spikes on average, nq",
        ),
        ProofStep(
            name="Group privacy",
            why=_group_privacy(at, spikes),
            number="none" if void else _power(at.log_likelihood_ratio),
            unit="largest likelihood ratio of two patterns",
        ),
        ProofStep(
            name="The best conceivable posterior",
            why="You see the output and answer y. In the best case the patterns close to y are "
            "all $e^{B\\varepsilon}$ times as likely as the others. The mean distance is then the "
            "*expectile* t of the distances: the number for which "
            "$(e^{B\\varepsilon}-1)\\,E(t-\\|\\nu-y\\|)_+=E\\|\\nu-y\\|-t$.",
            number=brief(at.farthest),
            unit="√d: the distance if nothing were revealed",
        ),
        ProofStep(
            name="The best answer",
            why=_best_answer(at),
            number=brief(at.nearest),
            unit=f"proven mean distance to ν, given {spikes}",
        ),
        ProofStep(
            name="Average over the spikes",
            why="Average that distance over B.",
            number=brief(at.bound / at.theta if at.theta > 0 else 0.0),
            unit="proven mean distance to ν",
        ),
        ProofStep(
            name="The bound",
            why="The estimate is off by $q^{1-1/p}$ times that distance.",
            number=brief(at.bound),
            unit="least expected error",
        ),
    )


def _group_privacy(at: ExpectileProof, spikes: str) -> str:
    changed = "one record" if at.typical == 1 else f"{at.typical} records"
    start = f"With {spikes}, two patterns lead to data sets that differ in {changed}. "
    if at.failure >= 1:
        return (
            f"{start}The failure probability of the whole group reaches 1, so that "
            "privacy promises nothing there."
        )
    failure = f", up to a failure probability of {brief(at.failure)} for the whole group"
    return (
        f"{start}So no output is more than $e^{{B\\varepsilon}}$ times as likely under one pattern "
        f"as under another{failure if at.delta else ''}."
    )


def _best_answer(at: ExpectileProof) -> str:
    if at.d == 1:
        return "In one dimension the expectile of the best y is $2/(1+e^{B\\varepsilon})$."
    law = "a sum over a binomial law" if at.d <= EXACT else "bounded by that of a normal law"
    paid = " Failures are paid for." if at.delta and at.nearest > 0 else ""
    return (
        "Now choose the best y. Bound the part below t by a cube of the squared distance. A "
        "convexity lemma then shows that the worst direction is the diagonal, for which the mean "
        f"is {law}.{paid}"
    )


def _power(exponent: float) -> str:
    return f"× {brief(math.exp(exponent))}" if exponent < 20 else f"e^{brief(exponent)}"
