"""The referee: all checks of what was submitted, within a budget of time."""

import time

from dpsco_core.base.errors import InvalidInput
from dpsco_core.base.limits import LIBRARY, Limits
from dpsco_core.base.plain_latex import plain_formula
from dpsco_core.bounds import Bound
from dpsco_core.catalogue import method_card
from dpsco_core.referee.claims import TYPED, Submission
from dpsco_core.referee.inequality import Inequality
from dpsco_core.referee.places import base_place, start_of, trial_places
from dpsco_core.referee.privacy import check_privacy
from dpsco_core.referee.report import Check, Judgement, Progress, Report
from dpsco_core.referee.rivals import check_hypotheses, check_optimality, check_rivals
from dpsco_core.referee.search import SearchResult, describe, search
from dpsco_core.referee.steepness import check_slopes
from dpsco_core.referee.trials import check_trials
from dpsco_core.scenario import Scenario

SECONDS, SEED = 60.0, 0
# The share of a claim's time that has passed when each check ends.
ENDS = {"rivals": 0.25, "trials": 0.65, "slopes": 1.0}


def referee(
    submission: Submission,
    start: Scenario | None = None,
    *,
    seconds: float = SECONDS,
    seed: int = SEED,
    progress: Progress = lambda _: None,
    limits: Limits = LIBRARY,
) -> tuple[Report, ...]:
    """Return one report for each bound, inequality and method that was submitted.

    Parameters
    ----------
    submission : Submission
        What is claimed.
    start : Scenario, optional
        Fields of the settings that are varied; the default scenario.
    seconds : float
        The time that is shared by all of them; the smallest part of each check runs whatever it is.
    seed : int
        That of the data, of the noise and of the searches.
    progress : callable
        Takes a few words at every step.
    limits : Limits
        The largest scenarios that are run for slopes; all others are small.
    """
    scenario = Scenario() if start is None else start
    parts = len(submission.inequalities) + len(submission.bounds) + len(submission.methods)
    end = time.monotonic() + seconds
    reports: list[Report] = []

    def deadline() -> float:
        """Return the moment at which the next claim's equal share of the remaining time ends."""
        left = max(0.0, end - time.monotonic())
        return time.monotonic() + left / max(1, parts - len(reports))

    for claim in submission.inequalities:
        check = check_inequality(claim, seed=seed, deadline=deadline(), files=submission.files)
        conditions = tuple(h.text for h in claim.hypotheses)
        reports.append(_make_report(claim.slug, claim.text, conditions, (check,), seed, seconds))
    for bound in submission.bounds:
        checks = _bound_checks(
            bound,
            scenario,
            submission,
            seed=seed,
            deadline=deadline(),
            progress=progress,
            limits=limits,
        )
        reports.append(_bound_report(bound, checks, seed, seconds))
    for method in submission.methods:
        check = check_privacy(
            method, seed=seed, deadline=deadline(), progress=progress, files=submission.files
        )
        claim_words = f"{method_card(method).name} is private as its card says"
        budget = (f"{method_card(method).privacy} under replacement of one record",)
        reports.append(_make_report(method, claim_words, budget, (check,), seed, seconds))
    return tuple(reports)


def check_inequality(
    claim: Inequality, *, seed: int, deadline: float, files: tuple[str, ...] = ()
) -> Check:
    """Search for a counter-example of an inequality."""
    result = search(claim, seed, deadline)
    assert result.point is not None
    row = (describe(result.point), result.smaller, result.larger, result.ratio)
    size = f"{result.allowed:,} of {result.tried:,} settings were inside the hypotheses"
    command = f"dpsco referee {' '.join(files)} --seed {seed}" if files else ""
    return Check(
        name="Search for a counter-example",
        verdict=_search_verdict(result),
        sentence=_search_words(claim, result) + f" {size}.",
        columns=("setting", "left side", "right side", "ratio"),
        rows=(row,),
        command=command if result.refutes else "",
    )


def _search_verdict(result: SearchResult) -> Judgement:
    """Return the verdict of a search: refuted, contradicts, or not refuted."""
    if not result.refutes:
        return "not refuted"
    return "contradicts" if result.growth else "refuted"


def _search_words(claim: Inequality, result: SearchResult) -> str:
    """Return the sentence on what a search has found."""
    if claim.constant == "rate":
        numbers = ", ".join(f"{value:.3g}" for value in result.growth)
        text = (
            f"The hidden constant has to be at least {numbers} in three nested ranges of settings"
        )
        return f"{text}: it grows without an end in sight." if result.refutes else f"{text}."
    if result.refutes:
        return (
            f"False at {describe(result.point or {})}: {result.smaller:.6g} > {result.larger:.6g}."
        )
    return f"The left side is at most {result.ratio:.6g} times the right side."


def _bound_checks(
    bound: Bound,
    scenario: Scenario,
    submission: Submission,
    *,
    seed: int,
    deadline: float,
    progress: Progress,
    limits: Limits,
) -> tuple[Check, ...]:
    """Run all checks of a bound, and return them in the order of the report.

    Only a bound on the error of one method, not of every method, is compared with runs.
    """
    began = time.monotonic()

    def end(name: str) -> float:
        """Return the value of `time.monotonic` by which the named check must end."""
        return began + ENDS[name] * (deadline - began)

    files = submission.files
    start = start_of(bound, scenario)
    if not bound.card.method:
        base = start.validate(sampling=False)
        rivals = check_rivals(bound, base, files, deadline, progress)
        return (rivals, check_optimality(bound, base))
    base = base_place(bound.card.method, start)
    try:
        base.validate(sampling=False)
    except InvalidInput as problem:
        raise InvalidInput(f"{problem} It is the setting that the referee varies.") from None
    rivals = check_rivals(bound, base, files, end("rivals"), progress)
    points = trial_places(base, progress)
    trials = check_trials(
        bound, points, seed=seed, deadline=end("trials"), progress=progress, files=files
    )
    slopes = check_slopes(
        bound,
        base,
        seed=seed,
        deadline=end("slopes"),
        progress=progress,
        limits=limits,
        files=files,
    )
    optimality = check_optimality(bound, base)
    return (check_hypotheses(bound, points), rivals, trials, slopes, optimality)


def _bound_report(bound: Bound, checks: tuple[Check, ...], seed: int, seconds: float) -> Report:
    """Return the report on a bound: its claim in words, and its checks."""
    card = bound.card
    owner = f" of {card.method}" if card.method else ""
    constant = "" if card.constant == "explicit" else ", up to a hidden constant"
    claim = f"{card.quantity}{owner} {'≤' if card.kind == 'upper' else '≥'} "
    formula = card.latex if card.paper == TYPED else plain_formula(card.latex)
    claim += f"{formula} ({card.guarantee}{constant}), for {card.class_text}"
    return _make_report(
        card.slug, claim, tuple(h.text for h in bound.hypotheses), checks, seed, seconds
    )


def _make_report(
    title: str,
    claim: str,
    hypotheses: tuple[str, ...],
    checks: tuple[Check, ...],
    seed: int,
    seconds: float,
) -> Report:
    """Return the report on a claim from its parts; its verdict follows from its checks."""
    return Report(
        title=title,
        claim=claim,
        hypotheses=hypotheses,
        checks=checks,
        seed=seed,
        seconds=seconds,
    )
