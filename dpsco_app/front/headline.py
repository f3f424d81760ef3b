"""The headline over a single figure: the cost of privacy there, and the proven limit."""

import math
from collections.abc import Mapping

from dpsco_app.front.bound_lines import bound_by
from dpsco_app.front.costs import (
    DISTINCT_FROM_ONE,
    LESS_PREFIX,
    SAME_PREFIX,
    TOO_FEW_TRIALS,
    cost_words,
    is_open,
)
from dpsco_app.front.questions.tails import promise_base_words, tails_of
from dpsco_app.front.reference import WEAKNESS, with_article
from dpsco_app.front.study import Study, place
from dpsco_app.front.titles import NO_BREAK, ratio_text
from dpsco_app.parts.evaluations import are_hardest_of_all, region
from dpsco_app.parts.options import SYMBOL, number_text, rounded
from dpsco_core.results.measured import Measurement
from dpsco_core.scenario import Scenario

LIMIT = "limit"  # Words about a limit have this mark, where others have their method.
STEADY = 1.05  # Limits along the axis count as equal if their largest ratio is at most this.
# The sentence if no private answer is better than one without data.
AS_WELL = {
    "level": "Ignoring the data does as well.",
    "worse": "Ignoring the data does better.",
}
Marks = tuple[tuple[str, str], ...]  # Pairs of words and the method that they name, or `LIMIT`.


def single_headline(
    study: Study, x: float | None, data_words: str, quantity: str
) -> tuple[tuple[str, ...], Marks]:
    """Return the two lines over a single figure, and which of their words are coloured.

    `data_words` names the data as part of a sentence, and `quantity` is what is measured.
    """
    row = study.row_at(study.lead, x)
    if row is None:
        return ("", ""), ()
    cost_line, mark = _cost_line(study, row, data_words, quantity)
    verdict, is_hardest = study.useless(x), study.role == "hardest"
    if verdict and not (is_hardest and verdict == "level"):
        price = row.price
        is_vague = price is not None and (is_open(price) or price.value < DISTINCT_FROM_ONE)
        if price is None or is_vague or math.isinf(price.value):
            return (f"No chosen private algorithm beats ignoring the data {data_words}.", ""), ()
        return (cost_line, AS_WELL[verdict]), ((mark, study.lead),)
    limit_line, limit = _limit_line(study, row, x)
    marks = [(mark, study.lead)] if mark else []
    return (cost_line, limit_line), (*marks, *([(limit, LIMIT)] if limit else []))


def _cost_line(study: Study, row: Measurement, data_words: str, quantity: str) -> tuple[str, str]:
    """Return the sentence on the cost of privacy, and its words with the number, maybe none."""
    name, price = quantity[:1].upper() + quantity[1:], row.price
    if row.mean == 0:
        runs = f"all {row.trials} runs" if row.trials > 1 else "one run"
        return f"{name} 0 in {runs} {data_words}.", ""
    if price is None or math.isinf(price.value):
        return (
            f"{name} {rounded(row.mean)}{' instead of 0' * (price is not None)} {data_words}.",
            "",
        )
    cost = cost_words(price, quantity)
    if cost.startswith(TOO_FEW_TRIALS):
        return f"Too few trials to tell what privacy costs {data_words}.", ""
    if cost.startswith(LESS_PREFIX):
        return f"With privacy the {quantity} is smaller {data_words}.", "smaller"
    if cost.startswith(SAME_PREFIX):
        return f"With privacy the {quantity} is about the same {data_words}.", "about the same"
    return f"Privacy costs {cost} {data_words}.", cost


def _limit_line(study: Study, row: Measurement, x: float | None) -> tuple[str, str]:
    """Return the sentence on the limit, or on the cost elsewhere, and its coloured words."""
    if study.role == "hardest" and (promise := _promise(study.scenario, x)):
        return promise, ""
    limits = limit_prices(study)
    if limits.get(place(x), 0.0) >= DISTINCT_FROM_ONE:
        edge = dict(region(study.scenario))[x]
        limit = f"under {limit_text(limits[place(x)])} times"
        algorithms = bound_by(study.scenario, edge)
        data_words = "" if edge.bound.card.of_law else " for all data"
        return (
            f"No {algorithms} algorithm can promise {limit}{data_words}"
            f"{_limit_along_axis(study.scenario, limits, x)}",
            limit,
        )
    if row.price is not None and cost_words(row.price, "").startswith(LESS_PREFIX):
        reference = with_article(row.price.reference)
        weakness = WEAKNESS.get(row.price.reference, "could be improved without privacy, too")
        return f"{reference[:1].upper()}{reference[1:]} {weakness}.", ""
    return _costs_elsewhere(study, x), ""


def _promise(scenario: Scenario, x: float | None) -> str:
    """Return the sentence on what a promise for all data costs at x; empty if there is none.

    There is none if the data at hand are the hardest, so that no others have larger errors.
    """
    tails = tails_of(scenario)
    if not tails or are_hardest_of_all(scenario, x):
        return ""
    own_tail = next(tail for tail in tails if tail.scenario.p == scenario.p)
    _, high = own_tail.prices([a for a, _ in own_tail.spans].index(x))
    _, last_price = own_tail.prices(-1)
    sentence = (
        f"Other data have larger errors: a promise for all is at most {ratio_text(high)} times "
        f"{promise_base_words(scenario)}"
    )
    cures = scenario.axis == "n" and last_price < 0.8 * own_tail.prices(0)[1]
    return sentence + (", less with more records." if cures else ".")


def limit_prices(study: Study) -> dict[float, float]:
    """Return the ratio of the proven limit to the error without privacy, by place on the axis."""
    floors = {x: e.value for x, e in region(study.scenario)}
    rows = ((x, study.row_at(study.public, x)) for x in floors)
    return {place(x): floors[x] / row.mean for x, row in rows if row is not None and row.mean > 0}


def limit_text(price: float) -> str:
    """Return a limit as a factor, rounded down so that it stays proven.

    Examples
    --------
    >>> limit_text(2.69), limit_text(17.9)
    ('2.6', '17')
    """
    return f"{math.floor(10 * price) / 10:.1f}" if price < 10 else f"{math.floor(price):,}"


def _limit_along_axis(scenario: Scenario, limits: Mapping[float, float], x: float | None) -> str:
    """Return the end of the sentence on a limit: how it changes with n, and a full stop."""
    if scenario.axis != "n" or len(limits) < len(scenario.grid) or len(limits) < 2:
        return "."
    if is_steady(limits):
        return ", however many records."
    last_n = scenario.grid[-1]
    if limits[last_n] < DISTINCT_FROM_ONE:
        return "; with more records the limit goes to 1."
    return (
        "."
        if last_n == x
        else f"; at n{NO_BREAK}= {number_text(last_n)}, {limit_text(limits[last_n])}."
    )


def is_steady(limits: Mapping[float, float]) -> bool:
    """Return whether the limits at two or more points of the axis are the same number."""
    values = limits.values()
    return len(values) > 1 and max(values) <= STEADY * min(values)


def _costs_elsewhere(study: Study, x: float | None) -> str:
    """Return what privacy costs elsewhere on the axis, as a sentence; empty without an axis."""
    scenario = study.scenario
    if scenario.axis is None or len(scenario.grid) < 2:
        return ""
    first_x, last_x = scenario.grid[0], scenario.grid[-1]
    ends = [a for a in (first_x, last_x) if a != x]
    if scenario.axis == "n":
        ends = ends[:1]
    costs = {a: _cost_there(study, a) for a in ends}
    phrases = [
        f"{'at' if i else 'At'} {SYMBOL[scenario.axis]}{NO_BREAK}= {number_text(a)} {cost}"
        for i, (a, cost) in enumerate((a, cost) for a, cost in costs.items() if cost)
    ]
    return f"{', '.join(phrases)}." if phrases else ""


def _cost_there(study: Study, x: float) -> str:
    """Return a clause with the cost of privacy at x; empty if none was measured."""
    row = study.row_at(study.lead, x)
    if row is None or row.price is None or row.mean == 0 or math.isinf(row.price.value):
        return ""
    cost = cost_words(row.price, "").strip()
    return (
        ""
        if cost == TOO_FEW_TRIALS
        else f"it costs {cost}"
        if cost[-5:] == "times"
        else _plain(cost)
    )


def _plain(cost: str) -> str:
    """Return a clause for a cost of privacy in words, such as "less error", without a factor."""
    return "it is smaller" if cost.startswith(LESS_PREFIX.strip()) else "it is about the same"


def marked(line: str, marks: Marks) -> list[tuple[str, str]]:
    """Return a line as pieces of text, each with the method or limit that it is about, or "".

    Examples
    --------
    >>> marked("It costs 3.4 times.", (("3.4 times", "mean.adaptive"),))
    [('It costs ', ''), ('3.4 times', 'mean.adaptive'), ('.', '')]
    """
    pieces = [(line, "")]
    for words, subject in marks:
        split: list[tuple[str, str]] = []
        for text, text_subject in pieces:
            left, match, right = ("", "", text) if text_subject else text.partition(words)
            split += (
                [(text, text_subject)]
                if text_subject or not match
                else [(left, ""), (match, subject), (right, "")]
            )
        pieces = split
    return [piece for piece in pieces if piece[0]]
