"""Geometry's numbers as tables."""

import math
from collections.abc import Mapping, Sequence

import pandas as pd

from dpsco_app.pages.geometry.words import NOISE_NAMES
from dpsco_core.base.arrays import Matrix
from dpsco_core.explain.geometry import (
    DualSquare,
    Nearest,
    WidthRow,
)


def projection_table(found: Nearest) -> pd.DataFrame:
    """Return the point, its projection and the residual, a coordinate a row."""
    columns = {
        "Coordinate": [f"{j + 1}" for j in range(len(found.point))],
        "Point x": found.point,
        "Projection P(x)": found.nearest,
        "Residual": found.point - found.nearest,
    }
    if found.dual_point is not None:
        columns["Dual point y"] = found.dual_point
    if len(found.farthest):
        columns["Farthest point"] = found.farthest[0]
    return pd.DataFrame(columns)


def width_frame(rows: Sequence[WidthRow], names: Mapping[str, str]) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "Set": [names[row.kind] for row in rows],
            "d": [row.d for row in rows],
            "At least": [row.width.lower for row in rows],
            "At most": [row.width.upper for row in rows],
            "Exact": [row.width.exact for row in rows],
        }
    )


def noise_table(rows: Sequence[DualSquare]) -> pd.DataFrame:
    columns = {
        "Noise": [NOISE_NAMES[row.noise] for row in rows],
        "q": [row.q for row in rows],
        "Measured": [row.mean for row in rows],
        "Standard error": [row.standard_error for row in rows],
        "10 %": [row.low for row in rows],
        "90 %": [row.high for row in rows],
        "Exact": [row.exact for row in rows],
        "Proven bound": [row.bound for row in rows],
        "Draws": [row.draws for row in rows],
    }
    if all(math.isnan(value) for value in columns["Exact"]):
        del columns["Exact"]
    return pd.DataFrame(columns)


def short_noise_table(rows: Sequence[DualSquare]) -> pd.DataFrame:
    """Return the same for a few rows, narrow enough for a phone."""
    return pd.DataFrame(
        {
            "Noise": [NOISE_NAMES[row.noise] for row in rows],
            "Measured": [f"{row.mean:.2f} ± {row.standard_error:.2f}" for row in rows],
            "Exact": [row.exact for row in rows],
            "Bound": [row.bound for row in rows],
        }
    )


def columns(name: str, points: Matrix) -> pd.DataFrame:
    """Return points, a point a row."""
    return pd.DataFrame(points, columns=[f"{name} {j + 1}" for j in range(points.shape[1])])
