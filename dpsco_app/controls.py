"""One table: scenario field -> widget, options, words. The sidebar is drawn from it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import streamlit as st

from dpsco_app.options import NOTIONS, OPTIONS, SYMBOL, number_text
from dpsco_core.catalogue import DISTRIBUTION_SLUGS, METHOD_SLUGS, distribution_card, method_card
from dpsco_core.limits import DASHBOARD
from dpsco_core.scenario import DEFAULT_GRIDS, Scenario

PREFIX = "field_"
NOTION = "notion"  # not a field: which of epsilon, delta and rho are shown

Kind = Literal["slider", "select", "choice", "methods", "grid", "integer"]


@dataclass(frozen=True, kw_only=True)
class Control:
    """How one field of a scenario is shown."""

    field: str
    kind: Kind
    label: str
    help: str
    shown: Callable[[Scenario], bool] = lambda _: True


HARD = ("spike", "hypercube")

GROUPS: tuple[tuple[str, tuple[Control, ...]], ...] = (
    (
        "Data",
        (
            Control(
                field="distribution",
                kind="select",
                label="Distribution",
                help="The law of a record. Each is scaled so that every coordinate's central "
                r"moment of order $p$ is 1. The two hard instances are the laws on which the "
                "lower bounds are proven; they draw a new pattern in every trial.",
            ),
            Control(
                field="p",
                kind="slider",
                label="Tail index p",
                help=r"The largest moment that is known to exist: $E|X_j-\mu_j|^p = 1$. "
                "Small p means heavy tails; p = 2 is only a finite variance.",
            ),
            Control(
                field="offset",
                kind="slider",
                label="Norm of the true mean ‖μ‖",
                help="How far the true mean is from 0, where clipping is centred.",
                shown=lambda s: s.distribution not in HARD,
            ),
        ),
    ),
    (
        "Size",
        (
            Control(field="n", kind="slider", label="Records n", help="Number of people."),
            Control(
                field="d",
                kind="slider",
                label="Dimension d",
                help="Number of coordinates of a record.",
            ),
        ),
    ),
    (
        "Privacy",
        (
            Control(
                field="epsilon",
                kind="slider",
                label="Privacy budget ε (epsilon)",
                help="Smaller is more private. Neighbours differ by replacing one record.",
                shown=lambda s: s.rho is None,
            ),
            Control(
                field="delta",
                kind="slider",
                label="Failure probability δ (delta)",
                help=r"The slack in $(\varepsilon,\delta)$-DP; well below $1/n$.",
                shown=lambda s: s.rho is None and bool(s.delta),
            ),
            Control(
                field="rho",
                kind="slider",
                label="zCDP budget ρ (rho)",
                help=r"Zero-concentrated DP: $D_\alpha \le \rho\alpha$ for every order. "
                r"$\rho = \varepsilon^2/2$ is what $\varepsilon$-DP implies.",
                shown=lambda s: s.rho is not None,
            ),
        ),
    ),
    (
        "Algorithms",
        (
            Control(
                field="methods",
                kind="methods",
                label="Estimators",
                help="Each runs on the same data in every trial. Grey ones are not private.",
            ),
        ),
    ),
    (
        "Study",
        (
            Control(
                field="axis",
                kind="choice",
                label="Sweep",
                help="What the figure's horizontal axis shows.",
            ),
            Control(
                field="grid",
                kind="grid",
                label="Values on the axis",
                help="Choose which values are run.",
                shown=lambda s: s.axis is not None,
            ),
            Control(
                field="trials",
                kind="slider",
                label="Trials",
                help="Repetitions of every point, with fresh data and fresh noise.",
            ),
            Control(
                field="seed",
                kind="integer",
                label="Seed",
                help="The same scenario and seed give the same numbers everywhere. A fixed seed "
                "makes the noise predictable: never use one to protect real data.",
            ),
        ),
    ),
)
DETAILS: tuple[Control, ...] = (
    Control(
        field="tuning",
        kind="choice",
        label="Tuning",
        help="practical: radii and block numbers that work at these sizes; theory: the theorem's "
        "own. Both ignore the data, and both are private.",
    ),
    Control(
        field="calibration",
        kind="choice",
        label="Calibration",
        help="tight: the least noise that is proven private; paper: the printed constants.",
    ),
    Control(
        field="diameter",
        kind="slider",
        label="Diameter of the ball that holds the mean",
        help="Public knowledge that methods may use: the mean's norm is at most half of it.",
    ),
    Control(
        field="margin",
        kind="slider",
        label="Margin of the tail",
        help="Samples have tail index p + margin, so that the p-th moment exists.",
        shown=lambda s: s.distribution not in (*HARD, "gaussian", "log-normal"),
    ),
)
CHOICES: dict[str, tuple[Any, ...]] = {
    "axis": ("n", "d", "epsilon", "p", None),
    "tuning": ("practical", "theory"),
    "calibration": ("tight", "paper"),
}
ALL_CONTROLS = tuple(c for _, group in GROUPS for c in group) + DETAILS


def load(scenario: Scenario) -> None:
    """Put a scenario into the widgets' state."""
    for control in ALL_CONTROLS:
        value = getattr(scenario, control.field)
        if control.field in ("methods", "grid"):
            value = list(value)
        st.session_state[PREFIX + control.field] = value
    private = "approx" if scenario.delta else "pure"
    st.session_state[NOTION] = private if scenario.rho is None else "zcdp"
    default = Scenario()
    for field in ("epsilon", "delta", "rho"):
        if st.session_state[PREFIX + field] in (None, 0):
            st.session_state[PREFIX + field] = getattr(default, field) or 0.1
    st.session_state["kept_fields"] = {
        "problem": scenario.problem,
        "m": scenario.m,
        "geometry": scenario.geometry,
        "q": scenario.q,
    }


def read() -> Scenario:
    """Return the scenario that the widgets' state describes, not yet validated."""
    state = st.session_state
    values: dict[str, Any] = dict(state["kept_fields"])
    for control in ALL_CONTROLS:
        values[control.field] = state[PREFIX + control.field]
    values["methods"] = tuple(m for m in METHOD_SLUGS if m in values["methods"])
    values["grid"] = tuple(sorted(values["grid"])) if values["axis"] else ()
    if state[NOTION] == "zcdp":
        values |= {"epsilon": None, "delta": None}
    else:
        values["rho"] = None
        if state[NOTION] == "pure":
            values["delta"] = 0.0
    return Scenario(**values)


def set_axis() -> None:
    """Give a new axis its default grid."""
    axis = st.session_state[PREFIX + "axis"]
    st.session_state[PREFIX + "grid"] = list(DEFAULT_GRIDS.get(axis, ()))


def draw(scenario: Scenario) -> None:
    """Draw every control that applies to `scenario` into the current container."""
    for title, group in GROUPS:
        st.subheader(title)
        if title == "Privacy":
            st.segmented_control(
                "Notion of privacy",
                list(NOTIONS),
                format_func=lambda n: NOTIONS[n],
                key=NOTION,
                required=True,
                on_change=_keep_axis_possible,
                help="Approximate DP; zero-concentrated DP (the papers' CDP); or pure DP, under "
                "which only Laplace noise will do.",
            )
        for control in group:
            if control.shown(scenario):
                _draw_one(control, scenario)
            else:
                _keep(control.field)
    with st.expander("Tuning and fine print"):
        for control in DETAILS:
            if control.shown(scenario):
                _draw_one(control, scenario)
            else:
                _keep(control.field)


def _keep(field: str) -> None:
    """Keep the state of a widget that is not drawn now."""
    st.session_state[PREFIX + field] = st.session_state[PREFIX + field]


def _keep_axis_possible() -> None:
    """A zCDP budget has no epsilon to sweep."""
    if st.session_state[NOTION] == "zcdp" and st.session_state[PREFIX + "axis"] == "epsilon":
        st.session_state[PREFIX + "axis"] = "n"
        set_axis()


def _draw_one(control: Control, scenario: Scenario) -> None:
    key = PREFIX + control.field
    value = st.session_state[key]
    match control.kind:
        case "slider":
            options = sorted({*OPTIONS[control.field], value})
            if control.field == "offset":
                options = [o for o in options if o <= scenario.diameter / 2] or [0]
                if value not in options:
                    st.session_state[key] = options[-1]
            st.select_slider(
                control.label, options, format_func=number_text, key=key, help=control.help
            )
        case "select":
            st.selectbox(
                control.label,
                list(DISTRIBUTION_SLUGS),
                format_func=lambda slug: distribution_card(slug).name,
                key=key,
                help=control.help,
            )
        case "choice":
            st.segmented_control(
                control.label,
                _choices(control.field, scenario),
                format_func=_choice_text,
                key=key,
                required=True,
                on_change=set_axis if control.field == "axis" else None,
                help=control.help,
            )
        case "methods":
            st.pills(
                control.label,
                list(METHOD_SLUGS),
                format_func=lambda slug: method_card(slug).name,
                selection_mode="multi",
                key=key,
                help=control.help,
            )
        case "grid":
            assert scenario.axis is not None
            st.pills(
                control.label,
                sorted({*OPTIONS[scenario.axis], *value}),
                format_func=number_text,
                selection_mode="multi",
                key=key,
                help=f"{control.help} At most {DASHBOARD.grid}.",
            )
        case "integer":
            st.number_input(control.label, 0, 2**31, step=1, key=key, help=control.help)


def _choices(field: str, scenario: Scenario) -> list[Any]:
    if field == "axis" and scenario.rho is not None:
        return [c for c in CHOICES[field] if c != "epsilon"]
    return list(CHOICES[field])


def _choice_text(value: Any) -> str:
    return "none" if value is None else SYMBOL.get(value, str(value))
