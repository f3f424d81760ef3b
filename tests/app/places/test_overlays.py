"""Lines that a visitor asks for on Explore: a bound by name, and a formula of one's own."""

from __future__ import annotations

import io
import json
import math
import re
from contextlib import redirect_stdout
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from dpsco_app.figure.methods import short_names
from dpsco_app.front.bound_lines import class_name, short_name
from dpsco_app.front.figure import front_figure
from dpsco_app.front.study import Study
from dpsco_app.front.view import View
from dpsco_app.pages.explore.details import signed
from dpsco_app.parts.evaluations import evaluations
from dpsco_app.parts.options import VIEWS
from dpsco_app.session.result import Result
from dpsco_core.base.errors import InvalidInput
from dpsco_core.base.formula import parse_formula
from dpsco_core.catalogue import BOUND_SLUGS, bound, method_card
from dpsco_core.geometry.width import largest_absolute_mean
from dpsco_core.results.notebook import run_notebook
from dpsco_core.results.overlay import check_drawable, letters_of
from dpsco_core.runs.study import study
from dpsco_core.scenario import Scenario
from tests.app.pages import (
    address_scenario,
    check_page,
    first_figure,
    ladder_numbers,
    open_page,
    trace_names,
)

# The row of this bound belongs to no view, and is far above the measured errors.
NAMED_BOUND = "upper.mean.clipped-paper"
NAME = class_name(evaluations(Scenario(methods=("mean.clipped",)), (NAMED_BOUND,)))
TWO_METHODS = {"methods": "mean.sample,mean.clipped", "trials": "2"}


def line_of(page: AppTest, name: str) -> dict[str, Any]:
    """Return the only line of the page's figure that has a given name."""
    (line,) = [t for t in first_figure(page)["data"] if t.get("name") == name]
    return line


def test_a_formula_of_the_address_is_a_line_with_its_values() -> None:
    page = open_page(formula="sqrt(d/n) + d/(n*sqrt(ρ))", **TWO_METHODS)
    formula = parse_formula("sqrt(d/n) + d/(n*sqrt(rho))")
    points = [point for _, point in address_scenario(page).points()]
    expected = [formula.value(letters_of(p)) for p in points]
    # The line has one more point on each side, at the edges of the figure.
    assert line_of(page, "Your formula")["y"][1:-1] == pytest.approx(expected)
    assert "Your formula" in ladder_numbers(page)
    low, high = first_figure(page)["layout"]["yaxis"]["range"]
    assert all(10**low < y < 10**high for y in expected)


def test_rho_follows_from_epsilon_and_delta_and_a_missing_letter_gives_nan() -> None:
    point = Scenario(n=100, epsilon=1.0, delta=1e-6)
    assert letters_of(point)["rho"] == point.setting.gaussian_rho
    concentrated = letters_of(Scenario(epsilon=None, delta=None, rho=0.5))
    assert concentrated["rho"] == 0.5 and concentrated["epsilon"] != concentrated["epsilon"]


def test_a_bound_of_the_address_is_drawn_whatever_the_views() -> None:
    page = open_page(bound=NAMED_BOUND, show="none", **TWO_METHODS)
    values = [e.value for e in evaluations(address_scenario(page), (NAMED_BOUND,))]
    assert line_of(page, NAME)["y"][1:-1] == pytest.approx(values)
    assert float(ladder_numbers(page)[NAME][0]) in [pytest.approx(v, rel=0.05) for v in values]
    check_page(page.selectbox(key="bound_typed").set_value("").run())
    assert NAME not in trace_names(first_figure(page)) and "bound" not in page.query_params


def test_a_typed_formula_is_drawn_or_refused_in_one_sentence() -> None:
    page = open_page(**TWO_METHODS)
    typed = page.text_input(key="formula_typed")
    check_page(typed.set_value("__import__('os')").run())
    assert "formula must be made of" in " ".join(e.value for e in page.error)
    check_page(page.text_input(key="formula_typed").set_value("1/(n*m*0)").run())
    assert "positive and finite" in " ".join(e.value for e in page.error)
    check_page(page.text_input(key="formula_typed").set_value("1/sqrt(n)").run())
    assert page.query_params["formula"] == "1/sqrt(n)"
    assert "Your formula" in trace_names(first_figure(page))


def test_several_formulas_are_lines_of_their_own_and_rows_among_the_slopes() -> None:
    page = open_page(
        formula="1/sqrt(n); D*d/n; n^(-1+1/p)", grid="500,1000,2000", axis="n", **TWO_METHODS
    )
    traces = {t.get("name"): t for t in first_figure(page)["data"]}
    names = [f"Your formula {i}" for i in (1, 2, 3)]
    assert set(names) <= set(traces)
    assert len({traces[name]["line"]["dash"] for name in names}) == 3
    (table,) = [table.value for table in page.table]
    rows = dict(zip(table["Estimator"], table["Fitted"], strict=True))
    p = address_scenario(page).p
    for name, text, slope in zip(
        names, ("1/sqrt(n)", "D*d/n", "n^(-1+1/p)"), (-0.5, -1.0, -1 + 1 / p), strict=True
    ):
        assert rows[f"{name}: `{text}`"] == signed(slope)
    refused = open_page(formula="; ".join(["1/n"] * 5), **TWO_METHODS)
    assert "at most 4, separated by ;, got formula=5 of them" in refused.warning[0].value


def test_sizes_of_the_set_and_constants_of_the_loss_are_letters() -> None:
    lasso = Scenario(
        problem="logistic", methods=(), distribution="hypercube", geometry="l1", d=50, diameter=6.0
    )
    letters = letters_of(lasso)
    assert letters["D"] == 6.0 and letters["L"] == lasso.setting.constants.lipschitz > 0
    assert letters["width"] == lasso.setting.body.gaussian_width().upper
    assert letters["width"] == pytest.approx(3 * largest_absolute_mean(50))
    assert letters["q"] == lasso.setting.exponent and letters["kappa"] != letters["kappa"]
    assert letters_of(Scenario(geometry="lq", q=1.3, methods=()))["q"] == 1.3
    assert letters_of(Scenario(problem="quadratic", methods=()))["kappa"] == 1.0
    heavy = Scenario(problem="least-squares", methods=(), axis="n", grid=(100, 200))
    with pytest.raises(InvalidInput, match="what this scenario has, which is not L, got"):
        check_drawable(heavy, parse_formula("L*D/sqrt(n)"))
    for text, value in (("L*D", letters["L"] * 6), ("κ*q*width", math.nan)):
        number = parse_formula(text).value(letters)
        assert number == pytest.approx(value, nan_ok=True)


def test_an_error_about_a_formula_shows_every_sign() -> None:
    """Signs of a formula are not those of Markdown."""
    page = open_page(**TWO_METHODS)
    check_page(page.text_input(key="formula_typed").set_value("2*n*d*_x_").run())
    (complaint,) = [e.value for e in page.error if "formula must be" in e.value]
    assert r"+ - \* / ^" in complaint or r"\*" in complaint
    assert not re.search(r"(?<!\\)[*_]", complaint)
    address = open_page(formula="2*n*d*_x_", **TWO_METHODS).warning[0].value
    assert not re.search(r"(?<!\\)[*_]", address)


def test_an_unreadable_formula_is_reported_and_ignored() -> None:
    page = open_page(formula="n.real", **TWO_METHODS)
    assert "formula must be" in " ".join(w.value for w in page.warning)
    assert "Your formula" not in trace_names(first_figure(page))


def test_a_bound_on_another_quantity_is_not_drawn() -> None:
    page = open_page(bound="upper.sco.clipped", **TWO_METHODS)
    assert short_name(bound("upper.sco.clipped").card) not in trace_names(first_figure(page))
    assert page.selectbox(key="bound_typed").value == ""


def test_a_notebook_draws_the_lines_of_the_pages_figure() -> None:
    scenario = Scenario(
        methods=("mean.sample", "mean.clipped"), axis="n", grid=(500, 5000), trials=2
    )
    result = Result(scenario=scenario, outcomes=list(study(scenario)))
    view = View(show=",".join(VIEWS), bound=NAMED_BOUND, formula="1/sqrt(n)", card="proof")
    page_figure = front_figure([Study(scenario=scenario, outcomes=result.outcomes)], view)
    (panel,) = page_figure.panels
    lines = {line.name: (line.key,) for line in panel.lines if line.key in BOUND_SLUGS}
    cells = json.loads(
        run_notebook([part.scenario for part in result.parts], lines, view.formulas)
    )["cells"]
    names: dict[str, Any] = {}
    with redirect_stdout(io.StringIO()):
        for cell in cells:
            if cell["cell_type"] == "code":
                exec("".join(cell["source"]), names)
    notebook_lines = {trace.name: list(trace.y) for trace in names["figure"].data}
    page_lines = {line.name: list(line.y) for line in panel.lines if line.opacity == 1}
    assert {NAME, "CDP Fano", "Your formula", "answer without data"} <= set(page_lines)
    notebook_lines["Your formula"] = notebook_lines.pop("1/sqrt(n)")
    notebook_lines["answer without data"] = notebook_lines.pop("Answer without data")
    for m in scenario.methods:
        notebook_lines[short_names(scenario.methods)[m]] = notebook_lines.pop(method_card(m).name)
    assert {name for name, y in notebook_lines.items() if y} == set(page_lines)
    for name, y in page_lines.items():
        assert notebook_lines[name] == pytest.approx(y), name


def test_an_address_without_a_formula_or_bound_empties_their_controls() -> None:
    page = open_page(**TWO_METHODS)
    check_page(page.text_input(key="formula_typed").set_value("d/n").run())
    check_page(page.selectbox(key="bound_typed").select_index(1).run())
    assert "formula" in page.query_params and "bound" in page.query_params
    for name in ("formula", "bound"):
        del page.query_params[name]
    check_page(page.run())
    assert page.text_input(key="formula_typed").value == ""
    assert page.selectbox(key="bound_typed").value == ""
    assert "formula" not in page.query_params and "bound" not in page.query_params
