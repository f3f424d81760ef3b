"""The one finding of a sweep, in words: each axis has its own; and how to read the figure."""

import math
from dataclasses import replace

import pandas as pd

from dpsco_app.pages.explore.comparison import is_tail
from dpsco_app.parts.options import SYMBOL, inside, number_text, short_text
from dpsco_app.parts.problem_words import MEAN, baseline
from dpsco_app.parts.running import Result, starting_risks
from dpsco_app.parts.words import best_private, times
from dpsco_core.catalogue import method_card
from dpsco_core.data import Gaussian
from dpsco_core.results.findings import bend, method_slope, times_to_halve
from dpsco_core.scenario import Scenario

MANY = 1000  # times the records: "hardly falls"
LIGHT_DATA = (
    " These data are light, but the algorithm knows only p, so it must clip as if they were heavy."
)


def headline(result: Result) -> str:
    """Return what the figure shows along its axis; empty where it is too early to say."""
    scenario, table = result.scenario, result.table()
    best = best_private(scenario, table)
    if scenario.axis is None or best is None:
        return ""
    method = best[0]
    slope, error = method_slope(table, method), _error_of(scenario, method)
    if scenario.axis == "n" and (tails := _records(result)):
        return tails
    if slope is None:
        return ""
    if scenario.axis == "n":
        whom = "users" if scenario.level == "user" else "records"
        if times_to_halve(slope[0]) > MANY:
            return f"{error.capitalize()} hardly falls with more {whom}"
        return f"Halving {error} takes {records(slope[0], whom)}"
    if scenario.axis == "d":
        return f"Ten times the dimension: {times(10 ** slope[0])} times {error}"
    own = ""
    if scenario.axis == "diameter":
        own = _price_of_place(scenario, table)
    if scenario.axis == "epsilon":
        own = _cost(scenario, table, method)
    return own or _from_end_to_end(scenario, table, method)


def light_data(scenario: Scenario) -> str:
    """Return the sentence on data that are lighter than what the algorithms may rely on."""
    private = any(method_card(m).privacy != "none" for m in scenario.methods)
    return LIGHT_DATA if private and scenario.distribution == Gaussian.card.slug else ""


def compared(result: Result) -> str:
    """Return the sentence that names the method of the two tails; empty where none are compared."""
    if result.beside is None or result.scenario.axis != "n" or not _records(result):
        return ""
    (method,) = result.beside.scenario.methods
    return f" The headline compares the slopes of {inside(method_card(method).name)} at both tails."


def worse_than_no_data(result: Result) -> str:
    """Return the sentence on private methods above the answer without data; empty if none is."""
    scenario, table = result.scenario, result.table()
    best = best_private(scenario, table) if result.complete else None
    if best is None:
        return ""
    point = scenario if best[1] is None else replace(scenario, grid=(best[1],))
    [(_, start)] = starting_risks(point)
    here = table if best[1] is None else table[table["x"] == best[1]]
    worse = here[here["mean_error"] > start]["method"]
    names = [method_card(m).name for m in worse if method_card(m).privacy != "none"]
    if not names:
        return ""
    above = "lie" if len(names) > 1 else "lies"
    return (
        f" On average {', '.join(names)} {above} above the answer without data ({start:.2g}): "
        "worse than not looking at the data."
    )


def _records(result: Result) -> str:
    if result.beside is None or not is_tail(result):
        return ""
    other = result.beside.scenario
    (method,) = other.methods
    parts = ((result.scenario.p, result.table()), (other.p, result.beside.table()))
    said = []
    for p, table in parts:
        fitted = None if table.empty else method_slope(table, method)
        if fitted is None:
            return ""
        whom = "times" if said else "times the records"
        said.append(f"{_factor(fitted[0])} {whom} at p = {number_text(p)}")
    error = "error" if other.problem == MEAN else "excess risk"
    return f"Halving the {error} takes {said[0]}, and {said[1]}"


def records(slope: float, whom: str = "records") -> str:
    return f"{_factor(slope)} times the {whom}"


def _factor(slope: float) -> str:
    factor = times_to_halve(slope)
    return f"over {MANY:,}" if factor > MANY else times(factor)


def _cost(scenario: Scenario, table: pd.DataFrame, method: str) -> str:
    public = baseline(scenario.problem)
    ends = [(x, _mean(table, method, x), _mean(table, public, x)) for x in _ends(table)]
    if not all(own > 0 and open_ > 0 for _, own, open_ in ends):
        return ""
    first, last = (f"{times(own / open_)} at ε = {number_text(x)}" for x, own, open_ in ends)
    return f"Privacy multiplies {_error_of(scenario, method)} by {first}, and by {last}"


def _price_of_place(scenario: Scenario, table: pd.DataFrame) -> str:
    """Compare the private methods whose errors rise least and most with the public set."""
    first, last = _ends(table)
    ends = {m: (_mean(table, m, first), _mean(table, m, last)) for m in scenario.methods}
    rises = {
        m: after / before
        for m, (before, after) in ends.items()
        if method_card(m).privacy != "none" and before > 0 and after > 0
    }
    ranked = sorted(rises, key=rises.__getitem__)
    if len(ranked) < 2 or rises[ranked[-1]] < 1.5 * rises[ranked[0]]:
        return ""
    wide = f"{short_text(last / first, 2)} times the diameter"
    least, most = (
        f"{inside(method_card(m).name)} {times(rises[m])} times" for m in (ranked[0], ranked[-1])
    )
    return f"{wide} costs {least} the error, and {most}"


def _from_end_to_end(scenario: Scenario, table: pd.DataFrame, method: str) -> str:
    first, last = _ends(table)
    before, after = _mean(table, method, first), _mean(table, method, last)
    if not (before > 0 and after > 0):
        return ""
    name = SYMBOL[str(scenario.axis)]
    verb, factor = ("falls", before / after) if before > after else ("rises", after / before)
    start, end = f"From {name} = {number_text(first)}", f"{name} = {number_text(last)}"
    if factor < 1.05:
        return f"{start} to {end} {_error_of(scenario, method)} hardly changes"
    return f"{start} to {end} {_error_of(scenario, method)} {verb} {times(factor)} times"


def _ends(table: pd.DataFrame) -> tuple[float, float]:
    return float(table["x"].min()), float(table["x"].max())


def _mean(table: pd.DataFrame, method: str, x: float) -> float:
    row = table[(table["method"] == method) & (table["x"] == x)]
    return float(row["mean_error"].iloc[0]) if len(row) else 0.0


def _error_of(scenario: Scenario, method: str) -> str:
    error = "error" if scenario.problem == MEAN else "excess risk"
    return f"the {error} of {inside(method_card(method).name)}"


def bends(result: Result) -> str:
    """Name the methods whose curve has two slopes, with both."""
    scenario = result.scenario
    assert scenario.axis is not None
    found = ((m, bend(result.table(), m)) for m in scenario.methods)
    return "; ".join(
        f"{method_card(m).name} {signed(b.before)} up to {SYMBOL[scenario.axis]} = "
        f"{number_text(b.at)}, then {signed(b.after)}"
        for m, b in found
        if b is not None
    )


def signed(value: float) -> str:
    if math.isnan(value):
        return ""
    return "0.00" if abs(value) < 0.005 else f"{value:+.2f}".replace("-", "−")


HOW_TO_READ = """
- **Solid lines with points**: the mean error over the trials, which is what the bounds bind,
  with its 95 % interval; the band holds 10 % to 90 % of the trials.
- **Red lines**: lower bounds with proven constants. *Worst case, every (ε, δ) algorithm*: nobody
  who is private at this budget can guarantee less for every law with these moments. *Worst case,
  every zCDP algorithm*: the same for zCDP at the ρ that the Gaussian noise here spends. It binds
  fewer algorithms and is higher. *CDP Fano* is what Fano's inequality gives. Each line is the
  largest of several bounds: hover to read which. On the data that a bound is proven for, the
  region below it is shaded: no private algorithm can do better there.
- **A thin line named “at p = 8”**: the method of that colour with a light tail, on paired trials.
  *Compare with* in the panel switches it off.
- **Other thin solid lines**: upper bounds with proven constants. **Dashed**: rates, drawn with
  constant 1 because the constant is not known; only their slope means something.
- **Faded**: a condition of the theorem fails there; hover to read which.
- Neighbouring data sets differ by replacing one record, at user level all items of one user. The
  data are synthetic.
"""
HOW_TO_READ_RISKS = """
- **Excess population risk**: the expected loss of the answer on fresh data, minus that of the best
  parameter in the constraint set. At 0 nothing is lost.
- **Dotted**: what is left by the starting point, the centre of the constraint set, which needs no
  data and has perfect privacy. A method above it has made things worse.
- A lower bound is a worst case over a class of losses and distributions. The figure draws those
  of the smallest class that your problem is in: convex losses, where they bind on the linear loss
  with the data of the hypercube, or strongly convex ones, where they bind on the squared distance.
"""
HOW_TO_READ_USERS = """
- **Lower bounds at user level**: whoever hides all items of a user hides each of them, so that the
  bounds for single records bind here too, as if every item were a record. The rate at user level
  is larger, but its constant is not known.
- Counts of **item gradients** are bounds on work, not on the excess risk: they are in the table of
  bounds only.
"""
HOW_TO_READ_TWO = """
- **Dashed with open points**: the pinned run, or the same run on the other set; a method keeps its
  colour. The bounds are those of the present settings.
- **Faded solid lines**: the previous run, after a setting has changed. The bounds follow at once,
  the errors at the next run.
"""


def how_to_read(scenario: Scenario) -> str:
    parts = [HOW_TO_READ, HOW_TO_READ_TWO]
    if scenario.problem != MEAN:
        parts.append(HOW_TO_READ_RISKS)
    if scenario.level == "user":
        parts.append(HOW_TO_READ_USERS)
    return "".join(parts)
