"""A second implementation of explicit bounds on the mean, from their printed formulas, by grids.

And the list of where every explicit bound of the catalogue has its second implementation.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal

import numpy as np
from mpmath import gamma, mp, mpf, pi, sqrt
from numpy.typing import NDArray
from scipy.stats import chi2

from dpsco_core.methods.mean import NoiseSmoothing
from dpsco_core.methods.mean.clipped import practical_radius
from dpsco_core.methods.mean.coordinatewise import practical_threshold
from dpsco_core.privacy.budget import ZCDP, PureDP
from dpsco_core.problems.base import Setting
from tests.second import declared

Vector = NDArray[np.float64]
GRID = np.exp(np.linspace(-9, 14, 60_001))  # the arguments over which a bound is minimised


class At:
    """What the formulas speak of, at unit coordinate-wise moments."""

    def __init__(self, where: Setting) -> None:
        known = where.constants
        assert known.coordinate_moment == 1
        self.where = where
        self.n, self.d, self.p = where.n, where.d, where.moment_order
        self.mean, self.moment = known.mean_gradient_bound, known.directional_moment
        self.trace = known.variance_trace
        budget = where.budget
        self.rho = budget.rho if isinstance(budget, ZCDP) else math.nan
        self.epsilon = budget.epsilon if isinstance(budget, PureDP) else math.nan
        p = self.p
        self.kappa = (p - 1) ** (p - 1) / p**p

    def hinge(self, t: Vector) -> Vector:
        """The sharp bias of clipping at distance t."""
        return (np.sqrt(1 + t * t) - t) / 2 if self.p == 2 else self.kappa * t ** (1 - self.p)


def sample(at: At) -> float:
    return math.sqrt(at.trace / at.n)


def median_of_means(at: At) -> float:
    return 10 * math.sqrt(at.d / (at.n // math.ceil(4 * math.log(2 * at.d / 0.05))))


def coordinatewise_paper(at: At, *, pure: bool) -> float:
    n, d, beta = at.n, at.d, 0.1
    log = math.log(2 * d / beta)
    signal = at.epsilon * n / d if pure else math.sqrt(at.rho) * n / math.sqrt(d)
    tau = max(10.0, signal ** (1 / at.p))
    total = math.sqrt(d) * (10 * math.sqrt(4 * log / n) + 3 * (14 / tau) ** (at.p - 1))
    if pure:
        return total + 48 * tau * d**1.5 / (at.epsilon * n) * log**2
    sigma = math.sqrt(1152 * tau**2 * d * log**2 / (at.rho * n**2))
    return total + 2 * sigma * (math.sqrt(d) + math.sqrt(math.log(1 / beta)))


def coordinatewise_probability(at: At, *, pure: bool) -> float:
    d, beta = at.d, 0.05
    b = at.n // (2 * math.ceil(2 * math.log(2 * d / beta)))
    tau = (at.mean + GRID) / 3
    total = math.sqrt(d) * (10 / math.sqrt(b) + at.hinge(GRID))
    if pure:
        total = total + 3 * tau * d / (at.epsilon * b) * math.sqrt(d) * math.log(2 * d / beta)
    else:
        sigma = np.sqrt(9 * tau**2 * d / (2 * at.rho * b**2))
        total = total + sigma * (math.sqrt(d) + math.sqrt(2 * math.log(2 / beta)))
    return float(total.min())


def coordinatewise_expected(at: At, *, pure: bool) -> float:
    n, d, tau = at.n, at.d, (at.mean + GRID) / 3
    noise = (
        2 * d * (6 * tau * d / (at.epsilon * n)) ** 2
        if pure
        else d * 18 * tau**2 * d / (at.rho * n**2)
    )
    far, step = at.mean + GRID, 1e-5 * (at.mean + GRID)
    rise = (at.hinge(far - step) ** 2 - at.hinge(far + step) ** 2) / (2 * step)
    bias = (d - 1) * at.hinge(far) ** 2 + at.hinge(GRID) ** 2 + (math.sqrt(d) - 1) * at.mean * rise
    return float(np.sqrt(d / n + bias + noise).min())


def clipped_paper(at: At) -> float:
    n, d, p, size = at.n, at.d, at.p, math.log(2 * 6**at.d / 0.05)
    slope = 4 * math.sqrt(size) / (n * math.sqrt(at.rho)) + 8 * size / n
    radius = math.sqrt(d) * at.moment * slope ** (-1 / p)
    sampling = max(math.sqrt(12 * at.moment**2 / n * size), 8 * radius / n * size)
    bias = d ** (p / 2) * at.moment**p / (p - 1) * radius ** (1 - p)
    return sampling + bias + 4 * radius / (n * math.sqrt(at.rho)) * math.sqrt(size)


def clipped_probability(at: At) -> float:
    n, d, size = at.n, at.d, math.log(2 * 5**at.d / 0.05)
    sampling = np.maximum(math.sqrt(12 * at.moment**2 / n * size), 8 * GRID / n * size)
    tail = math.sqrt(d) + math.sqrt(2 * math.log(2 / 0.05))
    noise = math.sqrt(2) * GRID / (n * math.sqrt(at.rho)) * tail
    return float((sampling + _directional(at) + noise).min())


def _directional(at: At) -> Vector:
    scale = math.sqrt(at.d) * at.moment
    return at.kappa * at.moment * np.exp((at.p - 1) * np.log(scale / GRID)).clip(max=1e200)


def clipped_expected(at: At) -> float:
    d, n = at.d, at.n
    square = d * at.moment**2 / n + _directional(at) ** 2 + 2 * d * GRID**2 / (at.rho * n**2)
    return float(np.sqrt(square.min()))


def clipped_expected_coordinate(at: At) -> float:
    d, n, scale, radius = at.d, at.n, math.sqrt(at.d), at.mean + GRID
    bias = at.kappa * scale * np.exp((at.p - 1) * np.log(scale / GRID)).clip(max=1e150)
    return float(np.sqrt((d / n + bias**2 + 2 * d * radius**2 / (at.rho * n**2)).min()))


def clipped_run(at: At, *, coordinate: bool) -> float:
    """At the radius of the practical tuning, written out."""
    radius = practical_radius(at.where, at.rho)
    scale = 1.0 if coordinate else at.moment
    length = math.sqrt(at.d) * scale
    far = radius - at.mean if coordinate else radius
    amplitude, most = (length, length + at.mean) if coordinate else (scale, scale)
    with mp.workdps(30):
        bias = min(mpf(most), at.kappa * amplitude * (mpf(length) / far) ** (at.p - 1))
        noise = 2 * at.d * radius**2 / (at.rho * at.n**2)
        return float(sqrt(length**2 / at.n + bias**2 + noise))


def coordinatewise_run(at: At, *, pure: bool) -> float:
    """With one block at the threshold of the practical tuning, written out."""
    share = at.epsilon if pure else at.rho
    noise: Literal["laplace", "gaussian"] = "laplace" if pure else "gaussian"
    tau = practical_threshold(at.where, share, noise, 6 / at.n)
    psi = [at.hinge(np.array(3 * tau - a)) ** 2 for a in (0.0, at.mean, 1e-6)]
    slope = (psi[2] - psi[0]) / 1e-6
    bias = (at.d - 1) * psi[0] + psi[1] + (math.sqrt(at.d) - 1) * at.mean * slope
    scale = 6 * tau / at.n
    cost = 2 * at.d * (at.d * scale / share) ** 2 if pure else at.d**2 * scale**2 / (2 * share)
    return math.sqrt(at.d / at.n + float(bias) + cost)


def ball(spread: float, reach: float, bias: float, noise: float, n: int) -> float:
    """The radius of an interval; `spread` is a variance over n."""
    fourth = 3 * spread**2 + 4 * reach**2 * spread / n**2
    return float((fourth / 0.025) ** 0.25 + bias + noise)


def clipped_interval(at: At) -> float:
    """With the bias that the bound on the run's mean square has, and the quantile of its noise."""
    radius = practical_radius(at.where, at.rho)
    bias = math.sqrt(
        clipped_run(at, coordinate=True) ** 2
        - at.d / at.n
        - 2 * at.d * radius**2 / (at.rho * at.n**2)
    )
    noise = 2 * radius / at.n / math.sqrt(2 * at.rho) * math.sqrt(chi2.ppf(0.975, at.d))
    return ball(at.d / at.n, radius, bias, noise, at.n)


def coordinatewise_interval(at: At, *, pure: bool) -> float:
    share = at.epsilon if pure else at.rho
    noise: Literal["laplace", "gaussian"] = "laplace" if pure else "gaussian"
    tau = practical_threshold(at.where, share, noise, 6 / at.n)
    scale = 6 * tau / at.n
    square = 2 * at.d * (at.d * scale / share) ** 2 if pure else at.d**2 * scale**2 / (2 * share)
    bias = math.sqrt(coordinatewise_run(at, pure=pure) ** 2 - at.d / at.n - square)
    if pure:
        quantile = at.d * scale / share * ((4 * at.d**2 + 20 * at.d) / 0.025) ** 0.25
    else:
        quantile = math.sqrt(square / at.d * chi2.ppf(0.975, at.d))
    return ball(at.d / at.n, 3 * tau * math.sqrt(at.d), bias, quantile, at.n)


def smoothed_run(at: At) -> float:
    """At the level and the smoothing variance of the practical tuning, written out."""
    plan = NoiseSmoothing().plan(at.where)
    c, tau, r = plan.statistic.smoothing_variance, plan.statistic.tau, at.mean
    second = 3 * (1 + c) / (8 * math.sqrt(2) * tau) * math.sqrt(at.d + 2 * r**2 + r**4)
    third = (
        math.sqrt(1 + 15 * c + 45 * c**2 + 15 * c**3) * (at.d ** (1 / 6) + r) ** 3 / (6 * tau**2)
    )
    bias = min(second, third) if at.p >= 3 else second
    top = 2 * math.sqrt(2) / 3 * math.erf(1 / math.sqrt(2 * c))
    sigma = 2 * tau * top * math.sqrt(at.d) / at.n / math.sqrt(2 * at.rho)
    return math.sqrt(bias**2 + (1 + c) * (at.d + r**2) / at.n + at.d * sigma**2)


def iterative_paper(at: At) -> float:
    k = 2397
    n, d, p, moment = at.n // k * k, at.d, at.p, at.moment
    first = 160 * moment * math.sqrt(d / n)
    second = 160 * math.sqrt(2) * GRID / n * math.sqrt(k * d / at.rho)
    third = 40 * np.sqrt(2 * GRID**2 * k**2 / (at.rho * n**2) + moment**2 * k / n)
    scale = math.sqrt(d) * moment
    bias = scale / (p - 1) * np.exp((p - 1) * np.log(scale / GRID)).clip(max=1e200)
    return float((6 * np.maximum(first, np.maximum(second, third)) + bias).min())


def iterative_probability(at: At) -> float:
    best = math.inf
    for k in range(8, 121):
        n = at.n // k * k
        spread = np.sqrt(at.moment**2 / n + 2 * GRID**2 * k / (at.rho * n**2))
        margin = 0.5 - math.sqrt(math.log(1 / 0.05) / (2 * k))
        if margin > 0:
            radius = (4 * math.sqrt(at.d) + math.sqrt(k)) * spread / margin
            best = min(best, float((6 * radius + _directional(at)).min()))
    return best


def fano_gilbert(at: At) -> float:
    n, d = at.n, at.d
    w, best = d // 2, 0.0
    q = np.exp(np.linspace(math.log(1e-7), 0, 4001))
    for distance in range(1, d + 1):
        few = sum(math.comb(w, i) * math.comb(d - w, i) for i in range(math.ceil(distance / 2)))
        words = math.log(math.comb(d, w)) - math.log(few)
        if words > 0:
            error = 1 - (at.rho * (n**2 * q**2 + n * q * (1 - q)) + math.log(2)) / words
            value = q ** (1 - 1 / at.p) * math.sqrt(distance) / 2 * error
            best = max(best, float(value[_inside(at, q)].max(initial=0.0)))
    return best


def _inside(at: At, q: Vector) -> NDArray[np.bool_]:
    return np.asarray(q ** (1 - 1 / at.p) * math.sqrt(at.d // 2) <= at.mean)


def fano_markov(at: At) -> float:
    n, d, words = at.n, at.d, 2 ** (at.d / 8)
    q = np.exp(np.linspace(math.log(1e-7), 0, 2001))
    q, best = q[_inside(at, q)], 0.0
    for t in 1 + np.exp(np.linspace(-4, 4, 201)):
        spread = np.exp(np.minimum(t * at.epsilon * n * q, 600))
        value = q ** (1 - 1 / at.p) * math.sqrt(d / 8) / 2 * (1 - 1 / t)
        best = max(best, float((value * (words - 1) / (words - 1 + spread)).max(initial=0)))
    return best


def gaussian(at: At) -> float:
    """The mean norm of n averaged normal vectors whose p-th moments are 1, with 30 digits."""
    with mp.workdps(30):
        moment = 2 ** (mpf(at.p) / 2) * gamma((mpf(at.p) + 1) / 2) / sqrt(pi)
        half = mpf(at.d) / 2
        return float(
            moment ** (-1 / mpf(at.p)) * sqrt(mpf(2) / at.n) * gamma(half + 0.5) / gamma(half)
        )


def hypercube_closed(at: At) -> float:
    q = np.exp(np.linspace(math.log(1e-7), 0, 60_001))
    q = q[q ** (1 - 1 / at.p) * math.sqrt(at.d) <= at.mean]
    value = math.sqrt(at.d) * q ** (1 - 1 / at.p) * (1 - at.n * q * math.sqrt(2 * at.rho / at.d))
    return float(value.max(initial=0.0))


FORMULAS: dict[str, Callable[[At], float]] = {
    "upper.mean.sample": sample,
    "upper.mean.median-of-means-probability": median_of_means,
    "upper.mean.cwme-cdp-paper": lambda at: coordinatewise_paper(at, pure=False),
    "upper.mean.cwme-pure-paper": lambda at: coordinatewise_paper(at, pure=True),
    "upper.mean.cwme-cdp-probability": lambda at: coordinatewise_probability(at, pure=False),
    "upper.mean.cwme-pure-probability": lambda at: coordinatewise_probability(at, pure=True),
    "upper.mean.cwme-cdp-expected": lambda at: coordinatewise_expected(at, pure=False),
    "upper.mean.cwme-pure-expected": lambda at: coordinatewise_expected(at, pure=True),
    "upper.mean.clipped-run": lambda at: clipped_run(at, coordinate=False),
    "upper.mean.clipped-run-coordinate": lambda at: clipped_run(at, coordinate=True),
    "upper.mean.cwme-cdp-run": lambda at: coordinatewise_run(at, pure=False),
    "upper.mean.cwme-pure-run": lambda at: coordinatewise_run(at, pure=True),
    "upper.mean.clipped-interval-coordinate": clipped_interval,
    "upper.mean.cwme-cdp-interval": lambda at: coordinatewise_interval(at, pure=False),
    "upper.mean.cwme-pure-interval": lambda at: coordinatewise_interval(at, pure=True),
    "upper.mean.smoothed-run": smoothed_run,
    "upper.mean.clipped-paper": clipped_paper,
    "upper.mean.clipped-probability": clipped_probability,
    "upper.mean.clipped-expected": clipped_expected,
    "upper.mean.clipped-expected-coordinate": clipped_expected_coordinate,
    "upper.mean.iterative-paper": iterative_paper,
    "upper.mean.iterative-probability": iterative_probability,
    "lower.mean.fano-cdp-gilbert": fano_gilbert,
    "lower.mean.fano-pure-markov": fano_markov,
    "lower.mean.hypercube-cdp-closed": hypercube_closed,
    "lower.mean.gaussian": gaussian,
}

_HERE = "tests/trust/test_independent.py::test_a_bound_on_the_mean_is_what_its_formula_says"
_LOOPS = "tests/bounds/test_lower_values.py::test_every_private_bound_at_p_is_what_plain_loops_give"
_RISKS = "tests/bounds/euclidean/test_values.py::test_the_risk_forms_from_their_definitions"
_SIGNS = "tests/bounds/test_lower_values.py::test_bounded_signs_are_what_plain_loops_give"
_CONVEX_SIGNS = "tests/bounds/euclidean/test_values.py::test_bounded_signs_from_the_definition"
_LIPSCHITZ_MOMENTS = "tests/bounds/euclidean/test_lipschitz_moments.py::test_the_"
_ORACLES = "tests/bounds/euclidean/test_values.py::test_the_uniform_oracles_from_their_definitions"
_STRONG = "tests/bounds/euclidean/test_values.py::test_the_strongly_convex_bound_by_brute_force"
_TRACING = "tests/bounds/test_tracing_values.py::test_tracing_bounds_are_what_plain_formulas_give"
_ASSOUAD = (
    "tests/bounds/test_tracing_values.py::"
    "test_assouad_is_what_plain_loops_give_and_its_best_probability_beats_a_grid"
)
_PACKING = (
    "tests/bounds/test_packing_values.py::"
    "test_no_private_answer_in_two_dimensions_is_below_the_packing_bound"
)
_DISTORTION = (
    "tests/bounds/test_tracing_values.py::"
    "test_the_concentrated_bounds_are_expectations_over_the_number_of_spikes"
)
_FLOORS = "tests/bounds/floors/test_values.py::test_every_floor_"

# Where each explicit bound is compared with a second implementation; a test may say so itself.
COUNTERPARTS: dict[str, str] = {
    **dict.fromkeys(FORMULAS, _HERE),
    **{
        f"lower.{row.format(notion)}": f"{_FLOORS}{test}"
        for notion in ("cdp", "approx", "pure")
        for test, rows in (
            (
                "on_the_data_is_its_formula_written_out",
                ("mean.floor-{}", "mean.floor-{}-squared", "sco-strong.floor-{}", "sco.floor-{}"),
            ),
            ("near_the_data_is_its_formula_by_plain_quadrature", ("mean.floor-near-{}",)),
        )
        for row in rows
    },
    "upper.mean.smoothed-expected": (
        "tests/bounds/test_upper_values.py::test_the_smoothed_bound_is_form_v_at_its_minimum"
    ),
    **dict.fromkeys(
        ("upper.sco.sgd-run", "upper.sco.sgd-run-smooth", "upper.sco.sgd-run-strong"),
        "tests/bounds/euclidean/test_runs.py::test_the_bounds_on_sgd_are_their_sums_written_out",
    ),
    "upper.mean.adaptive-expected": (
        "tests/bounds/test_upper_values.py::test_the_adaptive_bound_is_the_class_bound_written_out"
    ),
    "upper.mean.smoothed-probability": (
        "tests/bounds/test_upper_values.py::test_the_smoothed_deviation_is_form_i_at_its_minimum"
    ),
    **dict.fromkeys(
        (
            "lower.mean.fano-cdp",
            "lower.mean.fano-cdp-squared",
            "lower.mean.fano-pure",
            "lower.mean.hypercube-cdp",
            "lower.mean.hypercube-cdp-squared",
            "lower.mean.hypercube-pure",
            "lower.mean.hypercube-pure-squared",
        ),
        _LOOPS,
    ),
    "lower.mean.bounded-signs": _SIGNS,
    "lower.mean.biased-signs": (
        "tests/bounds/test_lower_values.py::test_biased_signs_are_what_plain_loops_give"
    ),
    **dict.fromkeys(
        (
            "lower.sco.fano-cdp",
            "lower.sco.fano-pure",
            "lower.sco.hypercube-pure",
            "lower.sco-strong.fano-cdp",
            "lower.sco-strong.fano-pure",
        ),
        _RISKS,
    ),
    **{
        f"lower.{area}.{name}{end}": where
        for area, end in (("mean", ""), ("mean", "-squared"), ("sco", ""), ("sco-strong", ""))
        for name, where in (
            ("approx-tracing", _TRACING),
            ("tracing-cdp", _TRACING),
            ("approx-assouad", _ASSOUAD),
            ("approx-packing", _PACKING),
            ("rate-distortion-cdp", _DISTORTION),
        )
        if (area, name) != ("sco", "rate-distortion-cdp")
    },
    "lower.sco.hypercube-cdp": _LOOPS,
    "lower.sco-strong.hypercube-cdp": _LOOPS,
    "lower.sco-strong.hypercube-pure": _LOOPS,
    "lower.sco.sampling-signs": _CONVEX_SIGNS,
    "lower.sco.lipschitz-moments-cdp": _LIPSCHITZ_MOMENTS + "cdp_bound_from_its_formula",
    "lower.sco.lipschitz-moments-approx": _LIPSCHITZ_MOMENTS + "approx_bound_from_its_formula",
    "lower.sco-strong.sampling-signs": _SIGNS,
    "upper.sco.cwme-explicit": _ORACLES,
    "upper.sco.smoothed-explicit": _ORACLES,
    "upper.sco.clipped-explicit": _ORACLES,
    "upper.sco.clipped-explicit-paper": _ORACLES,
    "upper.sco.cwme-strong-explicit": _STRONG,
    "upper.sco.cwme-strong-explicit-divided": _STRONG,
    "upper.sco.cwme-strong-framework": _STRONG,
    **dict(declared()),
}
