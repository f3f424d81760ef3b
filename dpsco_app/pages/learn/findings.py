"""What the run of a lesson found: the answer to its question, with its numbers in a sentence."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pandas as pd

from dpsco_app.parts.options import number_text
from dpsco_core.catalogue import method_card
from dpsco_core.explain.lessons import (
    CLIPPED,
    CUT,
    GAME_EPSILON,
    GAUSSIAN,
    PRIVATE,
    RIGHT,
    SIZES,
    STUDENT,
    guess_ceiling,
)

ALIKE = 1.15  # two errors within this factor count as the same
FREE = 1.1
NONE_CUT, MOST_CUT = 0.01, 0.5
NEVER = "never"


@dataclass(frozen=True, kw_only=True)
class LessonEvidence:
    """What a lesson has measured.

    Parameters
    ----------
    table : DataFrame
        The `summary` of a study, or the `series_table` of an experiment.
    errors : DataFrame, optional
        The `frame` of a study: every trial.
    beside : DataFrame, optional
        The `summary` on the second set.
    floor : dict of x to value
        The largest proven lower bound at the points of the grid.
    start : dict of x to risk
        What the starting point leaves, which uses no data.
    """

    table: pd.DataFrame
    errors: pd.DataFrame | None = None
    beside: pd.DataFrame | None = None
    floor: dict[float, float] | None = None
    start: dict[float, float] | None = None


@dataclass(frozen=True, kw_only=True)
class LessonFinding:
    """The answer: the key of a choice or a number, a headline, and a sentence with numbers."""

    answer: str | float
    headline: str
    said: str


Find = Callable[[LessonEvidence], LessonFinding]


def short(value: float) -> str:
    """Return a number with two digits, as people write it."""
    return number_text(float(f"{value:.2g}"))


def inside(name: str) -> str:
    """Return a name as it is written inside a sentence."""
    return name[0].lower() + name[1:]


def _error(table: pd.DataFrame, method: str, x: float) -> float:
    """Return the mean error of a method at a point."""
    (found,) = table.loc[(table["method"] == method) & (table["x"] == x), "mean_error"]
    return float(found)


def _curve(table: pd.DataFrame, method: str) -> pd.Series:
    """Return the mean error of a method by x."""
    rows = table[table["method"] == method].sort_values("x")
    return pd.Series(rows["mean_error"].to_numpy(), index=rows["x"].to_numpy())


def _series(table: pd.DataFrame, name: str, column: str) -> pd.Series:
    rows = table[table["series"] == name].sort_values("x")
    return pd.Series(rows[column].to_numpy(), index=rows["x"].to_numpy())


def largest_record(evidence: LessonEvidence) -> LessonFinding:
    """Lesson 1: the median of the largest record of the heavy-tailed samples."""
    n = float(SIZES[-1])
    heavy = float(_series(evidence.table, STUDENT, "median")[n])
    light = float(_series(evidence.table, GAUSSIAN, "median")[n])
    return LessonFinding(
        answer=heavy,
        headline=f"The largest heavy-tailed record is {short(heavy / light)} times the largest "
        "Gaussian one, and goes on growing",
        said=f"In half of the samples the largest of 10,000 heavy-tailed records is above "
        f"**{short(heavy)}**, the largest Gaussian one above **{short(light)}**.",
    )


def sturdier(evidence: LessonEvidence) -> LessonFinding:
    """Lesson 2: sample mean against median of means, in the median and the worst of 100."""
    errors = evidence.errors
    assert errors is not None
    by_method = errors.groupby("method")["error"]
    mean, sturdy = "mean.sample", "mean.median-of-means"
    typical, worst = by_method.quantile(0.5), by_method.quantile(0.99)
    ratios = (float(typical[mean] / typical[sturdy]), float(worst[mean] / worst[sturdy]))
    kinds = tuple("sturdy" if r > ALIKE else "mean" if r < 1 / ALIKE else "alike" for r in ratios)
    answers = {("sturdy", "sturdy"): "sturdy", ("mean", "mean"): "mean"}
    in_the_worst = {
        "sturdy": f"{short(ratios[1])} times as far off as the median of means",
        "mean": f"only {short(ratios[1])} times as far off as the median of means",
        "alike": "as far off as the median of means",
    }[kinds[1]]
    return LessonFinding(
        answer=answers.get(kinds, "split" if kinds == ("alike", "sturdy") else "other"),
        headline=f"In the worst of a hundred samples the sample mean is {in_the_worst}",
        said=f"In a typical sample the sample mean errs by **{typical[mean]:.2g}** and the median "
        f"of means by **{typical[sturdy]:.2g}**; in the worst of a hundred by "
        f"**{worst[mean]:.2g}** and **{worst[sturdy]:.2g}**.",
    )


def right_guesses(evidence: LessonEvidence) -> LessonFinding:
    """Lesson 3: the share of right guesses in percent."""
    rows = evidence.table[evidence.table["series"] == RIGHT]
    share = 100 * float((rows["mean"] * rows["trials"]).sum() / rows["trials"].sum())
    guesses = int((rows["x"] * rows["trials"]).sum())
    ceiling = 100 * guess_ceiling(GAME_EPSILON)
    return LessonFinding(
        answer=share,
        headline=f"The spy is right in {share:.0f} % of the cases; ε allows {ceiling:.0f} %",
        said=f"Of {guesses:,} guesses **{share:.1f} %** were right. ε = {GAME_EPSILON:g} allows "
        f"{ceiling:.1f} % at most, whatever the noise.",
    )


def share_cut(evidence: LessonEvidence) -> LessonFinding:
    """Lesson 4: which share of the records the best radius cuts."""
    private = _series(evidence.table, PRIVATE, "mean")
    best = float(private.idxmin())
    share = float(_series(evidence.table, CUT, "mean")[best])
    bias = float(_series(evidence.table, CLIPPED, "mean")[best])
    key = "none" if share < NONE_CUT else "most" if share > MOST_CUT else "some"
    ends = f"{short(private.iloc[0])} at the smallest radius, {short(private.iloc[-1])} at the"
    return LessonFinding(
        answer=key,
        headline=f"Best at R = {number_text(best)}, where {100 * share:.0f} % of the records are "
        "cut: less is bias, more is noise",
        said=f"The private average errs least, by **{short(private[best])}**, at the radius "
        f"**{number_text(best)}**, which cuts **{100 * share:.0f} %** of the records; clipping "
        f"alone errs by {short(bias)} there. The private error is {ends} largest.",
    )


def fall(evidence: LessonEvidence) -> LessonFinding:
    """Lesson 5: how many times the private error falls from the first n to the last."""
    private = _curve(evidence.table, "mean.clipped")
    public = _curve(evidence.table, "mean.sample")
    ratio = float(private.iloc[0] / private.iloc[-1])
    plain = float(public.iloc[0] / public.iloc[-1])
    how = "faster than" if ratio > ALIKE * plain else "as fast as"
    how = "more slowly than" if ratio < plain / ALIKE else how
    first, last = (number_text(x) for x in (private.index[0], private.index[-1]))
    return LessonFinding(
        answer=ratio,
        headline=f"The private error falls {short(ratio)} times, {how} without privacy "
        f"({short(plain)} times)",
        said=f"From n = {first} to n = {last} the private error falls from "
        f"{short(private.iloc[0])} to {short(private.iloc[-1])}, **{short(ratio)} times**; "
        f"without privacy **{short(plain)} times**.",
    )


def free_from(evidence: LessonEvidence) -> LessonFinding:
    """Lesson 6: the smallest epsilon from which on the private error is within 10 %."""
    ratios = _curve(evidence.table, "mean.clipped") / _curve(evidence.table, "mean.sample")
    above = [x for x, r in ratios.items() if not r <= FREE]
    rest = [float(x) for x in ratios.index if not above or x > above[-1]]
    first = short(float(ratios.iloc[0]))
    low = number_text(float(ratios.index[0]))
    if not rest:
        return LessonFinding(
            answer=NEVER,
            headline=f"At none of these ε is privacy free: {first} times the error at ε = {low}",
            said=f"The private error stays more than 10 % above, at ε = {low} **{first} times**.",
        )
    return LessonFinding(
        answer=rest[0],
        headline=f"From ε = {number_text(rest[0])} on privacy is free; at ε = {low} it costs "
        f"{first} times the error",
        said=f"At ε = {low} the private error is **{first} times** the other one; from "
        f"ε = **{number_text(rest[0])}** on at most 10 % above it.",
    )


def laplace_over_gaussian(evidence: LessonEvidence) -> LessonFinding:
    """Lesson 7: the error with Laplace noise over that with Gaussian noise at the last d."""
    laplace = _curve(evidence.table, "mean.cwme-pure")
    gaussian = _curve(evidence.table, "mean.cwme-cdp")
    ratios = laplace / gaussian
    last, ratio = number_text(float(ratios.index[-1])), float(ratios.iloc[-1])
    first = number_text(float(ratios.index[0]))
    return LessonFinding(
        answer=ratio,
        headline=f"At d = {last} Laplace noise errs {short(ratio)} times as much as Gaussian noise",
        said=f"At d = {last} Laplace noise errs by **{short(laplace.iloc[-1])}** and Gaussian "
        f"noise by **{short(gaussian.iloc[-1])}**: {short(ratio)} times. At d = {first} the "
        f"ratio is {short(float(ratios.iloc[0]))}.",
    )


def least_risk(evidence: LessonEvidence) -> LessonFinding:
    """Lesson 8: which answer leaves least at the smallest n; "start" is that without data."""
    table, start = evidence.table, evidence.start
    assert start is not None
    n, last = float(table["x"].min()), float(table["x"].max())
    methods = ("sco.cwme", "sco.clipped")
    left = {m: _error(table, m, n) for m in methods} | {"start": start[n]}
    best = min(left, key=lambda k: left[k])
    names = {m: inside(method_card(m).name) for m in methods} | {"start": "ignoring the data"}
    many = {m: _error(table, m, last) for m in methods}
    near = min(many, key=lambda k: many[k])
    ratio = short(many[near] / _error(table, "sco.erm", last))
    every = ", ".join(f"{names[k]} **{short(v)}**" for k, v in left.items())
    return LessonFinding(
        answer=best,
        headline=f"At n = {number_text(n)} {names[best]} is best; at n = {number_text(last)} "
        f"{names[near]}: {ratio} times the best fit",
        said=f"The risk that is left at n = {number_text(n)}: {every}. At n = {number_text(last)}, "
        f"the least is that with {names[near]}: **{ratio} times** the risk of the best fit "
        "without privacy.",
    )


def width_gain(evidence: LessonEvidence) -> LessonFinding:
    """Lesson 9: the risk on the l2 ball over that on the l1 ball at the last d."""
    assert evidence.beside is not None
    method = "sco.objective-perturbation"
    cross, ball = _curve(evidence.table, method), _curve(evidence.beside, method)
    ratio, last = float(ball.iloc[-1] / cross.iloc[-1]), number_text(float(cross.index[-1]))
    return LessonFinding(
        answer=ratio,
        headline=f"At d = {last} the ℓ₁ ball leaves {short(ratio)} times less than the ℓ₂ ball",
        said=f"At d = {last} objective perturbation leaves **{short(cross.iloc[-1])}** on the ℓ₁ "
        f"ball and **{short(ball.iloc[-1])}** on the ℓ₂ ball.",
    )


def filter_pays(evidence: LessonEvidence) -> LessonFinding:
    """Lesson 10: the first m of the grid from which on the filtered mean errs less."""
    filtered = _curve(evidence.table, "user.accelerated")
    plain = _curve(evidence.table, "user.clipped-means")
    worse = [x for x in filtered.index if not filtered[x] < plain[x]]
    rest = [float(x) for x in filtered.index if not worse or x > worse[-1]]
    first, last = (float(filtered.index[i]) for i in (0, -1))
    gain = short(float(plain.iloc[-1] / filtered.iloc[-1]))
    loss = short(float(filtered.iloc[0] / plain.iloc[0]))
    ends = f"At m = {number_text(first)} it leaves **{loss} times** what clipped averages leave"
    if not rest:
        return LessonFinding(
            answer=NEVER, headline="The filter does not pay at any of these m", said=ends + "."
        )
    return LessonFinding(
        answer=rest[0],
        headline=f"From m = {number_text(rest[0])} on the filter errs less, and goes on falling",
        said=f"The filter errs less from m = **{number_text(rest[0])}** on. {ends}; at "
        f"m = {number_text(last)} clipped averages leave **{gain} times** what it leaves.",
    )


def above_floor(evidence: LessonEvidence) -> LessonFinding:
    """Lesson 11: the best private mean error over the proven lower bound at the last n."""
    table, floor = evidence.table, evidence.floor
    assert floor is not None
    private = [m for m in dict.fromkeys(table["method"]) if method_card(m).privacy != "none"]
    last = float(table["x"].max())
    best = min(private, key=lambda m: _error(table, m, last))
    ratio = _error(table, best, last) / floor[last]
    below = [x for x in floor for m in private if _error(table, m, x) < floor[x]]
    name = method_card(best).name
    where = (
        "No line of a private algorithm enters the shaded region."
        if not below
        else "By the luck of the trials a line enters the region: the limit is on the mean error."
    )
    return LessonFinding(
        answer=ratio,
        headline=f"{name} is within {short(ratio)} times of what no private algorithm can beat",
        said=f"At n = {number_text(last)} {inside(name)} errs by **{short(ratio)} times** the "
        f"proven limit, {short(floor[last])}. {where}",
    )
