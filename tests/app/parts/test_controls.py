"""Each control changes the scenario and marks the figure as outdated until Run is pressed."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from typing import Any

import pytest

from dpsco_app.figure.theme import Theme
from dpsco_app.front import links
from dpsco_app.front.notice import HARD
from dpsco_app.front.view import View
from dpsco_app.pages.explore.foot import handle
from dpsco_app.parts.controls import ALL_CONTROLS, NOTION, PREFIX
from dpsco_app.parts.fields import FOLDED_AT_FIRST
from dpsco_app.parts.options import OPTIONS, SHOW, VIEWS
from dpsco_app.parts.shown_bounds import shown
from dpsco_app.session.session import CURVES, Session
from dpsco_app.static_page.controls import controls as static_controls
from dpsco_core.base.limits import DASHBOARD
from dpsco_core.catalogue import bound, default_methods, method_card
from dpsco_core.explain.methods.guide import usual_methods
from dpsco_core.scenario import AXES, DEFAULT_GRIDS, Scenario, default_grid
from tests.app.pages import (
    address_scenario,
    check_page,
    first_figure,
    headline_text,
    is_stale,
    ladder_numbers,
    open_page,
    press_button,
    shown_result,
    status_line,
    trace_names,
    written_text,
)
from tests.golden_sentences import GOLDEN

LQ = {"geometry": "lq"}
# For each field: the address at which the page is opened, and the value that the field is set to.
CHANGES: dict[str, tuple[dict[str, str], Any]] = {
    "methods": ({}, ["mean.clipped"]),
    "grid": ({}, [500, 2000]),
    "distribution": ({}, "pareto"),
    "p": ({}, 4),
    "offset": ({}, 0.5),
    "n": ({}, 2000),
    "d": ({}, 5),
    "m": ({"problem": "quadratic"}, 10),
    "epsilon": ({}, 2),
    "delta": ({}, 1e-4),
    "rho": ({"rho": "0.1"}, 0.5),
    "trials": ({}, 10),
    "seed": ({}, 7),
    "tuning": ({}, "theory"),
    "calibration": ({}, "paper"),
    "diameter": ({}, 10),
    "geometry": ({}, "l1"),
    "q": (LQ, 4),
    "margin": ({}, 1),
    "scale": ({}, "variance"),
    "decay": ({}, 1),
    "alike": ({"m": "10", "distribution": "student-t"}, 0.3),
    "axis": ({}, "d"),
    "problem": ({}, "quadratic"),
}
# Fields that make a run long, or need an address of their own, are tested alone.
TESTED_ALONE = ("problem", "alike", "axis", "tuning", "geometry", "m", "rho", "q")
# Changes of these fields to fewer values need no new runs, so they are drawn at once.
RUN_BEFORE = ("methods", "n")
TESTED_TOGETHER = tuple(field for field in CHANGES if field not in TESTED_ALONE)


def test_every_control_has_a_test() -> None:
    assert set(CHANGES) == set(ALL_CONTROLS)


def measured_names(page: Any) -> list[str]:
    """Return the names of the measured lines, without bounds, which follow a change at once."""
    lines = [t for t in first_figure(page)["data"] if t["mode"] == "lines+markers"]
    return [t["name"] for t in lines]


@pytest.mark.parametrize(
    "fields", [TESTED_TOGETHER, *((f,) for f in TESTED_ALONE)], ids=lambda f: f[0]
)
def test_a_control_changes_its_field_marks_the_figure_stale_and_run_clears_it(
    fields: tuple[str, ...],
) -> None:
    page = open_page(**CHANGES[fields[0]][0])
    for field in fields:
        value = CHANGES[field][1]
        old_result = shown_result(page)
        lines = measured_names(page)
        assert not is_stale(page)
        page.get_by_key(PREFIX + field).set_value(value)
        page.run()
        changed = getattr(address_scenario(page), field)
        assert (list(changed) if isinstance(changed, tuple) else changed) == value
        changed_fields = {
            f
            for f in CHANGES
            if getattr(address_scenario(page), f) != getattr(old_result.scenario, f)
        }
        follows = {"axis": {"grid"}, "problem": {"methods"}, "m": {"methods"}}.get(field, set())
        assert changed_fields == {field} | follows
        if field in RUN_BEFORE:
            assert not is_stale(page) and shown_result(page).complete
            assert shown_result(page).scenario == address_scenario(page)
            continue
        assert is_stale(page), field
        # A value that is no longer chosen leaves the figure at once.
        assert shown_result(page) is old_result
        assert [n for n in lines if n in measured_names(page)] == measured_names(page)
        assert measured_names(page) == lines or field in ("m", "problem")
        press_button(page, "Run")
        assert not is_stale(page), field
        assert shown_result(page).complete and shown_result(page).scenario == address_scenario(page)


def test_returning_to_the_old_settings_makes_the_figure_current() -> None:
    page = open_page()
    page.get_by_key("field_d").set_value(5)
    assert is_stale(page.run())
    page.get_by_key("field_d").set_value(20)
    assert not is_stale(page.run())


def test_views_change_the_figure_at_once_and_never_make_it_stale() -> None:
    page = open_page()
    counts = {}
    for views in ([], *([v] for v in VIEWS), list(VIEWS)):
        page.get_by_key(SHOW).set_value(views)
        page.run()
        assert not is_stale(page)
        counts[tuple(views)] = len(trace_names(first_figure(page)))
    assert counts[VIEWS] - counts[()] == sum(counts[v,] - counts[()] for v in VIEWS)
    assert all(counts[v,] > counts[()] for v in VIEWS)


def test_a_new_axis_takes_its_default_grid() -> None:
    page = open_page()
    for axis in ("d", "epsilon", "p", "n"):
        page.get_by_key("field_axis").set_value(axis)
        page.run()
        assert address_scenario(page).grid == DEFAULT_GRIDS[axis]
    page.get_by_key("field_axis").set_value(None)
    page.run()
    assert address_scenario(page).grid == () and "field_grid" not in widget_keys(page)


def widget_keys(page: Any) -> set[str]:
    """Return the keys of the widgets that are shown."""
    kinds = ("select_slider", "selectbox", "number_input", "button_group")
    return {w.key for w in itertools.chain.from_iterable(page.get(k) for k in kinds)}


def test_a_value_survives_while_its_control_is_hidden() -> None:
    page = open_page(epsilon="2", delta="0.0001", offset="0.5", margin="1")
    page.get_by_key(NOTION).set_value("zcdp")
    page.run()
    assert {"field_epsilon", "field_delta"}.isdisjoint(
        widget_keys(page)
    ) and "field_rho" in widget_keys(page)
    assert address_scenario(page).rho == 0.1 and address_scenario(page).epsilon is None
    page.get_by_key(NOTION).set_value("pure")
    page.run()
    assert "field_delta" not in widget_keys(page) and address_scenario(page).delta == 0
    page.get_by_key("field_distribution").set_value("hypercube")
    page.run()
    assert {"field_offset", "field_margin"}.isdisjoint(widget_keys(page))
    page.get_by_key("field_distribution").set_value("student-t")
    page.get_by_key(NOTION).set_value("approx")
    page.run()
    scenario = address_scenario(page)
    assert (scenario.epsilon, scenario.delta) == (2, 1e-4)
    assert (scenario.offset, scenario.margin) == (0.5, 1)
    assert not is_stale(page)


def test_a_zcdp_budget_moves_the_sweep_away_from_epsilon() -> None:
    page = open_page(axis="epsilon", grid="0.5,1")
    page.get_by_key(NOTION).set_value("zcdp")
    page.run()
    assert address_scenario(page).axis == "n" and "ε" not in page.get_by_key("field_axis").options
    assert is_stale(page)


def test_default_methods_follow_the_privacy_notion_and_the_set_and_the_page_says_so() -> None:
    link = {"delta": "0", "problem": "logistic", "trials": "2", "grid": "1000,2000"}
    page = open_page(**link)
    private = [m for m in address_scenario(page).methods if method_card(m).privacy != "none"]
    assert private and all("pure" in method_card(m).budgets for m in private)
    assert GOLDEN["methods that can run under pure DP"] in [c.value for c in page.sidebar.caption]
    assert "cannot run" not in headline_text(page)
    # Default methods change when the notion is changed back, and when a set has methods of its own;
    # chosen methods stay.
    page.get_by_key(NOTION).set_value("approx")
    assert set(address_scenario(check_page(page.run())).methods) == set(default_methods("logistic"))
    page.get_by_key("field_geometry").set_value("lq")
    methods = address_scenario(check_page(page.run())).methods
    assert "These suit this set." in [c.value for c in page.sidebar.caption]
    sets = [method_card(m).geometry for m in methods if method_card(m).privacy != "none"]
    assert sorted(sets) == ["l2", "lq"]
    page = open_page(**link | {"methods": "sco.erm,sco.clipped"})
    assert address_scenario(page).methods == ("sco.erm", "sco.clipped")
    page.get_by_key("field_geometry").set_value("lq")
    assert address_scenario(check_page(page.run())).methods == ("sco.erm", "sco.clipped")


@pytest.mark.parametrize("change", [{"delta": 0.0}, {"geometry": "lq", "q": 1.5}, {}])
@pytest.mark.parametrize("problem", ["mean", "linear"])
def test_a_link_restores_default_and_other_methods(problem: str, change: dict[str, Any]) -> None:
    start = links.BASE if problem == "mean" else links.read({"problem": problem})[0]
    base = replace(start, **change)
    for methods in (default_methods(problem), usual_methods(base, "item"), base.methods[:2]):
        scenario = replace(base, methods=methods)
        assert links.read(links.query(scenario)) == (scenario, [])


def test_the_exponent_control_appears_and_disappears_with_its_geometry() -> None:
    page = open_page(problem="quadratic")
    assert "field_q" not in widget_keys(page) and "q" not in page.get_by_key("field_axis").options
    page.get_by_key("field_geometry").set_value("lq")
    page.run()
    assert (address_scenario(page).geometry, address_scenario(page).q) == ("lq", 1.5)
    page.get_by_key("field_axis").set_value("q")
    page.run()
    assert address_scenario(page).grid == DEFAULT_GRIDS["q"]
    page.get_by_key("field_geometry").set_value("linf")
    page.run()
    assert (address_scenario(page).q, address_scenario(page).axis) == (None, "n")
    page.get_by_key("field_geometry").set_value("lq")
    page.run()
    page.get_by_key("field_q").set_value(math.inf)
    page.run()
    assert address_scenario(page).q == math.inf and is_stale(page)
    press_button(page, "Run")
    assert shown_result(page).complete


def test_groups_of_coordinates_move_the_dimension_to_a_whole_number_of_them() -> None:
    page = open_page(problem="quadratic", d="12", axis="d", grid="2,5,20,50")
    page.get_by_key("field_geometry").set_value("group-l1")
    page.run()
    assert address_scenario(page).d == 10 and address_scenario(page).grid == (5, 20, 50)
    assert not page.error
    page.get_by_key("field_axis").set_value("n")
    page.run()
    page.get_by_key("field_axis").set_value("d")
    page.run()
    assert address_scenario(page).grid == (5, 10, 20, 50, 100)


def test_a_single_point_is_drawn_between_its_bounds() -> None:
    page = open_page(axis="none", grid=None, card="others")
    assert (
        len(measured_names(page))
        == 4
        == len([n for n in ladder_numbers(page) if n in measured_names(page)])
    )
    assert status_line(page).startswith("Measured in 20 runs")
    assert not [t for t in first_figure(page)["layout"]["xaxis"].get("ticktext") or () if t]


def test_the_page_says_that_no_estimator_is_chosen_and_keeps_the_old_figure() -> None:
    page = open_page()
    page.get_by_key("field_methods").set_value([])
    page.run()
    (error,) = page.error
    assert error.value == GOLDEN["no estimator is chosen"]
    assert [b.disabled for b in page.button if b.label == "Run"] == [True]
    assert is_stale(page)


def test_the_page_does_not_call_the_hardest_data_easier_than_the_worst_case() -> None:
    page = open_page(distribution="hypercube")
    assert "easier" not in written_text(page)
    assert HARD in written_text(page) and "on the hardest data known" in headline_text(page)
    assert HARD not in written_text(open_page())
    second_result = shown_result(open_page(against="hardest")).beside
    assert (
        second_result is not None
        and second_result.scenario.distribution == "hypercube"
        and second_result.complete
    )


def test_the_change_offered_for_a_refused_exponent_removes_the_sweep_over_exponents() -> None:
    page = open_page(
        problem="logistic",
        methods="lp.regularized-mirror-descent",
        geometry="lq",
        axis="q",
        grid="1.5,8",
        n="500",
        trials="1",
    )
    assert any("q=8" in o.not_applicable for o in shown_result(page).outcomes if o.not_applicable)
    (button,) = [b for b in page.button if b.key == "change_0"]
    check_page(button.click().run())
    scenario = address_scenario(page)
    assert scenario.axis == "n" and scenario.q in (None, 2.0)
    assert not any(o.not_applicable for o in shown_result(page).outcomes)


def test_the_way_out_under_pure_privacy_is_the_laplace_estimator_and_not_another_budget() -> None:
    page = open_page(
        methods="mean.sample,mean.clipped,mean.cwme-cdp", delta="0", show="lower bounds"
    )
    line_names = set(trace_names(first_figure(page)))
    assert {bound(s).card.privacy for s in shown(address_scenario(page), ("lower bounds",))} == {
        "none",
        "pure",
        "approx",
    }
    assert "proven limit" in line_names and "CDP hypercube" not in line_names
    (button,) = [b for b in page.button if b.label == "Change that"]
    assert button.help == "Runs Coordinate-wise, Laplace instead"
    check_page(button.click().run())
    scenario = address_scenario(page)
    assert scenario.delta == 0 and scenario.methods == ("mean.sample", "mean.cwme-pure")
    assert not any(o.not_applicable for o in shown_result(page).outcomes)


def test_a_method_whose_replacement_is_chosen_already_can_only_be_removed() -> None:
    page = open_page(methods="mean.clipped,mean.cwme-pure", delta="0")
    assert "Change that" not in [b.label for b in page.button]
    press_button(page, "Leave out")
    assert (address_scenario(page).delta, address_scenario(page).methods) == (
        0,
        ("mean.cwme-pure",),
    )


def test_a_sweep_of_an_exponent_has_no_slope() -> None:
    page = open_page(axis="p", grid="2,3,4")
    assert "and has no slope" in written_text(page)
    assert "Fitted |" not in written_text(page)


def test_the_handle_reaches_every_point_of_the_axis_and_no_other() -> None:
    special = {
        "m": {"problem": "huber", "methods": ("user.clipped-means",)},
        "q": {"problem": "huber", "methods": ("sco.erm",), "geometry": "lq", "q": 1.5},
    }
    for axis in AXES:
        fields = special.get(axis, {"methods": ("mean.sample",)})
        grid = default_grid(axis, fields.get("geometry", "l2"))
        scenario = Scenario(axis=axis, grid=grid, **fields)  # type: ignore[arg-type]
        hand = handle(scenario, axis)
        value = getattr(scenario, axis)
        assert hand["values"][hand["at"]] == value and hand["field"] == axis
        reachable = [x for x in hand["values"] if x != value]
        assert all(grid[0] <= x <= grid[-1] for x in reachable) and len(reachable) > 1, axis
        assert list(hand["values"]) == sorted(set(hand["values"])) and set(reachable) <= set(
            OPTIONS[axis]
        )
        assert len(hand["texts"]) == len(set(hand["texts"])) == len(hand["values"])
    off_grid = Scenario(methods=("mean.sample",), n=123, axis="n", grid=(1000, 10_000))
    hand = handle(off_grid, "n")
    # The value 123 is not a point of the axis.
    assert hand["values"][hand["at"]] == 1000 and 123 not in hand["values"]


def test_dragging_m_keeps_the_algorithms_and_the_page_says_what_a_new_level_changes() -> None:
    session = Session(DASHBOARD)
    session.open(CURVES, {})
    at_users = Scenario(problem="quadratic", methods=("sco.clipped",), m=10, axis="m", grid=(1, 10))
    session.show(at_users)
    assert session.choose("m", 100) == ""
    assert session.scenario == replace(at_users, m=100)
    session.change("axis", "n")
    session.change("methods", ["sco.clipped"])
    # The privacy level changes, and the chosen methods support both levels.
    assert session.choose("m", 1) == ""
    remark = session.choose("m", 10)
    methods = session.scenario.methods
    assert set(methods) == set(default_methods("quadratic", "user"))
    names = ", ".join(method_card(m).name for m in default_methods("quadratic", "user"))
    assert remark == f"**Squared distance, several items per user**: algorithms {names}."


def test_the_first_screen_folds_away_advanced_controls() -> None:
    page = open_page()
    (label,) = [e.label for e in page.sidebar.expander if "More settings" in e.label]
    assert "geometry, δ" in label or "=" in label
    folded = {w.key for w in page.sidebar.expander[0].select_slider}
    assert "field_delta" in folded and "field_epsilon" not in folded
    static = static_controls(address_scenario(page), View(), Theme())
    front, rest = static.split("<details id='more'>")
    for field in FOLDED_AT_FIRST:
        assert f"data-field='{field}'" not in front
    assert "data-field='geometry'" in rest and "data-field='delta'" in rest
    assert "geometry, δ" in rest
