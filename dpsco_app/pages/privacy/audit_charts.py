"""The figures of the page Privacy: the ledger and the audit; no Streamlit in here."""

import math
from collections.abc import Sequence

import plotly.graph_objects as go

from dpsco_app.figure.methods import colour_of
from dpsco_app.parts.look import BLUE, GREY, ORANGE, REGION, Look, lay_out, translucent, wrapped
from dpsco_app.parts.options import number_text
from dpsco_core.audit.engine import Audit, Found
from dpsco_core.audit.samples import Samples
from dpsco_core.explain.ledgers import Spending

MOST_BARS = 24
MOST_PIECES = 60
NOISY_TEST = "noisy test"


def ledger_figure(rows: Sequence[Spending], method: str, look: Look) -> go.Figure:
    """Return the shares of a ledger's entries as bars, those that are alike as one."""
    figure = go.Figure()
    shown = list(rows[:MOST_BARS])
    names = [_bar_name(row, look) for row in shown]
    base = look.colour(colour_of(method))
    colours = [
        look.colour(REGION) if row.flawed else look.colour(GREY) if _is_test(row) else base
        for row in shown
    ]
    figure.add_bar(
        x=[100 * row.share for row in shown],
        y=list(range(len(shown))),
        customdata=names,
        orientation="h",
        marker={"color": colours},
        text=[_bar_text(row) for row in shown],
        textposition="auto",
        insidetextanchor="start",
        showlegend=False,
        hovertemplate="%{customdata}<br>%{x:.3g} % of what was spent<extra></extra>",
    )
    for index, row in enumerate(shown):
        if 1 < row.count <= MOST_PIECES:  # equal releases as pieces of their bar
            for piece in range(1, row.count):
                x = 100 * row.share * piece / row.count
                figure.add_shape(
                    type="line",
                    x0=x,
                    x1=x,
                    y0=index - 0.38,
                    y1=index + 0.38,
                    line={"width": 1.5, "color": "#171614" if look.dark else "#ffffff"},
                )
    lay_out(figure, look)
    rest = len(rows) - len(shown)
    title = "Share of what was spent (%)"
    if rest:
        title += f"; {rest:,} more rows are in the table"
    figure.update_layout(
        height=max(260, 34 * len(shown) + 150),
        margin={"l": 10, "r": 20, "t": 84 if look.compact else 70, "b": 60},
        bargap=0.25,
        uniformtext={"mode": "show", "minsize": 11},
        showlegend=False,
    )
    figure.update_xaxes(range=[0, 100], title={"text": title}, gridcolor=look.grid)
    figure.update_yaxes(
        autorange="reversed", automargin=True, tickvals=list(range(len(shown))), ticktext=names
    )
    return figure


def audit_figure(task: Audit, found: Found, look: Look) -> go.Figure:
    """Return the lower bound on epsilon over the number of runs, and the claim."""
    figure = go.Figure()
    claim = found.claimed_epsilon
    caught = found.caught_at is not None
    runs = [e.runs for e in found.evidence]
    bounds = best_so_far(found)
    high = 1.25 * max(claim, *bounds)
    left, right = runs[0] / 1.15, task.runs * 1.15
    figure.add_hrect(
        y0=claim, y1=high, fillcolor=translucent(REGION[0], 0.10), line={"width": 0}, layer="below"
    )
    figure.add_scatter(
        x=[left, right],
        y=[claim, claim],
        mode="lines",
        name="claimed ε",
        line={"color": look.colour(REGION), "width": 2.2, "dash": "dash"},
        hovertemplate=f"claimed ε = {claim:.4g}<extra></extra>",
    )
    figure.add_scatter(
        x=runs,
        y=bounds,
        mode="lines+markers",
        name="ε is at least",
        line={"color": look.colour(colour_of(task.method)), "width": 3},
        marker={"size": 10},
        fill="tozeroy",
        fillcolor=translucent(colour_of(task.method)[0], 0.10),
        hovertemplate="after %{x:,} runs<br>ε is at least %{y:.3f}<extra></extra>",
    )
    figure.add_annotation(
        text=f"<b>claim: ε = {claim:.3g}</b>"
        + (f" at δ = {number_text(found.delta)}" if found.delta else ""),
        x=math.log10(left),
        y=claim,
        xanchor="left",
        yanchor="bottom",
        xshift=4,
        showarrow=False,
        font={"color": look.colour(REGION), "size": 13},
    )
    last = bounds[-1]
    figure.add_annotation(
        text=f"<b>ε ≥ {last:.2f}</b>" + (": refuted" if caught else ""),
        x=math.log10(runs[-1]),
        y=last,
        xanchor="right",
        yanchor="bottom",
        yshift=9,
        showarrow=False,
        font={"color": look.ink, "size": 14},
    )
    lay_out(figure, look)
    figure.update_layout(showlegend=False, margin={"r": 20})
    ticks = [r for r in runs if str(r)[0] in "15" or r == runs[-1]] if look.compact else runs
    figure.update_xaxes(
        type="log",
        range=[math.log10(left), math.log10(right)],
        tickvals=ticks,
        ticktext=[f"{t:,}" for t in ticks],
        title={"text": "Runs of the mechanism, half on each neighbour (log)"},
        gridcolor=look.grid,
    )
    figure.update_yaxes(
        range=[0, high], title={"text": "What the runs prove of ε"}, gridcolor=look.grid
    )
    return figure


def best_so_far(found: Found) -> list[float]:
    """Return the best bound up to each look: all looks hold together, so that it holds as well."""
    best: list[float] = []
    for look in found.evidence:
        best.append(max([look.epsilon_lower_bound, *best[-1:]]))
    return best


def samples_figure(found: Samples, look: Look) -> go.Figure:
    """Return what was let out on the two neighbours as two histograms, and the event's edge."""
    figure = go.Figure()
    centres = (found.edges[:-1] + found.edges[1:]) / 2
    for name, counts, pair in (("one", found.one, BLUE), ("the other", found.two, ORANGE)):
        colour = look.colour(pair)
        figure.add_scatter(
            x=centres,
            y=counts,
            mode="lines",
            name=f"on {name} neighbour" if name == "one" else f"on {name}",
            line={"color": colour, "width": 2, "shape": "hvh"},
            fill="tozeroy",
            fillcolor=translucent(colour, 0.22),
            hovertemplate="%{x:.2f}: %{y:,} runs<extra></extra>",
        )
    figure.add_vline(x=found.threshold, line={"color": look.ink, "width": 2, "dash": "dot"})
    figure.add_annotation(
        text="<b>event →</b>" if found.above else "<b>← event</b>",
        x=found.threshold,
        y=1,
        yref="paper",
        xanchor="left" if found.above else "right",
        yanchor="top",
        xshift=6 if found.above else -6,
        showarrow=False,
        font={"size": 13, "color": look.ink},
    )
    lay_out(figure, look)
    figure.update_layout(
        showlegend=True,
        legend={"orientation": "h", "x": 0, "y": -0.2, "yanchor": "top"},
        margin={"r": 20},
    )
    figure.update_xaxes(
        title={"text": "What was let out, in standard deviations"},
        range=[min(found.edges[0], found.threshold), max(found.edges[-1], found.threshold)],
        gridcolor=look.grid,
    )
    figure.update_yaxes(title={"text": "Runs"}, gridcolor=look.grid)
    return figure


def _is_test(row: Spending) -> bool:
    return row.mechanism == NOISY_TEST


def _bar_name(row: Spending, look: Look) -> str:
    times = f" × {row.count:,}" if row.count > 1 else ""
    where = "" if row.records == "all records" else f" ({row.records})"
    return wrapped(f"{row.label}{times}{where}", 18 if look.compact else 36)


def _bar_text(row: Spending) -> str:
    flawed = ", flawed" if row.flawed else ""
    if row.count > 1:
        return f"{row.count:,} × {100 * row.share / row.count:.3g} %{flawed}"
    return f"{100 * row.share:.3g} %{flawed}"
