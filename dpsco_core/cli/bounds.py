"""Bounds as text: all of them for `dpsco bounds`, the proven lower ones for `dpsco run`."""

from collections.abc import Iterable, Mapping, Sequence

from dpsco_core.base.cards import Privacy
from dpsco_core.bounds.classes import binding
from dpsco_core.catalogue import bounds_for, problem_card
from dpsco_core.cli.tools import number, print_note, table
from dpsco_core.explain.floors import no_floor
from dpsco_core.privacy.budget import ZCDP
from dpsco_core.results.report import Evaluation, evaluate_all
from dpsco_core.runs.study import Outcome
from dpsco_core.scenario import Scenario

WORST_CASE = (
    "a lower bound other than a floor holds for the hardest data of its class, and does not bind "
    "these data: a measured error may be below it. `dpsco bounds` prints classes and papers."
)
NOTIONS: Mapping[Privacy, str] = {
    "pure": "pure DP",
    "approx": "(epsilon, delta)-DP",
    "zcdp": "zCDP",
    "none": "all",
}


def print_bounds(scenario: Scenario, slugs: Sequence[str] | None = None) -> None:
    """Print every bound, or those in `slugs`, with notes for readers of the values."""
    evaluations = evaluate_all(scenario, slugs)
    header = ["bound", scenario.axis or "", "value", "constant", "class", "binds", "of", "terms"]
    print(table([_row(e) for e in evaluations], [*header, "statement", "fails"]))
    for reason in _undefined_reasons(evaluations):
        print_note(f"no value (-) of a lower bound on this set: {reason}")
    _print_notes(scenario, evaluations, floor=not slugs)


def _row(e: Evaluation) -> list[str]:
    card = e.bound.card
    terms = ", ".join(f"{name} {number(v)}" for name, v in e.terms.items())
    return [
        card.slug,
        "" if e.x is None else number(e.x),
        number(e.value),
        card.constant,
        card.class_text,
        f"every {e.binds}" if e.binds else "",
        card.quantity,
        terms if len(e.terms) > 1 and not e.elsewhere else "",
        f"{card.paper}, {card.statement}",
        "; ".join(failure for failure in e.failures if failure != e.elsewhere),
    ]


def print_lower_bounds(scenario: Scenario, outcomes: Sequence[Outcome]) -> None:
    """Print the proven lower bounds that apply to a run, and name those that do not."""
    cards = [b.card for b in bounds_for(scenario.problem, scenario.level)]
    slugs = [c.slug for c in cards if (c.kind, c.constant) == ("lower", "explicit")]
    proven = evaluate_all(scenario, slugs)
    defined = [e for e in proven if not e.elsewhere]
    bound = _bound_notions(scenario, outcomes)
    printed = [e for e in defined if e.bound.card.privacy in bound]
    if printed:
        rows = [
            [
                e.bound.card.slug,
                "" if e.x is None else number(e.x),
                number(e.value),
                e.binds.replace(" algorithm", ""),
                e.bound.card.quantity,
            ]
            for e in printed
        ]
        print(table(rows, ["bound", scenario.axis or "", "value", "binds every", "of"]))
        print_note(WORST_CASE)
    for reason in _undefined_reasons(proven):
        print_note(f"lower bounds that are not proven on this set are left out: {reason}")
    if omitted := dict.fromkeys(e.bound.card.privacy for e in defined if e not in printed):
        notions = " or ".join(NOTIONS[notion] for notion in omitted)
        print_note(
            f"lower bounds on {notions} algorithms are left out, as the budget is one of zCDP. "
            "`dpsco bounds` prints them."
        )
    failing: dict[str, list[str]] = {}
    for e in printed:
        for failure in e.failures:
            failing.setdefault(failure, []).append(e.bound.card.slug)
    for failure, slugs in failing.items():
        print_note(f"{', '.join(dict.fromkeys(slugs))}: {failure}")
    _print_notes(scenario, printed, floor=True)


def _bound_notions(scenario: Scenario, outcomes: Sequence[Outcome]) -> set[Privacy]:
    """Return the notions of the lower bounds to print for a run.

    Under a zCDP budget they are those that bind every zCDP algorithm, or a method that ran.
    """
    if not isinstance(scenario.budget, ZCDP):
        return set(NOTIONS)
    return {*binding(scenario.budget), *(notion for o in outcomes for notion in o.bound_by)}


def _undefined_reasons(evaluations: Iterable[Evaluation]) -> list[str]:
    """Return the reasons why bounds have no value on this set, without repetition."""
    return list(dict.fromkeys(e.elsewhere for e in evaluations if e.elsewhere))


def _print_notes(scenario: Scenario, evaluations: Sequence[Evaluation], *, floor: bool) -> None:
    for note in dict.fromkeys(e.note for e in evaluations if e.note):
        print_note(note)
    if missing := no_floor(scenario) if floor else "":
        print_note(missing)
    problem_class = problem_card(scenario.problem).loss_class
    wider = (str(e.bound.card.loss_class) for e in evaluations if not e.applies)
    for name in dict.fromkeys(wider):
        print_note(
            f"the lower bounds for {name} losses do not bind methods for this problem: their hard "
            f"losses are not {problem_class} losses, as those here are."
        )
