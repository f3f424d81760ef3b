"""The words of the page Geometry, on its sets and its figures."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from dpsco_app.parts.options import short_text
from dpsco_core.explain.geometry import DualSquare, Nearest, Shape, WidthRow

# Adding this before rounding makes a half round away from 0, as it does in the browser.
HALF_UP = 1e-9
NOISE_NAMES = {"generalized gaussian": "Generalized Gaussian", "gaussian": "Gaussian"}
QUESTIONS = {
    "set": "What does a set do to a point outside it?",
    "width": "How far does the set reach in a random direction?",
    "noise": "Does it pay to shape the noise to the norm?",
}


@dataclass(frozen=True, kw_only=True)
class SetWords:
    formula: str
    description: str
    does: str  # The effect of the projection on a point outside the set.


SETS = {
    "l1": SetWords(
        formula=r"|w_1| + \dots + |w_d| \le 1",
        description="Its corners lie on the axes: sparse points.",
        does="The ℓ₁ ball pulls points to its corners, where coordinates are exactly 0",
    ),
    "l2": SetWords(
        formula=r"\|w\|_2 \le 1",
        description="All points within Euclidean distance 1 of the centre: no direction is "
        "special.",
        does="The ℓ₂ ball shrinks a point towards 0 and keeps its direction",
    ),
    "lq": SetWords(
        formula=r"|w_1|^q + \dots + |w_d|^q \le 1",
        description="q runs from 1, the ℓ₁ ball with its corners on the axes, over 2, the round "
        "ball, to ∞, the box with its corners on the diagonals.",
        does="The ℓq ball has no corners for q between 1 and ∞: coordinates become small, never 0",
    ),
    "linf": SetWords(
        formula=r"|w_j| \le 1 \text{ for every } j",
        description="Every coordinate lies between −1 and 1, on its own.",
        does="The box clips every coordinate on its own; many end at exactly 1",
    ),
    "simplex": SetWords(
        formula=r"w \ge 0,\ w_1 + \dots + w_d = 1",
        description="All probability vectors. It is flat, and 0 is outside.",
        does="The simplex makes a point a probability vector; small entries become exactly 0",
    ),
    "solid-simplex": SetWords(
        formula=r"w \ge 0,\ w_1 + \dots + w_d \le 1",
        description="Not negative, and adding up to at most 1. 0 is a corner.",
        does="The solid simplex makes negative coordinates 0, and shrinks a sum above 1",
    ),
    "group-l1": SetWords(
        formula=r"\textstyle\sum_g \|w_g\|_2 \le 1",
        description="Coordinates come in groups; the groups' Euclidean lengths add up to at most "
        "1. In more dimensions whole groups become 0 together.",
        does="In the plane there is one group, and the set is the round disc",
    ),
    "sparse": SetWords(
        formula=r"\operatorname{conv}\{w : \|w\|_2 \le 1,\ \|w\|_0 \le s\}",
        description="The smallest convex set that holds the vectors of length 1 with at most s "
        "entries that are not 0.",
        does="In the plane s is 1, and the hull of the sparse vectors is the ℓ₁ ball",
    ),
}


def set_answer(shape: Shape) -> str:
    """Return what projection on a set does to a point; an ℓq ball may equal another set."""
    same = {1.0: "l1", 2.0: "l2", math.inf: "linf"}.get(shape.q, "lq")
    return SETS[same if shape.kind == "lq" else shape.kind].does


def coordinates(values: Sequence[float]) -> str:
    """Return the coordinates of a point as text, with two decimals."""
    rounded_up = [value + math.copysign(HALF_UP, value) for value in values]
    return "(" + ", ".join(f"{value:.2f}".replace("-0.00", "0.00") for value in rounded_up) + ")"


def _digits(value: float) -> str:
    """Return a value with three digits, halves rounded up."""
    return f"{value * (1 + HALF_UP):.3g}"


def sentences(*, symmetric: bool) -> dict[str, str]:
    """Return templates of the sentences on a point, by name, with places for the numbers.

    `point_sentence` fills the numbers in, and the browser does so during a drag. In a `symmetric`
    set the largest inner product is the dual norm.
    """
    return {
        "outside": "x = {x} goes to **P(x) = {nearest}**, **{distance}** away.",
        "inside": "x = {x} lies in the set and stays where it is.",
        "farthest": "\n\nThe farthest point in the direction of x is **{farthest}**:",
        "edge": "\n\nThe farthest points in the direction of x are **a whole edge**:",
        "reach": " the largest ⟨x, w⟩ in the set is **{reach}**"
        + (", the dual norm of x." if symmetric else "."),
    }


def point_sentence(projected: Nearest, parts: dict[str, str]) -> str:
    """Return sentences on a point, its projection and the set's farthest points in its direction.

    `parts` are the templates of `sentences`.
    """
    farthest = projected.farthest.tolist()
    names = ["inside" if projected.normal is None else "outside"]
    names += ["farthest" if len(farthest) == 1 else "edge", "reach"] if farthest else []
    return "".join(parts[name] for name in names).format(
        x=coordinates(projected.point.tolist()),
        nearest=coordinates(projected.nearest.tolist()),
        distance=_digits(projected.distance),
        farthest=coordinates(farthest[0] if farthest else ()),
        reach=_digits(projected.dual_norm),
    )


def width_answer(rows: Sequence[WidthRow], kind: str, name: str) -> str:
    """Return the sentence on how a set's width grows with the dimension."""
    widths = [row for row in rows if row.kind == kind]
    times = short_text(widths[-1].width.value / widths[0].width.value, 2)
    bound = "" if widths[-1].width.exact else "proven upper bound on the "
    return (
        f"From {widths[0].d} to {widths[-1].d:,} dimensions the {bound}Gaussian width of the "
        f"{name} grows {times} times"
    )


def noise_answer(gg: DualSquare, gaussian: DualSquare, d: int) -> str:
    """Return the answer on which noise has the smaller squared dual norm at equal privacy.

    `gg` is the measurement of shaped (generalized Gaussian) noise.
    """
    place = f"At q = {gg.q:g} in {d:,} dimensions"
    if gg.q == 2:
        return f"{place} the dual norm is the Euclidean one, and the two are the same noise"
    return (
        f"{place}, no: shaped noise has {short_text(gg.mean / gaussian.mean, 2)} times the squared "
        "dual norm of plain Gaussian noise"
    )


LOOK_AT = {
    "set": "A learner's **set** C decides how a step is pulled back. The residual x − P(x) is at a "
    "right angle to a line that supports the set. Green marks the **farthest point** in the "
    "direction of x, where ⟨x, w⟩ is largest. Only on the round ball are P(x) and the farthest "
    "point the same for every x outside: choose another set at the left.",
    "width": "Noise is a random vector ξ: a set that reaches little in most directions lets little "
    "of it through. The **support function** h(ξ) is the distance from 0 of the line that touches "
    "the set at a right angle to ξ, times the length of ξ; its mean over all ξ is the **Gaussian "
    "width**. Sets with few corners (ℓ₁, simplex, groups) stay near the guide √(2 ln d), "
    "round ones grow like √d, and the box like d; the error of objective perturbation grows with "
    "this width instead of with √d. All have radius 1, groups of 5 coordinates, at most 5 entries "
    "in sparse vectors. Where only bounds are proven the line is the upper one.",
    "noise": "Gradients are measured in the **dual norm** ‖·‖ with exponent q′ = q/(q − 1). "
    "**Generalized Gaussian** noise has a density that falls with that norm itself or, where q′ "
    "exceeds 2 ln d + 1, with the smoother norm of that exponent. Both are drawn at the same "
    "privacy ρ and the same sensitivity s; one unit is d s²/2ρ, what Gaussian noise "
    "has at q = 2. Dashed: proven bounds on the mean; bands, where a line is pointed at, hold 80 % "
    "of single draws. At equal proven privacy the plain Gaussian's bound is never larger. The "
    "proof of the generalized Gaussian's privacy is loose: this compares guarantees, not what an "
    "attacker could learn.",
}
HOW_TO_READ = """
- **w** is a parameter, **C** the set that it must lie in, **d** the number of its coordinates.
- **x** is the point that you move, **P(x)** its *projection*: the nearest point of C in Euclidean
  distance. The *residual* is x − P(x).
- **⟨x, w⟩** is the inner product: the sum of the products of coordinates.
- The *farthest point* in the direction of x is the w of C with the largest ⟨x, w⟩. That largest
  value is h(x), the support function; where C is its own mirror image, it is the dual norm of x.
- **‖w‖q** is the ℓq norm: the q-th root of the sum of the q-th powers of the coordinates' sizes.
  **q′** = q/(q − 1) is the exponent of its dual; 1 and ∞ belong together, and 2 with itself.
- **ξ** (xi) is a vector of independent standard normal numbers, **h(ξ)** the support function, how
  far C reaches in that direction, and its mean the **Gaussian width**.
- **ρ** (rho) is the privacy budget of zero-concentrated DP, **s** the sensitivity: how much the
  replacement of one record can change what is released. **z** is the noise, **σ** its scale.
- Nothing here touches data.
"""
