"""The figures of the page Users but the map, and their numbers; no Streamlit in here."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from dpsco_app.figure.colours import INK
from dpsco_app.figure.methods import colour_of, symbol_of
from dpsco_app.figure.values import Dash, Figure, Line, Panel
from dpsco_app.pages.users.words import (
    NEED_NAMES,
    best_at,
    crossing_answer,
    frontier_answer,
)
from dpsco_app.parts.options import number_text, rounded, short_text
from dpsco_app.parts.simple_figures import ladder_of, log_axis, thin_line
from dpsco_core.catalogue import method_card
from dpsco_core.explain.users.crossing import Errors
from dpsco_core.explain.users.frontier import EPSILONS, NEEDS
from dpsco_core.methods.user.level import UserLevel

DASHES: dict[str, Dash] = {
    "theorem-c1": "solid",
    "theorem-b1": "solid",
    "groups-printed": "dot",
    "recommended-c1": "longdash",
    "step-calibrated": "dash",
    "groups-calibrated": "dash",
}


def crossing_figure(curves: Sequence[Errors], start: float, m: float) -> Figure:
    """Return the figure of mean excess risks over m; `start` is that of an answer without data.

    The numbers beside the names are those of the measured point that is nearest to `m`.
    """
    lines = [
        Line(
            key=c.method,
            name=method_card(c.method).name,
            x=list(c.items),
            y=list(c.mean),
            # A bar that would leave the logarithmic axis ends at a tenth of its mean.
            half=list(2 * np.nan_to_num(c.standard_error)),
            down=list(np.minimum(2 * np.nan_to_num(c.standard_error), 0.9 * c.mean)),
            colour=colour_of(c.method),
            symbol=symbol_of(c.method),
            hover=[
                f"{method_card(c.method).name}<br>m = {short_text(x)}: {rounded(y)}"
                for x, y in zip(c.items, c.mean, strict=True)
            ],
        )
        for c in curves
    ]
    items, best = curves[0].items, min(curves, key=lambda c: float(c.mean[-1]))
    ends, error = [float(items[0]), float(items[-1])], float(best.mean[-1])
    blank = replace(thin_line("always answering 0", ends[::-1], [start] * 2), away=(9, 10))
    low, high = ends_of([*lines, blank])
    nearest = int(np.argmin(np.abs(np.log(items / m))))
    place = f"m = {short_text(float(items[nearest]))}"
    falling = thin_line("1/m", [ends[1], ends[1] / 100], [error, 100 * error])
    return Figure(
        panels=[
            Panel(
                title="",
                x=log_axis("Items per user m", *ends),
                lines=[
                    *lines,
                    replace(falling, dash="dot", away=(-9, -9)),
                    blank,
                    replace(
                        thin_line(place, [float(items[nearest])] * 2, [low, high]),
                        dash="solid",
                        away=(-5, 9),
                    ),
                ],
            )
        ],
        y=log_axis("Mean excess risk", low, high),
        ladder=ladder_of(
            f"At {place}", "excess risk", lines, [rounded(float(c.mean[nearest])) for c in curves]
        ),
        alt=crossing_answer(curves, start),
    )


def frontier_figure(
    needs: Mapping[str, Sequence[float]],
    needs_here: Mapping[str, float],
    runs: float,
    most_users: float,
    point: UserLevel,
) -> Figure:
    """Return the figure of the least number of users of each algorithm against epsilon.

    `needs` has these numbers along epsilon, and `needs_here` at the chosen `point`. `runs` is the
    least number with which the printed algorithm runs, and `most_users` the largest, 1/(delta m).
    """
    lines = [
        Line(
            key=need.slug,
            name=NEED_NAMES[need.slug],
            x=list(EPSILONS),
            y=[v if math.isfinite(v) else math.nan for v in needs[need.slug]],
            colour=colour_of(need.method),
            dash=DASHES[need.slug],
            width=2.4,
            hover=[f"{NEED_NAMES[need.slug]}: {number_text(v)} users" for v in needs[need.slug]],
        )
        for need in NEEDS
    ]
    marker = Line(
        key="chosen",
        name="chosen point",
        x=[point.epsilon],
        y=[point.n],
        colour=INK,
        width=0,
        symbol="circle-x-open",
        size=14,
    )
    low, high = ends_of([*lines, marker])
    border = thin_line("n = 1/(δm)", [EPSILONS[-1], EPSILONS[0]], [most_users, most_users])
    values = [number_text(needs_here[need.slug]) for need in NEEDS]
    return Figure(
        panels=[
            Panel(
                title="",
                x=log_axis("Privacy budget ε", EPSILONS[0], EPSILONS[-1]),
                lines=[
                    *lines,
                    marker,
                    *[replace(border, away=(9, -10))] * (low < most_users < high),
                ],
            )
        ],
        y=log_axis("Least number of users n", low, high),
        ladder=ladder_of(f"At ε = {point.epsilon:g}", "users needed", lines, values),
        alt=frontier_answer(needs_here, runs, point.epsilon),
    )


def ends_of(lines: Sequence[Line]) -> tuple[float, float]:
    """Return the ends of an axis with some room around all that is drawn."""
    values = [y for line in lines for y in line.y if y > 0]
    return min(values) / 1.8, max(values) * 1.8


# -- the numbers behind them --


def crossing_table(curves: Sequence[Errors]) -> pd.DataFrame:
    """Return the table of measured errors, one row for each method and m, with the smallest marked.

    "Smallest" says whether a method's error is the smallest at its m, or in a tie.
    """
    best = best_at(curves)
    parts = (
        pd.DataFrame(
            {
                "Method": method_card(c.method).name,
                "m": c.items.astype(int),
                "Mean excess risk": c.mean,
                "Standard error": c.standard_error,
                "RMS distance": c.distance,
                "Trials": c.risks.shape[1],
                "Smallest": [
                    ("in a tie" if tied else "yes") * (winner == k) for winner, tied in best
                ],
            }
        )
        for k, c in enumerate(curves)
    )
    return pd.concat(parts, ignore_index=True)
