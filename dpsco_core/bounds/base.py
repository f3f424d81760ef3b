"""A bound knows its own truth: its statement, its constant, its hypotheses and its value."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

from dpsco_core.base.cards import BoundCard
from dpsco_core.base.errors import NotApplicable
from dpsco_core.methods.base import Method, Plan
from dpsco_core.problems.base import Setting
from dpsco_core.problems.second_moment import second_moment_missing

Terms = Mapping[str, float]
VOID = "void"  # A bound that proves nothing at a setting has a single term, of this name.


def pooled(setting: Setting) -> Setting:
    """Return `setting` with the m items of all n users as n m records."""
    return setting if setting.m == 1 else replace(setting, n=setting.n * setting.m, m=1)


@dataclass(frozen=True, kw_only=True)
class Hypothesis:
    """One condition of a bound's statement, with the function that checks it at a setting."""

    text: str  # the condition in words, as tables print it
    # A function that takes a `Setting` and returns an empty string if the condition holds there;
    # otherwise one sentence with the failing condition and its numbers.
    check: Callable[[Setting], str]
    # Whether the condition is about the set that contains the answer. A lower bound has no value on
    # a set that lacks its hard instances.
    is_about_set: bool = False
    # Whether the condition only says for which settings the bound is meant, and is not needed for
    # its proof. For example, bounds for infinite variance give way to sharper ones from p = 2 on.
    is_scope: bool = False

    def seen_from(self, view: Callable[[Setting], Setting]) -> "Hypothesis":
        """Return this condition, checked at the setting that `view` makes of the given one."""
        return replace(self, check=lambda setting: self.check(view(setting)))


def independent_items(card: BoundCard) -> Hypothesis:
    """Return the condition that the items of a user are independent.

    Every proof needs it unless its card gives a reason. Bounds of item level need it too, because
    they count the n m items as records.
    """

    def check(setting: Setting) -> str:
        """Return the reason why the users' items are not independent; empty if they are."""
        if setting.alike == 0 or card.alike_items:
            return ""
        return (
            "The proof of this bound takes the items of a user as independent, and here they have "
            f"alike={setting.alike:g} of their variance in common."
        )

    return Hypothesis(text="items of a user are independent", check=check)


@dataclass(frozen=True)
class Letter:
    r"""What a letter of a formula means, and its value at a setting where it has one of its own."""

    token: str  # the letter as in the LaTeX: ``"d"``, ``r"\rho"``, ``"R_q"``
    # What the letter means; empty for a mere index in the formula, which lists of letters omit.
    meaning: str
    # This function returns the letter's value at a `Setting`, NaN if it has none of its own.
    value: Callable[[Setting], float] = lambda _: math.nan
    # The letter's own formula in LaTeX, such as ``r"\kappa=\frac{\beta R}L"``, which is printed
    # after the formula of a rate.
    definition: str = ""


@dataclass(frozen=True, kw_only=True)
class Frontier:
    """Up to which budget an upper bound attains its lower bound: in words, and by dimension."""

    text: str  # the end of the range in words, such as `"ε = 1/√d"`
    epsilon: Callable[[float], float]  # a function of d that returns the largest such epsilon


@dataclass(frozen=True, kw_only=True)
class TermsOfRun:
    """The terms of a bound at the parameters of one run, which its method's plan contains.

    A bound whose `evaluate` this is, is about what a run does, at its calibration and tuning, and a
    figure draws it beside the measured line of that run (theory/bounds-of-runs.md, 1).
    """

    # The method with tight calibration and practical tuning. Its plan is used if there is no run.
    method: Method
    names: tuple[str, ...]  # the names of the terms, in the order of `formula`
    # A function that takes the method's plan and returns the terms, which are infinite if nothing
    # is proven for such a run.
    formula: Callable[[Any], tuple[float, ...]]

    def __call__(self, setting: Setting) -> Terms:
        """Return the terms of the method's own run at `setting`, infinite where it cannot run."""
        try:
            return self.terms_of_run(self.method.plan(setting))
        except NotApplicable:
            return dict.fromkeys(self.names, math.inf)

    def terms_of_run(self, plan: Plan) -> Terms:
        """Return the bound's terms, by name, at the parameters in the plan of one run."""
        return dict(zip(self.names, self.formula(plan), strict=True))


@dataclass(frozen=True, kw_only=True)
class Bound:
    """A proven upper or lower bound on an error, which can be evaluated at a `Setting`.

    Notes
    -----
    If n users have m items each, a bound at item level is evaluated at n m records. A lower bound
    then binds user-level algorithms too: an algorithm that hides all items of a user hides each of
    them, so that it is private at item level, with the same budget.
    """

    card: BoundCard  # the card of the bound in the catalogue, with its source
    # A function that takes a `Setting` and returns the terms by name, in the order of the formula.
    # For a bound on a run it is a `TermsOfRun`.
    evaluate: Callable[[Setting], Terms]
    # This function combines the values of the terms into the bound; for most bounds it is a sum.
    combine: Callable[[tuple[float, ...]], float] = math.fsum
    # The conditions of the statement. If one fails, the value is still given and marked as outside
    # the hypotheses; but see `refusal`.
    hypotheses: tuple[Hypothesis, ...] = ()
    # These letters of the formula have another meaning than in most bounds.
    letters: tuple[Letter, ...] = ()
    # Up to this budget an upper bound is known to be optimal; None if there is no such limit.
    optimal: Frontier | None = None

    @cached_property
    def parameters(self) -> Literal["run", "own", ""]:
        """Whose parameters an upper bound holds for.

        "run" are those of a run at hand, "own" those of its own statement, and "" says that the
        bound is about no method.
        """
        if isinstance(self.evaluate, TermsOfRun):
            return "run"
        return "own" if self.card.method else ""

    def terms(self, setting: Setting, plan: Plan | None = None) -> dict[str, float]:
        """Return the terms of the bound by name; a bound on runs takes the run's `plan`.

        If the proof does not hold at the setting (see `why_void`), there is the single term `VOID`.
        """
        if self.why_void(setting):
            return {VOID: math.inf if self.card.kind == "upper" else 0.0}
        if plan is not None and isinstance(self.evaluate, TermsOfRun):
            return dict(self.evaluate.terms_of_run(plan))
        return dict(self.evaluate(self.setting_of_statement(setting)))

    def setting_of_statement(self, setting: Setting) -> Setting:
        """Return the setting as the bound's statement counts records.

        At user level a record is a user, at item level each of the n m items is one. Only a bound
        for a single law keeps the law of the records, and its record is a user's m items
        (theory/instance-floors.md, 8.1).
        """
        if self.card.of_law:
            return setting
        if setting.law is not None:
            setting = replace(setting, law=None)
        return setting if self.card.level == "user" else pooled(setting)

    def value(self, setting: Setting, plan: Plan | None = None) -> float:
        """Return the bound, in the units of ``card.quantity``; infinite where it is void."""
        return self.combined(self.terms(setting, plan))

    def combined(self, terms: Terms) -> float:
        """Return the value of the bound from its terms, in the units of ``card.quantity``."""
        if VOID in terms:
            return terms[VOID]
        return float(self.combine(tuple(terms.values())))

    def failures(self, setting: Setting) -> tuple[str, ...]:
        """Return one sentence for every hypothesis that fails at `setting`."""
        if reason := self.why_void(setting):
            return (reason,)
        view = self.setting_of_statement(setting)
        return tuple(s for s in (h.check(view) for h in self.hypotheses) if s)

    @cached_property
    def has_scope(self) -> bool:
        """Whether the bound is made for some settings only, such as tail indices below 2."""
        return any(h.is_scope for h in self.hypotheses)

    def is_in_scope(self, setting: Setting) -> bool:
        """Whether a setting is one of those that the bound is made for; see
        `Hypothesis.is_scope`.
        """
        if not self.has_scope:
            return True
        view = self.setting_of_statement(setting)
        return not any(h.check(view) for h in self.hypotheses if h.is_scope)

    def why_void(self, setting: Setting) -> str:
        """Return why the proof does not cover the records of `setting`; empty if it does.

        A proof may need a finite second moment, or items that are independent within a user.
        """
        return self.needs_variance(setting) or independent_items(self.card).check(setting)

    def needs_variance(self, setting: Setting) -> str:
        """Return why the proof fails at a setting of tail index below 2; empty if it holds."""
        return second_moment_missing("proof of this bound", self.card, setting.moment_order)

    def refusal(self, setting: Setting) -> str:
        """Return why the bound has no value at `setting`; empty if it has one.

        The reason is that its proof does not hold (`why_void`), or that it is a lower bound whose
        hard instances have means or minimisers outside the constraint set.
        """
        if reason := self.why_void(setting):
            return reason
        if self.card.kind == "upper":
            return ""
        view = self.setting_of_statement(setting)
        return next((s for h in self.hypotheses if h.is_about_set and (s := h.check(view))), "")


def bound_like(
    card: BoundCard,
    *,
    evaluate: Callable[[Setting], Terms],
    hypotheses: tuple[Hypothesis, ...],
    combine: Callable[[tuple[float, ...]], float] = math.fsum,
    letters: tuple[Letter, ...] = (),
    optimal: Frontier | None = None,
    **changes: Any,  # fields of the card that replace those of `card`
) -> Bound:
    """Return a bound whose card is `card` with some fields replaced; the rest is passed on."""
    return Bound(
        card=replace(card, **changes),
        evaluate=evaluate,
        combine=combine,
        hypotheses=hypotheses,
        letters=letters,
        optimal=optimal,
    )


def set_letters(letters: tuple[Letter, ...], bounds: tuple[Bound, ...]) -> tuple[Bound, ...]:
    """Return the bounds with `letters` on all those that have no letters of their own."""
    return tuple(b if b.letters else replace(b, letters=letters) for b in bounds)
