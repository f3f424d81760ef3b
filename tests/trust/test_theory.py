"""Explicit bounds against each other: in order, falling where they must, with their limits."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

import pytest

from dpsco_core.bounds import Bound
from dpsco_core.data import StudentT
from dpsco_core.privacy.budget import ZCDP, ApproxDP, Budget, PureDP
from dpsco_core.problems.base import Setting
from tests.bounds import helpers, test_mean_bounds
from tests.bounds.euclidean import helpers as sco_helpers
from tests.bounds.test_independent_lq_user import Case
from tests.folded import one_in
from tests.trust.theory import (
    EXPLICIT,
    RISES,
    RISKS,
    SHUFFLED,
    UPPER,
    disorder,
    random_points,
)

# The rho of a shuffled step falls between epsilon = 3 and 8 by up to a fifth, since the rest of
# delta is divided by 1 + e^epsilon. The step is still private, but its noise is not the least
# possible.
SHUFFLED_RISE = 1.25
# These are the constants of a risk that is not strongly convex, and further changes for a smooth
# and for a rough one.
FLAT = {"strong_convexity": 0.0, "sample_strong_convexity": 0.0}
ROUGH: dict[int, dict[str, float]] = {
    1: {},
    2: {"smoothness": math.inf, "sample_smoothness": math.inf},
}
GROUPS = 10  # The slow suite divides its thousands of settings into this number of groups.


def in_order(points: Iterator[object], fewest: int) -> None:
    """Check that no pair of bounds is in the wrong order, and that at least `fewest` pairs were
    compared.
    """
    compared_pairs = [disorder(point) for point in points]  # type: ignore[arg-type]
    wrong = [pair for pairs, _ in compared_pairs for pair in pairs]
    assert not wrong, "\n".join(wrong)
    assert sum(compared for _, compared in compared_pairs) >= fewest


@pytest.mark.parametrize(("mean", "risks"), one_in(2, [(40, 1), (294, 6)]))
def test_no_explicit_lower_bound_is_above_an_explicit_upper_bound_of_its_class(
    mean: int, risks: int
) -> None:
    in_order(random_points(mean, 1, ("mean",)), 6 * mean)
    in_order(random_points(risks, 4, RISKS), 10 * risks)


@pytest.mark.slow
@pytest.mark.parametrize("group", range(GROUPS))
def test_no_lower_bound_is_above_an_upper_bound_at_ten_thousand_settings(group: int) -> None:
    in_order(random_points(800, 10 + group, ("mean",)), 5000)
    in_order(random_points(200, 30 + group, RISKS), 1000)


def test_a_lower_bound_that_is_too_large_would_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """The planted fault multiplies the squared error of the best form by thirty, which
    is too much.
    """
    honest = Bound.value
    monkeypatch.setattr(
        Bound,
        "value",
        lambda b, setting: honest(b, setting) * (30 if b.card.kind == "lower" else 1),
    )
    with pytest.raises(AssertionError, match=r"lower\.mean"):
        in_order(random_points(20, 3, ("mean",)), 1)


def settings(area: str, count: int, seed: int) -> Iterator[Setting]:
    """Yield settings in which the explicit rows of an area hold."""
    if area == "mean":
        for setting in test_mean_bounds.random_settings(count, seed):
            yield setting
            yield replace(setting, moment_order=1.5)
    elif area == "lp":
        for i in range(count):
            yield Case(seed + i, [1.0, 1.5, 2.0, 3.0], lipschitz=i % 2 == 0).setting
    else:
        user = area == "user"
        budgets = ("approx", "pure") if user else ("zcdp", "approx", "pure")
        for i, setting in enumerate(sco_helpers.random_settings(count, seed, budgets)):
            point = replace(setting, m=7, n=max(setting.n, 2000)) if user else setting
            yield point
            for structure in ("linear", point.constants.structure):
                constants = replace(point.constants, structure=structure)
                yield replace(point, moment_order=1.5, constants=constants)
            if i % 3 == 0:
                yield replace(point, constants=replace(point.constants, **FLAT, structure="linear"))
            elif not user:
                yield replace(setting, constants=replace(setting.constants, **FLAT, **ROUGH[i % 3]))


def rows_of(area: str) -> list[Bound]:
    """Return the explicit rows of an area."""
    return [b for b in EXPLICIT if b.card.slug.split(".")[1].removesuffix("-strong") == area]


def larger(budget: Budget) -> Budget:
    """Return a budget with twice the rho, or twice the epsilon."""
    return ZCDP(rho=2 * budget.rho) if isinstance(budget, ZCDP) else double(budget)


def double(budget: Budget) -> Budget:
    """Return the budget with twice its epsilon."""
    return replace(budget, epsilon=2 * budget.epsilon)  # type: ignore[union-attr,call-arg]


def falls(bound: Bound, setting: Setting, changed: Setting) -> bool:
    """Return whether a bound holds at both settings; fail if it rises from the first to
    the second.
    """
    if bound.failures(setting) or bound.failures(changed):
        return False
    # Below p = 2 the best instance is sought on a grid of spike probabilities.
    allowed = RISES.get(bound.card.slug, 1 + (1e-9 if setting.moment_order >= 2 else 1e-6))
    if bound.card.method in SHUFFLED and isinstance(setting.budget, ApproxDP):
        allowed = max(allowed, SHUFFLED_RISE)
    old_value, new_value = bound.value(setting), bound.value(changed)
    assert new_value <= old_value * allowed, (
        f"{bound.card.slug}: {old_value} -> {new_value} at {changed}"
    )
    return True


def check_falling(area: str, count: int) -> set[str]:
    """Return the slugs of the explicit rows that fall with n and the budget; fail if one rises, or
    if a lower bound rises with p.
    """
    slugs = set()
    for base in settings(area, count, 3):
        for bound in rows_of(area):
            setting = helpers.on_own_set(bound, base)
            changes = [
                replace(setting, n=2 * setting.n),
                replace(setting, budget=larger(setting.budget)),
            ]
            if bound.card.kind == "lower" and setting.constants.coordinate_moment == 1:
                # The class of laws for a larger p is part of the class for a smaller p.
                changes.append(replace(setting, moment_order=1.5 * setting.moment_order))
            if sum(falls(bound, setting, changed) for changed in changes):
                slugs.add(bound.card.slug)
    return slugs


@pytest.mark.parametrize(("area", "count"), [("mean", 3), ("sco", 1), ("lp", 1)])
def test_explicit_bounds_fall_with_the_records_and_the_budget(area: str, count: int) -> None:
    assert len(check_falling(area, count)) > len(rows_of(area)) / 2


@pytest.mark.slow
@pytest.mark.parametrize(("area", "count"), [("mean", 200), ("sco", 60), ("lp", 20), ("user", 12)])
def test_explicit_bounds_fall_with_the_records_and_the_budget_at_many_settings(
    area: str, count: int
) -> None:
    missed = {b.card.slug for b in rows_of(area)} - check_falling(area, count)
    # These rows need 2,397 groups of records, or use that Gaussian data have all moments, of which
    # one number is known. A floor is about a law, and the settings know only a class: see
    # tests/bounds/floors.
    of_laws = {b.card.slug for b in rows_of(area) if b.card.of_law}
    assert missed - of_laws <= {
        "upper.mean.iterative-paper",
        "lower.mean.gaussian",
        "lower.sco-strong.sampling-gaussian",
    }


@pytest.mark.parametrize(
    "bound",
    # The answer 0 has the same error at every n.
    [b for b in rows_of("mean") if not b.card.ignores_data],
    ids=lambda b: b.card.slug,
)
def test_with_more_and_more_records_a_bound_on_the_mean_vanishes(bound: Bound) -> None:
    """The numbers of records go up to n = 10^10, where a library's binomial law has lost all its
    digits.
    """
    card = bound.card
    pure = card.privacy == "pure" or (card.kind, card.privacy) == ("lower", "approx")
    budget: Budget = PureDP(epsilon=1.0) if pure else ZCDP(rho=0.5)
    order = 1.5 if bound.has_scope else 3.0
    setting = replace(
        helpers.make_setting(d=20, order=order, budget=budget),
        law=StudentT(d=20, moment_order=order),
    )
    values = [bound.value(replace(setting, n=n)) for n in (10**4, 10**6, 10**8, 10**10)]
    # With a hundred times the records an error falls like 1/sqrt(n), and like n^(1/p - 1) without a
    # variance.
    fall = 10 if order > 2 else 100 ** (1 - 1 / order)
    assert all(before > 0.9 * fall * after > 0 for before, after in pairwise(values))
    if (bound.card.privacy, bound.card.guarantee) == ("none", "expectation"):
        fall **= 2 if "squared" in card.quantity and order < 2 else 1
        assert values[-1] * fall == pytest.approx(values[-2], rel=1e-3)


def test_without_privacy_what_is_left_is_the_error_of_an_average() -> None:
    """At rho = 10^6 a record is not hidden, so the best clip is far out, and the noise is
    negligible.
    """
    rows = {b.card.slug: b for b in UPPER}
    for d, n in ((3, 1000), (40, 10**5)):
        setting = helpers.make_setting(n=n, d=d, order=3, budget=ZCDP(rho=1e6), mean_bound=0.5)
        for name in ("cwme-cdp-expected", "clipped-expected-coordinate", "sample"):
            value = rows[f"upper.mean.{name}"].value(setting)
            assert value == pytest.approx(math.sqrt(d / n), rel=0.02), name
            assert value >= math.sqrt(d / n) * (1 - 1e-12)


def test_without_privacy_a_private_lower_bound_is_at_most_the_error_of_an_average() -> None:
    average = next(b for b in UPPER if b.card.slug == "upper.mean.sample")
    for d, n in ((20, 1000), (200, 10**5)):
        setting = helpers.make_setting(n=n, d=d, order=3, budget=ZCDP(rho=1e6))
        for bound in rows_of("mean"):
            if bound.card.privacy == "zcdp" and bound.card.kind == "lower":
                power = 2 if "squared" in bound.card.quantity else 1
                assert 0 <= bound.value(setting) <= average.value(setting) ** power, bound.card.slug
