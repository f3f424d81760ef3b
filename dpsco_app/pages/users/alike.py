"""The part of the page Users about items that are alike: its figure and its words."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from dpsco_app.figure.methods import colour_of, symbol_of
from dpsco_app.figure.values import Figure, Line, Panel
from dpsco_app.pages.users.figures import ends_of
from dpsco_app.parts.options import number_text, rounded, short_text
from dpsco_app.parts.simple_figures import ladder_of, log_axis, thin_line
from dpsco_core.catalogue import method_card
from dpsco_core.explain.users.alike import ADAPTIVE, sampling_error
from dpsco_core.explain.users.crossing import Errors
from dpsco_core.scenario import Scenario

SHARES = (0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0)
INDEPENDENT = "Adaptive user means, γ = 0"


def alike_figure(
    curves: Mapping[str, Errors],
    independent: Errors,
    scenario: Scenario,
) -> Figure:
    """Return the figure of mean errors against m, and of the error that no m removes.

    `curves` has the errors by method on items that share as much as the scenario says, and
    `independent` those of adaptive user means on independent items.
    """
    measured = [
        _line(slug, method_card(slug).name, errors, colour_of(slug), symbol_of(slug))
        for slug, errors in curves.items()
    ]
    plain = replace(
        _line("independent", INDEPENDENT, independent, colour_of(ADAPTIVE), "circle-open"),
        dash="dash",
    )
    lines = [*measured, plain] if scenario.alike > 0 else measured
    items = independent.items
    ends = [float(items[0]), float(items[-1])]
    limit = sampling_error(scenario, float("inf"))
    floor = thin_line("what users share", ends[::-1], [limit] * 2)
    drawings = [*lines, floor] if limit > 0 else lines
    low, high = ends_of(drawings)
    errors = [rounded(float(line.y[-1])) for line in lines]
    return Figure(
        panels=[Panel(title="", x=log_axis("Items per user m", *ends), lines=drawings)],
        y=log_axis("Mean error", low, high),
        ladder=ladder_of(f"At m = {short_text(ends[1])}", "mean error", lines, errors),
        alt=alike_answer(curves[ADAPTIVE], independent, scenario),
    )


def _line(key: str, name: str, errors: Errors, colour: tuple[str, str], symbol: str) -> Line:
    """Return a measured line with bars of two standard errors."""
    bars = 2 * np.nan_to_num(errors.standard_error)
    return Line(
        key=key,
        name=name,
        x=list(errors.items),
        y=list(errors.mean),
        half=list(bars),
        down=list(np.minimum(bars, 0.9 * errors.mean)),
        colour=colour,
        symbol=symbol,
        hover=[
            f"{name}<br>m = {short_text(x)}: {rounded(y)}"
            for x, y in zip(errors.items, errors.mean, strict=True)
        ],
    )


def alike_answer(errors: Errors, independent: Errors, scenario: Scenario) -> str:
    """Return the title on what more items do to the error, and what independent ones would do.

    `errors` and `independent` are those of adaptive user means.
    """
    start, end, best = (
        rounded(float(value)) for value in (errors.mean[0], errors.mean[-1], independent.mean[-1])
    )
    items = short_text(float(errors.items[-1]))
    effect = f"{items} items per user bring the mean error from {start} to {end}"
    if scenario.alike == 0:
        return f"Of independent items, {effect}"
    return f"At γ = {number_text(scenario.alike)}, {effect}; independent ones, to {best}"


def alike_small(scenario: Scenario) -> str:
    """Return sentences on the m from which more items help little, and on the error that stays."""
    share = scenario.alike
    if share == 0:
        return "The error falls with the root of m until privacy is the larger part of it."
    remains = rounded(sampling_error(scenario, float("inf")))
    return (
        f"From m ≈ 1/γ = {number_text(round(1 / share, 1))} items on, more of them help little. "
        f"Without privacy, and with any number of items, a root mean square error of {remains} "
        "remains: what users share."
    )


def numbers(curves: Sequence[Errors], independent: Errors) -> dict[str, Sequence[float]]:
    """Return the columns of the table below the figure, from the curves of errors."""
    columns: dict[str, Sequence[float]] = {"m": list(independent.items)}
    columns |= {method_card(c.method).name: list(c.mean) for c in curves}
    return columns | {INDEPENDENT: list(independent.mean)}
