"""Errata of Lowy et al.: every experiment satisfies the conditions of the statement it tests."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest

from dpsco_core.explain.errata import SLUGS, erratum
from dpsco_core.explain.errata import lowy_runs as runs
from dpsco_core.methods.user.level import UserLevel, printed_multiplier
from dpsco_core.methods.user.printed_schedules import (
    best_decay,
    fills_groups,
    phase_users,
    printed_batch,
)
from dpsco_core.privacy.budget import gaussian_delta
from tests.explain.errata.ranges import experiments, recorded, theorem_b1, theorem_c1, theorem_c3


def column(finding: runs.Finding, name: str) -> list[float]:
    """Return a column of a finding's table as numbers."""
    return [float(row[finding.columns.index(name)]) for row in finding.rows]


def test_every_experiment_has_a_test_of_its_range() -> None:
    covered = {"kept-points", "laplace-tail", "empty-groups", "gaussian-definition", "batches"}
    covered |= {"missing-logarithm", "with-replacement", "first-noise", "power-of-epsilon"}
    covered |= {"reversed-sandwich", "smoothed-regulariser", "dropped-gradients"}
    covered |= {"sum-for-minimum", "few-draws", "any-smoothness"}
    assert experiments("lowy") == {f"lowy.{name}" for name in covered}


def test_criticisms_that_the_paper_answers_are_withdrawn() -> None:
    # Footnote 3 and the abstract speak of non-trivial algorithms. The counts and conditions that
    # seemed contradictory belong to two algorithms, and to n = d (footnote 2).
    assert "lowy.trivial-is-better" not in SLUGS
    assert "lowy.prior-conditions" not in SLUGS


SETTINGS = [
    (runs.laplace_excess, theorem_b1),
    (runs.first_phase_noise, theorem_b1),
    (runs.power_of_epsilon, theorem_b1),
    (runs.batch_too_large, theorem_c3),
    (runs.missing_logarithm, theorem_c1),
    (runs.regulariser_without_privacy, theorem_c3),
    (runs.gradient_count, theorem_c3),
    (runs.sum_for_minimum, theorem_c3),
    (runs.few_draws, theorem_c3),
    (runs.smoothness_too_large, theorem_c3),
]


@pytest.mark.parametrize(("run", "holds"), SETTINGS, ids=[run.__name__ for run, _ in SETTINGS])
def test_every_setting_satisfies_the_conditions_of_the_theorem(
    monkeypatch: pytest.MonkeyPatch,
    run: Callable[[], runs.Finding],
    holds: Callable[[UserLevel], bool],
) -> None:
    for level in recorded(monkeypatch, runs, "_user_level", run, UserLevel):
        assert holds(level), level
        if holds is theorem_b1:
            assert fills_groups(level)  # Otherwise the algorithm cannot run at all.


def test_the_condition_of_theorem_b1_holds_where_its_groups_are_empty(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    finding = runs.empty_groups()
    empty = [row for row in finding.rows if row[4:] == ("holds", "no")]
    settings = recorded(monkeypatch, runs, "_user_level", runs.empty_groups, UserLevel)
    for row in empty:
        (level,) = (s for s in settings if (s.n, s.m) == row[:2])
        assert theorem_b1(level)
    assert empty


def test_no_decay_fills_the_groups_of_ten_thousand_users() -> None:
    for m in (1, 10**6):
        level = UserLevel(n=10_000, m=m, d=1, epsilon=1.0, delta=0.5)
        assert not any(fills_groups(level, k / 1000) for k in range(1, 3000))


def test_algorithm_3_draws_as_many_users_as_the_hub_has_petals() -> None:
    finding = runs.kept_points()
    for count, score in zip(column(finding, "K"), column(finding, "score / K"), strict=True):
        # This is a lower bound on K of Algorithm 3, at m = 1, epsilon = 10 and delta = 1e-6, with
        # n_i = K.
        assert count >= 500 * (2 * math.log(count) + 10 + math.log(1e6)) / 10
        # Under the events of Lemma C.2 the noise of each of the two tests stays within K/20 of
        # 4K/5.
        assert score >= 4 / 5 - 1 / 20 - 1 / 20 - 1e-12


def test_the_gaussian_definition_is_tested_where_the_proofs_use_it() -> None:
    for epsilon in (0.01, 0.1, 0.5, 1.0, 2.0, 2.5):
        for delta in (0.99, 0.9, 0.5, 0.1, 1e-3, 1e-6, 1e-12, 1e-30):
            noise = printed_multiplier(epsilon, delta)
            assert gaussian_delta(1 / (2 * noise**2), epsilon) <= delta
    for epsilon, delta in ((6.6, 0.5), (9.9, 1e-6)):
        noise = printed_multiplier(epsilon, delta)
        assert gaussian_delta(1 / (2 * noise**2), epsilon) > delta
    # Definition A.5 is stated for every epsilon > 0 and delta in (0, 1), so it lacks a condition.
    assert min(column(runs.gaussian_definition(), "ε")) > 0
    assert erratum("lowy.gaussian-definition").severity == "missing condition"


def test_the_chain_of_theorem_c1_is_tested_at_batches_within_the_phase(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for level in recorded(monkeypatch, runs, "_user_level", runs.missing_logarithm, UserLevel):
        users = phase_users(level.n, 1, best_decay(level.n))
        batch = printed_batch(level, users, 10**7)
        assert users * level.epsilon / math.sqrt(10**7) <= batch <= users


def test_no_constant_makes_the_printed_noise_large_enough_for_its_proof() -> None:
    ratios = column(runs.missing_logarithm(), "ratio")
    # The logarithm of delta doubles from row to row, and the ratio falls towards half of the row
    # above.
    assert all(0.5 < b / a < 0.6 for a, b in pairwise(ratios))
    assert erratum("lowy.missing-logarithm").severity == "gap in proof"


def test_users_with_several_slots_are_counted_among_as_many_as_the_paper_draws() -> None:
    finding = runs.repeated_users()
    for users, draw_count in zip(column(finding, "users"), column(finding, "drawn"), strict=True):
        # The bound is evaluated at m = 1, epsilon = 1 and delta = 1e-6.
        assert users >= draw_count >= 500 * (2 * math.log(users) + 1 + math.log(1e6))


def test_the_mean_norm_in_a_ball_is_the_one_of_lemma_d1() -> None:
    rng = np.random.default_rng(11)
    finding = runs.reversed_sandwich()
    for d, exact in zip(column(finding, "d"), column(finding, "f_r(0) − f(0)"), strict=True):
        # The norm is convex and 1-Lipschitz; a random point of the ball has norm r U^(1/d).
        radii = 0.5 * rng.random(200_000) ** (1 / d)
        assert radii.mean() == pytest.approx(exact, abs=5 * radii.std() / math.sqrt(200_000))


def test_the_count_of_theorem_4_1_fails_only_for_very_many_items() -> None:
    finding = runs.gradient_count()
    for n, m, epsilon, ratio in zip(
        *(column(finding, name) for name in ("n", "m", "ε", "ratio")), strict=True
    ):
        assert (ratio > 1.001) == (m > n**2.5 * epsilon**3)


def test_a_larger_j_makes_the_first_noise_small() -> None:
    # Theorem B.1 allows every J with m <= n^J, and both eta_1 and its noise are proportional to
    # 2^-J.
    entry = erratum("lowy.first-noise")
    assert entry.severity == "valid but loose" and "least J" in entry.wrong


def test_true_statements_of_lowy_et_al_are_not_called_wrong() -> None:
    for name in ("unused-users", "first-noise", "power-of-epsilon", "sum-for-minimum"):
        assert erratum(f"lowy.{name}").severity == "valid but loose"


def test_the_steps_of_phase_one_draw_fewer_users_than_it_has() -> None:
    """Algorithm 3 is written out for a phase of a loss with almost no curvature."""
    n, epsilon, log_delta, q = 1e16, 2e-7, math.log(1e17), 0.1
    users = (1 - 2**-q) * n * 2**-q
    steps = math.ceil(math.log(n))
    batch = math.log(users**2 * math.exp(epsilon) * 1e17)
    batch *= 500 * (1 / epsilon + users * epsilon / math.sqrt(steps * log_delta))
    assert users / (steps * batch) == pytest.approx(38.005, rel=1e-4)
    ratios = column(runs.few_draws(), "n_i / (K_i T_i)")
    assert ratios[0] == pytest.approx(21.29, rel=1e-3)  # The first ratio is that at beta R / L = 1.
    assert ratios[-1] > 1000 * ratios[0]


def test_the_last_term_exceeds_that_of_the_proof_at_the_named_power() -> None:
    ratios = column(runs.smoothness_too_large(), "ratio")
    n, q, rest = 1e7, 0.1, (1 - 2**-0.1)
    phases = math.floor(math.log2(n))
    for ratio, power in zip(ratios[1:], (8 + 11 * q, 12 + 11 * q, 16 + 11 * q), strict=True):
        regulariser = (n**-0.5 + 1 / n) * 2 ** ((3 * q + 2.5) * phases)
        steps = math.sqrt(n**power / regulariser) * math.log(n)
        expected = math.sqrt(steps) / regulariser / (rest * 2 ** (-q * phases))
        assert ratio == pytest.approx(expected, rel=1e-3)
