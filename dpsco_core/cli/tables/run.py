"""The tables that `dpsco run` prints."""

import math
from collections.abc import Mapping, Sequence

import numpy as np

from dpsco_core.bounds import Bound
from dpsco_core.bounds.classes import name_bound_algorithms
from dpsco_core.catalogue import method_card, problem_card
from dpsco_core.cli.tables.bounds import print_lower_bounds
from dpsco_core.cli.tables.recipe import print_recipes
from dpsco_core.cli.tools import format_table, number, print_command, print_note, print_text
from dpsco_core.explain.floors import no_floor
from dpsco_core.explain.promise import Proven, advice, proven, recommended
from dpsco_core.explain.recipe.recipe import recipes
from dpsco_core.geometry.geometries import Geometry
from dpsco_core.privacy.budget import ApproxDP, Budget
from dpsco_core.results.commands import release_words
from dpsco_core.results.exact import with_exact_errors
from dpsco_core.results.intervals import intervals
from dpsco_core.results.measured import Measurement, Table, measured, reference_of
from dpsco_core.results.slopes import PointErrors, slope_rows
from dpsco_core.runs.study import Outcome
from dpsco_core.scenario import Scenario

# Recipes take one more run of each private method. They are printed if the first trial of all
# methods took less time than this; otherwise `dpsco about` has them.
MOST_SECONDS = 2.0
PROMISE = (
    "the promise is the smallest mean error that an algorithm can guarantee for all data of the "
    "class; on these data an error may be below it, and a floor holds on these data."
)
NO_PROMISE = "no promise is proven on both sides here; `dpsco bounds` prints what is."
OTHER_NOTION = (
    "CDP Fano is about zCDP algorithms with the rho of Gaussian noise of this budget: another "
    "(epsilon, delta)-DP algorithm may be below it."
)


def print_run(
    scenario: Scenario,
    outcomes: Sequence[Outcome],
    *,
    in_full: bool = False,
    files: Sequence[str] = (),
    unit: float | None = None,
) -> None:
    """Print errors, prices, slopes, proven bounds, and the recommended method.

    `in_full` adds medians, intervals and every proven lower bound. The command for own data loads
    `files` (`--with`), and is for columns whose moment bound is `unit`, if that is given.
    """
    measurements = print_measured(scenario, outcomes, in_full=in_full, has_times=True)
    _print_slopes(scenario, outcomes)
    if sum(o.seconds for o in outcomes if o.trial == 0) < MOST_SECONDS:
        print_recipes(recipes(scenario))
    _print_proven(scenario, proven(scenario), is_reason_printed=not in_full)
    if in_full:
        print()
        print_lower_bounds(scenario, outcomes)
    if unit is not None:
        print_note(f"1 in these tables is {number(unit)} in the unit of your data (--unit).")
    if sentence := advice(scenario, outcomes, measurements):
        print_text(f"advice: {sentence}")
    if choice := recommended(scenario, measurements):
        point, method = choice
        words = release_words(point, method, files, unit=unit)
        _print_own_command(words, has_unit=unit is not None)


def _print_own_command(words: Sequence[str], *, has_unit: bool) -> None:
    """Print the command that releases own data, with what to put into it; nothing without one."""
    if not words:
        return
    if words[1] == "about":
        print_text("on your own arrays: this prints the script, with the places for yours.")
    else:
        names = "file and columns" if has_unit else "file, columns, unit and bound"
        print_text(
            f"on your own data: this, with your {names} in place of these. Unit and bound are in "
            "the unit of a column, from public knowledge (`dpsco release --help`)."
        )
    print_command(words)


def print_item_level(scenario: Scenario, items: Scenario, outcomes: Sequence[Outcome]) -> None:
    """Print the errors of methods that protect each item of a user alone."""
    print(f"\nPrivacy of each item instead: n = {items.n:,} records of the same law\n")
    print_measured(items, outcomes)
    print_note(
        f"these runs hide one record, and not a user: whoever gives {scenario.m:,} of them is "
        "protected less than the budget says. Their data are drawn anew."
    )


def print_measured(
    scenario: Scenario,
    outcomes: Sequence[Outcome],
    *,
    in_full: bool = False,
    has_times: bool = False,
) -> Table:
    """Print a table of errors and prices with its notes, and return its numbers.

    `in_full` adds medians and intervals. `has_times` adds the milliseconds of a trial; without
    them, equal studies print the same table.
    """
    measurements = with_exact_errors(measured(outcomes), scenario)
    print(f"{_headline(scenario)}\n")
    _print_errors(scenario, outcomes, measurements, in_full=in_full, has_times=has_times)
    _print_refusals(scenario, measurements)
    if in_full:
        _print_intervals(scenario, outcomes)
    shares = [o.error_uncertainty / o.error for o in outcomes if o.error_uncertainty > 0]
    if shares:
        print_note(
            "the risk is an average over a fixed evaluation sample, with a standard error of "
            f"at most {100 * max(shares):.2g} %."
        )
    for note in dict.fromkeys(n for o in outcomes for n in (*o.flaws, *o.notes)):
        print_note(note)
    return measurements


def _headline(scenario: Scenario) -> str:
    """Return the line above the table: problem, sizes, budget and trials."""
    trials = "1 trial" if scenario.trials == 1 else f"{scenario.trials} trials"
    budget = "epsilon below" if scenario.axis == "epsilon" else scenario.budget
    name = problem_card(scenario.problem).name
    error_name = "l2 error of the mean" if scenario.problem == "mean" else f"Excess risk: {name}"
    kind = Geometry(kind=scenario.geometry, q=scenario.q)
    shape = "lq" if scenario.axis == "q" else str(kind)
    place = "" if scenario.geometry == "l2" else f" on the set {shape}"
    neighbours = "replace-one" if scenario.level == "item" else "replace-one-user"
    return f"{error_name}{place}, {trials}, {budget}, {neighbours}"


def _print_errors(
    scenario: Scenario,
    outcomes: Sequence[Outcome],
    measurements: Table,
    *,
    in_full: bool,
    has_times: bool,
) -> None:
    """Print a row for each method and point, then the reference of the prices."""
    medians = _medians(outcomes) if in_full else {}
    lines = [
        [
            method_card(row.method).name,
            number(row.x) if scenario.axis else "",
            number(row.mean) + ", exact" * row.exact,
            number(medians.get((row.method, row.x))) if in_full else "",
            _format_range(number(row.low), number(row.high)),
            _format_price(row),
            number(1000 * row.seconds) if has_times else "",
        ]
        for row in measurements.values()
    ]
    axis = scenario.axis or ""
    print(format_table(lines, ["method", axis, "mean", "median", "10-90 %", "price (95 %)", "ms"]))
    if reference := reference_of(measurements):
        name = method_card(reference).name
        print(f"price of privacy: the mean error over that of {name} on the same data")


def _medians(outcomes: Sequence[Outcome]) -> Mapping[tuple[str, float | None], float]:
    """Return the median error of each method at each x."""
    errors: dict[tuple[str, float | None], list[float]] = {}
    for o in outcomes:
        errors.setdefault((o.method, o.x), []).append(o.error)
    return {key: float(np.median(values)) for key, values in errors.items()}


def _print_refusals(scenario: Scenario, measurements: Table) -> None:
    """Print the reasons why methods cannot run, each once with its points."""
    points: dict[tuple[str, str], list[str]] = {}
    for row in measurements.values():
        if row.refusal:
            key = (method_card(row.method).name, row.refusal)
            points.setdefault(key, []).append(number(row.x))
    for (name, reason), xs in points.items():
        points_text = f" at {scenario.axis} = {', '.join(xs)}" if scenario.axis else ""
        print_note(f"{name}{points_text}: {reason}")


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
        print(format_table(lines, heads))


def _print_slopes(scenario: Scenario, outcomes: Sequence[Outcome]) -> None:
    """Print the fitted slopes of the methods' errors."""
    errors: dict[str, PointErrors] = {}
    for o in outcomes:
        if o.x is not None:
            errors.setdefault(o.method, {}).setdefault(float(o.x), {})[o.trial] = o.error
    lines = [
        [
            str(row["name"]),
            _format_slope_range(row["fitted"], row["fitted"]),
            _format_slope_range(row["low"], row["high"]),
            _format_slope_range(row["predicted_low"], row["predicted_high"]),
            str(row["verdict"]),
        ]
        for row in slope_rows(scenario, errors)
    ]
    if lines:
        print("\nSlope of log error against log axis\n")
        print(format_table(lines, ["method", "fitted", "95 %", "terms of its rate", ""]))


def _print_proven(scenario: Scenario, points: Sequence[Proven], *, is_reason_printed: bool) -> None:
    """Print the proven limits of the mean error: floor, promise for all data, and Fano's bound.

    They are a list at a single point, and a table along an axis. `is_reason_printed` adds why there
    is no floor, if there is none.
    """
    print("\nWhat is proven of the mean error\n")
    if scenario.axis is None:
        _print_point(points[0], scenario.budget)
    else:
        _print_axis(scenario.axis, points, None if scenario.axis == "epsilon" else scenario.budget)
    has_promise = any(point.span for point in points)
    words = PROMISE if has_promise else NO_PROMISE
    fano = next((point.fano for point in points if point.fano is not None), None)
    if fano and fano.bound.card.privacy == "zcdp" and isinstance(scenario.budget, ApproxDP):
        words += f" {OTHER_NOTION}"
    print_note(words)
    has_floor = any(point.floor is not None for point in points)
    if is_reason_printed and not has_floor:
        point = next(point for _, point in scenario.points())
        if reason := no_floor(point):
            print_note(reason)


def _print_point(point: Proven, budget: Budget) -> None:
    """Print the proven limits of the mean error at a single point, one row each."""
    lines = []
    if (floor := point.floor) is not None:
        lines.append(_proven_row("floor on these data", floor.value, floor.binds, floor.bound))
    if (span := point.span) is not None:
        lines.append(_proven_row("promise, best upper", span.high, "", span.upper))
        lines.append(
            _proven_row(
                "promise, best lower", span.low, _bound_algorithms(span.lower, budget), span.lower
            )
        )
    if (fano := point.fano) is not None:
        name = "CDP Fano" if fano.bound.card.privacy == "zcdp" else "pure-DP Fano"
        lines.append(_proven_row(name, fano.value, fano.binds, fano.bound))
    if lines:
        print(format_table(lines, ["", "value", "of", "bound"]))


def _proven_row(name: str, value: float, binds: str, bound: Bound | None) -> list[str]:
    """Return the row of a proven limit: its name, its value, the algorithms, and the bound's slug.

    `binds` are the algorithms of a lower bound, after "every"; an upper bound names its method.
    """
    if binds:
        algorithms = f"every {binds}"
    elif bound is None:
        algorithms = ""
    else:
        card = bound.card
        algorithms = method_card(card.method).name if card.method else card.name
    return [name, number(value), algorithms, "" if bound is None else bound.card.slug]


def _bound_algorithms(bound: Bound | None, budget: Budget | None) -> str:
    """Return the algorithms that a lower bound binds, as words after "every"."""
    if bound is None:
        return "algorithm of the budget"
    name = name_bound_algorithms(bound.card, budget)
    return f"{name}, private or not" if bound.card.privacy == "none" else name


def _print_axis(axis: str, points: Sequence[Proven], budget: Budget | None) -> None:
    """Print the proven limits along an axis, a row a value, and the algorithms of each column.

    `budget` is None if the axis varies it.
    """
    lines = [
        [
            number(point.x),
            "" if point.floor is None else number(point.floor.value),
            "" if point.span is None else number(point.span.high),
            "" if point.span is None else number(point.span.low),
            "" if point.fano is None else number(point.fano.value),
        ]
        for point in points
    ]
    fano = next((point.fano for point in points if point.fano is not None), None)
    name = "pure-DP Fano" if fano and fano.bound.card.privacy == "pure" else "CDP Fano"
    heads = [axis, "floor on these data", "promise, best upper", "best lower", name]
    print(format_table(lines, heads))
    columns: dict[str, list[Bound | None]] = {
        "floor": [p.floor.bound for p in points if p.floor is not None],
        "best lower": [p.span.lower for p in points if p.span is not None],
        name: [p.fano.bound for p in points if p.fano is not None],
    }
    sentences = [
        f"{title} binds every {' or every '.join(dict.fromkeys(classes))}"
        for title, rows in columns.items()
        if (classes := [_bound_algorithms(row, budget) for row in rows])
    ]
    if sentences:
        print_note(f"{'; '.join(sentences)}.")


def _format_price(row: Measurement) -> str:
    """Return a price with its interval, as "3.5 (3.1 to 3.9)"; empty if there is none."""
    price = row.price
    if price is None or math.isnan(price.value):
        return ""
    if math.isinf(price.value):
        return "infinite"
    interval = "" if math.isnan(price.low) else f" ({price.low:.3g} to {price.high:.3g})"
    return f"{price.value:.3g}{interval}"


def _format_slope_range(low: float, high: float) -> str:
    """Return a range of slopes as text, with the two digits in which slopes are compared."""
    return _format_range(
        *(f"{round(v, 2) + 0.0:.2f}" if math.isfinite(v) else "-" for v in (low, high))
    )


def _format_range(low: str, high: str) -> str:
    """Return a range as "LOW to HIGH", or one number if both ends are equal."""
    return " to ".join(dict.fromkeys((low, high)))
