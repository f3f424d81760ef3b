"""Rates at user level: theory/lowy-liu-asi.md, 5, slopes, crossovers and misprints."""

import math
from dataclasses import replace

import pytest

from dpsco_core.base.errors import InvalidInput, require
from dpsco_core.bounds.user import quoted
from dpsco_core.bounds.user import rates as user_rates
from dpsco_core.bounds.user.conditions import setting_of
from dpsco_core.catalogue import bound
from dpsco_core.explain.errata import lowy_runs
from dpsco_core.methods.user.level import UserLevel
from dpsco_core.methods.user.printed_schedules import printed_radius, printed_regulariser
from tests.methods.user.requirements_oracle import linear_time_pays_from

CASE = UserLevel(n=10**6, m=10**4, d=400, epsilon=0.5, delta=1e-6, strong_convexity=0.3)
LOG = "*ln(1/delta)"
RATES = (
    user_rates.OPTIMAL,
    user_rates.LINEAR_TIME,
    user_rates.LINEAR_TIME_PROVEN,
    user_rates.GROUP_PRIVACY,
    user_rates.STRONG,
    quoted.QUOTED,
)


def pair(rate, case):
    """Return the two terms of a rate at the setting of a case."""
    return tuple(rate(setting_of(case)).values())


def slope(value, name, factor=4):
    """Return the slope of `value` in the field `name` of the reference case, in
    logarithms of both.
    """
    changed = replace(CASE, **{name: getattr(CASE, name) * factor})
    return math.log(value(changed) / value(CASE)) / math.log(factor)


@pytest.mark.parametrize(
    ("n", "m", "d", "optimal", "linear", "group"),
    [
        (1000, 1, 10, 0.043377, 0.40331, 0.043377),
        (1000, 100, 10, 0.0043377, 0.040331, 0.014916),
        (10_000, 100, 10, 0.0011175, 0.012754, 0.0021754),
        (10_000, 100, 10_000, 0.0047169, 0.37269, 0.038169),
    ],
)
def test_the_rates_have_the_values_of_the_note(n, m, d, optimal, linear, group):
    case = UserLevel(n=n, m=m, d=d, epsilon=1.0, delta=1e-6)
    assert sum(pair(user_rates.OPTIMAL, case)) == pytest.approx(optimal, rel=5e-5)
    assert sum(pair(user_rates.LINEAR_TIME, case)) == pytest.approx(linear, rel=5e-5)
    assert sum(pair(user_rates.GROUP_PRIVACY, case)) == pytest.approx(group, rel=5e-5)


@pytest.mark.parametrize(
    ("rate", "slopes"),
    [
        (user_rates.OPTIMAL, (-1, -0.5, 0.5, -1)),
        (user_rates.LINEAR_TIME, (-0.5, -0.5, 0.5, -1)),
        (user_rates.LINEAR_TIME_PROVEN, (-0.5, -0.5, 0.5, -0.5)),
        (user_rates.GROUP_PRIVACY, (-1, 0, 0.5, -1)),
        (user_rates.STRONG, (-2, -1, 1, -2)),
        (quoted.QUOTED, (-1, -0.5, 0.5, -1)),
    ],
)
def test_the_private_term_has_its_slopes(rate, slopes):
    exponents = [
        slope(lambda case: pair(rate, case)[1], name) for name in ("n", "m", "d", "epsilon")
    ]
    assert exponents == pytest.approx(list(slopes), abs=1e-9)


@pytest.mark.parametrize("rate", RATES, ids=lambda rate: rate.latex)
def test_a_rate_falls_with_users_items_and_budget_and_grows_with_the_dimension(rate):
    def total(**changes):
        """Return the sum of the rate's terms at the reference case with some fields changed."""
        return sum(pair(rate, replace(CASE, **changes)))

    value = sum(pair(rate, CASE))
    assert total(n=2 * CASE.n) < value and total(m=2 * CASE.m) < value
    assert total(epsilon=1.0) < value < total(d=2 * CASE.d)
    assert total(delta=1e-9) >= value
    assert total(lipschitz=3.0) == pytest.approx(value * (9 if rate is user_rates.STRONG else 3))
    if rate is not user_rates.STRONG:
        assert total(diameter=5.0) == pytest.approx(5 * value)


@pytest.mark.parametrize("rate", [user_rates.OPTIMAL, user_rates.LINEAR_TIME, user_rates.STRONG])
def test_the_logarithm_of_delta_is_in_the_private_term_and_can_be_left_out(rate):
    with_logs, without_logs = pair(rate, CASE), pair(rate.drop(LOG), CASE)
    assert with_logs[0] == without_logs[0]
    power = 1 if rate is user_rates.STRONG else 0.5
    assert with_logs[1] / without_logs[1] == pytest.approx(CASE.log_delta**power)


def test_with_one_item_per_user_rates_are_those_of_items():
    item_level_case = replace(CASE, m=1)
    private = math.sqrt(item_level_case.d * item_level_case.log_delta) / (
        item_level_case.epsilon * item_level_case.n
    )
    item_level = (
        item_level_case.unit / math.sqrt(item_level_case.n),
        item_level_case.unit * private,
    )
    assert pair(user_rates.OPTIMAL, item_level_case) == pytest.approx(item_level)
    assert pair(user_rates.GROUP_PRIVACY, item_level_case) == pytest.approx(item_level)
    assert sum(pair(user_rates.LINEAR_TIME, item_level_case)) > 10 * sum(
        pair(user_rates.OPTIMAL, item_level_case)
    )


def test_the_linear_time_rate_beats_group_privacy_from_more_items_than_users_on():
    case = UserLevel(n=50, m=1, d=20, epsilon=0.7, delta=1e-6)
    private = [
        (pair(user_rates.LINEAR_TIME, crowded)[1] < pair(user_rates.GROUP_PRIVACY, crowded)[1])
        for crowded in (replace(case, m=m) for m in (1, 25, 49, 51, 52, 1000))
    ]
    assert private == [False, False, False, True, True, True]
    assert linear_time_pays_from(50) == 51
    # Up to this number of items, and for epsilon up to 1, both terms of the naive bound are no
    # larger.
    for m in (1, 10, 50):
        crowded = replace(case, m=m)
        naive, linear = (
            pair(user_rates.GROUP_PRIVACY, crowded),
            pair(user_rates.LINEAR_TIME, crowded),
        )
        assert naive[0] <= linear[0] and naive[1] <= linear[1] * (1 + 1e-12)


def test_the_second_term_of_the_linear_rate_dominates_up_to_d_logs():
    for d in (1, 3):
        edge = d * CASE.log_delta
        for epsilon, dominates in ((0.99 * edge, True), (1.01 * edge, False)):
            public_term, private_term = pair(
                user_rates.LINEAR_TIME, replace(CASE, d=d, epsilon=epsilon)
            )
            assert (private_term >= public_term) == dominates


def test_the_proof_of_the_linear_rate_is_better_than_the_statement_for_epsilon_below_one():
    for epsilon in (0.1, 0.9, 1.1):
        case = replace(CASE, epsilon=epsilon)
        proven = pair(user_rates.LINEAR_TIME_PROVEN, case)[1]
        stated = pair(user_rates.LINEAR_TIME.drop(LOG), case)[1]
        assert (proven < stated) == (epsilon < 1)
        assert stated / proven == pytest.approx(epsilon**-0.5)


@pytest.mark.parametrize("m", [1, 30, 10**6])
@pytest.mark.parametrize("epsilon", [0.01, 1.0])
def test_the_optimal_rate_is_below_the_others_and_above_the_lower_bound(m, epsilon):
    case = replace(CASE, m=m, epsilon=epsilon)
    best = sum(pair(user_rates.OPTIMAL, case))
    assert bound("lower.user.rate").value(setting_of(case)) <= best
    assert best <= sum(pair(user_rates.GROUP_PRIVACY, case)) * (1 + 1e-12)
    assert best <= sum(pair(user_rates.LINEAR_TIME, case)) * (1 + 1e-12)
    assert case.unit / math.sqrt(case.total) <= best


def test_the_quoted_lower_bound_stops_at_the_trivial_risk():
    few_users = replace(CASE, n=2, m=1, lipschitz=3.0, diameter=2.0)
    assert sum(pair(quoted.QUOTED, few_users)) > few_users.unit == 6.0
    assert bound("lower.user.rate").value(setting_of(few_users)) == 6.0


def intermediate(
    case: UserLevel, regulariser: float, tau: float | None = None, *, printed: bool = False
) -> tuple[float, float, float, float, float]:
    r"""Return the terms of (18) in the proof of Theorem C.3, before :math:`\lambda` is chosen.

    .. math::
        \frac{LR\sqrt d}{\varepsilon n\sqrt m},\quad\frac{L^2}{\lambda nm},\quad
        \frac{d\tau^2\Lambda}{\lambda\varepsilon^2n^2},\quad\lambda R^2,\quad\frac{2LR}{nm}

    `printed` has :math:`L^2` before the third too, which counts it twice, as
    :math:`\tau\propto L` (theory/lowy-liu-asi.md, 8, item 15). The last is the event in which
    something is removed.

    Parameters
    ----------
    case : UserLevel
    regulariser : float
        :math:`\lambda`, positive.
    tau : float, optional
        :math:`\tau`; None for :math:`L\ln(ndm)/\sqrt m`.
    printed : bool
    """
    require(regulariser > 0, "regulariser", "positive", regulariser)
    radius = printed_radius(case) if tau is None else tau
    noise = (
        math.sqrt(case.d * case.log_delta) * radius / (case.epsilon * case.n)
    ) ** 2 / regulariser
    return (
        pair(quoted.QUOTED, case)[1],
        case.lipschitz**2 / (regulariser * case.total),
        noise * case.lipschitz**2 if printed else noise,
        regulariser * case.diameter**2,
        2 * case.unit / case.total,
    )


def test_the_intermediate_bound_balances_at_the_regulariser_of_the_theorem():
    case = replace(CASE, lipschitz=3.0, diameter=2.0)
    tau = case.lipschitz / math.sqrt(case.m)
    terms = intermediate(case, printed_regulariser(case), tau)
    assert sum(terms[:4]) <= 3 * case.log_delta * sum(pair(user_rates.OPTIMAL.drop(LOG), case))
    assert terms[3] == pytest.approx(case.diameter**2 * printed_regulariser(case))
    # All terms are risks, so doubling L and R, with lambda in its unit, scales all of them alike.
    doubled = replace(case, lipschitz=2 * case.lipschitz, diameter=2 * case.diameter)
    doubled_terms = intermediate(doubled, printed_regulariser(doubled), 2 * tau)
    assert doubled_terms == pytest.approx([4 * term for term in terms])
    printed = intermediate(case, printed_regulariser(case), tau, printed=True)
    assert printed[2] == pytest.approx(9 * terms[2])
    assert [printed[k] for k in (0, 1, 3, 4)] == [terms[k] for k in (0, 1, 3, 4)]


def test_the_printed_regulariser_of_the_smoothed_algorithm_is_optimal_in_low_dimension_only():
    for d, optimal in ((10, True), (10**6, False)):
        case = replace(CASE, d=d, epsilon=0.5)
        excess = lowy_runs.smoothed_printed(case) / pair(user_rates.OPTIMAL.drop(LOG), case)[1]
        assert (excess <= 1) == optimal
        assert excess == pytest.approx(math.sqrt(d / case.n) / case.epsilon)


def test_the_sandwich_of_smoothing_is_printed_upside_down():
    # The mean of |x + y| over y in [-r, r] is r/2 at x = 0, above |0|.
    case = replace(CASE, d=1)
    low, high = lowy_runs.smoothing_gap(case, 0.2)
    assert low <= 0.1 <= high == pytest.approx(0.1)
    low, high = lowy_runs.smoothing_gap(case, 0.2, printed=True)
    assert high < 0.1


def test_a_convex_loss_has_no_strongly_convex_rate():
    assert pair(user_rates.STRONG, replace(CASE, strong_convexity=0.0)) == (math.inf, math.inf)


def test_a_part_that_a_rate_does_not_have_cannot_be_left_out():
    with pytest.raises(InvalidInput, match="part must be one of the rate's"):
        user_rates.LINEAR_TIME_PROVEN.drop(LOG)


@pytest.mark.parametrize("slug", ["upper.user.group-privacy", "upper.user.group-privacy-gradients"])
def test_group_privacy_asks_for_a_mildly_smooth_loss(slug):
    """The bound is that of Feldman et al. (2020) at n m records and epsilon/m; means clipped by
    user need no smooth loss.
    """
    setting = setting_of(UserLevel(n=100, m=4, d=9, epsilon=0.5, delta=1e-6, smoothness=1.0))
    constants = setting.constants
    private = 4 * math.sqrt(9 * math.log(1e6)) / 0.5
    largest = constants.lipschitz / constants.diameter * max(math.sqrt(400), private)
    for factor, is_refused in ((0.999, False), (1.001, True)):
        rough = replace(setting, constants=replace(constants, sample_smoothness=factor * largest))
        failures = bound(slug).failures(rough)
        assert any("beta=" in failure for failure in failures) == is_refused
        own_failures = bound("upper.user.clipped-means").failures(rough)
        assert not any("beta=" in failure for failure in own_failures)


def test_a_rate_that_leaves_the_print_is_not_called_printed():
    """Such rates have a minimum in place of a sum, a cut, a number of people solved for the error,
    or a balancing radius.
    """
    reworked = (
        "upper.user.accelerated-strong-gradients",
        "lower.user.rate",
        "lower.sco.rate-cdp",
        "lower.sco.rate-lipschitz",
        "upper.user.mean-adaptive",
        "upper.mean.clipped",
        "upper.mean.iterative",
    )
    assert [slug for slug in reworked if bound(slug).card.is_printed] == []
    assert bound("lower.sco-strong.rate-cdp").card.is_printed
