"""The practical tuning answers inside the public ball that contains the mean."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dpsco_core.catalogue import make_method, method_card, methods_for
from dpsco_core.data.rows import DenseRows
from dpsco_core.methods.mean.clipped import SimpleClipping, practical_radius, theorem_radius
from dpsco_core.privacy.ledger import Ledger
from dpsco_core.runs.study import study
from dpsco_core.scenario import Scenario

# With nine records the noise is larger than the set.
TINY = Scenario(
    distribution="pareto",
    n=9,
    d=8,
    p=2.2,
    margin=0.01,
    scale="variance",
    epsilon=1.774,
    delta=6.93e-10,
    diameter=2.866,
    trials=30,
    methods=("mean.clipped",),
)
USERS = replace(TINY, m=2)
PRIVATE = tuple(slug for slug in methods_for("mean", "item") if method_card(slug).privacy != "none")
PRIVATE_USERS = tuple(
    slug for slug in methods_for("mean", "user") if method_card(slug).level == "user"
)


@pytest.mark.parametrize("slug", [*PRIVATE, *PRIVATE_USERS])
def test_no_private_mean_errs_by_more_than_the_diameter_of_the_public_set(slug: str) -> None:
    """The mean and the answer both lie in a ball of the diameter."""
    point = replace(USERS if slug in PRIVATE_USERS else TINY, methods=(slug,))
    assert make_method(slug, "tight", "practical")
    errors = [o.error for o in study(point) if not o.not_applicable]
    assert all(error <= point.diameter * (1 + 1e-9) for error in errors)


def test_practical_tuning_errs_no_more_than_the_theorem_where_noise_dominates() -> None:
    practical, theory = (
        np.mean([o.error for o in study(replace(TINY, tuning=tuning))])
        for tuning in ("practical", "theory")
    )
    assert practical < theory
    assert practical < TINY.diameter < theory  # The answer of theory tuning is not projected.


def test_the_radius_is_the_theorem_s_where_that_is_predicted_to_err_less() -> None:
    setting = TINY.setting
    rho = SimpleClipping().plan(setting).noise.rho
    assert practical_radius(setting, rho) == theorem_radius(setting, rho)
    many_records = replace(setting, n=100_000)
    assert practical_radius(many_records, rho) != theorem_radius(many_records, rho)


@pytest.mark.parametrize("method", [SimpleClipping(radius=50.0), SimpleClipping(tuning="theory")])
def test_a_given_radius_and_the_printed_one_leave_the_answer_unprojected(
    method: SimpleClipping,
) -> None:
    """An optimiser's steps pass a radius, and the noise of their answers cancels."""
    rows, plan = DenseRows(np.zeros((TINY.n, TINY.d))), method.plan(TINY.setting)
    noise = method.release(rows, plan, Ledger(TINY.budget), np.random.default_rng(0)).value
    assert float(np.linalg.norm(noise)) > TINY.diameter / 2
    assert noise == pytest.approx(np.random.default_rng(0).normal(0, plan.noise.noise_std, TINY.d))
