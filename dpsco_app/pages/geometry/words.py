"""What the sets and the figures of Geometry are, in words."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from dpsco_app.pages.geometry.state import View
from dpsco_core.explain.geometry import Cloud, DualSquare, Nearest, RunningMean
from dpsco_core.geometry import Width, dual_exponent

HALF_UP = 1e-9  # a half is rounded away from 0 in spite of its last digits, as in the browser
NOISE_NAMES = {"generalized gaussian": "generalized Gaussian", "gaussian": "Gaussian"}


@dataclass(frozen=True, kw_only=True)
class SetWords:
    name: str
    formula: str
    what: str
    polar: str


SETS = {
    "l2": SetWords(
        name="ℓ₂ ball",
        formula=r"\|w\|_2 \le 1",
        what="All points within Euclidean distance 1 of the centre. Round: no direction is "
        "special.",
        polar="the ℓ₂ ball again: the only norm that is its own dual",
    ),
    "l1": SetWords(
        name="ℓ₁ ball",
        formula=r"|w_1| + \dots + |w_d| \le 1",
        what="All points whose coordinates' sizes add up to at most 1. Its corners lie on the "
        "axes: sparse points.",
        polar="the box of the largest size, ℓ∞",
    ),
    "lq": SetWords(
        name="ℓ_q ball",
        formula=r"|w_1|^q + \dots + |w_d|^q \le 1",
        what="q runs from 1, the ℓ₁ ball with its corners on the axes, over 2, the round ball, to "
        "∞, the box with its corners on the diagonals.",
        polar="the ball of the dual exponent q′ = q/(q − 1)",
    ),
    "linf": SetWords(
        name="ℓ∞ box",
        formula=r"|w_j| \le 1 \text{ for every } j",
        what="Every coordinate lies between −1 and 1, on its own.",
        polar="the ℓ₁ ball, where sizes add up",
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
        name="group ℓ₁ ball",
        formula=r"\textstyle\sum_g \|w_g\|_2 \le 1",
        what="Coordinates come in groups; the groups' Euclidean lengths add up to at most 1. Here "
        "the first two are one group and the third, in space, is alone.",
        polar="every y whose groups all have length at most 1",
    ),
    "sparse": SetWords(
        name="sparse vectors' hull",
        formula=r"\|w\|_1 \le \sqrt{s},\ \|w\|_2 \le 1",
        what="The round ball cut by an ℓ₁ ball: it holds the vectors of length 1 with at most s "
        "entries that are not 0, and little more. Here s = d − 1.",
        polar="the smallest convex body around the box of size 1/√s and the round ball",
    ),
    "capped": SetWords(
        name="capped ℓ₁ ball",
        formula=r"\|w\|_1 \le c,\ \|w\|_\infty \le 1",
        what="The box cut by an ℓ₁ ball: sizes at most 1 that add up to at most c (1.5 in the "
        "plane, 2 in space).",
        polar="the smallest convex body around the ℓ₁ ball and the box of size 1/c",
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
    return "∞" if math.isinf(q) else f"{q:.3g}"


def set_name(view: View) -> str:
    if view.geometry == "lq":
        return f"ℓ_q ball, q = {exponent_text(view.q)}"
    return SETS[view.geometry].name


def polar_name(view: View) -> str:
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
        return " In the plane s is 1, and the set is the ℓ₁ ball: look in space."
    return ""


def projection_title(found: Nearest) -> str:
    d = len(found.point)
    if found.normal is None:
        return "The point lies in the set: it is its own projection"
    moved = f"The nearest point of the set is {found.distance:.2f} away"
    if found.zeros:
        return f"{moved} and makes {found.zeros} of {d} coordinates exactly 0"
    return f"{moved}; no coordinate becomes 0"


def headed(name: str) -> str:
    """Return a name as a sentence starts; "ℓ₁ ball" keeps its letter."""
    return name if name[0] == "ℓ" else name[0].upper() + name[1:]


def coordinates(values: Sequence[float]) -> str:
    up = [value + math.copysign(HALF_UP, value) for value in values]
    return "(" + ", ".join(f"{value:.2f}".replace("-0.00", "0.00") for value in up) + ")"


def _short(value: float) -> str:
    return f"{value * (1 + HALF_UP):.3g}"


# The parts of what is said of a point: here filled with its numbers, and by the browser in a drag.
SENTENCES = {
    "outside": "x = {x} goes to **P(x) = {nearest}**, **{distance}** away.",
    "inside": "x = {x} lies in the set and stays where it is.",
    "dual": "\n\nThe dual point of P(x) is **y = {dual}**.",
    "farthest": "\n\nThe farthest point in the direction of x is **{farthest}**:",
    "edge": "\n\nThe farthest points in the direction of x are **a whole edge**:",
    "face": "\n\nThe farthest points in the direction of x are **a whole face**:",
    "norms": " the largest ⟨x, w⟩ in the set is **{dual_norm}**, the dual norm of x. The norm of x "
    "is **{norm}** (1 on the boundary).",
    "no norm": " the largest ⟨x, w⟩ in the set is **{dual_norm}**.",
    "away": "The nearest point is {distance} away",  # over the figure, while the point moves
    "in": "x lies in the set",
}


def projection_sentence(found: Nearest) -> str:
    farthest = found.farthest.tolist()
    parts = ["inside" if found.normal is None else "outside"]
    parts += [] if found.dual_point is None else ["dual"]
    if farthest:
        parts.append(("farthest", "edge", "face")[min(len(farthest), 3) - 1])
        parts.append("norms" if math.isfinite(found.norm) else "no norm")
    return "".join(SENTENCES[part] for part in parts).format(
        x=coordinates(found.point.tolist()),
        nearest=coordinates(found.nearest.tolist()),
        distance=_short(found.distance),
        dual=coordinates(() if found.dual_point is None else found.dual_point.tolist()),
        farthest=coordinates(farthest[0] if farthest else ()),
        dual_norm=_short(found.dual_norm),
        norm=_short(found.norm),
    )


def width_text(width: Width) -> str:
    """Return a width: one number, or its proven bounds."""
    if width.exact:
        return f"{width.value:.4g}"
    return f"between {width.lower:.3g} and {width.upper:.3g}"


def width_title(running: RunningMean, width: Width) -> str:
    mean = running.sample.mean
    said = f"After {running.sample.draws:,} draws the mean is {mean:.3f}; the width is"
    if not width.exact:
        return f"{said} {width_text(width)}"
    away = 100 * (mean / width.value - 1)
    return f"{said} {width.value:.3f} ({away:+.1f} %)".replace("-", "−")


def clouds_sentence(shown: Cloud, gg: DualSquare, gaussian: DualSquare) -> str:
    """Return whose squared dual norm is smaller at equal privacy, and what the shape follows."""
    dual = dual_exponent(gg.q)
    if gg.q == 2:
        return "At q = 2 the dual norm is the Euclidean one, and **the two are the same noise**."
    ratio = gg.exact / gaussian.exact
    said = (
        f"At equal proven privacy the generalized Gaussian noise has **{ratio:.2g} times** the "
        f"Gaussian's expected squared dual norm. The dual norm has exponent q′ = {dual:.3g}"
    )
    if shown.exponent == dual:
        return f"{said}, and the generalized Gaussian's density falls with that very norm."
    return (
        f"{said}; in {shown.draws.shape[1]} dimensions the density falls with a smoother norm in "
        f"its place, of exponent r = 2 ln d + 1 = {shown.exponent:.3g}."
    )


def sweep_title(rows: Sequence[DualSquare], q: float, d: int) -> str:
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


INTRODUCTION = (
    "A learner's **set** C and its **norm** decide how a step is pulled back, how large the "
    "privacy **noise** looks, and how many directions can go wrong: the **width**."
)
LOOK_AT_SET = (
    "Look for: the residual x − P(x) is at a right angle to a line (in space, a plane) that "
    "supports the set. From 0, the same direction leads to the **dual point** y on the boundary of "
    "the polar set: a corner of one set belongs to a side of the other. Move x near a corner of "
    "the set: P(x) stays put while y runs along a side of the polar set. Green marks the "
    "**farthest point** in the direction of x, where ⟨x, w⟩ is largest. Only on the round ball are "
    "P(x), y and the farthest point the same for every x outside."
)
UNBOUNDED = " Here 0 is not inside the set, so that the polar goes on for ever: it is cut off."
ABOUT_WIDTH = (
    r"The **support function** $h(\xi) = \max_{w \in C} \langle \xi, w\rangle$ says how far the "
    r"set reaches in direction $\xi$. Its mean over standard normal vectors $\xi$ is the "
    r"**Gaussian width** $G_C$. Noise is such a vector: a set that reaches little in most "
    r"directions lets little of it through."
)
LOOK_AT_LINES = (
    "Look for: each dotted line touches the set and stands at a right angle on its direction ξ; "
    "h(ξ) is its distance from 0, times the length of ξ. "
)
LOOK_AT_NEEDLES = (
    "Look for: each needle ends where the plane that touches the set, at a right angle on the "
    "direction ξ, is nearest to 0; h(ξ) is the needle's length, times the length of ξ. "
)
LOOK_AT_INTERVAL = (
    "The interval holds the width with "
    "probability 95 % at any one number of draws; it shrinks like one over the root of the draws."
)
LOOK_AT_GROWTH = (
    "Look for: sets with few corners (ℓ₁, simplex, groups) stay near the guide √(2 ln d), round "
    "ones grow like √d, and the box like d. Objective perturbation's error grows with the width "
    "instead of with √d. All have radius 1; groups of 5 coordinates, at most 5 entries in sparse "
    "vectors, a cap at 5, half-axes 1/j. A band: two proven bounds; the line is the upper one. "
    "The hull of random points is left out."
)
ABOUT_NOISE = (
    r"To hide one record, noise is added to a gradient. Gradients are measured in the "
    r"**dual norm** $\|\cdot\|_{q'}$, $q' = q/(q-1)$; one record changes it by at most s, its "
    r"**sensitivity**. Gaussian noise is round. **Generalized Gaussian** noise has a density that "
    r"falls with the dual norm itself. Both are drawn here at the same privacy ρ and the same s."
)
LOOK_AT_NOISE = (
    "One unit is d s²/2ρ (d coordinates, sensitivity s, budget ρ): what Gaussian noise has at "
    "q = 2. Measured with its standard error; exact by quadrature; the bound is proven. Look for: "
    "shaping the noise to the norm does not pay here. At equal proven privacy the plain Gaussian's "
    "bound is never larger. The proof of the generalized Gaussian's privacy is loose: this "
    "compares guarantees, not what an attacker could learn."
)
LOOK_AT_SWEEP = (
    "Look for: both noises agree at q = 2 and part towards q = 1, where the generalized Gaussian "
    "is the larger one. Bands hold 80 % of single draws; dashed: proven bounds on the mean. Where "
    "the generalized Gaussian's bound leaves its mean, its smooth norm stops following the dual "
    "norm: from there on the noise has one shape for every q. The unit is that of the table above."
)
HOW_TO_READ = """
- **w** is a parameter, **C** the set that it must lie in, **d** the number of its coordinates.
- **x** is the point that you move, **P(x)** its *projection*: the nearest point of C in Euclidean
  distance. The *residual* is x − P(x).
- **⟨w, y⟩** is the inner product: the sum of the products of coordinates.
- The **polar set** holds every y with ⟨w, y⟩ ≤ 1 for all w in C. If C is its own mirror image, C is
  the unit ball of a norm, and the polar set that of its *dual norm*: the largest inner product
  with a point of C.
- **y** is the *dual point* of P(x), for x outside the set. It lies in the direction of the
  residual, where ⟨P(x), y⟩ = 1; no point of the polar set has a larger inner product with P(x).
- The *farthest point* in the direction of x is the w of C with the largest ⟨x, w⟩. That largest
  value is h(x), the support function; where C has a norm, it is the dual norm of x.
- **‖w‖_q** is the ℓ_q norm: the q-th root of the sum of the q-th powers of the coordinates' sizes.
  **q′** = q/(q − 1) is the exponent of its dual; 1 and ∞ belong together, and 2 with itself.
- **ξ** (xi) is a vector of independent standard normal numbers, **h(ξ)** the support function, how
  far C reaches in that direction, and its mean the **Gaussian width**.
- **ρ** (rho) is the privacy budget of zero-concentrated DP, **s** the sensitivity: how much the
  replacement of one record can change what is released. **z** is the noise, **σ** its scale.
- **κ** (kappa), the bound of the generalized Gaussian in the last figure, is the constant of
  regularity of the dual space: min(q′ − 1, about 2e ln d).
- Pictures in space: drag to turn, or use the slider. Nothing here touches data.
"""
