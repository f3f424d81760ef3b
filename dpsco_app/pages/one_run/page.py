"""One run: one run taken apart, to see what clipping and noise do."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import streamlit as st
from numpy.typing import NDArray
from streamlit.delta_generator import DeltaGenerator

from dpsco_app.pages.one_run.charts import parts_figure, radius_text
from dpsco_app.pages.one_run.radius_chart import add_choices, choices_sentence
from dpsco_app.pages.one_run.state import MOST_TRIALS, STATE, View, chosen, offered, tidy
from dpsco_app.pages.one_run.tables import parts_table, path_table
from dpsco_app.pages.one_run.words import no_frames, parts_title, path_title, radius_sentence
from dpsco_app.parts import controls
from dpsco_app.parts.export import draw_page_files
from dpsco_app.parts.figure_export import draw_numbers, setting_line
from dpsco_app.parts.figures import SHARED_STYLE, responsive
from dpsco_app.parts.folding import fold_words
from dpsco_app.parts.look import CYAN, GREY, colour_of
from dpsco_app.parts.page import draw_apart, draw_controls, draw_wrong, opened, slider
from dpsco_app.parts.refusals import Refusal, changed, grouped
from dpsco_app.parts.running import Pace
from dpsco_app.parts.scripts import anatomy_script
from dpsco_app.parts.touch.run import RunLine, draw_run, run_page
from dpsco_app.shell.places import draw_views
from dpsco_core.base.errors import NotApplicable
from dpsco_core.catalogue import method_card
from dpsco_core.explain.anatomy import (
    FACTORS,
    ErrorParts,
    RiskPath,
    Split,
    clipped_plan,
    error_split,
    gather,
    gradient_norms,
    method_descent,
    private_radii,
    single_runs,
    split_seconds,
)
from dpsco_core.explain.frames import Frames, frames, has_frames
from dpsco_core.runs.study import canonical
from dpsco_core.scenario import Scenario

LONGEST_SECONDS = 60.0
FIRST_BAR_SECONDS = 0.4
PLAYER = "one_run_player"
HASHED = {Scenario: lambda s: str(s.to_query())}


def page() -> None:
    """Draw the page."""
    st.html(SHARED_STYLE)
    draw_views("one-run")
    view, problems = opened(STATE)
    scenario, refused = draw_controls(STATE)
    st.title("One run: what clipping and noise do to it")
    draw_wrong(problems)
    if scenario is None:
        st.error(refused)
        return
    STATE.remember(tidy(scenario, view), scenario)
    draw_apart(STATE, scenario)
    headline, choice = st.columns([3, 1], vertical_alignment="center")
    with choice:
        scenario = _single(scenario, view)
    runs, played = _path(scenario, headline)
    st.markdown(INTRODUCTION)
    parts = _radius_part(scenario, dragged=played)
    if runs:
        _files(scenario, runs, parts=parts)
    fold_words("How to read these figures", HOW_TO_READ, "one_run_fold_reading")


def _single(scenario: Scenario, view: View) -> Scenario:
    """Return the scenario with the method that is shown alone, and few trials; draw its control."""
    shown, known = chosen(scenario, view), offered(scenario)
    if len(known) > 1:
        key = STATE.key("method")
        st.session_state[key] = shown
        st.selectbox(
            "Optimiser whose run is taken apart",
            known,
            format_func=lambda slug: method_card(slug).name,
            key=key,
            help="The error by clip radius, below, is that of clipped gradients.",
        )
    return replace(scenario, methods=(shown,), trials=min(scenario.trials, MOST_TRIALS))


def _point(scenario: Scenario) -> Scenario:
    return canonical(replace(scenario, axis=None, grid=()))


# -- the path -----------------------------------------------------------------------------------


def _files(scenario: Scenario, runs: Sequence[str], *, parts: bool) -> None:
    point, (method,), trials = _point(scenario), scenario.methods, scenario.trials
    draw_page_files("one_run", lambda: anatomy_script(point, method, runs, trials, parts=parts))


def _path(scenario: Scenario, headline: DeltaGenerator) -> tuple[tuple[str, ...], bool]:
    """Draw the run; return which runs are shown, and whether they are played."""
    point, (method,) = _point(scenario), scenario.methods
    try:
        runs = _runs(point, method)
    except NotApplicable as refused:
        _refuse(scenario, method, refused, "path")
        return (), False
    private, clipped, exact = (runs.get(name) for name in ("private", "clipped", "exact"))
    assert private is not None
    title = path_title(private, clipped, exact)
    headline.markdown(f"**{title}**")
    lines, relative = _lines(runs, point, method)
    setting = setting_line(replace(scenario, axis=None, grid=(), trials=1))
    held: Callable[[], str] | None = None
    if has_frames(private):
        seen = _frames(point, method)
        data = {
            "identity": f"{method} {point.to_query()}",
            "title": title,
            "setting": f"{setting}, {method_card(method).name.lower()}",
            "relative": relative,
            "factor": st.session_state[STATE.key("radius")],
        }
        draw_run(seen, lines, PLAYER, _keep_radius, **data)
        dark = st.context.theme.type == "dark"
        held = partial(run_page, seen, lines, dark=dark, **data)
    else:
        st.markdown(no_frames(method_card(method).name, descends=not relative))
    draw_numbers("path", lambda: path_table(lines), setting, held)
    st.caption("The runs without noise are shown to compare; they are not private.")
    return tuple(runs), held is not None


def _keep_radius() -> None:
    """Let what stands below follow the radius where the hand has left it; a callback."""
    st.session_state[STATE.key("radius")] = st.session_state[PLAYER]["factor"]


@st.cache_data(max_entries=100, show_spinner=False, hash_funcs=HASHED)
def _runs(point: Scenario, method: str) -> dict[str, RiskPath]:
    return single_runs(point, method)


@st.cache_data(max_entries=50, show_spinner=False, hash_funcs=HASHED)
def _frames(point: Scenario, method: str) -> Frames:
    return frames(point, _runs(point, method))


def _lines(
    runs: Mapping[str, RiskPath], point: Scenario, method: str
) -> tuple[list[RunLine], bool]:
    """Return the runs as they are drawn, and whether only shares of them can be compared."""
    relative = method_descent(point, method) is None
    exact = "gradient descent, no privacy" if relative else "same, no noise, no clipping"
    drawn = {
        "private": ("private run", colour_of(method), ""),
        "clipped": ("same, no noise", CYAN, "8 4"),
        "exact": (exact, GREY, "2 3"),
    }
    lines = []
    for kind, path in runs.items():
        name, colour, dash = drawn[kind]
        lines.append(RunLine(name=name, path=path, colour=colour, dash=dash))
    return lines, relative


def _refuse(scenario: Scenario, method: str, refused: NotApplicable, key: str) -> None:
    (refusal,) = grouped([(method, str(refused), refused.changes)])
    text, button = st.columns([5, 1], vertical_alignment="center")
    text.info(f"**{refusal.names}**: {refusal.reason}")
    if refusal.changes:
        button.button("Change that", key=f"one_run_{key}", on_click=_change, args=(refusal,))


def _change(refusal: Refusal) -> None:
    before = controls.read()
    made = changed(before, refusal)
    controls.load(made)
    new = [m for m in made.methods if m not in before.methods]
    if new:
        STATE.change({"method": new[0]})


# -- the radius ---------------------------------------------------------------------------------


def _radius_part(scenario: Scenario, *, dragged: bool) -> bool:
    """Draw the parts of the error, and the radius unless it is `dragged`; return if they are."""
    point = _point(scenario)
    try:
        _, chosen = clipped_plan(point)
    except NotApplicable as refused:
        _refuse(scenario, "sco.clipped", refused, "radius")
        return False
    st.header("The error by clip radius")
    if not dragged:
        slider(
            STATE,
            "Clip radius R",
            "radius",
            FACTORS,
            format_func=lambda factor: (
                radius_text(factor * chosen) + (" (chosen)" if factor == 1 else "")
            ),
            help="Gradients that are longer are shrunk to this length. The noise grows with it. "
            "The chosen radius follows from the setting, never from the data.",
        )
    radius = st.session_state[STATE.key("radius")] * chosen
    norms = _norms(point)
    with st.container(key="one_run_sentence"):
        sentence = st.empty()
    place = st.container()
    parts = _parts(point, scenario.trials, place)
    sentence.markdown(radius_sentence(norms, parts, radius))
    if parts is None:
        return False
    found, choices = parts, _private_radii(point)
    with place:
        responsive(
            "parts",
            parts_title(found),
            lambda look: add_choices(parts_figure(found, radius, look), choices, found, look),
            bar=False,
            table=lambda: parts_table(found),
            setting=setting_line(replace(scenario, axis=None, grid=())),
        )
    st.caption(
        f"Clipped gradients; means over {scenario.trials} trial{'s' * (scenario.trials > 1)}, the "
        "same steps at every radius. " + choices_sentence(choices, found)
    )
    return True


@st.cache_data(max_entries=50, show_spinner=False, hash_funcs=HASHED)
def _norms(point: Scenario) -> NDArray[np.float64]:
    return gradient_norms(point)


@st.cache_data(max_entries=50, show_spinner=False, hash_funcs=HASHED)
def _private_radii(point: Scenario) -> NDArray[np.float64]:
    return private_radii(point)


@st.cache_data(max_entries=20_000, show_spinner=False, hash_funcs=HASHED)
def _split(point: Scenario, factor: float, trial: int) -> Split:
    return error_split(point, factor, trial)


def _parts(point: Scenario, trials: int, place: DeltaGenerator) -> ErrorParts | None:
    """Return the parts of the error, with progress while they are computed; None if too heavy."""
    seconds = len(FACTORS) * trials * split_seconds(point)
    if seconds > LONGEST_SECONDS:
        place.info(
            f"The parts of the error would take about {seconds:,.0f} s, and the dashboard allows "
            f"{LONGEST_SECONDS:.0f} s here: use fewer trials, or a smaller n or d."
        )
        return None
    bar = place.empty()
    pace = Pace(FIRST_BAR_SECONDS)
    splits: list[list[Split]] = [[] for _ in range(trials)]
    for done, (trial, factor) in enumerate(_cells(trials)):
        if pace.due():  # a click on any control stops the work here
            bar.progress(done / (trials * len(FACTORS)), text="Taking the error apart")
        splits[trial].append(_split(point, factor, trial))
    bar.empty()
    return gather(point, FACTORS, splits)


def _cells(trials: int) -> Iterator[tuple[int, float]]:
    for trial in range(trials):
        for factor in FACTORS:
            yield trial, factor


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
- **The error by clip radius**: *optimisation* is what the steps leave on endless data; *clipping*
  is added by shrinking gradients; *sampling* by having only n records; *privacy noise* by the
  noise. They add up to the black line. A part below 0 reduces the error.
- Neighbouring data sets differ by replacing one record. The data are synthetic.
"""
