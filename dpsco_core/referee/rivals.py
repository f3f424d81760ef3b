"""A claim beside what is proven: the bounds that it may not pass, and its distance from the best.

A claimed upper bound on the expected error of a method for a whole class of data may not be below a
lower bound for that class of data and of algorithms; a claimed lower bound may not be above an
upper bound. Both are evaluated at the constants that the class certifies, as in
`dpsco_core.explain.window`.
"""

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from dpsco_core.base.cards import BINDING
from dpsco_core.bounds import Bound
from dpsco_core.bounds.classes import binding, covered, laws_for, of_class
from dpsco_core.catalogue import bounds_for, problem_card
from dpsco_core.problems.base import Setting
from dpsco_core.referee.places import wide_places
from dpsco_core.referee.report import (
    LEAST_SHARE,
    Check,
    Judgement,
    Progress,
    place_words,
)
from dpsco_core.results.commands import command_flags
from dpsco_core.scenario import Scenario

ROUNDING = 1e-9
LEAST_GROWTH = 0.05  # The least power of an axis that counts as growth of an unstated constant.
AXES = {"n": (10**2, 10**5, 10**8), "d": (1, 30, 1000), "diameter": (0.1, 10.0, 1000.0)}
MOST_ROWS = 6
LEAST_PLACES = 9  # the least number of settings that are tried, however little time there is


@dataclass(frozen=True, kw_only=True)
class Rival:
    """A proven bound for the same setting as a claim."""

    point: Scenario
    claim: float
    value: float
    slug: str

    def excess(self, kind: str) -> float:
        """Return the factor by which the claim contradicts the bound; at most 1 if it does not."""
        larger, smaller = (self.value, self.claim) if kind == "upper" else (self.claim, self.value)
        return larger / smaller if smaller > 0 else math.inf


def class_setting(point: Scenario) -> Setting:
    """Return a point's setting with the constants of its class of distributions only."""
    return of_class(point.setting, laws_for(problem_card(point.problem).loss_class))


def sharpest_rival(claim: Bound, point: Scenario) -> Rival | None:
    """Return the sharpest proven bound of the opposite kind at a point; None if there is none.

    Return None also where the claim's hypotheses fail, or where its value is not finite.
    """
    setting = class_setting(point)
    if claim.failures(setting):
        return None
    value = claim.value(setting)
    candidates = _opposite_bounds(claim, point)
    if not 0 <= value < math.inf or not candidates:
        return None
    sharpest = (max if claim.card.kind == "upper" else min)(candidates)
    return Rival(point=point, claim=value, value=sharpest[0], slug=sharpest[1])


def _opposite_bounds(claim: Bound, point: Scenario) -> list[tuple[float, str]]:
    """Return pairs (value, slug) of the proven bounds of the other kind that limit the claim."""
    card = replace(claim.card, constant="explicit", guarantee="expectation")
    loss = problem_card(point.problem).loss_class
    is_special = loss.curvature == "linear" or loss.squared_distance
    values = []
    for place in (point, *_at_gaussian_rho(claim, point)):
        setting = class_setting(place)
        for bound in bounds_for(place.problem, place.level):
            if point.geometry == "l2" and bound.card.geometry == "lq" and not is_special:
                continue
            upper, lower = (card, bound.card) if card.kind == "upper" else (bound.card, card)
            if not upper.is_comparable_with(lower, covered(upper, setting)):
                continue
            is_bound_by = card.kind == "lower" or lower.privacy in binding(place.budget)
            if not is_bound_by or not bound.card.applies_to(loss) or bound.failures(setting):
                continue
            value = bound.value(setting)
            if 0 < value < math.inf and bound.card.slug != card.slug:
                values.append((value, bound.card.slug))
    return values


def _at_gaussian_rho(claim: Bound, point: Scenario) -> tuple[Scenario, ...]:
    """Return the point at the rho of Gaussian releases, if the claim is about zCDP."""
    if claim.card.privacy != "zcdp" or not point.delta:
        return ()
    return (replace(point, epsilon=None, delta=None, rho=point.setting.rho),)


def check_rivals(
    claim: Bound,
    base: Scenario,
    files: Sequence[str] = (),
    deadline: float = math.inf,
    progress: Progress = lambda _: None,
) -> Check:
    """Compare a claim with proven bounds at many settings; no trial is run.

    After `deadline`, a value of `time.monotonic`, no further setting is looked at.
    """
    name = "Against lower bounds" if claim.card.kind == "upper" else "Against upper bounds"
    opposite = "lower" if claim.card.kind == "upper" else "upper"
    rivals: list[Rival] = []
    count = 0
    for point in wide_places(base):
        if count >= LEAST_PLACES and time.monotonic() > deadline:
            break
        count += 1
        progress(f"against proven bounds: setting {count}")
        rival_here = sharpest_rival(claim, point)
        if rival_here is not None:
            rivals.append(rival_here)
    if not rivals:
        opening = f"No {opposite} bound with proven constants is comparable at any of {count} "
        text = f"{opening}settings where the hypotheses hold."
        return Check(name=name, verdict="not checked", sentence=text)
    kind = claim.card.kind
    rivals.sort(key=lambda r: -r.excess(kind))
    rows = tuple(
        (place_words(r.point), r.claim, r.value, r.excess(kind), r.slug) for r in rivals[:MOST_ROWS]
    )
    columns = ("setting", "claim", f"{opposite} bound", "ratio", "by")
    if claim.card.guarantee != "expectation":
        text = "The claim holds with a probability, and the bounds are on expected errors."
        return Check(name=name, verdict="not checked", sentence=text, columns=columns, rows=rows)
    if claim.card.constant == "rate":
        return _rate_check(claim, base, name, columns, rows)
    worst = [r for r in rivals if r.excess(kind) > 1 + ROUNDING]
    if not worst:
        text = (
            f"At {len(rivals)} of {count} settings the claim can be compared, and is on the right "
            f"side of every {opposite} bound; the closest is at a factor "
            f"{1 / rivals[0].excess(kind):.3g}."
        )
        verdict = _uncontradicted_verdict(len(rivals), count)
        return Check(name=name, verdict=verdict, sentence=text, columns=columns, rows=rows)
    worst.sort(key=lambda r: r.point.n * r.point.d)
    example = _shrink_example(claim, worst[0])
    verb = "below the lower bound" if kind == "upper" else "above the upper bound"
    text = (
        f"At {place_words(example.point)} the claim is {example.claim:.4g}, {verb} "
        f"{example.value:.4g} of {example.slug} for the same class: refuted at {len(worst)} of "
        f"{len(rivals)} settings, without a run."
    )
    rows = ((*_example_row(example, kind),), *rows[: MOST_ROWS - 1])
    return Check(
        name=name,
        verdict="refuted",
        sentence=text,
        columns=columns,
        rows=rows,
        command=f"dpsco bounds {command_flags(example.point, files)} --bound {example.slug}",
    )


def _uncontradicted_verdict(compared: int, count: int) -> Judgement:
    """Return the verdict on a claim that no bound contradicts at `compared` of `count` settings."""
    return "too few settings" if compared < LEAST_SHARE * count else "not refuted"


def _example_row(example: Rival, kind: str) -> tuple[str, float, float, float, str]:
    """Return the table row of an example: setting, claim, proven bound, ratio and bound's slug."""
    words = place_words(example.point)
    return (words, example.claim, example.value, example.excess(kind), example.slug)


def _shrink_example(claim: Bound, example: Rival) -> Rival:
    """Return a counter-example with n and d halved as often as it remains one."""
    has_shrunk = True
    while has_shrunk:
        has_shrunk = False
        for name in ("n", "d"):
            size = getattr(example.point, name) // 2
            if size < 1:
                continue
            smaller = sharpest_rival(claim, replace(example.point, **{name: size}))
            if smaller is not None and smaller.excess(claim.card.kind) > 1 + ROUNDING:
                example, has_shrunk = smaller, True
    return example


def _rate_check(
    claim: Bound,
    base: Scenario,
    name: str,
    columns: tuple[str, ...],
    rows: tuple[tuple[str | float, ...], ...],
) -> Check:
    """Return the check of a rate: its hidden constant, and whether that changes without limit.

    The hidden constant is the least with which an upper rate is nowhere below a proven bound in
    `rows`, or the largest with which a lower rate is nowhere above one.
    """
    least_constant = max(float(row[3]) for row in rows)
    growing = []
    for axis, values in AXES.items():
        excess = []
        for value in values:
            rival_here = sharpest_rival(claim, _with_value(base, axis, value))
            if rival_here is not None:
                excess.append((value, rival_here.excess(claim.card.kind)))
        if len(excess) < len(values) or math.inf in (e for _, e in excess):
            continue
        powers = [
            math.log(excess[i + 1][1] / excess[i][1]) / math.log(values[i + 1] / values[i])
            for i in range(len(values) - 1)
        ]
        if min(powers) > LEAST_GROWTH and excess[-1][1] > 1:
            growing.append(f"{axis}^{powers[-1]:.2g}")
    verdict: Judgement = "contradicts" if growing else "not refuted"
    text = f"The hidden constant has to be at least {least_constant:.3g} at these settings"
    growth_text = f"grows like {' and '.join(growing)}"
    if claim.card.kind == "lower":  # A lower bound holds with a constant that is small enough.
        text = f"The hidden constant has to be at most {1 / least_constant:.3g} at these settings"
        growth_text = f"falls like 1/{' and 1/'.join(growing)}"
    if growing:
        text += f", and {growth_text}: if that persists, no constant will do"
    return Check(name=name, verdict=verdict, sentence=f"{text}.", columns=columns, rows=rows)


def _with_value(base: Scenario, axis: str, value: float) -> Scenario:
    """Return the base with one field changed; a small set gets a mean near its centre."""
    changes: dict[str, Any] = {axis: value}
    if axis == "diameter":
        changes["offset"] = min(base.offset, value / 2)
    return replace(base, **changes)


def check_optimality(claim: Bound, base: Scenario) -> Check:
    """Compare a claim with the best proven bounds of both kinds at the base setting."""
    setting = class_setting(base)
    title = "Optimality"
    if claim.failures(setting) or not 0 < claim.value(setting) < math.inf:
        text = "At the base setting the claim has no value, or a hypothesis fails."
        return Check(name=title, verdict="not checked", sentence=text)
    value = claim.value(setting)
    uppers = [
        (bound.value(setting), bound.card.slug)
        for bound in bounds_for(base.problem, base.level)
        if (bound.card.kind, bound.card.constant, bound.card.guarantee)
        == ("upper", "explicit", claim.card.guarantee)
        and bound.card.quantity == claim.card.quantity
        and claim.card.privacy in BINDING[bound.card.privacy]
        and bound.card.slug != claim.card.slug
        and claim.card.laws in covered(bound.card, setting)
        and bound.card.applies_to(problem_card(base.problem).loss_class)
        and not bound.failures(setting)
    ]
    parts, rows = [], []
    if uppers and math.isfinite(min(uppers)[0]):
        best = min(uppers)
        parts.append(f"{value / best[0]:.3g} times the best upper bound ({best[1]})")
        rows.append(("best upper bound", best[0], value / best[0], best[1]))
    lower = sharpest_rival(claim, base) if claim.card.kind == "upper" else None
    if lower is not None:
        parts.append(f"{value / lower.value:.3g} times the best lower bound ({lower.slug})")
        rows.append(("best lower bound", lower.value, value / lower.value, lower.slug))
    if not parts:
        text = "No bound with proven constants is comparable at the base setting."
        return Check(name=title, verdict="not checked", sentence=text)
    return Check(
        name=title,
        verdict="for information",
        sentence=f"At {place_words(base)} the claim is {value:.4g}: {' and '.join(parts)}.",
        columns=("what", "value", "claim over it", "by"),
        rows=tuple(rows),
    )


def check_hypotheses(claim: Bound, points: Sequence[Scenario]) -> Check:
    """Return the check of how often each hypothesis fails at the settings of the trials.

    The verdict is "too few settings" where the claim is tried at hardly any of them: that nothing
    refutes it there says little.
    """
    failures: dict[str, list[str]] = {}
    for point in points:
        setting = claim.setting_of_statement(point.setting)
        for hypothesis in claim.hypotheses:
            if sentence := hypothesis.check(setting):
                failures.setdefault(hypothesis.text, []).append(sentence)
    holding = sum(not claim.failures(point.setting) for point in points)
    verdict: Judgement = "for information" if holding else "not checked"
    if 0 < holding < LEAST_SHARE * len(points):
        verdict = "too few settings"
    return Check(
        name="Hypotheses",
        verdict=verdict,
        sentence=f"All hypotheses hold at {holding} of the {len(points)} settings where the method "
        "runs; the claim is tried at these alone.",
        columns=("hypothesis", "fails at", "example") if failures else (),
        rows=tuple((text, len(cases), cases[0]) for text, cases in failures.items()),
    )
