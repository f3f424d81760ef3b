"""Exact checks of every private method of the catalogue, in every way in which it is private.

Nothing here names a method: a new one of the catalogue is tried as it is.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dpsco_core.base.errors import NotApplicable
from dpsco_core.catalogue import make_method
from dpsco_core.privacy import Ledger
from tests.trust import checks
from tests.trust.cases import CASES, PRIVATE, Case, case, rows_of, with_rows, with_target
from tests.trust.faults import each_draw

DRAWS = 8000  # The number of draws; 5 % too little noise is then at 6 standard deviations.
WIDE = {"l2": 200, "lq": 60}  # Dimensions at which few runs give many draws.
SPECIAL = (math.nan, math.inf, -math.inf, 1e300, -1e300, 1.7e308, 5e-324, -5e-324, 1e-300, 0.0)
NUMBERS = st.sampled_from(SPECIAL) | st.floats(-5, 5) | st.floats(allow_nan=True)
MOST_STEPS = 5000  # A theorem may ask for 10^5 steps, which take minutes and have equal entries.
BUDGETS: tuple[dict[str, Any], ...] = (
    {"epsilon": 0.8, "delta": 1e-6},
    {"epsilon": None, "delta": None, "rho": 0.3},
    {"epsilon": 0.7, "delta": 0.0},
    {"epsilon": 9.0, "delta": 0.01},
    {"epsilon": 0.1, "delta": 1e-9},
    {"epsilon": None, "delta": None, "rho": 30.0},
)


def replaced_records(name: str, examples: int) -> None:
    """Check neighbours that hypothesis makes: records of few values, of which those of a user are
    replaced.
    """
    place = case(name)
    base = place.crowd(0)
    total, d = rows_of(base).shape

    @settings(
        max_examples=examples,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(
        palette=st.lists(NUMBERS, min_size=1, max_size=4),
        new=st.lists(NUMBERS, min_size=d, max_size=d),
        user=st.integers(0, total // place.point.m - 1),
        target=NUMBERS,
        seed=st.integers(0, 3),
    )
    def holds(palette: list[float], new: list[float], user: int, target: float, seed: int) -> None:
        """Assert that no release changes too much when a user's records are replaced."""
        rng = np.random.default_rng(seed)
        x = rng.choice(palette, (total, d))
        changed_rows, block = x.copy(), slice(user * place.point.m, (user + 1) * place.point.m)
        changed_rows[block] = new
        changed = with_target(with_rows(base, changed_rows), block, target)
        checks.compare(place, with_rows(base, x), changed, seed)

    holds()


@pytest.mark.parametrize("slug", PRIVATE)
def test_replaced_records_move_no_statistic_further_than_the_ledger_says(slug: str) -> None:
    """The records have ties, duplicates, denormals and values that are not numbers, and one record
    or all items of a user are replaced.
    """
    replaced_records(slug, 6)


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_no_search_finds_neighbours_that_exceed_the_sensitivity(name: str) -> None:
    replaced_records(name, 40)


def at_budget(slug: str, budget: dict[str, Any], calibration: str, tuning: str) -> Case | None:
    """Return the case of a method at a budget, or None where the method refuses to run."""
    place = case(slug)
    point = replace(place.point, **({"rho": None} | budget))
    method: Any = make_method(slug, calibration, tuning)  # type: ignore[arg-type]
    changed = replace(place, point=point, method=method, planned=None)
    try:
        changed.plan()
    except NotApplicable:
        return None
    return changed


def spent_at(slug: str, calibrations: tuple[str, ...], tunings: tuple[str, ...]) -> int:
    """Check the ledger at every budget, calibration and tuning; return the number of combinations
    that run.
    """
    runs = 0
    for budget in BUDGETS:
        for calibration in calibrations:
            for tuning in tunings:
                place = at_budget(slug, budget, calibration, tuning)
                if place is None or steps_of(place) > MOST_STEPS:
                    continue
                tape = place.play(place.crowd(0))
                # The papers' conversions are loose, so only the tight calibration spends the whole
                # budget.
                whole = calibration == "tight"
                checks.check_spent(checks.booked(tape), place.point.budget, whole=whole)
                checks.check_books(tape)
                checks.check_scales(checks.booked(tape))
                runs += 1
    return runs


def steps_of(place: Case) -> int:
    """Return the number of steps of gradient descent with a mean estimator; 1 for other methods."""
    plan: Any = place.plan()
    return int(getattr(getattr(plan, "descent", None), "steps", 1))


@pytest.mark.parametrize("slug", PRIVATE)
def test_the_budget_is_spent_to_the_last_digit_and_never_exceeded(slug: str) -> None:
    assert spent_at(slug, ("tight",), ("practical",)) > 0


@pytest.mark.slow
@pytest.mark.parametrize("slug", PRIVATE)
def test_no_calibration_and_no_tuning_exceeds_the_budget(slug: str) -> None:
    assert spent_at(slug, ("tight", "paper"), ("practical", "theory")) > 1


def wide(name: str) -> Case:
    """Return the case of a method in many dimensions."""
    place = case(name)
    kind = "lq" if place.point.geometry == "lq" else "l2"
    return replace(place, point=replace(place.point, d=WIDE[kind]))


# Such a test is quick where a run draws one noisy value, since many draws then cost little.
AT_ONCE = [
    pytest.param(name, marks=[] if case(name).method.stage.at_once else [pytest.mark.slow])
    for name in CASES
]


@pytest.mark.parametrize("name", AT_ONCE)
def test_five_percent_too_little_noise_is_caught(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = wide(name)
    checks.check_noise(place, DRAWS)
    each_draw(monkeypatch, lambda scale, rng: (0.95 * scale, rng))
    with pytest.raises(AssertionError, match="times the ledger's"):
        checks.check_noise(place, DRAWS)


@pytest.mark.parametrize("slug", PRIVATE)
def test_only_methods_that_say_so_choose_their_noise_from_the_data(slug: str) -> None:
    """On data a hundred times as far out the ledger has the same entries, except for a private
    radius.
    """
    place = case(slug)
    if place.point.m == 1:
        # With this many records and this epsilon a private choice of the radius is worth its share.
        place = replace(place, point=replace(place.point, n=3000, epsilon=8.0))
    booked = []
    for scale in (0.01, 1.0):
        ledger = Ledger(place.point.setting.budget)
        rng = np.random.default_rng(1)
        place.method.release(place.crowd(0, scale), place.plan(), ledger, rng)
        booked.append([entry.noise for entry in ledger.entries])
    assert (booked[0] != booked[1]) == place.method.card.private_radius
