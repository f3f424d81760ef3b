"""Errata of Zhao et al. and Kamath et al.: every experiment is within its statement's range.

A criticism is fair only with the printed formula and conditions. The experiments compute the
conditions; the formulas are written out here a second time, from the papers.
"""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import linprog
from scipy.stats import norm

from dpsco_core.base.cards import KAMATH_2022, ZHAO_2024
from dpsco_core.cli.main import main
from dpsco_core.explain.errata import (
    ERRATA,
    SLUGS,
    Erratum,
    Finding,
    erratum,
    finding_dict,
    kamath_runs,
    zhao_runs,
)
from tests.folded import each

RUNS = [e for e in ERRATA if e.paper in (KAMATH_2022, ZHAO_2024) and e.experiment is not None]
DELTA = 1e-6


def column(finding: Finding, name: str) -> list[float]:
    """Return a column of a finding's table as numbers."""
    return [float(row[finding.columns.index(name)]) for row in finding.rows]


@each("entry", RUNS, ids=[e.slug for e in RUNS])
def test_a_demonstration_is_inside_the_range_of_its_statement(entry: Erratum) -> None:
    assert entry.experiment is not None
    finding = entry.experiment.run()
    assert finding.conditions and finding.is_in_range, finding.conditions
    assert finding_dict(finding)["conditions"][0]["met"] is True


def test_a_finding_without_conditions_or_with_a_failing_one_is_out_of_range() -> None:
    row = Finding(sentence="x.", columns=("a",), rows=((1.0,),), shows=True)
    assert not row.is_in_range
    missed = Finding(
        sentence="x.",
        columns=("a",),
        rows=((1.0,),),
        shows=True,
        conditions=(("a > 0", True), ("a > 1", False)),
    )
    assert not missed.is_in_range


def share_by_24(groups: float, epsilon: float) -> float:
    """Return the share of the budget of one of `groups` groups by equation (24) of Zhao et al."""
    wide = 1 + 2 * math.sqrt(math.log(12 * groups / DELTA))
    return epsilon**2 * groups / (64 * math.e**4 * math.log(8 / DELTA) * wide**2)


def delta_of_the_maximum(rho: float, groups: int, epsilon: float, size: int) -> float:
    """Return the exact delta of the largest group mean, max_j Q_j, on a fixed split into groups of
    `size`, by quadrature.

    In units of the noise one record moves a mean by sqrt(2 rho); group 1 is at +gap/2 and the other
    groups at -gap/2.
    """
    step = math.sqrt(2 * rho)
    gap = size * step

    def density(x: float, mean: float) -> float:
        """Return the density of the maximum when one mean has moved."""
        mass_below = norm.cdf(x + gap / 2)
        first_density = norm.pdf(x - mean) * mass_below ** (groups - 1)
        other_density = (groups - 1) * mass_below ** (groups - 2) * norm.pdf(x + gap / 2)
        return float(first_density + norm.cdf(x - mean) * other_density)

    def excess(x: float) -> float:
        """Return the integrand of the hockey-stick divergence at x."""
        return max(0.0, density(x, gap / 2) - math.exp(epsilon) * density(x, gap / 2 - step))

    start = gap / 2 - step / 2 + epsilon / step  # The densities cross at this point.
    return float(quad(excess, start, start + 12, epsabs=1e-14, epsrel=1e-9, limit=200)[0])


def test_the_erratum_on_shuffled_groups_uses_only_the_papers_own_formula() -> None:
    """The factors are 221 and 2.66 times the claim, and not the constants of another inversion."""
    finding = zhao_runs.group_shuffle()
    groups, epsilons = column(finding, "groups k"), column(finding, "ε")
    shares = [share_by_24(k, e) for k, e in zip(groups, epsilons, strict=True)]
    assert column(finding, "ρ by (24)") == pytest.approx(shares, rel=1e-12)
    over_claim = dict(
        zip(zip(groups, epsilons, strict=True), column(finding, "over claim"), strict=True)
    )
    assert over_claim[1e6, 0.05] == pytest.approx(220.637, abs=1e-3) == max(over_claim.values())
    assert over_claim[3e5, 0.2] == pytest.approx(2.66189, abs=1e-5)
    assert over_claim[1e5, 0.2] < over_claim[2e5, 0.2] < 1


@pytest.mark.parametrize(("groups", "epsilon"), [(10**6, 0.05), (300_000, 0.2)])
def test_the_maximum_over_finite_groups_spends_what_the_erratum_states(
    groups: int, epsilon: float
) -> None:
    finding = zhao_runs.group_shuffle()
    texts = dict(
        zip(column(finding, "groups k"), column(finding, "δ on a fixed split"), strict=True)
    )
    exact = delta_of_the_maximum(share_by_24(groups, epsilon), groups, epsilon, size=2000)
    assert exact == pytest.approx(texts[groups], rel=1e-6)
    assert epsilon <= 8 * math.e**2 * math.sqrt(math.log(4 / DELTA) / groups)


def test_a_random_split_is_not_criticised_for_the_fault_of_a_fixed_one() -> None:
    """Algorithm 3, line 1, divides randomly, and then the conclusion of Theorem 6 is true."""
    entry = erratum("zhao.group-shuffle")
    assert entry.severity == "gap in proof"
    assert "Line 1 of Algorithm 3 divides the records randomly" in entry.wrong
    assert "the conclusion is true" in entry.wrong


def test_without_its_side_condition_equation_24_gives_less_than_no_shuffling() -> None:
    """The omission in the proof therefore never makes the conclusion of Theorem 6 false."""
    for delta in (1e-12, 1e-6, 1e-3, 0.3):
        for groups in np.unique(np.geomspace(1, 16 * math.e * math.log(4 / delta), 40).astype(int)):
            wide = 1 + 2 * math.sqrt(math.log(12 * groups / delta))
            by_24 = groups / (64 * math.e**4 * math.log(8 / delta) * wide**2)
            by_15 = 1 / (1 + 2 * math.sqrt(math.log(1 / delta))) ** 2
            assert by_24 < 0.05 * by_15
    assert erratum("zhao.side-condition").severity == "gap in proof"


def test_the_quoted_lower_bound_has_no_limit_in_epsilon_or_delta() -> None:
    finding = zhao_runs.quoted_bound()
    n, d, order = 1000, 10, 3.0
    for epsilon, delta, quoted, largest in zip(
        *(column(finding, c) for c in ("ε", "δ", "quoted bound", "largest excess risk LM")),
        strict=True,
    ):
        private = math.sqrt(d) * (math.sqrt(d) / (n * epsilon)) ** (1 - 1 / order)
        assert quoted == pytest.approx(math.sqrt(d / n) + private * math.log(1 / delta))
        assert largest == 2.0
    assert max(column(finding, "ratio")) > 1000


def test_the_missing_diameters_are_tested_where_the_truncation_is_at_least_10() -> None:
    for run in (kamath_runs.lost_diameter_smoothed, kamath_runs.lost_diameter_coordinatewise):
        finding = run()
        assert min(column(finding, "τ")) >= 10
        ratio = column(finding, "lower / printed")
        assert ratio == sorted(ratio) and ratio[-1] > 100


def test_a_lower_bound_exceeds_theorem_5_5_at_every_q_in_its_own_class() -> None:
    """The formulas are written out again, with tau at least 10 for all q, and the least printed
    rate.
    """
    finding = kamath_runs.lost_diameter_smoothed()
    rho, d = 0.5, 20
    powers = np.linspace(0.5, 2, 301)
    last_row = {name: column(finding, name)[-1] for name in finding.columns}
    diameter, n = last_row["M"], last_row["n"]
    assert np.sqrt(math.sqrt(rho) * n / (diameter * d**powers)).min() >= 10
    rates = math.sqrt(diameter / n) * (
        d ** ((3 - powers) / 2) + d ** ((1 + powers) / 2) / rho**0.25
    )
    assert last_row["printed rate"] == pytest.approx(rates.min(), rel=1e-4)
    assert last_row["lower bound"] > 100 * rates.min()


def test_the_lower_bound_under_assumption_2_12_is_below_the_error_of_an_algorithm() -> None:
    """The algorithm is the clipped mean of the hard instance's records, as an estimate of lambda
    w.
    """
    n, d, order, rho, diameter = 2000, 3, 2.0, 0.5, 4.0
    hard = kamath_runs._lower_bound_in_set(n, d, order, rho, diameter)
    theta, size = hard.norm / math.sqrt(d), hard.spike ** (-1 / order)
    # The best linear private estimate shrinks the mean of the records plus Gaussian noise.
    sampling = (hard.spike * size**2 - theta**2) / n
    noise = (2 * size * math.sqrt(d) / n) ** 2 / (2 * rho)
    variance = sampling + noise
    squared = d * theta**2 * variance / (theta**2 + variance)
    assert 0 < hard.bound < squared / (2 * hard.smoothness)
    assert hard.smoothness <= 10 and 2 * hard.norm <= 10
    assert hard.norm / hard.smoothness == pytest.approx(diameter / 2)


def test_the_median_of_blocks_is_shown_at_the_papers_tau_and_number_of_blocks() -> None:
    finding = kamath_runs.median_moves()
    blocks, betas = column(finding, "blocks m"), column(finding, "β")
    assert [4 * math.log(2 / b) for b in betas] == pytest.approx(blocks)
    assert column(finding, "printed 12τm/n") == pytest.approx([12 * 10 / 5] * len(blocks))
    assert erratum("kamath.median-sensitivity").severity == "valid but loose"


def test_rounding_the_blocks_can_break_the_printed_sensitivity() -> None:
    finding = kamath_runs.rounded_blocks()
    row = dict(zip(finding.columns, finding.rows[-1], strict=True))
    assert row["n"] == 37 and row["blocks"] == 19
    assert float(row["printed 12τm/n"]) == pytest.approx(48 * 10 * math.log(100) / 37)
    assert row["worst neighbours"] == pytest.approx(60.0)


def test_the_first_bound_of_theorem_3_2_is_one_on_the_distance() -> None:
    finding = kamath_runs.strong_risk()
    last_row = {name: column(finding, name)[-1] for name in finding.columns}
    assert last_row["R"] == 10
    assert (last_row["printed bound"], last_row["excess risk"]) == pytest.approx((0.75, 1.25))


def test_theorem_1_4_needs_the_divergence_of_all_records() -> None:
    finding = kamath_runs.fano_records()
    beta = (7 * 0.05) ** 2 / 2
    texts = 0.025 * (1 - (beta + math.log(2)) / math.log(8))
    assert column(finding, "printed bound") == pytest.approx([texts] * 4)
    rng = np.random.default_rng(0)
    n, errors = 10**5, []
    for i in range(8):
        x = np.clip(rng.normal(0.05 * i, 1, n), -10, 10)
        errors.append(abs(x.mean() + rng.normal(0, 20 / n / math.sqrt(2)) - 0.05 * i))
    assert np.mean(errors) < column(finding, "error at most")[2] < texts


def test_true_statements_in_print_are_called_loose_and_not_wrong() -> None:
    loose = {e.slug for e in ERRATA if e.severity == "valid but loose"}
    assert {
        "kamath.median-sensitivity",
        "kamath.bias-constant",
        "kamath.disjoint-blocks",
        "zhao.bias-power",
        "zhao.vacuous-constants",
    } <= loose
    for slug in loose:
        if slug.split(".")[0] in ("kamath", "zhao"):
            text = erratum(slug).wrong
            assert "True" in text or slug in ("kamath.bias-constant", "zhao.vacuous-constants")


def test_no_erratum_criticises_a_formula_that_the_paper_does_not_print() -> None:
    """Remark B.3 only states that the smoothed truncation can be computed; T contains R squared."""
    assert "kamath.smoothing-closed-form" not in SLUGS
    assert r"T=R^2\rho n^2/(\tau^2d^4)" in erratum("kamath.uniform-blocks").printed


def test_the_command_says_that_the_numbers_are_inside(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["errata", "--slug", "zhao.group-shuffle"]) == 0
    assert "Inside the statement's range: ε ≤ 8e²√(ln(4/δ)/k)" in capsys.readouterr().out
    assert main(["errata", "--slug", "zhao.group-shuffle", "--json"]) == 0
    finding = json.loads(capsys.readouterr().out)["finding"]
    assert all(condition["met"] for condition in finding["conditions"])


def test_no_law_of_variance_one_gives_the_projected_mean_an_error_above_a_third_root() -> None:
    """A linear program finds the largest risk over laws on a grid, compared with the proven
    bound.
    """
    errors = np.linspace(-8, 8, 801)
    largest = 0.0
    for mean in np.linspace(0.05, 6, 30):
        risks = mean * (1 - np.clip(math.sqrt(3) * (mean + errors), -1, 1))
        worst = linprog(
            -risks,
            A_ub=[errors**2],
            b_ub=[1],
            A_eq=[np.ones_like(errors), errors],
            b_eq=[1, 0],
        )
        largest = max(largest, -worst.fun)
    assert 0.57 < largest <= 1 / math.sqrt(3) + 1e-9
    ratios = column(kamath_runs.sampling_constant(), "ratio")
    assert 1 / math.sqrt(3) < ratios[-1] < 0.6 and ratios == sorted(ratios, reverse=True)


def test_iterates_that_reuse_signs_err_by_more_than_lemma_3_allows() -> None:
    """The iterates are computed directly where there are few of them."""
    row = zhao_runs.bias_of_expectations().rows[0]
    n, size, steps = int(row[0]), float(row[1]), int(row[2])
    iterate = total = 0.0  # The unit is the average sign, whose square has mean 1/n.
    for _ in range(steps):
        total += iterate
        iterate -= size * (iterate - 1)
    assert float(row[3]) == pytest.approx((total / steps) ** 2 / (2 * n), rel=1e-6)
    assert float(row[4]) == pytest.approx(2 / (size * steps) + size * (4 + 1 / n))


def test_the_three_lost_factors_are_those_written_out_here() -> None:
    rows = {str(row[0]).split(":")[0]: row[1:] for row in zhao_runs.lost_factors().rows}
    multipliers = np.linspace(0, 0.5, 100_001)
    infimum = np.min(np.exp(-0.5 * multipliers + 0.0075 * multipliers**2))
    assert rows["(50)"] == pytest.approx((infimum, math.exp(-25 / 3)))
    assert rows["(115)"] == (0.5, 0.25)
    assert rows["(37)"] == (0.25, 2.25)
