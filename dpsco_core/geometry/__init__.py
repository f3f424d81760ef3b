"""Norms, constraint sets, Gaussian widths, mirror maps and mirror steps."""

from dpsco_core.geometry.ball import Ball, Box, L1Ball, LqBall, lq_ball
from dpsco_core.geometry.base import ConstraintSet, Width
from dpsco_core.geometry.geometries import GEOMETRIES, L2, Geometry
from dpsco_core.geometry.mirror import EntropyMirror, PowerMirror, bregman_point, mirror_step
from dpsco_core.geometry.norms import dual_exponent, lq_norm, norm_ratio, row_norms
from dpsco_core.geometry.regular_space import RegularSpace
from dpsco_core.geometry.simplex import Simplex, SolidSimplex
from dpsco_core.geometry.sparse import GroupBall, SparseHull
from dpsco_core.geometry.width import WidthSample, sparse_width_bound, width_sample

__all__ = [
    "GEOMETRIES",
    "L2",
    "Ball",
    "Box",
    "ConstraintSet",
    "EntropyMirror",
    "Geometry",
    "GroupBall",
    "L1Ball",
    "LqBall",
    "PowerMirror",
    "RegularSpace",
    "Simplex",
    "SolidSimplex",
    "SparseHull",
    "Width",
    "WidthSample",
    "bregman_point",
    "dual_exponent",
    "lq_ball",
    "lq_norm",
    "mirror_step",
    "norm_ratio",
    "row_norms",
    "sparse_width_bound",
    "width_sample",
]
