"""Instance-optimal mean estimation: Huang, Liang and Yi (2021), as a reference."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, partial
from typing import ClassVar

import numpy as np
import scipy  # `scipy.linalg` is imported on first use.
from numpy.typing import NDArray

from dpsco_core.base.arrays import Vector
from dpsco_core.base.cards import HUANG_2021, MethodCard
from dpsco_core.data.rows import Rows
from dpsco_core.methods.average import MeanMethod, MeanPlan
from dpsco_core.methods.base import MethodCost
from dpsco_core.methods.departure import Departure
from dpsco_core.methods.mean.clipped import practical_radius
from dpsco_core.methods.mean.ladder import clipped_sums, norm_counts
from dpsco_core.methods.records.base import (
    LARGEST_LEVEL,
    check_level,
    gaussian_share,
    into_ball,
    scaled_bound,
)
from dpsco_core.methods.stage import Stage
from dpsco_core.methods.statistics import Statistic
from dpsco_core.privacy.ledger import Ledger
from dpsco_core.privacy.mechanisms import GaussianNoise, Mechanism, gaussian_noise_std
from dpsco_core.problems.base import Setting

MEDIAN_SHARE = 0.25  # the share of rho for all medians
NORM_SHARE = {"practical": 0.05, "theory": 0.1875}  # the share of rho for the search for the radius
NORM_STEPS = 12  # the number of halvings in the search for the clip radius
# the number of cells per unit of the moment scale at the end of the search for a median
FINENESS = 16
MOST_STEPS = 40  # the largest number of halvings in the search for a median
# the largest number of cells, over all coordinates, that one pass over the records counts
MOST_CELLS = 1 << 18


@dataclass(frozen=True, kw_only=True)
class MeanAboutMedians(Statistic):
    """The mean of rows clipped to a private radius about the medians of rotated coordinates."""

    median_rho: float  # the budget of all medians together
    # the rho of the private search for the clip radius, a quantile of the records' distances from
    # the medians
    norm_rho: float
    release_rho: float
    mean_bound: float  # the radius of the ball on which the medians are projected
    limit: float  # medians are searched between -limit and limit
    median_steps: int  # the number of halvings of the range of the medians
    largest_radius: float  # the largest clip radius of that search
    left_out: float  # k: the number of records that should be longer than the radius, approximately

    label: ClassVar[str] = "mean of clipped records"

    def estimate(
        self,
        rows: Rows,
        noise: Mechanism[Vector] | None,
        ledger: Ledger,
        rng: np.random.Generator,
    ) -> tuple[Vector, Mapping[str, float]]:
        """Find the medians and the radius; release the mean, shape (d,), with diagnostics."""
        centre = into_ball(_centre(rows, self, ledger, rng), self.mean_bound)
        radius = _norm_quantile(rows, self, centre, ledger, rng)
        change = 2 * radius / rows.n
        value = ledger.release(
            GaussianNoise(l2_sensitivity=change, rho=self.release_rho),
            clipped_sums(rows, (radius,), centre)[0] / rows.n,
            rng,
            label=self.label,
        )
        return centre + value, {
            "clip_radius": radius,
            "noise_std": gaussian_noise_std(change, self.release_rho),
            "centre_norm": float(np.linalg.norm(centre)),
            "target_count": self.left_out,
        }


@dataclass(frozen=True, kw_only=True)
class InstanceOptimal(MeanMethod):
    r"""Rotate, subtract private medians, clip to a private quantile of the norms, average.

    See theory/adaptive-methods.md, 2.

    Parameters
    ----------
    calibration : {"tight", "paper"}
        Under an (epsilon, delta) budget: the exact Gaussian curve, or Bun and Steinke's conversion.
    tuning : {"practical", "theory"}
        The search for the norm has a twentieth of the budget, or a quarter of what the medians
        leave; how the paper splits it is not known for certain.
    """

    reads = "summed"
    cost = MethodCost(fixed=4.9e5, per_row=150, per_element=13)
    departs = (
        Departure(
            tag="own split of the budget",
            text="How the budget is split is this project’s choice.",
        ),
    )
    card = MethodCard(
        slug="mean.instance-optimal",
        name="Rotated medians and a norm quantile",
        short="Rotated medians",
        paper=HUANG_2021,
        statement="The estimator of Section 4, with a split of the budget of our own",
        summary="Centres the records at private medians of their rotated coordinates, clips them "
        "to a private quantile of their lengths, averages, and adds noise.",
        privacy="zcdp",
        private_radius=True,
        caveat="The split of its budget is ours, since the paper's is not known for certain, and "
        "none of its bounds is drawn here.",
    )
    # With this many records, noisy counts rarely change which records the release clips.
    stage = Stage(records=128)
    clipped_values = "records"
    colour = "brown"
    symbol = "hexagon"

    def plan(self, setting: Setting) -> MeanPlan[MeanAboutMedians, None]:
        """Return the plan with the shares of the budget for medians, norm and release."""
        rho = gaussian_share(setting, self.calibration)
        n, d = setting.n, setting.d
        scale, bound = scaled_bound(setting)
        medians, norm = MEDIAN_SHARE * rho, NORM_SHARE[self.tuning] * rho
        release = rho - medians - norm
        largest = practical_radius(setting, release)
        check_level("radius", largest)
        check_level("least radius", largest / 2**NORM_STEPS)
        aim = math.sqrt(2 * d / release) + 2 * math.sqrt(NORM_STEPS / (2 * norm))
        statistic = MeanAboutMedians(
            median_rho=medians,
            norm_rho=norm,
            release_rho=release,
            mean_bound=bound * scale,
            limit=(bound + 1) * scale,
            median_steps=min(math.ceil(math.log2(2 * (bound + 1) * FINENESS)), MOST_STEPS),
            largest_radius=largest,
            left_out=min(aim, n / 2),
        )
        return MeanPlan(
            setting=setting,
            statistic=statistic,
            noise=None,
            answer_radius=statistic.mean_bound,
        )


def _centre(
    rows: Rows, shares: MeanAboutMedians, ledger: Ledger, rng: np.random.Generator
) -> Vector:
    """Return the medians of the rotated coordinates, rotated back, shape (d,)."""
    size = 1 << (rows.d - 1).bit_length()
    # The signs of the rotation are random and do not depend on any record.
    signs = np.where(rng.integers(0, 2, size=size) == 0, -1.0, 1.0)
    low, width = np.full(size, -shares.limit), 2 * shares.limit
    most_halvings = max(1, (MOST_CELLS // size).bit_length() - 1)
    for halvings in range(0, shares.median_steps, most_halvings):
        steps = min(most_halvings, shares.median_steps - halvings)
        cells = 2**steps
        width /= cells
        # The next halvings need only the number of records below each cell's upper end.
        part = partial(_counts_below, signs=signs, low=low, width=width, cells=cells)
        counts = rows.total(part).reshape(size, cells)
        place = np.zeros(size, dtype=np.intp)
        for step in range(1, steps + 1):
            middle = place + cells // 2**step
            noisy = ledger.release(  # Replacing a record changes each count by at most 1.
                GaussianNoise(
                    l2_sensitivity=math.sqrt(size), rho=shares.median_rho / shares.median_steps
                ),
                counts[np.arange(size), middle - 1],
                rng,
                label="counts for medians",
            )
            place = np.where(noisy < rows.n / 2, middle, place)
        low = low + place * width
    medians = _rotate((low + width / 2)[None], np.ones(size))[0] * signs
    return np.asarray(medians[: rows.d])


def _norm_quantile(
    rows: Rows,
    shares: MeanAboutMedians,
    centre: Vector,
    ledger: Ledger,
    rng: np.random.Generator,
) -> float:
    """Return a radius that about k of the distances of rows from `centre` exceed, privately."""
    cells = 2**NORM_STEPS
    radii = shares.largest_radius * (np.arange(cells, 0, -1) / cells)
    counts = norm_counts(rows, radii, centre)[::-1]  # Entry i is for (i + 1)/cells of the largest.
    low, high = 0, cells
    for _ in range(NORM_STEPS):
        middle = (low + high) // 2
        count = ledger.release(
            GaussianNoise(l2_sensitivity=1.0, rho=shares.norm_rho / NORM_STEPS),
            counts[middle - 1 : middle],
            rng,
            label="counts of norms",
        )
        low, high = (middle, high) if float(count[0]) > shares.left_out else (low, middle)
    return float(shares.largest_radius * (high / cells))


def _counts_below(rows: Rows, signs: Vector, low: Vector, width: float, cells: int) -> Vector:
    """Return the number of rotated rows below each cell's upper end, shape (D * cells,).

    The cells of a coordinate begin at its `low`; a value beyond all of them is in the last one. The
    cells of a row are a function of that row alone; a row that is not finite counts as 0.
    """
    counts = np.zeros((len(signs), cells), dtype=np.int64)
    for block in rows.blocks():
        places = _cells_of(block, signs, low, width, cells)
        counts += np.bincount(places, minlength=counts.size).reshape(counts.shape)
    return np.cumsum(counts, axis=1).ravel().astype(np.float64)


def _cells_of(
    block: Vector, signs: Vector, low: Vector, width: float, cells: int
) -> NDArray[np.intp]:
    """Return the cell indices of rotated rows over all coordinates, shape (rows * D,)."""
    limited = np.clip(block, -LARGEST_LEVEL, LARGEST_LEVEL)
    limited[~np.isfinite(block).all(axis=1)] = 0.0
    places = _rotate(limited, signs)
    places -= low
    places /= width
    numbers = np.clip(places, 0, cells - 1, out=places).astype(np.intp)
    numbers += cells * np.arange(len(signs))
    return numbers.ravel()


def _rotate(block: Vector, signs: Vector) -> Vector:
    """Return signed rows, padded with zeros to a power of two, times the scaled Hadamard matrix."""
    n, size = len(block), len(signs)
    left = 1 << ((size.bit_length() - 1) // 2)
    right = size // left
    # Each form of the array replaces the previous form, which frees its memory.
    turned: Vector = np.zeros((n, size))
    np.multiply(block, signs[: block.shape[1]], out=turned[:, : block.shape[1]])
    turned = (turned.reshape(-1, right) @ _hadamard_matrix(right)).reshape(n, left, right)
    turned = turned.transpose(0, 2, 1).reshape(-1, left)
    turned = (turned @ _hadamard_matrix(left)).reshape(n, right, left)
    turned = turned.transpose(0, 2, 1).reshape(n, size)
    turned /= math.sqrt(size)
    return turned


@cache
def _hadamard_matrix(size: int) -> Vector:
    """Return the Hadamard matrix, shape (size, size), for a size that is a power of two."""
    return scipy.linalg.hadamard(size, dtype=np.float64)
