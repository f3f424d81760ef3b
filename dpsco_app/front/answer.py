"""The answer above the figure, in words: what privacy costs, with whom, and on which data.

No Streamlit, no Plotly and no pandas: the page without a server speaks with the same functions.
"""

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from dpsco_app.front.bound_lines import bound_by
from dpsco_app.front.reference import against, why_less, with_article, without_reference
from dpsco_app.front.study import BETTER, Role, Study, chosen_point, compared
from dpsco_app.front.titles import (
    NO_BREAK,
    data_word,
    ratio_text,
    settings_text,
)
from dpsco_app.parts.evaluations import region, without_data
from dpsco_app.parts.options import SYMBOL, inside, number_text, rounded
from dpsco_app.parts.problem_words import geometry_name
from dpsco_core.base.limits import DASHBOARD, LIBRARY
from dpsco_core.catalogue import distribution_card, method_card, problem_card
from dpsco_core.data import Gaussian
from dpsco_core.fields import MEAN
from dpsco_core.results.findings import LIGHT_FROM
from dpsco_core.results.measured import Measurement
from dpsco_core.results.price import Ratio
from dpsco_core.runs.allowed import refusal

QUESTION = "What does privacy cost on heavy-tailed data?"
LIGHT_QUESTION = "What does privacy cost on light-tailed data?"
TAILS_QUESTION = "What does privacy cost on heavy and on light tails?"
CLOSE = 1.21  # upper over lower end of an interval: the factor is said as it is
LOOSE = 1.5  # the same ratio, beyond which the interval is said in its place
VAGUE = 10.0  # the upper end of a factor that trials tell nothing of
LEAST = 1.05  # a factor below it is 1 in two digits
MOST = 100.0
LESS, SAME = "less ", "about the same "  # what comes before the error, in the place of a factor
UNTOLD = "too few trials to tell"
# What is said where no private answer is better than one without data: after a price, and alone.
IGNORING = {
    "level": ("as bad as ignoring the data", "ignoring the data does as well"),
    "worse": ("worse than ignoring the data", "ignoring the data does better"),
}

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


def question(studies: Sequence[Study]) -> str:
    """Return the question that the answer is to: about heavy tails only where the data have one."""
    scenario = studies[0].scenario
    if scenario.axis == "p" or compared(studies) == "tail":
        return TAILS_QUESTION
    is_light = scenario.distribution == Gaussian.card.slug or scenario.p >= LIGHT_FROM
    return LIGHT_QUESTION if is_light else QUESTION


def answer(studies: Sequence[Study]) -> Answer:
    """Return the answer of one panel, or of two; none before all runs of the point are there."""
    apart = compared(studies)
    told = [_Told(s, apart) for s in studies]
    first = told[0]
    if not first.lead or not all(s.complete for s in studies):
        return _without(first.study)
    bare = first.bare
    told = [one for one in told if one.row is not None and one.bare == bare]
    wheres = [one.where(first.row) for one in told]
    verdicts = [one.study.useless(one.x) for one in told]
    useless = bool(told) and all(verdicts)
    costs = [_cost(first.study, first.x, first.about)]
    named = first.about if bare else f"times the {first.about}"
    again = "" if named in costs[0] else first.about
    costs += [_cost(one.study, one.x, again) for one in told[1:]]
    over = [one.reference for one in told]
    less = [cost.startswith(LESS) for cost in costs]
    costs = [
        cost + f" than {with_article(reference)}" * gains
        for cost, reference, gains in zip(costs, over, less, strict=True)
    ]
    if useless and len(told) > 1:
        costs = [IGNORING[verdict][1] for verdict in verdicts]
    at = f" ({settings_text(first.study.scenario, first.x)})."
    if len(costs) == 1:
        headline = _alone(first, costs[0], wheres[0])
    elif useless and len(set(costs)) == 1:
        headline = _capital(_both(told)), costs[0]
    else:
        left, right = map(_placed, costs, wheres)
        headline = (f"{_capital(left)}{';' if any(verdicts) else ','}", right)
    if bare:
        more = f". {without_reference(first.study)}"
    elif first.row is not None and useless:
        blind = rounded(without_data(first.study.scenario.at(first.x)))
        more = f", {first.about} {rounded(first.row.mean)}; ignoring the data, {blind}{at}"
    elif first.row is not None and first.row.mean == 0:
        more = f", at {settings_text(first.study.scenario, first.x)}."
    else:
        more = against(over) + at + _robust(first)
        pairs = zip(told, less, strict=True)
        gains = dict.fromkeys(one.reference for one, is_less in pairs if is_less)
        more += "".join(why_less(first.study, reference) for reference in gains)
    return Answer(headline=headline, small=_whose(told, more) + _along(first) + _outside(first))


def _robust(told: "_Told") -> str:
    """Return what the same answer costs over the other methods without privacy that ran."""
    others = told.study.over_others(told.x)
    texts = [f" Against {with_article(m)}: {cost_words(ratio, '')}." for m, ratio in others.items()]
    return "".join(texts)


def _both(told: Sequence["_Told"]) -> str:
    """Return the place of two panels in one phrase, before a verdict that is true of both."""
    places: dict[Role, str] = {
        "tail": "at both tails",
        "set": "on both sets",
        "pin": "in both runs",
    }
    return f"{places.get(told[-1].study.role, 'on both data sets')},"


class _Told:
    """What is said of one panel."""

    def __init__(self, study: Study, apart: Role) -> None:
        self.study, self.lead, self.apart = study, study.lead, apart
        self.x, self.best = chosen_point(study.scenario), (study.lead, *study.level)
        self.row: Measurement | None = study.at(self.lead, self.x)
        self.price: Ratio | None = None if self.row is None else self.row.price

    @property
    def reference(self) -> str:
        """The method that the price is over; empty without a price."""
        return "" if self.price is None else self.price.reference

    @property
    def bare(self) -> bool:
        """Whether there is an error, and none without privacy to compare it with."""
        return self.price is None and self.row is not None and self.row.mean > 0

    @property
    def about(self) -> str:
        return "error" if self.study.scenario.problem == MEAN else "excess risk"

    def where(self, own: Measurement | None) -> str:
        scenario, role = self.study.scenario, self.study.role
        if role == "hardest":
            loss = inside(problem_card(scenario.problem).name)
            easier = self.row is not None and own is not None and self.row.mean < own.mean
            case = "in the hardest case" + " for privacy" * easier
            return case + f" ({loss})" * (scenario.problem != MEAN)
        if self.apart == "tail":
            return f"at p = {number_text(scenario.p)}"
        if role == "pin":
            return "in the pinned run"
        if self.apart == "set":
            return f"on the {geometry_name(scenario.geometry, scenario.q)}"
        law = distribution_card(scenario.distribution).name.replace(" ", NO_BREAK)
        return f"on {law} {data_word(scenario)}"


def _cost(study: Study, x: float | None, about: str) -> str:
    """Return what privacy costs at a point, or the error where there is none to compare with."""
    row = study.at(study.lead, x)
    if row is None:
        return ""
    after, alone = IGNORING.get(study.useless(x), ("", ""))
    plain = f"{about} {rounded(row.mean)}".strip()
    if row.mean == 0:
        return f"{plain} in " + (f"all {row.trials} runs" if row.trials > 1 else "one run")
    if row.price is None or math.isinf(row.price.value):
        return alone or plain + " instead of 0" * (row.price is not None)
    if after and (is_open(row.price) or row.price.value < LEAST):
        return alone
    return cost_words(row.price, about) + f", {after}" * bool(after)


def _placed(cost: str, where: str) -> str:
    if "data" not in cost:
        return f"{cost} {where}"
    return f"{where} {cost}"


def cost_words(price: Ratio, about: str) -> str:
    """Return a factor of what is named as it may be said: as sure as the trials make it.

    Examples
    --------
    >>> cost_words(Ratio(value=1.9, low=1.8, high=2.0), "error")
    '1.9 times the error'
    >>> cost_words(Ratio(value=2.7, low=2.3, high=3.2), "error")
    'about 2.7 times the error'
    >>> cost_words(Ratio(value=2.5, low=1.65, high=3.8), "error")
    'between 1.5 and 4 times the error'
    >>> cost_words(Ratio(value=1.12, low=0.96, high=1.3), "error")
    'about 1.1 times the error'
    >>> cost_words(Ratio(value=1.02, low=0.9, high=1.16), "error")
    'about the same error'
    >>> cost_words(Ratio(value=1.5, low=0.9, high=2.5), "error")
    'at most 2.5 times the error'
    >>> cost_words(Ratio(value=0.62, low=0.21, high=1.85), "error")
    'between 0.2 and 1.9 times the error'
    >>> cost_words(Ratio(value=0.8, low=0.7, high=0.9), "error")
    'less error'
    """
    the = f" the {about}" if about else ""
    if most := most_text(price):
        if price.high > VAGUE:
            return UNTOLD
        ends = loose_ends(price)
        return f"between {' and '.join(ends)} times{the}" if ends else f"at most {most} times{the}"
    if price.value < LEAST:
        upper = price.value / BETTER if math.isnan(price.high) else price.high
        return (LESS if upper < 1 else SAME) + (about or "error")
    if (price.value if math.isnan(price.low) else price.low) > MOST:
        return f"more than {MOST:.0f} times{the}"
    ends = loose_ends(price)
    if ends is not None:
        return f"between {' and '.join(ends)} times{the}"
    exact = "" if price.high <= CLOSE * price.low else "about "
    return f"{exact}{ratio_text(price.value)} times{the}"


def most_text(price: Ratio) -> str:
    """Return the upper end of a factor of which trials tell nothing more; empty where they do.

    Examples
    --------
    >>> [most_text(Ratio(value=v, low=v / 2, high=2.22 * v)) for v in (1.5, 2.0, 9.0)]
    ['3.4', '4.5', '']
    >>> most_text(Ratio(value=1.1, low=0.95, high=1.3))
    ''
    """
    if not (price.within_noise or (price.value < LEAST and price.high >= 1)):
        return ""
    if price.high <= LOOSE * price.low:
        return ""
    return f"{math.ceil(10 * round(price.high, 2)) / 10:,g}"


def is_open(price: Ratio) -> bool:
    """Whether the trials leave more than one number of a factor open."""
    return bool(most_text(price) or loose_ends(price))


def loose_ends(price: Ratio) -> tuple[str, str] | None:
    """Return the ends between which a factor is said; None where the trials tell its value.

    Where they leave open on which side of 1 it is, a factor that is measured below 1 has two ends:
    an upper one alone would say that the lower of two lines is the higher.

    Examples
    --------
    >>> loose_ends(Ratio(value=7.0, low=4.2, high=12.0))
    ('4', '20')
    >>> loose_ends(Ratio(value=0.4, low=0.2, high=0.8))
    >>> loose_ends(Ratio(value=0.4, low=0.123, high=1.24))
    ('0.1', '1.3')
    """
    if (most := most_text(price)) and price.value < 1:
        unit = 10 ** math.floor(math.log10(price.low))
        return f"{math.floor(round(price.low / unit, 6)) * unit:.1g}", most
    if math.isnan(price.low) or price.low <= 1 or price.high <= LOOSE * price.low:
        return None
    return _whole(price.low, math.floor), _whole(price.high, math.ceil)


def _whole(value: float, cut: Callable[[float], int]) -> str:
    """Return a number above 1 with one figure, or in halves below 5, rounded up or down."""
    unit = 0.5 if value < 5 else 10 ** math.floor(math.log10(value))
    return f"{cut(value / unit) * unit:,g}"


def _alone(told: _Told, cost: str, where: str) -> tuple[str, ...]:
    """Return the headline of a single panel; on the hardest data with what nobody can beat."""
    edge = dict(region(told.study.scenario)).get(told.x)
    public = told.study.at(told.study.public, told.x)
    is_hard = told.study.role == "hardest"
    if not is_hard or public is None or edge is None or edge.value <= public.mean:
        return _capital(cost), where
    whom = bound_by(told.study.scenario, edge)
    return (
        f"{_capital(_placed(cost, where))};",
        f"no {whom} algorithm can have an error below {rounded(edge.value)}",
    )


def _whose(told: Sequence[_Told], more: str) -> Words:
    """Say whose number the headline is, with the methods in their colours."""
    leads = dict.fromkeys(one.lead for one in told)
    best = {m: [one.best for one in told if one.lead == m] for m in leads}
    names = [[(_named(lead), lead), *_level(lead, same)] for lead, same in best.items()]
    if len(names) > 1:
        names[1:] = [[(" on the left and ", "")], names[1], [(" on the right", "")]]
    return ("Best of the private algorithms chosen: ", ""), *chain(*names), (more, "")


def _level(lead: str, best: Sequence[Collection[str]]) -> Words:
    """Say which other methods are as good as one, as far as the trials tell, in all its panels."""
    level = sorted(set.intersection(*map(set, best)) - {lead})
    if len(level) > 1:
        return ((f" (level with {len(level)} others)", ""),)
    return tuple(part for m in level for part in ((" (level with ", ""), (_named(m), m), (")", "")))


def _outside(told: _Told) -> Words:
    """Say that the scenario's own value is outside of the sweep, where it is, and why."""
    scenario = told.study.scenario
    if scenario.axis is None or told.x is None:
        return ()
    own = getattr(scenario, scenario.axis)
    if own is None or min(scenario.grid) <= own <= max(scenario.grid):
        return ()
    there = replace(scenario, grid=(own,))
    large = own > max(scenario.grid) and refusal(there, DASHBOARD)
    why = "too large to run here" if large else "outside of the sweep"
    if large and not refusal(there, LIBRARY):
        why += ", but not for the command dpsco run"
    return ((f" {SYMBOL[scenario.axis]} = {number_text(own)} is {why}.", ""),)


def _named(method: str) -> str:
    return inside(method_card(method).name)


def _along(told: _Told) -> Words:
    """Say what the method costs at the two ends of an axis, where that is not the records."""
    scenario = told.study.scenario
    if scenario.axis in (None, "n"):
        return ()
    ends = scenario.grid[0], scenario.grid[-1]
    costs = [_cost(told.study, x, "") for x in ends]
    if not all(costs):
        return ()
    first, last = (f"{number_text(x)}: {cost}" for x, cost in zip(ends, costs, strict=True))
    return ((f" At {SYMBOL[scenario.axis]} = {first}; at {last}.", ""),)


def _without(study: Study) -> Answer:
    """Return the answer where no private method has run, and why."""
    private = [m for m in study.scenario.methods if method_card(m).privacy != "none"]
    if not private:
        return Answer(headline=("Choose a private algorithm", "to see what privacy costs"))
    refused = [r.refusal for (m, _), r in study.table.items() if m in private and r.refusal]
    if refused and all(study.rows(m) == [] for m in private):
        small = ("The reasons stand below the figure, with what would let them run.", "")
        return Answer(headline=("No chosen private algorithm", "can run here"), small=(small,))
    return Answer(headline=("", ""))


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
