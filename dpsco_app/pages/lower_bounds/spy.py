"""The spy of the proof by tracing at work: her scores, and what privacy leaves of them."""

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from dpsco_app.figure.methods import colour_of
from dpsco_app.pages.lower_bounds import tables
from dpsco_app.pages.lower_bounds.gap_words import (
    ABOUT_SPY,
    caught_title,
    scores_title,
    spy_sentence,
)
from dpsco_app.pages.lower_bounds.state import View
from dpsco_app.parts.export import setting_line
from dpsco_app.parts.figures import responsive
from dpsco_app.parts.look import GREY, REGION, Look, lay_out, translucent
from dpsco_core.catalogue import method_card
from dpsco_core.explain.fano.instance import MeanInstance
from dpsco_core.explain.tracing import ELEMENTS, Spied, most_caught, spied
from dpsco_core.privacy.budget import Budget
from dpsco_core.scenario import Scenario

ALLOWED = "The most that privacy allows"
USED, FRESH = "records that were used", "records that were not"


@st.cache_resource(max_entries=50, show_spinner="The spy is at work", hash_funcs={Scenario: repr})
def _spied(point: Scenario, methods: tuple[str, ...]) -> tuple[Spied, ...]:
    return spied(point, methods)


def spy_part(at: MeanInstance, view: View) -> None:
    """Draw the spy's scores on a method without privacy and on a private one."""
    st.header("The spy at work")
    st.markdown(ABOUT_SPY)
    size = view.n * view.d
    if size > ELEMENTS:
        st.info(f"She is put to work where n times d is at most {ELEMENTS:,}, and it is {size:,}.")
        return
    methods = ("mean.sample", "mean.cwme-pure" if view.notion == "pure" else "mean.clipped")
    found = tuple(s for s in _spied(at.scenario, methods) if not s.refused)
    budget = at.scenario.budget
    with st.container(key="lower_spy_said"):
        st.markdown(spy_sentence(found, budget))
    left, right = st.columns(2)
    with left:
        responsive(
            "lower_scores",
            scores_title(found),
            lambda look: scores_figure(found, look),
            bar=False,
            table=lambda: tables.scores_table(found),
            setting=setting_line(at.scenario, runs=False),
        )
    with right:
        responsive(
            "lower_caught",
            caught_title(found, budget),
            lambda look: caught_figure(found, budget, look),
            bar=False,
            table=lambda: tables.caught_table(found, budget),
            setting=setting_line(at.scenario, runs=False),
        )


def scores_figure(found: tuple[Spied, ...], look: Look) -> go.Figure:
    """Return how the scores are spread: used and not used, a method a row."""
    figure = go.Figure()
    every = np.concatenate([s for f in found for s in (f.used, f.fresh)])
    low, high = (float(v) for v in np.quantile(every, [0.002, 0.998]))
    edges = np.linspace(low, high, 31)
    centres = (edges[1:] + edges[:-1]) / 2
    tops = [
        max(np.histogram(s, edges, density=True)[0].max() for s in (f.used, f.fresh)) for f in found
    ]
    for i, one in enumerate(found):
        base = len(found) - 1 - i
        for name, scores, pair, alpha in (
            (FRESH, one.fresh, GREY, 0.25),
            (USED, one.used, colour_of(one.method) if i else REGION, 0.35),
        ):
            height = 0.82 * np.histogram(scores, edges, density=True)[0] / tops[i]
            colour = look.colour(pair)
            figure.add_scatter(
                x=[low, *centres, high],
                y=[base, *(base + height), base],
                mode="lines",
                line={"color": colour, "width": 2, "shape": "spline", "smoothing": 0.6},
                fill="toself",
                fillcolor=translucent(colour, alpha),
                name=f"{method_card(one.method).name}: {name}",
                hovertemplate=f"{name}, score %{{x:.2f}}<extra></extra>",
            )
            mean = float(scores.mean())
            figure.add_shape(
                type="line",
                x0=mean,
                x1=mean,
                y0=base,
                y1=base + 0.82,
                line={"color": colour, "width": 1.6, "dash": "dash"},
            )
        figure.add_annotation(
            text=f"<b>{method_card(one.method).name}</b>",
            x=low,
            y=base + 0.9,
            xanchor="left",
            showarrow=False,
            font={"size": 13, "color": look.ink},
        )
    figure.update_xaxes(title_text="Score of a record", gridcolor=look.grid, zeroline=False)
    figure.update_yaxes(visible=False, range=[-0.05, len(found) + 0.05])
    lay_out(figure, Look(dark=look.dark, title=look.title, compact=look.compact, narrow=True))
    figure.update_layout(
        height=520 if look.compact else 470,
        showlegend=True,
        legend={"orientation": "h", "yanchor": "top", "y": -0.3, "x": 0, "font": {"size": 11}},
        margin={"l": 20, "b": 130},
    )
    return figure


def caught_figure(found: tuple[Spied, ...], budget: Budget, look: Look) -> go.Figure:
    """Return how many records in use are told at every rate of false alarms."""
    figure = go.Figure()
    false = np.linspace(0, 1, 201)
    allowed = most_caught(budget, false)
    figure.add_scatter(
        x=false,
        y=allowed,
        mode="lines",
        line={"color": look.ink, "width": 2, "dash": "dash"},
        name=ALLOWED,
        fill="tozeroy",
        fillcolor=translucent("#888888", 0.1),
        hovertemplate=f"{ALLOWED}<br>%{{x:.1%}} false: %{{y:.1%}} told<extra></extra>",
    )
    for i, one in enumerate(found):
        x, y = one.rates()
        figure.add_scatter(
            x=x,
            y=y,
            mode="lines",
            line={
                "color": look.colour(colour_of(one.method) if i else REGION),
                "width": 2.6,
            },
            name=method_card(one.method).name,
            hovertemplate=f"{method_card(one.method).name}<br>%{{x:.1%}} of the records not "
            "used are suspected, %{y:.1%} of those used<extra></extra>",
        )
    for update, title in (
        (figure.update_xaxes, "Suspected though not used"),
        (figure.update_yaxes, "Suspected and used"),
    ):
        update(title_text=title, range=[0, 1], tickformat=".0%", gridcolor=look.grid)
    lay_out(figure, Look(dark=look.dark, title=look.title, compact=look.compact, narrow=True))
    figure.update_layout(
        height=520 if look.compact else 470,
        showlegend=True,
        legend={"orientation": "h", "yanchor": "top", "y": -0.3, "x": 0, "font": {"size": 11}},
        margin={"b": 130},
    )
    return figure
