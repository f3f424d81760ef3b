"""Claims on errors: bounds of a file, or a formula that was typed for a method of the catalogue."""

import operator
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from dpsco_core.base.cards import BoundCard, Guarantee, Paper
from dpsco_core.base.errors import InvalidInput, require
from dpsco_core.base.formula import LETTERS, Formula, parse_formula
from dpsco_core.base.parsing import shorten
from dpsco_core.base.plugin_guard import guarded
from dpsco_core.bounds import Bound
from dpsco_core.bounds.base import Hypothesis
from dpsco_core.catalogue import method_card, problem_card
from dpsco_core.plugins.extend import Addition, OwnFile
from dpsco_core.problems.base import Setting
from dpsco_core.referee.inequality import UNDEFINED, Inequality, Requirement
from dpsco_core.results.overlay import letters_at

GUARANTEES: tuple[Guarantee, ...] = get_args(Guarantee)
SIGNS: dict[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
}
TYPED = Paper("This claim", "-", "-", 0, "-")


@dataclass(frozen=True, kw_only=True)
class Submission:
    """The inputs of one referee run: a method, bounds on its error, and inequalities."""

    methods: tuple[str, ...]  # the slugs of the methods whose privacy is checked
    bounds: tuple[Bound, ...]
    inequalities: tuple[Inequality, ...]
    files: tuple[str, ...] = ()  # the paths of the files that were submitted


def bound_of_formula(
    text: str,
    method: str,
    problem: str,
    *,
    conditions: Sequence[str] = (),
    constant: Literal["explicit", "rate"] = "explicit",
    guarantee: Guarantee = "expectation",
    kind: Literal["upper", "lower"] = "upper",
) -> Bound:
    """Return the bound on a method's error, at a problem, that a formula claims.

    Its hypotheses are that the letters have values, and `conditions` such as ``"n >= 100*d"``.
    Raises `InvalidInput` for an unknown letter, a wrong method and a condition without a sign.
    """
    formula, card = parse_formula(text), method_card(method)
    problem_of = problem_card(problem)
    names = tuple(formula.letters)

    def terms(setting: Setting) -> dict[str, float]:
        """Return the values of the formula's terms at a setting."""
        values = letters_at(setting, names)
        return {name: term(values) for name, term in formula.terms.items()}

    claimed = BoundCard(
        slug=f"{kind}.claim",
        name="The claim",
        paper=TYPED,
        statement="as typed",
        summary=f"A formula that was typed: {formula.text}.",
        kind=kind,
        quantity=problem_of.quantity,
        constant=constant,
        guarantee=guarantee,
        latex=formula.text,
        privacy=card.privacy,
        method=method,
        loss_class=problem_of.loss_class,
        instance_class=problem_of.loss_class,
        level=card.level,
        problems=(problem,),
        infinite_variance=card.infinite_variance,
    )
    return Bound(
        card=claimed,
        evaluate=terms,
        hypotheses=(_has_letters(formula), *(read_condition(text) for text in conditions)),
    )


def _has_letters(formula: Formula) -> Hypothesis:
    """Return the hypothesis that all letters of a formula have a value at the setting."""

    def check(setting: Setting) -> str:
        """Return the reason why a letter has no value at a setting; empty if all have one."""
        values = letters_at(setting, formula.letters)
        lacking = [name for name, value in values.items() if value != value]
        if not lacking:
            return ""
        numbers = letters_at(setting, sorted(set(LETTERS.values())))
        names = ", ".join(name for name, value in numbers.items() if value == value)
        return f"The setting has no {' and no '.join(lacking)}; letters with a value are {names}."

    return Hypothesis(text="every letter of the formula has a value", check=check)


def read_condition(text: str) -> Hypothesis:
    """Return the hypothesis that compares two formulas.

    Examples
    --------
    >>> from dpsco_core.scenario import Scenario
    >>> read_condition("n >= 100*d").check(Scenario(n=1000, d=20).setting)
    'n >= 100*d fails: 1000 and 2000.'
    """
    parts = re.split(r"(>=|<=|>|<)", text)
    must = "two formulas with one of >=, <=, > and < between them"
    require(len(parts) == 3, "if", must, shorten(text))
    smaller, larger = parse_formula(parts[0]), parse_formula(parts[2])
    names, sign = {*smaller.letters, *larger.letters}, SIGNS[parts[1]]

    def check(setting: Setting) -> str:
        """Return the reason why the typed condition fails; empty if it holds."""
        values = letters_at(setting, sorted(names))
        ends = smaller.value(values), larger.value(values)
        return "" if sign(*ends) else f"{text.strip()} fails: {ends[0]:g} and {ends[1]:g}."

    return Hypothesis(text=text.strip(), check=check)


def submission_of_files(files: Sequence[tuple[OwnFile, Addition]]) -> Submission:
    """Return the claims in loaded files that the referee has to check.

    Raises `InvalidInput` for a file without a private method, a bound or an inequality, for a claim
    without hypotheses, and for a claim that is no `Inequality`.
    """
    methods: list[str] = []
    bounds: list[Bound] = []
    inequalities: list[Inequality] = []
    for file, addition in files:
        methods += [m.card.slug for m in addition.methods]
        for bound in addition.bounds:
            require(bool(bound.hypotheses), "hypotheses", "at least one condition", bound.card.slug)
            bounds.append(bound)
        for claim in addition.claims:
            if not isinstance(claim, Inequality):
                kind = f"{type(claim).__name__} in {shorten(file.path)}"
                raise InvalidInput(f"CLAIMS must hold objects of the class Inequality, got {kind}.")
            inequalities.append(_guard_inequality(claim, file.path))
    paths = tuple(file.path for file, _ in files)
    has_claim = bool(methods or bounds or inequalities)
    must = "a file with METHODS, BOUNDS or CLAIMS"
    require(has_claim, "file", must, shorten(", ".join(paths)))
    return Submission(
        methods=tuple(methods),
        bounds=tuple(bounds),
        inequalities=tuple(inequalities),
        files=paths,
    )


def _guard_inequality(claim: Inequality, path: str) -> Inequality:
    """Return an inequality whose code errors become one sentence, unless it is undefined."""
    row = f"claim={claim.slug}"

    def safe(function: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function so that its errors name the claim and its file."""
        return guarded(function, row, path, passes=UNDEFINED)

    return Inequality(
        slug=claim.slug,
        text=claim.text,
        smaller=safe(claim.smaller),
        larger=safe(claim.larger),
        ranges=claim.ranges,
        hypotheses=tuple(Requirement(text=h.text, holds=safe(h.holds)) for h in claim.hypotheses),
        constant=claim.constant,
        path=path,
    )
