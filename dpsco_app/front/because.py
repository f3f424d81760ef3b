"""The effect of one change of a setting, as a sentence that leads into the headline."""

import math

from dpsco_app.front.pictures.data import far_label, far_records
from dpsco_app.front.titles import ratio_text
from dpsco_app.parts.options import SYMBOL, number_text
from dpsco_core.catalogue import distribution_card
from dpsco_core.scenario import Scenario

TAILS = {True: ("lighter", "few"), False: ("heavier", "more")}


def because(old_scenario: Scenario, new_scenario: Scenario, field: str) -> str:
    """Return words on why the answer changes with one field; empty if no reason is simple.

    Examples
    --------
    >>> because(Scenario(epsilon=1.0), Scenario(epsilon=0.5), "epsilon")
    'Because ε was halved, the noise doubles:'
    >>> because(Scenario(n=1000), Scenario(n=10_000), "n")
    'Because n grew 10 times, one record weighs less:'
    """
    old, new = getattr(old_scenario, field), getattr(new_scenario, field)
    if old == new or old is None or new is None:
        return ""
    if new_data := _new_data_words(old_scenario, new_scenario, field):
        return new_data
    match field:
        case "epsilon" | "delta" | "rho":
            return _budget_words(old_scenario, new_scenario, field)
        case "n":
            verb = f"grew {_times(new / old)}" if new > old else f"fell to {number_text(new)}"
            unit = "record" if new_scenario.m == 1 else "user"
            return f"Because n {verb}, one {unit} weighs {'less' if new > old else 'more'}:"
        case "d":
            verb = "grew" if new > old else "fell"
            comparison = "more" if new > old else "fewer"
            return f"Because d {verb} to {number_text(new)}, noise enters {comparison} coordinates:"
        case "p":
            tail, share = TAILS[new > old]
            return f"Because the tail is {tail}, {share} records lie far out:"
        case "alike":
            verb, effect = ("grew", "less") if new > old else ("fell", "more")
            return f"Because γ {verb} to {new:g}, each further item of a user tells {effect}:"
        case "distribution":
            return f"Because the data are now {distribution_card(new).name}:"
    return ""


def _new_data_words(old_scenario: Scenario, new_scenario: Scenario, field: str) -> str:
    """Return words on how the hardest data differ, if they are made anew for a field's new value.

    Both scenarios are on a hard instance with few far records; otherwise the text is empty, as it
    is if the far records are the same.
    """
    if old_scenario.distribution != new_scenario.distribution or field not in SYMBOL:
        return ""
    old_records, new_records = far_records(old_scenario), far_records(new_scenario)
    if (
        old_records is None
        or new_records is None
        or far_label(old_records) == far_label(new_records)
    ):
        return ""
    changed = _changed_words(old_scenario, new_scenario, field)
    records = "far record" if new_records.count == 1 else "far records"
    count, distance = far_label(new_records).split(" at ")
    return (
        f"Because {changed}, the hardest data have {count} {records} at {distance}, not "
        f"{far_label(old_records)}:"
    )


def _changed_words(old_scenario: Scenario, new_scenario: Scenario, field: str) -> str:
    """Return the clause on a field's change, such as "ε was halved"."""
    letter, old, new = SYMBOL[field], getattr(old_scenario, field), getattr(new_scenario, field)
    if field == "p":
        return f"the tail is {TAILS[new > old][0]}"
    if field == "epsilon" and new == old / 2:
        return f"{letter} was halved"
    if field == "epsilon" and new == 2 * old:
        return f"{letter} was doubled"
    return f"{letter} {'fell' if new < old else 'grew'} to {number_text(new)}"


def _budget_words(old_scenario: Scenario, new_scenario: Scenario, field: str) -> str:
    """Return words on how a changed epsilon, delta or rho changes the noise."""
    growth = math.sqrt(old_scenario.setting.rho / new_scenario.setting.rho)
    changed = _changed_words(old_scenario, new_scenario, field)
    if 1.9 <= growth <= 2.1:
        noise = "the noise doubles"
    elif 0.475 <= growth <= 0.525:
        noise = "the noise is halved"
    elif growth > 1:
        noise = f"the noise grew {_times(growth)}"
    else:
        noise = f"the noise fell to {100 * growth:.0f} %"
    return f"Because {changed}, {noise}:"


def _times(factor: float) -> str:
    """Return a factor as words, such as "2 times"."""
    text = ratio_text(factor)
    return f"{text.removesuffix('.0')} times"
