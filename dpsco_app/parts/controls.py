"""The controls of the scenario, the same on every page: widgets, and the scenario they describe."""

import math
from collections.abc import Callable, Collection, Mapping
from typing import Any, Literal

import streamlit as st

from dpsco_app.parts.differences import method_names
from dpsco_app.parts.fields import ALL_CONTROLS, CHOICES, DETAILS, GROUPS, Control, text
from dpsco_app.parts.folding import fold_in_page
from dpsco_app.parts.options import LARGEST_SEED, NOTIONS, OPTIONS, SYMBOL, number_text
from dpsco_app.parts.problem_words import MEAN, geometry_name
from dpsco_core.base.limits import DASHBOARD
from dpsco_core.catalogue import (
    METHOD_SLUGS,
    PROBLEM_SLUGS,
    default_methods,
    distribution_card,
    distributions_for,
    method_card,
    methods_for,
    problem_card,
)
from dpsco_core.geometry import GEOMETRIES
from dpsco_core.geometry.geometries import GROUP_SIZE
from dpsco_core.runs.allowed import smallest_set
from dpsco_core.scenario import DEFAULT_Q, Scenario, default_grid

PREFIX = "field_"
NOTION = "notion"  # not a field: which of epsilon, delta and rho are shown

__all__ = ["ALL_CONTROLS", "NOTION", "PREFIX"]


def loaded() -> bool:
    """Whether the widgets have a state: it is lost while another page is shown."""
    return all(PREFIX + c.field in st.session_state for c in ALL_CONTROLS)


def load(scenario: Scenario) -> None:
    state = st.session_state
    for control in ALL_CONTROLS:
        value = getattr(scenario, control.field)
        state[PREFIX + control.field] = list(value) if isinstance(value, tuple) else value
    private = "approx" if scenario.delta else "pure"
    state[NOTION] = private if scenario.rho is None else "zcdp"
    default = Scenario()
    for field in ("epsilon", "delta", "rho"):
        if state[PREFIX + field] in (None, 0):
            state[PREFIX + field] = getattr(default, field) or 0.1


def read() -> Scenario:
    """Return the scenario that the widgets' state describes, not yet validated."""
    state = st.session_state
    values: dict[str, Any] = {c.field: state[PREFIX + c.field] for c in ALL_CONTROLS}
    values["methods"] = tuple(m for m in METHOD_SLUGS if m in values["methods"])
    values["grid"] = tuple(sorted(values["grid"])) if values["axis"] else ()
    if values["geometry"] != "lq":
        values["q"] = None
    if values["problem"] == MEAN:
        values["m"] = 1
    if state[NOTION] == "zcdp":
        values |= {"epsilon": None, "delta": None}
    else:
        values["rho"] = None
        if state[NOTION] == "pure":
            values["delta"] = 0.0
    return Scenario(**values)


def draw(
    scenario: Scenario, without: Collection[str] = (), problems: tuple[str, ...] = PROBLEM_SLUGS
) -> None:
    """Draw the controls that apply, but the fields `without`, which mean nothing on the page."""
    settle()
    draw_groups(GROUPS, scenario, without=without, problems=problems)
    draw_fine_print(scenario, without)


def settle() -> None:
    """Bring a value back that another control has put out of its range."""
    state, key = st.session_state, PREFIX + "offset"
    if key in state and state[key] not in (offered := _offsets(read(), state[key])):
        state[key] = offered[-1]


def draw_groups(
    groups: tuple[tuple[str, tuple[Control, ...]], ...],
    scenario: Scenario,
    more: Mapping[str, Callable[[Scenario], None]] | None = None,
    without: Collection[str] = (),
    problems: tuple[str, ...] = PROBLEM_SLUGS,
) -> None:
    """Draw some of `groups`, each with what `more` names at its end; see `draw`."""
    for title, group in groups:
        if all(control.field in without for control in group):
            _keep(group)
            continue
        with st.container(key=f"{PREFIX}group_{title.lower()}"):
            st.subheader(title)
            if title == "Privacy":
                st.segmented_control(
                    "Notion of privacy",
                    list(NOTIONS),
                    default=st.session_state[NOTION],
                    format_func=lambda n: NOTIONS[n],
                    key=NOTION,
                    required=True,
                    on_change=_keep_axis_possible,
                    help="Approximate DP; zero-concentrated DP (the papers' CDP); or pure DP, "
                    "under which only Laplace noise will do.",
                )
            _draw_all(group, scenario, without, problems)
            if more and title in more:
                more[title](scenario)


def draw_fine_print(scenario: Scenario, without: Collection[str] = ()) -> None:
    opened = fold_in_page(
        "Tuning and fine print",
        lambda: _draw_all(DETAILS, scenario, without, ()),
        f"{PREFIX}fine_print",
    )
    if not opened:
        _keep(DETAILS)


def _draw_all(
    controls: tuple[Control, ...],
    scenario: Scenario,
    without: Collection[str],
    problems: tuple[str, ...],
) -> None:
    for control in controls:
        if control.shown(scenario) and control.field not in without:
            _draw_one(control, PREFIX + control.field, scenario, problems)
        else:
            _keep((control,))


def _keep(controls: tuple[Control, ...]) -> None:
    for key in (PREFIX + control.field for control in controls):
        st.session_state[key] = st.session_state[key]


# -- what follows from a change ---------------------------------------------------------


def choose(field: str, value: float) -> None:
    """Set a slider from elsewhere on the page, as if it had been moved."""
    before = _level()
    st.session_state[PREFIX + field] = value
    if _level() != before:
        set_problem()


def set_axis() -> None:
    state = st.session_state
    offset = state[PREFIX + "offset"]
    grid = default_grid(state[PREFIX + "axis"], state[PREFIX + "geometry"], offset)
    state[PREFIX + "grid"] = list(grid)
    set_problem()


def set_problem() -> None:
    """Give a new problem its default methods and law, unless the chosen ones serve it; say so."""
    state = st.session_state
    key = PREFIX + "methods"
    problem = state[PREFIX + "problem"]
    level, new = _level(), []
    default, known = default_methods(problem, level), methods_for(problem, level)
    if not state[key] or not set(state[key]) <= set(known):
        state[key], new = list(default), [f"algorithms {method_names(default)}"]
    law = PREFIX + "distribution"
    if law in state and state[law] not in distributions_for(problem):
        state[law] = Scenario.distribution
        new.append(f"data {_distribution_name(state[law])}")
    if new:
        users = ", several items per user" * (level == "user")
        st.toast(f"**{_problem_name(problem)}{users}**: {' and '.join(new)}.")


def set_geometry() -> None:
    """Make the other controls fit a new geometry: an exponent, an axis, a dimension."""
    state = st.session_state
    geometry = state[PREFIX + "geometry"]
    if geometry == "lq" and state[PREFIX + "q"] is None:
        state[PREFIX + "q"] = DEFAULT_Q
    if geometry != "lq" and state.get(PREFIX + "axis") == "q":
        state[PREFIX + "axis"] = "n"
        set_axis()
    if geometry == "group-l1":
        state[PREFIX + "d"] = GROUP_SIZE * max(1, round(state[PREFIX + "d"] / GROUP_SIZE))
        if state.get(PREFIX + "axis") == "d":
            kept = [x for x in state[PREFIX + "grid"] if x % GROUP_SIZE == 0]
            state[PREFIX + "grid"] = kept or list(default_grid("d", geometry))


def _level() -> Literal["item", "user"]:
    state = st.session_state
    several = state.get(PREFIX + "m", 1) > 1 or state.get(PREFIX + "axis") == "m"
    return "user" if several and state[PREFIX + "problem"] != MEAN else "item"


def _keep_axis_possible() -> None:
    axis = PREFIX + "axis"
    if st.session_state[NOTION] == "zcdp" and st.session_state.get(axis) == "epsilon":
        st.session_state[axis] = "n"
        set_axis()


# -- one widget -------------------------------------------------------------------------


def _draw_one(control: Control, key: str, scenario: Scenario, problems: tuple[str, ...]) -> None:
    # What the session holds is the default too. Streamlit sends it as a value in the first run
    # alone; a browser that draws the control only when the next run has begun, as its code
    # came late or somebody clicked fast, starts from the default.
    field, value = control.field, st.session_state[key]
    label: str = text(control.label, scenario)
    more: dict[str, Any] = {"key": key, "help": text(control.help, scenario)}

    def select(options: tuple[str, ...], name: Callable[[str], str], changed: Any = None) -> None:
        first = options.index(value) if value in options else 0
        st.selectbox(label, options, first, format_func=name, on_change=changed, **more)

    match control.kind:
        case "slider":
            more |= {"format_func": number_text, "on_change": set_problem if field == "m" else None}
            st.select_slider(label, offered(field, scenario, value), value, **more)
        case "problem":
            select(problems, _problem_name, set_problem)
            st.caption(problem_card(scenario.problem).summary)
        case "select":
            select(distributions_for(scenario.problem), _distribution_name)
        case "geometry":
            select(GEOMETRIES, geometry_name, set_geometry)
        case "choice":
            without = {"epsilon"} if scenario.rho is not None else set()
            without |= {"q"} if scenario.geometry != "lq" else set()
            without |= {"m"} if scenario.problem == MEAN else set()
            choices = [c for c in CHOICES[field] if field != "axis" or c not in without]
            st.segmented_control(
                label,
                choices,
                default=value if value in choices else None,
                format_func=lambda v: "none" if v is None else SYMBOL.get(v, str(v)),
                required=True,
                on_change=set_axis if field == "axis" else None,
                **more,
            )
        case "methods":
            # Those of the level, and those that are chosen.
            several = scenario.m > 1 or scenario.axis == "m"
            known = {*methods_for(scenario.problem, "user" if several else "item"), *value}
            names = [m for m in METHOD_SLUGS if m in known]
            more |= {"format_func": lambda slug: method_card(slug).name}
            st.pills(label, names, default=value, selection_mode="multi", **more)
        case "grid":
            assert scenario.axis is not None
            finite = {x for x in OPTIONS[scenario.axis] if math.isfinite(x)}
            if scenario.axis == "d" and scenario.geometry == "group-l1":
                finite = {x for x in finite if x % GROUP_SIZE == 0}
            more |= {
                "format_func": number_text,
                "help": f"{more['help']} At most {DASHBOARD.grid}.",
            }
            st.pills(
                label, sorted({*finite, *value}), default=value, selection_mode="multi", **more
            )
        case "integer":
            st.number_input(label, 0, LARGEST_SEED, value, step=1, **more)


def offered(field: str, scenario: Scenario, value: float) -> list[float]:
    """Return what the slider of a field can be set to, its present value included."""
    options = sorted({*OPTIONS[field], value})
    if field == "d" and scenario.geometry == "group-l1":
        return [x for x in options if x % GROUP_SIZE == 0 or x == value]
    return _offsets(scenario, value) if field == "offset" else options


def _offsets(scenario: Scenario, value: float) -> list[float]:
    options = sorted({*OPTIONS["offset"], value})
    return [o for o in options if o <= smallest_set(scenario) / 2] or [0]


def _problem_name(slug: str) -> str:
    return problem_card(slug).name


def _distribution_name(slug: str) -> str:
    return distribution_card(slug).name
