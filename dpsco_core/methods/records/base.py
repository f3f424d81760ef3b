"""What methods share that clip records: shares of the budget, checks, and blocked clipping."""

import math
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from dpsco_core.base.arrays import Vector, real_array
from dpsco_core.base.errors import NotApplicable, require
from dpsco_core.data.rows import Rows, row_norms
from dpsco_core.methods.base import Calibration, Tuning
from dpsco_core.privacy.budget import ApproxDP, PureDP, zcdp_rho
from dpsco_core.problems.base import Setting
from dpsco_core.statements.zhao import equation_15_reach, equation_15_rho

# The failure probability beta of every high-probability statement.
FAILURE_PROBABILITY = 0.05

# The range of clip levels. Outside of it products of doubles would overflow or lose all digits for
# some records, and a release that fails, or changes more, for one record is not private.
SMALLEST_LEVEL, LARGEST_LEVEL = 1e-150, 1e150
# Clip levels above the first number and squared norms below the second need no care: squares that
# matter keep all their digits, and a level over a norm is a normal double (above 1e-250).
LEAST_PLAIN_LEVEL, LARGEST_PLAIN_SQUARE = 1e-100, 1e290


def check_level(name: str, value: float) -> None:
    """Raise `InvalidInput` unless a clip radius or threshold is in the range of safe levels."""
    must = f"between {SMALLEST_LEVEL:g} and {LARGEST_LEVEL:g}"
    require(SMALLEST_LEVEL <= value <= LARGEST_LEVEL, name, must, value)


def check_kind(name: str, value: object, reader: str, such_as: str) -> None:
    """Raise an error if a value, such as a bare array, lacks the attribute `reader`.

    The message names `such_as` as what to pass instead.
    """
    require(hasattr(value, reader), name, f"an object such as {such_as}", type(value).__name__)


def check_count(name: str, value: object) -> None:
    """Raise an error unless a number of blocks or groups is None or a positive integer."""
    ok = value is None or (isinstance(value, int) and value >= 1)
    require(ok, name, "a positive integer", value)


def check_parts(name: str, parts: int, n: int) -> None:
    """Raise `NotApplicable` if there are more blocks or groups than records."""
    if n < parts:
        raise NotApplicable(f"{parts} {name} need at least as many records, and n={n}.", n=parts)


def check_rows(rows: Rows, setting: Setting) -> None:
    """Raise `InvalidInput` unless the rows have the n and d for which the sensitivity is stated.

    Both are public, so that a refusal tells nothing about a record.
    """
    check_kind("rows", rows, "blocks", "DenseRows(x) of an array x")
    require(rows.n == setting.n, "n", f"the number of rows, {rows.n}", setting.n)
    require(rows.d == setting.d, "d", f"the dimension of the rows, {rows.d}", setting.d)


def scaled_bound(setting: Setting) -> tuple[float, float]:
    """Return the moment scale, and the public bound on the mean in units of that scale."""
    scale = math.pow(setting.constants.coordinate_moment, 1 / setting.moment_order)
    return scale, setting.constants.mean_gradient_bound / scale


def into_ball(value: Vector, bound: float) -> Vector:
    """Return the projection of a released value on the ball of a public bound.

    In an array of values, shape (..., d), every one is projected by itself.
    """
    norm = np.linalg.norm(value, axis=-1, keepdims=True)
    return value if (norm <= bound).all() else value * (bound / np.maximum(norm, bound))


def projection_radius(setting: Setting, tuning: Tuning, *levels: float | None) -> float:
    """Return the radius of the ball about 0 on which a method projects its result.

    In the practical tuning it is the public bound. That ball contains the mean and is convex, so
    that projection never increases the error, and it reads nothing but the release. The radius is
    infinite in the tuning ``"theory"``, where a method answers as printed, and where one of
    `levels` is given. The steps of an optimiser give a level, because a projection would keep their
    noise from cancelling over the steps.
    """
    is_printed = tuning == "theory" or any(level is not None for level in levels)
    return math.inf if is_printed else setting.constants.mean_gradient_bound


def refuse_pure(setting: Setting) -> None:
    """Raise `NotApplicable` under a pure budget, which Gaussian noise cannot meet."""
    if not isinstance(setting.budget, PureDP):
        return
    reason = "Gaussian noise cannot give pure DP."
    # Only an optimiser has a set of parameters, and so a finite diameter.
    if math.isfinite(setting.constants.diameter):
        raise NotApplicable(reason, delta=1e-06)
    method = "mean.cwme-pure" if setting.m == 1 else "user.mean-adaptive"
    raise NotApplicable(reason, method=method, otherwise="set delta=1e-06")


def sampled_budget(setting: Setting, calibration: Calibration = "tight") -> ApproxDP:
    """Return the (epsilon, delta) budget of a method whose proof is amplification by sampling.

    Raises `NotApplicable` under another budget, because a secret sample amplifies zCDP hardly at
    all, and under the calibration ``"paper"``, because no paper prints such noise.
    """
    if calibration == "paper":
        raise NotApplicable(
            "An accountant finds the noise for secret samples; no paper prints it.",
            calibration="tight",
        )
    refuse_pure(setting)
    budget = setting.budget
    if isinstance(budget, ApproxDP):
        return budget
    raise NotApplicable(
        "What secret sampling hides is accounted for in (epsilon, delta), and the budget is "
        f"{budget}.",
        nearest="set epsilon=1 and delta=1e-06",
        changes=(("rho", None), ("epsilon", 1.0), ("delta", 1e-6)),
    )


def gaussian_share(setting: Setting, calibration: Calibration) -> float:
    """Return the rho that a Gaussian method may spend at the setting's budget.

    ``"tight"`` takes the exact Gaussian curve, ``"paper"`` inverts Bun and Steinke's conversion.

    Raises `NotApplicable` under a pure budget. It suggests another estimator of the mean, or a
    positive delta for an optimiser.
    """
    refuse_pure(setting)
    budget = setting.budget
    if calibration == "paper" and isinstance(budget, ApproxDP):
        return zcdp_rho(budget.epsilon, budget.delta, "paper")
    return setting.gaussian_rho


def zhao_share(setting: Setting, calibration: Calibration) -> float:
    r"""Return `gaussian_share`, with Zhao et al. (2024), equation (15), for ``"paper"``.

    :math:`\rho = \varepsilon^2/(1+2\sqrt{\ln(1/\delta)})^2`, which is valid up to
    :math:`\varepsilon = 1+2\sqrt{\ln(1/\delta)}`; beyond, Bun and Steinke's conversion is inverted.
    """
    budget = setting.budget
    if calibration == "tight" or not isinstance(budget, ApproxDP):
        return gaussian_share(setting, calibration)
    if budget.epsilon > equation_15_reach(budget.delta):
        return gaussian_share(setting, calibration)
    return equation_15_rho(budget.epsilon, budget.delta)


def sum_of_rows(rows: Rows, start: int = 0, stop: int | None = None) -> Vector:
    """Return the sum of rows `start` to `stop`, shape (d,), block by block."""
    total = np.zeros(rows.d)
    for block in rows.blocks(start, stop):
        total += np.add.reduce(real_array("rows", block), axis=0)
    return total


def block_means(rows: Rows, blocks: int, sum_of: Callable[..., Vector]) -> Vector:
    """Return the means of consecutive blocks of n // blocks rows each, shape (blocks, d).

    `sum_of` takes rows, a start and a stop. The remainder is dropped.
    """
    size = rows.n // blocks
    if blocks == 1:
        return rows.total(sum_of)[None, :] / size
    return np.stack([sum_of(rows, i * size, (i + 1) * size) / size for i in range(blocks)])


def clip_to_ball(block: Vector, radius: float) -> tuple[Vector, Vector]:
    r"""Return ``(rows, weights)`` with ``weights[i] * rows[i]`` the projection of row i.

    Rows inside the ball have weight 1; a row with a NaN or an infinite entry becomes the zero
    row, a fixed vector inside the ball, so that the sensitivity holds for every record. `radius`
    is a level that `check_level` allows.
    """
    block = real_array("rows", block)
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        norms = np.vecdot(block, block)
        # If the sum of squares is moderate, no norm is extreme. It takes half as long to compute
        # as the largest norm.
        total = norms.dot(norms)
    # The sum is moderate for most blocks, and a NaN fails the comparison. A squared norm below the
    # normal doubles is that of a row shorter than 1e-153, far inside a ball of such a radius.
    if radius >= LEAST_PLAIN_LEVEL and total < LARGEST_PLAIN_SQUARE:
        np.sqrt(norms, out=norms)
        np.maximum(norms, radius, out=norms)
        # The weights of rows inside the ball are exactly 1.
        return block, np.divide(radius, norms, out=norms)
    return _clip_wild_rows(block, radius)


def _clip_wild_rows(block: Vector, radius: float) -> tuple[Vector, Vector]:
    """Return what `clip_to_ball` does, for rows of arbitrary doubles and for any radius."""
    norms = row_norms(block)
    # A weight is exactly 1 for a row inside the ball, and 0 for a row of infinite norm.
    weights = radius / np.maximum(norms, radius)
    if norms.max() > LARGEST_LEVEL:
        is_far = norms > LARGEST_LEVEL
        block = block.copy()
        finite = np.isfinite(block).all(axis=1)
        block[is_far & ~finite] = 0.0
        # Beyond this level radius/norm would underflow, and its rounding could leave the ball.
        huge = is_far & finite
        block[huge] *= 2.0**-600
        weights[huge] = radius / row_norms(block[huge])
    return block, weights


def clipped_parts(rows: Rows, radius: float) -> Iterator[tuple[Vector, Vector]]:
    """Yield ``(rows, weights)`` block by block: weights times rows are projected on the ball."""
    for part in rows.factors():
        if part.coefficients is None:
            yield clip_to_ball(part.base, radius)
        else:
            norms = row_norms(part.base) if part.norms is None else part.norms
            yield clip_scaled(part.base, part.coefficients, norms, radius)


def clipped_mean(rows: Rows, radius: float) -> Vector:
    """Return the mean of the rows, projected on the ball of `radius`, shape (d,)."""
    return rows.total(partial(clipped_sum, radius=radius)) / rows.n


def clipped_sum(rows: Rows, radius: float) -> Vector:
    """Return the sum of the rows, projected on the ball of `radius`, shape (d,)."""
    total = np.zeros(rows.d)
    for safe, weights in clipped_parts(rows, radius):
        total += weights @ safe
    return total


def clip_scaled(
    base: Vector, coefficients: Vector, norms: Vector, radius: float | Vector
) -> tuple[Vector, Vector]:
    """Return ``(rows, weights)`` with ``weights[i] * rows[i]`` the projection of row i.

    Row i is ``coefficients[i] * base[i]``, and `norms` are those of `base`. A row whose
    coefficient or features are not finite, or beyond the range in which products of doubles are
    safe, becomes the zero row: a fixed vector inside the ball.
    """
    with np.errstate(over="ignore", under="ignore", invalid="ignore", divide="ignore"):
        sizes = np.abs(coefficients)
        # The radius over the norm of the whole row could fall below the normal doubles, where
        # rounding could leave the ball; the radius over the norm of the features cannot.
        weights = np.copysign(np.minimum(sizes, radius / norms), coefficients)
    # A NaN fails both comparisons.
    if not (norms.max() <= LARGEST_LEVEL and sizes.max() <= LARGEST_LEVEL):
        bad = ~((norms <= LARGEST_LEVEL) & (sizes <= LARGEST_LEVEL))
        base = base.copy()
        base[bad] = 0.0
        weights[bad] = 0.0
    return base, weights


def clipped_block_means(rows: Rows, limit: float, blocks: int) -> Vector:
    """Return the means of consecutive blocks of rows, entries clipped to [-limit, limit].

    The shape is (blocks, d), and a NaN counts as 0.
    """
    return block_means(rows, blocks, partial(sum_of_clipped_entries, limit=limit))


def sum_of_clipped_entries(
    rows: Rows, start: int = 0, stop: int | None = None, *, limit: float
) -> Vector:
    """Return the sum of rows whose entries are clipped to [-limit, limit], shape (d,)."""
    total, space = np.zeros(rows.d), np.empty((0, rows.d))
    for block in (real_array("rows", block) for block in rows.blocks(start, stop)):
        if len(space) < len(block):
            space = np.empty_like(block)
        clipped = np.clip(block, -limit, limit, out=space[: len(block)])
        units = np.ones(len(block))
        part = units @ clipped
        if np.isnan(part).any():
            np.nan_to_num(clipped, copy=False, nan=0.0)
            part = units @ clipped
        total += part
    return total


def median_sensitivity(threshold: float, blocks: int, block_size: int) -> float:
    r"""Return the largest change of a coordinate of Kamath et al.'s Algorithm 3 by one record.

    :math:`6\tau/b` for an odd number of blocks and :math:`3\tau/b` for an even one, where the
    median is the midpoint of two block means of which one can move. Both are attained.

    Examples
    --------
    >>> median_sensitivity(10.0, 8, 100), median_sensitivity(10.0, 7, 100)
    (0.3, 0.6)
    """
    require(blocks >= 1, "blocks", "a positive integer", blocks)
    return (3 if blocks % 2 == 0 else 6) * threshold / block_size


def hinge_bias(distance: float, order: float) -> float:
    r"""Return a bound on :math:`E(Y - t)_+` for all laws with EY = 0 and :math:`E|Y|^p \le 1`.

    .. math:: \frac1p\Big(\frac{p-1}p\Big)^{p-1} t^{-(p-1)}

    This is the sharp form of Kamath et al. (2022), Lemma B.1, and holds for any mean. For p = 2 the
    smaller :math:`(\sqrt{1+t^2}-t)/2` is used, which needs EY = 0. The bound is infinite for
    t <= 0, and where its square would exceed the range of doubles.
    """
    if distance <= 0:
        return math.inf
    if order == 2:
        return 0.5 / (math.sqrt(1 + distance**2) + distance)
    log_value = (order - 1) * (math.log1p(-1 / order) - math.log(distance)) - math.log(order)
    return math.exp(log_value) if log_value < 350 else math.inf


def tail_excess(distance: float, order: float) -> float:
    r"""Return a bound on :math:`E(|Y| - t)_+` for all laws with :math:`E|Y|^p \le 1`.

    .. math:: \min\{1,\ \kappa_p\,t^{1-p}\}

    This is the sharp form of Kamath et al. (2022), Lemma B.1, for any mean: Y may be the length of
    a vector. At p = 2 `hinge_bias` is smaller, but needs EY = 0.
    """
    if distance <= 0:
        return 1.0
    log_value = math.log(hinge_constant(order)) - (order - 1) * math.log(distance)
    return math.exp(min(log_value, 0.0))


def hinge_constant(order: float) -> float:
    r"""Return :math:`\kappa_p = (p-1)^{p-1}/p^p`, the constant of the sharp clipping bias."""
    return math.exp((order - 1) * math.log1p(-1 / order) - math.log(order))
