"""The controls of the scenario, the same on every page: widgets, and the scenario they describe."""

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import Any

import streamlit as st

from dpsco_app.figure.methods import SIGNS, colour_of, short_names, symbol_of
from dpsco_app.figure.style import named_colours
from dpsco_app.front.changes import initial_methods_reason, listed_methods, slider_values
from dpsco_app.parts.control_words import contents_of_fold, law_name, laws_in_order, methods_text
from dpsco_app.parts.differences import READ, differences
from dpsco_app.parts.fields import (
    ALL_CONTROLS,
    FRONT,
    choices,
    ends_html,
    front_fields,
    text,
    widget,
)
from dpsco_app.parts.folding import fold_in_page
from dpsco_app.parts.options import LARGEST_SEED, NOTIONS, OPTIONS, number_text
from dpsco_app.parts.themes import is_dark
from dpsco_app.session.session import NOTION
from dpsco_app.shell import visit
from dpsco_core.base.limits import DASHBOARD
from dpsco_core.catalogue import PROBLEM_SLUGS
from dpsco_core.geometry.geometries import GROUP_SIZE
from dpsco_core.scenario import Scenario

PREFIX = "field_"
MORE_KEY = f"{PREFIX}more"
METHODS = "methods_menu"
# The session key that says whether all algorithms are listed, or only the chosen ones.
LISTS_ALL = "every_method"
BASE = Scenario()
# The pixels between two controls, so few that all open ones fit on a laptop's first screen.
GAP = 2
SIDE = ".st-key-controls"
CHIP = f".st-key-{PREFIX}methods button[aria-pressed]"
# The selectors of menus whose name stands inside their box, before the chosen value.
BOXES = ", ".join(f".st-key-{PREFIX}{c}" for c in FRONT if widget(ALL_CONTROLS[c]) == "slug")
STYLE = f"""
{SIDE} :is({BOXES}) {{ position: relative; margin-bottom: 0.3rem; }}
{SIDE} :is({BOXES}) label {{ position: absolute; z-index: 1; left: 0.7rem; top: 0.5rem;
  color: var(--quiet); pointer-events: none; }}
{SIDE} :is({BOXES}) input {{ padding-left: 5.2rem; font-size: 0.875rem; }}
/* The name of a menu explains itself: a sign beside it would stand over the chosen value. */
{SIDE} :is({BOXES}) label button {{ position: absolute; inset: 0; width: 100%;
  opacity: 0 !important; }}
{SIDE} label button {{ opacity: 0; pointer-events: auto; }}
{SIDE} [class*="st-key-{PREFIX}"]:is(:hover, :focus-within) label button {{ opacity: 1; }}
.st-key-methods_more button {{ min-height: 1.5rem; }}
/* A slider's value stands beside its name, and what it is below: its own number is for a drag. */
{SIDE} [class*=st-key-slider_] {{ position: relative; padding-bottom: 0.35rem; }}
{SIDE} .st-key-slider_p {{ margin-top: 0.6rem; }}
{SIDE} [class*=st-key-slider_] label {{ min-height: 0; margin-bottom: 2.2rem; }}
{SIDE} [class*=st-key-slider_] label > :last-child {{ flex: none; margin-left: 0.3rem; }}
{SIDE} [class*=st-key-slider_] > :has(.about) {{ position: absolute; inset: 0 0 auto 0;
  pointer-events: none; }}
{SIDE} .about img {{ position: absolute; left: 0; top: 2.7rem; width: 100%; }}
{SIDE} [class*=st-key-slider_area_] label {{ margin-bottom: 4.9rem !important; }}
{SIDE} [class*=st-key-slider_area_] .about .ends {{ top: 5.4rem; }}
{SIDE} .about {{ font-size: 0.875rem; line-height: 1.3rem; }}
{SIDE} .about b {{ position: absolute; right: 0; top: 0.1rem; font-weight: 600; }}
{SIDE} .about > span {{ position: absolute; left: 0; top: 1.35rem; color: var(--quiet);
  font-size: 0.78rem; white-space: nowrap; }}
{SIDE} .about .ends {{ position: absolute; inset: 2.9rem 0 auto 0; display: flex;
  justify-content: space-between; color: var(--quiet); font-size: 0.75rem; line-height: 0.95rem; }}
{SIDE} [class*=st-key-slider_] :has(> * > input):not(:active) > :last-child {{ display: none; }}
.st-key-{METHODS} {{ width: 100%; margin-bottom: 0.3rem; }}
.st-key-{METHODS} button {{ width: 100%; justify-content: space-between; padding: 0.25rem 0.7rem; }}
.st-key-{METHODS} button p {{ font-size: 0.8rem; white-space: nowrap; }}
{CHIP} {{ background: var(--page) !important; min-height: 1.8rem; padding: 0 0.7rem; }}
{CHIP}[aria-pressed=true] {{ border-color: var(--own) !important; color: var(--ink) !important; }}
{CHIP} p::first-letter {{ color: var(--own); }}
"""
__all__ = ["ALL_CONTROLS", "NOTION", "PREFIX"]


def draw_controls(
    scenario: Scenario,
    left_out: Collection[str] = (),
    problems: tuple[str, ...] = PROBLEM_SLUGS,
    more: Callable[[Scenario], None] | None = None,
    lead: str = "",
    areas: Mapping[str, str] | None = None,
    folded: Collection[str] = (),
) -> None:
    """Draw the controls that apply, except the fields `left_out`, which mean nothing on the page.

    The common controls are always visible; the others, those in `folded`, and what a page adds with
    `more`, are folded. `lead` is the algorithm with the smallest error on the page, `areas` the
    HTML above each slider.
    """
    st.html(f"<style>{style(scenario)}</style>")
    with st.container(gap=GAP, key="controls"):
        _draw_open_and_folded(scenario, left_out, problems, more, lead, areas or {}, folded)


def _draw_open_and_folded(
    scenario: Scenario,
    left_out: Collection[str],
    problems: tuple[str, ...],
    draw_more: Callable[[Scenario], None] | None,
    lead: str,
    areas: Mapping[str, str],
    page_folds: Collection[str],
) -> None:
    """Draw the controls that are always visible, and the others in a fold.

    The parameters are those of `draw_controls`; `page_folds` are fields that this page folds, too.
    """
    front = front_fields(scenario, page_folds)
    _draw_all(front, scenario, left_out, problems, lead, areas)
    rest = [field for field in ALL_CONTROLS if field not in front]

    def fill() -> None:
        """Draw the controls that are folded away, and what the page adds to them."""
        with st.container(gap=GAP):
            if not {"epsilon", "rho"} <= set(left_out):
                _draw_notion()
            _draw_all(rest, scenario, left_out, problems, areas=areas)
            if draw_more is not None:
                draw_more(scenario)

    folded = {c for c in rest if ALL_CONTROLS[c].is_shown(scenario)} - {*left_out, "axis", "grid"}
    changed = [f"{d.name} = {d.there}" for d in differences(BASE, scenario) if d.field in folded]
    contents = changed or contents_of_fold(folded & {*page_folds})
    label = f"**More settings**{': ' * bool(contents)}{', '.join(contents)}"
    if draw_more is not None or not {*rest, "epsilon", "rho"} <= set(left_out):
        fold_in_page(label, fill, MORE_KEY)


def _draw_notion() -> None:
    """Draw the control that chooses between (ε, δ), zCDP and pure budgets."""
    st.segmented_control(
        "Notion of privacy",
        list(NOTIONS),
        default=_set_widget(NOTION, NOTION),
        format_func=lambda n: NOTIONS[n],
        key=NOTION,
        required=True,
        on_change=_change,
        args=(NOTION, NOTION),
        help="Approximate DP; zero-concentrated DP (the papers' CDP); or pure DP.",
    )


def _draw_all(
    names: Sequence[str],
    scenario: Scenario,
    left_out: Collection[str],
    problems: tuple[str, ...],
    lead: str = "",
    areas: Mapping[str, str] | None = None,
) -> None:
    """Draw the controls of some fields, except those that do not apply or are left out."""
    for field in names:
        if ALL_CONTROLS[field].is_shown(scenario) and field not in left_out:
            _draw_one(field, scenario, problems, lead, (areas or {}).get(field, ""))


def _set_widget(field: str, key: str) -> Any:
    """Set the widget with a key to the session's value of a field; return this value."""
    value = visit.current().value(field)
    value = list(value) if isinstance(value, tuple) else value
    if key not in st.session_state or st.session_state[key] != value:
        st.session_state[key] = value
    return value


def _change(field: str, key: str) -> None:
    """Set a field of the session to its widget's value, and show what else changed; a callback."""
    _show_message(visit.current().change(field, st.session_state[key]))


def choose(field: str, value: float) -> None:
    """Set a field of the scenario as if the visitor had moved its slider, and show what changed."""
    _show_message(visit.current().choose(field, value))


def _show_message(words: str) -> None:
    """Show a short message about a change in the corner of the page, if there is one."""
    if words:
        st.toast(words)


# -- one widget -------------------------------------------------------------------------


def _draw_one(
    field: str, scenario: Scenario, problems: tuple[str, ...], lead: str, area: str
) -> None:
    """Draw the control of a field as the widget that fits its type.

    `lead` is the algorithm with the smallest error, and `area` the HTML above a slider.
    """
    # The session's value is also the widget's default. Streamlit sends the value only in the first
    # run; a browser that draws the control in a later run, because its code came late or somebody
    # clicked fast, starts from the default.
    control, key = ALL_CONTROLS[field], PREFIX + field
    value, label = _set_widget(field, key), text(control.label, scenario)
    options_of_widget: dict[str, Any] = {"key": key, "help": text(control.help, scenario)}
    options_of_widget |= {"on_change": _change, "args": (field, key)}

    match widget(control):
        case "slider":
            options_of_widget |= {"format_func": number_text}
            words = text(control.plain, scenario)
            with st.container(key=f"slider_{'area_' * bool(area)}{field}"):
                st.select_slider(
                    label, slider_values(field, scenario, value), value, **options_of_widget
                )
                ends = f"<div class='ends'>{ends_html(field)}</div>"
                about_html = f"<b>{number_text(value)}</b><span>{words}</span>{area}{ends}"
                st.html(f"<div class='about' aria-hidden='true'>{about_html}</div>")
        case "slug":
            options = problems if field == "problem" else choices(field, scenario)
            options_of_widget |= {"format_func": READ[field]}
            if field == "distribution":
                options = tuple(laws_in_order(options, scenario))
                options_of_widget |= {"format_func": law_name(scenario)}
            chosen_index = options.index(value) if value in options else 0
            st.selectbox(label, options, chosen_index, **options_of_widget)
        case "choice":
            segments = [*choices(field, scenario), *([None] if control.optional else [])]
            st.segmented_control(
                label,
                segments,
                default=value if value in segments else None,
                format_func=READ.get(field, str),
                required=True,
                **options_of_widget,
            )
        case "slugs":
            draw = partial(_draw_methods, label, value, scenario, options_of_widget)
            # A folded menu would hide that hardly any algorithm is chosen.
            if len(scenario.methods) < 2 or not value:
                draw()
            else:
                name, words = methods_text(scenario, lead)
                fold_in_page(f":gray[{name}] {words}", draw, METHODS, kind="popover")
        case "numbers":
            assert scenario.axis is not None
            finite = {x for x in OPTIONS[scenario.axis] if math.isfinite(x)}
            if scenario.axis == "d" and scenario.geometry == "group-l1":
                finite = {x for x in finite if x % GROUP_SIZE == 0}
            options_of_widget |= {
                "format_func": number_text,
                "help": f"{options_of_widget['help']} At most {DASHBOARD.grid}.",
            }
            st.pills(
                label,
                sorted({*finite, *value}),
                default=value,
                selection_mode="multi",
                **options_of_widget,
            )
        case "whole":
            st.number_input(label, 0, LARGEST_SEED, value, step=1, **options_of_widget)


def _draw_methods(
    label: str, value: list[str], scenario: Scenario, options: dict[str, Any]
) -> None:
    """Draw the algorithms as chips with the marks of their lines, the unchosen ones on demand.

    `value` are the slugs of the chosen ones, and `options` the keywords of the widget.
    """
    hidden = [m for m in listed_methods(scenario) if m not in value]
    names = _methods_with_chips(scenario)
    called = short_names(names)
    options |= {"format_func": lambda slug: f"{SIGNS[symbol_of(slug)]} {called[slug]}"}
    st.pills(label, names, default=value, selection_mode="multi", **options)
    if reason := initial_methods_reason(scenario):
        st.caption(reason)
    if hidden and value:
        lists_all = bool(st.session_state.get(LISTS_ALL))
        st.button(
            "Fewer" if lists_all else f"+ {len(hidden)} more",
            key="methods_more",
            type="tertiary",
            on_click=st.session_state.update,
            args=({LISTS_ALL: not lists_all},),
        )


def _methods_with_chips(scenario: Scenario) -> list[str]:
    """Return the slugs of the algorithms with a chip: the chosen ones, or all on demand."""
    lists_all = st.session_state.get(LISTS_ALL) or not scenario.methods
    return [m for m in listed_methods(scenario) if lists_all or m in scenario.methods]


def style(scenario: Scenario) -> str:
    """Return the CSS of the controls: the marks of algorithms have the colours of their lines."""
    dark = is_dark()
    chips = "".join(
        f"{CHIP}:nth-of-type({i + 1}) {{ --own: {colour_of(m)[dark]}; }}"
        for i, m in enumerate(_methods_with_chips(scenario))
    )
    return f"{SIDE} {{ {named_colours(dark=dark)}}}{STYLE}{chips}"
