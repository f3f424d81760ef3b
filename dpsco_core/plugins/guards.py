"""Wrappers of plugin code, so that an error in it stops only what depends on the plugin.

Methods, bounds and laws of plugins run inside `dpsco_core.base.plugin_guard.guarded`: an error that
they raise, and a result that is not a number, a plan or an estimate, becomes one sentence with the
slug, the file and the line.
"""

import math
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache, wraps
from typing import Any

import numpy as np

from dpsco_core.base.errors import CodeFailed, InvalidInput, NotApplicable
from dpsco_core.base.plugin_guard import Check, accept_any, guarded, is_real_between
from dpsco_core.bounds import Bound
from dpsco_core.bounds.base import Terms
from dpsco_core.data.base import ANSWERS, Distribution, overrides_answer
from dpsco_core.data.univariate import Univariate
from dpsco_core.methods.base import Method, Plan, Release
from dpsco_core.privacy.mechanisms.steps import BudgetExceeded
from dpsco_core.problems.base import Setting

FAILED = "failed"  # A bound that cannot be evaluated has a single term, of this name.
# The number of draws of a coordinate that are compared with the properties that a law declares, and
# the largest allowed gap, in standard deviations. A correct law exceeds it with probability 2e^-18.
COMPARED, LARGEST_GAP = 2000, 3.0


@dataclass(frozen=True, kw_only=True)
class AddedBound(Bound):
    """A plugin's bound: if its code fails, it has no value and gives the reason."""

    bound: Bound  # the bound as the plugin defines it
    path: str  # the path of the plugin's file

    def terms(self, setting: Setting, plan: Plan | None = None) -> dict[str, float]:
        """Return the terms of the plugin's bound; NaN where its code fails."""
        outcome = self._tried(setting, plan)
        return {FAILED: math.nan} if isinstance(outcome, str) else outcome[0]

    def combined(self, terms: Terms) -> float:
        """Return the value that the plugin makes of the terms; NaN where its code fails."""
        try:
            return float(guarded(self.bound.combined, self._label, self.path)(terms))
        except CodeFailed:  # The method `failures` reports the error.
            return math.nan

    def failures(self, setting: Setting) -> tuple[str, ...]:
        """Return the failed hypotheses, or the error of the plugin's code."""
        outcome = self._tried(setting)
        return (outcome,) if isinstance(outcome, str) else outcome[1]

    @property
    def _label(self) -> str:
        """The name by which messages refer to the bound."""
        return f"bound={self.card.slug}"

    def _tried(
        self, setting: Setting, plan: Plan | None = None
    ) -> tuple[dict[str, float], tuple[str, ...]] | str:
        """Return the bound's terms and failing hypotheses, or the sentence of its error."""

        def run() -> tuple[dict[str, float], tuple[str, ...]]:
            """Return the terms and the failed hypotheses; raise `TypeError` for wrong values."""
            terms = self.bound.terms(setting, plan)
            if not terms:
                raise TypeError("evaluate gives no term")
            for name, value in terms.items():
                if not is_real_between(value):
                    raise TypeError(f"the term {name} is no number, but {value!r}")
            value = self.bound.combined(terms)
            if not is_real_between(value, 0):
                raise ValueError(f"a bound is at least 0, and this one is {value!r}")
            failures = self.bound.failures(setting)
            if not all(isinstance(sentence, str) for sentence in failures):
                raise TypeError("the check of a hypothesis gives no sentence")
            return {str(name): float(value) for name, value in terms.items()}, failures

        try:
            outcome: tuple[dict[str, float], tuple[str, ...]] = guarded(
                run, self._label, self.path
            )()
        except CodeFailed as problem:
            return str(problem)
        return outcome


def added_bound(bound: Bound, path: str) -> AddedBound:
    """Return a plugin's bound in the form that the catalogue holds, in which no error escapes.

    An error in its code becomes NaN or a failed hypothesis. `path` is that of the plugin's file.
    """
    label = f"bound={bound.card.slug}"

    def number(call: Any) -> Any:
        """Return a plugin's function of a letter or a frontier, with NaN in place of errors."""
        safe = guarded(call, label, path)

        def value_or_nan(argument: Any) -> float:
            """Return the plugin's number; NaN where its code fails."""
            try:
                value = safe(argument)
            except CodeFailed:
                return math.nan
            return float(value) if is_real_between(value) else math.nan

        return value_or_nan

    def guarded_check(check: Any) -> Any:
        """Return a hypothesis's check that returns the sentence of its own error, if it has one."""
        safe = guarded(check, label, path)

        def failure(setting: Setting) -> str:
            """Return the sentence of the plugin's check, or the error of its code."""
            try:
                return str(safe(setting) or "")
            except CodeFailed as problem:
                return str(problem)

        return failure

    optimal = bound.optimal
    return AddedBound(
        card=bound.card,
        evaluate=bound.evaluate,
        combine=bound.combine,
        hypotheses=tuple(replace(h, check=guarded_check(h.check)) for h in bound.hypotheses),
        letters=tuple(replace(letter, value=number(letter.value)) for letter in bound.letters),
        optimal=None if optimal is None else replace(optimal, epsilon=number(optimal.epsilon)),
        bound=bound,
        path=path,
    )


def guard_method(family: type[Method], path: str) -> None:
    """Wrap `plan` and `release` of a plugin's class of methods, and where its stage puts records.

    Their errors and wrong results become one sentence each.
    """
    label = f"method={family.card.slug}"
    for name, check, passes in (
        ("plan", _wrong_plan, (NotApplicable,)),
        ("release", _wrong_release, (BudgetExceeded,)),
    ):
        method = _with_its_own_noise(getattr(family, name))
        setattr(family, name, guarded(method, label, path, check, passes))
    stage = family.stage
    if stage.place is not None:
        family.stage = replace(stage, place=guarded(stage.place, label, path))


def _with_its_own_noise(call: Callable[..., Any]) -> Callable[..., Any]:
    """Return a plugin's function that fails if it draws from numpy's global generator.

    A run with such draws could not be repeated by its seed, and its ledger would not know of them.
    """

    @wraps(call)
    def watched(*positional: Any, **keywords: Any) -> Any:
        """Call the plugin's code, and raise `TypeError` if it has used np.random."""
        state_before = _global_state()
        result = call(*positional, **keywords)
        if _global_state() != state_before:
            raise TypeError("np.random is used: draw from the rng given")
        return result

    return watched


def _global_state() -> tuple[object, ...]:
    """Return the state of numpy's global generator."""
    name, words, *rest = np.random.get_state(legacy=True)  # noqa: NPY002 - watched, not used
    return (name, np.asarray(words).tobytes(), *rest)


def guard_law(family: type[Distribution], path: str) -> None:
    """Wrap the methods and properties of a plugin's law, so that errors are one sentence each."""
    label = f"distribution={family.card.slug}"
    for name, member in list(vars(family).items()):
        if name in ANSWERS and not overrides_answer(family, name):
            continue
        check: Check = CHECKS.get(name, accept_any)
        if isinstance(member, property) and member.fget is not None:
            setattr(family, name, property(guarded(member.fget, label, path, check)))
        elif callable(member) and (not name.startswith("__") or name == "__post_init__"):
            passes = (InvalidInput,) if name == "__post_init__" else ()
            setattr(family, name, guarded(member, label, path, check, passes))
    if overrides_answer(family, "univariate"):
        _guard_univariate(family, label, path)


def _guard_univariate(family: type[Distribution], label: str, path: str) -> None:
    """Wrap the law of a coordinate that a plugin's law returns, as `guard_law` does the law."""
    get_marginal = family.univariate.fget  # type: ignore[attr-defined]

    def univariate(law: Distribution) -> Univariate | None:
        """Return the plugin's univariate law, whose own methods are guarded."""
        marginal: Univariate | None = get_marginal(law)
        kind = type(marginal)
        is_added_kind = kind.__module__ == family.__module__ and not hasattr(kind, "_guarded")
        for name, method in list(vars(kind).items()) if is_added_kind else ():
            if callable(method) and not name.startswith("__"):
                setattr(kind, name, guarded(method, label, path))
        if is_added_kind:
            kind._guarded = True  # type: ignore[union-attr]
        return marginal

    family.univariate = property(univariate)  # type: ignore[assignment, method-assign]


@lru_cache(maxsize=1024)
def try_law(law: Distribution) -> None:
    """Call everything that a run needs of a plugin's law, and raise `CodeFailed` on an error.

    Two records are drawn, and a declared law of the coordinate is compared with 2000 draws.
    """
    path = getattr(sys.modules.get(type(law).__module__), "__file__", None) or ""
    label = f"distribution={law.card.slug}"

    def run() -> None:
        """Raise `TypeError` if a moment of the law is not a number in its range."""
        for name, value, low in (
            ("moment(2)", law.moment(2), 0.0),
            ("moment(p)", law.moment(law.moment_order), 0.0),
            ("variance_trace", law.variance_trace, 0.0),
            ("directional_moment", law.directional_moment, 0.0),
            ("tail_index", law.tail_index, law.moment_order),
        ):
            if not is_real_between(value, low):
                raise ValueError(f"{name} is {value!r}")
        law.sample(2, np.random.default_rng(0))
        _compare_coordinate(law)

    guarded(run, label, path)()


def _compare_coordinate(law: Distribution) -> None:
    """Raise `ValueError` if the declared law of a coordinate, if any, does not fit draws of it."""
    marginal = law.univariate
    if marginal is None:
        return
    x = law.noise_law.sample(COMPARED, np.random.default_rng(0)).x[:, 0] + marginal.mean
    x.sort()
    steps = np.arange(COMPARED + 1) / COMPARED
    probabilities = marginal.cdf(x)
    gap = float(max((steps[1:] - probabilities).max(), (probabilities - steps[:-1]).max()))
    distance = abs(marginal.mean) + 1e6 * marginal.scale
    spread = float(
        marginal.integrated_cdf(np.array([distance]))[0]
        - marginal.integrated_cdf(np.array([-distance]))[0]
    )
    if not gap <= LARGEST_GAP / math.sqrt(COMPARED):
        raise ValueError(f"its univariate is not the law of its records: {gap:.2g} apart")
    if not abs(spread - (distance - marginal.mean)) <= 1e-3 * distance:
        raise ValueError("the integrated_cdf of its univariate is not E(x - Y)_+")


def _wrong_plan(plan: Any, *_: Any) -> str:
    """Return what is wrong with a plugin's plan; empty if nothing is."""
    if not isinstance(plan, Plan):
        return f"plan gives no Plan, but {type(plan).__name__}"
    if not isinstance(plan.setting, Setting):
        return "the setting of its plan is none"
    if not is_real_between(plan.passes, 0, 1e300):
        return f"passes of its plan is no finite number, but {plan.passes!r}"
    if plan.gradients is not None and not is_real_between(plan.gradients, 0, 1e300):
        return f"gradients of its plan is no number, but {plan.gradients!r}"
    return ""


def _wrong_release(release: Any, method: Any, records: Any, plan: Plan, *_: Any) -> str:
    """Return what is wrong with a plugin's release; empty if nothing is."""
    if not isinstance(release, Release):
        return f"release gives no Release, but {type(release).__name__}"
    value, d = release.value, plan.setting.d
    if not isinstance(value, np.ndarray) or value.dtype.kind not in "fiu" or value.shape != (d,):
        kind = f"shape {value.shape}" if isinstance(value, np.ndarray) else type(value).__name__
        return f"value must have shape ({d},) and be real, got {kind}"
    if not np.isfinite(value).all():
        return "value must be finite, got NaN or an infinity"
    diagnostics = release.diagnostics
    if not isinstance(diagnostics, Mapping) or not all(
        is_real_between(number) for number in diagnostics.values()
    ):
        return "diagnostics must be numbers by name"
    if not isinstance(release.notes, tuple) or not all(isinstance(n, str) for n in release.notes):
        return "notes must be a tuple of sentences"
    return ""


def _wrong_number(value: Any, *_: Any) -> str:
    """Return what is wrong with a plugin's moment or tail index; empty if nothing is."""
    return (
        "" if is_real_between(value) else f"a moment or the tail index is no number, but {value!r}"
    )


def _wrong_rows(_: Any, law: Any, out: Any, *__: Any) -> str:
    """Return what is wrong with the rows that a plugin's law has drawn; empty if nothing is."""
    return "" if np.isfinite(out).all() else "a record that it draws is not finite"


def _wrong_univariate(value: Any, *_: Any) -> str:
    """Return what is wrong with a plugin's univariate law; empty if nothing is."""
    is_univariate = value is None or isinstance(value, Univariate)
    return "" if is_univariate else f"its univariate is no Univariate, but {type(value).__name__}"


CHECKS: dict[str, Check] = {
    "univariate": _wrong_univariate,
    "_log_moment": _wrong_number,
    "tail_index": _wrong_number,
    "_fill_centred": _wrong_rows,
    "fill": _wrong_rows,
}
