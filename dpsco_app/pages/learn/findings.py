"""What the run of a lesson found: the answer to its question, with its numbers in a sentence."""

from collections.abc import Callable
from dataclasses import dataclass

import pandas as pd

from dpsco_app.parts.options import number_text
from dpsco_core.catalogue import method_card
from dpsco_core.explain.budgets import guess_ceiling
from dpsco_core.explain.lessons import (
    ADAPTIVE,
    BLIND,
    CLIPPED,
    CUT,
    GAME_EPSILON,
    GAUSSIAN,
    PRIVATE,
    RIGHT,
    SIZES,
    STUDENT,
    LessonRow,
)

ALIKE = 1.15  # two errors within this factor count as the same
FREE = 1.1
NONE_CUT, MOST_CUT = 0.01, 0.5
NEVER = "never"


@dataclass(frozen=True, kw_only=True)
class LessonEvidence:
    """What a lesson has measured."""

    table: pd.DataFrame  # the `summary` of a study, or the `series_table` of an experiment
    errors: pd.DataFrame | None = None  # the `frame` of a study: every trial
    beside: pd.DataFrame | None = None  # the `summary` on the second set
    # the largest proven lower bound at the points of the grid
    floor: dict[float, float] | None = None
    start: dict[float, float] | None = None  # what the starting point leaves, which uses no data
    rows: tuple[LessonRow, ...] = ()  # of an experiment: every trial


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
        said=f"In a typical sample the sample mean has an error of **{typical[mean]:.2g}** and the "
        f"median of means of **{typical[sturdy]:.2g}**; in the worst of a hundred, of "
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
    ends = f"{short(private.iloc[0])} at the smallest radius, {short(private.iloc[-1])} at the"
    return LessonFinding(
        answer=cut_answer(share),
        headline=f"The best radius, {number_text(best)}, clips {100 * share:.0f} % of the records: "
        "a smaller one adds bias, a larger one noise",
        said=f"The private average has its least error, **{short(private[best])}**, at the radius "
        f"**{number_text(best)}**, which clips **{100 * share:.0f} %** of the records. Clipping "
        f"alone has an error of {short(bias)} there. The private error is {ends} largest.",
    )


def cut_answer(share: float) -> str:
    """Return the answer to lesson 4 that a share of the records is."""
    return "none" if share < NONE_CUT else "most" if share > MOST_CUT else "some"


def private_look(evidence: LessonEvidence) -> LessonFinding:
    """Lesson 5: the error with a private look at the lengths over the least with a fixed radius."""
    table = evidence.table
    private = _series(table, PRIVATE, "mean")
    looked, blind = (_average(table, name) for name in (ADAPTIVE, BLIND))
    best, least = float(private.idxmin()), float(private.min())
    names = [method_card(m).name for m in ("mean.adaptive", "mean.clipped")]
    near = "about" if short(looked / least) == "1" else f"{short(looked / least)} times"
    return LessonFinding(
        answer=looked / least,
        headline=f"{names[0]}: {near} the least error. {names[1]}: {short(blind / least)} times",
        said=f"The best of all fixed radii, {number_text(best)}, has an error of "
        f"**{short(least)}**. {names[0]} has {short(looked)}, **{near}** that error; "
        f"{inside(names[1])}, which chooses its radius without looking, {short(blind)}, "
        f"**{short(blind / least)} times** as much.",
    )


def _average(table: pd.DataFrame, series: str) -> float:
    """Return the mean over all trials of a line, wherever they stand."""
    rows = table[table["series"] == series]
    return float((rows["mean"] * rows["trials"]).sum() / rows["trials"].sum())


def fall(evidence: LessonEvidence) -> LessonFinding:
    """Lesson 6: how many times the private error falls from the first n to the last."""
    private = _curve(evidence.table, "mean.clipped")
    public = _curve(evidence.table, "mean.sample")
    ratio = float(private.iloc[0] / private.iloc[-1])
    plain = float(public.iloc[0] / public.iloc[-1])
    how = "faster than" if ratio > ALIKE * plain else "as fast as"
    how = "more slowly than" if ratio < plain / ALIKE else how
    first, last = (number_text(x) for x in (private.index[0], private.index[-1]))
    return LessonFinding(
        answer=ratio,
        headline=f"The private error falls by a factor of {short(ratio)}, {how} without privacy "
        f"({short(plain)})",
        said=f"From n = {first} to n = {last} the private error falls from "
        f"{short(private.iloc[0])} to {short(private.iloc[-1])}, by a factor of "
        f"**{short(ratio)}**; without privacy by a factor of **{short(plain)}**.",
    )


def free_from(evidence: LessonEvidence) -> LessonFinding:
    """Lesson 7: the smallest epsilon from which on the private error is within 10 %."""
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
        said=f"At ε = {low} the private error is **{first} times** that without privacy; from "
        f"ε = **{number_text(rest[0])}** on it is at most 10 % above.",
    )


def laplace_over_gaussian(evidence: LessonEvidence) -> LessonFinding:
    """Lesson 8: the error with Laplace noise over that with Gaussian noise at the last d."""
    laplace = _curve(evidence.table, "mean.cwme-pure")
    gaussian = _curve(evidence.table, "mean.cwme-cdp")
    ratios = laplace / gaussian
    last, ratio = number_text(float(ratios.index[-1])), float(ratios.iloc[-1])
    first = number_text(float(ratios.index[0]))
    return LessonFinding(
        answer=ratio,
        headline=f"At d = {last} the error with Laplace noise is {short(ratio)} times that with "
        "Gaussian noise",
        said=f"At d = {last} the error is **{short(laplace.iloc[-1])}** with Laplace noise and "
        f"**{short(gaussian.iloc[-1])}** with Gaussian noise, a ratio of {short(ratio)}. At "
        f"d = {first} the ratio is {short(float(ratios.iloc[0]))}.",
    )


# The private methods of lesson 9.
COMPARED = ("sco.cwme", "sco.clipped")


def least_risk(evidence: LessonEvidence) -> LessonFinding:
    """Lesson 9: which answer leaves least at the smallest n; "start" is that without data."""
    table, start = evidence.table, evidence.start
    assert start is not None
    n, last = float(table["x"].min()), float(table["x"].max())
    left = {m: _error(table, m, n) for m in COMPARED} | {"start": start[n]}
    best = min(left, key=lambda k: left[k])
    names = {m: inside(method_card(m).name) for m in COMPARED} | {"start": "ignoring the data"}
    many = {m: _error(table, m, last) for m in COMPARED}
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
    """Lesson 10: what privacy adds on the l2 ball over what it adds on the l1 ball."""
    assert evidence.beside is not None
    tables = (evidence.table, evidence.beside)
    cross, ball = (_curve(t, "sco.objective-perturbation") for t in tables)
    fits = [_curve(t, "sco.erm") for t in tables]
    last = float(cross.index[-1])
    added = [float(p.iloc[-1] - f.iloc[-1]) for p, f in zip((cross, ball), fits, strict=True)]
    ratio, sampling = added[1] / added[0], float(fits[1].iloc[-1] / fits[0].iloc[-1])
    start = (evidence.start or {}).get(last)
    useless = (
        " On the ℓ₂ ball that is more than the risk of the answer 0, which uses no data."
        if start is not None and ball.iloc[-1] > start
        else ""
    )
    return LessonFinding(
        answer=ratio,
        headline=f"At d = {number_text(last)} privacy adds {short(ratio)} times less risk on the "
        "ℓ₁ ball than on the ℓ₂ ball",
        said=f"At d = {number_text(last)} privacy adds a risk of **{short(added[0])}** on the ℓ₁ "
        f"ball and of **{short(added[1])}** on the ℓ₂ ball.{useless} The set also removes error "
        f"of the sample: without privacy the risk is **{short(sampling)} times** smaller on the "
        "ℓ₁ ball.",
    )


def filter_pays(evidence: LessonEvidence) -> LessonFinding:
    """Lesson 11: the first m of the grid from which on the first method's error is the smaller."""
    filtered = _curve(evidence.table, "user.accelerated")
    plain = _curve(evidence.table, "user.clipped-means")
    names = [method_card(m).name for m in ("user.accelerated", "user.clipped-means")]
    start = evidence.start or {}
    rest = _from_there_on(filtered.index, [f < p for f, p in zip(filtered, plain, strict=True)])
    first, last = (float(filtered.index[i]) for i in (0, -1))
    loss, gain = (
        short(float(filtered.iloc[0] / plain.iloc[0])),
        short(float(plain.iloc[-1] / filtered.iloc[-1])),
    )
    ends = f"At m = {number_text(first)} it is **{loss} times** that of {inside(names[1])}"
    useful = _from_there_on(filtered.index, [f < start.get(x, 0) for x, f in filtered.items()])
    blank = _beside_no_data(names, useful, all(p > start.get(x, 0) for x, p in plain.items()))
    if rest is None:
        return LessonFinding(
            answer=NEVER,
            headline=f"The error of {inside(names[0])} is larger at the largest m",
            said=f"The error of {inside(names[0])} is larger at the largest m. {ends}."
            + (f" {blank}" if start else ""),
        )
    return LessonFinding(
        answer=rest,
        headline=f"From m = {number_text(rest)} on the error of {inside(names[0])} is the smaller "
        "one, and goes on falling",
        said=f"The error of {inside(names[0])} is the smaller one from m = "
        f"**{number_text(rest)}** on. {ends}; at "
        f"m = {number_text(last)} that of {inside(names[1])} is **{gain} times** larger."
        + (f" {blank}" if start else ""),
    )


def _beside_no_data(names: list[str], useful: float | None, never: bool) -> str:
    """Return how two methods compare with an answer that uses no data."""
    first = (
        f"Even at the largest m the answer 0, which uses no data, has a smaller error than "
        f"{inside(names[0])}."
        if useful is None
        else f"The error of {inside(names[0])} is below that of the answer 0, which uses no data, "
        f"from m = "
        f"**{number_text(useful)}** on."
    )
    return first + (f" That of {inside(names[1])} never is." if never else "")


def _from_there_on(xs: pd.Index, holds: list[bool]) -> float | None:
    """Return the first x from which on something holds, up to the last."""
    found = None
    for x, true in zip(reversed(list(xs)), reversed(holds), strict=True):
        if not true:
            break
        found = float(x)
    return found


def above_floor(evidence: LessonEvidence) -> LessonFinding:
    """Lesson 12: the best private mean error over the proven lower bound at the last n."""
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
        headline=f"The error of {inside(name)} is {short(ratio)} times the proven limit",
        said=f"At n = {number_text(last)} the error of {inside(name)} is **{short(ratio)} times** "
        f"the proven limit, {short(floor[last])}. {where}",
    )
