"""Notes of a release on the statements (bound, unit, centre, delta) that it rests on.

The notes follow from what is public or was released: to look at the records themselves, such as at
the share that is clipped, would not be private.
"""

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from dpsco_core.base.arrays import Vector
from dpsco_core.base.cards import MethodCard
from dpsco_core.privacy.ledger import Ledger

ON_BOUND = "The answer lies on the bound: bound, unit or centre may be wrong, or noise is large."
# A chosen radius below this multiple of the square root of d is too small for records of the stated
# unit.
SMALL_RADIUS = 0.2


def delta_note(delta: float | None, n: int) -> Iterator[str]:
    """Yield a warning if delta exceeds one over the number of records.

    A release that publishes one record in n, drawn at random, is (0, 1/n)-DP.
    """
    if delta is not None and delta > 1 / n:
        yield (
            f"delta={delta:g} is above 1/n = {1 / n:.2g}: a release that publishes a whole record "
            "would satisfy it; choose a delta far below 1/n."
        )


def bound_note(value: Vector, bound: float) -> Iterator[str]:
    """Yield a warning if a released value lies on its bound, both in the stated unit."""
    if float(np.linalg.norm(value)) >= bound * (1 - 1e-9):
        yield ON_BOUND


def interval_note(
    radius: float | None,  # the proven radius of the interval; None if none is proven
    other_methods: Sequence[str],  # the slugs of methods with an interval at the same statements
    *,
    has_unit: bool,
) -> Iterator[str]:
    """Yield the reason why a released mean has no interval; nothing if it has one.

    `has_unit` says whether the caller has stated the unit.
    """
    if radius is None:
        yield (
            "No interval is proven for this run; that of noise alone would be too short."
            + f" These methods have one: {', '.join(other_methods)}." * bool(other_methods)
        )
    elif not has_unit:
        yield "No interval: it would rest on unit, which is not stated and counts as 1."


def radius_notes(
    card: MethodCard,
    # the reported parameters of the run, in units: planned or released
    parameters: Mapping[str, float],
    ledger: Ledger,
    value: Vector,  # the released mean, in units, shape (d,)
    bound: float,  # the largest distance of the mean from the centre, in units
    unit: float | None,  # the unit of all coordinates; None if each has its own
) -> Iterator[str]:
    """Yield warnings about the caller's statements, by a released mean's clip radius and noise.

    A tiny radius is chosen if all records lie beyond the largest radius, and also if they are much
    closer together than `unit`: the answer is then the centre with hardly any noise.
    """
    width = math.sqrt(len(value))
    measure, ending = (1.0, " units") if unit is None else (unit, "")
    noise = parameters.get("noise_std", 0.0) * width
    if noise > bound:
        yield (
            f"The noise, {measure * noise:.4g}{ending} in all, is larger than the bound, "
            f"{measure * bound:.4g}{ending}: the answer says next to nothing."
        )
    radius = parameters.get("clip_radius")
    if radius is None:
        return
    length = f"{measure * radius:.4g}{ending}"
    has_looked = any(entry.mechanism == "exponential" for entry in ledger.entries)
    if not (card.private_radius and has_looked):
        yield (
            f"The clip radius, {length}, follows from unit, p and bound alone: whether it cuts "
            "nearly all records or none is not looked at, for that look would not be private."
        )
    elif radius < SMALL_RADIUS * width:
        yield (
            f"The chosen clip radius, {length}, is tiny beside unit: either nearly all records lie "
            "beyond it, or they are much closer together than unit says; state bound, unit and "
            "centre anew before you use the answer."
        )
    elif radius >= parameters.get("top_radius", math.inf) * (1 - 1e-9):
        yield (
            f"The chosen clip radius, {length}, is the largest that unit and bound allow: many "
            "records may lie beyond it, and unit may be too small."
        )
