"""The controls of the scenario, the same on every page: widgets, and the scenario they describe."""

import math
from collections.abc import Callable, Collection, Sequence
from typing import Any

import streamlit as st

from dpsco_app.figure.methods import SIGNS, colour_of, short_names, symbol_of
from dpsco_app.figure.style import named_colours
from dpsco_app.front.changes import changed, level_of, listed, offered, why_these
from dpsco_app.parts.differences import READ, differences
from dpsco_app.parts.fields import ALL_CONTROLS, FRONT, choices, text, widget
from dpsco_app.parts.folding import fold_in_page
from dpsco_app.parts.options import LARGEST_SEED, NOTIONS, OPTIONS, number_text
from dpsco_app.parts.themes import is_dark
from dpsco_core.base.limits import DASHBOARD
from dpsco_core.catalogue import (
    METHOD_SLUGS,
    PROBLEM_SLUGS,
)
from dpsco_core.explain.window import notions_of
from dpsco_core.geometry.geometries import GROUP_SIZE
from dpsco_core.scenario import Scenario

PREFIX = "field_"
MORE = f"{PREFIX}more"
EVERY = "every_method"  # whether all algorithms are listed, or those that are chosen
SWEEP = "sweep"  # what fits of the grid, and what was asked for
BASE = Scenario()
SIDE = "[data-testid=stSidebar]"
CHIP = f"{SIDE} .st-key-{PREFIX}methods button[data-variant=pills]"
STYLE = f"""
{SIDE} [data-testid=stVerticalBlock] {{ gap: 0.35rem; }}
{SIDE} [data-testid=stWidgetLabel] {{ min-height: 1.25rem; justify-content: flex-start; }}
{SIDE} [data-testid=stSelectbox] {{ position: relative; }}
{SIDE} [data-testid=stSelectbox] > label {{ position: absolute; z-index: 1; left: 0.7rem;
  top: 0.5rem; color: var(--quiet); pointer-events: none; }}
/* The name of a menu explains itself: a sign beside it would stand over the chosen value. */
{SIDE} [data-testid=stSelectbox] > label [data-testid=stTooltipIcon] {{ position: absolute;
  inset: 0; opacity: 0 !important; pointer-events: auto; }}
{SIDE} [data-testid=stSelectbox] > label [data-testid=stTooltipIcon] * {{ width: 100%;
  height: 100%; }}
{SIDE} [data-testid=stSelectbox] input {{ padding-left: 5.2rem; font-size: 0.875rem; }}
{SIDE} [data-testid=stSlider] {{ padding: 0 0.4rem; }}
{SIDE} [data-testid=stSlider] > label {{ margin: 0 0 -0.6rem -0.4rem; }}
{SIDE} [data-testid=stSliderThumbValue] {{ opacity: 0; }}
{SIDE} [data-testid=stSlider]:active [data-testid=stSliderThumbValue] {{ opacity: 1; }}
{SIDE} [data-testid=stTooltipIcon] {{ opacity: 0; }}
{SIDE} [data-testid=stElementContainer]:is(:hover, :focus-within) [data-testid=stTooltipIcon] {{
  opacity: 1; }}
{SIDE} [data-testid=stWidgetLabel] > div {{ flex: none; margin: 0 0.25rem; }}
{SIDE} [data-testid=stElementContainer]:is(:hover, :focus-within):has([data-testid=stSlider])
  + [data-testid=stElementContainer] .about span {{ visibility: hidden; }}
{SIDE} .about {{ position: relative; display: flex; justify-content: space-between;
  font-size: 0.72rem; color: var(--quiet); line-height: 0.8rem; margin: -0.9rem 0 0.3rem; }}
{SIDE} [data-testid=stSelectbox] [role=group] {{ background: var(--page); }}
{CHIP} {{ background: var(--page) !important; min-height: 1.8rem; padding: 0 0.7rem; }}
{CHIP}[aria-pressed=true] {{ border-color: var(--own) !important; color: var(--ink) !important; }}
{CHIP} p::first-letter {{ color: var(--own); }}
{SIDE} .about b {{ position: absolute; right: 0; top: -2.72rem; font-size: 0.875rem;
  line-height: 1.25rem; font-weight: 600; color: var(--accent); }}
"""
NOTION = "notion"  # not a field: which of epsilon, delta and rho are shown

__all__ = ["ALL_CONTROLS", "NOTION", "PREFIX"]


def loaded() -> bool:
    """Whether the widgets have a state: it is lost while another page is shown."""
    return all(PREFIX + field in st.session_state for field in ALL_CONTROLS)


def load(scenario: Scenario) -> None:
    state = st.session_state
    for field in ALL_CONTROLS:
        _set(field, scenario)
    state[NOTION] = notions_of(scenario)[0]
    for field in ("epsilon", "delta", "rho"):
        if state[PREFIX + field] in (None, 0):
            state[PREFIX + field] = getattr(BASE, field) or 0.1


def _set(field: str, scenario: Scenario) -> None:
    value = getattr(scenario, field)
    st.session_state[PREFIX + field] = list(value) if isinstance(value, tuple) else value


def read() -> Scenario:
    """Return the scenario that the widgets' state describes, not yet validated."""
    state = st.session_state
    values: dict[str, Any] = {field: state[PREFIX + field] for field in ALL_CONTROLS}
    values["methods"] = tuple(m for m in METHOD_SLUGS if m in values["methods"])
    values["grid"] = tuple(sorted(values["grid"])) if values["axis"] else ()
    if values["geometry"] != "lq":
        values["q"] = None
    if state[NOTION] == "zcdp":
        values |= {"epsilon": None, "delta": None}
    else:
        values["rho"] = None
        if state[NOTION] == "pure":
            values["delta"] = 0.0
    return Scenario(**values)


def draw(
    scenario: Scenario,
    without: Collection[str] = (),
    problems: tuple[str, ...] = PROBLEM_SLUGS,
    more: Callable[[Scenario], None] | None = None,
) -> None:
    """Draw the controls that apply, but the fields `without`, which mean nothing on the page.

    Those of everyday stand open; the others, and what a page adds by `more`, fold away.
    """
    settle()
    st.html(f"<style>{style(scenario)}</style>")
    _draw_all(FRONT, scenario, without, problems)
    rest = [field for field in ALL_CONTROLS if field not in FRONT]

    def fill() -> None:
        if not {"epsilon", "rho"} <= set(without):
            _draw_notion()
        _draw_all(rest, scenario, without, problems)
        if more is not None:
            more(scenario)

    folded = {c for c in rest if ALL_CONTROLS[c].shown(scenario)} - {*without, "axis", "grid"}
    changed = [f"{d.name} = {d.there}" for d in differences(BASE, scenario) if d.field in folded]
    label = f"**More settings**{': ' if changed else ''}{', '.join(changed)}"
    empty = more is None and {*rest, "epsilon", "rho"} <= set(without)
    if empty or not fold_in_page(label, fill, MORE):
        _keep(rest)
        st.session_state[NOTION] = st.session_state[NOTION]


def _draw_notion() -> None:
    st.segmented_control(
        "Notion of privacy",
        list(NOTIONS),
        default=st.session_state[NOTION],
        format_func=lambda n: NOTIONS[n],
        key=NOTION,
        required=True,
        on_change=follow,
        args=("rho",),
        help="Approximate DP; zero-concentrated DP (the papers' CDP); or pure DP.",
    )


def settle() -> None:
    """Bring a value back that another control has put out of its range."""
    state, key = st.session_state, PREFIX + "offset"
    if key in state and state[key] not in (known := offered("offset", read(), state[key])):
        state[key] = known[-1]


def _draw_all(
    names: Sequence[str],
    scenario: Scenario,
    without: Collection[str],
    problems: tuple[str, ...],
) -> None:
    for field in names:
        if ALL_CONTROLS[field].shown(scenario) and field not in without:
            _draw_one(field, scenario, problems)
        else:
            _keep((field,))


def _keep(names: Sequence[str]) -> None:
    for field in names:
        st.session_state[PREFIX + field] = st.session_state[PREFIX + field]


# -- what follows from a change ---------------------------------------------------------


def choose(field: str, value: float) -> None:
    """Set a slider from elsewhere on the page, as if it had been moved."""
    before = level_of(read())
    st.session_state[PREFIX + field] = value
    if level_of(read()) != before:
        follow(field)


def follow(field: str) -> None:
    """Make the other controls fit a field that has changed; say what gave way; a callback."""
    before = read()
    sweep = st.session_state.get(SWEEP, ((), ()))
    value = getattr(before, field)
    after, st.session_state[SWEEP], words = changed(before, field, value, sweep, DASHBOARD)
    for name in ALL_CONTROLS:
        if getattr(after, name) != getattr(before, name):
            _set(name, after)
    if words:
        st.toast(words)


# -- one widget -------------------------------------------------------------------------


def _draw_one(field: str, scenario: Scenario, problems: tuple[str, ...]) -> None:
    # What the session holds is the default too. Streamlit sends it as a value in the first run
    # alone; a browser that draws the control only when the next run has begun, as its code
    # came late or somebody clicked fast, starts from the default.
    known, value = ALL_CONTROLS[field], st.session_state[PREFIX + field]
    label = text(known.label, scenario)
    more: dict[str, Any] = {"key": PREFIX + field, "help": text(known.help, scenario)}

    match widget(known):
        case "slider":
            more |= {"format_func": number_text, "on_change": follow, "args": (field,)}
            st.select_slider(label, offered(field, scenario, value), value, **more)
            if known.front:  # its value beside its name, and what its ends mean
                low, high = known.ends
                told = f"<span>{low}</span><span>{high}</span>"
                st.html(
                    f"<div class='about' aria-hidden='true'><b>{number_text(value)}</b>{told}</div>"
                )
        case "slug":
            options = problems if field == "problem" else choices(field, scenario)
            first = options.index(value) if value in options else 0
            more |= {"format_func": READ[field], "on_change": follow, "args": (field,)}
            st.selectbox(label, options, first, **more)
        case "choice":
            every = [*choices(field, scenario), *([None] if known.optional else [])]
            st.segmented_control(
                label,
                every,
                default=value if value in every else None,
                format_func=READ.get(field, str),
                required=True,
                on_change=follow,
                args=(field,),
                **more,
            )
        case "slugs":
            _draw_methods(label, value, scenario, more)
        case "numbers":
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
        case "whole":
            st.number_input(label, 0, LARGEST_SEED, value, step=1, **more)


def _draw_methods(label: str, value: list[str], scenario: Scenario, more: dict[str, Any]) -> None:
    """Draw the chosen algorithms as chips with the marks of their lines; the others on demand."""
    hidden = [m for m in listed(scenario) if m not in value]
    names = _with_chips(scenario)
    called = short_names(names)
    more |= {"format_func": lambda slug: f"{SIGNS[symbol_of(slug)]} {called[slug]}"}
    st.pills(label, names, default=value, selection_mode="multi", **more)
    if why := why_these(scenario):
        st.caption(why)
    if hidden and value:
        every = bool(st.session_state.get(EVERY))
        st.button(
            "Fewer" if every else f"+ {len(hidden)} more",
            key="methods_more",
            type="tertiary",
            on_click=st.session_state.update,
            args=({EVERY: not every},),
        )


def _with_chips(scenario: Scenario) -> list[str]:
    """Return the algorithms that have a chip: all of them on demand, or those that are chosen."""
    every = st.session_state.get(EVERY) or not scenario.methods
    return [m for m in listed(scenario) if every or m in scenario.methods]


def style(scenario: Scenario) -> str:
    """Return the style of the controls: the marks of the algorithms have the colours of lines."""
    dark = is_dark()
    chips = "".join(
        f"{CHIP}:nth-of-type({i + 1}) {{ --own: {colour_of(m)[dark]}; }}"
        for i, m in enumerate(_with_chips(scenario))
    )
    return f"{SIDE} {{ {named_colours(dark=dark)}}}{STYLE}{chips}"
