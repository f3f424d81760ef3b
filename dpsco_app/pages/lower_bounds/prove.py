"""The proof of a lower bound, step by step with its numbers."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import streamlit as st

from dpsco_app.pages.first_screen import FirstScreen
from dpsco_app.pages.lower_bounds import words
from dpsco_app.pages.lower_bounds.expectile import ABOUT_EXPECTILE, expectile_steps
from dpsco_app.pages.lower_bounds.figures import (
    caught_figure,
    caught_table,
    curve_figure,
    free_figure,
)
from dpsco_app.pages.lower_bounds.floor import floor_part
from dpsco_app.pages.lower_bounds.proof import (
    builder_steps,
    draw_steps,
    steps_of,
    tracing_steps,
)
from dpsco_app.pages.lower_bounds.state import (
    BITS_OPTIONS,
    KL_OPTIONS,
    PROOF_NAMES,
    SEPARATION_OPTIONS,
    SHIFT_OPTIONS,
    STATE,
    TV_OPTIONS,
    WHOM_NAMES,
    View,
    about,
    instance_of,
    packing_of,
)
from dpsco_app.parts.export import setting_line
from dpsco_app.parts.options import budget_text
from dpsco_app.parts.page import draw_parts, slider, to_explore
from dpsco_core.base.limits import DASHBOARD
from dpsco_core.explain.fano.builder import PackingProof
from dpsco_core.explain.fano.instance import (
    PROOFS,
    FanoCurve,
    Floors,
    MeanInstance,
    curves,
    floors,
    literal_probability,
)
from dpsco_core.explain.tracing import ELEMENTS, Spied, spied, tracing_proof
from dpsco_core.explain.window import notions_of
from dpsco_core.scenario import Scenario

GRID = (500, 1000, 2000, 5000, 10_000)
PROVE = "Why can no private algorithm do better?"
kept = partial(st.cache_resource, hash_funcs={Scenario: repr})


@kept(max_entries=200, show_spinner=False)
def _numbers(point: Scenario) -> tuple[tuple[FanoCurve, ...], Floors]:
    at = MeanInstance(scenario=point)
    return curves(at), floors(at)


_spied = kept(max_entries=50, show_spinner="The spy is at work")(spied)


def numbers(at: MeanInstance) -> tuple[tuple[FanoCurve, ...], Floors]:
    """Return the bounds of an instance; kept for later reruns."""
    made: tuple[tuple[FanoCurve, ...], Floors]
    made = _numbers(replace(at.scenario, methods=(), trials=1, seed=0))
    return made


def prove_part(screen: FirstScreen, view: View, scenario: Scenario) -> None:
    """Draw the chosen proof, and what it asks for."""
    with screen.controls:
        draw_parts(PROOF_NAMES, STATE.key("hard"), "Proof")
        with st.container(horizontal=True, vertical_alignment="bottom", key="lower_proof"):
            if notions_of(scenario)[0] == "approx" and view.hard not in ("spike", "packing"):
                draw_parts(WHOM_NAMES, STATE.key("whom"), "Binds")
            if view.hard not in ("data", "packing"):
                slider(
                    STATE,
                    "Spike probability of the proof, times the best one",
                    "shift",
                    SHIFT_OPTIONS,
                    help="At 1 the bound is largest. Move it to see why.",
                    width=330,
                )
    DRAW[view.hard](screen, view, scenario)
    if view.hard in PROOFS:
        grid = tuple(n for n in GRID if n * scenario.d <= DASHBOARD.elements)
        point = replace(instance_of(view, scenario).scenario, axis="n", grid=grid)
        to_explore(point, "Run algorithms on this instance in Explore")


# -- the hard mean problem ----------------------------------------------------------------------


def form_of(view: View, scenario: Scenario) -> str:
    """Return the slug of the bound that the proof is about."""
    notion = about(view, scenario)
    if view.hard == "hypercube" and notion != "zcdp":
        return "approx-packing"
    head = "fano" if view.hard == "spike" else "hypercube"
    return f"{head}-{'pure' if notion == 'pure' else 'cdp'}"


def _spikes(screen: FirstScreen, view: View, scenario: Scenario) -> None:
    """Draw the proof on spikes along a word: the bounds over q, and every step at one of them."""
    at, slug = instance_of(view, scenario), form_of(view, scenario)
    curves, least = numbers(at)
    curve = next(c for c in curves if c.slug == slug)
    q = min(at.largest("spike" if view.hard == "spike" else "hypercube"), curve.best_q * view.shift)
    proof, pure = at.proof(q), curve.binds == "pure"
    expectiles = at.expectiles(q) if slug == "approx-packing" else None
    bound = expectiles.bound if expectiles else proof.pure_bound if pure else proof.bound
    answer = words.proof_title(curve, bound)
    small = words.proof_small(curve, q, bound, proof.ceiling)
    screen.say(PROVE, answer, f"{small} {words.floors_sentence(curves, curve)}")
    best = words.largest(curves, notions_of(scenario)[0])
    figure = curve_figure(curves, slug, best, least.sampling, q, answer)
    screen.draw(figure)
    with screen.foot, st.container(key="lower_said"):
        st.markdown(f"{words.bites_sentence(best, least)} {words.classes_sentence(at)}")
        if isinstance(proof, PackingProof):
            printed = literal_probability(at, "zcdp")
            st.markdown(words.literal_sentence(replace(proof, q=printed).factor, printed))
    screen.draw_files(figure, setting=setting_line(at.scenario, runs=False))
    st.markdown(ABOUT_EXPECTILE if expectiles else words.ABOUT_PROOF)
    draw_steps(expectile_steps(expectiles) if expectiles else steps_of(proof, pure=pure))


def _tracing(screen: FirstScreen, view: View, scenario: Scenario) -> None:
    """Draw the proof by tracing, and the spy at work on the instance."""
    at, gaussian = instance_of(view, scenario), about(view, scenario) == "zcdp"
    setting, budget = replace(at.setting, spike_probability=None), scenario.budget
    proof = tracing_proof(setting, "zcdp" if gaussian else "approx", view.shift)
    whose = f"ρ = {words.brief(setting.rho)}" if gaussian else budget_text(budget)
    answer = (
        f"An error below {words.brief(proof.bound)} would let a spy tell whose records were used"
    )
    spies: tuple[Spied, ...] = ()
    if scenario.n * scenario.d > ELEMENTS:
        too_many = f"{ELEMENTS:,}, and it is {scenario.n * scenario.d:,}."
        screen.say(PROVE, answer, f"The spy is put to work where n times d is at most {too_many}")
    else:
        pure = notions_of(scenario)[0] == "pure"
        methods = ("mean.sample", "mean.cwme-pure" if pure else "mean.clipped")
        spies = tuple(s for s in _spied(at.scenario, methods) if not s.refused)
        screen.say(PROVE, answer, words.spy_sentence(spies, budget))
        figure = caught_figure(spies, budget, words.caught_title(spies, budget))
        screen.draw(figure)
        screen.draw_files(
            figure,
            lambda: caught_table(spies, budget),
            setting=setting_line(at.scenario, runs=False),
        )
    st.markdown(f"{words.ABOUT_TRACING} {words.ABOUT_SPY if spies else ''}")
    draw_steps(tracing_steps(proof, whose, gaussian=gaussian))


# -- a packing of one's own ---------------------------------------------------------------------


def _packing(screen: FirstScreen, view: View, scenario: Scenario) -> None:
    """Draw Fano's bound on a packing of one's own, and its proof."""
    at = packing_of(view, scenario)
    with screen.controls:
        _choose_packing()
    figure = free_figure(at, words.free_title(at))
    screen.say(PROVE, words.free_answer(at), f"{figure.alt}. {words.impossible(at)}")
    screen.draw(figure)
    with screen.foot:
        st.markdown(words.ABOUT_FREE)
    screen.draw_files(figure)
    draw_steps(builder_steps(at))


def _choose_packing() -> None:
    for column, label, name, options, help_text in zip(
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
            slider(STATE, label, name, options, help=help_text)


DRAW: dict[str, Callable[[FirstScreen, View, Scenario], None]] = {
    "hypercube": _spikes,
    "spike": _spikes,
    "tracing": _tracing,
    "data": floor_part,
    "packing": _packing,
}
