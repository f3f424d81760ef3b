"""What the sets and the figures of Geometry are, in words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from dpsco_app.geometry_state import View
from dpsco_core.geometry import Width, dual_exponent
from dpsco_core.views import DualSquare, Nearest, RunningMean

NOISE_NAMES = {"generalized gaussian": "generalized Gaussian", "gaussian": "Gaussian"}


@dataclass(frozen=True, kw_only=True)
class SetWords:
    """A set's name, its formula, what it is, and what its polar is."""

    name: str
    formula: str
    what: str
    polar: str


SETS = {
    "l2": SetWords(
        name="l2 ball",
        formula=r"\|w\|_2 \le 1",
        what="All points within Euclidean distance 1 of the centre. Round: no direction is "
        "special.",
        polar="the l2 ball again: the only norm that is its own dual",
    ),
    "l1": SetWords(
        name="l1 ball",
        formula=r"|w_1| + \dots + |w_d| \le 1",
        what="All points whose coordinates' sizes add up to at most 1. Its corners lie on the "
        "axes: sparse points.",
        polar="the box of the largest size, l∞",
    ),
    "lq": SetWords(
        name="lq ball",
        formula=r"|w_1|^q + \dots + |w_d|^q \le 1",
        what="q runs from 1, the l1 ball with its corners on the axes, over 2, the round ball, to "
        "∞, the box with its corners on the diagonals.",
        polar="the ball of the dual exponent q′ = q/(q − 1)",
    ),
    "linf": SetWords(
        name="l∞ box",
        formula=r"|w_j| \le 1 \text{ for every } j",
        what="Every coordinate lies between −1 and 1, on its own.",
        polar="the l1 ball, where sizes add up",
    ),
    "simplex": SetWords(
        name="simplex",
        formula=r"w \ge 0,\ w_1 + \dots + w_d = 1",
        what="All probability vectors: not negative, and adding up to 1. It is flat, and 0 is "
        "outside.",
        polar="every y with all coordinates at most 1; it goes on for ever, and is no norm's ball",
    ),
    "solid-simplex": SetWords(
        name="solid simplex",
        formula=r"w \ge 0,\ w_1 + \dots + w_d \le 1",
        what="Not negative, and adding up to at most 1. 0 is a corner.",
        polar="every y with all coordinates at most 1; it goes on for ever, and is no norm's ball",
    ),
    "group-l1": SetWords(
        name="group l1 ball",
        formula=r"\textstyle\sum_g \|w_g\|_2 \le 1",
        what="Coordinates come in groups; the groups' Euclidean lengths add up to at most 1. Here "
        "the first two are one group and the third, in space, is alone.",
        polar="every y whose groups all have length at most 1",
    ),
    "sparse": SetWords(
        name="sparse vectors' hull",
        formula=r"\|w\|_1 \le \sqrt{s},\ \|w\|_2 \le 1",
        what="The round ball cut by an l1 ball: it holds the vectors of length 1 with at most s "
        "entries that are not 0, and little more. Here s = d − 1.",
        polar="the smallest convex body around the box of size 1/√s and the round ball",
    ),
    "capped": SetWords(
        name="capped l1 ball",
        formula=r"\|w\|_1 \le c,\ \|w\|_\infty \le 1",
        what="The box cut by an l1 ball: sizes at most 1, adding up to at most c (1.5 in the plane, "
        "2 in space).",
        polar="the smallest convex body around the l1 ball and the box of size 1/c",
    ),
    "ellipsoid": SetWords(
        name="ellipsoid",
        formula=r"\textstyle\sum_j w_j^2/a_j^2 \le 1",
        what="A round ball stretched along the axes, by the half-axes a.",
        polar="the ellipsoid with half-axes 1/a: long where the set is short",
    ),
    "hull": SetWords(
        name="hull of points",
        formula=r"\operatorname{conv}\{\pm v_1, \dots, \pm v_k\}",
        what="The smallest convex set that holds some random points and their mirror images: the "
        "points are the atoms that a parameter is built from.",
        polar="the y with |⟨v, y⟩| ≤ 1 for every atom v: a corner for every side of the hull",
    ),
}


def exponent_text(q: float) -> str:
    """Return an exponent as people write it."""
    return "∞" if math.isinf(q) else f"{q:.3g}"


def set_name(view: View) -> str:
    """Return the name of the chosen set, with its exponent."""
    if view.geometry == "lq":
        return f"l{exponent_text(view.q)} ball"
    return SETS[view.geometry].name


def polar_name(view: View) -> str:
    """Return what the polar of the chosen set is."""
    if view.geometry == "lq":
        return f"the ball of the dual exponent q′ = {exponent_text(dual_exponent(view.q))}"
    return SETS[view.geometry].polar


def plane_note(view: View) -> str:
    """Return what to know of a set that is ordinary in the plane."""
    if view.dimensions == 3:
        return ""
    if view.geometry == "group-l1":
        return " In the plane there is one group, and the set is the round disc: look in space."
    if view.geometry == "sparse":
        return " In the plane s is 1, and the set is the l1 ball: look in space."
    return ""


def projection_title(found: Nearest) -> str:
    """Return what the projection does to the point."""
    d = len(found.point)
    if found.normal is None:
        return "The point lies in the set: it is its own projection"
    moved = f"The nearest point of the set is {found.distance:.2f} away"
    if found.zeros:
        plural = "s" * (found.zeros > 1)
        return f"{moved} and makes {found.zeros} of {d} coordinate{plural} exactly 0"
    return f"{moved}; no coordinate becomes 0"


def coordinates(values: Sequence[float]) -> str:
    """Return a point as people write it."""
    return "(" + ", ".join(f"{value:.2f}".replace("-0.00", "0.00") for value in values) + ")"


def projection_sentence(found: Nearest) -> str:
    """Return the projection in numbers."""
    lengths = f"dual norm **{found.dual_norm:.3g}**"
    if math.isfinite(found.norm):
        lengths = f"norm **{found.norm:.3g}** in this geometry (1 on the boundary), " + lengths
    else:
        lengths = f"largest inner product with the set **{found.dual_norm:.3g}**"
    return (
        f"x = {coordinates(found.point.tolist())} goes to **P(x) = "
        f"{coordinates(found.nearest.tolist())}**, **{found.distance:.3g}** away. "
        f"x has {lengths}."
    )


def width_text(width: Width) -> str:
    """Return a width: one number, or its proven bounds."""
    if width.exact:
        return f"{width.value:.4g}"
    return f"between {width.lower:.3g} and {width.upper:.3g}"


def width_title(running: RunningMean, width: Width) -> str:
    """Return how near the mean of the draws is to the width."""
    mean, draws = running.sample.mean, running.sample.draws
    if width.exact:
        away = 100 * (mean / width.value - 1)
        return (
            f"After {draws:,} draws the mean is {mean:.3f}; the width is {width.value:.3f} "
            f"({away:+.1f} %)".replace("-", "−")
        )
    return f"After {draws:,} draws the mean is {mean:.3f}; the width is {width_text(width)}"


def clouds_title(gg: DualSquare, gaussian: DualSquare) -> str:
    """Return whose squared dual norm is smaller at equal privacy."""
    if gg.q == 2:
        return "At q = 2 the two are the same noise"
    ratio = gg.exact / gaussian.exact
    larger = "generalized Gaussian" if ratio >= 1 else "Gaussian"
    by = max(ratio, 1 / ratio)
    return (
        f"At equal proven privacy the {larger} noise has {by:.2g} times the expected squared dual "
        "norm"
    )


def sweep_title(rows: Sequence[DualSquare], q: float, d: int) -> str:
    """Return what both noises measure at the chosen exponent."""
    gg, gaussian = (
        min((r for r in rows if r.noise == noise), key=lambda r: abs(r.q - q))
        for noise in NOISE_NAMES
    )
    at = f"At q = {gg.q:g} in {d:,} dimensions"
    if gg.q == 2:
        return f"{at} both noises are the same: 1 unit"
    return (
        f"{at}: {gg.mean:.2g} units with generalized Gaussian noise, {gaussian.mean:.2g} with "
        "Gaussian"
    )


def growth_title(low: float, high: float, name: str, smallest: int, largest: int) -> str:
    """Return how much a set's width grows over the chart."""
    return (
        f"From {smallest} to {largest:,} dimensions the width of the {name} grows "
        f"{high / low:.2g} times"
    )
