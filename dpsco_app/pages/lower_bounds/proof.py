"""The proofs of the page Lower bounds in words: one step after the other, each with its number."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from dpsco_app.pages.lower_bounds.words import brief
from dpsco_core.bounds.instances.expectiles import EXACT
from dpsco_core.explain.fano.builder import DistanceProof, ExpectileProof, PackingProof
from dpsco_core.explain.fano.forms import Rung
from dpsco_core.explain.tracing import TracingProof


@dataclass(frozen=True, kw_only=True)
class ProofStep:
    """One step: its name, the reason, its number, and what the number means."""

    name: str
    reason: str
    number: str
    unit: str


def draw_steps(steps: Sequence[ProofStep]) -> None:
    """Draw a proof: one row per step, with its number at the right."""
    with st.container(key="lower_steps"):
        for i, step in enumerate(steps, start=1):
            with st.container(key=f"lower_step_{i}"):
                text, number = st.columns([5, 2], vertical_alignment="center", gap="small")
                text.markdown(f"**{i}. {step.name}.** {step.reason}")
                with number, st.container(key=f"lower_number_{i}"):
                    st.markdown(f"**{step.number}**  \n{step.unit}")


def packing_steps(proof: PackingProof, *, pure: bool) -> tuple[ProofStep, ...]:
    """Return the steps of the proof by the paper's packing of spikes.

    `pure` says that the proof binds pure DP algorithms, and otherwise zCDP ones.
    """
    start = (
        ProofStep(
            name="A packing",
            reason=f"The words are {brief(proof.d / 8)}-bit names: $2^{{d/8}}$ patterns with "
            f"{proof.d // 2} ones among d = {proof.d} coordinates. With probability q = "
            f"{brief(proof.q)} a record shows the spike $q^{{-1/p}}\\nu$ (size "
            f"{brief(proof.spike_size)}), otherwise it is 0.",
            number=f"{brief(proof.log_size)} nats",
            unit=f"to know: ln N, {brief(proof.d / 8)} bits",
        ),
        ProofStep(
            name="Separation",
            reason="Two words of the packing differ in at least d/8 places, so their means "
            "$q^{1-1/p}\\nu$ are at least $r=q^{1-1/p}\\sqrt{d/8}$ apart.",
            number=brief(proof.separation),
            unit="least distance r",
        ),
        ProofStep(
            name="A good estimator decodes",
            reason="An estimate with an error below r/2 is nearest to the true word's mean, and "
            "reveals the word. Hence the expected error is at least r/2 times the chance of naming "
            "the wrong one.",
            number=brief(proof.separation / 2),
            unit="r/2, if every guess were wrong",
        ),
        _coupling_step(proof.expected_changes, proof.squared_changes),
    )
    if pure:
        return (
            *start,
            ProofStep(
                name="Group privacy",
                reason="ε-DP: when B records change, no output becomes more than $e^{\\varepsilon "
                "B}$ times as likely.",
                number=_power_text(proof.epsilon * proof.expected_changes),
                unit="at the average number of spikes",
            ),
            ProofStep(
                name="Counting instead of Fano",
                reason="The chances that the output names the words add up to 1, and B changed "
                "records let none of them be more than $e^{\\varepsilon B}$ times another. So a "
                "wrong word is named with a chance of at least "
                "$E\\,\\frac{N-1}{N-1+e^{\\varepsilon B}}$.",
                number=_percent(proof.pure_error),
                unit="wrong words, at least",
            ),
            _bound_step("r/2 times that chance.", proof.pure_bound),
        )
    return (
        *start,
        _groups_step(proof.information),
        ProofStep(
            name="Fano's inequality",
            reason=f"Whoever holds I = {brief(proof.information)} of {brief(proof.log_size)} nats "
            "names the wrong word with a chance of at least $1-\\frac{I+\\ln 2}{\\ln N}$.",
            number=_percent(proof.error),
            unit="wrong words, at least",
        ),
        _bound_step("r/2 times that chance.", proof.bound),
    )


def distance_steps(proof: DistanceProof) -> tuple[ProofStep, ...]:
    """Return Fano's proof by distance on all sign patterns, for zCDP algorithms."""
    spikes = "one spike" if proof.typical == 1 else f"{proof.typical} spikes"
    radius = brief(proof.radius)
    return (
        ProofStep(
            name="All sign patterns",
            reason=f"Nature picks one of the $2^d$ patterns ν of d = {proof.d} signs. With "
            f"probability q = {brief(proof.q)} a record shows the spike $q^{{-1/p}}\\nu$ (size "
            f"{brief(proof.spike_size)} in every coordinate), otherwise it is 0. The mean is "
            "$q^{1-1/p}\\nu$. There is no packing: every pattern counts.",
            number=f"{brief(proof.log_size)} nats",
            unit=f"to know: d ln 2, {proof.d} bits",
        ),
        ProofStep(
            name="A ball around an answer holds few patterns",
            reason="Whatever the answer y, the patterns within a radius $t<\\sqrt d$ of it lie in "
            "one direction u: $\\langle u,\\nu\\rangle\\ge\\sqrt{d-t^2}$. Random signs rarely "
            f"do. So an answer that has seen no data is within t = {radius} of ν with a chance of "
            "at most G(t):",
            number=_percent(proof.share),
            unit=f"of all patterns, at most, within {radius}",
        ),
        ProofStep(
            name="Few records tell",
            reason="Only the $B\\sim\\mathrm{Bin}(n,q)$ spikes depend on ν. The algorithm may even "
            "be told which records they are.",
            number=brief(proof.expected_changes),
            unit="spikes on average, nq",
        ),
        ProofStep(
            name="What the output reveals",
            reason="ρ-zCDP: when B records change, the laws of the output move apart by a "
            "divergence of at most $\\rho B^2$, in both directions and (times α) in every Rényi "
            "order α.",
            number=f"{brief(proof.told)} nats",
            unit=f"may pass the privacy, given {spikes}",
        ),
        ProofStep(
            name="A hit stays unlikely",
            reason="By data processing the output lifts the chance of a hit from G(t) to at most "
            "X. It is the smaller of two numbers: what the divergence of order 1 allows when it "
            "is counted both ways, and what the best order α allows, "
            "$e^{-(\\sqrt{\\ln1/G}-\\sqrt{\\rho B^2})^2}$. Fano's inequality, "
            "$(\\rho B^2+\\ln2)/\\ln\\frac1G$, is weaker than the first.",
            number=_percent(proof.hit),
            unit=f"chance of an answer within {radius}, at most, given {spikes}",
        ),
        ProofStep(
            name="The integral over distances",
            reason="A mean distance is the sum of the chances to be farther off than t, over all "
            "t: $E\\|\\nu-y\\|\\ge\\int_0^{\\sqrt d}(1-X)\\,dt$. A single t, as in a packing, "
            f"would waste the rest. If nothing were revealed, it would be {brief(proof.farthest)}.",
            number=brief(proof.nearest),
            unit=f"proven mean distance to ν, given {spikes}",
        ),
        ProofStep(
            name="Average over the spikes",
            reason="Average that distance over B. (To put the mean of B into it would prove "
            "nothing.)",
            number=brief(proof.bound / proof.theta if proof.theta > 0 else 0.0),
            unit="proven mean distance to ν",
        ),
        _bound_step("The estimate is off by $q^{1-1/p}$ times that distance.", proof.bound),
    )


FORM_NAMES = {
    "fano-cdp": "The paper's packing, one distance",
    "gilbert-cdp": "More words: Gilbert's code",
    "one-distance-cdp": "All sign patterns, one distance (Duchi and Wainwright)",
    "distances-fano-cdp": "All distances",
    "distances-both-ways-cdp": "All distances, divergence counted both ways",
    "fano-distance-cdp": "All distances, all Rényi orders: the proof above",
    "two-sided-cdp": "The information both ways in one piece, without Fano's events",
}


def forms_table(forms: Sequence[Rung]) -> str:
    """Return the forms of Fano's bound for zCDP algorithms, from the paper's to the sharpest."""
    values = {form.key: form.value for form in forms}
    rows = [f"| {name} | {brief(values[key])} |" for key, name in FORM_NAMES.items()]
    return "\n".join(["| Form, each at its best q | least error |", "|---|---|", *rows])


def tracing_steps(proof: TracingProof, budget: str, *, gaussian: bool) -> tuple[ProofStep, ...]:
    """Return the steps of the proof by tracing: accuracy lets a spy succeed, privacy does not.

    `gaussian` says that the proof binds zCDP algorithms, and otherwise (epsilon, delta) ones.
    """
    half = proof.bound / 2
    if gaussian:
        reason = (
            "ρ-zCDP: the output's law with your record and its law with another one are at a "
            "divergence of at most ρ. A test whose score spreads by at most one standard deviation "
            "can then gain no more than about $\\sqrt\\rho$ on average."
        )
    else:
        reason = (
            "Replace the record by its *anti-copy*: signs of the same law, as opposite to yours as "
            "the biases allow. No event becomes more than $e^\\varepsilon$ times as likely, plus "
            "δ, so the score cannot be much larger with your record than with its opposite."
        )
    return (
        ProofStep(
            name="Hidden biases",
            reason="Each of d coordinates has a hidden bias $\\Theta_j$, drawn from a Beta law. "
            f"With probability q = {brief(proof.q)} a record is a spike: signs with these biases, "
            "times $q^{-1/p}$; otherwise it is 0. The mean is $q^{1-1/p}\\,\\Theta$.",
            number=brief(proof.spikes),
            unit="spikes on average, nq",
        ),
        ProofStep(
            name="The spy's test",
            reason="She knows the biases and sees the output, so she knows the direction f in "
            "which it errs. The score of a record is how far its signs lean that way: "
            "$Z=\\sum_jf_jw_j\\frac{s_j-\\Theta_j}{1-\\Theta_j^2}$, $w_j=r^2-\\Theta_j^2$. "
            "A record that was not used scores 0 on average.",
            number=brief(proof.bounds.leakage.spread**2),
            unit="standard deviation of such a score, at most",
        ),
        ProofStep(
            name="Why accuracy makes it succeed",
            reason="An estimate that is good for *every* Θ moves with Θ, and it learns of Θ from "
            "the records only. Integration by parts turns this into a sum: the scores of the "
            "records in use add up to at least $\\frac G\\alpha-u\\alpha$, where α is the error "
            "divided by $q^{1-1/p}$. The smaller the error, the more there is to find. If the "
            f"error were {brief(half)}, half of the bound below, they would add up to:",
            number=brief(proof.needed(half)),
            unit="the scores of all records",
        ),
        ProofStep(
            name="Privacy, record by record",
            reason=reason,
            number=brief(proof.kappa),
            unit=f"a record's mean score, at most, at {budget}",
        ),
        ProofStep(
            name="All records together",
            reason="There are nq spikes on average, and each adds at most that.",
            number=brief(proof.allowed),
            unit="the scores of all records, at most",
        ),
        ProofStep(
            name="The bound",
            reason="So $\\frac G\\alpha-u\\alpha\\le x$, which is "
            "$\\alpha\\ge\\frac{2G}{x+\\sqrt{x^2+4uG}}$ with that sum as x. Times "
            "$q^{1-1/p}$:",
            number=brief(proof.bound),
            unit="least expected error",
        ),
    )


def expectile_steps(proof: ExpectileProof) -> tuple[ProofStep, ...]:
    """Return the steps of the proof by expectiles, which binds every (epsilon, delta) algorithm."""
    spikes = "one spike" if proof.typical == 1 else f"{proof.typical} spikes"
    void = proof.failure >= 1
    return (
        ProofStep(
            name="All sign patterns",
            reason=f"Nature picks one of the $2^d$ patterns ν of d = {proof.d} signs. With "
            f"probability q = {brief(proof.q)} a record shows the spike $q^{{-1/p}}\\nu$, "
            "otherwise it is 0. The mean is $q^{1-1/p}\\nu$.",
            number=brief(proof.theta),
            unit="size of a coordinate of the mean",
        ),
        ProofStep(
            name="Few records tell",
            reason="Only the $B\\sim\\mathrm{Bin}(n,q)$ spikes depend on ν. The algorithm may even "
            "be told which records they are.",
            number=brief(proof.expected_changes),
            unit="spikes on average, nq",
        ),
        ProofStep(
            name="Group privacy",
            reason=_group_privacy(proof, spikes),
            number="none" if void else _power_text(proof.log_likelihood_ratio),
            unit="largest likelihood ratio of two patterns",
        ),
        ProofStep(
            name="The best conceivable posterior",
            reason="You see the output and answer y. In the best case the patterns close to y are "
            "all $e^{B\\varepsilon}$ times as likely as the others. The mean distance is then the "
            "*expectile* t of the distances: the number for which "
            "$(e^{B\\varepsilon}-1)\\,E(t-\\|\\nu-y\\|)_+=E\\|\\nu-y\\|-t$.",
            number=brief(proof.farthest),
            unit="√d: the distance if nothing were revealed",
        ),
        ProofStep(
            name="The best answer",
            reason=_best_answer(proof),
            number=brief(proof.nearest),
            unit=f"proven mean distance to ν, given {spikes}",
        ),
        ProofStep(
            name="Average over the spikes",
            reason="Average that distance over B.",
            number=brief(proof.bound / proof.theta if proof.theta > 0 else 0.0),
            unit="proven mean distance to ν",
        ),
        ProofStep(
            name="The bound",
            reason="The estimate is off by $q^{1-1/p}$ times that distance.",
            number=brief(proof.bound),
            unit="least expected error",
        ),
    )


def _coupling_step(changes: float, squared: float) -> ProofStep:
    """Return the step that counts in how many records two words differ."""
    return ProofStep(
        name="Coupling",
        reason="Compare two words on the *same* random records. Records that are 0 are equal; only "
        "a spike shows the word. So the data sets differ in $B\\sim\\mathrm{Bin}(n,q)$ records: "
        f"$E B=nq$, and $E B^2=n^2q^2+nq(1-q)$ = {brief(squared)}.",
        number=brief(changes),
        unit="records differ on average",
    )


def _groups_step(information: float) -> ProofStep:
    """Return the step that bounds what the output tells, by group privacy."""
    return ProofStep(
        name="Group privacy",
        reason="ρ-zCDP: when B records change, the output's law moves by a divergence of at most "
        "$\\rho B^2$. So the output tells at most $\\rho\\,E B^2$ nats about the word.",
        number=f"{brief(information)} nats",
        unit="may pass the privacy",
    )


def _bound_step(reason: str, value: float) -> ProofStep:
    """Return the last step of a proof, which states the bound."""
    return ProofStep(
        name="The bound", reason=reason, number=brief(value), unit="least expected error"
    )


def _percent(share: float) -> str:
    """Return a share as a percentage with three digits."""
    return f"{100 * share:.3g} %"


def _group_privacy(proof: ExpectileProof, spikes: str) -> str:
    """Return the text on what privacy promises for the whole group of changed records."""
    changed = "one record" if proof.typical == 1 else f"{proof.typical} records"
    start = f"With {spikes}, two patterns lead to data sets that differ in {changed}. "
    if proof.failure >= 1:
        return (
            f"{start}The failure probability of the whole group reaches 1, so that "
            "privacy promises nothing there."
        )
    failure = f", up to a failure probability of {brief(proof.failure)} for the whole group"
    return (
        f"{start}So no output is more than $e^{{B\\varepsilon}}$ times as likely under one pattern "
        f"as under another{failure if proof.delta else ''}."
    )


def _best_answer(proof: ExpectileProof) -> str:
    """Return the text on the answer y that comes nearest to the hidden pattern."""
    if proof.d == 1:
        return "In one dimension the expectile of the best y is $2/(1+e^{B\\varepsilon})$."
    law = "a sum over a binomial law" if proof.d <= EXACT else "bounded by that of a normal law"
    paid = " Failures are paid for." if proof.delta and proof.nearest > 0 else ""
    return (
        "Now choose the best y. Bound the part below t by a cube of the squared distance. A "
        "convexity lemma then shows that the worst direction is the diagonal, for which the mean "
        f"is {law}.{paid}"
    )


def _power_text(exponent: float) -> str:
    """Return a factor exp(exponent) as text, or as a power of e if it is large."""
    return f"× {brief(math.exp(exponent))}" if exponent < 20 else f"e^{brief(exponent)}"
