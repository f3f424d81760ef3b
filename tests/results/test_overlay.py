"""The letters of a formula have one value, at a point and at its setting."""

from __future__ import annotations

import math

import pandas as pd
import pytest

from dpsco_app.pages.explore.details import _formula_row
from dpsco_core.base.formula import parse_formula
from dpsco_core.results.overlay import OF_SETTING, letters_at, letters_of, own_range
from dpsco_core.scenario import Scenario
from tests.golden_sentences import GOLDEN

NAMES = ("n", "d", "m", "p", "epsilon", "delta", "rho", "D", *OF_SETTING)
POINTS = (
    Scenario(problem="logistic", n=500, d=4, methods=()),
    Scenario(diameter=6.0, methods=()),
    Scenario(geometry="linf", d=9, methods=()),
    Scenario(geometry="simplex", d=9, methods=()),
    Scenario(geometry="lq", q=1.5, diameter=0.5, offset=0.0, methods=()),
    Scenario(problem="quadratic", n=500, d=4, epsilon=None, delta=None, rho=0.3, methods=()),
)


@pytest.mark.parametrize("point", POINTS, ids=lambda point: f"{point.problem}-{point.geometry}")
def test_the_letters_of_a_formula_have_the_values_of_the_point(point: Scenario) -> None:
    values = letters_at(point.setting, NAMES)
    assert values == pytest.approx(letters_of(point), nan_ok=True)
    assert values["D"] == pytest.approx(point.diameter)
    constants = point.setting.constants
    assert values["M"] == constants.directional_moment
    for letter, moment in (
        ("G_2", constants.lipschitz_second),
        ("G_p", constants.lipschitz_moment),
    ):
        assert values[letter] == moment or (math.isinf(moment) and math.isnan(values[letter]))


def test_a_mean_has_no_lipschitz_constant() -> None:
    values = letters_at(Scenario().setting, ("G_2", "G_p", "M"))
    assert math.isnan(values["G_2"]) and math.isnan(values["G_p"]) and values["M"] > 0


def test_a_formula_has_the_range_of_its_terms_and_a_verdict_for_each_method() -> None:
    study = Scenario(axis="n", grid=(100, 1000, 10_000))
    assert own_range(study, parse_formula("1/sqrt(n) + d/n")) == pytest.approx((-1, -0.5))
    assert all(math.isnan(end) for end in own_range(Scenario(), parse_formula("1/n")))
    slopes = {"Steep": -1.5, "Inside": -0.7, "Flat": -0.1}
    fitted = pd.DataFrame(
        [
            {"name": name, "fitted": slope, "low": slope - 0.05, "high": slope + 0.05, "points": 3}
            for name, slope in slopes.items()
        ]
    )
    row = _formula_row(study, "Your formula", "1/sqrt(n) + d/n", fitted)
    assert row["Verdict"] == (GOLDEN["the three verdicts on slopes"])
    assert "to" in row["Predicted"]
