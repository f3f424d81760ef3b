"""The figures of the page Privacy as plain values; the numbers behind them are theirs."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pandas as pd

from dpsco_app.figure.axes import histogram_outline, linear_axis
from dpsco_app.figure.colours import IMPOSSIBLE, INK, METHODS
from dpsco_app.figure.methods import colour_of
from dpsco_app.figure.values import (
    Axis,
    Dash,
    Figure,
    Ladder,
    LadderRow,
    Line,
    Panel,
    Region,
    Words,
)
from dpsco_app.parts.options import number_text, short_text
from dpsco_app.parts.simple_figures import ladder_row, log_axis, upright_line
from dpsco_core.audit.engine import PAIRS, Audit, AuditFindings
from dpsco_core.audit.samples import Samples
from dpsco_core.explain.recipe.ledgers import Spending

MOST_BARS = 14
LEAST_BARS = 5  # The least number of bars that the figure has room for.
HIGHEST = 1e6  # An epsilon above this is as good as no privacy.
# The hue and the dash of each proof, from the loosest to the tightest.
LOOKS: tuple[tuple[str, Dash], ...] = (
    ("grey", "longdash"),
    ("gold", "dash"),
    ("teal", "dot"),
    ("violet", "solid"),
    ("green", "dashdot"),
)


def shares_figure(rows: Sequence[Spending], method: str, title: str) -> Figure:
    """Return the figure of the shares that a ledger's entries take, one bar for each row."""
    drawn_rows = rows[:MOST_BARS]
    bars, names = [], []
    for i, row in enumerate(drawn_rows):
        times = f", {row.count:,} releases" if row.count > 1 else ""
        part_of_data = "" if row.records == "all records" else f" ({row.records})"
        colour = IMPOSSIBLE.ink if row.flawed else colour_of(method)
        y, share = float(-i), 100 * row.share
        bar = Line(
            key=f"entry {i}",
            name=f"{row.label}{times}{part_of_data}",
            x=[0.0, share],
            y=[y, y],
            colour=METHODS["grey"] if row.mechanism == "noisy test" else colour,
            width=16,
            hover=[f"{row.label}{part_of_data}: {share:.3g} %"] * 2,
        )
        thread = replace(bar, x=[share, 100.0], width=0.5, hover=[], opacity=0.4)
        bars += [thread, bar]
        names.append(ladder_row(bar, f"{share:.3g} %" + ", flawed" * row.flawed, y))
    remainder = (
        f"; {len(rows) - len(drawn_rows):,} more are in the table"
        if len(rows) > len(drawn_rows)
        else ""
    )
    ticks = [(float(x), f"{x} %") for x in range(0, 101, 20)]
    x_axis = Axis(
        title=f"Share of what was spent{remainder}", low=0, high=100, ticks=ticks, log=False
    )
    return Figure(
        panels=[Panel(title="", x=x_axis, lines=bars)],
        y=Axis(title="", low=0.6 - max(len(drawn_rows), LEAST_BARS), high=1.2, ticks=[], log=False),
        ladder=Ladder(title="Released", columns=["share"], rows=names),
        alt=title,
    )


def compared_figure(
    curves: Mapping[str, tuple[Sequence[float], Sequence[float]]],
    marks: Mapping[str, tuple[float, float]],
    titles: tuple[str, str],
    alt: str,
    *,
    column: str = "ε",
    shows_x: bool = False,
) -> Figure:
    """Return a figure comparing what several privacy proofs guarantee.

    The scenario is marked on each line. `curves` and `marks` map the name of a proof to its line
    and to the scenario's point on it; `titles` are those of the x and y axes. `column` is the
    heading of the table of the points' heights (of their x-values if `shows_x`).
    """
    drawn_curves = {name: (list(x), [_in_range(v) for v in y]) for name, (x, y) in curves.items()}
    points = {name: point for name, point in marks.items() if math.isfinite(_in_range(point[1]))}
    heights = [v for _, y in drawn_curves.values() for v in y if v > 0] + [
        y for _, y in points.values()
    ]
    places = [v for x, _ in drawn_curves.values() for v in x]
    lines, rows = [], []
    for (name, (x, y)), (hue, dash) in zip(drawn_curves.items(), LOOKS, strict=False):
        line = Line(
            key=name,
            name=name,
            x=x,
            y=y,
            colour=METHODS[hue],
            dash=dash,
            width=2.4,
            hover=[f"{name}<br>{short_text(a)}: {b:.4g}" for a, b in zip(x, y, strict=True)],
        )
        lines.append(line)
        value = "none" if name in marks else ""
        if name in points:
            a, b = points[name]
            mark = replace(line, key=f"{name} here", x=[a], y=[b], width=0, symbol="circle")
            lines.append(replace(mark, size=11, hover=[f"here: {short_text(a)}, {b:.4g}"]))
            value = f"{a if shows_x else b:.3g}"
        if positive := [v for v in y if v > 0]:
            rows.append(ladder_row(line, value, positive[-1]))
    return Figure(
        panels=[Panel(title="", x=log_axis(titles[0], min(places), max(places)), lines=lines)],
        y=log_axis(titles[1], min(heights) / 1.5, max(heights) * 2.5),
        ladder=Ladder(title="Here", columns=[column], rows=rows),
        alt=alt,
    )


def _in_range(value: float | None) -> float:
    """Return the value if it is positive and at most `HIGHEST`, and otherwise NaN."""
    return value if value is not None and 0 < value <= HIGHEST else math.nan


def audit_figure(task: Audit, result: AuditFindings, alt: str) -> Figure:
    """Return the figure of an audit's lower bound on epsilon against its runs, and of the claim."""
    claim, runs = result.claimed_epsilon, [float(e.runs) for e in result.evidence]
    best = result.best_so_far
    high = 1.25 * max(claim, *best)
    ends = [runs[0], float(task.runs)]
    region = Region(
        key="claim",
        name="the claim",
        x=ends,
        lower=[claim, claim],
        upper=[high, high],
        look=IMPOSSIBLE,
        hover=[f"claimed ε = {claim:.4g}"] * 2,
    )
    line = Line(
        key="proven",
        name="ε is at least",
        x=runs,
        y=best,
        colour=colour_of(task.method),
        symbol="circle",
        width=3,
        hover=[f"after {n:,.0f} runs: ε ≥ {e:.3f}" for n, e in zip(runs, best, strict=True)],
    )
    words = Words(
        lines=["<b>above the claim: refuted</b>"], colour=IMPOSSIBLE.ink, want=(0.02, 0.97)
    )
    claimed = LadderRow(
        key="claim",
        name="the claim",
        colour=IMPOSSIBLE.ink,
        values=[f"{claim:.3g}"],
        end=claim,
        swatch="edge",
    )
    proven = ladder_row(line, f"{best[-1]:.2f}", best[-1])
    delta_text = f" at δ = {number_text(result.delta)}" if result.delta else ""
    return Figure(
        panels=[
            Panel(
                title="",
                x=log_axis("Runs of the mechanism, half on each neighbour", *ends),
                regions=[region],
                lines=[line],
                words=[words],
            )
        ],
        y=linear_axis(f"What the runs prove of ε{delta_text}", 0, high),
        ladder=Ladder(title="What is known", columns=["ε"], rows=[claimed, proven]),
        alt=alt,
    )


def samples_figure(samples: Samples, alt: str) -> Figure:
    """Return the figure of the outputs on both neighbours as histograms.

    A line marks the edge of the event that tells the neighbours apart.
    """
    high = 1.1 * float(max(samples.counts.max(), samples.neighbour_counts.max()))
    edges = samples.edges.tolist()
    lines = []
    for name, counts, hue in (
        ("on one", samples.counts, "violet"),
        ("on the other", samples.neighbour_counts, "gold"),
    ):
        x, y = histogram_outline(edges, counts.tolist())
        line = Line(key=name, name=name, x=x, y=y, colour=METHODS[hue], fill=0.18)
        top = int(counts.argmax())
        label_point = replace(line, x=[edges[top]], y=[float(counts[top])], fill=0, width=0)
        side = -12 if edges[top] < 0 else 12
        lines += [line, replace(label_point, key=f"{name}, its name", label=name, away=(side, 10))]
    event = upright_line(samples.threshold, 0, high, "event →" if samples.is_above else "← event")
    ends = [*edges[:: len(edges) - 1], samples.threshold]
    return Figure(
        panels=[
            Panel(
                title="",
                x=linear_axis("What was let out, in standard deviations", min(ends), max(ends)),
                lines=[
                    *lines,
                    replace(event, colour=INK, away=(6 if samples.is_above else -6, 10)),
                ],
            )
        ],
        y=linear_axis("Runs", 0, high),
        ladder=Ladder(title="", columns=[], rows=[]),
        alt=alt,
    )


# -- the numbers behind them --


def ledger_table(rows: Sequence[Spending]) -> pd.DataFrame:
    """Return the table of a ledger's entries, equal ones in one row, without empty columns."""
    columns = {
        "Released": [r.label for r in rows],
        "Times": [r.count for r in rows],
        "Mechanism": [r.mechanism for r in rows],
        "Looks at": [r.records for r in rows],
        "Sensitivity": [r.sensitivity for r in rows],
        "Noise scale": [r.noise for r in rows],
        "Coordinates": [r.size for r in rows],
        "Disjoint blocks": [r.disjoint_blocks for r in rows],
        "ρ each": [r.rho or None for r in rows],
        "ε each": [r.epsilon or None for r in rows],
        "δ each": [r.delta or None for r in rows],
        "Share %": [100 * r.share for r in rows],
        "Flawed": ["yes" if r.flawed else "no" for r in rows],
    }
    return pd.DataFrame(columns).dropna(axis="columns", how="all")


def audit_table(result: AuditFindings) -> pd.DataFrame:
    """Return the table of an audit's evidence for the screen."""
    columns = {
        "Runs": [e.runs for e in result.evidence],
        "ε is at least": [e.epsilon_lower_bound for e in result.evidence],
        "Claimed ε": result.claimed_epsilon,
        "δ": result.delta,
        "Tested runs on each": [e.tested for e in result.evidence],
        "Record against": [e.neighbour_place for e in result.evidence],
        "Hits": [e.hits for e in result.evidence],
        "False hits": [e.false_hits for e in result.evidence],
        "Confidence of this look": [
            # The same runs choose the better one of two pairs, which costs confidence.
            1 - PAIRS * (1 - e.confidence)
            for e in result.evidence
        ],
    }
    return pd.DataFrame(columns)


def samples_table(samples: Samples) -> pd.DataFrame:
    """Return the table of the histogram of an audit for the screen."""
    return pd.DataFrame(
        {
            "From": samples.edges[:-1],
            "To": samples.edges[1:],
            "Runs on one": samples.counts,
            "Runs on the other": samples.neighbour_counts,
        }
    )
