"""The proof by tracing adds up, and the tracing attack finds no more than privacy allows.

A true positive rate is a mean over at least 500 records; by chance alone it exceeds the allowed
rate by 0.1 with a probability far below 1e-6 (Hoeffding over independent data sets).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dpsco_core.base.errors import InvalidInput
from dpsco_core.catalogue import bound
from dpsco_core.explain.tracing import Spied, most_caught, spied, tracing_law, tracing_proof
from dpsco_core.explain.window import of_class
from dpsco_core.privacy.budget import ZCDP, ApproxDP, PureDP
from dpsco_core.scenario import Scenario

POINT = Scenario(distribution="tracing", n=3000, d=40, p=2.5, epsilon=1.0, delta=1e-5, offset=0.0)


@pytest.mark.parametrize(("notion", "row"), [("approx", "approx-tracing"), ("zcdp", "tracing-cdp")])
def test_the_proof_ends_with_the_catalogues_bound_and_its_sides_are_equal_there(notion, row):
    setting = of_class(POINT.setting)
    proof = tracing_proof(setting, notion)
    assert proof.bound == pytest.approx(bound(f"lower.mean.{row}").value(setting), rel=1e-12)
    assert proof.needed(proof.bound) == pytest.approx(proof.allowed, rel=1e-9)
    assert proof.needed(proof.bound / 2) > 2 * proof.allowed > proof.needed(2 * proof.bound)
    assert proof.bound < proof.mean_norm
    assert tracing_proof(setting, notion, 3.0).bound < proof.bound


def test_a_proof_that_a_budget_or_a_law_lacks_is_named():
    with pytest.raises(InvalidInput, match="notion must be zcdp"):
        tracing_proof(replace(POINT.setting, budget=ZCDP(rho=1.0)), "approx")
    with pytest.raises(InvalidInput, match="d must be at least 2"):
        tracing_proof(replace(POINT.setting, d=1), "zcdp")
    with pytest.raises(InvalidInput, match="distribution must be tracing"):
        tracing_law(replace(POINT, distribution="gaussian"))
    with pytest.raises(InvalidInput, match="n times d must be at most"):
        spied(replace(POINT, n=10**6), ("mean.sample",))


def test_the_attack_identifies_records_of_a_sample_mean_and_of_a_private_one_within_the_limit():
    sample, clipped, pure = spied(POINT, ("mean.sample", "mean.clipped", "mean.cwme-pure"))
    for spied_run in (sample, clipped, pure):
        assert len(spied_run.used) == len(spied_run.fresh) >= 500
        assert abs(spied_run.fresh.mean()) < 0.25 and spied_run.fresh.std() < 1.1
    for spied_run in (clipped, pure):
        false, true = spied_run.rates()
        assert (true <= most_caught(POINT.budget, false) + 0.1).all()
    false, true = sample.rates()
    assert (true - most_caught(POINT.budget, false)).max() > 0.1
    assert sample.caught > 0.25 > clipped.caught


def test_a_method_that_cannot_run_gives_its_reason():
    (spied_run,) = spied(replace(POINT, delta=0.0), ("mean.clipped",))
    assert (
        "Gaussian noise" in spied_run.refused
        and len(spied_run.used) == 0
        and np.isnan(spied_run.caught)
    )


def test_rates_are_those_of_thresholds():
    spied_run = Spied(method="", used=np.array([3.0, 1.0]), fresh=np.array([2.0, 0.0]), refused="")
    false, true = spied_run.rates()
    assert false.tolist() == [0, 0, 0.5, 0.5, 1] and true.tolist() == [0, 0.5, 0.5, 1, 1]


@pytest.mark.parametrize("budget", [PureDP(epsilon=0.5), ApproxDP(epsilon=2.0, delta=1e-3)])
def test_the_limit_is_symmetric_and_attained_by_randomised_response(budget):
    x = np.linspace(0, 1, 101)
    allowed = most_caught(budget, x)
    # Swapping the two hypotheses gives the same curve: 1 - x at the false-positive rate 1 - f(x).
    returned = most_caught(budget, 1 - allowed[:-1])
    np.testing.assert_allclose(returned, 1 - x[:-1], atol=1e-9)
    ceiling = np.exp(budget.epsilon) / (1 + np.exp(budget.epsilon))
    assert most_caught(budget, np.array([1 - ceiling]))[0] >= ceiling * (1 - 1e-12)
    assert (np.diff(allowed) >= -1e-12).all()


def test_under_zcdp_the_limit_is_the_curve_of_two_shifted_normals():
    caught = most_caught(ZCDP(rho=0.5), np.array([0.0, 0.158655, 1.0]))
    np.testing.assert_allclose(caught, [0.0, 0.5, 1.0], atol=1e-5)
