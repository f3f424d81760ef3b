"""Run the methods on the very instance of a lower bound, and hold their errors against it."""

from dataclasses import replace

import streamlit as st

from dpsco_app.live.running import run_here
from dpsco_app.pages.first_screen import FirstScreen
from dpsco_app.pages.lower_bounds import tables, words
from dpsco_app.pages.lower_bounds.build import choose_hard, numbers
from dpsco_app.pages.lower_bounds.figures import run_figure
from dpsco_app.pages.lower_bounds.state import View
from dpsco_app.parts.export import setting_line
from dpsco_app.parts.page import to_explore
from dpsco_core.base.cards import Privacy
from dpsco_core.base.errors import InvalidInput
from dpsco_core.base.limits import DASHBOARD
from dpsco_core.catalogue import method_card
from dpsco_core.explain.fano.measured import measured, own_floor
from dpsco_core.runs.cost import too_large
from dpsco_core.scenario import Scenario

RUN = "How near do algorithms come to the bound?"
GRID = (500, 1000, 2000, 5000, 10_000)


def run_part(screen: FirstScreen, view: View) -> None:
    """Run the methods on the instance, and draw what they leave."""
    at = view.instance
    with screen.controls:
        choose_hard("Instance")
    scenario, problem = _checked(at.scenario)
    trivial = at.answer_zero
    screen.say(RUN, "Running" if scenario else "Not at these settings", problem)
    if scenario is None:
        return
    with screen.foot:
        rows = measured(at, run_here(scenario))
    # A bound on the other class says little at the spike probability of this one.
    kind: Privacy = "pure" if view.notion == "pure" else "zcdp"
    floor = (kind, own_floor(at, (kind,)))
    answer = words.run_title(rows, at)
    screen.say(RUN, answer, words.run_sentence(rows, trivial))
    figure = run_figure(rows, trivial, floor, answer)
    screen.draw(figure)
    with screen.foot:
        for row in rows:
            if row.refused:
                st.info(f"{method_card(row.method).name} cannot run here: {row.refused}")
        own = words.own_floor_sentence(at, floor[1], numbers(at)[2], view.notion)
        st.markdown(words.ABOUT_RUN + own)
        grid = tuple(n for n in GRID if n * view.d <= DASHBOARD.elements)
        to_explore(
            replace(at.scenario, axis="n", grid=grid, trials=min(view.trials, 20)),
            "Sweep n on this instance in Explore",
            help="At every n the spike probability is the best one there.",
        )
    screen.draw_files(
        figure, lambda: tables.run_table(rows, trivial), setting=setting_line(scenario)
    )


def _checked(scenario: Scenario) -> tuple[Scenario | None, str]:
    """Return the scenario if the dashboard runs it, and otherwise one sentence."""
    try:
        scenario = scenario.validate(DASHBOARD)
    except InvalidInput as problem:
        return None, f"These bounds can be drawn, but not run here: {problem}"
    if not scenario.methods:
        return None, "Choose at least one method."
    heavy = too_large(scenario, DASHBOARD)
    return (None, heavy) if heavy else (scenario, "")
