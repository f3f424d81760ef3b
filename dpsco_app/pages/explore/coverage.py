"""How often the intervals contained the mean: a dot for each method, beside the proven share."""

from collections.abc import Sequence
from dataclasses import replace

from dpsco_app.figure.methods import colour_of, short_names, symbol_of
from dpsco_app.figure.values import Axis, Figure, Ladder, Line, Panel
from dpsco_app.pages.first_screen import FirstScreen
from dpsco_app.parts.simple_figures import thin_line
from dpsco_core.results.coverage import NOMINAL, Coverage, axis_start, coverages
from dpsco_core.runs.study import Outcome
from dpsco_core.scenario import Scenario

HEIGHT = 210
COVERAGE_HELP = (
    "The figure: how often the 95 % intervals held the mean, over all points of the axis together "
    "(of a budget's axis the last one, as its points share their data). Bars: Clopper and "
    "Pearson's 95 % intervals of the chance behind that share. At least 95 % is proven for the "
    "worst law; these data are not that, and more is usual. Of methods that are not here none is "
    "proven: subsampling was tried for three, and held the truth in 73 to 100 % of runs, so that "
    "none is drawn (theory/bounds-of-runs.md, 4.1)."
)


def draw_coverage(scenario: Scenario, outcomes: Sequence[Outcome], name: str) -> bool:
    """Draw how often the methods' intervals held the mean; return whether there are any.

    `name` is the figure's, for its keys and files.
    """
    rows = coverages(scenario, outcomes) if scenario.problem == "mean" else ()
    if rows:
        FirstScreen(name).draw(coverage_figure(rows), height=HEIGHT)
    return bool(rows)


def coverage_figure(rows: Sequence[Coverage]) -> Figure:
    """Return the figure of the observed coverage, in per cent, with one dot for each method."""
    names = short_names([row.method for row in rows])
    low, first, last = 100 * axis_start(rows), 0.4, len(rows) + 0.6
    nominal = thin_line("95 % is proven", [first, last], [100 * NOMINAL] * 2)
    # The name of the nominal share stands inside the panel.
    nominal = replace(nominal, away=(-4.0, 12.0))
    across = [(float(i), names[row.method]) for i, row in enumerate(rows, 1)]
    return Figure(
        panels=[
            Panel(
                title="",
                x=Axis(title="", low=first, high=last, ticks=across, log=False),
                lines=[
                    nominal,
                    *(_dot(row, x, name) for row, (x, name) in zip(rows, across, strict=True)),
                ],
            )
        ],
        y=Axis(
            title="Held the mean, %",
            low=low,
            high=100 + 0.08 * (100 - low),  # The axis leaves room for a mark at 100.
            ticks=[(float(y), f"{y}") for y in range(round(low), 101, 10 if low < 80 else 5)],
            log=False,
        ),
        ladder=Ladder(title="", columns=[], rows=[]),
        alt="Intervals that held the mean: "
        + ", ".join(f"{names[row.method]} {coverage_text(row)}" for row in rows),
    )


def coverage_text(row: Coverage) -> str:
    """Return a method's coverage in words, such as "48 of 50 runs, 96 % (86 to 100 %)"."""
    ends = f"{100 * row.low:.0f} to {100 * row.high:.0f} %"
    return f"{row.covering_trials} of {row.trials} runs, {100 * row.share:.0f} % ({ends})"


def _dot(row: Coverage, x: float, name: str) -> Line:
    """Return a method's coverage in percent as a dot at the position x."""
    return Line(
        key=row.method,
        name=name,
        x=[x],
        y=[100 * row.share],
        colour=colour_of(row.method),
        width=0,
        symbol=symbol_of(row.method),
        size=9,
        half=[100 * (row.high - row.share)],
        down=[100 * (row.share - row.low)],
        hover=[coverage_text(row)],
    )
