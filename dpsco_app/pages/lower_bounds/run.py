"""Run the methods on the very instance of a lower bound, and hold their errors against it."""

from dataclasses import replace

import streamlit as st

from dpsco_app.live.running import run_here
from dpsco_app.pages.first_screen import FirstScreen
from dpsco_app.pages.lower_bounds import words
from dpsco_app.pages.lower_bounds.figures import run_figure, run_table
from dpsco_app.pages.lower_bounds.prove import numbers
from dpsco_app.pages.lower_bounds.state import INSTANCE_NAMES, STATE, View, instance_of
from dpsco_app.parts.export import setting_line
from dpsco_app.parts.page import draw_parts, to_explore
from dpsco_core.base.cards import Privacy
from dpsco_core.base.errors import InvalidInput
from dpsco_core.base.limits import DASHBOARD
from dpsco_core.catalogue import method_card
from dpsco_core.explain.fano.measured import measured, own_floor
from dpsco_core.explain.window import notions_of
from dpsco_core.runs.cost import too_large
from dpsco_core.scenario import Scenario

RUN = "How near do algorithms come to the bound?"
GRID = (500, 1000, 2000, 5000, 10_000)


def run_part(screen: FirstScreen, view: View, scenario: Scenario) -> None:
    """Run the methods on the instance, and draw what they leave."""
    at = instance_of(view, scenario)
    with screen.controls:
        draw_parts(INSTANCE_NAMES, STATE.key("hard"), "Instance")
    problem = _refusal(at.scenario)
    screen.say(RUN, "Not at these settings" if problem else "Running", problem)
    if problem:
        return
    with screen.foot:
        rows = measured(at, run_here(at.scenario))
    # A bound on the other class says little at the spike probability of this one.
    kind: Privacy = "pure" if notions_of(scenario)[0] == "pure" else "zcdp"
    floor, trivial = own_floor(at, (kind,)), at.answer_zero
    answer = words.run_title(rows, at)
    screen.say(RUN, answer, words.run_sentence(rows, trivial))
    figure = run_figure(rows, trivial, (kind, floor), answer)
    screen.draw(figure)
    with screen.foot:
        for row in rows:
            if row.refused:
                st.info(f"{method_card(row.method).name} cannot run here: {row.refused}")
        largest = numbers(at)[1].pure if kind == "pure" else numbers(at)[1].concentrated
        st.markdown(words.ABOUT_RUN + words.own_floor_sentence(at, floor, largest))
        grid = tuple(n for n in GRID if n * scenario.d <= DASHBOARD.elements)
        to_explore(
            replace(at.scenario, axis="n", grid=grid, trials=min(scenario.trials, 20)),
            "Sweep n on this instance in Explore",
            help="At every n the spike probability is the best one there.",
        )
    screen.draw_files(figure, lambda: run_table(rows, trivial), setting=setting_line(at.scenario))


def _refusal(scenario: Scenario) -> str:
    """Return why the dashboard does not run a scenario; empty where it does."""
    try:
        scenario.validate(DASHBOARD)
    except InvalidInput as problem:
        return f"These bounds can be drawn, but not run here: {problem}"
    return too_large(scenario, DASHBOARD) if scenario.methods else "Choose at least one method."
