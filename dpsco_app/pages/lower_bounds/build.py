"""Build and Prove: the bounds on the hard mean problem or on a packing of one's own, proven."""

from dataclasses import replace
from functools import partial

import numpy as np
import streamlit as st

from dpsco_app.pages.first_screen import FirstScreen
from dpsco_app.pages.lower_bounds import spy_words, words
from dpsco_app.pages.lower_bounds.expectile import ABOUT_EXPECTILE, expectile_steps
from dpsco_app.pages.lower_bounds.figures import (
    caught_figure,
    curve_figure,
    free_figure,
    trade_figure,
)
from dpsco_app.pages.lower_bounds.gap_words import WHOM_NAMES
from dpsco_app.pages.lower_bounds.proof import builder_steps, draw_steps, steps_of, tracing_steps
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
from dpsco_app.pages.lower_bounds.tables import caught_table, ladder_table
from dpsco_app.parts.export import setting_line, show_table
from dpsco_app.parts.options import budget_text
from dpsco_app.parts.page import slider
from dpsco_core.explain.fano.builder import PackingProof
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
from dpsco_core.explain.tracing import ELEMENTS, Spied, spied, tracing_proof
from dpsco_core.scenario import Scenario

BUILD = "Which argument proves the most?"
PROVE = "Why can no private algorithm do better?"
FREE = "What does a packing of your own prove?"
kept = partial(st.cache_resource, hash_funcs={Scenario: repr})


@kept(max_entries=200, show_spinner=False)
def _numbers(point: Scenario) -> tuple[tuple[FanoCurve, ...], tuple[Rung, ...], Floors]:
    at = MeanInstance(scenario=point)
    return curves(at), ladder(at), floors(at)


@kept(max_entries=50, show_spinner="The spy is at work")
def _spied(point: Scenario, methods: tuple[str, ...]) -> tuple[Spied, ...]:
    return spied(point, methods)


def numbers(at: MeanInstance) -> tuple[tuple[FanoCurve, ...], tuple[Rung, ...], Floors]:
    """Return the bounds of an instance; kept for later reruns."""
    return _numbers(replace(at.scenario, methods=(), trials=1, seed=0))


# -- controls -----------------------------------------------------------------------------------


def choose_hard(label: str) -> None:
    """Draw the choice of the proof, which is that of the instance that is run."""
    st.segmented_control(
        label, PROOFS, format_func=words.HARD_NAMES.get, key=STATE.key("hard"), required=True
    )


def choose_whom() -> None:
    """Draw the choice of the algorithms that a proof is about."""
    st.segmented_control(
        "Binds", WHOM, format_func=WHOM_NAMES.get, key=STATE.key("whom"), required=True
    )


def _choose_packing() -> None:
    """Draw the controls of a packing of one's own."""
    for column, label, name, options, about in zip(
        st.columns(4),
        ("Packing size, log₂ N (bits)", "Separation r", "Total variation TV", "Divergence KL"),
        ("bits", "separation", "tv", "kl"),
        (BITS_OPTIONS, SEPARATION_OPTIONS, TV_OPTIONS, KL_OPTIONS),
        (
            "How many laws there are to choose from: N = 2 to this power.",
            "Least distance of two laws' parameters.",
            "Of the laws of one record, between any two words; α in the proof.",
            "In nats, of the laws of one record. ∞ where a record can rule a word out.",
        ),
        strict=True,
    ):
        with column:
            slider(STATE, label, name, options, help=about)


# -- the hard mean problem ----------------------------------------------------------------------


def form_of(view: View) -> str:
    """Return the slug of the bound that the proof is about."""
    if view.hard == "hypercube" and view.about != "zcdp":
        return "approx-packing"
    head = "fano" if view.hard == "spike" else "hypercube"
    return f"{head}-{'pure' if view.notion == 'pure' else 'cdp'}"


def proof_probability(at: MeanInstance, view: View) -> float:
    """Return the spike probability of the proof: the best one times the shift, within R."""
    best = next(c for c in numbers(at)[0] if c.slug == form_of(view)).best_q
    return min(at.largest("spike" if view.hard == "spike" else "hypercube"), best * view.shift)


def build_part(screen: FirstScreen, view: View) -> None:
    """Draw what is proven on the hard mean problem, and by which argument."""
    at = view.instance
    curves, rungs, costs = numbers(at)
    printed = literal_probability(at, "zcdp")
    answer, small = words.curve_words(curves, view)
    screen.say(BUILD, answer, small)
    figure = curve_figure(curves, words.largest(curves, view), costs.sampling, printed, answer)
    screen.draw(figure)
    with screen.foot:
        with st.container(key="lower_said"):
            st.markdown(words.instance_sentence(at, costs, view))
        st.markdown(f"{words.ABOUT_CURVE} {words.LOOK_AT_CURVE}{words.classes_sentence(at)}")
    screen.draw_files(figure, setting=setting_line(at.scenario, runs=False))
    st.subheader(words.ladder_title(rungs, view))
    show_table(ladder_table(rungs))
    s = at.scenario
    literal = PackingProof(n=s.n, d=s.d, order=s.p, q=printed, rho=at.rho, epsilon=at.epsilon)
    st.markdown(f"{words.ABOUT_LADDER} {words.literal_sentence(literal.factor, printed)}")


def prove_part(screen: FirstScreen, view: View) -> None:
    """Draw the proof on the hard mean problem: what the output tells, and every step."""
    at = view.instance
    with screen.controls, st.container(horizontal=True, key="lower_proof"):
        choose_hard("Proof and instance")
        if view.notion == "approx" and view.hard != "spike":
            choose_whom()
        slider(
            STATE,
            "Spike probability of the proof, times the best one",
            "shift",
            SHIFT_OPTIONS,
            help="At 1 the bound is largest. Move it to see why.",
            width=330,
        )
    if view.hard == "tracing":
        _tracing(screen, at, view)
        return
    slug, q, pure = form_of(view), proof_probability(at, view), view.notion == "pure"
    proof, curves = at.proof(q), numbers(at)[0]
    expectiles = at.expectiles(q) if slug == "approx-packing" else None
    bound = expectiles.bound if expectiles else proof.pure_bound if pure else proof.bound
    answer = words.proof_title(q, bound, proof.ceiling, view.shift)
    screen.say(PROVE, answer, words.floors_sentence(curves, slug, bound))
    curve = next(c for c in curves if c.slug == slug)
    if curve.best > 0:
        ceiling = np.array([at.proof(float(x)).ceiling for x in curve.q])
        here = (q, words.brief(proof.ceiling), words.brief(bound))
        figure = trade_figure(curve, ceiling, here, answer)
        screen.draw(figure)
        screen.draw_files(figure, setting=setting_line(at.scenario, runs=False))
    st.markdown(ABOUT_EXPECTILE if expectiles else words.ABOUT_PROOF)
    draw_steps(expectile_steps(expectiles) if expectiles else steps_of(proof, pure=pure))


def _tracing(screen: FirstScreen, at: MeanInstance, view: View) -> None:
    """Draw the proof by tracing, and the spy at work on the instance."""
    gaussian, budget = view.about == "zcdp", at.scenario.budget
    setting = replace(at.setting, spike_probability=None)
    proof = tracing_proof(setting, "zcdp" if gaussian else "approx", view.shift)
    at_rho = f"ρ = {words.brief(setting.rho)}"
    steps = tracing_steps(proof, at_rho if gaussian else budget_text(budget), gaussian=gaussian)
    answer = spy_words.tracing_title(proof.bound)
    if view.n * view.d > ELEMENTS:
        too_many = f"{ELEMENTS:,}, and it is {view.n * view.d:,}."
        screen.say(PROVE, answer, f"The spy is put to work where n times d is at most {too_many}")
        spies: tuple[Spied, ...] = ()
    else:
        methods = ("mean.sample", "mean.cwme-pure" if view.notion == "pure" else "mean.clipped")
        spies = tuple(s for s in _spied(at.scenario, methods) if not s.refused)
        screen.say(PROVE, answer, spy_words.spy_sentence(spies, budget))
        figure = caught_figure(spies, budget, spy_words.caught_title(spies, budget))
        screen.draw(figure)
        screen.draw_files(
            figure,
            lambda: caught_table(spies, budget),
            setting=setting_line(at.scenario, runs=False),
        )
    st.markdown(spy_words.ABOUT_TRACING)
    draw_steps(steps)
    if spies:
        st.markdown(f"{spy_words.ABOUT_SPY} {spy_words.scores_title(spies)}.")


# -- a packing of one's own ---------------------------------------------------------------------


def free_part(screen: FirstScreen, view: View) -> None:
    """Draw Fano's bound on a packing of one's own, and its proof."""
    at = view.builder
    with screen.controls:
        _choose_packing()
    screen.say(FREE, words.free_answer(at), words.free_title(at) + ".")
    figure = free_figure(at, words.free_title(at))
    screen.draw(figure)
    with screen.foot, st.container(key="lower_said"):
        st.markdown(f"{words.ABOUT_FREE}\n\n{words.pure_sentence(at)}")
    screen.draw_files(figure)
    draw_steps(builder_steps(at))
