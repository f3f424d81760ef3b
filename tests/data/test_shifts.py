"""What the floors need of a law, against quadrature. theory/instance-floors.md, 5."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad

from dpsco_core.base.arrays import Vector
from dpsco_core.data import (
    DISTRIBUTIONS,
    EllipticalT,
    Gaussian,
    LogNormal,
    Pareto,
    SkewedPareto,
    StudentT,
)
from dpsco_core.data.base import Distribution, ScaledLaw, overrides_answer
from dpsco_core.data.elliptical_t import direction_spread
from dpsco_core.data.hard import HardInstance
from dpsco_core.data.shifts import Shifts

SMOOTH = (StudentT, Gaussian, LogNormal)
ORDERS = (2.0, 3.0, 8.0)
Function = Callable[[Vector], Vector]


def shifts(law: ScaledLaw) -> Shifts:
    """Return the shifts of a law, which must have some."""
    law_shifts = law.shifts
    assert law_shifts is not None
    return law_shifts


def masses(law: ScaledLaw) -> tuple[Vector, Vector, Vector]:
    """Return values of a centred coordinate, their masses and scores, as textbooks give them."""
    s, nu = law.scale, law.tail_index
    y, step = np.linspace(-36, 36, 72_001, retstep=True)
    if isinstance(law, StudentT):
        x = np.sinh(y)
        score = (nu + 1) * x / (nu * s**2 + x * x)
        return x, stats.t.pdf(x, nu, scale=s) * np.cosh(y) * step, score
    mass = stats.norm.pdf(y) * step
    if isinstance(law, Gaussian):
        return s * y, mass, y / s
    assert isinstance(law, LogNormal)
    value = np.exp(law.sigma * y)
    return s * (value - math.exp(law.sigma**2 / 2)), mass, (1 + y / law.sigma) / (value * s)


@pytest.mark.parametrize("kind", SMOOTH)
@pytest.mark.parametrize("order", ORDERS)
def test_the_information_of_a_shift_is_the_mean_square_of_the_score(
    kind: type[ScaledLaw], order: float
) -> None:
    law = kind(d=3, moment_order=order)
    _, mass, score = masses(law)
    assert mass.sum() == pytest.approx(1, rel=1e-9)
    assert float(mass @ score) == pytest.approx(0, abs=1e-7 / law.scale)
    assert float(mass @ score**2) == pytest.approx(shifts(law).information, rel=1e-8)


@pytest.mark.parametrize(("d", "order"), [(2, 2.0), (20, 2.0), (100, 3.0)])
def test_the_information_of_the_elliptical_law_depends_on_its_dimension(
    d: int, order: float
) -> None:
    law = EllipticalT(d=d, moment_order=order)
    nu, s = law.tail_index, law.scale
    # The squared score is (nu+d)^2 r^2/(nu s^2 + r^2)^2 with r^2 = s^2 d F, where F has Fisher's
    # law.
    square = quad(
        lambda f: stats.f.pdf(f, d, nu) * ((nu + d) / (nu + d * f)) ** 2 * d * f / s**2,
        0,
        np.inf,
        limit=400,
    )[0]
    assert square / d == pytest.approx(shifts(law).information, rel=1e-8)
    scalar_information = shifts(StudentT(d=d, moment_order=order)).information
    assert shifts(law).information > scalar_information * (1 + 1e-3)


@pytest.mark.parametrize("order", ORDERS)
def test_the_score_of_student_data_is_strictly_sub_gaussian(order: float) -> None:
    law = StudentT(d=1, moment_order=order)
    _, mass, score = masses(law)
    assert shifts(law).spread == 1
    for t in (0.1, 0.5, 1.0, 3.0, 10.0):
        mean = float(mass @ np.exp(t / math.sqrt(shifts(law).information) * score))
        assert mean <= math.exp(t * t / 2) * (1 + 1e-9)


@pytest.mark.parametrize(("d", "nu"), [(2, 2.5), (20, 2.5), (60, 4.0)])
def test_a_direction_of_the_elliptical_score_has_the_proxy_and_not_less(d: int, nu: float) -> None:
    # The even moments of <v, s>/sqrt(lambda) are those of a beta law, and are compared with a
    # normal variable's.
    k = np.arange(1, 40)
    a, b = d / 2, nu / 2  # These are the parameters of the beta law of r^2/(nu s^2 + r^2).
    beta = [math.exp(log_beta(a + i, b + i) - log_beta(a, b)) for i in k]
    direction = [math.exp(log_beta(0.5 + i, (d - 1) / 2) - log_beta(0.5, (d - 1) / 2)) for i in k]
    scale = (nu + d) ** 2 / nu / ((nu + d) / (nu + d + 2))
    odd = np.cumprod(2.0 * k - 1)
    ratios = np.array(beta) * np.array(direction) * scale**k / odd
    largest = float(np.max(ratios ** (1 / k)))
    assert direction_spread(d, nu) == pytest.approx(max(largest, 1.0), rel=1e-9)


def log_beta(a: float, b: float) -> float:
    """Return the logarithm of the beta function."""
    return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)


def test_the_elliptical_proxy_is_not_that_of_independent_coordinates() -> None:
    expected = {(2, 2.5): 1.0, (20, 2.5): 1.3629, (200, 3.5): 6.368}
    for (d, nu), value in expected.items():
        assert direction_spread(d, nu) == pytest.approx(value, abs=5e-4)
    assert shifts(EllipticalT(d=20, moment_order=2.0)).spread == pytest.approx(1.3629, abs=1e-4)


@pytest.mark.parametrize("kind", [StudentT, Gaussian, LogNormal])
def test_a_clipped_score_keeps_its_stated_bound_and_its_stated_loss(
    kind: type[ScaledLaw],
) -> None:
    law = kind(d=4, moment_order=3.0)
    law_shifts = shifts(law)
    _, mass, score = masses(law)
    root = math.sqrt(law_shifts.information)
    for cut in law_shifts.cuts[:: max(1, len(law_shifts.cuts) // 4)]:
        level = cut.size / math.sqrt(law.d) * root
        if cut.rest == 0:
            assert float(np.max(np.abs(score))) <= level * (1 + 1e-12)
            continue
        excess = float(mass @ np.maximum(np.abs(score) - level, 0.0) ** 2)
        rest = math.sqrt(law.d * excess) / root
        assert rest * (1 - 1e-4) - 1e-9 <= cut.rest <= 1.2 * rest + 1e-9


def test_the_norm_of_the_elliptical_score_keeps_its_stated_bound() -> None:
    law = EllipticalT(d=7, moment_order=2.0)
    nu, s = law.tail_index, law.scale
    r = np.geomspace(1e-3, 1e3, 100_001)
    longest = float(np.max((nu + 7) * r / (nu * s**2 + r**2)))
    largest = shifts(law).cuts[0].size * math.sqrt(shifts(law).information)
    assert longest == pytest.approx(largest, rel=1e-8)


@pytest.mark.parametrize("kind", [StudentT, Gaussian, EllipticalT, LogNormal, Pareto, SkewedPareto])
def test_the_distance_of_two_shifts_agrees_with_integration(kind: type[ScaledLaw]) -> None:
    law = kind(d=1, moment_order=2.0)
    s, index = law.scale, law.tail_index
    match law:
        case StudentT() | EllipticalT():
            density = stats.t(index, scale=s).pdf
        case Gaussian():
            density = stats.norm(scale=s).pdf
        case LogNormal():
            density = stats.lognorm(law.sigma, scale=s).pdf
        case Pareto():
            marginal = stats.pareto(index, scale=s).pdf
            density = lambda x: 0.5 * marginal(np.abs(x))  # noqa: E731
        case _:
            density = stats.pareto(index, scale=s).pdf
    x = np.linspace(-60, 60, 240_001)
    for theta in (0.01, 0.3, 1.1, 2.0):
        distance = 0.5 * np.trapezoid(np.abs(density(x - theta) - density(x + theta)), x)
        assert float(shifts(law).distance(np.array(theta))) == pytest.approx(distance, abs=2e-3)


@pytest.mark.parametrize("kind", [StudentT, Gaussian, LogNormal, Pareto, SkewedPareto])
def test_values_at_log_odds_are_quantiles_of_the_sampled_law(kind: type[ScaledLaw]) -> None:
    law = kind(d=1, moment_order=2.5, offset=0.7)
    values = law.sample(200_000, np.random.default_rng(7)).x[:, 0] - 0.7
    for u in (-4.0, -1.0, -0.2, 0.3, 2.0, 5.0):
        share = float(np.mean(values <= shifts(law).at_odds(np.array(u))))
        p = 1 / (1 + math.exp(-u))
        assert abs(share - p) < 5.5 * math.sqrt(p * (1 - p) / 200_000)


def test_norms_at_log_odds_are_quantiles_of_the_elliptical_law() -> None:
    law = EllipticalT(d=6, moment_order=2.5)
    norms = np.linalg.norm(law.sample(200_000, np.random.default_rng(8)).x, axis=1)
    for u in (-4.0, -1.0, 0.3, 2.0, 5.0):
        share = float(np.mean(norms <= shifts(law).at_odds(np.array(u))))
        p = 1 / (1 + math.exp(-u))
        assert abs(share - p) < 5.5 * math.sqrt(p * (1 - p) / 200_000)


def test_exactly_the_symmetric_laws_are_marked_as_symmetric() -> None:
    for kind in (StudentT, Gaussian, EllipticalT, Pareto, SkewedPareto, LogNormal):
        law = kind(d=1, moment_order=2.0)
        values = law.sample(200_000, np.random.default_rng(9)).x[:, 0]
        mirrored = abs(float(np.mean(values > 0)) - 0.5) < 5.5 * math.sqrt(0.25 / 200_000)
        assert shifts(law).symmetric == mirrored


def test_only_laws_with_an_edge_have_floors_that_are_not_drawn() -> None:
    slugs = {kind.card.slug for kind in DISTRIBUTIONS if _has_shifts(kind)}
    edges = {slug for slug in slugs if _law(slug).edge}
    assert edges == {"log-normal", "pareto", "skewed-pareto"}


def _has_shifts(kind: type[Distribution]) -> bool:
    """Whether a kind of law scales shifts of one law, and states how much a record tells about its
    shift.
    """
    return issubclass(kind, ScaledLaw) and overrides_answer(kind, "shifts")


def _law(slug: str) -> Shifts:
    """Return the shifts of the distribution with a slug, at three moments."""
    [kind] = [k for k in DISTRIBUTIONS if k.card.slug == slug]
    return shifts(kind(d=3, moment_order=3.0))  # type: ignore[call-arg, arg-type]


def test_a_hard_instance_is_no_family_of_shifts() -> None:
    hard = [kind for kind in DISTRIBUTIONS if issubclass(kind, HardInstance)]
    assert hard
    for kind in hard:
        assert kind(d=4, moment_order=3.0, spike_probability=0.01).shifts is None  # type: ignore[call-arg]
