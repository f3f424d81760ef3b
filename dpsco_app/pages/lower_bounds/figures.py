"""The figures of Lower bounds as plain values, and numbers behind them; no Streamlit in here."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from dpsco_app.figure.axes import linear_axis
from dpsco_app.figure.colours import IMPOSSIBLE, INK, QUIET, SAMPLING, WINDOW, Pair
from dpsco_app.figure.methods import colour_of
from dpsco_app.figure.values import (
    Dash,
    Figure,
    Ladder,
    Line,
    Panel,
    Region,
    Words,
)
from dpsco_app.pages.lower_bounds.words import (
    AXIS_NAMES,
    BOUND_LINE,
    LINE_NAMES,
    NO_DATA,
    SYMBOLS,
    VOID,
    brief,
    sweep_title,
)
from dpsco_app.parts.options import at_most, short_text
from dpsco_app.parts.simple_figures import ladder_of, ladder_row, log_axis, thin_line, upright_line
from dpsco_core.base.arrays import Vector
from dpsco_core.catalogue import method_card
from dpsco_core.explain.fano.instance import FanoCurve
from dpsco_core.explain.tracing import Spied, most_caught
from dpsco_core.explain.window import Notion, Standing
from dpsco_core.privacy.budget import Budget

# The dash patterns of proofs that are not the best of their class.
OTHER_DASHES: tuple[Dash, ...] = ("solid", "longdash", "dash", "dashdot", "dot")
ALLOWED = "The most that privacy allows"


def sweep_figure(
    values: Vector, standings: Sequence[Standing], standing: Standing, field: str
) -> Figure:
    """Return the figure of the best proven bounds over a field, and of the window between them.

    `values` are those of the field, `standings` the bounds there, and `standing` those at the
    scenario.
    """
    x, notion = [float(v) for v in values], next(iter(standing.windows))
    upper = [s.chosen(notion) for s in standings]
    proven = [y if y < s.start else np.nan for y, s in zip(upper, standings, strict=True)]
    floors = {k: [s.windows[k].floor for s in standings] for k in standing.windows}
    chosen_x = float(getattr(standing.point, field))

    def line(name: str, y: Sequence[float], colour: Pair, dash: Dash) -> Line:
        """Return the line of a bound along the sweep; it has gaps where the bound is 0."""
        return Line(
            key=name,
            name=name,
            x=x,
            y=[v if v > 0 else np.nan for v in y],
            colour=colour,
            kind="proven",
            width=2.6 if dash == "solid" else 1.6,
            dash=dash,
            hover=[
                f"{name}<br>{SYMBOLS[field]} = {short_text(a)}: {brief(b)}"
                for a, b in zip(x, y, strict=True)
            ],
        )

    region = Region(
        key="window",
        name="the window",
        x=x,
        upper=upper,
        lower=[max(v, 1e-300) for v in floors[notion]],
        look=WINDOW,
        edge=0,  # There is no edge, because the top is not a proven bound everywhere.
    )
    start = [s.start for s in standings]
    lines = [line(NO_DATA, start, QUIET, "dot"), line(BOUND_LINE, proven, WINDOW.ink, "solid")]
    lines += [
        line(LINE_NAMES[k], y, IMPOSSIBLE.ink, "solid" if k == notion else "dash")
        for k, y in floors.items()
    ]
    chosen_values = [
        standing.start,
        standing.chosen(notion) if standing.chosen(notion) < standing.start else np.nan,
    ]
    chosen_values += [w.floor for w in standing.windows.values()]
    drawn_lines = [
        (a, v) for a, v in zip(lines, chosen_values, strict=True) if not np.isnan(a.y).all()
    ]
    positive = [v for y in floors.values() for v in y if v > 0]
    low, high = min(positive, default=min(upper) / 100) / 1.5, max(start) * 1.5
    title = f"At {SYMBOLS[field]} = {short_text(chosen_x)}"
    words = Words(lines=["<b>The window</b>"], colour=WINDOW.ink, want=(0.5, 0.8))
    return Figure(
        panels=[
            Panel(
                title="",
                x=log_axis(AXIS_NAMES[field], x[0], x[-1]),
                regions=[region],
                lines=[*lines, upright_line(chosen_x, low, high, "here")],
                words=[words],
            )
        ],
        y=log_axis("Worst-case error", low, high),
        ladder=ladder_of(
            title, "error", [a for a, _ in drawn_lines], [brief(v) for _, v in drawn_lines]
        ),
        alt=sweep_title(standings, field),
    )


def curve_figure(
    curves: Sequence[FanoCurve],
    chosen: str,
    best: Mapping[Notion, FanoCurve],
    sampling: float,
    proof_q: float,
    alt: str,
) -> Figure:
    """Return the figure of lower bounds against the spike probability q.

    `best` has the largest curve on each class of algorithms, drawn in red. `chosen` is the slug of
    the proof's bound, and `proof_q` the q of the proof; `sampling` is the bound without privacy.
    """
    drawn_curves = [c for c in curves if c.best > VOID]
    classes = {c.slug: kind for kind, c in best.items()}
    top = max([c.best for c in drawn_curves] + [sampling])
    low, high = top / 300, top * 2
    ends = (min(float(curves[0].q[0]), proof_q), max(proof_q, *(float(c.q[-1]) for c in curves)))
    lines, rows = [], []
    for i, bound_curve in enumerate(drawn_curves):
        kind = classes.get(bound_curve.slug)
        line = Line(
            key=bound_curve.slug,
            name=bound_curve.name,
            x=bound_curve.q.tolist(),
            y=np.where(bound_curve.values > low / 3, bound_curve.values, np.nan).tolist(),
            colour=IMPOSSIBLE.edge if kind else INK if bound_curve.slug == chosen else QUIET,
            width=2.6 if kind or bound_curve.slug == chosen else 1.3,
            dash=("solid" if kind == next(iter(best)) else "dash") if kind else OTHER_DASHES[i % 5],
        )
        mark = replace(
            line, x=[bound_curve.best_q], y=[bound_curve.best], width=0, symbol="diamond", size=11
        )
        lines += [
            line,
            replace(mark, hover=[f"{bound_curve.name}<br>best q: {brief(bound_curve.best_q)}"]),
        ]
        rows.append(
            ladder_row(
                line, brief(bound_curve.best), bound_curve.best, bold=bound_curve.slug == chosen
            )
        )
    if sampling > VOID:
        y = [sampling, sampling]
        line = Line(key="sampling", name="Sampling alone", x=ends, y=y, colour=SAMPLING, width=3)
        lines.append(line)
        rows.append(ladder_row(line, brief(sampling), sampling))
    lines.append(thin_line("the proof's q", [proof_q, proof_q], [low, high]))
    return Figure(
        panels=[Panel(title="", x=log_axis("Spike probability q", *ends), lines=lines)],
        y=log_axis("Least error", low, high),
        ladder=Ladder(title="Each at its best q", columns=["error"], rows=rows),
        alt=alt,
    )


def caught_figure(spied: Sequence[Spied], budget: Budget, alt: str) -> Figure:
    """Return the figure of each attack's true positive rate against its false positive rate.

    The region above the largest rate that privacy allows is marked as impossible.
    """
    false = np.linspace(0, 1, 201)
    x, allowed = false.tolist(), most_caught(budget, false).tolist()
    region = Region(
        key=ALLOWED,
        name=ALLOWED,
        x=x,
        upper=[1.0] * len(allowed),
        lower=allowed,
        look=IMPOSSIBLE,
    )
    edge = Line(key=ALLOWED, name=ALLOWED, x=x, y=allowed, colour=IMPOSSIBLE.edge)
    most_at_5_percent = allowed[10]  # The largest share of found records at 5 % of false alarms.
    lines, rows = [edge], [ladder_row(edge, at_most(most_at_5_percent), most_at_5_percent)]
    for attacked in spied:
        name, colour = method_card(attacked.method).name, colour_of(attacked.method)
        y = np.interp(false, *attacked.rates()).tolist()
        line = Line(key=attacked.method, name=name, x=x, y=y, colour=colour, width=2.6)
        lines.append(line)
        rows.append(ladder_row(line, f"{100 * attacked.caught:.0f} %", attacked.caught))
    lines.append(upright_line(0.05, 0, 1, "5 %"))
    return Figure(
        panels=[
            Panel(
                title="",
                x=linear_axis("Suspected though not used", 0, 1),
                regions=[region],
                lines=lines,
            )
        ],
        y=linear_axis("Suspected and used", 0, 1),
        ladder=Ladder(title="At 5 % of false alarms", columns=["told"], rows=rows),
        alt=alt,
    )
