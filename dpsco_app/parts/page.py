"""What pages with a `PageState` share: sliders, scenes, and messages about the address."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import streamlit as st

from dpsco_app.front import links
from dpsco_app.front.view import ADDRESS
from dpsco_app.parts import controls
from dpsco_app.parts.differences import difference_text
from dpsco_app.parts.folding import fold
from dpsco_app.parts.insides import DeltaGenerator
from dpsco_app.parts.options import escaped_markdown, number_text
from dpsco_app.parts.refusals import on_screen
from dpsco_app.session.scenarios import Use
from dpsco_app.shell import teaching, visit
from dpsco_app.shell.page_state import PageState, V
from dpsco_app.shell.places import link_to
from dpsco_app.shell.teaching import Teaching
from dpsco_core.base.errors import InvalidInput
from dpsco_core.base.limits import DASHBOARD
from dpsco_core.scenario import Scenario


@dataclass(frozen=True, kw_only=True)
class Scene:
    """A view with its own button: its name, what to look for, and the changes to it."""

    name: str
    look_for: str
    changes: dict[str, Any]
    scenario: dict[str, Any] = field(default_factory=dict)


def open_view(state: PageState[V]) -> V:
    """Restore a page's state from its address, list the address's errors, and return the view."""
    draw_wrong(state.restore())
    return state.current()


def open_page(state: PageState[V]) -> tuple[V, Scenario | None, str]:
    """Restore a page and draw its controls; return its view, its scenario, and a refusal.

    The scenario is None if the page cannot show it, and the refusal says why. The address of the
    view and the scenario is remembered for the way back.
    """
    view = open_view(state)
    if state.use is None:
        state.remember(view)
        return view, visit.current().scenario, ""
    scenario, refused = draw_controls(state, view)
    if scenario is not None:
        view = state.suit(view, scenario)
        state.remember(view, scenario)
    return view, scenario, refused


def draw_controls(state: PageState[V], view: V) -> tuple[Scenario | None, str]:
    """Draw the scenario's controls; return the scenario, or None and why it cannot be shown."""
    use, scenario = state.use or Use(), visit.current().scenario
    with teaching.controls_place():
        controls.draw_controls(
            scenario, {*use.unused_fields, *state.unused_fields(view)}, use.problems
        )
    try:
        return scenario.validate(DASHBOARD, sampling=use.sampling), ""
    except InvalidInput as problem:
        return None, on_screen(str(problem))


def draw_differences(
    state: PageState[V], scenario: Scenario, reason: str = "", place: str = "apart"
) -> None:
    """Draw how a figure's scenario differs from the visit's, with buttons to adopt or undo that.

    `reason` says why they differ, and `place` distinguishes this text from others on the page.
    """
    reason = reason or (state.use.needs if state.use is not None else "")
    words = difference_text(scenario, visit.current().visit_scenario, reason)
    if not words:
        return
    # The buttons stand beside the text, since a row of their own would push the figure off a
    # laptop's screen.
    widths = [6, 1.3, 1.3] if visit.current().is_apart() else [6, 1.3]
    with st.container(key=f"{state.name}_{place}"):
        words_column, *button_columns = st.columns(widths, vertical_alignment="center")
        words_column.markdown(words)
        button_columns[0].button(
            "Use it everywhere",
            key=f"{state.name}_{place}_everywhere",
            on_click=visit.current().take,
            args=(scenario,),
        )
        for column in button_columns[1:]:
            column.button(
                "Back to mine", key=f"{state.name}_{place}_back", on_click=state.back_to_mine
            )


def draw_wrong(sentences: Sequence[str]) -> None:
    """Draw one box that lists errors in the address: `sentences`, and those of the teacher mode."""
    complaints = [escaped_markdown(sentence) for sentence in (*teaching.wrong(), *sentences)]
    listed = (
        f" {complaints[0]} "
        if len(complaints) == 1
        else "".join(f"\n- {text}" for text in complaints) + "\n\n"
    )
    if complaints:
        st.warning(f"In the address:{listed}Defaults are used instead.", icon=":material/link:")


def draw_scenes(state: PageState[V], scenes: Sequence[Scene]) -> None:
    """Draw a button for each scene, which sets the page to it."""
    with st.container(horizontal=True, key=f"{state.name}_scenes"):
        for scene in scenes:
            st.button(
                scene.name,
                key=f"{state.name}_scene_{scene.name}",
                help=scene.look_for,
                on_click=state.change,
                args=(scene.changes, scene.scenario),
            )


def draw_parts(names: Mapping[Any, str], key: str, label: str = "Show", **options: Any) -> None:
    """Draw a row of buttons, one for each value in `names`, such as the parts of a page.

    The chosen value is in the session under `key`.
    """
    st.segmented_control(
        label,
        list(names),
        format_func=names.__getitem__,
        key=key,
        required=True,
        **({"label_visibility": "collapsed"} | options),
    )


# The label, the values and the help text of a slider.
SliderOptions = tuple[str, Sequence[float], str | None]


def sliders(
    state: PageState[V], columns: Sequence[DeltaGenerator], options_of: Mapping[str, SliderOptions]
) -> None:
    """Draw one slider of a page's view in each column; `options_of` is by the name of the field."""
    for column, (name, (label, options, help_text)) in zip(
        columns, options_of.items(), strict=False
    ):
        with column:
            slider(state, label, name, options, help=help_text)


def slider(
    state: PageState[V], label: str, name: str, options: Sequence[float], **keywords: Any
) -> None:
    """Draw a slider for the field `name` of a page's view, over `options` and the present value."""
    offered = sorted({*options, st.session_state[state.key(name)]})
    st.select_slider(
        label, offered, key=state.key(name), **({"format_func": number_text} | keywords)
    )


def explore_query(scenario: Scenario, **view_fields: str) -> dict[str, str]:
    """Return Explore's address for a scenario and some fields of Explore's view.

    Raises `InvalidInput` if the scenario is not allowed.
    """
    query = links.query(scenario.validate(DASHBOARD))
    return query | ADDRESS.to_query(replace(ADDRESS.default, **view_fields))


def to_explore(scenario: Scenario, label: str) -> None:
    """Draw a link that opens a scenario in Explore, or the reason why the dashboard refuses it."""
    try:
        query = explore_query(scenario)
    except InvalidInput as problem:
        st.caption(f"{label}: {on_screen(str(problem))}")
        return
    link_to("explore", label, query)


def link(
    state: PageState[V],
    view: V,
    scenario: Scenario | None = None,
    introduction: str = "The address of this page holds all of its state.",
) -> None:
    """Draw the popover with the address of a page and the options to hide parts of it."""
    key = f"{state.name}_link"

    def draw() -> None:
        """Draw the address of the page, with a choice of parts to leave out for a class."""
        st.markdown(
            f"{introduction} Copy it to share. For a class it can leave parts of the dashboard out."
        )
        hidden = teaching.ADDRESS.to_query(choose_hidden(key, state))
        st.code(state.address(view, scenario, hidden), language=None, wrap_lines=True)

    fold("Link", draw, key, kind="popover", icon=":material/link:")


HIDDEN_NAMES = {
    "sidebar": "sidebar",
    "nav": "ways to other pages",
    "presets": "presets",
    "details": "what folds out",
    "export": "downloads and links",
    "fine-print": "fine print",
}


def choose_hidden(key: str, state: PageState[Any]) -> Teaching:
    """Draw the options for what a page's link hides and enlarges; return what was chosen.

    `key` begins the keys of the widgets.
    """
    mode = teaching.current()
    unused_fields = None if state.use is None else state.use.unused_fields
    hidden = teaching.hidden_names(mode.hide)
    hide = st.pills(
        "Hide",
        teaching.parts_on(hidden, unused_fields, has_presets=state.has_presets),
        default=hidden,
        selection_mode="multi",
        format_func=lambda name: HIDDEN_NAMES.get(name, f"controls: {name}"),
        key=f"{key}_hide",
    )
    large = st.toggle("Large type, for a projector", mode.large, key=f"{key}_large")
    is_figure = st.toggle(
        "The figure alone, for a frame or a slide",
        mode.is_figure,
        key=f"{key}_alone",
        help="Its headline, the figure and its source. Whoever runs the server names the sites "
        "that may show it in a frame.",
    )
    return Teaching(
        hide=",".join(hide), type=teaching.SIZES[large], extent=teaching.EXTENTS[is_figure]
    )
