"""What pages with a `PageState` have in common: sliders, scenes, what is wrong in the address."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from dpsco_app.parts import controls
from dpsco_app.parts.differences import SYMBOLS, Difference, differences
from dpsco_app.parts.folding import fold
from dpsco_app.parts.options import AGAINST, SHOW, SHOWN, TAIL, number_text
from dpsco_app.shell import visit
from dpsco_app.shell.page_state import PageState, V
from dpsco_app.shell.places import link_to
from dpsco_core.base.errors import InvalidInput
from dpsco_core.base.limits import DASHBOARD
from dpsco_core.scenario import Scenario


@dataclass(frozen=True, kw_only=True)
class Scene:
    """A view worth a button: its name, what to look for, and the changes that lead there."""

    name: str
    look_for: str
    changes: dict[str, Any]
    scenario: dict[str, Any] = field(default_factory=dict)


def opened(state: PageState[V]) -> tuple[V, list[str]]:
    """Restore the page from its address; return what it shows and what was wrong there."""
    wrong = state.restore()
    return state.current(), wrong


def opened_with_scenario(
    state: PageState[V], title: str, change: Callable[[V, Scenario], V] = lambda view, _: view
) -> tuple[V, Scenario] | None:
    """Begin a page; return what it shows, or None where there is only a sentence to be said."""
    wrong = state.restore()
    scenario, refused = draw_controls(state)
    st.title(title)
    draw_wrong(wrong)
    try:
        if scenario is not None:
            view = change(state.current(scenario), scenario)
            state.remember(view, scenario)
            return view, scenario
    except InvalidInput as problem:
        refused = str(problem)
    st.error(refused)
    return None


def draw_controls(state: PageState[V]) -> tuple[Scenario | None, str]:
    """Draw the scenario's controls; return it, or why the page cannot show it."""
    use = state.use or visit.Use()
    with st.sidebar:
        controls.draw(controls.read(), use.without, use.problems)
    try:
        return controls.read().validate(DASHBOARD, sampling=use.sampling), ""
    except InvalidInput as problem:
        return None, str(problem)


def draw_apart(state: PageState[V], scenario: Scenario, why: str = "") -> None:
    """Say in which values a figure differs from the visit's scenario, and offer the ways back."""
    assert state.use is not None
    here = differences(scenario, visit.mine())
    if not here:
        return
    followed = {"methods", "axis", "grid"} if len(here) > 1 else set()
    values = ", ".join(_apart(d) for d in here if d.field not in followed)
    with st.container(horizontal=True, vertical_alignment="center", key=f"{state.name}_apart"):
        st.markdown(f"**Here:** {values}. {why or state.use.why}", width="content")
        st.button(
            "Use it everywhere",
            key=f"{state.name}_use_everywhere",
            on_click=_take,
            args=(scenario, state.name),
        )
        if visit.is_apart(state.name):
            st.button("Back to mine", key=f"{state.name}_back_to_mine", on_click=state.back_to_mine)


def _take(scenario: Scenario, page: str) -> None:
    visit.take(scenario, page)
    controls.load(scenario)


def _apart(difference: Difference) -> str:
    name = f"{difference.name} = " if difference.field in SYMBOLS else ""
    return f"{name}{difference.here} (yours: {difference.there})"


def draw_wrong(sentences: Sequence[str]) -> None:
    for sentence in sentences:
        st.warning(
            f"In the address: {sentence} The default is used instead.", icon=":material/link:"
        )


def draw_scenes(state: PageState[V], scenes: Sequence[Scene]) -> None:
    with st.container(horizontal=True, key=f"{state.name}_scenes"):
        for scene in scenes:
            st.button(
                scene.name,
                key=f"{state.name}_scene_{scene.name}",
                help=scene.look_for,
                on_click=state.change,
                args=(scene.changes, scene.scenario),
            )


def slider(
    state: PageState[V], label: str, name: str, options: Sequence[float], **more: Any
) -> None:
    """Draw a slider over `options`, among which the present value always is."""
    offered = sorted({*options, st.session_state[state.key(name)]})
    st.select_slider(label, offered, key=state.key(name), **({"format_func": number_text} | more))


def explore_query(
    scenario: Scenario, views: Sequence[str] = SHOWN, against: str = TAIL
) -> dict[str, str]:
    """Return Explore's address at a scenario; raises `InvalidInput` if that is not allowed."""
    query = visit.query(scenario.validate(DASHBOARD))
    if tuple(views) != SHOWN:
        query[SHOW] = ",".join(views) or "none"
    return query | ({AGAINST: against} if against != TAIL else {})


def to_explore(scenario: Scenario, label: str, *, help: str | None = None) -> None:
    """Draw a link that opens a scenario in Explore, or say why the dashboard does not run it."""
    try:
        query = explore_query(scenario)
    except InvalidInput as problem:
        st.caption(str(problem))
        return
    link_to("explore", label, query, help=help)


def link(state: PageState[V], view: V, scenario: Scenario | None = None) -> None:
    fold_address(state.address(view, scenario), f"{state.name}_link")


def fold_address(address: str, key: str) -> None:
    def draw() -> None:
        st.markdown("The address of this page holds all of its state. Copy it to share.")
        st.code(address, language=None)

    fold("Link", draw, key, kind="popover", icon=":material/link:")
