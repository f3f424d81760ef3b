"""Gradient complexities at user level: theory/lowy-liu-asi.md, 5, slopes and Figure 1."""

import math
from dataclasses import replace

import pytest

from dpsco_core.bounds.user import complexity as counts
from dpsco_core.bounds.user.conditions import setting_of
from dpsco_core.methods.user.level import UserLevel
from dpsco_core.methods.user.printed_schedules import phase_count, printed_regulariser, printed_sgd


def diagonal_case(n, m, smoothness=1.0):
    """Return a case with n = d, epsilon = 1 and L = R = 1."""
    return UserLevel(n=n, m=m, d=n, epsilon=1.0, delta=1e-9 / (n * m), smoothness=smoothness)


def gradients(count, case):
    """Return the number of item gradients that a function counts at a case."""
    return count(setting_of(case))["item gradients"]


@pytest.mark.parametrize(
    ("n", "m", "d", "smooth", "non_smooth", "asi_liu", "bassily_sun"),
    [
        (1000, 1, 10, 3394.8, 14335, 31623, 31623),
        (1000, 100, 10, 5.291e5, 4.317e6, 3.1623e7, 3.1623e6),
        (10_000, 100, 10, 6.6444e6, 1.01e8, 1e9, 1e8),
        (10_000, 100, 10_000, 6.6297e6, 1.01e8, 1e9, 1e8),
    ],
)
def test_the_complexities_have_the_values_of_the_note(
    n, m, d, smooth, non_smooth, asi_liu, bassily_sun
):
    case = UserLevel(n=n, m=m, d=d, epsilon=1.0, delta=1e-6, smoothness=1.0)
    assert gradients(counts.SMOOTH_PRINTED, case) == pytest.approx(smooth, rel=1e-4)
    assert gradients(counts.NON_SMOOTH_PRINTED, case) == pytest.approx(non_smooth, rel=1e-4)
    assert gradients(counts.ASI_LIU, case) == pytest.approx(asi_liu, rel=1e-4)
    assert gradients(counts.BASSILY_SUN, case) == pytest.approx(bassily_sun, rel=1e-4)


def test_the_closed_forms_equal_steps_times_batches():
    # The closed forms are T = sqrt(beta/lambda) and K = n epsilon/sqrt(T) + 1/epsilon, at the
    # larger term of lambda.
    for d, epsilon in ((1, 1.0), (10**8, 0.3), (10**5, 2.0)):
        case = UserLevel(n=10**4, m=50, d=d, epsilon=epsilon, delta=1e-9, smoothness=7.0)
        terms = (1 / math.sqrt(case.total), math.sqrt(d) / (epsilon * case.n * math.sqrt(case.m)))
        steps = math.sqrt(case.smoothness / max(terms))
        total = case.m * steps * (case.n * epsilon / math.sqrt(steps) + 1 / epsilon)
        assert gradients(counts.SMOOTH, case) - case.total == pytest.approx(total)
        assert gradients(counts.SMOOTH, case) < gradients(counts.SMOOTH_PRINTED, case)
        ratio = math.sqrt(case.smoothness / printed_regulariser(case)) / steps
        assert 1 / math.sqrt(2) <= ratio <= 1


def test_the_non_smooth_count_has_a_term_that_the_theorem_omits():
    case = UserLevel(n=1000, m=10**9, d=10, epsilon=0.5, delta=1e-13)
    steps = case.n**0.75 * math.sqrt(case.m * case.epsilon)  # Logarithms are left out.
    total = case.m * (case.n * case.epsilon * math.sqrt(steps) + steps / case.epsilon)
    assert gradients(counts.NON_SMOOTH, case) - case.total == pytest.approx(total)
    assert gradients(counts.NON_SMOOTH, case) > gradients(counts.NON_SMOOTH_PRINTED, case)
    few_items = replace(case, m=10)
    assert gradients(counts.NON_SMOOTH, few_items) < gradients(counts.NON_SMOOTH_PRINTED, few_items)
    assert few_items.m < few_items.n**2.5 * few_items.epsilon**3 < case.m


def test_the_complexities_have_their_slopes_on_the_diagonal():
    def slope(count, n, m):
        """Return the exponent by which a count of gradients grows when n and m grow by the given
        factors.
        """
        base, larger = (
            gradients(count, diagonal_case(10**8, 10**6)),
            gradients(count, diagonal_case(10**8 * n, 10**6 * m)),
        )
        return math.log(larger / base) / math.log(n * m)

    for n, m in ((16, 1), (1, 16)):
        assert slope(counts.SIMPLIFIED, n, m) == pytest.approx(9 / 8)
    assert slope(counts.SIMPLIFIED_NON_SMOOTH, 16, 1) == pytest.approx(11 / 8)
    assert slope(counts.SIMPLIFIED_NON_SMOOTH, 1, 16) == pytest.approx(5 / 4)
    assert slope(counts.SINGLE_PASS, 16, 16) == pytest.approx(1)


def test_the_speed_ups_have_their_printed_exponents():
    n, m, beta = 10**4, 300, 5.0
    case = diagonal_case(n, m, beta)
    ratio = gradients(counts.ASI_LIU_SIMPLIFIED, case) / gradients(
        counts.SIMPLIFIED_NON_SMOOTH, case
    )
    assert ratio == pytest.approx(n ** (13 / 8) * m ** (7 / 4))
    assert n**7 >= beta**2 * m
    assert gradients(counts.ASI_LIU, case) / gradients(counts.SIMPLIFIED, case) == pytest.approx(
        beta**0.75 * (n * m) ** 0.375
    )


@pytest.mark.parametrize("beta", [0.5, 1.0, 20.0])
def test_the_first_term_dominates_up_to_the_seventh_power_of_the_users(beta):
    n = 8
    edge = n**7 / beta**2
    for factor, is_leading in ((0.5, True), (2.0, False)):
        case = diagonal_case(n, round(edge * factor), beta)
        leading = beta**0.25 * (case.total) ** (9 / 8)
        assert math.isclose(gradients(counts.SIMPLIFIED, case), leading) == is_leading


def test_bassily_and_sun_are_never_faster_under_their_own_assumptions():
    for n, m in ((100, 1), (100, 10), (100, 100), (10**6, 500)):
        case = diagonal_case(n, m, math.sqrt(n / m))
        assert gradients(counts.SIMPLIFIED, case) == pytest.approx(n**1.25 * m)
        assert gradients(counts.SIMPLIFIED, case) <= gradients(counts.BASSILY_SUN, case)
    # Outside these assumptions the simplified method is faster if and only if beta^2 m > n^3.
    for m, faster in ((900, False), (1100, True)):
        case = diagonal_case(10, m)
        leading = case.total ** (9 / 8)
        assert (gradients(counts.BASSILY_SUN, case) < leading) == faster


def test_algorithm_1_looks_at_every_item_at_most_once():
    case = UserLevel(n=10**6, m=100, d=10, epsilon=1.0, delta=1e-9)
    exact = printed_sgd(case, 0.1).gradients
    q, phases = 0.1, phase_count(case.n)  # The sizes of phases are taken before rounding.
    assert exact == pytest.approx(case.total * 2**-q * (1 - 2 ** (-q * phases)))
    assert exact < gradients(counts.SINGLE_PASS, case)


def row(slug):
    """Return the row of the comparison of gradient counts that has a slug."""
    return next(row for row in counts.COMPARISON if row.slug == slug)


def test_the_bounds_of_the_comparison_state_their_conditions():
    setting = UserLevel(n=10**4, m=10, d=100, epsilon=1.0, delta=1e-6, smoothness=1.0)
    assert all(not r.failures(setting) for r in counts.COMPARISON)
    steep = replace(setting, smoothness=5000.0)
    assert {r.slug for r in counts.COMPARISON if r.failures(steep)} == {
        "bassily-sun-2023",
        "bassily-sun-2023-local",
        "algorithm-1",
    }
    many_items = replace(setting, m=10**6, delta=1e-11)
    assert {r.slug for r in counts.COMPARISON if r.failures(many_items)} == {
        "bassily-sun-2023",
        "bassily-sun-2023-local",
    }
    assert row("algorithm-3").failures(replace(setting, delta=1e-3)) == (
        "It needs delta < 1/(mn).",
    )
    wide = replace(setting, d=10**9)
    assert any("n >=" in s for s in row("bassily-sun-2023").failures(wide))
    assert len({r.slug for r in counts.COMPARISON}) == 7


def test_the_assumption_of_bassily_and_sun_holds_on_the_diagonal_as_derived():
    # The assumption is beta < sqrt(n/m) and m <= sqrt(n).
    for m, beta, holds in ((10, 3.1, True), (10, 3.2, False), (11, 0.1, False)):
        assert (not row("bassily-sun-2023").failures(diagonal_case(100, m, beta))) == holds


def test_figure_1_has_a_curve_for_every_optimal_algorithm_and_accelerated_erm_is_lowest():
    users = [10**k for k in range(2, 7)]
    curves = counts.figure_1(users, 4, smoothness=1.0)
    assert [(c.slug, c.loss) for c in curves] == [
        ("bassily-sun-2023", "smooth"),
        ("ghazi-2023", "smooth"),
        ("ghazi-2023", "non-smooth"),
        ("asi-liu-2024", "smooth"),
        ("asi-liu-2024", "non-smooth"),
        ("algorithm-3", "smooth"),
        ("algorithm-3", "non-smooth"),
    ]
    for curve in curves:
        assert curve.items == tuple(4 * n for n in users)
        assert all(curve.applies)
        algorithm_3 = next(c for c in curves if c.slug == "algorithm-3" and c.loss == curve.loss)
        assert all(a <= b for a, b in zip(algorithm_3.gradients, curve.gradients, strict=True))
    assert curves[3].gradients[0] == pytest.approx(400**1.5)
    crowded = counts.figure_1([100], 50)
    assert not crowded[0].applies[0] and crowded[-1].applies[0]
