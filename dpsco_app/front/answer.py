"""The answer above the figure, in words: what privacy costs, with which method, on which data.

It uses no Streamlit, Plotly or pandas, because the page without a server uses it too.
"""

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from dpsco_app.front.costs import DISTINCT_FROM_ONE, LESS_PREFIX, cost_words, is_open
from dpsco_app.front.headline import Marks, single_headline
from dpsco_app.front.reference import reference_words, why_less, with_article, without_reference
from dpsco_app.front.study import Role, Study, chosen_point, compared
from dpsco_app.front.titles import (
    NO_BREAK,
    data_word,
    settings_text,
)
from dpsco_app.parts.evaluations import are_hardest_of_all, without_data
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
# How to say that a private answer is no better than one without data: after a price, and alone.
IGNORING = {
    "level": ("as bad as ignoring the data", "ignoring the data does as well"),
    "worse": ("worse than ignoring the data", "ignoring the data does better"),
}

# Consecutive pieces of text, each with the method that it names, or "" if it names none.
Words = tuple[tuple[str, str], ...]


@dataclass(frozen=True, kw_only=True)
class Answer:
    """The answer above the figure: two lines for the back of a room, and their method."""

    headline: tuple[str, ...]
    small: Words = ()
    # Some words of the headline, each with the method or the limit that it is about.
    marks: Marks = ()

    @property
    def plain(self) -> str:
        """The parts of the headline, joined to one text."""
        return " ".join(self.headline).strip()


def question(studies: Sequence[Study]) -> str:
    """Return the question above the answer; it mentions heavy tails only if the data have them."""
    scenario = studies[0].scenario
    if scenario.axis == "p" or compared(studies) == "tail":
        return TAILS_QUESTION
    is_light = scenario.distribution == Gaussian.card.slug or scenario.p >= LIGHT_FROM
    return LIGHT_QUESTION if is_light else QUESTION


def answer(studies: Sequence[Study]) -> Answer:
    """Return the answer of one panel or two; without words until the chosen point has run."""
    difference = compared(studies)
    panels = [_PanelAnswer(s, difference) for s in studies]
    first_panel = panels[0]
    if not first_panel.lead or not all(s.complete for s in studies):
        return _no_answer(first_panel.study)
    lacks_reference = first_panel.lacks_reference
    panels = [
        panel
        for panel in panels
        if panel.row is not None and panel.lacks_reference == lacks_reference
    ]
    wheres = [panel.place_words(first_panel.row) for panel in panels]
    verdicts = [panel.study.useless(panel.x) for panel in panels]
    useless = bool(panels) and all(verdicts)
    costs = [_cost(first_panel.study, first_panel.x, first_panel.quantity)]
    first_words = first_panel.quantity if lacks_reference else f"times the {first_panel.quantity}"
    second_words = "" if first_words in costs[0] else first_panel.quantity
    costs += [_cost(panel.study, panel.x, second_words) for panel in panels[1:]]
    references = [panel.reference for panel in panels]
    has_gain = [cost.startswith(LESS_PREFIX) for cost in costs]
    costs = [
        cost + f" than {with_article(reference)}" * gains
        for cost, reference, gains in zip(costs, references, has_gain, strict=True)
    ]
    if useless and len(panels) > 1:
        costs = [IGNORING[verdict][1] for verdict in verdicts]
    settings = f" ({settings_text(first_panel.study.scenario, first_panel.x)})."
    headline: tuple[str, ...]
    marks: Marks = ()
    if len(costs) == 1:
        place = first_panel.place_words(first_panel.row, is_alone=True)
        headline, marks = single_headline(
            first_panel.study, first_panel.x, place, first_panel.quantity
        )
    elif useless and len(set(costs)) == 1:
        headline = _capital(_both_places(panels)), costs[0]
    else:
        left, right = map(_cost_with_place, costs, wheres)
        headline = (f"{_capital(left)}{';' if any(verdicts) else ','}", right)
    if lacks_reference:
        details = f". {without_reference(first_panel.study)}"
    elif first_panel.row is not None and useless:
        blind = rounded(without_data(first_panel.study.scenario.at(first_panel.x)))
        error = f"{first_panel.quantity} {rounded(first_panel.row.mean)}"
        details = f", {error}; ignoring the data, {blind}{settings}"
    elif first_panel.row is not None and first_panel.row.mean == 0:
        details = f", at {settings_text(first_panel.study.scenario, first_panel.x)}."
    else:
        details = reference_words(references) + settings + _cost_over_others(first_panel)
        pairs = zip(panels, has_gain, strict=True)
        gains = dict.fromkeys(panel.reference for panel, is_less in pairs if is_less)
        details += "".join(why_less(first_panel.study, reference) for reference in gains)
    small = (
        _lead_words(panels, details) + _cost_along_axis(first_panel) + _outside_words(first_panel)
    )
    return Answer(headline=headline, small=small, marks=marks)


def _cost_over_others(panel: "_PanelAnswer") -> str:
    """Return a sentence on the cost over each other method without privacy that ran."""
    ratios = panel.study.over_others(panel.x)
    texts = [f" Against {with_article(m)}: {cost_words(ratio, '')}." for m, ratio in ratios.items()]
    return "".join(texts)


def _both_places(panels: Sequence["_PanelAnswer"]) -> str:
    """Return one phrase for both panels' data, such as "at both tails,", for a common verdict."""
    places: dict[Role, str] = {
        "tail": "at both tails",
        "set": "on both sets",
        "pin": "in both runs",
    }
    return f"{places.get(panels[-1].study.role, 'on both data sets')},"


class _PanelAnswer:
    """The parts of the answer that are about one panel."""

    def __init__(self, study: Study, difference: Role) -> None:
        """Look up the row and the price of the study's leading method at its chosen point.

        `difference` is what the panels of the figure differ in.
        """
        self.study, self.lead, self.difference = study, study.lead, difference
        self.x, self.best = chosen_point(study.scenario), (study.lead, *study.level)
        self.row: Measurement | None = study.row_at(self.lead, self.x)
        self.price: Ratio | None = None if self.row is None else self.row.price

    @property
    def reference(self) -> str:
        """The method without privacy that the price is relative to; empty without a price."""
        return "" if self.price is None else self.price.reference

    @property
    def lacks_reference(self) -> bool:
        """Whether there is an error but no method without privacy to compare it with."""
        return self.price is None and self.row is not None and self.row.mean > 0

    @property
    def quantity(self) -> str:
        """The word for the measured quantity: error, or excess risk."""
        return "error" if self.study.scenario.problem == MEAN else "excess risk"

    def place_words(self, first_row: Measurement | None, *, is_alone: bool = False) -> str:
        """Return the words for the data of the panel, such as "on the hardest data known".

        Whether these are called the hardest "for privacy" depends on the first panel's row.
        """
        scenario, role = self.study.scenario, self.study.role
        if role == "hardest":
            loss = inside(problem_card(scenario.problem).name)
            easier = (
                self.row is not None and first_row is not None and self.row.mean < first_row.mean
            )
            easier = easier or (is_alone and not are_hardest_of_all(scenario, self.x))
            case = "on the hardest data known" + " for privacy" * easier
            return case + f" ({loss})" * (scenario.problem != MEAN)
        if self.difference == "tail":
            return f"at p = {number_text(scenario.p)}"
        if role == "pin":
            return "in the pinned run"
        if self.difference == "set":
            return f"on the {geometry_name(scenario.geometry, scenario.q)}"
        law = distribution_card(scenario.distribution).name.replace(" ", NO_BREAK)
        return f"on {law} {data_word(scenario)}"


def _cost(study: Study, x: float | None, quantity: str) -> str:
    """Return the cost of privacy at x in words, or the error if there is no reference for it.

    `quantity` is the word for what was measured; empty leaves it out.
    """
    row = study.row_at(study.lead, x)
    if row is None:
        return ""
    verdict, verdict_without_factor = IGNORING.get(study.useless(x), ("", ""))
    plain = f"{quantity} {rounded(row.mean)}".strip()
    if row.mean == 0:
        return f"{plain} in " + (f"all {row.trials} runs" if row.trials > 1 else "one run")
    if row.price is None or math.isinf(row.price.value):
        return verdict_without_factor or plain + " instead of 0" * (row.price is not None)
    if verdict and (is_open(row.price) or row.price.value < DISTINCT_FROM_ONE):
        return verdict_without_factor
    return cost_words(row.price, quantity) + f", {verdict}" * bool(verdict)


def _cost_with_place(cost: str, place: str) -> str:
    """Return the cost with the words for its data, which come first if the cost has "data" too."""
    if "data" not in cost:
        return f"{cost} {place}"
    return f"{place} {cost}"


def _lead_words(panels: Sequence[_PanelAnswer], details: str) -> Words:
    """Return the sentence on which method has the headline's number, as pieces with methods.

    `details` ends the sentence.
    """
    leads = dict.fromkeys(one.lead for one in panels)
    best = {m: [one.best for one in panels if one.lead == m] for m in leads}
    names = [[(_method_name(lead), lead), *_level_words(lead, same)] for lead, same in best.items()]
    if len(names) > 1:
        names[1:] = [[(" on the left and ", "")], names[1], [(" on the right", "")]]
    return ("Best of the private algorithms chosen: ", ""), *chain(*names), (details, "")


def _level_words(lead: str, best: Sequence[Collection[str]]) -> Words:
    """Return the words in brackets on methods that no panel's trials can tell from the lead.

    `best` has, for each panel, the lead and the methods level with it.
    """
    level = sorted(set.intersection(*map(set, best)) - {lead})
    if len(level) > 1:
        return ((f" (level with {len(level)} others)", ""),)
    return tuple(
        part for m in level for part in ((" (level with ", ""), (_method_name(m), m), (")", ""))
    )


def _outside_words(panel: _PanelAnswer) -> Words:
    """Return the sentence that the scenario's own value is outside of the sweep, and why.

    It is empty if the value is inside.
    """
    scenario = panel.study.scenario
    if scenario.axis is None or panel.x is None:
        return ()
    scenario_value = getattr(scenario, scenario.axis)
    if scenario_value is None or min(scenario.grid) <= scenario_value <= max(scenario.grid):
        return ()
    at_value = replace(scenario, grid=(scenario_value,))
    large = scenario_value > max(scenario.grid) and refusal(at_value, DASHBOARD)
    reason = "too large to run here" if large else "outside of the sweep"
    if large and not refusal(at_value, LIBRARY):
        reason += ", but not for the command dpsco run"
    return ((f" {SYMBOL[scenario.axis]} = {number_text(scenario_value)} is {reason}.", ""),)


def _method_name(method: str) -> str:
    """Return the name of a method as it stands inside a sentence."""
    return inside(method_card(method).name)


def _cost_along_axis(panel: _PanelAnswer) -> Words:
    """Return the sentence on the cost at both ends of the axis; empty for no axis or the axis n."""
    scenario = panel.study.scenario
    if scenario.axis in (None, "n"):
        return ()
    ends = scenario.grid[0], scenario.grid[-1]
    costs = [_cost(panel.study, x, "") for x in ends]
    if not all(costs):
        return ()
    cost_at_start, cost_at_end = (
        f"{number_text(x)}: {cost}" for x, cost in zip(ends, costs, strict=True)
    )
    return ((f" At {SYMBOL[scenario.axis]} = {cost_at_start}; at {cost_at_end}.", ""),)


def _no_answer(study: Study) -> Answer:
    """Return what stands above the figure if no private method has run: the reason, if known."""
    private = [m for m in study.scenario.methods if method_card(m).privacy != "none"]
    if not private:
        return Answer(headline=("Choose a private algorithm", "to see what privacy costs"))
    refused = [r.refusal for (m, _), r in study.table.items() if m in private and r.refusal]
    if refused and all(study.rows(m) == [] for m in private):
        small = ("The reasons stand below the figure, with what would let them run.", "")
        return Answer(headline=("No chosen private algorithm", "can run here"), small=(small,))
    return Answer(headline=("", ""))


def _capital(text: str) -> str:
    """Return a text with its first letter as a capital."""
    return text[:1].upper() + text[1:]
