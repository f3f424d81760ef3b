"""A run of a page that is stopped, or whose page is left, changes no control's value."""

from __future__ import annotations

import time
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from dpsco_app.front.links import BASE
from dpsco_app.pages.bounds.state import STATE as BOUNDS
from dpsco_app.session.session import Session
from dpsco_app.shell import page_state, teaching, visit
from dpsco_app.shell.page_state import PageState
from dpsco_core.base.limits import DASHBOARD
from tests.app.pages import ENTRY, SMALL, check_page

pytestmark = pytest.mark.folded  # The folded parts have no control that is tested here.
SCRIPT = """
import streamlit as st
from dpsco_app.pages.{0} import page
st.set_page_config(layout="wide")
if st.session_state.get("elsewhere"):
    st.title("Another page")
else:
    page.page()
"""
# For every page with its own sidebar, some values other than the defaults.
PANELS = {
    "explore": {"trials": "5", "grid": "1000,5000", "seed": "3", "d": "7", "show": "rates"},
    "one_run": {"problem": "quadratic", "n": "500", "d": "3", "trials": "1", "seed": "3"},
    "who_wins": {"distribution": "pareto", "n": "5000", "plane": "n-d"},
    "bounds": {"distribution": "pareto", "n": "5000", "kind": "lower"},
}
STATES = {
    "users": {"n": "20000", "d": "2", "trials": "2"},
    "lower_bounds": {"n": "20000"},
    "privacy": {"part": "audit"},
    "methods": {"method": "sco.clipped"},
}
PAGES = PANELS | STATES
# `make test` covers two pages of each kind, whose state is kept by the same code; the others are
# slow.
QUICK = ("explore", "bounds", "lower_bounds", "privacy")
ALL_PAGES = [pytest.param(n, marks=[] if n in QUICK else pytest.mark.slow) for n in PAGES]


def open_named(name: str) -> AppTest:
    """Return a page by its name and with its query, before its first run."""
    page = AppTest.from_string(SCRIPT.format(name), default_timeout=60)
    for key, value in PAGES[name].items():
        page.query_params[key] = value
    return page


def control_values(page: AppTest) -> dict[str, Any]:
    """Return the values of the controls, by their keys."""
    kinds = ("selectbox", "number_input", "select_slider", "button_group", "toggle", "radio")
    return {w.key: w.value for kind in kinds for w in page.get(kind) if w.key}


def read_controls(page: AppTest) -> Iterator[tuple[str, Any, Any]]:
    """Yield the key and the value of every control, and the value sent to the browser in this
    run.
    """
    for chosen in page.selectbox:
        yield str(chosen.key), chosen.index, _sent_value(chosen, chosen.index, chosen.proto.default)
    for slider in page.select_slider:
        place = slider.options.index(slider.format_func(slider.value))
        yield str(slider.key), place, _sent_value(slider, place, int(slider.proto.default[0]))
    for group in page.get("button_group"):
        places = sorted(group.indices)
        yield str(group.key), places, _sent_value(group, places, sorted(group.proto.default))
    for number in page.number_input:
        yield str(number.key), number.value, _sent_value(number, number.value, number.proto.default)


def _sent_value(widget: Any, value: Any, default: Any) -> Any:
    """Return the value that the server sends for a widget: `value` if the page sets it, or else
    `default`.
    """
    return value if widget.proto.set_value else default


@pytest.mark.parametrize("name", ALL_PAGES)
def test_a_browser_that_draws_a_control_late_finds_its_value_in_every_run(name: str) -> None:
    page = check_page(open_named(name).run())
    page = check_page(page.run())  # Values that were set before the first run are not sent again.
    values = {key: value for key, value, _ in read_controls(page)}
    assert values
    assert {key: kept for key, _, kept in read_controls(page)} == values


@pytest.mark.parametrize("count_filled", [3, pytest.param(1000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", ALL_PAGES)
def test_the_next_run_fills_the_controls_that_a_stopped_run_left_empty(
    name: str, count_filled: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = control_values(check_page(open_named(name).run()))
    page = open_named(name)
    with monkeypatch.context() as patch:
        fill_widgets = PageState.fill_widgets

        def fill_some(self: Any, view: Any) -> None:
            """Set some of the page's own controls, and stop."""
            fill_widgets(self, view)
            for key in [self.key(name) for name in self.names][count_filled:]:
                del st.session_state[key]
            st.stop()

        patch.setattr(PageState, "fill_widgets", fill_some)
        page.run()
        assert control_values(page) == {}
    assert control_values(check_page(page.run())) == whole


@pytest.mark.parametrize("name", ALL_PAGES)
def test_a_page_that_comes_back_keeps_its_state_before_the_browser_knows_its_address(
    name: str,
) -> None:
    page = check_page(open_named(name).run())
    whole = control_values(page)
    leave(page)
    page = check_page(page.run())
    assert control_values(page) == whole
    assert dict(page.query_params) != {}
    page.query_params.clear()  # The second click was sent before the address arrived.
    page = check_page(page.run())
    assert control_values(page) == whole
    assert dict(page.query_params) != {}


@pytest.mark.parametrize("name", ALL_PAGES)
def test_an_empty_address_after_the_first_restores_the_defaults(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = check_page(open_named(name).run())
    whole = control_values(page)
    leave(page)
    page = check_page(page.run())
    real_time, later = time.monotonic, 1 + page_state.UNHEARD_SECONDS
    monkeypatch.setattr(page_state.time, "monotonic", lambda: real_time() + later)
    page.query_params.clear()  # This is the Back button.
    page = check_page(page.run())
    assert control_values(page) != whole
    assert (
        page.query_params
        == check_page(
            AppTest.from_string(SCRIPT.format(name), default_timeout=60).run()
        ).query_params
    )


def test_a_control_moved_before_the_browser_knows_the_address_of_the_last_move_keeps_its_value(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    page = check_page(open_named("bounds").run())
    addresses = [dict(page.query_params)]
    # After each move of the slider, the page is given the address it had before the move.
    for value in (3.0, 4.0, 5.0):
        slider = page.select_slider(key="field_p")
        page = check_page(slider.set_value(value).run())
        addresses.append(dict(page.query_params))
        page.query_params = addresses[-2]
    assert [query["p"] for query in addresses[1:]] == ["3", "4", "5"]
    page = check_page(page.run())  # Going back moves no control.
    assert dict(page.query_params) == addresses[-2]
    real_time, later = time.monotonic, 1 + page_state.UNHEARD_SECONDS
    monkeypatch.setattr(page_state.time, "monotonic", lambda: real_time() + later)
    page.query_params = addresses[0]
    page = check_page(page.select_slider(key="field_p").set_value(2.5).run())
    assert dict(page.query_params) == addresses[0]


def test_the_way_back_is_followed_however_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """The browser reports Back or Forward; without that report, the page keeps its opening
    address.
    """
    page = check_page(open_named("bounds").run())
    opened_at = dict(page.query_params)
    page.query_params["p"] = "4"
    page = check_page(page.run())
    page.query_params = opened_at
    page = check_page(page.run())
    assert page.query_params["p"] == "4"
    queries: list[dict[str, str]] = []
    query_params = type(st.query_params)
    say = query_params.from_dict

    def listen(self: Any, query: dict[str, str]) -> None:
        """Record a query, and open the page there."""
        queries.append(query)
        say(self, query)

    monkeypatch.setattr(query_params, "from_dict", listen)
    page.query_params = opened_at
    page.session_state[visit.WAY_BACK] = True
    page = check_page(page.run())
    assert page.select_slider(key="field_p").value == 2.0
    # The browser may have received another address since.
    assert queries == [opened_at] == [dict(page.query_params)]
    page = check_page(page.run())
    assert queries == [opened_at]


def test_the_way_back_is_followed_by_the_next_run_if_a_run_is_stopped_early(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    page = AppTest.from_file(ENTRY, default_timeout=60)
    page.query_params.update(SMALL | {"p": "3"})
    check_page(page.run())
    check_page(page.select_slider(key="field_p").set_value(4.0).run())
    run = SimpleNamespace(is_history_navigation=True)
    with monkeypatch.context() as patch:
        patch.setattr(visit, "get_script_run_ctx", lambda: run)
        patch.setattr(teaching, "apply", st.stop)
        page.query_params["p"] = "3"
        page.run()
    assert page.session_state[visit.WAY_BACK]
    check_page(page.run())
    assert page.select_slider(key="field_p").value == 3.0
    assert visit.WAY_BACK not in page.session_state


def test_going_back_to_another_page_restores_it_from_its_address_alone() -> None:
    page = AppTest.from_string(SCRIPT.format("privacy"), default_timeout=60)
    page.session_state["elsewhere"] = True
    page = check_page(page.run())
    session = Session(DASHBOARD)
    session.open(BOUNDS, {"d": "5"})
    page.session_state[visit.SESSION] = session
    page.session_state["elsewhere"] = False
    page.session_state[visit.WAY_BACK] = True
    page = check_page(page.run())
    assert page.select_slider(key="field_d").value == BASE.d != 5
    assert dict(page.query_params) == {}


def leave(page: AppTest) -> None:
    """The browser reports whether Back or Forward was pressed; without that report, the page keeps
    its opening address.
    """
    page.session_state["elsewhere"] = True
    page.run()
    assert control_values(page) == {}
    page.query_params.clear()
    page.session_state["elsewhere"] = False
