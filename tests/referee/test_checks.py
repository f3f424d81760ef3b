"""The checks refute what is false for the reason that is planted, and nothing that is proven."""

from __future__ import annotations

import re
import time
from dataclasses import replace

import numpy as np
import pytest

from dpsco_core.audit.engine import Audit
from dpsco_core.audit.stages import stage
from dpsco_core.base.errors import InvalidInput
from dpsco_core.base.limits import DASHBOARD
from dpsco_core.catalogue import BOUNDS, bound
from dpsco_core.privacy import ZCDP, GaussianNoise
from dpsco_core.referee import privacy, trials
from dpsco_core.referee.betting import Wealth
from dpsco_core.referee.claims import bound_of_formula, read_condition
from dpsco_core.referee.places import base_place, start_of, trial_places
from dpsco_core.referee.privacy import check_privacy, worst_neighbours
from dpsco_core.referee.report import Check, Report, place_words
from dpsco_core.referee.rivals import (
    LEAST_PLACES,
    check_hypotheses,
    check_optimality,
    check_rivals,
    sharpest_rival,
)
from dpsco_core.referee.steepness import TRIALS, check_slopes, least_seconds
from dpsco_core.referee.tapes import RecordingLedger, largest_excess
from dpsco_core.referee.trials import CAUTION, check_trials, error_of
from dpsco_core.results.slopes import fit_errors
from dpsco_core.runs.study import Cell, Outcome, study
from dpsco_core.scenario import Scenario
from tests.golden_sentences import GOLDEN

METHOD = "mean.clipped"
BASE = base_place(METHOD, Scenario(n=1000, d=4, rho=0.5, epsilon=None, delta=None))
PROVEN = "upper.mean.clipped-expected-coordinate"


def silent(_: str) -> None:
    """Ignore a message of progress."""


def formula(text: str, **fields: str) -> object:
    """Return a claimed bound on the mean's error from its formula."""
    return bound_of_formula(text, METHOD, "mean", **fields)  # type: ignore[arg-type]


def test_betting_refutes_a_false_mean_and_rarely_a_true_one() -> None:
    """The values are two-sided and heavy-tailed, for which no interval by the normal
    law is valid.
    """
    rng = np.random.default_rng(4)
    refuted = 0
    for _ in range(400):
        wealth = Wealth(claim=1.0)
        values = rng.pareto(2.1, size=200) * 1.1  # The mean of these values is 1.
        for value in values:
            wealth.add(float(value))
            if wealth.refutes(0.05):
                refuted += 1
                break
    assert refuted <= 0.05 * 400
    wealth = Wealth(claim=0.5)
    for value in rng.pareto(2.1, size=400) * 1.1:
        wealth.add(float(value))
    assert wealth.refutes(0.001)


def test_a_claim_below_a_lower_bound_is_refuted_without_a_run() -> None:
    check = check_rivals(formula("0.1*sqrt(d/n)"), BASE)  # type: ignore[arg-type]
    assert check.verdict == "refuted"
    assert check.command.startswith("dpsco bounds --method mean.clipped")
    slug = check.command.rpartition(" ")[2]
    claim, value = check.rows[0][1:3]
    assert float(claim) < float(value) and bound(slug).card.kind == "lower"


def test_a_proven_bound_is_not_refuted_by_a_lower_bound_and_a_lower_one_not_by_an_upper() -> None:
    assert check_rivals(bound(PROVEN), BASE).verdict == "not refuted"
    assert check_rivals(bound("lower.mean.two-sided-cdp"), BASE).verdict == "not refuted"


def test_a_lower_claim_above_an_upper_bound_is_refuted() -> None:
    claim = bound("lower.mean.two-sided-cdp")
    doubled = replace(claim, evaluate=lambda s: {"ten times": 10 * claim.value(s)})
    doubled = replace(doubled, card=replace(claim.card, slug="lower.claim"), combine=sum)
    assert check_rivals(doubled, BASE).verdict == "refuted"


def test_a_rate_is_contradicted_where_its_constant_grows() -> None:
    wrong = formula("sqrt(1/n)", constant="rate")
    check = check_rivals(wrong, BASE)  # type: ignore[arg-type]
    assert check.verdict == "contradicts" and "d^" in check.sentence
    right = formula("sqrt(d/n)+(d/(n*sqrt(rho)))^(1-1/p)", constant="rate")
    assert check_rivals(right, BASE).verdict == "not refuted"  # type: ignore[arg-type]


def test_the_smallest_counter_example_cannot_be_halved() -> None:
    claim = formula("sqrt(d/n)+(sqrt(d)/(n*sqrt(rho)))^(1-1/p)")
    check = check_rivals(claim, BASE)  # type: ignore[arg-type]
    assert check.verdict == "refuted"
    fields = dict(zip(check.command.split()[2:-2:2], check.command.split()[3:-2:2], strict=True))
    for name in ("n", "d"):
        value = int(fields.get(f"--{name}", getattr(Scenario(), name)))
        if value == 1:
            continue
        point = Scenario.from_dict(
            {k[2:]: v for k, v in fields.items() if k != "--method"} | {name: value // 2}
        )
        smaller = sharpest_rival(claim, replace(point, methods=(METHOD,)))  # type: ignore[arg-type]
        assert smaller is None or smaller.excess("upper") <= 1 + 1e-9


def test_trials_refute_an_error_below_what_is_measured_and_a_run_repeats_them() -> None:
    points = trial_places(BASE)[:4]
    check = check_trials(
        formula("0.2*d/n"),  # type: ignore[arg-type]
        points,
        seed=3,
        deadline=time.monotonic() + 60,
        progress=silent,
    )
    assert check.verdict == "refuted"
    words = check.command.removeprefix("dpsco run ").split()
    fields = dict(zip(words[::2], words[1::2], strict=True))
    methods = [fields.pop("--method")]
    repeated = Scenario.from_dict({k[2:]: v for k, v in fields.items()} | {"methods": methods})
    errors = [outcome.error for outcome in study(repeated)]
    assert len(errors) == check.rows[0][4]
    assert repeated.seed != 3, "the trials of the scan are not used again"
    assert np.mean(errors) == pytest.approx(float(check.rows[0][2]))


def test_trials_do_not_refute_a_proven_bound() -> None:
    check = check_trials(
        bound(PROVEN),
        trial_places(BASE)[:6],
        seed=0,
        deadline=time.monotonic() + 60,
        progress=silent,
    )
    assert check.verdict == "not refuted"


def test_a_rate_is_never_refuted_by_trials() -> None:
    check = check_trials(
        formula("d/n", constant="rate"),  # type: ignore[arg-type]
        trial_places(BASE)[:3],
        seed=0,
        deadline=time.monotonic() + 60,
        progress=silent,
    )
    assert check.verdict == "not refuted" and "hidden constant" in check.sentence


@pytest.mark.parametrize(("slug", "words"), [("lower.mean.rate-cdp", "most"), (PROVEN, "least")])
def test_a_lower_rate_needs_a_small_constant_and_an_upper_one_a_large_one(
    slug: str, words: str
) -> None:
    rate = bound(slug)
    rate = replace(rate, card=replace(rate.card, constant="rate"))
    check = check_rivals(rate, BASE)
    (constant,) = re.findall(rf"hidden constant has to be at {words} (\S+) at", check.sentence)
    excess = max(float(row[3]) for row in check.rows)
    assert float(constant) == pytest.approx(1 / excess if words == "most" else excess, rel=0.01)


def test_slopes_contradict_a_claim_that_falls_faster_than_the_error() -> None:
    base = replace(BASE, d=20)
    for text, verdict in (
        ("d/n^2", "contradicts"),
        ("sqrt(d/n)+(d/(n*sqrt(rho)))^(1-1/p)", "consistent with"),
    ):
        check = check_slopes(
            formula(text),  # type: ignore[arg-type]
            base,
            seed=0,
            deadline=time.monotonic() + 60,
            progress=silent,
        )
        row = next(row for row in check.rows if row[0] == "n")
        assert row[3] == verdict, check.rows


def test_an_axis_starts_where_the_hypotheses_hold_and_a_run_repeats_it() -> None:
    base = replace(BASE, d=20)
    check = check_slopes(
        formula("sqrt(d/n)", conditions=("n >= 100*d",)),  # type: ignore[arg-type]
        base,
        seed=3,
        deadline=0.0,
        progress=silent,
    )
    rows = {row[0]: row for row in check.rows}
    assert rows["n"][4:] == (TRIALS[0], "2000, 4000, 8000, 16000")
    assert rows["d"][4:] == (TRIALS[0], "1, 2, 4, 8"), "at n = 1000 there is no more room"
    at_budget = "n >= 100*d fails: 1000 and 2000."
    assert rows["rho"][3:] == ("not checked", 0, f"rho = 0.05: {at_budget}")
    assert f"changes one letter of {place_words(base)}." in check.sentence
    words = check.command.removeprefix("dpsco run ").split()
    fields = dict(zip(words[::2], words[1::2], strict=True))
    methods = [fields.pop("--method")]
    repeated = Scenario.from_dict({k[2:]: v for k, v in fields.items()} | {"methods": methods})
    axis = repeated.axis or ""
    assert f"The command repeats the axis {axis}." in check.sentence
    error_at = {(outcome.trial, outcome.x): outcome.error for outcome in study(repeated)}
    errors = [[error_at[trial, x] for x in repeated.grid] for trial in range(TRIALS[0])]
    fit = fit_errors(np.array(repeated.grid), np.array(errors))
    assert rows[axis][2] == f"{fit.fitted:.3g} ({fit.low:.3g} to {fit.high:.3g})"


def test_a_report_has_the_hypotheses_and_whether_the_claim_is_optimal() -> None:
    points = trial_places(BASE)
    claim = formula("sqrt(d/n)", conditions=("n >= 100*d",))
    check = check_hypotheses(claim, points)  # type: ignore[arg-type]
    count = sum(point.n < 100 * point.d for point in points)
    assert check.rows[0][:2] == ("n >= 100*d", count)
    assert check.verdict == "for information"
    check = check_optimality(bound(PROVEN), BASE)
    assert [row[0] for row in check.rows] == ["best upper bound", "best lower bound"]
    assert float(check.rows[1][2]) >= 1


def test_a_claim_with_the_diameter_is_tried_on_every_set() -> None:
    """In a formula D is the diameter of the set, which may be a ball."""
    claim = formula("D*sqrt(d/n) + D/2")
    check = check_hypotheses(claim, trial_places(BASE))  # type: ignore[arg-type]
    assert check.rows == ()


def test_a_claim_tried_at_hardly_any_setting_is_not_reported_as_not_refuted() -> None:
    narrow = formula("9*sqrt(d/n)", conditions=("n >= 5000", "d >= 40"))
    check = check_hypotheses(narrow, trial_places(BASE))  # type: ignore[arg-type]
    assert check.verdict == "too few settings"
    on_sets = formula("99*D*sqrt(d/n)", conditions=("d <= 3", "n <= 300"))
    assert check_rivals(on_sets, BASE).verdict == "too few settings"  # type: ignore[arg-type]
    fine = Check(name="Against lower bounds", verdict="not refuted", sentence="So.")
    report = Report(
        title="claim", claim="d/n", hypotheses=(), checks=(fine, check), seed=0, seconds=5
    )
    assert report.verdict == "too few settings"


@pytest.mark.parametrize(
    "method", ["mean.clipped", "mean.adaptive", "sco.clipped", "lp.frank-wolfe"]
)
def test_sensitivities_are_attained_and_never_passed(method: str) -> None:
    worst = worst_neighbours(method)
    assert worst is not None and worst.release is not None
    assert worst.excess == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize(
    ("text", "must"), [("n", "two formulas"), ("n > x", "made of"), ("n > 1 > 2", "two formulas")]
)
def test_a_condition_is_two_formulas_with_a_sign(text: str, must: str) -> None:
    with pytest.raises(InvalidInput, match=must):
        read_condition(text)


def test_an_error_that_is_an_average_is_lowered_before_it_refutes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    claim = formula("1/n")
    real_cell = trials.run_cell

    def uncertain(cell: Cell) -> Outcome:
        """Run a cell, with an error of 1 that is uncertain by 0.1."""
        return replace(real_cell(cell), error=1.0, error_uncertainty=0.1)

    monkeypatch.setattr(trials, "run_cell", uncertain)
    point = trial_places(BASE)[0]
    assert error_of(claim, point, 0) == 1  # type: ignore[arg-type]
    lowered = error_of(claim, point, 0, cautious=True)  # type: ignore[arg-type]
    assert lowered == pytest.approx(1 - 0.1 * CAUTION)


def test_bounds_for_pure_budgets_and_infinite_variance_are_tried_where_they_hold() -> None:
    for row in BOUNDS:
        if row.card.method or row.card.privacy == "none":
            continue
        start = start_of(row, Scenario())
        assert row.is_in_scope(start.setting)
        assert row.card.privacy != "pure" or not start.delta
        assert start.problem in row.card.problems


def test_a_steep_slope_far_below_an_explicit_claim_contradicts_nothing() -> None:
    for text, verdict in (("1000*d/n^2", "contradicts"), ("1e12*d/n^2", "consistent with")):
        check = check_slopes(
            formula(text),  # type: ignore[arg-type]
            replace(BASE, d=20),
            seed=0,
            deadline=time.monotonic() + 60,
            progress=silent,
        )
        assert next(row for row in check.rows if row[0] == "n")[3] == verdict


def test_a_replayed_run_gets_the_noisy_values_of_the_recorded_one() -> None:
    mechanism = GaussianNoise(l2_sensitivity=0.5, rho=0.1)
    recorded = RecordingLedger(ZCDP(rho=1.0))
    output = recorded.release(mechanism, np.array([1.0, 0.0]), np.random.default_rng(0))
    replayed = RecordingLedger(ZCDP(rho=1.0), original=recorded.tape)
    other_value = np.array([1.0, 2.0])
    assert (replayed.release(mechanism, other_value, np.random.default_rng(9)) == output).all()
    excess, release = largest_excess(recorded.tape, replayed.tape)
    assert excess == pytest.approx(4) and release is not None
    assert replayed.spent() == recorded.spent() == ZCDP(rho=0.1)


def test_a_method_whose_stage_is_too_small_is_not_checked_and_the_reason_is_given() -> None:
    check = check_privacy("user.phased-sgd", seed=0, deadline=0.0, progress=lambda _: None)
    assert check.verdict == "not checked" and check.sentence == GOLDEN["nothing to check"]
    (ledger,) = (row for row in check.rows if row[0] == "ledger")
    assert ledger[1] == "not checked" and "it takes n=129" in str(ledger[2])


def test_an_audit_that_only_the_trade_off_curve_refutes_is_a_refutation(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Half of the noise is planted in every audit, at a delta that is too small for the bound on
    epsilon.
    """
    monkeypatch.setattr(privacy, "stage", lambda slug: replace(stage(slug), delta=1e-6))
    monkeypatch.setattr(privacy, "Audit", lambda **f: Audit(**f | {"fault": "half-noise"}))
    check = check_privacy("mean.clipped", seed=0, deadline=0.0, progress=lambda _: None)
    assert check.verdict == "refuted"
    assert (
        "refuted by the trade-off curve of its ledger (the (epsilon, delta) bound alone"
        in check.sentence
    )
    (row,) = (row for row in check.rows if row[0] == "audit")
    assert str(row[2]).endswith("caught by the trade-off curve")


def test_one_pair_of_neighbours_is_not_called_several() -> None:
    check = check_privacy("mean.clipped", seed=0, deadline=0.0, progress=lambda _: None)
    assert check.rows[0][0] == GOLDEN["a check of neighbours"]


def test_every_compared_setting_is_reported_as_progress() -> None:
    words: list[str] = []
    base = base_place("mean.clipped", Scenario())
    claim = bound_of_formula("d/n", "mean.clipped", base.problem)
    check_rivals(claim, base, deadline=0.0, progress=words.append)
    assert words == [f"against proven bounds: setting {i + 1}" for i in range(LEAST_PLACES)]


def test_slopes_leave_out_an_axis_whose_points_are_above_the_limits() -> None:
    base = base_place("mean.clipped", Scenario(n=2000, d=5))
    claim = bound_of_formula("d/n", "mean.clipped", base.problem)
    limits = replace(DASHBOARD, n=2000)
    check = check_slopes(claim, base, seed=0, deadline=0.0, progress=lambda _: None, limits=limits)
    verdicts = {row[0]: (row[3], row[4]) for row in check.rows}
    assert verdicts["n"] == ("not checked", 0)
    assert "n = 4000: n must be" in str(check.rows[0][5])
    assert all(verdicts[axis][1] == TRIALS[0] for axis in ("d", "epsilon"))
    slow = replace(DASHBOARD, cell_seconds=0)
    assert least_seconds(claim, base, slow) == 0 < least_seconds(claim, base, limits)
    assert least_seconds(claim, base, limits) < least_seconds(claim, base)
