"""The answer above the figure, in words: what privacy costs, with whom, and on which data.

No Streamlit, no Plotly and no pandas: the page without a server speaks with the same functions.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from dpsco_app.front.study import Role, Study, chosen_point, compared
from dpsco_app.front.titles import NO_BREAK, data_word, ratio_text, settings_text
from dpsco_app.parts.evaluations import region, without_data
from dpsco_app.parts.options import SYMBOL, inside, number_text, rounded
from dpsco_app.parts.problem_words import baseline, geometry_name
from dpsco_core.base.limits import DASHBOARD
from dpsco_core.catalogue import distribution_card, method_card
from dpsco_core.fields import MEAN
from dpsco_core.results.measured import Measurement
from dpsco_core.results.price import Ratio
from dpsco_core.runs.allowed import refusal

QUESTION = "What does privacy cost on heavy-tailed data?"
CLOSE = 1.21  # upper over lower end of an interval: the factor is said as it is
UNSURE = 1.5  # what a cost that cannot be told from none may be, and still be called none
LOOSE = 2.5  # the same ratio, beyond which only the lower end is said
ABOVE_ONE = 1.1  # a lower end below it is said as one
OPEN = 10.0  # the ratio of the ends of an interval that says next to nothing
MOST = 100.0
NOTHING = "no measurable cost"
USELESS = "no private algorithm here beats not looking at the data"

# Texts in a row, each with the method that it names, or "".
Words = tuple[tuple[str, str], ...]


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What stands above the figure: two lines that a back row can read, and whose number it is."""

    headline: tuple[str, ...]
    small: Words = ()

    @property
    def plain(self) -> str:
        """The headline as one sentence."""
        return " ".join(self.headline)


def answer(studies: Sequence[Study]) -> Answer:
    """Return the answer of one panel, or of two."""
    apart = compared(studies)
    told = [_Told(s, apart) for s in studies]
    first = told[0]
    if not first.lead:
        return _without(first.study)
    if first.price is None:
        return _without_price(told)
    costs: list[str] = []
    priced = [one for one in told if one.price is not None]
    for one in priced:
        costs.append(one.cost(again=any(first.about in cost for cost in costs)))
    wheres = [one.where() for one in priced]
    worse = [o for o, cost in zip(priced, costs, strict=True) if o.useless and cost != USELESS]
    if len(costs) == 1:
        headline = _alone(first, costs[0], wheres[0])
    elif costs == [USELESS, USELESS]:
        headline = (_capital(USELESS), f"{wheres[0]} or {wheres[1]}")
    else:
        headline = (f"{_capital(costs[0])} {wheres[0]},", f"{costs[1]} {wheres[1]}")
    small = _no_better(first) if set(costs) == {USELESS} else _whose(told)
    small += _idle(told, worse) + _along(first) + _outside(first)
    return Answer(headline=headline, small=small)


class _Told:
    """What is said of one panel."""

    def __init__(self, study: Study, apart: Role) -> None:
        self.study, self.lead, self.apart = study, study.lead, apart
        self.x = chosen_point(study.scenario)
        self.row: Measurement | None = study.at(self.lead, self.x)
        self.price: Ratio | None = None if self.row is None else self.row.price

    @property
    def about(self) -> str:
        return "error" if self.study.scenario.problem == MEAN else "excess risk"

    @property
    def start(self) -> float:
        """The error of an answer that sees no data."""
        point = self.study.scenario if self.x is None else self.study.scenario.at(self.x)
        return without_data(point)

    @property
    def useless(self) -> bool:
        """Whether the best private method errs more than an answer that sees no data."""
        return self.row is not None and 0 < self.start < self.row.mean - self.row.half

    @property
    def idle(self) -> bool:
        """Whether an answer that sees no data errs as much, as far as the trials can tell."""
        row = self.row
        return row is not None and 0 < self.start <= row.mean + row.half and not self.useless

    @property
    def lost(self) -> bool:
        """Whether that is all that the trials can tell of it."""
        price = self.price
        return self.idle and price is not None and price.high > OPEN * max(price.low, 0.0)

    def cost(self, *, again: bool) -> str:
        """Return the cost in words; the second time "the error" is understood."""
        assert self.price is not None
        if not again and (self.useless or self.lost):
            return USELESS
        if self.lost:
            return "no better than no data"
        return cost_words(self.price, "" if again else f" the {self.about}")

    def where(self) -> str:
        scenario, role = self.study.scenario, self.study.role
        if role == "hardest":
            return "in the hardest case known"
        if self.apart == "tail":
            return f"at p = {number_text(scenario.p)}"
        if role == "pin":
            return "in the pinned run"
        if self.apart == "set":
            return f"on the {geometry_name(scenario.geometry, scenario.q)}"
        law = distribution_card(scenario.distribution).name.replace(" ", NO_BREAK)
        return f"on {law} {data_word(scenario)}"


def cost_words(price: Ratio, about: str) -> str:
    """Return a factor as it may be said: as sure as the trials make it.

    Examples
    --------
    >>> cost_words(Ratio(value=1.9, low=1.8, high=2.0), " the error")
    '1.9 times the error'
    >>> cost_words(Ratio(value=2.7, low=2.1, high=3.5), " the error")
    'about 2.7 times the error'
    >>> cost_words(Ratio(value=7.0, low=4.2, high=12.0), " the error")
    'at least 4 times the error'
    >>> cost_words(Ratio(value=1.02, low=0.9, high=1.2), " the error")
    'no measurable cost'
    >>> cost_words(Ratio(value=1.4, low=0.6, high=2.9), " the error")
    'between 1 and 3 times the error'
    """
    if price.high < 1 or (price.within_noise and not price.high > UNSURE):
        return NOTHING
    if (price.value if math.isnan(price.low) else price.low) > MOST:
        return f"more than {MOST:.0f} times{about}"
    ends = loose_ends(price)
    if ends is None:
        exact = "" if price.high <= CLOSE * price.low else "about "
        return f"{exact}{ratio_text(price.value)} times{about}"
    low, high = ends
    return f"between 1 and {high} times{about}" if low == "1" else f"at least {low} times{about}"


def loose_ends(price: Ratio) -> tuple[str, str] | None:
    """Return the ends between which a factor is said; None where the trials tell its value.

    Examples
    --------
    >>> loose_ends(Ratio(value=7.0, low=4.2, high=12.0))
    ('4', '20')
    >>> loose_ends(Ratio(value=1.4, low=0.6, high=2.9))
    ('1', '3')
    >>> loose_ends(Ratio(value=0.4, low=0.2, high=0.8))
    """
    known = math.isnan(price.low) or price.high < 1 or price.high <= LOOSE * price.low
    if known and not price.within_noise:
        return None
    return _floored(price.low) if price.low >= ABOVE_ONE else "1", _ceiled(price.high)


def _floored(value: float) -> str:
    """Return a number with one figure, rounded down; of 1 to 2 with a digit behind the point."""
    if value < 2:
        return f"{math.floor(value * 10) / 10:.1f}"
    unit = 10 ** math.floor(math.log10(value))
    return f"{math.floor(value / unit) * unit:,}"


def _ceiled(value: float) -> str:
    """Return a number above 1 with one figure, rounded up."""
    unit = 10 ** math.floor(math.log10(value))
    return f"{math.ceil(value / unit) * unit:,}"


def _alone(told: _Told, cost: str, where: str) -> tuple[str, ...]:
    """Return the headline of a single panel; on the hardest data with what nobody can beat."""
    floor = region(told.study.scenario)
    public = told.study.at(told.study.public, told.x) if told.study.public else None
    if told.study.role != "hardest" or public is None or not floor:
        return (f"{_capital(cost)}", where)
    value = next((e.value for x, e in floor if x == told.x), 0.0)
    least = value / public.mean
    whom = "zCDP" if floor[0][1].bound.card.privacy == "zcdp" else "private"
    if least <= 1:
        return (f"{_capital(cost)}", where)
    return (
        f"{_capital(cost)} {where};",
        f"no {whom} algorithm can err less than {rounded(value)}",
    )


def _whose(told: Sequence[_Told]) -> Words:
    """Say whose ratio the headline is, with the methods in their colours."""
    first = told[0]
    public = method_card(first.study.public)
    against = f" against the {inside(public.short or public.name)}"
    against += "" if first.about == "error" else " without privacy"
    against += f" ({settings_text(first.study.scenario, first.x)})."
    leads = [one.lead for one in told if one.price is not None]
    if len(set(leads)) < 2:
        best = (", best private algorithm here,", "")
        return (_capital(_named(leads[0])), leads[0]), best, (against, "")
    return (
        ("Best private algorithms: ", ""),
        (_named(leads[0]), leads[0]),
        (" on the left and ", ""),
        (_named(leads[1]), leads[1]),
        (" on the right,", ""),
        (against, ""),
    )


def _no_better(told: _Told) -> Words:
    """Say what the best private algorithm errs, and an answer without data."""
    assert told.row is not None
    at = settings_text(told.study.scenario, told.x)
    return (
        (f"{_capital(told.about)} of ", ""),
        (_named(told.lead), told.lead),
        (
            f", the best one: {rounded(told.row.mean)}; without data {rounded(told.start)} ({at}).",
            "",
        ),
    )


def _idle(told: Sequence[_Told], worse: Sequence[_Told]) -> Words:
    """Say on which data an answer without data does as well, or better, where it is not said."""
    words = []
    for how, of_these in (
        ("no better than no data", [one for one in told if one.idle and not one.lost]),
        ("worse than no data", worse),
    ):
        wheres = ["hardest case" if o.study.role == "hardest" else o.where() for o in of_these]
        words += [(f" {_capital(' and '.join(wheres))}: {how}.", "")] * bool(wheres)
    return tuple(words)


def _outside(told: _Told) -> Words:
    """Say that the scenario's own value is outside of the sweep, where it is, and why."""
    scenario = told.study.scenario
    if scenario.axis is None or told.x is None:
        return ()
    own = getattr(scenario, scenario.axis)
    if own is None or min(scenario.grid) <= own <= max(scenario.grid):
        return ()
    large = own > max(scenario.grid) and refusal(replace(scenario, grid=(own,)), DASHBOARD)
    why = "too large to run here" if large else "outside of the sweep"
    return ((f" {SYMBOL[scenario.axis]} = {number_text(own)} is {why}.", ""),)


def _named(method: str) -> str:
    return inside(method_card(method).name)


def _along(told: _Told) -> Words:
    """Say what the method costs at the two ends of an axis, where that is not the records."""
    scenario = told.study.scenario
    if scenario.axis in (None, "n"):
        return ()
    ends = [told.study.at(told.lead, x) for x in (scenario.grid[0], scenario.grid[-1])]
    prices = [row.price for row in ends if row is not None]
    if len(prices) < 2 or prices[0] is None or prices[1] is None:
        return ()
    symbol = SYMBOL[str(scenario.axis)]
    first, last = (cost_words(price, "") for price in prices if price is not None)
    return (
        (
            f" At {symbol} = {number_text(scenario.grid[0])}: {first}; "
            f"at {number_text(scenario.grid[-1])}: {last}.",
            "",
        ),
    )


def _without_price(told: Sequence[_Told]) -> Answer:
    """Return the answer where no method without privacy was chosen: errors alone."""
    parts = [
        f"{one.about if i == 0 else ''} {rounded(one.row.mean)} {one.where()}".strip()
        for i, one in enumerate(told)
        if one.row is not None
    ]
    headline = (_capital(parts[0]) + ("," if len(parts) > 1 else ""), *parts[1:])
    public = inside(method_card(baseline(told[0].study.scenario.problem)).name)
    small: Words = (
        ("Best private algorithm here: ", ""),
        (_named(told[0].lead), told[0].lead),
        (f". Choose the {public}, too, to see what privacy costs.", ""),
    )
    return Answer(headline=headline, small=small + _idle(told, [o for o in told if o.useless]))


def _without(study: Study) -> Answer:
    """Return the answer where no private method has run, and why."""
    scenario = study.scenario
    private = [m for m in scenario.methods if method_card(m).privacy != "none"]
    if not private:
        return Answer(headline=("Choose a private algorithm", "to see what privacy costs"))
    refused = [r.refusal for (m, _), r in study.table.items() if m in private and r.refusal]
    if refused and all(study.rows(m) == [] for m in private):
        small = ("The reasons stand below the figure, with what would let them run.", "")
        return Answer(headline=("No chosen private algorithm", "can run here"), small=(small,))
    return Answer(headline=("", ""))


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
