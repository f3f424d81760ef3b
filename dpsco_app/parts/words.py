"""What a result says, in words that a student understands; every number is in the table."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import pandas as pd

from dpsco_app.parts.options import SYMBOL, inside, number_text
from dpsco_app.parts.problem_words import (
    MEAN,
    baseline,
    geometry_name,
    is_instance,
    words_for,
    worst_case,
)
from dpsco_app.parts.refusals import refusal, several_items
from dpsco_core.catalogue import method_card, methods_for
from dpsco_core.results.report import Evaluation
from dpsco_core.runs.study import canonical
from dpsco_core.scenario import Scenario

NO_ERROR = 1e-6  # times another error: the reference is right up to rounding


@dataclass(frozen=True, kw_only=True)
class Statement:
    """The result of a run: a headline for the figure and a sentence with its numbers."""

    headline: str
    sentence: str


def state(
    scenario: Scenario,
    table: pd.DataFrame,  # the `summary` of the finished cells
    bounds: Sequence[Evaluation],  # the explicit lower bounds, at the point in question at least
    # for every method, the classes of lower bounds that bind it ("zcdp", "pure") besides those that
    # bind every algorithm
    binding: Mapping[str, tuple[str, ...]],
    *,
    same: bool = False,  # whether the trials do not tell the best private method from the baseline
) -> Statement:
    """Return what the run shows at the grid point that is nearest to the chosen value."""
    done = table[table["median_error"] > 0]
    if not any(m in set(done["method"]) and _is_private(m) for m in scenario.methods):
        return _without_private(scenario, table)
    found = best_private(scenario, table)
    if found is None:
        return Statement(headline="The first cells are running.", sentence="")
    best, at, error = found
    mean, words, name = (
        scenario.problem == MEAN,
        words_for(scenario.problem),
        method_card(best).name,
    )
    chosen = getattr(scenario, scenario.axis) if scenario.axis else None
    where = f"At {SYMBOL[scenario.axis or 'n']} = {number_text(scenario.n if at is None else at)}"
    here = inside(where)
    if scenario.geometry != "l2" and scenario.axis != "q":  # the axis says it
        where += f" on the {geometry_name(scenario.geometry, scenario.q)}"
    if at is not None and chosen not in (None, at):
        where += f" (the point nearest to the chosen {number_text(chosen)})"
    said = (
        f"**{inside(name)}** has error"
        if mean
        else (f"with **{inside(name)}** the excess population risk is")
    )
    parts = [f"{where}, {said} **{error:.2g}**"]
    headline = f"{name}{' has error' if mean else ': excess risk'} {error:.2g} {here}"
    public = _errors(scenario, done)[1].get(baseline(scenario.problem))
    if public is not None and public > NO_ERROR * error:
        ratio = times(error / public)
        noise = " (within the noise of the trials)" if same else ""
        parts.append(f"**{ratio} times** that of {words.baseline}{noise}")
        more = f"has {ratio} times the error" if mean else f": {ratio} times the excess risk"
        headline = f"{name}{' ' * mean}{more} of {words.baseline} {here}{noise}"
    floor = _floor(bounds, at, binding.get(best, ()))
    if floor is not None:
        parts.append(_against(floor, error, scenario))
    rest = f": {' and '.join(parts[1:])}" if parts[1:] else ""
    return Statement(headline=headline, sentence=f"{parts[0]}{rest}.")


def best_private(scenario: Scenario, table: pd.DataFrame) -> tuple[str, float | None, float] | None:
    """Return the private method with the least mean error at the chosen point, and both."""
    at, errors = _errors(scenario, table[table["median_error"] > 0])
    private = [m for m in scenario.methods if m in errors and _is_private(m)]
    if not private:
        return None
    best = min(private, key=lambda m: errors[m])
    return best, at, errors[best]


def _errors(scenario: Scenario, done: pd.DataFrame) -> tuple[float | None, dict[str, float]]:
    at = _nearest(scenario, done)
    here = done if at is None else done[done["x"] == at]
    return at, {str(r.method): float(r.mean_error) for r in here.itertuples()}


def times(ratio: float) -> str:
    return f"{ratio:.1f}" if 0.995 <= ratio < 9.95 else number_text(float(f"{ratio:.2g}"))


def _against(floor: Evaluation, error: float, scenario: Scenario) -> str:
    """Compare an error with a lower bound, which holds on average over the trials."""
    card = floor.bound.card
    who = {"pure": "ε-DP ", "zcdp": "zCDP ", "approx": "(ε, δ)-DP "}.get(card.privacy, "")
    here = is_instance(card, scenario.problem, scenario.distribution)
    case = worst_case(card)
    if here:
        case = "on these data" if scenario.problem == MEAN else "for this loss on these data"
    least = f"the least that any {who}algorithm can guarantee {case}"
    if error >= floor.value:
        return f"**{times(error / floor.value)} times** {least} ({floor.value:.2g})"
    below = f"below {floor.value:.2g}, {least}"
    if here:
        mean = f"mean {words_for(scenario.problem).error}"
        return f"{below}, by the luck of {scenario.trials} trials: the bound is on the {mean}"
    easier = "these data are" if scenario.problem == MEAN else "this loss on these data is"
    return f"{below}: {easier} easier than that"


def _without_private(scenario: Scenario, table: pd.DataFrame) -> Statement:
    words = words_for(scenario.problem)
    refused = set(table.loc[table["not_applicable"] != "", "method"])
    why = "The reasons stand below the figure."
    if refused and refused == set(table["method"]):
        return Statement(headline=f"No chosen {words.method} can run here", sentence=why)
    if table.empty:
        return Statement(headline="The first cells are running.", sentence="")
    if any(_is_private(m) for m in refused):
        return Statement(headline=f"No chosen private {words.method} can run here", sentence=why)
    level = several_items(scenario)
    point = canonical(replace(scenario, axis=None, grid=()))
    private = [m for m in methods_for(scenario.problem, level) if _is_private(m)]
    if all(refusal(point, m) is not None for m in private):
        return Statement(
            headline=f"Without privacy: no private {words.method} can run at these settings",
            sentence=f"No private {words.method} of the catalogue can run at these settings; the "
            "errors are those without privacy.",
        )
    return Statement(
        headline=f"Without privacy: the {words.error} of the non-private {words.method}s",
        sentence=f"Choose a private {words.method} to see what privacy costs.",
    )


def _is_private(method: str) -> bool:
    return method_card(method).privacy != "none"


def _nearest(scenario: Scenario, table: pd.DataFrame) -> float | None:
    if scenario.axis is None:
        return None
    chosen = getattr(scenario, scenario.axis) or scenario.grid[-1]
    xs = sorted(set(table["x"]))
    chosen = min(chosen, 10 * scenario.grid[-1])  # an exponent may be infinite
    return min(xs, key=lambda x: abs(math.log(x / chosen))) if xs else None


def _floor(
    bounds: Sequence[Evaluation], at: float | None, binding: tuple[str, ...]
) -> Evaluation | None:
    """Return the largest explicit lower bound at the point that binds the method, or every one."""
    found = [
        e
        for e in bounds
        if e.x == at
        and e.bound.card.kind == "lower"
        and e.bound.card.constant == "explicit"
        and e.bound.card.privacy in (*binding, "none")
        and not e.failures
        and 0 < e.value < math.inf
    ]
    return max(found, key=lambda e: e.value, default=None)
