"""What the figures of One run show, in words computed from their numbers."""

import numpy as np

from dpsco_app.pages.one_run.charts import PART_NAMES, percent, radius_text
from dpsco_app.parts.options import number_text
from dpsco_core.base.arrays import Vector
from dpsco_core.explain.anatomy import PARTS, ErrorParts, RiskPath, share_clipped

MUCH = 1.3  # a ratio of risks that is worth a headline


def path_title(private: RiskPath, clipped: RiskPath | None, exact: RiskPath | None) -> str:
    """Return what the paths show: whether noise or clipping costs more."""
    start = float(private.risks[0])
    if private.final >= start:
        ended = f"{_short(private.final)} after {_short(start)}"
        return f"The run ends no better than it started: {ended}"
    gain = f"The run divides the risk by {start / private.final:.2g}"
    if exact is None or exact.final <= 0:
        return gain
    if clipped is None or clipped.final <= 0:
        ratio = private.final / exact.final
        if ratio < MUCH:
            return f"{gain}, as much as without privacy"
        return f"{gain}; without privacy it would end {_lower(ratio)}"
    noise, clipping = private.final / clipped.final, clipped.final / exact.final
    if max(noise, clipping) < MUCH:
        return f"{gain}: neither noise nor clipping costs much here"
    # Costs add up, as in the figure of the four parts.
    if private.final - clipped.final >= clipped.final - exact.final:
        return f"In this run noise costs most: without it the risk would end {_lower(noise)}"
    return (
        "In this run clipping costs most: without noise the risk would end "
        f"{_lower(clipping)} if nothing were clipped"
    )


def _short(value: float) -> str:
    return number_text(float(f"{value:.2g}"))


def _lower(ratio: float) -> str:
    """Return how much lower a risk is; beyond a million it is as good as 0, rounding and all."""
    return f"{ratio:.2g} times lower" if ratio < 1e6 else "at the best possible"


def no_frames(method: str, *, descends: bool) -> str:
    """Return why there is nothing to play."""
    way = "takes a single step" if descends else "goes from its start to its answer without a stop"
    return f"{method} {way} here: there is nothing to play."


def parts_title(parts: ErrorParts) -> str:
    """Return which radius is best, and what the tuning's own radius loses against it."""
    total = parts.total
    best = int(total.argmin())
    chosen = int(np.abs(np.log(parts.radii / parts.chosen)).argmin())
    loss = float(total[chosen] / total[best]) - 1
    if best in (0, len(total) - 1):
        where = "largest" if best else "smallest"
        return f"The {where} radius is best here: the bend lies outside the figure"
    if chosen == best:
        return f"Radius {radius_text(parts.radii[best])}, the one that is chosen, is best"
    more = f"{percent(loss)} larger" if loss < 1 else f"{1 + loss:.2g} times as large"
    return (
        f"Radius {radius_text(parts.radii[best])} is best; at the chosen "
        f"{radius_text(parts.chosen)} the error is {more}"
    )


def radius_sentence(norms: Vector, parts: ErrorParts | None, radius: float) -> str:
    """Return what happens at a radius, in one sentence with its numbers."""
    share = share_clipped(norms, radius)
    who = "no gradient is" if share == 0 else f"**{percent(share)}** of the gradients are"
    sentence = f"At radius **{radius_text(radius)}** and the best parameter, {who} clipped"
    if parts is None:
        return sentence + "."
    values = parts.at(radius)
    total = sum(values)
    if total <= 0:
        return sentence + "."
    shares = {name: value / total for name, value in zip(PARTS, values, strict=True)}
    ordered = sorted(shares, key=lambda name: -shares[name])
    adds = [f"{PART_NAMES[n]} makes **{percent(shares[n])}**" for n in ordered if shares[n] > 5e-3]
    less = [
        f"{PART_NAMES[n]} reduces it by **{percent(-shares[n])}**"
        for n in ordered
        if shares[n] < -5e-3
    ]
    said = [*adds, *less]
    if said:
        said[0] += f" of the mean error (**{_short(total)}**)"
    return f"{sentence}; " + ", ".join(said) + "."
