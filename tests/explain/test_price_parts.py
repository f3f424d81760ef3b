"""Parts of a price due to clipping and to noise: from the ledger, and from runs without noise."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dpsco_core.catalogue import METHODS
from dpsco_core.explain.error_parts import price_parts
from dpsco_core.methods.mean import SimpleClipping
from dpsco_core.methods.records.base import clipped_mean
from dpsco_core.runs.study import Outcome, study
from dpsco_core.scenario import Scenario

POINT = Scenario(
    distribution="hypercube",
    p=2.0,
    methods=("mean.clipped", "mean.adaptive"),
    axis=None,
    grid=(),
    trials=40,
)
PRICE = 3.0


def runs_of(point: Scenario, slug: str) -> list[Outcome]:
    """Run a point; return the outcomes of one method."""
    return [o for o in study(point) if o.method == slug]


@pytest.mark.parametrize("law", ["hypercube", "gaussian"])
def test_the_parts_agree_with_clipped_averages_without_noise(law: str) -> None:
    point = replace(POINT, distribution=law)
    outcomes = runs_of(point, "mean.clipped")
    parts = price_parts(PRICE, outcomes, point)
    assert parts is not None and parts.price == pytest.approx(PRICE)
    radius = SimpleClipping().plan(point.setting).statistic.radius
    rng, errors = np.random.default_rng(1), []
    for _ in range(200):
        problem = point.instance.problem.draw(rng)
        average = clipped_mean(problem.sample(point.n, rng), radius)
        errors.append(float(np.linalg.norm(average - problem.law.mean)))
    private = np.sqrt(np.mean(np.square([o.error for o in outcomes])))
    factor = np.sqrt(np.mean(np.square(errors))) / private
    # A private squared error has at most d = 20 degrees of freedom in each of 40 trials.
    assert (1 + parts.clipping) / PRICE == pytest.approx(factor, rel=0.15)
    assert parts.noise > 0.3


def test_on_the_hardest_data_nearly_all_of_adaptive_clippings_price_is_clipping() -> None:
    parts = price_parts(PRICE, runs_of(POINT, "mean.adaptive"), POINT)
    assert parts is not None
    assert parts.clipping == pytest.approx(PRICE - 1, rel=0.05) and 0 < parts.noise < 0.05


def test_no_parts_are_given_where_the_runs_do_not_determine_them() -> None:
    outcomes = runs_of(POINT, "mean.clipped")
    assert price_parts(PRICE, outcomes[:3], POINT) is None
    coordinatewise = replace(POINT, methods=("mean.cwme-cdp",))
    assert price_parts(PRICE, runs_of(coordinatewise, "mean.cwme-cdp"), coordinatewise) is None
    # A method of a plugin need not report its noise.
    silent = [replace(o, diagnostics={}) for o in outcomes]
    assert price_parts(PRICE, outcomes, POINT) and price_parts(PRICE, silent, POINT) is None
    # The noise is so large that projection on the public ball reduces it.
    loud = replace(POINT, epsilon=0.02, n=2000)
    assert price_parts(PRICE, runs_of(loud, "mean.clipped"), loud) is None
    # The noise makes up nearly all of the error, so the rest is hidden by the variation over
    # trials.
    scarce = replace(POINT, distribution="student-t", trials=10)
    assert price_parts(PRICE, runs_of(scarce, "mean.clipped"), scarce) is None


def test_every_method_that_clips_an_average_of_records_reports_its_noise() -> None:
    slugs = [m.card.slug for m in METHODS if m.clipped_values == "records"]
    assert len(slugs) == 3
    point = replace(POINT, methods=tuple(slugs), trials=1)
    for outcome in study(point):
        assert outcome.not_applicable or outcome.diagnostics["noise_std"] > 0
    for descent in (m for m in METHODS if m.clipped_values == "gradients"):
        assert "gradient" in descent.card.summary
