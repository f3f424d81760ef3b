"""What the run of a lesson showed: the answer to its question, in a sentence with its numbers."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from dpsco_app.lessons.plane import is_hit, rounds_of
from dpsco_app.parts.error_parts import PART_NAMES, percents
from dpsco_app.parts.options import at_most, inside, number_text, separated_names, short_text
from dpsco_core.catalogue import method_card
from dpsco_core.explain.budgets import guess_ceiling
from dpsco_core.explain.fano import by_hand
from dpsco_core.explain.lessons import (
    ADAPTIVE,
    ADDED,
    BIAS,
    BLIND,
    CUT,
    ERRORS,
    EXACT,
    GAME_EPSILON,
    GAUSSIAN,
    NOISE,
    PRIVATE,
    RIGHT,
    SAMPLING,
    SIZES,
    STUDENT,
    SUMMED,
    LessonRow,
    SeriesPoint,
)
from dpsco_core.runs.study import Outcome

ALIKE = 1.15  # Two errors whose ratio is at most this count as equal.
FREE = 1.1
NONE_CUT, MOST_CUT = 0.01, 0.5


@dataclass(frozen=True, kw_only=True)
class LessonEvidence:
    """What a lesson has measured."""

    points: tuple[SeriesPoint, ...]  # The measured points; a study has a series for each method.
    outcomes: tuple[Outcome, ...] = ()  # The outcomes of a study's cells.
    second_points: tuple[SeriesPoint, ...] = ()  # Those on the second constraint set.
    # The largest proven lower bound at each point of the grid.
    floor: Mapping[float, float] = field(default_factory=dict)
    # The error of the starting point, which ignores the data, at each point of the grid.
    start: Mapping[float, float] = field(default_factory=dict)
    rows: tuple[LessonRow, ...] = ()  # The rows of an experiment, one for every trial.


@dataclass(frozen=True, kw_only=True)
class LessonFinding:
    """The answer: the key of a choice or a number, a headline, and a sentence with numbers."""

    answer: str | float
    headline: str
    text: str
    # The lower end of the interval that contains the number; its upper end is `answer`.
    lower_end: float | None = None


Find = Callable[[LessonEvidence], LessonFinding]
Curve = dict[float, float]  # A line as a mapping from x to its height.
short = partial(short_text, digits=2)


def curve(points: Sequence[SeriesPoint], name: str, column: str = "mean") -> Curve:
    """Return the values in a column for a method or an experiment's line, ordered by x."""
    points_of_line = sorted((p for p in points if p.series == name), key=lambda p: p.x)
    return {p.x: getattr(p, column) for p in points_of_line}


def first_height(line: Curve) -> float:
    """Return the value at the first point of a line."""
    return next(iter(line.values()))


def last_height(line: Curve) -> float:
    """Return the value at the last point of a line."""
    return next(reversed(line.values()))


def lowest_x(line: Curve) -> float:
    """Return the x at which a line is lowest."""
    return min(line, key=line.__getitem__)


def quotients(line: Curve, divisor: Curve) -> Curve:
    """Return the ratio of one line to another at each x of the first."""
    return {x: y / divisor[x] for x, y in line.items()}


def at_end(points: Sequence[SeriesPoint], method: str) -> float:
    """Return the value of a method's curve at its last point."""
    return last_height(curve(points, method))


def added_risk(points: Sequence[SeriesPoint]) -> float:
    """Return the risk that privacy adds to objective perturbation at the last x."""
    return at_end(points, "sco.objective-perturbation") - at_end(points, "sco.erm")


def average_value(points: Sequence[SeriesPoint], name: str) -> float:
    """Return the mean of a line over all its trials, or the root mean square if it has errors."""
    points_of_line = [p for p in points if p.series == name]
    power = 2 if name in ERRORS else 1
    whole = sum(p.mean**power * p.trials for p in points_of_line) / sum(
        p.trials for p in points_of_line
    )
    return float(whole ** (1 / power))


def errors_of(outcomes: Sequence[Outcome]) -> dict[str, list[float]]:
    """Return the errors of all samples, by method."""
    errors: dict[str, list[float]] = {}
    for outcome in outcomes:
        errors.setdefault(outcome.method, []).append(outcome.error)
    return errors


def worst_of_a_hundred(outcomes: Sequence[Outcome]) -> dict[str, float]:
    """Return, for each method, the sample error that one sample in a hundred reaches.

    The value is the error of an actual sample: between two samples nothing was measured.
    """
    return {
        method: float(np.quantile(errors, 0.99, method="higher"))
        for method, errors in errors_of(outcomes).items()
    }


def _start_of_lasting(holds: Mapping[float, bool]) -> float:
    """Return the least x such that `holds` is true at this x and at every larger one."""
    xs = sorted(holds)
    return next(x for i, x in enumerate(xs) if all(holds[later] for later in xs[i:]))


def largest_record(evidence: LessonEvidence) -> LessonFinding:
    """Return the finding of lesson 1: the median of the largest record of the
    heavy-tailed samples.
    """
    heavy, light = (curve(evidence.points, law, "median")[SIZES[-1]] for law in (STUDENT, GAUSSIAN))
    return LessonFinding(
        answer=heavy,
        headline=f"The largest heavy-tailed record is {short(heavy / light)} times the largest "
        "Gaussian one, and goes on growing",
        text=f"In half of the samples the largest of 10,000 heavy-tailed records is above "
        f"**{short(heavy)}**, the largest Gaussian one above **{short(light)}**.",
    )


def sturdier_average(evidence: LessonEvidence) -> LessonFinding:
    """Return the finding of lesson 2: sample mean against median of means, in the median and the
    worst of 100.
    """
    mean, sturdy = "mean.sample", "mean.median-of-means"
    errors = errors_of(evidence.outcomes)
    typical = {method: float(np.median(own)) for method, own in errors.items()}
    worst = worst_of_a_hundred(evidence.outcomes)
    ratios = (typical[mean] / typical[sturdy], worst[mean] / worst[sturdy])
    kinds = tuple("sturdy" if r > ALIKE else "mean" if r < 1 / ALIKE else "alike" for r in ratios)
    answers: dict[tuple[str, ...], str] = {("sturdy", "sturdy"): "sturdy", ("mean", "mean"): "mean"}
    return LessonFinding(
        answer=answers.get(kinds, "split" if kinds == ("alike", "sturdy") else "other"),
        headline=f"In the worst of a hundred samples the sample mean is {short(ratios[1])} times "
        "as far off as the median of means",
        text=f"In a typical sample the sample mean has an error of **{typical[mean]:.2g}** and the "
        f"median of means of **{typical[sturdy]:.2g}**; in the worst of a hundred, of "
        f"**{worst[mean]:.2g}** and **{worst[sturdy]:.2g}**.",
    )


def right_guesses(evidence: LessonEvidence) -> LessonFinding:
    """Return the finding of lesson 3: the share of right guesses in percent."""
    share = 100 * average_value(evidence.points, RIGHT)
    guesses = int(sum(p.x * p.trials for p in evidence.points if p.series == RIGHT))
    ceiling = guess_ceiling(GAME_EPSILON)
    return LessonFinding(
        answer=share,
        headline=f"The spy is right in {share:.0f} % of the cases; ε allows {100 * ceiling:.0f} %",
        text=f"Of {guesses:,} guesses **{share:.1f} %** were right. ε = {GAME_EPSILON:g} allows "
        f"at most {at_most(ceiling)}, whatever the noise.",
    )


def share_cut(evidence: LessonEvidence) -> LessonFinding:
    """Return the finding of lesson 4: the share of the records that the best radius clips."""
    private = curve(evidence.points, PRIVATE)
    best = lowest_x(private)
    share = curve(evidence.points, CUT)[best]
    squares = {p: curve(evidence.points, p)[best] ** 2 for p in (SAMPLING, BIAS, NOISE)}
    shares = ", ".join(
        f"{PART_NAMES[p]} **{percent} %**" for p, percent in percents(squares).items()
    )
    ends = f"{short(first_height(private))} at the smallest radius"
    return LessonFinding(
        answer="none" if share < NONE_CUT else "most" if share > MOST_CUT else "some",
        headline=f"The best radius, {number_text(best)}, clips {100 * share:.0f} % of the records: "
        "a smaller one adds bias, a larger one noise",
        text=f"The private average has its least error, **{short(private[best])}**, at the radius "
        f"**{number_text(best)}**, which clips **{100 * share:.0f} %** of the records. Its square "
        f"is the sum of the squares of its parts: {shares}. The private error is {ends}, "
        f"{short(last_height(private))} at the largest.",
    )


def private_look(evidence: LessonEvidence) -> LessonFinding:
    """Return the finding of lesson 5: the error with a private look at the lengths over the least
    with a fixed radius.
    """
    private = curve(evidence.points, PRIVATE)
    adaptive, blind = (average_value(evidence.points, name) for name in (ADAPTIVE, BLIND))
    best = lowest_x(private)
    least_error = private[best]
    names = [method_card(m).name for m in ("mean.adaptive", "mean.clipped")]
    factor = f"{short(adaptive / least_error)} times"
    return LessonFinding(
        answer=adaptive / least_error,
        headline=f"{names[0]}: {factor} the error of the best fixed radius. {names[1]}: "
        f"{short(blind / least_error)} times",
        text=f"The best of all fixed radii, {number_text(best)}, has an error of "
        f"**{short(least_error)}**. {names[0]} has {short(adaptive)}, **{factor}** that error; "
        f"{inside(names[1])}, which chooses its radius without looking, {short(blind)}, "
        f"**{short(blind / least_error)} times** as much.",
    )


def fall_of_error(evidence: LessonEvidence) -> LessonFinding:
    """Return the finding of lesson 6: how many times the private error falls from the first n to
    the last.
    """
    private, public = (curve(evidence.points, m) for m in ("mean.clipped", "mean.sample"))
    ratio, plain = (first_height(c) / last_height(c) for c in (private, public))
    smallest, largest = (number_text(x) for x in (min(private), max(private)))
    return LessonFinding(
        answer=ratio,
        headline=f"The private error falls by a factor of {short(ratio)}; without privacy by a "
        f"factor of {short(plain)}",
        text=f"From n = {smallest} to n = {largest} the private error falls from "
        f"{short(first_height(private))} to {short(last_height(private))}, by a factor of "
        f"**{short(ratio)}**; without privacy by a factor of **{short(plain)}**.",
    )


def epsilon_of_free_privacy(evidence: LessonEvidence) -> LessonFinding:
    """Return the finding of lesson 7: the smallest epsilon from which on the private error is
    within 10 % of that without privacy.
    """
    private, public = (curve(evidence.points, m) for m in ("mean.clipped", "mean.sample"))
    ratios = quotients(private, public)
    free = _start_of_lasting({x: ratio <= FREE for x, ratio in ratios.items()})
    largest, low = short(first_height(ratios)), number_text(min(ratios))
    return LessonFinding(
        answer=free,
        headline=f"From ε = {number_text(free)} on privacy is free; at ε = {low} it costs "
        f"{largest} times the error",
        text=f"At ε = {low} the private error is **{largest} times** that without privacy; from "
        f"ε = **{number_text(free)}** on it is at most 10 % above.",
    )


def laplace_over_gaussian(evidence: LessonEvidence) -> LessonFinding:
    """Return the finding of lesson 8: the error with Laplace noise over that with Gaussian noise at
    the last d.
    """
    laplace, gaussian = (curve(evidence.points, m) for m in ("mean.cwme-pure", "mean.cwme-cdp"))
    ratios = quotients(laplace, gaussian)
    smallest, largest = (number_text(d) for d in (min(ratios), max(ratios)))
    ratio = last_height(ratios)
    return LessonFinding(
        answer=ratio,
        headline=f"At d = {largest} the error with Laplace noise is {short(ratio)} times that with "
        "Gaussian noise",
        text=f"At d = {largest} the error is **{short(last_height(laplace))}** with Laplace noise "
        f"and **{short(last_height(gaussian))}** with Gaussian noise, a ratio of {short(ratio)}. "
        f"At d = {smallest} the ratio is {short(first_height(ratios))}.",
    )


# The private methods compared in lesson 9.
COMPARED = ("sco.cwme", "sco.clipped")


def least_risk(evidence: LessonEvidence) -> LessonFinding:
    """Return the finding of lesson 9: the answer with the least risk at the smallest n; "start" is
    the answer without data.
    """
    curves = {m: curve(evidence.points, m) for m in ("sco.erm", *COMPARED)}
    n, largest = (end(p.x for p in evidence.points) for end in (min, max))
    left = {m: curves[m][n] for m in COMPARED} | {"start": evidence.start[n]}
    best = min(left, key=left.__getitem__)
    names = {m: inside(method_card(m).name) for m in COMPARED} | {"start": "ignoring the data"}
    winner = min(COMPARED, key=lambda m: curves[m][largest])
    ratio = short(curves[winner][largest] / curves["sco.erm"][largest])
    risks = separated_names([f"{names[k]} **{short(v)}**" for k, v in left.items()])
    return LessonFinding(
        answer=best,
        headline=f"At n = {number_text(n)} {names[best]} is best; at n = {number_text(largest)} "
        f"{names[winner]}: {ratio} times the best fit",
        text=f"The risk that is left at n = {number_text(n)}: {risks}. At n = "
        f"{number_text(largest)}, the least is that with {names[winner]}: **{ratio} times** the "
        "risk of the best fit without privacy.",
    )


def width_gain(evidence: LessonEvidence) -> LessonFinding:
    """Return the finding of lesson 10: what privacy adds on the l2 ball over what it adds on the l1
    ball.
    """
    cross, ball = evidence.points, evidence.second_points
    largest, parts = max(p.x for p in cross), (added_risk(cross), added_risk(ball))
    ratio, sampling = parts[1] / parts[0], at_end(ball, "sco.erm") / at_end(cross, "sco.erm")
    prices = [1 + part / at_end(t, "sco.erm") for part, t in zip(parts, (cross, ball), strict=True)]
    useless = (
        " On the ℓ₂ ball that is more than the risk of the answer 0, which uses no data."
        if at_end(ball, "sco.objective-perturbation") > evidence.start.get(largest, math.inf)
        else ""
    )
    return LessonFinding(
        answer=ratio,
        headline=f"At d = {number_text(largest)} privacy adds {short(ratio)} times less risk on "
        "the ℓ₁ ball than on the ℓ₂ ball",
        text=f"At d = {number_text(largest)} privacy adds a risk of **{short(parts[0])}** on the "
        f"ℓ₁ ball and of **{short(parts[1])}** on the ℓ₂ ball.{useless} Without privacy the risk "
        f"is **{short(sampling)} times** smaller on the ℓ₁ ball, so as a multiple of it privacy "
        f"costs **{short(prices[0])} times** the excess risk on the ℓ₁ ball and "
        f"**{short(prices[1])} times** on the ℓ₂ ball.",
    )


def items_at_which_filter_pays(evidence: LessonEvidence) -> LessonFinding:
    """Return the finding of lesson 11: the values of m between which the first method's error
    becomes the smaller one.
    """
    methods = ("user.accelerated", "user.clipped-means")
    filtered, plain = (curve(evidence.points, m) for m in methods)
    names = [method_card(m).name for m in methods]
    blank = {x: evidence.start[x] for x in filtered}
    pays, useful = (
        _start_of_lasting({x: y < line[x] for x, y in filtered.items()}) for line in (plain, blank)
    )
    smallest, largest = min(filtered), next((m for m in filtered if m >= 10 * pays), max(filtered))
    loss, gain = (
        short(filtered[smallest] / plain[smallest]),
        short(plain[largest] / filtered[largest]),
    )
    lower_end = max((x for x in filtered if x < pays), default=None)
    place = f"**{number_text(pays)}**"
    if lower_end is not None:  # The crossing lies between two points of the grid.
        place = f"**{number_text(lower_end)}** to {place}"
    place = f"once users hold {place} items"
    remark = f" Not before m = **{number_text(useful)}** do they beat the answer 0, without data."
    remark *= useful > smallest
    baseline = f" {names[1]} never do." * all(y > blank[x] for x, y in plain.items())
    return LessonFinding(
        answer=pays,
        headline=f"{names[0]} win {place.replace('**', '')}",
        lower_end=lower_end,
        text=f"{names[0]} have the smaller error {place}. "
        f"At m = {number_text(smallest)} their error is **{loss} times** that of "
        f"{inside(names[1])}; at m = {number_text(largest)} it is **{gain} times** smaller."
        f"{remark}{baseline}",
    )


def above_floor(evidence: LessonEvidence) -> LessonFinding:
    """Return the finding of lesson 12: the error of simple clipping over the proven lower bound at
    the last n.
    """
    largest, floor = max(evidence.floor.items())
    ratio, name = at_end(evidence.points, "mean.clipped") / floor, method_card("mean.clipped").name
    return LessonFinding(
        answer=ratio,
        headline=f"The error of {inside(name)} is {short(ratio)} times the proven limit",
        text=f"At n = {number_text(largest)} the error of {inside(name)} is **{short(ratio)} "
        f"times** the proven limit, {short(floor)}. The lines of the private algorithms stay above "
        "the shaded region.",
    )


def named_candidate(evidence: LessonEvidence) -> LessonFinding:
    """Return the finding of lesson 13: the likeliest candidate of the first round, and how many
    of ten rounds, and of all, are hits.
    """
    rows = [row for row in evidence.rows if row.series == by_hand.SHARE]
    games = sum(row.x for row in rows)
    share = sum(row.x * row.value for row in rows) / games
    rounds = rounds_of(evidence.rows)
    first_round, hits, count = rounds[0], sum(map(is_hit, rounds)), len(rounds)
    likeliest = by_hand.nearest(first_round.x, first_round.value)
    limit, limit_of_20 = (by_hand.naming_chance(d) for d in (by_hand.SIGNS, 20))
    blind_hits, most_hits = (f"{count * p:.1f}" for p in (1 / len(by_hand.CANDIDATES), limit))
    larger = by_hand.proof(20)
    outcome = "and was" if is_hit(first_round) else "yet it was not"
    return LessonFinding(
        answer=likeliest,
        headline=f"{hits} of {count} secrets named: blind guessing gets {blind_hits} on average, "
        f"and no private algorithm more than {most_hits}",
        text=f"The candidate nearest to the star is the likeliest, {outcome} the secret of this "
        f"round: a single round is luck. In {count} rounds, each with a new secret, naming the "
        f"nearest one is right **{hits} times**; in {games:,.0f} rounds, **{count * share:.1f} "
        f"times in {count}**. A blind guess is right {blind_hits} times in {count} on average, and "
        f"the theorem allows no ρ-zCDP algorithm more than **{most_hits} times**. With 20 signs of "
        f"size 1 instead of two it allows {100 * limit_of_20:.2f} % of the rounds, and then any "
        f"private estimate of the signs is on average at least **{larger.nearest:.1f}** away from "
        f"them. Always answering 0 is {larger.farthest:.1f} away.",
    )


def sum_of_budgets(evidence: LessonEvidence) -> LessonFinding:
    """Return the finding of lesson 14: the epsilon of all releases if their rhos are added before
    the conversion.
    """
    added, summed, exact = (at_end(evidence.points, name) for name in (ADDED, SUMMED, EXACT))
    count = number_text(max(p.x for p in evidence.points))
    return LessonFinding(
        answer=summed,
        headline=f"{count} releases cost ε = {short(summed)} together, not {short(added)}",
        text=f"Adding ρ gives **ε = {short(summed)}** for {count} releases, by the formula that "
        f"holds for every zCDP algorithm; for Gaussian noise alone it is {short(exact)}. Adding "
        f"an ε for each release gives **{short(added)}**, {short(added / summed)} times as much.",
    )
