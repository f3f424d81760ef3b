"""The proof of a lower bound, step by step with its numbers."""

from collections.abc import Callable
from dataclasses import replace

import streamlit as st

from dpsco_app.pages.first_screen import FirstScreen
from dpsco_app.pages.lower_bounds import words
from dpsco_app.pages.lower_bounds.figures import caught_figure, curve_figure
from dpsco_app.pages.lower_bounds.floor import floor_steps
from dpsco_app.pages.lower_bounds.proof import (
    distance_steps,
    draw_steps,
    expectile_steps,
    forms_table,
    packing_steps,
    tracing_steps,
)
from dpsco_app.pages.lower_bounds.state import (
    PROOF_NAMES,
    SCENES,
    SHIFT_OPTIONS,
    STATE,
    WHOM_NAMES,
    View,
    instance_of,
    notion_of_proof,
)
from dpsco_app.parts.export import setting_line
from dpsco_app.parts.options import budget_text
from dpsco_app.parts.page import draw_parts, draw_scenes, slider, to_explore
from dpsco_core.base.limits import DASHBOARD
from dpsco_core.explain.fano.builder import DistanceProof, PackingProof
from dpsco_core.explain.fano.forms import Rung, ladder
from dpsco_core.explain.fano.instance import (
    PROOFS,
    FanoCurve,
    Floors,
    MeanInstance,
    curves,
    floors,
    largest,
)
from dpsco_core.explain.floors import floor_proof, no_floor
from dpsco_core.explain.tracing import ELEMENTS, Spied, spied, tracing_proof
from dpsco_core.explain.window import notions_of
from dpsco_core.scenario import Scenario

GRID = (500, 1000, 2000, 5000, 10_000)
PROVE = words.QUESTIONS["prove"]


@st.cache_resource(max_entries=200, show_spinner=False, hash_funcs={Scenario: repr})
def _numbers(point: Scenario) -> tuple[tuple[FanoCurve, ...], Floors]:
    """Return the lower bounds at a point as curves over q, and the best ones of each class."""
    instance = MeanInstance(scenario=point)
    return curves(instance), floors(instance)


@st.cache_resource(max_entries=200, show_spinner=False, hash_funcs={Scenario: repr})
def _forms(point: Scenario) -> tuple[Rung, ...]:
    """Return the forms of Fano's bound at a point, from the paper's to the sharpest."""
    return ladder(MeanInstance(scenario=point))


_spied = st.cache_resource(
    max_entries=50, show_spinner="The spy is at work", hash_funcs={Scenario: repr}
)(spied)


def numbers(instance: MeanInstance) -> tuple[tuple[FanoCurve, ...], Floors]:
    """Return an instance's lower bounds as curves over q, and the best of each class, cached."""
    return _numbers(replace(instance.scenario, methods=(), trials=1, seed=0))


def draw_proof_part(screen: FirstScreen, view: View, scenario: Scenario) -> None:
    """Draw the controls of the proofs, the chosen proof, and a link that runs its instance."""
    with screen.controls:
        draw_parts(PROOF_NAMES, STATE.key("hard"), "Proof")
        with st.container(horizontal=True, vertical_alignment="bottom", key="lower_proof"):
            if notions_of(scenario)[0] == "approx" and view.hard != "spike":
                draw_parts(WHOM_NAMES, STATE.key("whom"), "Binds")
            if view.hard in PROOFS:
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
    draw_scenes(STATE, SCENES)


# -- the hard mean problem ----------------------------------------------------------------------


def form_of(view: View, scenario: Scenario) -> str:
    """Return the slug of the form of Fano's bound that the chosen proof is about."""
    notion = notion_of_proof(view, scenario)
    if view.hard == "hypercube" and notion != "zcdp":
        return "approx-packing"
    if view.hard == "hypercube":
        return "fano-distance-cdp"
    return "fano-pure" if notion == "pure" else "fano-cdp"


def _draw_spikes(screen: FirstScreen, view: View, scenario: Scenario) -> None:
    """Draw the proof on spikes along a word: the bounds over q, and every step at one of them."""
    instance, slug = instance_of(view, scenario), form_of(view, scenario)
    curves, floors_here = numbers(instance)
    curve = next(c for c in curves if c.slug == slug)
    q = min(
        instance.largest("spike" if view.hard == "spike" else "hypercube"),
        curve.best_q * view.shift,
    )
    packed, pure = view.hard == "spike", curve.binds == "pure"
    proof = instance.proof(q) if packed else instance.by_distance(q)
    expectiles = instance.expectiles(q) if slug == "approx-packing" else None
    bound = expectiles.bound if expectiles else proof.pure_bound if pure else proof.bound
    answer = words.proof_title(curve, bound)
    small = words.proof_small(curve, q, bound, proof.ceiling)
    screen.say(PROVE, answer, f"{small} {words.floors_sentence(curves, curve)}")
    best = largest(curves, notions_of(scenario)[0])
    figure = curve_figure(curves, slug, best, floors_here.sampling, q, answer)
    screen.draw(figure)
    with screen.foot, st.container(key="lower_said"):
        st.markdown(words.bites_sentence(best, floors_here))
    screen.draw_files(figure, setting=setting_line(instance.scenario, runs=False))
    if expectiles:
        text, steps = words.ABOUT_EXPECTILE, expectile_steps(expectiles)
    elif isinstance(proof, PackingProof):
        text, steps = words.ABOUT_PACKING, packing_steps(proof, pure=pure)
    elif isinstance(proof, DistanceProof):
        text, steps = words.ABOUT_PROOF, distance_steps(proof)
    st.markdown(text)
    draw_steps(steps)
    if not pure and not expectiles:
        st.markdown(f"{words.ABOUT_FORMS}\n\n{forms_table(_forms(instance.scenario))}")


def _draw_tracing(screen: FirstScreen, view: View, scenario: Scenario) -> None:
    """Draw the proof by tracing, and the spy at work on the instance."""
    instance, gaussian = instance_of(view, scenario), notion_of_proof(view, scenario) == "zcdp"
    setting, budget = replace(instance.setting, spike_probability=None), scenario.budget
    proof = tracing_proof(setting, "zcdp" if gaussian else "approx", view.shift)
    budget_words = f"ρ = {words.brief(setting.rho)}" if gaussian else budget_text(budget)
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
        spies = tuple(s for s in _spied(instance.scenario, methods) if not s.refused)
        screen.say(PROVE, answer, words.spy_sentence(spies, budget))
        figure = caught_figure(spies, budget, words.caught_title(spies, budget))
        screen.draw(figure)
        screen.draw_files(figure, setting=setting_line(instance.scenario, runs=False))
    st.markdown(f"{words.ABOUT_TRACING} {words.ABOUT_SPY if spies else ''}")
    draw_steps(tracing_steps(proof, budget_words, gaussian=gaussian))


def _draw_floor(screen: FirstScreen, view: View, scenario: Scenario) -> None:
    """Draw the floor on the data of the visit and its proof, or why there is none."""
    point, question = replace(scenario, axis=None, grid=(), trials=1), words.QUESTIONS["data"]
    if missing := no_floor(point):
        screen.say(question, "No proven limit is known on data of this shape", missing)
        return
    if point.decay > 0:
        screen.say(question, "This proof is for coordinates of one scale", words.UNEQUAL)
        return
    notion = notion_of_proof(view, point)
    proof = floor_proof(point, notion)
    # no_floor() found no obstacle, and notion_of_proof() returns only notions that the budget
    # implies, so there is a floor.
    assert proof is not None
    answer = (
        f"No {words.CLASS_NAMES[notion]} algorithm, even one that is told the exact shape of these "
        f"data, has a smaller mean error than {words.brief(proof.value)}"
    )
    screen.say(question, answer, words.ABOUT_FLOOR)
    draw_steps(floor_steps(proof))
    st.caption(words.WHOSE_FLOOR)


DRAW: dict[str, Callable[[FirstScreen, View, Scenario], None]] = {
    "hypercube": _draw_spikes,
    "spike": _draw_spikes,
    "tracing": _draw_tracing,
    "data": _draw_floor,
}
