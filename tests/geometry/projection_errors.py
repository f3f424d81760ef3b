r"""How far a computed projection can be from the true one, whatever algorithm computed it.

Take any point p' of the set and any normal n of the set at p': then p' is the projection of p' + n,
and projections do not expand distances, so that

.. math:: \|p - \Pi(v)\| \le \|p - p'\| + \|p' + n - v\|.

Here p' is p, moved onto the boundary where p nearly is, and n is the normal nearest to v - p', all
in extended precision. The bound is proven for every p, and small for a good one.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from dpsco_core.geometry import (
    Ball,
    Box,
    ConstraintSet,
    GroupBall,
    L1Ball,
    LqBall,
    Simplex,
    SolidSimplex,
    SparseHull,
)

Vector = NDArray[np.float64]
Long = NDArray[np.longdouble]

EXTENDED = np.finfo(np.longdouble).eps < 2e-19
TINY = 1e-20
CLOSE = np.longdouble(1e-17)  # The rounding error of a sum in extended precision.


def norm(x: Long) -> float:
    """Return the Euclidean norm as a float, without overflow."""
    top = np.abs(x).max()
    return float(top * np.sqrt(((x / top) ** 2).sum())) if top > 0 else 0.0


def power_norm(x: Long, exponent: float) -> np.longdouble:
    """Return the l_exponent norm in extended precision, without overflow."""
    top = np.abs(x).max()
    return top * ((np.abs(x) / top) ** np.longdouble(exponent)).sum() ** (
        1 / np.longdouble(exponent)
    )


def projection_error(constraint: ConstraintSet, v: Vector, p: Vector) -> float:
    """Return an upper bound on the l2 distance of `p` from the projection of `v`."""
    target, projected = v.astype(np.longdouble), p.astype(np.longdouble)
    return min(
        norm(projected - candidate) + norm(candidate + normal - target)
        for candidate, normal in yield_candidates(constraint, target, projected)
    )


def yield_candidates(c: ConstraintSet, v: Long, p: Long) -> Iterator[tuple[Long, Long]]:
    """Yield pairs of a point of the set near p, and a normal of the set there that is
    near v - p.
    """
    match c:
        case Box():
            b = c.half_widths.astype(np.longdouble)
            corner = np.clip(p, -b, b)
            normal = v - corner
            yield corner, np.where(np.sign(normal) * corner >= b, normal, 0)
        case Simplex():
            yield shifted(v, p, c.radius, free=True)
        case SolidSimplex():
            yield from solid(v, p, c.radius)
        case L1Ball():
            signs = np.sign(v)
            for point, normal in solid(np.abs(v), signs * p, c.radius):
                yield signs * point, signs * normal
        case GroupBall():
            yield from grouped(c, v, p)
        case SparseHull():
            yield from sparse(c, v, p)
        case Ball() | LqBall():
            yield from smooth(c, v, p)
        case _:
            raise TypeError(c)


def shifted(v: Long, p: Long, total: float, *, free: bool) -> tuple[Long, Long]:
    """Return nonnegative entries near p with the given sum, and a normal with one common value
    where they are positive; `free` lets that value be negative.
    """
    point = without_dust(p, total)
    point *= np.longdouble(total) / point.sum()
    support = point > 0
    tau = (v - point)[support].mean()
    tau = tau if free else max(tau, np.longdouble(0))
    return point, np.where(support, tau, np.minimum(v, tau))


def without_dust(p: Long, total: float) -> Long:
    """Return p with its entries of the size of rounding errors set to 0."""
    return np.where(p > 4e-16 * total, p, 0)


def solid(v: Long, p: Long, total: float) -> Iterator[tuple[Long, Long]]:
    """Yield candidates for the projection on the solid simplex, each with its normal."""
    point = without_dust(p, total)
    if point.sum() > total:
        point *= np.longdouble(total) / point.sum()
    yield point, np.where(point > 0, 0, np.minimum(v, 0))
    if point.sum() > 0:
        yield shifted(v, p, total, free=False)


def grouped(c: GroupBall, v: Long, p: Long) -> Iterator[tuple[Long, Long]]:
    """Yield candidates for the projection on a ball of groups, each with its normal."""
    blocks, points = v.reshape(c.groups, -1), p.reshape(c.groups, -1)
    sizes = np.sqrt((points**2).sum(axis=1))
    lengths = np.sqrt((blocks**2).sum(axis=1))
    for size, normal in solid(lengths, sizes, c.radius):
        support = sizes > 0
        unit = np.where(
            support[:, None],
            points / np.where(support, sizes, 1)[:, None],
            blocks / np.where(lengths > 0, lengths, 1)[:, None],
        )
        yield (unit * size[:, None]).ravel(), (unit * normal[:, None]).ravel()


def sparse(c: SparseHull, v: Long, p: Long) -> Iterator[tuple[Long, Long]]:
    """Yield candidates for the projection on a sparse hull, each with its normal."""
    r = np.longdouble(c.radius)
    signs, size, v = np.sign(v), without_dust(np.abs(p), c.radius), np.abs(v)
    root = np.sqrt(np.longdouble(c.sparsity))
    support = size > 0
    k = int(support.sum())
    shrink = min(np.longdouble(1), r / norm_long(size), root * r / size.sum())
    yield signs * size * shrink, np.zeros(c.d, dtype=np.longdouble)
    if k == 0:
        return
    for point, l1, l2 in boundary_points(size, support, k, root, r):
        if point.sum() > root * r * (1 + CLOSE) or norm_long(point) > r * (1 + CLOSE):
            continue
        a, b = fitted(
            v[support] - point[support], point[support], l1, l2
        )  # At this point the normal is a + b.
        yield signs * point, signs * np.where(support, a + b * point, np.minimum(v, a))


def norm_long(x: Long) -> np.longdouble:
    """Return the Euclidean norm in extended precision."""
    return np.sqrt((x**2).sum())


def boundary_points(
    size: Long, support: NDArray[np.bool_], k: int, root: np.longdouble, r: np.longdouble
) -> Iterator[tuple[Long, int, int]]:
    """Yield points on the l2 sphere, on the l1 sphere and on both, each with two flags: whether it
    is on the l1 and on the l2 sphere.
    """
    yield size * (r / norm_long(size)), 0, 1
    yield size * (root * r / size.sum()), 1, 0
    s1, s2, s = size.sum(), (size**2).sum(), root**2
    # The roots solve (s1 - k t)^2 = s (s2 - 2 t s1 + k t^2).
    quadratic, linear, constant = k * (k - s), -2 * s1 * (k - s), s1**2 - s * s2
    if quadratic <= 0:
        return
    spread = np.sqrt(max(linear**2 - 4 * quadratic * constant, np.longdouble(0)))
    t = 2 * constant / (-linear + spread)
    shrunk = np.where(support, np.maximum(size - t, 0), 0)
    if shrunk.sum() > 0:
        yield shrunk * (root * r / shrunk.sum()), 1, 1


def fitted(rest: Long, point: Long, l1: int, l2: int) -> tuple[np.longdouble, np.longdouble]:
    """Return the nonnegative a and b for which a + b point is nearest to the rest; a flag of 0
    forces the number to 0.
    """
    mean, centre = rest.mean(), point.mean()
    spread = ((point - centre) ** 2).sum()
    zero = np.longdouble(0)
    if l1 and l2 and spread > 0:
        b = max(((point - centre) * (rest - mean)).sum() / spread, zero)
        return max(mean - b * centre, zero), b
    if l1:
        return max(mean, zero), zero
    return zero, max((rest * point).sum() / (point**2).sum(), zero)


def smooth(c: Ball | LqBall, v: Long, p: Long) -> Iterator[tuple[Long, Long]]:
    """Yield candidates for the projection on a ball of an lq norm, each with its normal."""
    signs, size = np.sign(v), np.abs(p)
    zero = np.zeros(len(v), dtype=np.longdouble)
    if isinstance(c, LqBall):
        q, scale, r = c.exponent, np.ones(c.d), np.longdouble(c.radius)
    else:
        q, r = 2.0, np.longdouble(1)
        scale = np.full(c.d, c.radius)
    length = power_norm(size / scale, q) / r
    yield signs * size / max(length, np.longdouble(1)), zero
    if length == 0:
        return
    point = size / length
    direction = (point / scale) ** np.longdouble(q - 1) / scale
    rest = np.abs(v) - point
    large = point >= 1e-12 * point.max()
    nu = (rest * direction)[large].sum() / (direction**2)[large].sum()
    nu = max(nu, np.longdouble(0))
    if nu > 0 and isinstance(c, LqBall):
        # Where the true entry vanishes, the residual is all of v, and the computed entry must
        # vanish too.
        vanish = np.log(np.abs(v) / nu + TINY**9) <= math.log(TINY) * (q - 1)
        fading = (point < 2 * TINY) & vanish
        yield signs * point, signs * np.where(fading, np.abs(v) - point, nu * direction)
    yield signs * point, signs * nu * direction


def hard_inputs(c: ConstraintSet, rng: np.random.Generator) -> Iterator[tuple[str, Vector]]:
    """Yield vectors at and around the points that make a projection difficult, each
    with a label.
    """
    d, size = c.d, c.l2_radius
    gauss = rng.standard_normal(d)
    unit = gauss / np.linalg.norm(gauss)
    for scale in (0.5, 3.0, 1e3, 1e9):
        yield f"normal {scale:g}", unit * size * scale
    cauchy = rng.standard_cauchy(d)
    yield "cauchy", cauchy / np.abs(cauchy).max() * 5 * size
    yield "ladder", np.geomspace(1, 1e-12, d) * 3 * size
    yield "signed ladder", np.geomspace(1e-300, 3, d) * size * rng.choice([-1.0, 1.0], d)
    yield "equal", np.full(d, 2 * size / math.sqrt(d))
    yield "nearly equal", np.full(d, 2 * size) + 1e-9 * size * gauss
    spike = np.full(d, 1e-3 * size / d)
    spike[d // 2] = 1.001 * size
    yield "spike over equal entries", spike
    yield "spike over noise", spike + 1e-4 * size * gauss / d
    wide = np.zeros(d)
    wide[: max(1, d // 3)] = gauss[: max(1, d // 3)]
    yield "half zero", wide * size
    for (name, point), distance in itertools.product(
        (("vertex", unit), ("axis", np.eye(1, d)[0]), ("plus", np.abs(unit))), (0.0, 1e-9, 1e-15)
    ):
        boundary = c.support_point(point)
        yield f"{name} + {distance:g}", boundary * (1 + distance) + distance * size * unit
        yield f"{name} + normal", boundary + 1e-8 * size * point
    yield "projected, then out", c.project(5 * size * unit) + 1e-6 * size * rng.standard_normal(d)
