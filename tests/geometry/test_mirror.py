"""Mirror maps: identities to 1e-12 and strong convexity.

Faults that these tests would catch: the printed index of the map, and a power taken before the norm
is divided out.
"""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest

from dpsco_core.base.errors import InvalidInput
from dpsco_core.geometry import EntropyMirror, PowerMirror, RegularSpace, Simplex, lq_norm
from tests.folded import each
from tests.geometry.sets import divergence

S = (1.01, 1.05, 1.25, 1.5, 1.9, 2.0, 3.0, 8.0)
VECTORS = {
    "plain": np.array([1.0, -2.0, 0.3, 0.0, 5.0]),
    "uneven": np.array([1.0, -1e-12, 0.0, 1e-5, 1e3]),
    "huge": np.array([1e300, -2e300, 3e299]),
    "tiny": np.array([1e-300, -2e-300, 3e-301]),
    "one": np.array([-4.0]),
}


def close(a: np.ndarray, b: np.ndarray, tolerance: float = 1e-12) -> bool:
    """Whether the largest difference is at most `tolerance` times the largest entry of `b`."""
    return bool(np.abs(a - b).max() <= tolerance * np.abs(b).max())


@each("s", S)
@each("name", VECTORS)
def test_the_gradients_are_inverse_to_each_other(s: float, name: str) -> None:
    mirror, x = PowerMirror(exponent=s, kappa=1.7), VECTORS[name]
    u = mirror.gradient(x)
    assert close(mirror.conjugate_gradient(u), x)
    if name == "plain":
        assert close(mirror.gradient(mirror.conjugate_gradient(x)), x)
    assert lq_norm(u, mirror.dual_exponent) == pytest.approx(1.7 * lq_norm(x, s), rel=1e-12)
    if name not in ("huge", "tiny"):  # In these cases squares leave the range of doubles.
        conjugate = lq_norm(u, mirror.dual_exponent) ** 2 / (2 * 1.7)
        assert mirror.value(x) + conjugate == pytest.approx(float(x @ u), rel=1e-12)


@pytest.mark.parametrize("s", S)
def test_the_gradient_is_that_of_the_value(s: float) -> None:
    mirror, x = PowerMirror(exponent=s, kappa=0.6), np.array([0.7, -1.3, 2.0])
    with mpmath.workdps(40):

        def value(*w: mpmath.mpf) -> mpmath.mpf:
            """Return the value of the mirror map to many digits."""
            return 0.3 * sum(abs(v) ** mpmath.mpf(s) for v in w) ** (2 / mpmath.mpf(s))

        exact = [
            float(mpmath.diff(value, tuple(x), tuple(int(i == j) for i in range(3))))
            for j in range(3)
        ]
    assert close(mirror.gradient(x), np.array(exact), 1e-12)


@pytest.mark.parametrize("s", S)
def test_the_gradient_is_odd_homogeneous_and_zero_at_zero(s: float) -> None:
    mirror, x = PowerMirror(exponent=s), VECTORS["plain"]
    assert np.array_equal(mirror.gradient(-x), -mirror.gradient(x))
    assert close(mirror.gradient(8.0 * x), 8.0 * mirror.gradient(x), 1e-15)
    assert not mirror.gradient(0 * x).any() and not mirror.conjugate_gradient(0 * x).any()
    assert mirror.value(0 * x) == 0


def test_exponent_two_is_the_identity() -> None:
    mirror, x = PowerMirror(exponent=2.0), VECTORS["plain"]
    assert close(mirror.gradient(x), x, 1e-15)
    assert divergence(mirror, x, 0.5 * x) == pytest.approx(float(x @ x) / 8, rel=1e-14)


@pytest.mark.parametrize(("d", "q"), [(6, 1.1), (6, 1.5), (50, 1.9), (50, 1.05), (20, 1.0)])
def test_the_map_of_a_space_is_strongly_convex(d: int, q: float) -> None:
    mirror = PowerMirror.for_space(RegularSpace(d=d, exponent=q))
    rng = np.random.default_rng(4)
    for _ in range(200):
        x, y = rng.standard_normal((2, d)) * rng.choice([0.01, 1, 10], size=(2, 1))
        y = x + y
        assert divergence(mirror, y, x) >= 0.5 * lq_norm(y - x, q) ** 2 * (1 - 1e-9)
    x = np.ones(d)  # At this point the bound is tight in the branch "power".
    y = x + 1e-4 * np.where(np.arange(d) % 2, 1.0, -1.0)
    ratio = 2 * mirror.kappa * exact_divergence(mirror.exponent, y, x) / lq_norm(y - x, q) ** 2
    assert 1 - 1e-7 <= ratio < 1.4


def test_the_inverse_fails_with_the_printed_index() -> None:
    """With the printed index, x = 0 and y = 1 give 0.0396 and 0.543
    (theory/su-zhao-wang.md, 2.0).
    """
    for q, ratio in ((1.9, 0.0396), (1.5, 0.543)):
        printed = PowerMirror(exponent=1 / (2 - q), kappa=1 / (q - 1))
        y = np.ones(50)
        smallest_kappa = 2 * divergence(printed, y, 0 * y) / lq_norm(y, q) ** 2
        assert smallest_kappa == pytest.approx(ratio, rel=5e-3)


def exact_divergence(s: float, y: np.ndarray, x: np.ndarray) -> float:
    """Return the textbook divergence in 60 digits, at kappa = 1."""
    with mpmath.workdps(60):
        s = mpmath.mpf(s)
        norms = [mpmath.fsum(abs(mpmath.mpf(v)) ** s for v in w) ** (1 / s) for w in (x, y)]
        slope = mpmath.fsum(
            norms[0] ** (2 - s)
            * abs(mpmath.mpf(a)) ** (s - 1)
            * mpmath.sign(a)
            * (b - mpmath.mpf(a))
            for a, b in zip(x.tolist(), map(mpmath.mpf, y.tolist()), strict=True)
            if a
        )
        return float((norms[1] ** 2 - norms[0] ** 2) / 2 - slope)


def test_the_entropy_mirror_map_satisfies_its_identities() -> None:
    mirror, simplex = EntropyMirror(radius=2.5), Simplex(d=5, radius=2.5)
    rng = np.random.default_rng(7)
    for u in rng.standard_normal((20, 5)) * 4:
        w = mirror.conjugate_gradient(u)
        assert simplex.contains(w, 1e-14)
        assert close(mirror.conjugate_gradient(mirror.gradient(w)), w)
        conjugate = 2.5**2 * math.log(float(np.exp(u / 2.5).sum()))
        assert mirror.value(w) + conjugate == pytest.approx(float(w @ u), rel=1e-12)
        v = mirror.conjugate_gradient(rng.standard_normal(5))
        # The mirror map is 1-strongly convex in the l1 norm.
        assert divergence(mirror, v, w) >= 0.5 * lq_norm(v - w, 1.0) ** 2


def test_the_entropy_mirror_map_is_finite_at_the_boundary_and_at_extreme_scales() -> None:
    mirror = EntropyMirror()
    corner = np.array([1.0, 0.0])
    assert mirror.value(corner) == 0
    assert mirror.gradient(corner)[1] == -math.inf
    assert np.array_equal(mirror.conjugate_gradient(mirror.gradient(corner)), corner)
    image = mirror.conjugate_gradient(np.array([1e300, -1e300, 1e300]))
    assert np.array_equal(image, [0.5, 0.0, 0.5])


@pytest.mark.parametrize("s", [1.0, 0.5, math.inf, math.nan])
def test_an_exponent_that_is_not_strictly_convex_is_refused(s: float) -> None:
    with pytest.raises(InvalidInput, match="exponent must be above 1 and finite"):
        PowerMirror(exponent=s)
