"""A private centre: medians of the first records' coordinates on a public grid."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpsco_core.base.arrays import Vector
from dpsco_core.data.rows import Rows
from dpsco_core.privacy.choices import GridMedians

RECORDS = 20_000  # that are looked at, at most
SHIFT = 0.38  # of the grid: means of tests and of examples lie on lattices
FINENESS = 16  # points to a unit of the moment scale
MOST_POINTS = 2.0**40  # on one side of 0
COLUMNS = 64  # held at a time, or a sixteenth of all


@dataclass(frozen=True, kw_only=True)
class CentrePlan:
    """The grid and the share of the medians: public numbers."""

    records: int  # the first so many are looked at
    limit: float  # entries are cut to plus and minus this before they are rounded
    spacing: float  # of the grid
    most: int  # the grid is (m + 0.38) times the spacing, m from -most to most
    epsilon: float  # of each coordinate's median

    def is_found(self) -> bool:
        """Whether a median is likely to be off by at most a quarter of the records."""
        return 2 / self.epsilon * math.log(2 * self.most + 1) <= self.records / 4

    def medians(self, rows: Rows) -> GridMedians:
        """Return what a ledger releases: a place on the grid for every coordinate."""
        columns = self._columns(rows)
        return GridMedians(columns=columns, size=rows.d, most=self.most, epsilon=self.epsilon)

    def point(self, places: NDArray[np.int64]) -> Vector:
        """Return the centre at places of the grid, shape (d,)."""
        return (places.astype(np.float64) + SHIFT) * self.spacing

    def _columns(self, rows: Rows) -> Iterator[NDArray[np.int64]]:
        """Yield the places of every coordinate, shape (records,); rows not finite are at 0."""
        width = max(COLUMNS, math.ceil(rows.d / 16))
        finite = np.empty(self.records, dtype=np.bool_)
        for left in range(0, rows.d, width):
            held, low = np.empty((min(width, rows.d - left), self.records), dtype=np.int64), 0
            for block in rows.blocks(0, self.records):
                there = slice(low, low + len(block))
                if left == 0:
                    finite[there] = np.isfinite(block).all(axis=1)
                part = np.where(finite[there, None], block[:, left : left + width], 0.0)
                held[:, there] = self._places(part).T
                low += len(block)
            yield from held

    def _places(self, entries: Vector) -> NDArray[np.int64]:
        cut = np.clip(entries, -self.limit, self.limit)  # an integer of 1e308 is undefined
        places = np.rint(cut / self.spacing - SHIFT)
        return np.clip(places, -self.most, self.most).astype(np.int64)


def plan_centre(n: int, bound: float, scale: float, epsilon: float) -> CentrePlan:
    """Return the grid for a mean of norm at most `bound` units of the moment scale."""
    spacing = max(1 / FINENESS, (bound + 1) / MOST_POINTS)
    return CentrePlan(
        records=min(n, RECORDS),
        limit=(bound + 1) * scale,
        spacing=spacing * scale,
        most=math.floor((bound + 1) / spacing),
        epsilon=epsilon,
    )
