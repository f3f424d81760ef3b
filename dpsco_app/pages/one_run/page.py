"""One run: one run taken apart, to see what clipping and noise do."""

from dataclasses import replace
from functools import partial

import streamlit as st

from dpsco_app.figure.colours import METHODS
from dpsco_app.figure.methods import colour_of
from dpsco_app.pages.first_screen import FirstScreen
from dpsco_app.pages.frame import WHOLE, draw_page
from dpsco_app.pages.one_run import figures
from dpsco_app.pages.one_run.state import CLIPPED, MOST_TRIALS, STATE, View, chosen, offered
from dpsco_app.pages.scripts import anatomy_script
from dpsco_app.parts.error_parts import PART_COLOURS
from dpsco_app.parts.export import draw_files, draw_page_files, setting_line
from dpsco_app.parts.folding import fold_words
from dpsco_app.parts.insides import DeltaGenerator
from dpsco_app.parts.options import inside, short_text
from dpsco_app.parts.page import slider
from dpsco_app.parts.refusals import Refusal, changed_scenario, grouped_refusals
from dpsco_app.parts.themes import is_dark
from dpsco_app.parts.touch.run import RunLine, draw_run, run_page
from dpsco_app.session.computed import error_split, frames_of, gradient_norms, single_runs
from dpsco_app.session.pace import Pace
from dpsco_app.shell import visit
from dpsco_app.shell.places import draw_views
from dpsco_core.base.errors import NotApplicable
from dpsco_core.catalogue import method_card
from dpsco_core.explain import anatomy
from dpsco_core.explain.anatomy import RiskPath
from dpsco_core.explain.error_parts import Split
from dpsco_core.explain.frames import has_frames
from dpsco_core.explain.methods.cancelling import cancelling
from dpsco_core.methods.descent import DescentPlan
from dpsco_core.methods.steps import PrefixSums
from dpsco_core.runs.study import canonical, planned
from dpsco_core.scenario import Scenario

LONGEST_SECONDS = 60.0
FIRST_BAR_SECONDS = 0.4
FEW_STEPS = 100  # The least number of steps that shows how noise accumulates.
PLAYER = "one_run_player"
RADIUS = STATE.key("radius")


def page() -> None:
    """Draw the page One run: the path of a run, and the parts of its error."""
    draw_views("one-run")
    draw_page(STATE, {WHOLE: _draw}, {WHOLE: QUESTION})


def _draw(screen: FirstScreen, view: View, visited: Scenario) -> None:
    """Draw the menu of methods, the run, and below it what the clip radius does to the error."""
    with (
        screen.controls,
        st.container(horizontal=True, vertical_alignment="center", key="one_run_choices"),
    ):
        scenario = _draw_method_menu(visited, view)
    point = canonical(replace(scenario, axis=None, grid=()))
    # The run of clipped gradients is computed again at the radius that the visitor drags to.
    factor = float(st.session_state[RADIUS]) if scenario.methods == (CLIPPED,) else 1.0
    runs, played = _draw_path(scenario, point, screen, factor)
    if runs:
        _draw_noise_part(point, scenario.methods[0])
    st.markdown(INTRODUCTION)
    parts = _draw_radius_part(scenario, point, dragged=played)
    if "clipped" in runs and parts:
        screen.say(QUESTION, _title(point, runs, factor, parts), NOT_PRIVATE)
    if runs:
        (method,), trials = scenario.methods, scenario.trials
        draw_page_files(
            "one_run",
            lambda: anatomy_script(point, method, trials, parts=bool(parts), factor=factor),
        )
    fold_words("How to read these figures", HOW_TO_READ, "one_run_fold_reading")


def _draw_method_menu(scenario: Scenario, view: View) -> Scenario:
    """Draw the menu of methods; return the scenario with the chosen one alone, and few trials."""
    method, methods = chosen(scenario, view), offered(scenario)
    if len(methods) > 1:
        key = STATE.key("method")
        st.session_state[key] = method
        st.selectbox(
            "Optimiser whose run is taken apart",
            methods,
            width=250,
            label_visibility="collapsed",
            format_func=lambda slug: method_card(slug).name,
            key=key,
            help="The error by clip radius, below, is that of clipped gradients.",
        )
    return replace(scenario, methods=(method,), trials=min(scenario.trials, MOST_TRIALS))


def _draw_path(
    scenario: Scenario,
    point: Scenario,
    screen: FirstScreen,
    factor: float,
) -> tuple[dict[str, RiskPath], bool]:
    """Draw the run of a method; return the runs of the picture, and whether it can be played.

    `factor` is the clip radius over the chosen one. There are no runs if the method is refused.
    """
    (method,) = scenario.methods
    try:
        runs = single_runs(point, method, factor)
    except NotApplicable as refused:
        screen.say(QUESTION, f"{method_card(method).name} cannot run at these settings")
        _draw_refusal(method, refused, "path")
        return {}, False
    title = _title(point, runs, factor)
    radius_text, name = "", method_card(method).name
    whose_radius = (
        " The clip radius that you can drag is that of clipped gradients: it does not change this "
        f"run, which is of {inside(name)}."
    )
    if method == CLIPPED:
        radius_text = _radius_text(point, factor)
        whose_radius = ""
    screen.say(QUESTION, title, NOT_PRIVATE + whose_radius)
    # Without a descent, only shares of the runs can be compared.
    relative = anatomy.method_descent(point, method) is None
    looks = {
        "private": (
            f"private run ({radius_text})" if radius_text else "private run",
            colour_of(method),
            "",
        ),
        "clipped": ("same, no noise", PART_COLOURS["bias"], "8 4"),
        "exact": (
            "gradient descent, no privacy" if relative else "same, no noise, no clipping",
            METHODS["grey"],
            "2 3",
        ),
    }
    lines = [
        RunLine(name=name, path=path, colour=colour, dash=dash)
        for path, (name, colour, dash) in ((path, looks[kind]) for kind, path in runs.items())
    ]
    setting = setting_line(replace(scenario, axis=None, grid=(), trials=1))
    player = None
    if has_frames(runs["private"]):
        frames = frames_of(point, method, factor)
        data = {
            "identity": f"{method} {point.to_query()}",
            "title": title,
            "setting": f"{setting}, {name.lower()}",
            "relative": relative,
            "factor": st.session_state[RADIUS],
            "follows": method == CLIPPED,
        }

        def keep() -> None:
            """Keep the radius at which the handle was dropped, for the figures below."""
            st.session_state[RADIUS] = st.session_state[PLAYER]["factor"]

        draw_run(frames, lines, PLAYER, keep, **data)
        player = partial(run_page, frames, lines, dark=is_dark(), **data)
    else:
        st.markdown(f"{name} stops nowhere on its way here: there is nothing to play.")
    draw_files("path", lambda: figures.path_table(lines), player, setting)
    # This text is below the picture, so that dragging the radius does not move the picture.
    st.markdown(figures.clipping_remark(runs.get("clipped"), runs.get("exact")))
    return runs, player is not None


def _title(
    point: Scenario,
    runs: dict[str, RiskPath],
    factor: float,
    parts: anatomy.ErrorParts | None = None,
) -> str:
    """Return the title of a run, with its clip radius if it clips.

    With the `parts` of the error the title includes the average over runs.
    """
    gain = None if parts is None else figures.noise_gain(parts, factor * parts.chosen)
    title = figures.path_title(runs["private"], runs.get("clipped"), runs.get("exact"), gain)
    return f"At {_radius_text(point, factor)}, {inside(title)}" if "clipped" in runs else title


def _radius_text(point: Scenario, factor: float) -> str:
    """Return the clip radius as text, as in "R = 2.5"; `factor` multiplies the chosen one."""
    return f"R = {short_text(factor * anatomy.clipped_plan(point)[1], 2)}"


def _draw_noise_part(point: Scenario, method: str) -> None:
    """Draw how correlated noise cancels in the sum of steps, if the method has such noise."""
    plan = planned(point, method)
    if not (isinstance(plan, DescentPlan) and isinstance(plan.descent, PrefixSums)):
        return
    steps = plan.descent.descents[-1].steps
    FirstScreen("one_run_noise").show_below(
        figures.noise_figure(cancelling(max(steps, FEW_STEPS), point.seed)), height=360
    )
    st.caption(figures.noise_sentence(steps))


def _draw_refusal(method: str, refused: NotApplicable, key: str) -> None:
    """Draw why the method cannot run, with a button for the nearest change."""
    (refusal,) = grouped_refusals([(method, str(refused), refused.changes)])
    text, button = st.columns([5, 1], vertical_alignment="center")
    text.info(f"**{refusal.names}**: {refusal.reason}")
    if refusal.changes:
        button.button("Change that", key=f"one_run_{key}", on_click=_change, args=(refusal,))


def _change(refusal: Refusal) -> None:
    """Show the scenario with the change that a refusal proposes; a callback."""
    session = visit.current()
    old = session.scenario
    new_scenario = changed_scenario(old, refusal)
    session.show(new_scenario)
    new_methods = [m for m in new_scenario.methods if m not in old.methods]
    if new_methods:
        STATE.change({"method": new_methods[0]})


def _draw_radius_part(
    scenario: Scenario, point: Scenario, *, dragged: bool
) -> anatomy.ErrorParts | None:
    """Draw the parts of the error by clip radius; return them, or None if they are unknown.

    A slider of the radius is drawn, too, unless the radius is `dragged` in the picture.
    """
    try:
        _, chosen = anatomy.clipped_plan(point)
    except NotApplicable as refused:
        _draw_refusal(CLIPPED, refused, "radius")
        return None
    if not dragged:
        slider(
            STATE,
            "Clip radius R",
            "radius",
            anatomy.FACTORS,
            format_func=lambda factor: (
                short_text(factor * chosen, 2) + (" (chosen)" if factor == 1 else "")
            ),
            help="Gradients that are longer are shrunk to this length. The noise grows with it. "
            "The chosen radius follows from the setting, never from the data.",
        )
    radius = st.session_state[RADIUS] * chosen
    sentence = st.container(key="one_run_sentence").empty()
    parts_screen = FirstScreen("one_run_parts")
    parts = _split_error(point, scenario.trials, parts_screen.controls)
    sentence.markdown(figures.radius_sentence(gradient_norms(point), parts, radius))
    if parts is None:
        return None
    parts_screen.show_below(
        figures.parts_figure(parts, radius),
        lambda: figures.parts_table(parts),
        setting=setting_line(replace(scenario, axis=None, grid=())),
    )
    st.caption(
        f"Clipped gradients; means over {scenario.trials} trial{'s' * (scenario.trials > 1)}, the "
        "same steps at every radius."
    )
    return parts


def _split_error(point: Scenario, trials: int, place: DeltaGenerator) -> anatomy.ErrorParts | None:
    """Return the parts of the error; None if computing them would take too long.

    `place` shows the progress, or the reason.
    """
    seconds = len(anatomy.FACTORS) * trials * anatomy.split_seconds(point)
    if seconds > LONGEST_SECONDS:
        place.info(
            f"The parts of the error would take about {seconds:,.0f} s, and the dashboard allows "
            f"{LONGEST_SECONDS:.0f} s here: use fewer trials, or a smaller n or d."
        )
        return None
    bar = place.empty()
    pace = Pace(FIRST_BAR_SECONDS)
    splits: list[list[Split]] = [[] for _ in range(trials)]
    for count, (trial, factor) in enumerate((t, f) for t in range(trials) for f in anatomy.FACTORS):
        # Streamlit stops the work at this point if a control was clicked.
        if pace.due():
            bar.progress(count / (trials * len(anatomy.FACTORS)), text="Taking the error apart")
        splits[trial].append(error_split(point, factor, trial))
    bar.empty()
    return anatomy.gather(point, anatomy.FACTORS, splits)


QUESTION = "One run: what do clipping and noise do to it?"
NOT_PRIVATE = "The runs without noise are shown to compare; they are not private."
INTRODUCTION = (
    "Every record votes with a **gradient**: the direction in which it would like the parameter to "
    "move. A few records shout very loudly. To hide any single one, a private run **clips** loud "
    "gradients to a radius R, averages, and adds **noise** in proportion to R. A small radius "
    "needs little noise but muffles the data; a large one keeps the data and needs much noise."
)
HOW_TO_READ = """
- **Path**: where the run stands after each step, and how far its risk is above the best possible:
  the private run, the same steps without noise, and those without noise and without clipping. What
  lies between two lines is what noise, or clipping, costs in this one run.
- **Gradients**: the lengths of the records' gradients where the private run stands. Those right
  of the line are shrunk to it. Gradients of exactly 0 are not drawn, but count among the records.
- **The error by clip radius**: *optimisation* is what the steps leave on infinitely many
  records; *clipping bias* is added by shrinking gradients; *sampling* by having only n records;
  *noise* by the noise that privacy needs. Each is measured from the best parameter, and
  they add up to the black line. A part below 0 reduces the error.
- Neighbouring data sets differ by replacing one record. The data are synthetic.
"""
