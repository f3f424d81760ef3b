"""The tables under Explore's figure: what was measured, every bound, where the curves are from."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pandas as pd
import streamlit as st

from dpsco_app.front.bound_lines import short_name
from dpsco_app.live.running import Result
from dpsco_app.pages.explore.runs import proven_slugs
from dpsco_app.parts.citations import bibtex, citation
from dpsco_app.parts.evaluations import evaluations
from dpsco_app.parts.options import SYMBOL, budget_text, in_print, short_text
from dpsco_app.parts.problem_words import class_text, words_for
from dpsco_app.parts.refusals import with_names
from dpsco_core.base.cards import BoundCard, Card
from dpsco_core.catalogue import bound, bounds_for, method_card
from dpsco_core.results.intervals import intervals
from dpsco_core.results.tables import frame, interval_half_width, summary
from dpsco_core.runs.study import Outcome
from dpsco_core.scenario import Scenario


def numbers(outcomes: Sequence[Outcome], scenario: Scenario) -> pd.DataFrame:
    """Return the summary with what was spent and the parameters; columns are named in words."""
    table = summary(frame(outcomes))
    first = {(o.method, o.x): o for o in reversed(outcomes)}
    places = zip(table["method"], table["x"], strict=True)
    cells = [first[method, None if math.isnan(x) else x] for method, x in places]
    axis, words = scenario.axis, words_for(scenario.problem)
    columns: dict[str, Any] = {words.method.capitalize(): table["name"]}
    if axis is not None:
        columns[SYMBOL[axis]] = table["x"]
    columns |= {
        "Trials": table["trials"],
        f"Mean {words.error}": table["mean_error"],
        "95 % ±": list(map(interval_half_width, table["standard_error"], table["trials"])),
        "Median": table["median_error"],
        "10 %": table["q10"],
        "90 %": table["q90"],
        "Milliseconds": 1000 * table["seconds"],
        "Spent": [_spent(o) for o in cells],
        "Parameters": [
            ", ".join(f"{k.replace('_', ' ')} {_digits(v)}" for k, v in o.diagnostics.items())
            for o in cells
        ],
    }
    balls = intervals(scenario, outcomes) if scenario.problem == "mean" else {}
    if any(balls.values()):
        own = [balls.get((o.method, o.x)) for o in cells]
        columns["95 % interval: ±"] = [math.nan if b is None else b.radius for b in own]
        columns["Of it privacy"] = ["" if b is None else f"{100 * b.privacy:.0f} %" for b in own]
        columns["Held the mean"] = [
            f"{b.inside} of {b.trials}" if b is not None else _no_interval(o)
            for b, o in zip(own, cells, strict=True)
        ]
    largest: dict[tuple[str, float | None], float] = {}
    for o in outcomes:  # 0 where the evaluation is exact
        largest[o.method, o.x] = max(largest.get((o.method, o.x), 0.0), o.error_uncertainty)
    if any(largest.values()):
        columns["Evaluation ±"] = [largest[o.method, o.x] for o in cells]
    if table["not_applicable"].any():
        columns["Remark"] = table["not_applicable"].map(with_names)
    return pd.DataFrame(columns)


def _no_interval(outcome: Outcome) -> str:
    return "" if method_card(outcome.method).privacy == "none" else "no interval is proven"


def _spent(outcome: Outcome) -> str:
    if method_card(outcome.method).privacy == "none":
        return "not private"
    return "" if outcome.spent is None else budget_text(outcome.spent)


def _digits(value: float) -> str:
    return short_text(value) if math.isfinite(value) else "∞"


def bounds_table(scenario: Scenario) -> pd.DataFrame:
    point = replace(scenario, axis=None, grid=())
    chosen = bounds_for(scenario.problem, scenario.level)
    rows = [
        {
            "Bound": e.bound.card.name,
            "Kind": e.bound.card.kind,
            "Value": e.value if math.isfinite(e.value) else math.nan,
            "Of": e.bound.card.quantity,
            "Class": class_text(e.bound.card, e.applies),
            "Binds": in_print(f"every {e.binds}") if e.binds else "",
            "Constant": e.bound.card.constant,
            "Holds in": e.bound.card.guarantee,
            "Fails here because": in_print(" ".join(e.failures)),
            "Statement": f"{e.bound.card.paper}, {e.bound.card.statement}",
            "In words": e.bound.card.summary,
        }
        for e in evaluations(point, tuple(b.card.slug for b in chosen))
    ]
    return pd.DataFrame(rows)


def draw_sources(result: Result) -> None:
    """Draw a table with a row a curve, and the papers to be copied."""
    methods = [m for part in result.parts for m in part.scenario.methods]
    proven = proven_slugs(result.scenario)
    cards: list[Card] = [method_card(m) for m in dict.fromkeys(methods)]
    cards += [bound(slug).card for slug in proven]
    rows = [
        {
            "Curve": short_name(card) if isinstance(card, BoundCard) else card.name,
            "Paper": card.paper.key,
            "Statement": card.statement,
            "What it is": _kind(card),
            "In words": card.summary,
        }
        for card in cards
    ]
    st.dataframe(pd.DataFrame(rows), hide_index=True, width="stretch")
    papers = {card.paper.key: card.paper for card in cards}.values()
    st.markdown("".join(f"- **{p.key}**: {citation(p)}\n" for p in papers))
    st.caption(
        "The statement of a method is what its code follows; its measured errors are new here. "
        "BibTeX of the papers, to be copied:"
    )
    st.code(bibtex(papers), language="bibtex", wrap_lines=True)


def _kind(card: Card) -> str:
    if not isinstance(card, BoundCard):
        return "measured"
    return f"{card.kind} {'rate' if card.constant == 'rate' else 'bound, proven constant'}"
