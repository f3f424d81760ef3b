"""Lines that a visitor asks for on Explore: a bound by name, and a formula of one's own."""

from __future__ import annotations

import pytest

from dpsco_app.parts.running import evaluations
from dpsco_app.parts.traces import bound_name
from dpsco_core.base.formula import parse_formula
from dpsco_core.catalogue import bound
from dpsco_core.results.overlay import letters_of
from dpsco_core.scenario import Scenario
from tests.app.pages import checked, chosen, figure, open_page, trace_names

NAMED = "upper.mean.clipped-paper"  # of no view, and far above the measured errors
BOTH = {"methods": "mean.sample,mean.clipped", "trials": "2"}


def test_a_formula_of_the_address_is_a_line_with_its_values() -> None:
    page = open_page(formula="sqrt(d/n) + d/(n*sqrt(ρ))", **BOTH)
    drawn = figure(page)
    (line,) = [t for t in drawn["data"] if t.get("name") == "Your formula"]
    formula = parse_formula("sqrt(d/n) + d/(n*sqrt(rho))")
    points = [point for _, point in chosen(page).points()]
    assert line["y"] == pytest.approx([formula.value(letters_of(p)) for p in points])
    low, high = drawn["layout"]["yaxis"]["range"]
    assert all(10**low < y < 10**high for y in line["y"])


def test_rho_is_what_epsilon_and_delta_leave_to_noise_and_lacking_letters_are_no_number() -> None:
    point = Scenario(n=100, epsilon=1.0, delta=1e-6)
    assert letters_of(point)["rho"] == point.setting.gaussian_rho
    concentrated = letters_of(Scenario(epsilon=None, delta=None, rho=0.5))
    assert concentrated["rho"] == 0.5 and concentrated["epsilon"] != concentrated["epsilon"]


def test_a_bound_of_the_address_is_drawn_whatever_the_views() -> None:
    page = open_page(bound=NAMED, show="none", **BOTH)
    drawn = figure(page)
    name = bound_name(bound(NAMED).card)
    (line,) = [t for t in drawn["data"] if t.get("name") == name]
    values = [e.value for e in evaluations(chosen(page), (NAMED,))]
    assert line["y"] == pytest.approx(values)
    assert 10 ** drawn["layout"]["yaxis"]["range"][1] > max(values)
    (button,) = [b for b in page.button if b.key == "remove_bound"]
    checked(button.click().run())
    assert name not in trace_names(figure(page)) and "bound" not in page.query_params


def test_what_is_typed_is_drawn_or_refused_in_a_sentence() -> None:
    page = open_page(**BOTH)
    typed = page.text_input(key="formula_typed")
    checked(typed.set_value("__import__('os')").run())
    assert "formula must be made of" in " ".join(e.value for e in page.error)
    checked(page.text_input(key="formula_typed").set_value("1/(n*m*0)").run())
    assert "positive and finite" in " ".join(e.value for e in page.error)
    checked(page.text_input(key="formula_typed").set_value("1/sqrt(n)").run())
    assert page.query_params["formula"] == "1/sqrt(n)"
    assert "Your formula" in trace_names(figure(page))


def test_a_formula_that_cannot_be_read_is_said_and_left_out() -> None:
    page = open_page(formula="n.real", **BOTH)
    assert "formula must be" in " ".join(w.value for w in page.warning)
    assert "Your formula" not in trace_names(figure(page))


def test_a_bound_of_something_else_is_not_drawn() -> None:
    page = open_page(bound="upper.sco.clipped", **BOTH)
    assert bound_name(bound("upper.sco.clipped").card) not in trace_names(figure(page))
    assert not [b for b in page.button if b.key == "remove_bound"]
