"""Tail indices below 2 in the dashboard: the values on offer, the fields that adapt, and the
remarks.
"""

from __future__ import annotations

from dataclasses import replace

from dpsco_app.front.changes import fit_other_fields, slider_values
from dpsco_app.front.fits import with_problem
from dpsco_app.front.notice import NO_VARIANCE, SAME_EXPONENT, to_notice
from dpsco_app.front.view import View
from dpsco_app.parts.presets import PRESETS
from dpsco_core.results.exact import with_exact_errors
from dpsco_core.results.measured import measured
from dpsco_core.runs.study import study
from dpsco_core.scenario import Scenario

HEAVY = Scenario(p=1.5)


def test_the_slider_goes_to_one_point_one_where_the_problem_allows_it():
    assert min(slider_values("p", HEAVY, 1.5)) == 1.1
    logistic = replace(HEAVY, problem="logistic", p=2.0, methods=())
    assert min(slider_values("p", logistic, 2.0)) == 2.0
    # A link to a value that is no longer offered keeps that value.
    assert 2.7 in slider_values("p", replace(HEAVY, p=2.7), 2.7)


def test_a_problem_that_needs_a_variance_takes_p_back_to_two():
    scenario, words = fit_other_fields(replace(HEAVY, problem="logistic"), "problem")
    assert scenario.p == 2.0
    assert "tail index p = 2" in words
    assert scenario.validate() == scenario
    quadratic, words = fit_other_fields(replace(HEAVY, problem="quadratic"), "problem")
    assert quadratic.p == 1.5
    assert "tail index" not in words
    swept = replace(HEAVY, axis="p", grid=(1.5, 2.0, 3.0), problem="logistic")
    assert fit_other_fields(swept, "problem")[0].grid == (2.0, 3.0)


def test_a_page_that_changes_the_problem_takes_p_and_its_sweep_back_too():
    regression = with_problem(replace(HEAVY, axis="p", grid=(1.5, 2.0, 3.0)), "huber", ("huber",))
    assert (regression.p, regression.grid) == (2.0, (2.0, 3.0))
    assert regression.validate() == regression
    low = with_problem(replace(HEAVY, axis="p", grid=(1.2, 1.5)), "huber", ("huber",))
    assert low.validate() == low and min(low.grid) >= 2


def test_data_of_variance_one_are_rescaled_below_two():
    scenario, _ = fit_other_fields(replace(Scenario(scale="variance"), p=1.5), "p")
    assert scenario.scale == "moment"
    assert scenario.validate() == scenario


def test_the_remark_about_p_below_two_appears_only_for_laws_without_a_variance():
    notes = to_notice(HEAVY, View())
    assert SAME_EXPONENT in notes and NO_VARIANCE in notes
    light = to_notice(replace(HEAVY, distribution="gaussian"), View())
    assert SAME_EXPONENT in light and NO_VARIANCE not in light
    usual = to_notice(Scenario(p=2.0), View())
    assert SAME_EXPONENT not in usual and NO_VARIANCE not in usual


def test_the_preset_more_records_never_help_has_a_constant_price():
    preset = next(p for p in PRESETS if p.name == "More records never help")
    assert preset.scenario.p == 1.5
    table = with_exact_errors(measured(study(preset.scenario)), preset.scenario)
    prices = [
        row.price.value
        for (method, _), row in table.items()
        if method == "mean.cwme-cdp" and row.price is not None
    ]
    assert len(prices) == len(preset.scenario.grid)
    # The preset says that the price is "3.5 to 4.2" over sizes that grow a hundredfold.
    assert 3.4 < min(prices) <= max(prices) < 4.3
    errors = [row.mean for (method, _), row in table.items() if method == "mean.sample"]
    # An error that falls like n^(-1/3) is 4.6 times smaller with a hundred times the records.
    assert 4.0 < errors[0] / errors[-1] < 5.0
