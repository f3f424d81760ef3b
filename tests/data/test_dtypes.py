"""Arrays of every dtype are real numbers in double precision, or refused at the door."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from dpsco_core.base.arrays import real_array
from dpsco_core.base.errors import InvalidInput
from dpsco_core.data import DenseRows
from dpsco_core.data.rows import Factors, MappedRows, ScaledRows
from dpsco_core.geometry.ball import Ball
from dpsco_core.geometry.regular_space import RegularSpace
from dpsco_core.methods.euclidean.lipschitz import Losses, clipped_block_mean, clipped_gradient
from dpsco_core.methods.lq.mirror import truncated_sum
from dpsco_core.methods.records.base import (
    clip_to_ball,
    clipped_block_means,
    clipped_mean,
    sum_of_rows,
)
from dpsco_core.methods.records.smooth_clip import smoothed_mean
from dpsco_core.methods.user.accelerated.smoothing import smoothed_user_gradients
from dpsco_core.methods.user.chains import Pass, chain_averages
from dpsco_core.methods.user.clipped_means import clipped_user_mean
from dpsco_core.privacy import ZCDP, GaussianNoise, LaplaceNoise, Ledger, Shaped
from dpsco_core.privacy.filter.robust_mean import RobustFilter
from dpsco_core.problems.links import AbsoluteLink, HingeLink, HuberLink, LogisticLink, SquaredLink
from dpsco_core.problems.point_losses import Distance, HalfSquaredDistance, NegativeProduct
from dpsco_core.problems.samples.linear import LinearSample
from dpsco_core.problems.samples.points import PointSample
from dpsco_core.problems.samples.users import ItemSample, MeanSample
from tests.folded import each
from tests.kinds import DTYPES, LAYOUTS, REFUSED, extremes
from tests.trust.cases import PRIVATE, case

N, D, M = 12, 3, 2
BALL = Ball(d=D, radius=2.0)
W = np.array([0.3, -0.7, 0.2])
UNIT_WEIGHTS = np.ones(N)
PICK = np.array([7, 0, 7, 11])
POINTS = (HalfSquaredDistance(), NegativeProduct(), Distance())
LINKS = (LogisticLink(), AbsoluteLink(), SquaredLink(), HuberLink(), HingeLink())
KEEP = RobustFilter(score_radius=1.0, filter_radius=2.0)

Array = np.ndarray
Door = Callable[[Any], Any]


@dataclass
class Own:
    """Rows, a sample and users of somebody else's, which hand out arrays as they hold them."""

    x: Any
    constraint = BALL
    n = users = N
    d, items = D, M

    def blocks(self, start: int = 0, stop: int | None = None) -> Any:
        """Yield the given values as one block."""
        return iter([self.x[start:stop] if isinstance(self.x, np.ndarray) else self.x])

    def factors(self) -> Any:
        """Yield the factors of the one block."""
        return (Factors(block) for block in self.blocks())

    def take(self, indices: Array) -> Any:
        """Return the given values, whatever the indices."""
        return self.x

    def total(self, part: Any) -> Any:
        """Return the sum of `part` over all rows, computed at once."""
        return part(self)

    def gradient(self, w: Array, i: int) -> Any:
        """Return the given values as a gradient."""
        return self.x

    def user_gradients(self, w: Array) -> Any:
        """Return the given values as the gradients of users."""
        return self.x


def points(x: Any, loss: Any = POINTS[1]) -> PointSample:
    """Return a sample of points with these coordinates."""
    return PointSample(points=DenseRows(x), loss=loss, constraint=BALL)


def linear(x: Any, y: Any = UNIT_WEIGHTS, link: Any = LINKS[0]) -> LinearSample:
    """Return a sample of a linear model with these features."""
    return LinearSample(features=DenseRows(x), targets=y, link=link, constraint=BALL)


def ledger() -> Ledger:
    """Return a new ledger with rho = 1."""
    return Ledger(ZCDP(rho=1.0))


def rng() -> np.random.Generator:
    """Return a generator with a fixed seed."""
    return np.random.default_rng(0)


# Every entry point for arrays of numbers of shape (n, d); each returns a value computed from them.
DOORS: dict[str, Door] = {
    "real_array": lambda x: real_array("x", x),
    "dense rows": lambda x: DenseRows(x).norms(),
    "factors, base": lambda x: Factors(x).base,
    "mapped rows": lambda x: MappedRows(DenseRows(np.ones((N, D))), lambda _: x).take(PICK),
    "filter, points": lambda x: KEEP.examine(x).inclusion,
    "filter, mean": lambda x: KEEP.mean(x, np.ones(N)),
    "clip_to_ball": lambda x: clip_to_ball(x, 1.0),
    "own rows, clipped": lambda x: clipped_mean(Own(x), 1.0),
    "own rows, clipped blocks": lambda x: clipped_block_means(Own(x), 1.0, 2),
    "own rows, truncated": lambda x: smoothed_mean(Own(x), 1.0, 0.5),
    "own rows, summed": lambda x: sum_of_rows(Own(x), 0, N),
    "own rows, a batch": lambda x: truncated_sum(Own(x), np.arange(N), 3.0, 2.0, None),
    "own rows, a block": lambda x: clipped_block_mean(Own(x), 0, N, 1.0),
    "own users": lambda x: clipped_user_mean(Own(x).user_gradients(W), 1.0),
    "release, Gaussian": lambda x: ledger().release(
        GaussianNoise(l2_sensitivity=1.0, rho=0.1), x, rng()
    ),
    "points": lambda x: points(x).gradients(W).take(PICK),
    "features": lambda x: linear(x).gradients(W).take(PICK),
    "users' means": lambda x: MeanSample(
        means=DenseRows(x), items=M, loss=NegativeProduct(), constraint=BALL
    ).user_gradients(W),
}
# Entry points for arrays of shape (n,).
FLAT: dict[str, Door] = {
    "targets": lambda y: linear(np.eye(N, D), y).gradients(W).take(PICK),
    "shrink": lambda y: replace(linear(np.eye(N, D)), shrink=y).gradients(W).take(PICK),
    "filter, weights": lambda y: KEEP.mean(np.eye(N, D), y),
    "factors, coefficients": lambda y: Factors(np.eye(N, D), y).coefficients,
    "factors, norms": lambda y: Factors(np.eye(N, D), None, y).norms,
    "scaled rows": lambda y: ScaledRows(DenseRows(np.eye(N, D)), lambda *_: y).take(np.arange(N)),
    "own gradient": lambda y: clipped_gradient(Own(y), W, 0, 1.0),
    "release, Laplace": lambda y: Ledger(ZCDP(rho=1.0)).release(
        LaplaceNoise(l1_sensitivity=1.0, epsilon=0.1), y, rng()
    ),
    "release, shaped": lambda y: ledger().release(
        Shaped(norm=RegularSpace(d=N, exponent=1.5), sensitivity=1.0, rho=0.1), y, rng()
    ),
}


def numbers(shape: tuple[int, ...]) -> Array:
    """Return a random array of zeros and ones in double precision, which every dtype can hold."""
    return np.random.default_rng(1).integers(0, 2, shape).astype(np.float64)


def assert_same(result: Any, expected: Any) -> None:
    """Check that two results are equal to the last bit, and in double precision."""
    for a, b in zip(
        *(x if isinstance(x, tuple) else (x,) for x in (result, expected)), strict=True
    ):
        assert type(a) is np.ndarray
        assert a.dtype == b.dtype == np.float64
        np.testing.assert_array_equal(a, b, strict=True)


OPTIONAL = ("shrink", "factors, coefficients", "factors, norms")  # Arguments that may be None.
ALL = [(door, (N, D), name) for name, door in DOORS.items()]
ALL += [(door, (N,), name) for name, door in FLAT.items()]
each_door = pytest.mark.parametrize(
    ("door", "shape"), [pytest.param(door, shape, id=name) for door, shape, name in ALL]
)


@each_door
@pytest.mark.parametrize("dtype", DTYPES)
def test_numbers_of_every_dtype_are_the_doubles_that_they_stand_for(
    door: Door, shape: tuple[int, ...], dtype: str
) -> None:
    x = numbers(shape)
    assert_same(door(x.astype(dtype)), door(x))


@each_door
@pytest.mark.parametrize("layout", LAYOUTS)
def test_layout_class_and_owner_of_an_array_do_not_matter(
    door: Door, shape: tuple[int, ...], layout: str
) -> None:
    x = numbers(shape)
    for dtype in ("float64", "float32", "uint8"):
        assert_same(door(LAYOUTS[layout](x.astype(dtype))), door(x))


@pytest.mark.parametrize(
    ("kind", "door", "shape"),
    [
        pytest.param(kind, door, shape, id=f"{kind}, {name}")
        for kind in REFUSED
        for door, shape, name in ALL
        if kind != "none" or name not in OPTIONAL
    ],
)
def test_an_input_that_is_no_array_of_real_numbers_is_refused_in_one_sentence(
    kind: str, door: Door, shape: tuple[int, ...]
) -> None:
    with pytest.raises(InvalidInput) as refusal:
        door(REFUSED[kind](numbers(shape)))
    message = str(refusal.value)
    assert " must be a numpy array of real numbers, got " in message or (
        "mask" in kind and " must be an array without a mask, got " in message
    )
    assert message.endswith(".")
    assert "\n" not in message


def test_a_refusal_does_not_depend_on_an_entry() -> None:
    plain = np.zeros((4, 2))
    for masked in (np.ma.array(plain), np.ma.array(plain, mask=plain == 0)):
        with pytest.raises(InvalidInput, match=r"^x must be an array without a mask"):
            DenseRows(masked)
    for dtype in DTYPES:
        for value in extremes(dtype):
            DenseRows(np.full((4, 2), value))


def test_doubles_are_not_copied_and_single_precision_stays_in_rows_alone() -> None:
    x = np.ones((4, 2))
    assert DenseRows(x).x.base is x
    assert DenseRows(x.astype(np.float32)).x.dtype == np.float32
    assert DenseRows(x.astype(">f4")).x.dtype == np.dtype(np.float32)
    assert np.shares_memory(DenseRows(x.view(np.matrix)).x, x)
    assert real_array("x", x.astype(np.float32)).dtype == np.float64
    for dtype in set(DTYPES) - {"float32", ">f4"}:
        assert DenseRows(x.astype(dtype)).x.dtype == np.dtype(np.float64)


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_ends_of_a_dtype_are_rounded_to_the_nearest_double(dtype: str) -> None:
    ends = extremes(dtype)
    with np.errstate(over="ignore"):
        expected = np.array([float(value) for value in ends])
    np.testing.assert_array_equal(DenseRows(ends[:, None]).read(slice(None))[:, 0], expected)


def users(sample: Any) -> ItemSample:
    """Return a sample whose records are grouped by user, M items per user."""
    return ItemSample(records=sample, items=M)


def chains(sample: Any) -> Array:
    """Return the averages of two chains of gradient steps."""
    losses = Losses(lipschitz=2.0, smoothness=0.0, feature_bound=1.5, certified=False)
    run = Pass(first=0, groups=2, length=N // 2, step_size=0.1, batch=2)
    return chain_averages(sample, W, run, losses)


READERS: dict[str, Callable[[Any], Any]] = {
    "gradient": lambda s: np.array([s.gradient(W, i) for i in range(N)]),
    "clipped gradient": lambda s: np.array([clipped_gradient(s, W, i, 0.7) for i in range(N)]),
    "blocks": lambda s: np.concatenate(list(s.gradients(W).blocks(1, N))),
    "take": lambda s: s.gradients(W).take(PICK),
    "clipped": lambda s: clipped_mean(s.gradients(W), 0.7),
    "mean gradient": lambda s: s.mean_gradient(W),
    "risk": lambda s: np.array([s.risk(W)]),
    "part": lambda s: s.part(2, 9).mean_gradient(W),
    "users": lambda s: users(s).user_gradients(W),
    "smoothed users": lambda s: smoothed_user_gradients(users(s), W, 0.1, rng()),
    "chains": chains,
}
SAMPLES: dict[str, Callable[[Array, Array], Any]] = {
    **{type(loss).__name__: lambda x, y, loss=loss: points(x, loss) for loss in POINTS},
    **{type(link).__name__: lambda x, y, link=link: linear(x, y, link) for link in LINKS},
}
BOUNDS: dict[str, Callable[[Any], Any]] = {
    "as they are": lambda s: s,
    "bounded": lambda s: s.bounded(1.5),
    "bounded, l4": lambda s: s.bounded(1.5, 4.0),
}


@each("bound", BOUNDS)
@each("sample_kind", SAMPLES)
@each("dtype", DTYPES)
def test_every_reader_of_a_sample_sees_doubles(dtype: str, sample_kind: str, bound: str) -> None:
    """The values are thirds in floating point, and integers up to 100, so that a second rounding
    would show.
    """
    draws = np.random.default_rng(2)
    kind = np.dtype(dtype).kind
    x = draws.integers(-9 if kind == "i" else 0, 9, (N, D)) / (3 if kind == "f" else 1)
    y = draws.integers(0, 2, N)
    x, y = x.astype(dtype), y.astype(dtype)
    with np.errstate(over="raise", invalid="raise"):
        converted = BOUNDS[bound](SAMPLES[sample_kind](x, y))
        exact = BOUNDS[bound](SAMPLES[sample_kind](x.astype(np.float64), y.astype(np.float64)))
    for name, read in READERS.items():
        result, expected = read(converted), read(exact)
        assert result.dtype == expected.dtype == np.float64, name
        np.testing.assert_array_equal(result, expected, err_msg=name)


@pytest.mark.parametrize("dtype", DTYPES)
def test_users_means_are_read_as_doubles(dtype: str) -> None:
    x = numbers((N, D)).astype(dtype)
    for loss in (HalfSquaredDistance(), NegativeProduct()):
        sample = MeanSample(means=DenseRows(x), items=M, loss=loss, constraint=BALL)
        exact = replace(sample, means=DenseRows(x.astype(np.float64)))
        for bounded in (lambda s: s, lambda s: s.bounded(0.5), lambda s: s.part(1, 5)):
            assert_same(bounded(sample).user_gradients(W), bounded(exact).user_gradients(W))


def test_a_record_of_1_has_the_gradient_minus_1_under_the_linear_loss() -> None:
    """As 32 unsigned bits the gradient once was 4294967295, and a clip of 1 turned it to plus 1."""
    sample = points(np.ones((N, D), dtype=np.uint32))
    assert sample.gradient(W, 0).tolist() == [-1.0] * D
    assert clipped_gradient(sample, W, 0, 10.0).tolist() == [-1.0] * D


@each("slug", PRIVATE)
def test_a_bare_array_in_the_place_of_records_is_refused_in_a_sentence(slug: str) -> None:
    example = case(slug)
    setting = example.point.setting
    x = np.zeros((setting.n * setting.m, setting.d))
    for array in (x, x.tolist(), None):
        with pytest.raises(InvalidInput, match=r"^(rows|sample) must be an object such as "):
            example.method.release(
                array, example.method.plan(setting), Ledger(setting.budget), rng()
            )
