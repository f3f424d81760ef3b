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
from tests.bound_marks import declared

Vector = NDArray[np.float64]
GRID = np.exp(np.linspace(-9, 14, 60_001))  # A bound is minimised over these values.


class Inputs:
    """Quantities of the formulas, at unit coordinate-wise moments."""

    def __init__(self, setting: Setting) -> None:
        """Read the sizes, the constants and the budget of a setting."""
        constants = setting.constants
        assert constants.coordinate_moment == 1
        self.setting = setting
        self.n, self.d, self.p = setting.n, setting.d, setting.moment_order
        self.mean, self.moment = constants.mean_gradient_bound, constants.directional_moment
        self.trace = constants.variance_trace
        budget = setting.budget
        self.rho = budget.rho if isinstance(budget, ZCDP) else math.nan
        self.epsilon = budget.epsilon if isinstance(budget, PureDP) else math.nan
        p = self.p
        self.kappa = (p - 1) ** (p - 1) / p**p

    def hinge(self, t: Vector) -> Vector:
        """Return the sharp bound on the bias of clipping at distance t."""
        return (np.sqrt(1 + t * t) - t) / 2 if self.p == 2 else self.kappa * t ** (1 - self.p)


def sample(inputs: Inputs) -> float:
    """Return the bound on the root mean squared error of the sample mean."""
    return math.sqrt(inputs.trace / inputs.n)


def median_of_means(inputs: Inputs) -> float:
    """Return the bound on the error of the median of means."""
    return 10 * math.sqrt(inputs.d / (inputs.n // math.ceil(4 * math.log(2 * inputs.d / 0.05))))


def coordinatewise_paper(inputs: Inputs, *, pure: bool) -> float:
    """Return the printed bound of coordinatewise clipping."""
    n, d, beta = inputs.n, inputs.d, 0.1
    log = math.log(2 * d / beta)
    signal = inputs.epsilon * n / d if pure else math.sqrt(inputs.rho) * n / math.sqrt(d)
    tau = max(10.0, signal ** (1 / inputs.p))
    total = math.sqrt(d) * (10 * math.sqrt(4 * log / n) + 3 * (14 / tau) ** (inputs.p - 1))
    if pure:
        return total + 48 * tau * d**1.5 / (inputs.epsilon * n) * log**2
    sigma = math.sqrt(1152 * tau**2 * d * log**2 / (inputs.rho * n**2))
    return total + 2 * sigma * (math.sqrt(d) + math.sqrt(math.log(1 / beta)))


def coordinatewise_probability(inputs: Inputs, *, pure: bool) -> float:
    """Return the bound of coordinatewise clipping with probability 0.95."""
    d, beta = inputs.d, 0.05
    b = inputs.n // (2 * math.ceil(2 * math.log(2 * d / beta)))
    tau = (inputs.mean + GRID) / 3
    total = math.sqrt(d) * (10 / math.sqrt(b) + inputs.hinge(GRID))
    if pure:
        total = total + 3 * tau * d / (inputs.epsilon * b) * math.sqrt(d) * math.log(2 * d / beta)
    else:
        sigma = np.sqrt(9 * tau**2 * d / (2 * inputs.rho * b**2))
        total = total + sigma * (math.sqrt(d) + math.sqrt(2 * math.log(2 / beta)))
    return float(total.min())


def coordinatewise_expected(inputs: Inputs, *, pure: bool) -> float:
    """Return the bound on the mean error of coordinatewise clipping."""
    n, d, tau = inputs.n, inputs.d, (inputs.mean + GRID) / 3
    noise = (
        2 * d * (6 * tau * d / (inputs.epsilon * n)) ** 2
        if pure
        else d * 18 * tau**2 * d / (inputs.rho * n**2)
    )
    distance, step = inputs.mean + GRID, 1e-5 * (inputs.mean + GRID)
    rise = (inputs.hinge(distance - step) ** 2 - inputs.hinge(distance + step) ** 2) / (2 * step)
    bias = (
        (d - 1) * inputs.hinge(distance) ** 2
        + inputs.hinge(GRID) ** 2
        + (math.sqrt(d) - 1) * inputs.mean * rise
    )
    return float(np.sqrt(d / n + bias + noise).min())


def clipped_paper(inputs: Inputs) -> float:
    """Return the printed bound of clipping to a ball."""
    n, d, p, size = inputs.n, inputs.d, inputs.p, math.log(2 * 6**inputs.d / 0.05)
    slope = 4 * math.sqrt(size) / (n * math.sqrt(inputs.rho)) + 8 * size / n
    radius = math.sqrt(d) * inputs.moment * slope ** (-1 / p)
    sampling = max(math.sqrt(12 * inputs.moment**2 / n * size), 8 * radius / n * size)
    bias = d ** (p / 2) * inputs.moment**p / (p - 1) * radius ** (1 - p)
    return sampling + bias + 4 * radius / (n * math.sqrt(inputs.rho)) * math.sqrt(size)


def clipped_probability(inputs: Inputs) -> float:
    """Return the bound of clipping to a ball with probability 0.95."""
    n, d, size = inputs.n, inputs.d, math.log(2 * 5**inputs.d / 0.05)
    sampling = np.maximum(math.sqrt(12 * inputs.moment**2 / n * size), 8 * GRID / n * size)
    tail = math.sqrt(d) + math.sqrt(2 * math.log(2 / 0.05))
    noise = math.sqrt(2) * GRID / (n * math.sqrt(inputs.rho)) * tail
    return float((sampling + _directional(inputs) + noise).min())


def _directional(inputs: Inputs) -> Vector:
    """Return the bias of clipping at each radius of GRID, from moments along directions."""
    scale = math.sqrt(inputs.d) * inputs.moment
    return (
        inputs.kappa * inputs.moment * np.exp((inputs.p - 1) * np.log(scale / GRID)).clip(max=1e200)
    )


def clipped_expected(inputs: Inputs) -> float:
    """Return the bound on the mean error of clipping, from moments along directions."""
    d, n = inputs.d, inputs.n
    square = (
        d * inputs.moment**2 / n + _directional(inputs) ** 2 + 2 * d * GRID**2 / (inputs.rho * n**2)
    )
    return float(np.sqrt(square.min()))


def clipped_expected_coordinate(inputs: Inputs) -> float:
    """Return the bound on the mean error of clipping, from moments of coordinates."""
    d, n, scale, radius = inputs.d, inputs.n, math.sqrt(inputs.d), inputs.mean + GRID
    bias = inputs.kappa * scale * np.exp((inputs.p - 1) * np.log(scale / GRID)).clip(max=1e150)
    return float(np.sqrt((d / n + bias**2 + 2 * d * radius**2 / (inputs.rho * n**2)).min()))


def clipped_run(inputs: Inputs, *, coordinate: bool) -> float:
    """Return the bound on a run of clipping at the radius of the practical tuning, written out."""
    radius = practical_radius(inputs.setting, inputs.rho)
    scale = 1.0 if coordinate else inputs.moment
    length = math.sqrt(inputs.d) * scale
    distance = radius - inputs.mean if coordinate else radius
    amplitude, largest_bias = (length, length + inputs.mean) if coordinate else (scale, scale)
    with mp.workdps(30):
        bias = min(
            mpf(largest_bias), inputs.kappa * amplitude * (mpf(length) / distance) ** (inputs.p - 1)
        )
        noise = 2 * inputs.d * radius**2 / (inputs.rho * inputs.n**2)
        return float(sqrt(length**2 / inputs.n + bias**2 + noise))


def coordinatewise_run(inputs: Inputs, *, pure: bool) -> float:
    """Return the bound with one block at the threshold of the practical tuning, written out."""
    share = inputs.epsilon if pure else inputs.rho
    noise: Literal["laplace", "gaussian"] = "laplace" if pure else "gaussian"
    tau = practical_threshold(inputs.setting, share, noise, 6 / inputs.n)
    psi = [inputs.hinge(np.array(3 * tau - a)) ** 2 for a in (0.0, inputs.mean, 1e-6)]
    slope = (psi[2] - psi[0]) / 1e-6
    bias = (inputs.d - 1) * psi[0] + psi[1] + (math.sqrt(inputs.d) - 1) * inputs.mean * slope
    scale = 6 * tau / inputs.n
    cost = (
        2 * inputs.d * (inputs.d * scale / share) ** 2
        if pure
        else inputs.d**2 * scale**2 / (2 * share)
    )
    return math.sqrt(inputs.d / inputs.n + float(bias) + cost)


def ball(spread: float, reach: float, bias: float, noise: float, n: int) -> float:
    """Return the radius of a confidence ball from its parts; `spread` is a variance over n."""
    fourth_moment = 3 * spread**2 + 4 * reach**2 * spread / n**2
    return float((fourth_moment / 0.025) ** 0.25 + bias + noise)


def clipped_interval(inputs: Inputs) -> float:
    """Return the interval of a clipped mean, from the bias of the run's mean square and its noise's
    quantile.
    """
    radius = practical_radius(inputs.setting, inputs.rho)
    bias = math.sqrt(
        clipped_run(inputs, coordinate=True) ** 2
        - inputs.d / inputs.n
        - 2 * inputs.d * radius**2 / (inputs.rho * inputs.n**2)
    )
    noise = 2 * radius / inputs.n / math.sqrt(2 * inputs.rho) * math.sqrt(chi2.ppf(0.975, inputs.d))
    return ball(inputs.d / inputs.n, radius, bias, noise, inputs.n)


def coordinatewise_interval(inputs: Inputs, *, pure: bool) -> float:
    """Return the bound of coordinatewise clipping at the practical threshold."""
    share = inputs.epsilon if pure else inputs.rho
    noise: Literal["laplace", "gaussian"] = "laplace" if pure else "gaussian"
    tau = practical_threshold(inputs.setting, share, noise, 6 / inputs.n)
    scale = 6 * tau / inputs.n
    square = (
        2 * inputs.d * (inputs.d * scale / share) ** 2
        if pure
        else inputs.d**2 * scale**2 / (2 * share)
    )
    bias = math.sqrt(coordinatewise_run(inputs, pure=pure) ** 2 - inputs.d / inputs.n - square)
    if pure:
        quantile = inputs.d * scale / share * ((4 * inputs.d**2 + 20 * inputs.d) / 0.025) ** 0.25
    else:
        quantile = math.sqrt(square / inputs.d * chi2.ppf(0.975, inputs.d))
    return ball(inputs.d / inputs.n, 3 * tau * math.sqrt(inputs.d), bias, quantile, inputs.n)


def smoothed_run(inputs: Inputs) -> float:
    """Return the bound at the level and smoothing variance of the practical tuning, written out."""
    plan = NoiseSmoothing().plan(inputs.setting)
    c, tau, r = plan.statistic.smoothing_variance, plan.statistic.tau, inputs.mean
    second_order = 3 * (1 + c) / (8 * math.sqrt(2) * tau) * math.sqrt(inputs.d + 2 * r**2 + r**4)
    third_order = (
        math.sqrt(1 + 15 * c + 45 * c**2 + 15 * c**3)
        * (inputs.d ** (1 / 6) + r) ** 3
        / (6 * tau**2)
    )
    bias = min(second_order, third_order) if inputs.p >= 3 else second_order
    top = 2 * math.sqrt(2) / 3 * math.erf(1 / math.sqrt(2 * c))
    sigma = 2 * tau * top * math.sqrt(inputs.d) / inputs.n / math.sqrt(2 * inputs.rho)
    return math.sqrt(bias**2 + (1 + c) * (inputs.d + r**2) / inputs.n + inputs.d * sigma**2)


def iterative_paper(inputs: Inputs) -> float:
    """Return the printed bound of iterative updating."""
    k = 2397
    n, d, p, moment = inputs.n // k * k, inputs.d, inputs.p, inputs.moment
    sampling = 160 * moment * math.sqrt(d / n)
    privacy = 160 * math.sqrt(2) * GRID / n * math.sqrt(k * d / inputs.rho)
    group_noise = 40 * np.sqrt(2 * GRID**2 * k**2 / (inputs.rho * n**2) + moment**2 * k / n)
    scale = math.sqrt(d) * moment
    bias = scale / (p - 1) * np.exp((p - 1) * np.log(scale / GRID)).clip(max=1e200)
    return float((6 * np.maximum(sampling, np.maximum(privacy, group_noise)) + bias).min())


def iterative_probability(inputs: Inputs) -> float:
    """Return the bound of iterative updating with probability 0.95."""
    best = math.inf
    for k in range(8, 121):
        n = inputs.n // k * k
        spread = np.sqrt(inputs.moment**2 / n + 2 * GRID**2 * k / (inputs.rho * n**2))
        margin = 0.5 - math.sqrt(math.log(1 / 0.05) / (2 * k))
        if margin > 0:
            radius = (4 * math.sqrt(inputs.d) + math.sqrt(k)) * spread / margin
            best = min(best, float((6 * radius + _directional(inputs)).min()))
    return best


def fano_gilbert(inputs: Inputs) -> float:
    """Return the Fano bound of zCDP with the Gilbert bound on the number of words."""
    n, d = inputs.n, inputs.d
    w, best = d // 2, 0.0
    q = np.exp(np.linspace(math.log(1e-7), 0, 4001))
    for distance in range(1, d + 1):
        near_words = sum(
            math.comb(w, i) * math.comb(d - w, i) for i in range(math.ceil(distance / 2))
        )
        words = math.log(math.comb(d, w)) - math.log(near_words)
        if words > 0:
            error = 1 - (inputs.rho * (n**2 * q**2 + n * q * (1 - q)) + math.log(2)) / words
            value = q ** (1 - 1 / inputs.p) * math.sqrt(distance) / 2 * error
            best = max(best, float(value[_is_in_ball(inputs, q)].max(initial=0.0)))
    return best


def _is_in_ball(inputs: Inputs, q: Vector) -> NDArray[np.bool_]:
    """Return whether the instance with spike probability q has its mean in the ball."""
    return np.asarray(q ** (1 - 1 / inputs.p) * math.sqrt(inputs.d // 2) <= inputs.mean)


def fano_markov(inputs: Inputs) -> float:
    """Return the Fano bound of pure DP with Markov's inequality for the number of spikes."""
    n, d, words = inputs.n, inputs.d, 2 ** (inputs.d / 8)
    q = np.exp(np.linspace(math.log(1e-7), 0, 2001))
    q, best = q[_is_in_ball(inputs, q)], 0.0
    for t in 1 + np.exp(np.linspace(-4, 4, 201)):
        spread = np.exp(np.minimum(t * inputs.epsilon * n * q, 600))
        value = q ** (1 - 1 / inputs.p) * math.sqrt(d / 8) / 2 * (1 - 1 / t)
        best = max(best, float((value * (words - 1) / (words - 1 + spread)).max(initial=0)))
    return best


def gaussian(inputs: Inputs) -> float:
    """Return the mean norm of n averaged normal vectors with p-th moments 1, with 30 digits."""
    with mp.workdps(30):
        moment = 2 ** (mpf(inputs.p) / 2) * gamma((mpf(inputs.p) + 1) / 2) / sqrt(pi)
        half = mpf(inputs.d) / 2
        return float(
            moment ** (-1 / mpf(inputs.p))
            * sqrt(mpf(2) / inputs.n)
            * gamma(half + 0.5)
            / gamma(half)
        )


def hypercube_closed(inputs: Inputs) -> float:
    """Return the closed-form lower bound of the hypercube under zCDP, maximised over spike
    probabilities.
    """
    q = np.exp(np.linspace(math.log(1e-7), 0, 60_001))
    q = q[q ** (1 - 1 / inputs.p) * math.sqrt(inputs.d) <= inputs.mean]
    value = (
        math.sqrt(inputs.d)
        * q ** (1 - 1 / inputs.p)
        * (1 - inputs.n * q * math.sqrt(2 * inputs.rho / inputs.d))
    )
    return float(value.max(initial=0.0))


FORMULAS: dict[str, Callable[[Inputs], float]] = {
    "upper.mean.sample": sample,
    "upper.mean.median-of-means-probability": median_of_means,
    "upper.mean.cwme-cdp-paper": lambda inputs: coordinatewise_paper(inputs, pure=False),
    "upper.mean.cwme-pure-paper": lambda inputs: coordinatewise_paper(inputs, pure=True),
    "upper.mean.cwme-cdp-probability": lambda inputs: coordinatewise_probability(
        inputs, pure=False
    ),
    "upper.mean.cwme-pure-probability": lambda inputs: coordinatewise_probability(
        inputs, pure=True
    ),
    "upper.mean.cwme-cdp-expected": lambda inputs: coordinatewise_expected(inputs, pure=False),
    "upper.mean.cwme-pure-expected": lambda inputs: coordinatewise_expected(inputs, pure=True),
    "upper.mean.clipped-run": lambda inputs: clipped_run(inputs, coordinate=False),
    "upper.mean.clipped-run-coordinate": lambda inputs: clipped_run(inputs, coordinate=True),
    "upper.mean.cwme-cdp-run": lambda inputs: coordinatewise_run(inputs, pure=False),
    "upper.mean.cwme-pure-run": lambda inputs: coordinatewise_run(inputs, pure=True),
    "upper.mean.clipped-interval-coordinate": clipped_interval,
    "upper.mean.cwme-cdp-interval": lambda inputs: coordinatewise_interval(inputs, pure=False),
    "upper.mean.cwme-pure-interval": lambda inputs: coordinatewise_interval(inputs, pure=True),
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

_MEAN_TEST = "tests/trust/test_independent.py::test_a_bound_on_the_mean_is_what_its_formula_says"
_LOOPS = "tests/bounds/test_lower_values.py::test_every_private_bound_at_p_is_what_plain_loops_give"
_RISKS = "tests/bounds/euclidean/test_values.py::test_the_risk_forms_agree_with_their_definitions"
_SIGNS = "tests/bounds/test_lower_values.py::test_bounded_signs_are_what_plain_loops_give"
_CONVEX_SIGNS = (
    "tests/bounds/euclidean/test_values.py::test_the_bounded_signs_bound_agrees_with_its_definition"
)
_LIPSCHITZ_MOMENTS = "tests/bounds/euclidean/test_lipschitz_moments.py::test_the_"
_ORACLES = (
    "tests/bounds/euclidean/test_values.py::test_the_uniform_oracles_agree_with_their_definitions"
)
_STRONG = (
    "tests/bounds/euclidean/test_values.py::test_the_strongly_convex_bound_agrees_with_brute_force"
)
_TRACING = "tests/bounds/test_tracing_values.py::test_tracing_bounds_agree_with_plain_formulas"
_ASSOUAD = (
    "tests/bounds/test_tracing_values.py::"
    "test_assouads_bound_agrees_with_plain_loops_and_its_best_probability_beats_a_grid"
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

# Each explicit bound has the test that compares it with a second implementation; a test may also
# declare that itself.
COUNTERPARTS: dict[str, str] = {
    **dict.fromkeys(FORMULAS, _MEAN_TEST),
    **{
        f"lower.{row.format(notion)}": f"{_FLOORS}{test}"
        for notion in ("cdp", "approx", "pure")
        for test, rows in (
            (
                "on_the_data_equals_its_formula_written_out",
                ("mean.floor-{}", "mean.floor-{}-squared", "sco-strong.floor-{}", "sco.floor-{}"),
            ),
            ("near_the_data_agrees_with_plain_quadrature", ("mean.floor-near-{}",)),
        )
        for row in rows
    },
    "upper.mean.smoothed-expected": (
        "tests/bounds/test_upper_values.py::test_the_smoothed_bound_is_the_minimum_of_form_v"
    ),
    **dict.fromkeys(
        ("upper.sco.sgd-run", "upper.sco.sgd-run-smooth", "upper.sco.sgd-run-strong"),
        "tests/bounds/euclidean/test_runs.py::test_the_bounds_on_sgd_equal_their_sums_written_out",
    ),
    "upper.mean.adaptive-expected": (
        "tests/bounds/test_upper_values.py::test_the_adaptive_bound_is_its_formula_written_out"
    ),
    "upper.mean.smoothed-probability": (
        "tests/bounds/test_upper_values.py::test_the_smoothed_deviation_is_the_minimum_of_form_i"
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
        f"lower.{area}.{name}{end}": test
        for area, end in (("mean", ""), ("mean", "-squared"), ("sco", ""), ("sco-strong", ""))
        for name, test in (
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
