"""Norms about a centre near 0, and sums from which it is subtracted last."""

import math
from functools import partial

import numpy as np
import pytest

from dpsco_core.base.arrays import Vector
from dpsco_core.data.rows import DenseRows, row_norms
from dpsco_core.methods.mean import ladder as ladder_module
from dpsco_core.methods.mean.ladder import candidate_radii, clipped_sums, norm_counts
from dpsco_core.methods.mean.lengths import norms_about

CENTRE = np.array([0.3, -0.2, 0.1, 0.0, 0.25])


def wild_rows() -> Vector:
    """Return rows at every distance from the centre: at the centre, near, far out and
    not finite.
    """
    rng = np.random.default_rng(3)
    steps = rng.standard_normal((400, 5))
    steps *= (10.0 ** rng.uniform(-18, 4, 400) / row_norms(steps))[:, None]
    extreme = [CENTRE, np.zeros(5), *(np.full(5, v) for v in (1e160, -1e308, math.inf, math.nan))]
    return np.vstack([CENTRE + steps, extreme])


def test_norms_about_a_centre_keep_their_digits_however_near_a_row_is() -> None:
    x = wild_rows()
    with np.errstate(invalid="ignore"):
        exact = row_norms(x - CENTRE)
    assert norms_about(x, CENTRE) == pytest.approx(exact, rel=1e-14, abs=0.0)


def test_a_norm_about_a_centre_does_not_depend_on_the_other_rows() -> None:
    x = wild_rows()
    norms = norms_about(x, CENTRE)
    lone_norms = [float(norms_about(row[None], CENTRE)[0]) for row in x]
    assert norms.tolist() == lone_norms


@pytest.mark.parametrize("has_norms", [False, True])
def test_sums_about_a_near_centre_are_those_of_the_differences(has_norms: bool) -> None:
    x, radii = wild_rows(), (2.0, 50.0, 3.0)  # The radii are in no order.
    rows, norms = DenseRows(x), np.empty(len(x)) if has_norms else None
    counts = norm_counts(rows, candidate_radii(60.0, 500), CENTRE, norms)
    sums = clipped_sums(rows, radii, CENTRE, norms)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ladder_module, "near_centre", lambda *_: None)
        assert counts.tolist() == norm_counts(rows, candidate_radii(60.0, 500), CENTRE).tolist()
        assert sums == pytest.approx(clipped_sums(rows, radii, CENTRE), rel=1e-12)


def test_a_row_in_every_ball_is_the_same_in_every_sum() -> None:
    """Balls beyond the smallest one add only the difference, from the rows outside of the ball
    before.
    """
    rng = np.random.default_rng(4)
    x = rng.standard_normal((300, 60))  # The rows are so wide that a loop sums each block.
    for share in (0.02, 0.5):
        x[: int(300 * share)] *= 5
        sums = clipped_sums(DenseRows(x), (20.0, 12.0, 45.0))
        for total, radius in zip(sums, (20.0, 12.0, 45.0), strict=True):
            plain = x * np.minimum(1, radius / np.linalg.norm(x, axis=1))[:, None]
            assert total == pytest.approx(plain.sum(axis=0), rel=1e-11, abs=1e-11)


def test_a_norm_without_its_difference_near_the_centre_is_caught() -> None:
    """A rule that trusts the expansion everywhere loses every digit of a row at the centre."""

    def trusted(block: Vector, centre: Vector) -> Vector:
        """Return distances from the centre by expanding the square, which cancels near it."""
        squares = np.vecdot(block, block) - 2 * block @ centre + centre @ centre
        return np.asarray(np.sqrt(np.maximum(squares, 0.0)))

    claim = partial(test_norms_about_a_centre_keep_their_digits_however_near_a_row_is)
    with pytest.MonkeyPatch.context() as patch, np.errstate(all="ignore"):
        patch.setitem(globals(), "norms_about", trusted)
        with pytest.raises(AssertionError):
            claim()
