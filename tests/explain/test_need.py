"""The number of records for a target error: the error there is the target, or there is no
answer.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest

from dpsco_core.base.errors import InvalidInput, NotApplicable
from dpsco_core.base.law_classes import COORDINATE
from dpsco_core.bounds.classes import binding
from dpsco_core.catalogue import bound
from dpsco_core.cli.main import main
from dpsco_core.explain.need import Need, error_in_units, error_in_words, in_words, need
from dpsco_core.explain.need.runs import first_users
from dpsco_core.explain.need.search import Floor, _required_values
from dpsco_core.results.report import evaluate_all
from dpsco_core.results.tables import frame, summary
from dpsco_core.runs.study import study
from dpsco_core.scenario import Scenario

LINE = Scenario(distribution="gaussian", n=500, d=1, methods=("mean.sample",), offset=0.0)
SMALL = Scenario(n=2000, d=3, methods=("mean.clipped",))


ALL_NOTIONS = {"algorithm", "(epsilon, delta)-DP algorithm"}
PLAIN = Need(
    method="mean.adaptive", unknown="n", target=0.1, near=1.0, slope=-0.5, trials=64, floors=()
)


def exact(scenario: Scenario, target: float) -> float:
    """Return the n at which the median error of the mean of n normal records on a line equals the
    target.
    """
    spread = math.sqrt(scenario.instance.problem.distribution.variance_trace)  # type: ignore[union-attr]
    return (NormalDist().inv_cdf(0.75) * spread / target) ** 2


def test_the_answer_is_the_known_n_for_the_target() -> None:
    """Answers with 15 seeds are compared with the exact n.

    An interval that misses with probability at most 0.13 misses 11 or more of 15 with probability
    1e-6; five standard errors bound the mean of ln n. No seed is refused.
    """
    answer = [need(replace(LINE, seed=seed), "mean.sample", 0.03) for seed in range(15)]
    true = exact(LINE, 0.03)
    missed = sum(not row.low <= true <= row.high for row in answer)
    assert missed < 11
    logs = np.log([row.value for row in answer]) - math.log(true)
    assert abs(logs.mean()) < 5 * logs.std() / math.sqrt(len(logs)) + 0.05
    assert logs.std() < 0.4


@pytest.mark.parametrize(
    ("scenario", "target"),
    [
        (SMALL, 0.1),
        (replace(SMALL, problem="quadratic", methods=("sco.clipped",), n=500), 0.02),
    ],
)
def test_the_median_error_of_fresh_runs_at_the_answer_is_the_target(
    scenario: Scenario, target: float
) -> None:
    """At the ends of the doubled interval 400 fresh runs are made, for an alarm rate of 1e-6."""
    (method,) = scenario.methods
    answer = need(scenario, method, target)
    assert answer.side == "inside"
    wide = answer.high / answer.low
    fresh = replace(scenario, trials=400, seed=99)
    small, records = (
        summary(frame(study(replace(fresh, n=max(1, round(n))))))["median_error"].iloc[0]
        for n in (answer.value / wide, answer.value * wide)
    )
    assert records < target < small


def test_more_trials_narrow_the_interval() -> None:
    few_trials, many_trials = (
        need(SMALL, "mean.clipped", 0.1, trials=trials) for trials in (16, 400)
    )
    assert (few_trials.trials, many_trials.trials) == (16, 400)
    assert many_trials.high / many_trials.low < few_trials.high / few_trials.low
    for trials in (15, 10_001):
        with pytest.raises(InvalidInput, match="trials must be an integer between 16 and 10,000"):
            need(SMALL, "mean.clipped", 0.1, trials=trials)


def test_the_command_takes_the_trials_that_it_is_given(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["need", "--error", "0.1", "--method", "mean.clipped", "--n", "200", "--d", "1"]
    assert main([*words, "--trials", "50", "--seed", "1", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["needs"][0]["trials"] == 50


def test_an_easier_target_or_a_larger_budget_never_takes_more_records() -> None:
    """Common random numbers remove all chance from the comparison."""
    by_target = [need(SMALL, "mean.clipped", e).value for e in (0.05, 0.08, 0.12, 0.2)]
    assert by_target == sorted(by_target, reverse=True)
    budgets = (0.2, 0.5, 1.0, 3.0)
    by_budget = [need(replace(SMALL, epsilon=e), "mean.clipped", 0.1).value for e in budgets]
    assert by_budget == sorted(by_budget, reverse=True)


def test_records_and_budget_are_inverse_questions() -> None:
    """The epsilon found for the answer's n is the scenario's own."""
    records = need(SMALL, "mean.clipped", 0.1)
    returned = need(
        replace(SMALL, n=int(records.value), epsilon=3.0), "mean.clipped", 0.1, "epsilon"
    )
    assert returned.low / 1.5 < 1.0 < returned.high * 1.5
    concentrated = replace(SMALL, rho=0.1, epsilon=None, delta=None)
    rho = need(concentrated, "mean.clipped", 0.1, "rho")
    assert rho.side == "inside"
    assert rho.low <= rho.value <= rho.high


def test_a_plateau_is_refused_with_one_sentence() -> None:
    """No budget removes the sampling error of n records."""
    answer = need(replace(SMALL, n=500), "mean.clipped", 0.001, "epsilon")
    assert answer.side == "plateau"
    assert math.isnan(answer.value)
    sentence = in_words(answer)[0]
    assert "hardly depends on the privacy budget" in sentence
    assert sentence.count(". ") == 0


def test_values_out_of_range_are_named() -> None:
    too_small = need(SMALL, "mean.clipped", 1e-4, elements=60_000)
    assert (too_small.side, too_small.limit) == ("above", 20_000)
    assert "more than 20,000 records" in in_words(too_small)[0]
    too_large = need(replace(SMALL, n=4), "mean.clipped", 1e4)
    assert (too_large.side, too_large.limit) == ("below", 1)


def test_at_an_unreachable_target_a_proven_lower_bound_exceeds_it() -> None:
    answer = need(SMALL, "mean.clipped", 0.05)
    floor_told = next(f for f in answer.floors if f.laws == COORDINATE.words)
    floor = int(floor_told.value)
    assert 1 < floor < answer.value
    lower = bound(floor_told.bound)
    fewer, is_enough = (replace(SMALL, n=n).setting for n in (floor * 99 // 100 - 1, floor + 1))
    assert lower.value(fewer) > 0.05 >= lower.value(is_enough)
    assert f"fewer than {floor:,}" in " ".join(in_words(answer))


@pytest.mark.parametrize("problem", ["mean", "logistic", "quadratic"])
@pytest.mark.parametrize("distribution", ["student-t", "hypercube"])
def test_a_smaller_sample_is_a_prefix_of_a_larger_one(problem: str, distribution: str) -> None:
    """The claim also holds across the end of a block, which has 6,553 records at this dimension."""
    point = Scenario(problem=problem, distribution=distribution, d=15, n=7000)
    problem_made: Any = point.instance.problem

    def draw(n: int) -> np.ndarray:
        """Return the first n records, or their gradients."""
        rng = np.random.default_rng(3)
        instance = problem_made.draw(rng)
        if problem == "mean":
            return first_users(instance, n, 1, rng).x
        sample = first_users(instance, n, 1, rng)
        return np.concatenate(list(sample.gradients(np.full(15, 0.1)).blocks()))  # type: ignore[union-attr]

    records = draw(7000)
    for n in (1, 100, 6553, 6554):
        np.testing.assert_array_equal(draw(n), records[:n])


def test_users_are_counted_as_users() -> None:
    point = Scenario(
        problem="quadratic",
        methods=("user.clipped-means",),
        n=500,
        m=5,
        d=3,
        distribution="gaussian",
    )
    answer = need(point, "user.clipped-means", 0.03)
    assert answer.side == "inside"
    assert f"about {answer.value:,} users" in in_words(answer, users=True)[0]
    # Huber's loss is clipped item by item, which has a bias: its error stays at 0.01.
    regression = replace(point, problem="huber", distribution="student-t")
    flat = need(regression, "user.clipped-means", 0.005, elements=300_000)
    assert flat.side == "plateau"
    assert "hardly falls as users are added" in in_words(flat, users=True)[0]


def test_invalid_arguments_are_refused() -> None:
    cases: tuple[tuple[dict[str, Any], str], ...] = (
        ({"target": 0.0}, "error must be"),
        ({"target": math.nan}, "error must be"),
        ({"unknown": "rho"}, "unknown must be"),
        ({"unknown": "d"}, "unknown must be"),
        ({"method": "mean.sample", "unknown": "epsilon"}, "method must be a private one"),
        ({"method": "sco.clipped"}, "method must be"),
    )
    for change, message in cases:
        arguments: dict[str, Any] = {"method": "mean.clipped", "target": 0.1} | change
        with pytest.raises(InvalidInput, match=message):
            need(SMALL, **arguments)
    with pytest.raises(NotApplicable):
        need(replace(SMALL, delta=0.0), "mean.clipped", 0.1)


def test_the_sentences_have_the_computed_numbers() -> None:
    answer = Need(
        method="mean.clipped",
        unknown="n",
        target=0.05,
        side="inside",
        value=12_345,
        low=10_000,
        high=14_000,
        near=12_000,
        slope=-0.5,
        trials=64,
        floors=(
            Floor(
                value=math.inf,
                bound="lower.mean.hypercube-cdp",
                binds="zCDP algorithm (rho=0.5)",
                laws=COORDINATE.words,
            ),
        ),
    )
    message, floor = in_words(answer)
    assert "about 12,345 records" in message
    assert "10,000 to 14,000" in message
    assert "any number of records" in floor
    assert "no zCDP algorithm (rho=0.5) can guarantee" in floor
    assert "worst case over all distributions with these moments in every coordinate" in floor


@pytest.mark.parametrize(
    ("budget", "binds", "other_notions"),
    [
        ({}, ALL_NOTIONS, ("zCDP", "pure")),
        ({"delta": 0.0}, {*ALL_NOTIONS, "pure DP algorithm (epsilon=1)"}, ("zCDP",)),
        ({"epsilon": None, "delta": None, "rho": 0.03}, {"zCDP algorithm (rho=0.03)"}, ("pure",)),
    ],
    ids=["approximate", "pure", "concentrated"],
)
def test_a_lower_bound_is_for_the_budget_of_the_scenario_and_names_its_algorithms(
    budget: dict[str, Any], binds: set[str], other_notions: tuple[str, ...]
) -> None:
    """Under (1, 1e-6) the bound by tracing for zCDP gave 2,370 records, but applies to zCDP
    only.
    """
    base = replace(Scenario(methods=("mean.adaptive",), d=20), **budget)
    (floor, *_) = _required_values(base, "n", 0.1)
    assert floor.binds in binds
    assert floor.laws == COORDINATE.words
    fewer, is_enough = (replace(base, n=int(floor.value) + step) for step in (-5, 1))
    values = [
        max(
            e.value
            for e in evaluate_all(point)
            if (e.bound.card.kind, e.bound.card.constant) == ("lower", "explicit")
            and e.bound.card.quantity == "l2 error"
            and e.bound.card.laws == COORDINATE
            and e.bound.card.privacy in binding(point.budget)
            and not e.failures
        )
        for point in (fewer, is_enough)
    ]
    assert values[0] > 0.1 >= values[1]
    message = in_words(replace(PLAIN, floors=(floor,)))[1]
    assert f"no {floor.binds} can guarantee" in message
    assert not any(other in message for other in other_notions)


def test_a_bound_on_private_algorithms_is_not_applied_to_a_method_without_privacy() -> None:
    for floor in _required_values(Scenario(methods=("mean.sample",), d=20), "n", 0.1):
        assert bound(floor.bound).card.privacy == "none"
        assert floor.binds == "algorithm"


def test_a_budget_that_is_sought_is_not_reported_as_the_scenarios() -> None:
    base = Scenario(methods=("mean.adaptive",), d=20, epsilon=None, delta=None, rho=0.03)
    (floor, *_) = _required_values(base, "rho", 0.1)
    assert floor.binds == "zCDP algorithm"


def test_an_error_is_shown_with_the_spread_of_the_data() -> None:
    """The standard deviation is recomputed from draws: that of Gaussian data at p = 3."""
    point = Scenario(distribution="gaussian", d=4)
    draws = np.concatenate(
        list(point.instance.law.sample(100_000, np.random.default_rng(0)).blocks())
    )
    spread = float(np.std(draws[:, 0]))
    assert error_in_units(point, 0.2, "sd") == pytest.approx(0.2 * spread, rel=0.02)
    assert error_in_units(point, 0.2, "moment") == 0.2
    wide = replace(point, d=16)
    assert error_in_units(wide, 0.2, "sd-per-coordinate") == 4 * error_in_units(wide, 0.2, "sd")
    words = error_in_words(point, 0.2)
    [total, part] = [float(x) for x in re.findall(r"([\d.]+) (?:standard|in each of 4)", words)]
    assert total == pytest.approx(0.2 / spread, rel=0.02) and part == pytest.approx(total / 2, 0.01)
    assert "no variance" in error_in_words(Scenario(p=1.5, margin=0.2), 0.2)
    logistic = Scenario(problem="logistic", methods=())
    assert "the answer 0, which sees no data, has 0." in error_in_words(logistic, 0.1)
    for refused in (Scenario(p=1.5, margin=0.2), logistic):
        with pytest.raises(InvalidInput, match="error-unit must be moment"):
            error_in_units(refused, 0.2, "sd")
    with pytest.raises(InvalidInput, match="error-unit must be one of moment, sd, "):
        error_in_units(point, 0.2, "km")


def test_the_command_takes_an_error_in_standard_deviations(
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = ["need", "--n=500", "--d=1", "--distribution=gaussian", "--method=mean.sample"]
    assert main([*words, "--error", "0.05", "--error-unit", "sd", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    spread = math.sqrt(Scenario(distribution="gaussian", d=1).instance.law.variance_trace)
    assert document["error"] == pytest.approx(0.05 * spread)
    assert document["error_in_standard_deviations"] == pytest.approx(0.05)
    # The median of |N(0, 1)| / sqrt(n) deviations is 0.05 at n = (0.6745 / 0.05)^2 = 182.
    assert document["needs"][0]["value"] == pytest.approx(182, rel=0.5)
    assert main([*words, "--error", "0.05", "--error-unit", "sd"]) == 0
    text = capsys.readouterr().out
    assert "0.05 standard deviations of a coordinate" in " ".join(text.split())
    assert max(map(len, text.splitlines())) <= 100
