"""Experiments of the page Learn: their numbers follow from the laws and the noise."""

from __future__ import annotations

import json
import math

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom, norm

from dpsco_core.base.errors import InvalidInput
from dpsco_core.cli.main import main
from dpsco_core.explain import lessons
from dpsco_core.explain.budgets import guess_ceiling
from dpsco_core.explain.fano import by_hand
from dpsco_core.explain.lessons import (
    BIAS,
    CUT,
    EXPERIMENTS,
    GAUSSIAN,
    NOISE,
    PRIVATE,
    RADII,
    RADIUS_POINT,
    RELEASE,
    RELEASES,
    RIGHT,
    SIZES,
    STUDENT,
    LessonRow,
    laws,
    output_densities,
    parts,
    run_part,
    running_share,
    series_points,
    series_table,
    study_points,
)
from dpsco_core.methods.mean.clipped import SimpleClipping
from dpsco_core.privacy.budget import gaussian_epsilon, zcdp_epsilon
from dpsco_core.results.tables import frame, summary
from dpsco_core.runs.study import study
from dpsco_core.scenario import Scenario

ALARM = 1e-6  # False-alarm rate of every statistical test of this file.


def rows_of(experiment: lessons.Experiment) -> list[lessons.Row]:
    """Run all parts of an experiment; return their rows."""
    return [row for part in parts(experiment) for row in run_part(part)]


def column(table: pd.DataFrame, series: str, name: str) -> list[float]:
    """Return a column of the rows of one series."""
    return list(table.loc[table["series"] == series, name])


@pytest.mark.parametrize("experiment", [one for one in EXPERIMENTS if one != "budgets"])
def test_a_part_gives_the_same_rows_and_another_seed_gives_others(
    experiment: lessons.Experiment,
) -> None:
    def rows(seed: int) -> list[tuple[LessonRow, ...]]:
        """Return the rows of all parts at a seed."""
        return [run_part(part) for part in parts(experiment, 3, seed=seed)]

    assert rows(0) == rows(0) != rows(1)


def test_the_table_does_not_depend_on_the_order_of_the_parts() -> None:
    rows = [row for part in parts("tails", 4) for row in run_part(part)]
    table = series_table(rows)
    mixed = series_table([r for r in rows if r.trial != 2] + [r for r in rows if r.trial == 2])
    pd.testing.assert_frame_equal(table, mixed)
    assert list(dict.fromkeys(table["series"])) == [GAUSSIAN, STUDENT]
    assert set(table["trials"]) == {4}


def test_the_points_of_a_study_are_the_rows_of_its_summary() -> None:
    scenario = Scenario(axis="n", grid=(500.0, 1000.0), n=1000, d=3, trials=4)
    outcomes = list(study(scenario))
    points = study_points(outcomes)
    rows = summary(frame(outcomes))
    assert [p.series for p in points] == list(rows["method"]) and len(points) > 4
    for series_name, name in (
        *(("x", "x"), ("trials", "trials"), ("mean", "mean_error")),
        *(("median", "median_error"), ("q10", "q10"), ("q90", "q90")),
    ):
        assert [getattr(p, series_name) for p in points] == list(rows[name])


def test_the_mean_of_errors_is_their_root_mean_square() -> None:
    rows = [
        LessonRow(series=name, x=1.0, trial=i, value=v)
        for name in (PRIVATE, BIAS)
        for i, v in enumerate((1.0, 7.0))
    ]
    error, bias = series_points(rows)
    assert (error.series, error.mean, error.median) == (PRIVATE, 5.0, 4.0)
    assert (bias.series, bias.mean, bias.median) == (BIAS, 4.0, 4.0)
    assert (bias.q10, bias.q90, bias.trials) == (pytest.approx(1.6), pytest.approx(6.4), 2)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: parts("luck"), "experiment must be one of"),  # type: ignore[arg-type]
        (lambda: parts("tails", 0), "trials must be"),
        (lambda: output_densities(0.0), "epsilon must be positive"),
    ],
)
def test_impossible_values_are_refused_with_a_reason(call: object, sentence: str) -> None:
    with pytest.raises(InvalidInput, match=sentence):
        call()  # type: ignore[operator]


def test_the_two_laws_have_mean_zero_and_variance_one() -> None:
    for law in laws().values():
        assert law.mean.tolist() == [0.0] and law.moment(2) == pytest.approx(1)
    assert laws()[STUDENT].moment(3) == math.inf


def test_the_largest_record_grows_as_the_tail_index_predicts() -> None:
    table = series_table(rows_of("tails"))
    assert column(table, STUDENT, "x") == list(SIZES)
    heavy, light = (column(table, law, "median") for law in (STUDENT, GAUSSIAN))
    assert heavy == sorted(heavy) and heavy[-1] > 4 * light[-1]
    # A sample's largest record is below its law's 1 % quantile with probability 1 %. For the median
    # of 30 samples, 15 of them would have to be, which is rarer than the alarm rate.
    assert binom.sf(14, 30, 0.01) < ALARM
    high = norm.isf((1 - 0.99 ** (1 / SIZES[-1])) / 2)
    low = norm.isf((1 - 0.01 ** (1 / SIZES[-1])) / 2)
    assert low < light[-1] < high


def test_the_gaussian_records_are_spread_like_their_law() -> None:
    n, edges = 10_000, np.linspace(-4, 4, 33)
    rng = np.random.default_rng(0)
    records = {name: law.sample(n, rng).x[:, 0] for name, law in laws().items()}
    counts = {name: np.histogram(own, edges)[0] for name, own in records.items()}
    exact, alarm = np.diff(norm.cdf(edges)), ALARM / (2 * (len(edges) - 1))
    assert (counts[GAUSSIAN] <= binom.isf(alarm, n, exact)).all()
    assert (counts[GAUSSIAN] >= binom.ppf(alarm, n, exact)).all()
    middle = np.abs(edges[:-1] + 0.125) < 0.25
    assert counts[STUDENT][middle].sum() > 1.5 * counts[GAUSSIAN][middle].sum()


def laplace_guess(epsilon: float) -> float:
    """Return the probability that the best guess is right for Laplace noise."""
    return 1 - math.exp(-epsilon / 2) / 2


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
def test_the_densities_of_neighbours_differ_by_at_most_the_factor_of_epsilon(
    epsilon: float,
) -> None:
    outputs, density_without, with_it = output_densities(epsilon)
    ratio = np.maximum(density_without / with_it, with_it / density_without)
    assert ratio.max() == pytest.approx(math.exp(epsilon))
    assert np.trapezoid(density_without, outputs) == pytest.approx(1, abs=0.02)


def test_guesses_are_right_as_often_as_the_noise_predicts() -> None:
    rows = rows_of("neighbours")
    counts, shares = running_share(rows)
    n = int(counts[-1])
    right = round(n * shares[-1])
    assert {r.series for r in rows} == {RIGHT} and n == 4000

    def fits(epsilon: float) -> bool:
        """Return whether the number of right guesses agrees with this epsilon."""
        exact = laplace_guess(epsilon)
        return bool(binom.ppf(ALARM / 2, n, exact) <= right <= binom.isf(ALARM / 2, n, exact))

    assert fits(1.0)
    assert not fits(2.0)  # Half of the noise would be detected.
    assert not fits(0.5)  # Twice the noise would also be detected.
    assert laplace_guess(1.0) < guess_ceiling(1.0)
    assert guess_ceiling(1e-9) == pytest.approx(0.5)


def test_the_radius_trades_bias_against_noise() -> None:
    rows = rows_of("radius")
    table = series_table(rows)
    private, bias = column(table, PRIVATE, "mean"), column(table, BIAS, "mean")
    cut = column(table, CUT, "mean")
    best = int(np.argmin(private))
    assert 0 < best < len(RADII) - 1
    assert private[0] > 3 * private[best] and private[-1] > 3 * private[best]
    assert cut == sorted(cut, reverse=True) and cut[0] == 1 and cut[-1] == 0
    assert bias == sorted(bias, reverse=True)  # A smaller radius has a larger bias.
    assert bias[-1] < 1e-3 * bias[0]  # At this radius no record is clipped.


def test_the_noise_is_that_of_the_mechanism() -> None:
    d, setting = RADIUS_POINT.d, RADIUS_POINT.setting
    for row in (row for row in rows_of("radius") if row.series == NOISE):
        std = SimpleClipping(radius=row.x).plan(setting).noise.noise_std
        assert row.value == pytest.approx(math.sqrt(d) * std)


def test_rhos_add_up_and_the_sum_is_converted_once() -> None:
    rows = {(row.series, row.x): row.value for row in rows_of("budgets")}
    for count in RELEASES:
        whole = count * RELEASE.rho
        assert rows[lessons.SUMMED, count] == pytest.approx(zcdp_epsilon(whole, RELEASE.delta))
        exact = rows[lessons.EXACT, count]  # At this epsilon Gaussian noise has the delta below.
        mu = math.sqrt(2 * whole)
        tail = norm.sf(exact / mu - mu / 2) - math.exp(exact) * norm.sf(exact / mu + mu / 2)
        assert tail == pytest.approx(RELEASE.delta, rel=1e-6)
        assert exact <= rows[lessons.SUMMED, count]
        single = gaussian_epsilon(RELEASE.rho, RELEASE.delta / count)
        assert rows[lessons.ADDED, count] == pytest.approx(count * single)
    assert rows[lessons.ADDED, 100] > 9 * rows[lessons.SUMMED, 100]


def test_seven_records_separate_any_two_candidates_and_group_privacy_limits_the_answer() -> None:
    corners = [np.array(signs, dtype=float) for signs in by_hand.CANDIDATES.values()]
    spike = by_hand.proof().spike_size
    records = {i: np.tile(spike * signs, (by_hand.SPIKES, 1)) for i, signs in enumerate(corners)}
    for i, signs in enumerate(corners):
        assert by_hand.mean_of(signs) == pytest.approx(records[i].sum(axis=0) / by_hand.RECORDS)
    # The divergence of two Gaussian outputs is the squared distance over twice the variance.
    step = 2 * spike * math.sqrt(by_hand.SIGNS) / by_hand.RECORDS
    variance = step**2 / (2 * by_hand.RHO)
    told = [
        float(np.sum((by_hand.mean_of(a) - by_hand.mean_of(b)) ** 2)) / (2 * variance)
        for a in corners
        for b in corners
    ]
    assert max(told) == pytest.approx(by_hand.RHO * by_hand.SPIKES**2)
    assert max(told) == pytest.approx(by_hand.proof().told)


def test_the_nearest_candidate_is_right_as_often_as_predicted_and_less_often_than_the_limit() -> (
    None
):
    rows = [row for row in rows_of("packing") if row.series == by_hand.SHARE]
    games = int(sum(row.x for row in rows))
    right = sum(round(row.x * row.value) for row in rows)
    # Each sign is right if the noise does not cross 0, which depends on theta over the noise's
    # standard deviation.
    signal = by_hand.SPIKES * math.sqrt(2 * by_hand.RHO) / (2 * math.sqrt(by_hand.SIGNS))
    share = norm.cdf(signal) ** by_hand.SIGNS
    low, high = binom.ppf([ALARM / 2, 1 - ALARM / 2], games, share)
    assert low <= right <= high
    assert share < by_hand.naming_chance()


@pytest.mark.parametrize("d", [1, 2, 10, 20])
def test_the_limit_on_naming_a_pattern_solves_the_inequality_of_the_note(d: int) -> None:
    limit, blind = by_hand.naming_chance(d), 2.0**-d
    kappa = by_hand.RHO * by_hand.SPIKES**2
    assert blind < limit < 1
    odds = math.log(limit * (1 - blind) / (blind * (1 - limit)))
    both_ways = (limit - blind) * odds
    gap = math.sqrt(d * math.log(2)) - math.sqrt(kappa)
    all_orders = math.exp(-(max(0.0, gap) ** 2))
    is_first = both_ways == pytest.approx(kappa * (1 - blind), rel=1e-5)
    assert is_first or limit == pytest.approx(all_orders)
    assert limit <= all_orders * (1 + 1e-9) and both_ways <= kappa * (1 - blind) * (1 + 1e-5)


def test_a_packing_has_at_least_one_sign() -> None:
    with pytest.raises(InvalidInput, match="d must be at least 1, got d=0"):
        by_hand.naming_chance(0)


def test_the_command_prints_the_same_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["experiment", "tails", "--trials", "2", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    table = series_table([row for part in parts("tails", 2) for row in run_part(part)])
    assert [row["median"] for row in document["rows"]] == list(table["median"])
    assert main(["experiment", "neighbours", "--trials", "1"]) == 0
    assert capsys.readouterr().out.splitlines()[0].split()[0] == "series"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            ["luck"],
            "experiment must be one of tails, neighbours, radius, look, budgets, packing, "
            "attacker, got experiment=luck.",
        ),
        (["tails", "--trials", "0"], "trials must be an integer between"),
        (["tails", "--seed", "x"], "seed must be an integer"),
    ],
)
def test_the_command_reports_errors_in_its_arguments(
    arguments: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["experiment", *arguments]) == 2
    assert sentence in capsys.readouterr().err


def test_the_squares_of_the_parts_add_up_to_the_square_of_the_error() -> None:
    """The error is a root mean square, so the sum is exact up to the noise of the trials."""
    table = series_table(rows_of("radius"))
    whole, *part_totals = (
        np.array(column(table, name, "mean")) ** 2
        for name in (PRIVATE, BIAS, lessons.SAMPLING, NOISE)
    )
    assert whole == pytest.approx(sum(part_totals), rel=0.35)
    assert np.mean(whole / sum(part_totals)) == pytest.approx(1, abs=0.1)
