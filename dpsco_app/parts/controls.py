"""A panel of controls: the widgets of a page, and the scenario that they describe."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal

import streamlit as st

from dpsco_app.parts.fields import ALL_CONTROLS, CHOICES, DETAILS, GROUPS, Control, text
from dpsco_app.parts.folding import fold_in_page
from dpsco_app.parts.options import LARGEST_SEED, NOTIONS, OPTIONS, SYMBOL, number_text
from dpsco_app.parts.problem_words import MEAN, geometry_name
from dpsco_core.base.limits import DASHBOARD
from dpsco_core.catalogue import (
    DISTRIBUTION_SLUGS,
    METHOD_SLUGS,
    PROBLEM_SLUGS,
    default_methods,
    distribution_card,
    method_card,
    methods_for,
    problem_card,
)
from dpsco_core.geometry import GEOMETRIES
from dpsco_core.geometry.geometries import GROUP_SIZE
from dpsco_core.scenario import DEFAULT_Q, Scenario, default_grid

PREFIX = "field_"
NOTION = "notion"  # not a field: which of epsilon, delta and rho are shown
SINGLE = ("method",)  # kinds that hold one method instead of several

__all__ = ["ALL_CONTROLS", "EXPLORE", "NOTION", "PREFIX", "Panel"]


@dataclass(frozen=True, kw_only=True)
class Panel:
    """The controls of one page.

    Parameters
    ----------
    name : str
        Of the page, for the key of what is kept.
    prefix : str
        Of the widgets' keys, so that no two pages share one.
    groups : tuple of (title, controls)
    details : tuple of Control
        Those that fold away.
    problems : tuple of str
        Slugs to choose from.
    """

    name: str
    prefix: str
    groups: tuple[tuple[str, tuple[Control, ...]], ...]
    details: tuple[Control, ...]
    problems: tuple[str, ...] = PROBLEM_SLUGS

    @property
    def controls(self) -> tuple[Control, ...]:
        """Every control."""
        return tuple(c for _, group in self.groups for c in group) + self.details

    @property
    def notion(self) -> str:
        """Key of the notion of privacy."""
        return NOTION if self.prefix == PREFIX else self.prefix + NOTION

    @property
    def _kept(self) -> str:
        return f"{self.name}_kept_fields"

    def loaded(self) -> bool:
        """Whether the widgets have a state: it is lost while another page is shown."""
        return all(self.prefix + c.field in st.session_state for c in self.controls)

    def load(self, scenario: Scenario) -> None:
        """Put a scenario into the widgets' state."""
        state = st.session_state
        for control in self.controls:
            value = getattr(scenario, control.field)
            if control.kind in SINGLE:
                value = next(iter(value), None)
            elif isinstance(value, tuple):
                value = list(value)
            state[self.prefix + control.field] = value
        private = "approx" if scenario.delta else "pure"
        state[self.notion] = private if scenario.rho is None else "zcdp"
        default = Scenario()
        for field in ("epsilon", "delta", "rho"):
            if state[self.prefix + field] in (None, 0):
                state[self.prefix + field] = getattr(default, field) or 0.1
        drawn = {c.field for c in self.controls}
        state[self._kept] = {
            f.name: getattr(scenario, f.name) for f in fields(scenario) if f.name not in drawn
        }

    def read(self) -> Scenario:
        """Return the scenario that the widgets' state describes, not yet validated."""
        state = st.session_state
        values: dict[str, Any] = dict(state[self._kept])
        for control in self.controls:
            value = state[self.prefix + control.field]
            if control.kind in SINGLE:
                value = [value]
            values[control.field] = value
        values["methods"] = tuple(m for m in METHOD_SLUGS if m in values["methods"])
        values["grid"] = tuple(sorted(values["grid"])) if values["axis"] else ()
        if values["geometry"] != "lq":
            values["q"] = None
        if values["problem"] == MEAN:
            values["m"] = 1
        if state[self.notion] == "zcdp":
            values |= {"epsilon": None, "delta": None}
        else:
            values["rho"] = None
            if state[self.notion] == "pure":
                values["delta"] = 0.0
        return Scenario(**values)

    def draw(
        self, scenario: Scenario, more: Mapping[str, Callable[[Scenario], None]] | None = None
    ) -> None:
        """Draw every control that applies to `scenario` into the current container.

        At the end of a group that `more` names comes what it draws.
        """
        self.settle()
        self.draw_groups(self.groups, scenario, more)
        self.draw_fine_print(scenario)

    def settle(self) -> None:
        """Bring a value back that another control has put out of its range."""
        state, key = st.session_state, self.prefix + "offset"
        if key in state and state[key] not in (offered := _offsets(self.read(), state[key])):
            state[key] = offered[-1]

    def draw_groups(
        self,
        groups: tuple[tuple[str, tuple[Control, ...]], ...],
        scenario: Scenario,
        more: Mapping[str, Callable[[Scenario], None]] | None = None,
    ) -> None:
        """Draw some of `groups`; see `draw`."""
        for title, group in groups:
            with st.container(key=f"{self.prefix}group_{title.lower()}"):
                st.subheader(title)
                if title == "Privacy":
                    st.segmented_control(
                        "Notion of privacy",
                        list(NOTIONS),
                        default=st.session_state[self.notion],
                        format_func=lambda n: NOTIONS[n],
                        key=self.notion,
                        required=True,
                        on_change=self._keep_axis_possible,
                        help="Approximate DP; zero-concentrated DP (the papers' CDP); or pure DP, "
                        "under which only Laplace noise will do.",
                    )
                self._draw_all(group, scenario)
                if more and title in more:
                    more[title](scenario)

    def draw_fine_print(self, scenario: Scenario) -> None:
        """Draw the controls that fold away."""
        opened = fold_in_page(
            "Tuning and fine print",
            lambda: self._draw_all(self.details, scenario),
            f"{self.prefix}fine_print",
        )
        if not opened:
            self._keep(self.details)

    def _draw_all(self, controls: tuple[Control, ...], scenario: Scenario) -> None:
        for control in controls:
            key = self.prefix + control.field
            if control.shown(scenario):
                self._draw_one(control, key, scenario)
            else:
                self._keep((control,))

    def _keep(self, controls: tuple[Control, ...]) -> None:
        """Keep the state of widgets that are not drawn now."""
        for control in controls:
            key = self.prefix + control.field
            st.session_state[key] = st.session_state[key]

    # -- what follows from a change ---------------------------------------------------------

    def set_axis(self) -> None:
        """Give a new axis its default grid."""
        state = st.session_state
        grid = default_grid(state[self.prefix + "axis"], state[self.prefix + "geometry"])
        state[self.prefix + "grid"] = list(grid)
        self.set_problem()

    def set_problem(self) -> None:
        """Give a new problem its default methods, unless the chosen ones serve it as well."""
        state = st.session_state
        key = self.prefix + "methods"
        problem = state[self.prefix + "problem"]
        level = self._level()
        default, known = default_methods(problem, level), methods_for(problem, level)
        if isinstance(state[key], list):
            if not state[key] or not set(state[key]) <= set(known):
                state[key] = list(default)
        elif state[key] not in known:
            state[key] = next((m for m in default if method_card(m).privacy != "none"), known[0])

    def set_geometry(self) -> None:
        """Make the other controls fit a new geometry: an exponent, an axis, a dimension."""
        state, prefix = st.session_state, self.prefix
        geometry = state[prefix + "geometry"]
        if geometry == "lq" and state[prefix + "q"] is None:
            state[prefix + "q"] = DEFAULT_Q
        if geometry != "lq" and state.get(prefix + "axis") == "q":
            state[prefix + "axis"] = "n"
            self.set_axis()
        if geometry == "group-l1":
            state[prefix + "d"] = GROUP_SIZE * max(1, round(state[prefix + "d"] / GROUP_SIZE))
            if state.get(prefix + "axis") == "d":
                kept = [x for x in state[prefix + "grid"] if x % GROUP_SIZE == 0]
                state[prefix + "grid"] = kept or list(default_grid("d", geometry))

    def _level(self) -> Literal["item", "user"]:
        """Whether users have several items; a mean has none of them."""
        state, prefix = st.session_state, self.prefix
        several = state.get(prefix + "m", 1) > 1 or state.get(prefix + "axis") == "m"
        return "user" if several and state[prefix + "problem"] != MEAN else "item"

    def _keep_axis_possible(self) -> None:
        """A zCDP budget has no epsilon to sweep."""
        axis = self.prefix + "axis"
        if st.session_state[self.notion] == "zcdp" and st.session_state.get(axis) == "epsilon":
            st.session_state[axis] = "n"
            self.set_axis()

    # -- one widget -------------------------------------------------------------------------

    def _draw_one(self, control: Control, key: str, scenario: Scenario) -> None:
        # What the session holds is the default too. Streamlit sends it as a value in the first run
        # alone; a browser that draws the control only when the next run has begun, as its code
        # came late or somebody clicked fast, starts from the default.
        label, words = text(control.label, scenario), text(control.help, scenario)
        value = st.session_state[key]
        match control.kind:
            case "slider":
                options = sorted({*OPTIONS[control.field], value})
                if control.field == "d" and scenario.geometry == "group-l1":
                    options = [x for x in options if x % GROUP_SIZE == 0 or x == value]
                if control.field == "offset":
                    options = _offsets(scenario, value)
                changed = self.set_problem if control.field == "m" else None
                st.select_slider(
                    label,
                    options,
                    value,
                    format_func=number_text,
                    key=key,
                    help=words,
                    on_change=changed,
                )
            case "problem":
                self._select(label, self.problems, _problem_name, key, words, self.set_problem)
                st.caption(problem_card(scenario.problem).summary)
            case "select":
                self._select(label, DISTRIBUTION_SLUGS, _distribution_name, key, words)
            case "geometry":
                self._select(label, GEOMETRIES, geometry_name, key, words, self.set_geometry)
            case "method":
                self._select(label, tuple(_offered(scenario)), _method_name, key, words)
            case "choice":
                choices = _choices(control.field, scenario)
                st.segmented_control(
                    label,
                    choices,
                    default=value if value in choices else None,
                    format_func=_choice_text,
                    key=key,
                    required=True,
                    on_change=self.set_axis if control.field == "axis" else None,
                    help=words,
                )
            case "methods":
                st.pills(
                    label,
                    _offered(scenario),
                    default=value,
                    format_func=_method_name,
                    selection_mode="multi",
                    key=key,
                    help=words,
                )
            case "grid":
                assert scenario.axis is not None
                st.pills(
                    label,
                    _grid_values(scenario, value),
                    default=value,
                    format_func=number_text,
                    selection_mode="multi",
                    key=key,
                    help=f"{words} At most {DASHBOARD.grid}.",
                )
            case "integer":
                st.number_input(label, 0, LARGEST_SEED, value, step=1, key=key, help=words)

    @staticmethod
    def _select(
        label: str,
        options: tuple[str, ...],
        name: Callable[[str], str],
        key: str,
        words: str,
        changed: Callable[[], None] | None = None,
    ) -> None:
        value = st.session_state[key]
        first = options.index(value) if value in options else 0
        st.selectbox(
            label, options, first, format_func=name, key=key, help=words, on_change=changed
        )


EXPLORE = Panel(name="explore", prefix=PREFIX, groups=GROUPS, details=DETAILS)


def _offsets(scenario: Scenario, value: float) -> list[float]:
    """Return the norms of the true parameter that the set holds."""
    options = sorted({*OPTIONS["offset"], value})
    return [o for o in options if o <= scenario.diameter / 2] or [0]


def _problem_name(slug: str) -> str:
    return problem_card(slug).name


def _distribution_name(slug: str) -> str:
    return distribution_card(slug).name


def _method_name(slug: str) -> str:
    return method_card(slug).name


def _choices(field: str, scenario: Scenario) -> list[Any]:
    if field != "axis":
        return list(CHOICES[field])
    without = {"epsilon"} if scenario.rho is not None else set()
    if scenario.geometry != "lq":
        without.add("q")
    if scenario.problem == MEAN:
        without.add("m")
    return [c for c in CHOICES[field] if c not in without]


def _offered(scenario: Scenario) -> list[str]:
    """Return the methods to choose from: those of the level, and those that are chosen."""
    several = scenario.m > 1 or scenario.axis == "m"
    known = methods_for(scenario.problem, "user" if several else "item")
    return [m for m in METHOD_SLUGS if m in known or m in scenario.methods]


def _grid_values(scenario: Scenario, chosen: list[float]) -> list[float]:
    """Return the values of the axis that are offered: finite ones, of which there is a set."""
    assert scenario.axis is not None
    offered = [x for x in OPTIONS[scenario.axis] if math.isfinite(x)]
    if scenario.axis == "d" and scenario.geometry == "group-l1":
        offered = [x for x in offered if x % GROUP_SIZE == 0]
    return sorted({*offered, *chosen})


def _choice_text(value: Any) -> str:
    return "none" if value is None else SYMBOL.get(value, str(value))
