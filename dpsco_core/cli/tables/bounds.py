"""Bounds as text: all of them for `dpsco bounds`, the proven lower ones for `dpsco run`."""

from collections.abc import Hashable, Iterable, Mapping, Sequence

from dpsco_core.base.cards import Privacy
from dpsco_core.base.search import smallest_or
from dpsco_core.bounds.classes import binding
from dpsco_core.catalogue import bounds_for, method_card, problem_card
from dpsco_core.cli.tools import format_table, number, print_note, print_text
from dpsco_core.explain.floors import no_floor
from dpsco_core.explain.promise import concerns
from dpsco_core.privacy.budget import ZCDP, ApproxDP
from dpsco_core.results.report import Evaluation, evaluate_all
from dpsco_core.runs.study import Outcome
from dpsco_core.scenario import Scenario

WORST_CASE = (
    "a lower bound other than a floor holds for the hardest data of its class, and does not bind "
    "these data: a measured error may be below it. `dpsco bounds` prints papers."
)
WITHOUT_DATA = "Answering without data"
NOTIONS: Mapping[Privacy, str] = {
    "pure": "pure DP",
    "approx": "(epsilon, delta)-DP",
    "zcdp": "zCDP",
    "none": "all",
}


def print_bounds(
    scenario: Scenario, slugs: Sequence[str] | None = None, *, in_full: bool = False
) -> None:
    """Print the bounds of a scenario, upper ones by method and lower ones by bound algorithms.

    Of several bounds of one kind (see `_print_groups`) the sharpest one that holds is printed,
    unless `slugs` names bounds or all are to be printed `in_full`.
    """
    evaluations = evaluate_all(scenario, slugs)
    if in_full or slugs is not None:
        _print_whole(scenario, evaluations)
        printed = evaluations
    else:
        printed = _print_groups(scenario, evaluations)
    for reason in _undefined_reasons(evaluations if in_full or slugs else ()):
        print_note(f"no value (-) of a lower bound on this set: {reason}")
    _print_notes(scenario, printed, floor=not slugs)


def _print_whole(scenario: Scenario, evaluations: Sequence[Evaluation]) -> None:
    """Print all fields of each bound, with its class and statement below its value."""
    header = ["bound", scenario.axis or "", "value", "constant", "of"]
    for e in evaluations:
        card = e.bound.card
        terms = ", ".join(f"{name} {number(v)}" for name, v in e.terms.items())
        row = [card.slug, "" if e.x is None else number(e.x), number(e.value)]
        print(format_table([[*row, card.constant, card.quantity]], header))
        details = {
            "class": card.class_text,
            "binds": f"every {e.binds}" if e.binds else "",
            "terms": terms if len(e.terms) > 1 and not e.refusal else "",
            "statement": f"{card.paper}, {card.statement}",
            "fails": "; ".join(failure for failure in e.failures if failure != e.refusal),
        }
        for name, text in details.items():
            if text:
                print_text(f"{name}: {text}", indent="    ")
        print()


Group = dict[tuple[Hashable, ...], list[Evaluation]]


def _print_groups(scenario: Scenario, evaluations: Sequence[Evaluation]) -> list[Evaluation]:
    """Print the sharpest bound of each kind, a table for each method, and return those printed.

    Bounds are of one kind if they are on one method (or bind the same algorithms) and have the same
    guarantee, constant and source of parameters.
    """
    quantity = problem_card(scenario.problem).quantity
    bound_notions = {*binding(scenario.budget), *_gaussian_notion(scenario)}
    groups: dict[str, Group] = {}
    for e in evaluations:
        card = e.bound.card
        is_folded = card.kind == "lower" and (
            card.quantity != quantity
            or not card.drawn
            or bool(e.refusal)
            or (card.privacy not in bound_notions)
        )
        if is_folded or card.quantity != quantity:
            continue
        if card.kind == "upper":
            title = "No method of the catalogue"
            if card.ignores_data:
                title = WITHOUT_DATA
            elif card.method:
                title = method_card(card.method).name
            twin: tuple[Hashable, ...] = (
                card.constant,
                card.guarantee,
                e.bound.parameters == "run",
            )
        else:
            title = f"every {e.binds}"
            twin = (card.of_law, card.is_fano, card.constant)
        groups.setdefault(f"{card.kind} {title}", {}).setdefault((*twin, e.x), []).append(e)
    printed = list[Evaluation]()
    failures = list[str]()
    for title, twins in groups.items():
        best = [_sharpest_bound(alike) for alike in twins.values()]
        rows = [_group_row(e, failures) for e in best]
        kind, _, name = title.partition(" ")
        print(f"{kind.capitalize()} bounds: {name}\n")
        print(
            format_table(
                rows, ["bound", scenario.axis or "", "value", "constant", "holds", "statement"]
            )
        )
        print()
        printed += best
    for place, failure in enumerate(failures, start=1):
        print_text(f"({place}) {failure}")
    folded = len(evaluations) - len(printed)
    if folded:
        print_note(
            f"{folded} values are folded: twins that are weaker here, squared errors, and bounds "
            "that do not hold on the set or bind another notion; `--all` prints them."
        )
    return printed


def _sharpest_bound(alike: Sequence[Evaluation]) -> Evaluation:
    """Return the sharpest of several bounds, among those whose hypotheses hold if any do."""
    sign = 1 if alike[0].bound.card.kind == "upper" else -1
    holding = [e for e in alike if not e.failures] or alike
    return smallest_or(holding, lambda e: sign * e.value, alike[0])


def _group_row(e: Evaluation, failures: list[str]) -> list[str]:
    """Return the table cells of a bound, which refer to its failing hypotheses by number.

    New failures are appended to `failures`, which numbers them.
    """
    card = e.bound.card
    marks = []
    for failure in e.failures:
        if failure not in failures:
            failures.append(failure)
        marks.append(f"({failures.index(failure) + 1})")
    at_run = ", this run" if e.bound.parameters == "run" else ""
    chance = card.guarantee.removeprefix("probability ")
    guarantee = "" if card.guarantee == "expectation" else f", {100 * float(chance):.0f} %"
    return [
        card.slug,
        "" if e.x is None else number(e.x),
        number(e.value),
        f"{card.constant}{guarantee}{at_run}",
        "no " + " ".join(marks) if marks else "yes",
        f"{card.paper}, {card.statement}",
    ]


def _gaussian_notion(scenario: Scenario) -> tuple[Privacy, ...]:
    """Return the notion zCDP, of Gaussian releases, if the budget is (epsilon, delta)."""
    return ("zcdp",) if isinstance(scenario.budget, ApproxDP) else ()


def print_lower_bounds(scenario: Scenario, outcomes: Sequence[Outcome]) -> None:
    """Print the proven lower bounds that apply to a run, and name those that do not."""
    cards = [b.card for b in bounds_for(scenario.problem, scenario.level)]
    explicit = [c.slug for c in cards if (c.kind, c.constant) == ("lower", "explicit")]
    slugs = [slug for slug in explicit if concerns(scenario, slug)]
    proven = evaluate_all(scenario, slugs)
    defined = [e for e in proven if not e.refusal]
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
        print(format_table(rows, ["bound", scenario.axis or "", "value", "binds every", "of"]))
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
    return list(dict.fromkeys(e.refusal for e in evaluations if e.refusal))


def _print_notes(scenario: Scenario, evaluations: Sequence[Evaluation], *, floor: bool) -> None:
    """Print the notes on evaluated bounds, each once; `floor` adds why there is no floor."""
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
