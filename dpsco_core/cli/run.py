"""The tables that `dpsco run` prints, each at most `WIDTH` columns wide."""

import math
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from dpsco_core.catalogue import method_card, problem_card
from dpsco_core.cli.bounds import print_lower_bounds
from dpsco_core.cli.tools import number, print_note, table
from dpsco_core.geometry.geometries import Geometry
from dpsco_core.results.intervals import intervals
from dpsco_core.results.slopes import slopes
from dpsco_core.results.tables import frame, summary
from dpsco_core.runs.study import Outcome
from dpsco_core.scenario import Scenario


def print_run(scenario: Scenario, outcomes: Sequence[Outcome]) -> None:
    """Print errors, prices, intervals, slopes and the lower bounds of a run."""
    cells = frame(outcomes)
    trials = "1 trial" if scenario.trials == 1 else f"{scenario.trials} trials"
    budget = "epsilon below" if scenario.axis == "epsilon" else scenario.budget
    name = problem_card(scenario.problem).name
    error_name = "l2 error of the mean" if scenario.problem == "mean" else f"Excess risk: {name}"
    kind = Geometry(kind=scenario.geometry, q=scenario.q)
    shape = "lq" if scenario.axis == "q" else str(kind)
    place = "" if scenario.geometry == "l2" else f" on the set {shape}"
    neighbours = "replace-one" if scenario.level == "item" else "replace-one-user"
    print(f"{error_name}{place}, {trials}, {budget}, {neighbours}\n")
    rows = summary(cells, scenario).to_dict("records")
    lines = [
        [
            str(row["name"]),
            number(row["x"]) if scenario.axis else "",
            number(row["median_error"]),
            _span(number(row["q10"]), number(row["q90"])),
            number(row["mean_error"]) + ", exact" * row["exact"],
            number(1000 * row["seconds"]),
        ]
        for row in rows
    ]
    print(table(lines, ["method", scenario.axis or "", "median", "10-90 %", "mean", "ms"]))
    _print_refusals(scenario, rows)
    _print_prices(scenario, rows)
    _print_intervals(scenario, outcomes)
    shares = [o.error_uncertainty / o.error for o in outcomes if o.error_uncertainty > 0]
    if shares:
        print_note(
            "the risk is an average over a fixed evaluation sample, with a standard error of "
            f"at most {100 * max(shares):.2g} %."
        )
    for note in dict.fromkeys(n for o in outcomes for n in (*o.flaws, *o.notes)):
        print_note(note)
    fitted = slopes(scenario, cells)
    if len(fitted):
        lines = [
            [
                str(row["name"]),
                _range(row["fitted"], row["fitted"]),
                _range(row["low"], row["high"]),
                _range(row["predicted_low"], row["predicted_high"]),
                str(row["verdict"]),
            ]
            for row in fitted.to_dict("records")
        ]
        print("\nSlope of log error against log axis\n")
        print(table(lines, ["method", "fitted", "95 %", "terms of its rate", ""]))
    print()
    print_lower_bounds(scenario, outcomes)


def _print_refusals(scenario: Scenario, rows: Sequence[Mapping[Hashable, Any]]) -> None:
    """Print why methods cannot run, each reason once with its points."""
    points: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        if row["not_applicable"]:
            key = (str(row["name"]), str(row["not_applicable"]))
            points.setdefault(key, []).append(number(row["x"]))
    for (name, reason), xs in points.items():
        points_text = f" at {scenario.axis} = {', '.join(xs)}" if scenario.axis else ""
        print_note(f"{name}{points_text}: {reason}")


def _print_prices(scenario: Scenario, rows: Sequence[Mapping[Hashable, Any]]) -> None:
    """Print the prices of privacy, grouped by their reference method."""
    priced = [row for row in rows if _price(row)]
    for reference in dict.fromkeys(row["price_over"] for row in priced):
        lines = [
            [str(row["name"]), number(row["x"]) if scenario.axis else "", _price(row)]
            for row in priced
            if row["price_over"] == reference
        ]
        print(f"\nprice of privacy: the mean error over that of {method_card(reference).name}\n")
        print(table(lines, ["method", scenario.axis or "", "price (95 % interval)"]))


def _print_intervals(scenario: Scenario, outcomes: Sequence[Outcome]) -> None:
    """Print the 95 % intervals of private means, and how often they contained the mean."""
    if scenario.problem != "mean":
        return
    lines = []
    for (method, x), ball in intervals(scenario, outcomes).items():
        card = method_card(method)
        row = [card.name, number(x) if scenario.axis else ""]
        if ball is not None:
            share = f"{100 * ball.privacy:.0f} %"
            lines.append(
                [*row, number(ball.radius), share, f"{ball.covering_trials} of {ball.trials}"]
            )
        elif card.privacy != "none":
            lines.append([*row, "none is proven", "", ""])
    if lines:
        heads = ["method", scenario.axis or "", "radius", "of it privacy", "held the mean"]
        print("\n95 % intervals: balls about the answer, proven for every law of the class\n")
        print(table(lines, heads))


def _price(row: Mapping[Hashable, Any]) -> str:
    """Return a price with its interval, as "3.5 (3.1 to 3.9)"; empty if there is none."""
    value, low, high = (row[name] for name in ("price", "price_low", "price_high"))
    if math.isnan(value):
        return ""
    if math.isinf(value):
        return "infinite"
    return f"{value:.3g}" + (f" ({low:.3g} to {high:.3g})" if not math.isnan(low) else "")


def _range(low: float, high: float) -> str:
    """Format a range of slopes to the two digits in which they are compared."""
    return _span(*(f"{round(v, 2) + 0.0:.2f}" if math.isfinite(v) else "-" for v in (low, high)))


def _span(low: str, high: str) -> str:
    """Format a range; one number if both ends are equal."""
    return " to ".join(dict.fromkeys((low, high)))
