"""The parts of the page Lower bounds: the mean problem, a packing of one's own, the proof."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import streamlit as st

from dpsco_app.pages.lower_bounds import tables
from dpsco_app.pages.lower_bounds.charts import curve_figure, free_figure, free_grid, trade_figure
from dpsco_app.pages.lower_bounds.expectile import ABOUT_EXPECTILE, expectile_steps
from dpsco_app.pages.lower_bounds.gap_words import ABOUT_TRACING, WHOM_NAMES
from dpsco_app.pages.lower_bounds.proof import ProofStep, steps_of, tracing_steps
from dpsco_app.pages.lower_bounds.row_charts import information_figure, ladder_figure
from dpsco_app.pages.lower_bounds.spy import spy_part
from dpsco_app.pages.lower_bounds.state import (
    BITS_OPTIONS,
    KL_OPTIONS,
    SEPARATION_OPTIONS,
    SHIFT_OPTIONS,
    STATE,
    TV_OPTIONS,
    WHOM,
    View,
)
from dpsco_app.pages.lower_bounds.words import (
    ABOUT_CURVE,
    ABOUT_FREE,
    ABOUT_LADDER,
    ABOUT_PROOF,
    HARD_NAMES,
    LOOK_AT_CURVE,
    LOOK_AT_LADDER,
    brief,
    classes_sentence,
    curve_title,
    floors_sentence,
    free_sentence,
    free_title,
    information_title,
    instance_sentence,
    ladder_title,
    literal_sentence,
    proof_title,
    pure_sentence,
)
from dpsco_app.parts.figures import responsive
from dpsco_app.parts.options import budget_text as budget_of
from dpsco_app.parts.page import slider
from dpsco_core.explain.fano.builder import PackingProof, SignProof
from dpsco_core.explain.fano.instance import (
    PROOFS,
    FanoCurve,
    Floors,
    MeanInstance,
    Rung,
    curves,
    floors,
    ladder,
    literal_probability,
)
from dpsco_core.explain.tracing import tracing_proof
from dpsco_core.scenario import Scenario


@st.cache_resource(max_entries=200, show_spinner=False, hash_funcs={Scenario: repr})
def _numbers(point: Scenario) -> tuple[tuple[FanoCurve, ...], tuple[Rung, ...], Floors]:
    at = MeanInstance(scenario=point)
    return curves(at), ladder(at), floors(at)


def numbers(at: MeanInstance) -> tuple[tuple[FanoCurve, ...], tuple[Rung, ...], Floors]:
    """Return the bounds of an instance; kept for later reruns."""
    point = replace(at.scenario, methods=(), trials=1, seed=0)
    return _numbers(point)


# -- controls -----------------------------------------------------------------------------------


def choose_packing() -> None:
    """Draw the controls of a packing of one's own."""
    columns = st.columns(2)
    with columns[0]:
        slider(
            STATE,
            "Packing size, log₂ N (bits)",
            "bits",
            BITS_OPTIONS,
            help="How many laws there are to choose from: N = 2 to this power.",
        )
        slider(
            STATE,
            "Separation r",
            "separation",
            SEPARATION_OPTIONS,
            help="Least distance of two laws' parameters.",
        )
    with columns[1]:
        slider(
            STATE,
            "Total variation TV",
            "tv",
            TV_OPTIONS,
            help="Of the laws of one record, between any two words; α in the proof.",
        )
        slider(
            STATE,
            "Divergence KL (nats)",
            "kl",
            KL_OPTIONS,
            help="Of the laws of one record. ∞ where a record can rule a word out.",
        )


# -- the mean problem ---------------------------------------------------------------------------


def form_of(view: View) -> str:
    """Return the slug of the bound that the proof is about."""
    if view.hard == "hypercube" and view.about != "zcdp":
        return "approx-packing"
    head = "fano" if view.hard == "spike" else "hypercube"
    return f"{head}-{'pure' if view.notion == 'pure' else 'cdp'}"


def proof_probability(at: MeanInstance, view: View) -> float:
    """Return the spike probability of the proof: the best one times the shift, within R."""
    drawn, _, _ = numbers(at)
    best = next(c for c in drawn if c.slug == form_of(view)).best_q
    return min(at.largest("spike" if view.hard == "spike" else "hypercube"), best * view.shift)


def instance_part(at: MeanInstance, view: View) -> None:
    """Draw what is proven on the mean problem."""
    drawn, rungs, found = numbers(at)
    with st.container(key="lower_said"):
        st.markdown(instance_sentence(at, found, view))
    st.header("The bound against the spike probability")
    st.markdown(ABOUT_CURVE)
    q = proof_probability(at, view)
    printed = literal_probability(at, "zcdp")
    responsive(
        "lower_curve",
        curve_title(drawn, view),
        lambda look: curve_figure(drawn, found.sampling, (q, form_of(view)), printed, look),
        table=lambda: tables.curve_table(drawn),
    )
    st.caption(LOOK_AT_CURVE + classes_sentence(at))
    st.header("The paper's constants, better ones, and a sharper instance")
    st.markdown(ABOUT_LADDER)
    responsive(
        "lower_ladder",
        ladder_title(rungs, view),
        lambda look: ladder_figure(rungs, look),
        bar=False,
        table=lambda: tables.ladder_table(rungs),
    )
    st.caption(LOOK_AT_LADDER)
    s = at.scenario
    literal = PackingProof(n=s.n, d=s.d, order=s.p, q=printed, rho=at.rho, epsilon=at.epsilon)
    st.markdown(literal_sentence(literal.factor, printed))


def choose_hard(label: str) -> None:
    """Draw the choice of the proof, which is that of the instance that is run."""
    st.segmented_control(
        label,
        PROOFS,
        format_func=lambda key: HARD_NAMES[key],
        key=STATE.key("hard"),
        required=True,
    )


def instance_proof(at: MeanInstance, view: View) -> None:
    """Draw the proof on the mean problem, step by step."""
    left, right = st.columns([1, 1], vertical_alignment="bottom")
    with left:
        choose_hard("Proof and instance")
    with right:
        slider(
            STATE,
            "Spike probability of the proof, times the best one",
            "shift",
            SHIFT_OPTIONS,
            help="At 1 the bound is largest. Move it to see why.",
        )
    if view.hard == "tracing":
        _traced_proof(at, view)
        return
    if view.hard == "hypercube":
        _choose_whom(view)
    q, pure = proof_probability(at, view), view.notion == "pure"
    proof: PackingProof | SignProof
    expectiles = at.expectiles(q) if form_of(view) == "approx-packing" else None
    if expectiles is None:
        proof = at.proof(q)
        st.markdown(ABOUT_PROOF)
        draw_steps(steps_of(proof, pure=pure))
    else:
        proof, pure = expectiles, False
        st.markdown(ABOUT_EXPECTILE)
        draw_steps(expectile_steps(expectiles))
    drawn, _, _ = numbers(at)
    curve = next(c for c in drawn if c.slug == form_of(view))
    shown = at.proof(q).pure_bound if pure else proof.bound
    if why := floors_sentence(drawn, form_of(view), shown):
        st.markdown(why)
    if curve.best > 0:
        ceiling = np.array([at.proof(float(q)).ceiling for q in curve.q])
        responsive(
            "lower_trade",
            proof_title(proof, view.shift, pure=pure),
            lambda look: trade_figure(curve.q, ceiling, curve.values, proof.q, look),
            table=lambda: tables.trade_table(curve.q, ceiling, curve.values),
        )


def _choose_whom(view: View) -> None:
    """Draw the choice of the algorithms that the proof is about, where the budget leaves one."""
    if view.notion == "approx":
        st.segmented_control(
            "Binds", WHOM, format_func=WHOM_NAMES.get, key=STATE.key("whom"), required=True
        )


def _traced_proof(at: MeanInstance, view: View) -> None:
    """Draw the proof by tracing, and the spy at work on the instance."""
    _choose_whom(view)
    st.markdown(ABOUT_TRACING)
    setting = replace(at.setting, spike_probability=None)
    gaussian = view.about == "zcdp"
    proof = tracing_proof(setting, "zcdp" if gaussian else "approx", view.shift)
    budget = f"ρ = {brief(setting.rho)}" if gaussian else budget_of(setting.budget)
    draw_steps(tracing_steps(proof, budget, gaussian=gaussian))
    spy_part(at, view)


def draw_steps(steps: Sequence[ProofStep]) -> None:
    """Draw a proof: one row a step, its number at the right."""
    with st.container(key="lower_steps"):
        for i, step in enumerate(steps, start=1):
            text, number = st.columns([5, 2], vertical_alignment="center", gap="small")
            with text:
                st.markdown(f"**{i}. {step.name}.** {step.why}")
            with number, st.container(key=f"lower_number_{i}"):
                st.markdown(f"**{step.number}**  \n{step.unit}")


# -- a packing of one's own ---------------------------------------------------------------------


def free_part(view: View) -> None:
    """Draw Fano's bound on a packing of one's own, and its proof."""
    at = view.builder
    with st.container(key="lower_said"):
        st.markdown(free_sentence(at))
    st.header("The two terms over the number of records")
    st.markdown(ABOUT_FREE)
    responsive(
        "lower_free",
        free_title(at),
        lambda look: free_figure(at, look),
        table=lambda: tables.free_table([at.at(n) for n in free_grid(at)]),
    )
    st.markdown(pure_sentence(at))
    responsive(
        "lower_information",
        information_title(at),
        lambda look: information_figure(at, look),
        bar=False,
        table=lambda: tables.information_table(at),
    )
