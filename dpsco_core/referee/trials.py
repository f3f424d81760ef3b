"""Measured over claimed: a scan of adversarial settings, then a test on fresh trials of the worst.

The scan chooses settings by a few trials each. What it has seen is not used again: the test bets on
fresh trials, so that its confidence is that of the test alone, shared among the settings chosen.
"""

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from dpsco_core.base.limits import SEED_MAX
from dpsco_core.bounds import Bound
from dpsco_core.catalogue import problem_card
from dpsco_core.referee.betting import Wealth
from dpsco_core.referee.report import CONFIDENCE, Check, Progress, place_words
from dpsco_core.results.commands import command_flags
from dpsco_core.runs.study import Cell, canonical, run_cell
from dpsco_core.scenario import Scenario

SCAN_TRIALS, MOST_TRIALS, LEAST_TRIALS = 2, 400, 20
FRESH_SEED = 1  # the amount by which the seed of a test's trials exceeds that of the scan
CHOSEN = 3  # the number of settings that are tested
SCAN_SHARE = 0.5  # the share of the time for a first scan of all settings
SUSPECT = 0.7  # the least ratio of the measured to the claimed error at which a setting is tested
CAUTION = 6.0  # a cautious error is lowered by this many standard errors of its evaluation
MOST_ROWS = 6
NAME = "Measured over claimed"


@dataclass(frozen=True, kw_only=True)
class Trial:
    """A setting with the mean error of a few trials."""

    point: Scenario
    claim: float
    mean: float

    @property
    def ratio(self) -> float:
        """The measured error over the claimed error."""
        return self.mean / self.claim


def error_of(claim: Bound, point: Scenario, trial: int, *, cautious: bool = False) -> float:
    """Return the error of one trial in the claim's units; NaN if the method cannot run.

    An excess risk may be an average over an evaluation sample. A cautious error is then lower by
    `CAUTION` of its standard errors, so that it is not above the exact one.
    """
    cell = Cell(point=canonical(point), method=point.methods[0], x=None, trial=trial)
    outcome = run_cell(cell)
    error = outcome.error - (CAUTION * outcome.error_uncertainty if cautious else 0.0)
    error = max(0.0, error) if not math.isnan(error) else math.nan
    if claim.card.quantity == "squared l2 error":
        error = error**2
    return error


def check_trials(
    claim: Bound,
    points: Sequence[Scenario],
    *,
    seed: int,
    deadline: float,
    progress: Progress,
    files: Sequence[str] = (),
) -> Check:
    """Run a method at settings within the hypotheses and test its errors against the claim.

    Parameters
    ----------
    deadline : float
        The value of `time.monotonic` at which it stops.
    """
    card = claim.card
    if card.kind != "upper":
        text = "A lower bound is about the worst of all data, which no run shows."
        return Check(name=NAME, verdict="not checked", sentence=text)
    measured = problem_card(points[0].problem).quantity if points else ""
    if card.quantity not in (measured, f"squared {measured}"):
        text = f"The claim is on {card.quantity}, and what is measured is {measured or 'nothing'}."
        return Check(name=NAME, verdict="not checked", sentence=text)
    trials = _scan(claim, points, seed, deadline, progress)
    if not trials:
        text = "There is no setting where the method runs, the hypotheses hold and the claim is "
        return Check(name=NAME, verdict="not checked", sentence=f"{text}finite.")
    trials.sort(key=lambda t: -t.ratio)
    rows = tuple(
        (place_words(t.point), t.claim, t.mean, t.ratio, SCAN_TRIALS) for t in trials[:MOST_ROWS]
    )
    columns = ("setting", "claim", "mean error", "ratio", "trials")
    if card.constant == "rate":
        text = (
            f"At {_count_words(trials)} the error is up to {trials[0].ratio:.3g} times the rate: "
            "the hidden constant has to be about that, and a run cannot refute it."
        )
        return Check(name=NAME, verdict="not refuted", sentence=text, columns=columns, rows=rows)
    return _test_worst_settings(claim, trials, columns, rows, deadline, progress, files)


def _count_words(trials: Sequence[Trial]) -> str:
    """Return the number of settings in words, such as "3 settings"."""
    return f"{len(trials)} setting" + "s" * (len(trials) != 1)


def _scan(
    claim: Bound, points: Sequence[Scenario], seed: int, deadline: float, progress: Progress
) -> list[Trial]:
    """Return the mean error of a few trials at each setting, as far as the time allows.

    Settings where the claim has no finite value, or the method cannot run, are left out.
    """
    started = time.monotonic()
    end = started + SCAN_SHARE * (deadline - started)
    trials: list[Trial] = []
    for count, place in enumerate(points):
        if trials and time.monotonic() > end:
            break
        progress(f"scan: setting {count + 1} of {len(points)}")
        point = replace(place, seed=seed)
        setting = point.setting
        value = math.inf if claim.failures(setting) else claim.value(setting)
        if not 0 < value < math.inf:
            continue
        errors = [error_of(claim, point, trial) for trial in range(SCAN_TRIALS)]
        mean = sum(errors) / len(errors)
        if not math.isnan(mean):
            trials.append(Trial(point=point, claim=value, mean=mean))
    return trials


def _test_worst_settings(
    claim: Bound,
    trials: list[Trial],
    columns: tuple[str, ...],
    rows: tuple[tuple[str | float, ...], ...],
    deadline: float,
    progress: Progress,
    files: Sequence[str],
) -> Check:
    """Return the check that tests the claim on fresh trials at the worst settings of a scan."""
    guarantee = claim.card.guarantee
    words = "expected error" if guarantee == "expectation" else f"error, with {guarantee},"
    suspects = [t for t in trials[:CHOSEN] if t.ratio >= SUSPECT]
    level = (1 - CONFIDENCE) / CHOSEN
    tested = []
    for suspect in suspects:
        count, mean, wealth = _bet_on_fresh_trials(claim, suspect, level, deadline, progress)
        tested.append((suspect, count, mean, wealth))
        if not wealth.refutes(level):
            continue
        point = replace(_with_fresh_seed(suspect.point), trials=count)
        text = (
            f"At {place_words(point)} the claim is {suspect.claim:.4g} and the mean of {count} "
            f"fresh trials {mean:.4g}: the {words} is above the claim, with confidence "
            f"{100 * CONFIDENCE:g} % by betting, whatever the law of the errors."
        )
        row = (place_words(point), suspect.claim, mean, mean / suspect.claim, count)
        return Check(
            name=NAME,
            verdict="refuted",
            sentence=text,
            columns=columns,
            rows=(row, *rows[: MOST_ROWS - 1]),
            command=f"dpsco run {command_flags(point, files)}",
        )
    largest = trials[0].ratio
    text = f"At {_count_words(trials)} the error is at most {largest:.3g} times the claim"
    unfinished = [t for t in tested if t[1] < LEAST_TRIALS]
    if unfinished:
        text += f"; the {words} there takes more trials than the time allowed"
        return Check(
            name=NAME, verdict="too few trials", sentence=f"{text}.", columns=columns, rows=rows
        )
    if tested:
        text += f" in {SCAN_TRIALS} trials, and fresh trials at the worst do not refute it"
    return Check(name=NAME, verdict="not refuted", sentence=f"{text}.", columns=columns, rows=rows)


def _bet_on_fresh_trials(
    claim: Bound, suspect: Trial, level: float, deadline: float, progress: Progress
) -> tuple[int, float, Wealth]:
    """Bet against a claim on fresh trials at a setting, until it is refuted or time is up.

    Return the number of trials, their mean error and the wealth that the bets have reached.
    """
    share = _failures_allowed(claim)
    wealth = Wealth(claim=suspect.claim if share is None else share)
    total, point = 0.0, _with_fresh_seed(suspect.point)
    for count in range(1, MOST_TRIALS + 1):
        progress(f"test: trial {count} at {place_words(point)}")
        error = error_of(claim, point, count - 1, cautious=True)
        total += error
        wealth.add(error if share is None else float(error > suspect.claim))
        if wealth.refutes(level) or time.monotonic() > deadline:
            break
    return count, total / count, wealth


def _with_fresh_seed(point: Scenario) -> Scenario:
    """Return a point with another seed, so that its trials differ from the scan's."""
    return replace(point, seed=(point.seed + FRESH_SEED) % (SEED_MAX + 1))


def _failures_allowed(claim: Bound) -> float | None:
    """Return the claim's failure probability; None for a claim on an expected error."""
    guarantee = claim.card.guarantee
    return None if guarantee == "expectation" else 1 - float(guarantee.rpartition(" ")[2])
