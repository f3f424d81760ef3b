"""What One run shows: the parts of the error, sentences and tables; no Streamlit in here."""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from dpsco_app.figure.axes import linear_axis
from dpsco_app.figure.colours import INK, METHODS, NOISE, Area
from dpsco_app.figure.values import Figure, Ladder, LadderRow, Line, Panel, Region
from dpsco_app.parts.error_parts import PART_COLOURS, PART_NAMES
from dpsco_app.parts.options import short_text
from dpsco_app.parts.simple_figures import ladder_row, log_axis, upright_line
from dpsco_app.parts.touch.run import RunLine
from dpsco_core.base.arrays import Vector
from dpsco_core.explain.anatomy import ErrorParts, RiskPath, share_clipped
from dpsco_core.explain.error_parts import PARTS
from dpsco_core.explain.methods.cancelling import Cancelling, cancelling

SHOWN_ERROR = 3.0  # The figure ends at this multiple of the least error.
NOTABLE_RATIO = 1.3  # The least ratio of risks that the headline mentions.
NOTABLE_SHARE = 5e-3  # The least share of the error that the sentence mentions.


# -- the run ------------------------------------------------------------------------------------


def path_title(
    private: RiskPath,
    clipped: RiskPath | None,
    exact: RiskPath | None,
    mean_gain: float | None = None,
) -> str:
    """Return the title of a run: how far it lowers the risk, and whether noise or clipping costs.

    `clipped` and `exact` are the same run without noise, and without noise and clipping, where
    there is one. `mean_gain`, from `noise_gain`, adds the average over runs to the luck of one.
    """
    start = float(private.risks[0])
    if private.final >= start:
        return (
            "The run ends no better than it started: "
            f"{short_text(private.final, 2)} after {short_text(start, 2)}"
        )
    gain = f"The run divides the risk by {start / private.final:.2g}"
    if exact is None or exact.final <= 0:
        return gain
    if clipped is None or clipped.final <= 0:
        ratio = private.final / exact.final
        if ratio < NOTABLE_RATIO:
            return f"{gain}, as much as without privacy"
        return f"{gain}; without privacy it would end {_lower_words(ratio)}"
    noise, clipping = private.final / clipped.final, clipped.final / exact.final
    if max(noise, clipping) < NOTABLE_RATIO:
        return f"{gain}: neither noise nor clipping costs much in it"
    # Costs add up, as in the figure of the four parts.
    if private.final - clipped.final >= clipped.final - exact.final:
        title = f"Without noise the risk of this run would end {_lower_words(noise)}"
        if mean_gain is None:
            return title
        mean = _lower_words(mean_gain).removesuffix(" lower")
        return f"{title}; on average {mean if mean_gain > 1.05 else 'hardly lower'}"
    return f"Of two runs without noise, the unclipped one would end {_lower_words(clipping)}"


def noise_gain(parts: ErrorParts, radius: float) -> float:
    """Return the ratio of the mean risk at a clip radius to that without noise."""
    *noiseless, noise = parts.at(radius)
    return 1 + noise / sum(noiseless) if sum(noiseless) > 0 else math.inf


def clipping_remark(clipped: RiskPath | None, exact: RiskPath | None) -> str:
    """Return why a clipped run ends below an unclipped one; empty unless it clearly does.

    Both runs are without noise.
    """
    if clipped is None or exact is None or clipped.final * NOTABLE_RATIO > exact.final:
        return ""
    return (
        f"In this run clipping helps even without noise: what would be released has "
        f"{short_text(clipped.final, 2)} with it, {short_text(exact.final, 2)} without. It weakens "
        "the few largest gradients, which make the steps overshoot."
    )


def _lower_words(ratio: float) -> str:
    """Return a ratio of risks as "2 times lower", or other words beyond a million."""
    return f"{short_text(ratio, 2)} times lower" if ratio < 1e6 else "at the best possible"


def path_table(lines: Sequence[RunLine]) -> pd.DataFrame:
    """Return the excess risk along each run, one row per step; the answer comes last."""
    rows = []
    for line in lines:
        steps = line.path.steps.tolist()
        rows += [
            (line.name, step, risk, "the iterate")
            for step, risk in zip(steps, line.path.risks.tolist(), strict=True)
        ]
        rows.append((line.name, steps[-1], line.path.final, "the answer"))
    return pd.DataFrame(rows, columns=["Run", "Steps done", "Excess risk", "Of"])


# -- the parts of the error ---------------------------------------------------------------------


def parts_figure(parts: ErrorParts, radius: float) -> Figure:
    """Return the figure of the error's parts by clip radius, stacked; negative ones are below 0.

    `radius` is the chosen one.
    """
    x, total = parts.radii.tolist(), parts.total
    top = 1.08 * min(float(total.max()), SHOWN_ERROR * float(total.min()))
    regions, base = [], {1: np.zeros(len(x)), -1: np.zeros(len(x))}
    for name in PARTS:
        value = getattr(parts, name)
        for sign, stacked in base.items():
            part = np.maximum(sign * value, 0.0)
            if sign == -1 and not part.any():
                continue
            base[sign] = stacked + part
            ends = sorted((sign * stacked, sign * base[sign]), key=lambda edge: float(edge.sum()))
            colour = PART_COLOURS[name]
            regions.append(
                Region(
                    key=name if sign == 1 else f"{name} below",
                    name=PART_NAMES[name] if sign == 1 else f"{PART_NAMES[name]}, reduces it",
                    x=x,
                    lower=ends[0].tolist(),
                    upper=ends[1].tolist(),
                    look=Area(fill=colour, edge=colour, ink=colour),
                    edge=0.0,
                    hover=[f"{PART_NAMES[name]} {short_text(float(v), 2)}" for v in value],
                )
            )
    bottom = max(-float(base[-1].max()), -top) * 1.05
    whole = Line(key="whole", name="whole error", x=x, y=total.tolist(), colour=INK, width=2.4)
    zero = Line(key="zero", name="0", x=[x[0], x[-1]], y=[0, 0], colour=INK, kind="guide", width=1)
    return Figure(
        panels=[
            Panel(
                title="",
                x=log_axis("Clip radius R", x[0], x[-1]),
                regions=regions,
                lines=[
                    zero,
                    whole,
                    upright_line(radius, top, bottom, f"R = {short_text(radius, 2)}"),
                ],
            )
        ],
        y=linear_axis("Mean excess population risk", bottom, top),
        ladder=_ladder(parts, radius, top),
        alt=parts_title(parts, radius),
    )


def _ladder(parts: ErrorParts, radius: float, top: float) -> Ladder:
    """Return the table beside the figure: the parts at the chosen radius, in the stack's order.

    `top` is the upper end of the axis.
    """
    rows, end = [], 0.0
    for name, value in zip(PARTS, parts.at(radius), strict=True):
        thick = max(float(getattr(parts, name)[-1]), 0.0)
        rows.append(
            LadderRow(
                key=name,
                name=PART_NAMES[name],
                colour=PART_COLOURS[name],
                values=[short_text(value, 2)],
                end=min(end + thick / 2, 0.98 * top),
                swatch="area",
            )
        )
        end += thick
    rows.append(
        LadderRow(
            key="whole",
            name="whole error",
            colour=INK,
            values=[short_text(sum(parts.at(radius)), 2)],
            end=min(end, top),
            bold=True,
        )
    )
    return Ladder(title=f"At R = {short_text(radius, 2)}", columns=["mean excess risk"], rows=rows)


def parts_title(parts: ErrorParts, radius: float) -> str:
    """Return the title on which radius is best and how much larger the chosen one's error is."""
    total, best = parts.total, int(parts.total.argmin())
    chosen = int(np.abs(np.log(parts.radii / radius)).argmin())
    if best in (0, len(total) - 1):
        extreme = "largest" if best else "smallest"
        return f"The {extreme} radius is best here: the bend lies outside the figure"
    best_radius = short_text(parts.radii[best], 2)
    if chosen == best:
        return f"Radius {best_radius}, the one that is shown, is best"
    loss = float(total[chosen] / total[best]) - 1
    excess = f"{percent(loss)} larger" if loss < 1 else f"{1 + loss:.2g} times as large"
    return f"Radius {best_radius} is best; at {short_text(radius, 2)} the error is {excess}"


def radius_sentence(norms: Vector, parts: ErrorParts | None, radius: float) -> str:
    """Return a sentence on the share of gradients clipped at a radius, and the error's parts.

    `norms` are the lengths of the gradients at the best parameter.
    """
    share = share_clipped(norms, radius)
    subject = "no gradient is" if share == 0 else f"**{percent(share)}** of the gradients are"
    sentence = f"At radius **{short_text(radius, 2)}** and the best parameter, {subject} clipped"
    values = () if parts is None else parts.at(radius)
    total = sum(values)
    if total <= 0:
        return sentence + "."
    shares = ((value / total, PART_NAMES[n]) for n, value in zip(PARTS, values, strict=True))
    clauses = [
        f"{name} {'makes' if s > 0 else 'reduces it by'} **{percent(abs(s))}**"
        for s, name in sorted(shares, reverse=True)
        if abs(s) > NOTABLE_SHARE
    ]
    clauses[0] += f" of the mean error (**{short_text(total, 2)}**)"
    return f"{sentence}; " + ", ".join(clauses) + "."


def percent(share: float) -> str:
    """Return a share as people write it: 3 %, 0.02 %, none."""
    value = 100 * share
    return "none" if share == 0 else f"{value:.0f} %" if value >= 0.95 else f"{value:.1g} %"


def parts_table(parts: ErrorParts) -> pd.DataFrame:
    """Return the table of the parts of an error at each clip radius."""
    return pd.DataFrame(
        {
            "Clip radius": parts.radii,
            **{PART_NAMES[name].capitalize(): getattr(parts, name) for name in PARTS},
            "Whole error": parts.total,
        }
    )


# -- noise that cancels -------------------------------------------------------------------------


def noise_figure(noise: Cancelling) -> Figure:
    """Return the figure of the noise in the sum of the steps so far, correlated and independent."""
    steps = [float(t) for t in range(1, len(noise.sum_std) + 1)]
    lines, rows = [], []
    for name, values, path, colour in (
        ("independent noise", noise.independent_std, noise.independent_path, METHODS["grey"]),
        ("noise that cancels", noise.sum_std, noise.sum_path, NOISE),
    ):
        y = values.tolist()
        line = Line(key=name, name=name, x=steps, y=y, colour=colour, width=2.4)
        run = replace(line, name=f"{name}, one path", y=path.tolist(), width=1.0, opacity=0.6)
        lines += [run, line]
        rows.append(ladder_row(line, short_text(y[-1], 2), y[-1]))
    ends = [v for line in lines for v in line.y]
    fewer = short_text(float(noise.independent_std[-1] / noise.sum_std[-1]), 2)
    return Figure(
        panels=[Panel(title="", x=linear_axis("Steps so far", 0, steps[-1]), lines=lines)],
        y=linear_axis("Noise in their sum", 1.1 * min(ends), 1.1 * max(ends)),
        ladder=Ladder(title=f"After {steps[-1]:g}", columns=["std"], rows=rows),
        alt=f"After {steps[-1]:g} steps the sum holds {fewer} times less noise than if every "
        "step had noise of its own",
    )


def noise_sentence(steps: int) -> str:
    """Return sentences that explain the figure of correlated noise, with values after `steps`."""
    noise = cancelling(steps)
    cancels, independent, in_step = (
        short_text(float(std[-1]), 2)
        for std in (noise.sum_std, noise.independent_std, noise.step_std)
    )
    return (
        "Thick: the standard deviation; thin: one path. The unit is the noise that hides a step "
        f"alone; both kinds are equally private. This run takes {steps} "
        f"step{'s' * (steps > 1)}: {cancels} with noise that cancels, {independent} without. A "
        f"step by itself has more noise then, {in_step}: the gain is in the sum."
    )
