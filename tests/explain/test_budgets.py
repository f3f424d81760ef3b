"""The calculator's numbers are inverse to each other, in the proven order, and those of the
ledger.
"""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from dp_accounting.pld import common
from dp_accounting.pld import privacy_loss_distribution as pld
from scipy.stats import norm

from dpsco_core.audit.samples import samples
from dpsco_core.base.errors import InvalidInput
from dpsco_core.catalogue import method_card
from dpsco_core.cli.main import main
from dpsco_core.explain.budgets import (
    Point,
    batched,
    composed,
    conversions,
    epsilon_curves,
    guess_ceiling,
    laplace_conversion,
    promises,
    release_counts,
    shuffling,
    subsampled,
    subsampling_curve,
)
from dpsco_core.explain.recipe.ledgers import account, spendings
from dpsco_core.methods.user.accelerated.batches import batch_plan
from dpsco_core.privacy import (
    ZCDP,
    ApproxDP,
    GaussianNoise,
    LaplaceNoise,
    Ledger,
    PureDP,
    TestedReleases,
    laplace_rho,
)
from dpsco_core.privacy.budget import gaussian_delta, gaussian_epsilon, gaussian_rho, zcdp_epsilon
from dpsco_core.privacy.filter.plan import Tuning
from dpsco_core.privacy.filter.robust_mean import RobustFilter
from dpsco_core.runs.study import cells, run_cell
from dpsco_core.scenario import Scenario


@pytest.mark.parametrize(("epsilon", "delta"), [(0.1, 1e-6), (1.0, 1e-6), (5.0, 1e-3)])
def test_converting_there_and_back_is_the_identity(epsilon: float, delta: float) -> None:
    rows = conversions(Point(kind="approx", epsilon=epsilon, delta=delta))
    assert [c.name for c in rows] == ["paper", "tight", "gaussian"]
    assert rows[0].rho < rows[1].rho < rows[2].rho
    for index, conversion in enumerate(rows):
        row = conversions(Point(kind="zcdp", rho=conversion.rho, delta=delta))[index]
        assert row.epsilon == pytest.approx(epsilon, rel=1e-6)
    assert gaussian_delta(rows[2].rho, epsilon) == pytest.approx(delta, rel=1e-6)


def test_a_pure_budget_never_reads_back_as_more() -> None:
    for epsilon in (0.1, 1.0, 10.0):
        point = Point(kind="pure", epsilon=epsilon, delta=1e-6)
        printed, tight = conversions(point)
        assert printed.rho == epsilon**2 / 2 and tight.rho == epsilon * math.tanh(epsilon / 2)
        laplace = laplace_conversion(point)
        assert laplace is not None
        assert laplace.rho == pytest.approx(epsilon + math.exp(-epsilon) - 1, rel=1e-12)
        assert laplace.epsilon <= tight.epsilon <= printed.epsilon <= epsilon
    assert laplace_conversion(Point(kind="zcdp")) is None
    names = [c.name for c in conversions(Point(kind="pure", epsilon=0.01, delta=1e-6))]
    # Noise under a pure budget is not Gaussian, so it has no Gaussian curve.
    assert names == ["paper", "tight"]


def test_the_curves_are_ordered_and_rise() -> None:
    curves = epsilon_curves(1e-6)
    assert (curves.paper >= curves.tight).all() and (curves.tight >= curves.gaussian).all()
    for name in ("paper", "tight", "gaussian"):
        assert (np.diff(getattr(curves, name)) > 0).all()


def _zcdp(rho: float) -> Point:
    """Return the point of a zCDP budget."""
    return Point(kind="zcdp", rho=rho)


def test_composition_is_exact_for_one_release_and_best_by_the_exact_curve() -> None:
    single = composed(_zcdp(0.01), 1)
    assert single.basic == pytest.approx(single.exact) and single.zcdp > single.exact
    for k in (2, 10, 100, 1000):
        composition = composed(_zcdp(0.01), k)
        assert composition.exact < composition.zcdp < min(composition.basic, composition.advanced)
    # The cost of k releases is of order k or of order sqrt(k), for a hundred times as many
    # releases.
    small, large = composed(_zcdp(1e-5), 10), composed(_zcdp(1e-5), 1000)
    assert large.basic / small.basic > 90
    assert 9 < large.exact / small.exact < 12
    assert math.isinf(composed(_zcdp(1e6), 1000).advanced)
    assert release_counts(150) == (1, 2, 5, 10, 20, 50, 100, 150)


@pytest.mark.parametrize("delta", [1e-6, 1e-2])
def test_ten_releases_of_a_pure_budget_cost_ten_times_its_epsilon(delta: float) -> None:
    composition = composed(Point(kind="pure", epsilon=1.0, delta=delta), 10)
    assert (composition.basic, composition.basic_delta) == (10.0, 0.0)
    assert composition.rho == math.tanh(0.5) and composition.laplace_rho == laplace_rho(1.0)
    # The loss exceeds 8 only if all ten randomised responses are true answers.
    all_true = (math.e / (1 + math.e)) ** 10
    assert composition.exact == pytest.approx(10 + math.log1p(-delta / all_true), rel=1e-9)
    by_hand = math.sqrt(20 * math.log(1 / delta)) + 10 * (math.e - 1)
    assert composition.advanced == pytest.approx(by_hand, rel=1e-12)
    assert composition.zcdp == zcdp_epsilon(10 * math.tanh(0.5), delta)


@pytest.mark.parametrize(
    ("epsilon", "releases", "delta"),
    [(1.0, 10, 1e-6), (0.1, 100, 1e-6), (0.1, 1000, 1e-3), (0.5, 300, 1e-8), (2.0, 3, 1e-2)],
)
def test_dp_accounting_agrees_on_releases_of_pure_dp(
    epsilon: float, releases: int, delta: float
) -> None:
    parameters = common.DifferentialPrivacyParameters(epsilon, 0)
    # The width divides epsilon, so the losses lie on its grid and are not rounded.
    width = epsilon / 1000
    loss = pld.from_privacy_parameters(parameters, value_discretization_interval=width)
    oracle = loss.self_compose(releases).get_epsilon_for_delta(delta)
    composition = composed(Point(kind="pure", epsilon=epsilon, delta=delta), releases)
    assert composition.exact == pytest.approx(oracle, rel=1e-5)
    assert composition.exact <= min(composition.basic, composition.advanced, composition.zcdp) * (
        1 + 1e-9
    )


@pytest.mark.parametrize(("epsilon", "releases"), [(1.0, 1), (1.0, 10), (0.1, 200)])
def test_an_approximate_budget_is_composed_as_the_gaussian_noise_that_meets_it(
    epsilon: float, releases: int
) -> None:
    point = Point(kind="approx", epsilon=epsilon)
    composition = composed(point, releases)
    assert composition.rho == gaussian_rho(epsilon, 1e-6)
    assert composition == composed(_zcdp(composition.rho), releases)
    assert composition.exact == gaussian_epsilon(releases * composition.rho, 1e-6)
    assert composition.basic_delta == 1e-6
    sigma = 1 / math.sqrt(2 * composition.rho)
    loss = pld.from_gaussian_mechanism(sigma, value_discretization_interval=epsilon / 1000)
    oracle = loss.self_compose(releases).get_epsilon_for_delta(1e-6)
    assert composition.exact == pytest.approx(oracle, rel=5e-3)
    if releases == 1:
        assert composition.basic == pytest.approx(epsilon, rel=1e-6)


def test_the_exact_composition_agrees_with_a_ledger() -> None:
    ledger, rng = Ledger(ApproxDP(epsilon=50.0, delta=1e-6)), np.random.default_rng(0)
    for _ in range(20):
        ledger.release(GaussianNoise(l2_sensitivity=1.0, rho=0.02), np.zeros(1), rng)
    spent = ledger.spent()
    assert isinstance(spent, ApproxDP)
    assert spent.epsilon == pytest.approx(composed(_zcdp(0.02), 20).exact, rel=1e-9)


def test_shuffling_helps_with_many_records_and_the_exact_sum_helps_most() -> None:
    small = {s.name: s.rho for s in shuffling(20, 1.0, 1e-6)}
    assert small["printed"] is None and small["closed"] is None
    assert small["steps"] == small["none"]
    large = {s.name: s.rho for s in shuffling(10_000, 1.0, 1e-6)}
    assert all(rho is not None for rho in large.values())
    order = [large[name] or 0.0 for name in ("printed", "none", "closed", "numerical", "steps")]
    assert order == sorted(order) and len(set(order)) == 5


def test_a_batch_of_all_records_is_no_sampling() -> None:
    assert subsampled(1.0, 1e-6, 100, 100) == ApproxDP(epsilon=1.0, delta=1e-6)
    _, exact, linear, large = subsampling_curve(2.0, 1e-6, 1000, 20)
    assert (exact <= linear).all() and (np.diff(exact) > 0).all()
    assert exact[-1] == pytest.approx(2.0)
    assert (np.diff(large) > 0).all()
    assert large[-1] == composed(Point(kind="approx", epsilon=2.0, delta=1e-6), 20).exact
    assert exact[0] == pytest.approx(linear[0], rel=0.01)
    with pytest.raises(InvalidInput, match="batch must be at most the 10 records"):
        subsampled(1.0, 1e-6, 11, 10)


@pytest.mark.parametrize("bad", [{"kind": "renyi"}, {"kind": "zcdp", "rho": 0.0}, {"epsilon": -1}])
def test_a_wrong_budget_is_refused(bad: dict[str, object]) -> None:
    with pytest.raises(InvalidInput):
        Point(**({"kind": "approx"} | bad))  # type: ignore[arg-type]


def scenario(method: str, problem: str, **fields: object) -> Scenario:
    """Return a small scenario of a method for a problem."""
    values = {"problem": problem, "methods": (method,), "n": 1000, "d": 3, "trials": 1} | fields
    return Scenario(**values)  # type: ignore[arg-type]


def test_the_account_is_that_of_the_same_cell() -> None:
    point = scenario("sco.clipped", "logistic")
    account_of_run = account(point)
    (cell,) = cells(point)
    assert account_of_run.outcome.error == run_cell(cell).error
    assert account_of_run.outcome.spent == account_of_run.budget == point.budget
    (row,) = account_of_run.spendings
    assert row.count == len(account_of_run.entries) > 1
    assert row.share == pytest.approx(1.0)
    assert row.noise / row.sensitivity == pytest.approx(1 / math.sqrt(2 * row.rho))
    assert not row.flawed and not account_of_run.outcome.flaws and not account_of_run.parallel


def test_disjoint_blocks_may_each_spend_everything() -> None:
    account_of_run = account(scenario("sco.phased-sgd", "logistic"))
    assert account_of_run.parallel and len(account_of_run.spendings) > 1
    assert [row.share for row in account_of_run.spendings] == pytest.approx(
        [1.0] * len(account_of_run.spendings)
    )
    assert account_of_run.outcome.spent == account_of_run.budget


def test_shares_in_two_notions_add_up() -> None:
    account_of_run = account(scenario("sco.objective-perturbation", "logistic"))
    assert [row.mechanism for row in account_of_run.spendings] == [
        "objective perturbation",
        "gaussian",
    ]
    assert sum(row.share for row in account_of_run.spendings) == pytest.approx(1.0)
    tested = account(scenario("user.phased-sgd", "quadratic", n=2000, m=10))
    assert tested.parallel
    assert tested.spendings[0].share + tested.spendings[1].share == pytest.approx(1.0)
    assert method_card("user.phased-sgd").level == "user"


def test_the_ledger_shows_the_batches_that_a_method_draws() -> None:
    keep, budget = (
        RobustFilter(score_radius=40.0, filter_radius=40.0),
        ApproxDP(epsilon=4.0, delta=1e-6),
    )
    for batch, part in ((1000, "secret batches of 1,000 of 4,000 in block 2"), (4000, "block 2")):
        plan = batch_plan(4000, batch, 5, 4.0, 1e-6, keep=keep, tuning=Tuning())
        assert plan is not None
        ledger = Ledger(budget)
        block, rng = ledger.disjoint(2)[1], np.random.default_rng(0)
        block.open(TestedReleases(release=plan.release, size=3, rng=rng), label="mean")
        assert {row.records for row in spendings(ledger.entries, budget)} == {part}


def test_a_refusal_has_no_entries() -> None:
    account_of_run = account(scenario("sco.clipped", "logistic", delta=0.0))
    assert account_of_run.outcome.not_applicable is not None
    assert account_of_run.entries == () and account_of_run.spendings == ()
    assert spendings((), PureDP(epsilon=1.0)) == ()


def test_the_samples_of_an_audit_are_all_counted() -> None:
    from dpsco_core.audit.engine import Audit, run_audit
    from dpsco_core.audit.stages import stage

    for method in ("mean.clipped", "mean.cwme-pure"):
        *_, findings = run_audit(Audit(point=stage(method), runs=2000))
        histograms = samples(findings)
        assert histograms.counts.sum() == histograms.neighbour_counts.sum() == 1000
        assert histograms.edges[0] < histograms.threshold < histograms.edges[-1]


def printed(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, object]:
    """Return the document that `dpsco budget --json` prints."""
    assert main(["budget", *words, "--json"]) == 0
    document: dict[str, object] = json.loads(capsys.readouterr().out)
    return document


def test_the_command_agrees_with_the_calculator(capsys: pytest.CaptureFixture[str]) -> None:
    document = printed(capsys, "--releases", "10", "--records", "1000", "--batch", "10")
    titles = [
        "budget",
        "conversions",
        "attacker",
        "share",
        "composition",
        "total",
        "shuffling",
        "subsampling",
        "batches",
    ]
    assert list(document) == ["answer", *titles, "noise", "stated"]
    assert document["batches"]["epsilon"] == batched(1.0, 1e-6, 10, 1000, 10)  # type: ignore[index]
    rows = conversions(Point(kind="approx"))
    assert [c["rho"] for c in document["conversions"]] == [c.rho for c in rows]  # type: ignore[attr-defined]
    exact = {"accounting": "exact", "epsilon": composed(Point(kind="approx"), 10).exact}
    assert document["composition"][-1] == exact | {"delta": 1e-6}  # type: ignore[index]
    pure = printed(capsys, "--epsilon", "2", "--delta", "0")
    assert pure["budget"] == {"kind": "pure", "delta": 1e-6, "epsilon": 2.0}
    rho = rows[-1].rho
    assert document["conversions"][-1]["mu"] == math.sqrt(2 * rho)  # type: ignore[index]
    gaussian = document["attacker"][1]["gaussian_least_misses"]  # type: ignore[index]
    assert gaussian == pytest.approx(0.981675, abs=5e-7)
    attacker: list[dict[str, float]] = pure["attacker"]  # type: ignore[assignment]
    assert {row["gaussian_least_misses"] for row in attacker} == {None}
    least = [max(1 - math.exp(2) * x, math.exp(-2) * (1 - x)) for x in (0.001, 0.01, 0.1)]
    assert [row["least_misses"] for row in attacker] == pytest.approx(least)
    assert printed(capsys, "--rho", "0.5")["budget"] == {"kind": "zcdp", "delta": 1e-6, "rho": 0.5}
    assert main(["budget", "--rho", "0.5", "--releases", "3"]) == 0
    text = capsys.readouterr().out
    assert "Conversions" in text and "Composition" in text


def test_the_command_adds_the_epsilons_of_ten_pure_releases(
    capsys: pytest.CaptureFixture[str],
) -> None:
    composition = composed(Point(kind="pure"), 10)
    assert printed(capsys, "--delta", "0", "--releases", "10")["composition"] == [
        {"accounting": "basic", "epsilon": 10.0, "delta": 0.0},
        {"accounting": "zcdp", "epsilon": composition.zcdp, "delta": 1e-6},
        {"accounting": "exact", "epsilon": composition.exact, "delta": 1e-6},
    ]
    assert composition.exact < 10 < composition.zcdp < composition.advanced
    small = printed(capsys, "--epsilon", "0.1", "--delta", "0", "--releases", "10")
    total = {"rho": 10 * 0.1 * math.tanh(0.05), "laplace_rho": 0.0483741804}
    assert small["total"] == pytest.approx(total, rel=1e-8)
    assert list(printed(capsys, "--releases", "10")["total"]) == ["rho"]  # type: ignore[call-overload]


def test_advanced_composition_is_printed_only_where_it_proves_more_than_a_sum(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def names(*words: str) -> list[object]:
        """Return the names of the accountings that are printed."""
        return [row["accounting"] for row in printed(capsys, *words)["composition"]]  # type: ignore[attr-defined]

    # In this case basic composition gives an epsilon of 1318, and advanced composition 4053.
    assert names("--releases", "1000") == ["basic", "zcdp", "exact"]
    # In this case advanced composition gives an epsilon of 17.1, and a sum 21.2.
    small = ("--rho", "0.001", "--releases", "100")
    assert names(*small) == ["basic", "advanced", "zcdp", "exact"]


@pytest.mark.parametrize(
    ("words", "field_name"),
    [
        (("--epsilon", "x"), "epsilon must be a number"),
        (("--epsilon", "1", "--rho", "1"), "epsilon must be left out beside rho"),
        (("--batch", "3"), "records must be given with batch"),
        (("--rho", "1", "--records", "30"), "budget must be an (epsilon, delta) one"),
        (("--releases", "2.5"), "releases must be an integer"),
        (
            ("--releases", "0"),
            "releases must be an integer between 1 and 1,000,000, got releases=0.",
        ),
        (
            ("--rho", "1e12", "--releases", "1000000"),
            "releases must be at most 1 at this budget, got releases=1000000.",
        ),
        (("--epsilon", "1_0"), "epsilon must be a number, got epsilon=1_0."),
        (("--delta", "2"), "delta must be"),
    ],
)
def test_the_command_refuses_in_one_sentence(
    capsys: pytest.CaptureFixture[str], words: tuple[str, ...], field_name: str
) -> None:
    assert main(["budget", *words]) == 2
    line = capsys.readouterr().err
    assert line.startswith(f"dpsco: {field_name}") and line.count("\n") == 1


@pytest.mark.parametrize("rho", [0.01, 0.1, 1.0])
def test_removing_a_record_costs_half_of_replacing_it(rho: float) -> None:
    replaced, removed = promises(Point(kind="zcdp", rho=rho))
    assert removed.epsilon == pytest.approx(gaussian_epsilon(rho / 4, 1e-6))
    # The best test between two Gaussians never exceeds the proven ceiling, and attains it.
    for promise, share in ((replaced, 1.0), (removed, 0.5)):
        assert 0.5 < norm.cdf(share * math.sqrt(2 * rho) / 2) <= promise.guess < 1
    pure = promises(Point(kind="pure", epsilon=2.0))
    assert [p.epsilon for p in pure] == [2.0, 1.0]
    assert guess_ceiling(0.0, 0.0) == 0.5 and guess_ceiling(0.0, 0.2) == pytest.approx(0.6)
    assert guess_ceiling(1e4, 0.0) == 1.0


def test_shares_of_a_mixed_ledger_are_counted_in_one_notion() -> None:
    """A Laplace release has a rho and an epsilon, and its share counts once, in the notion of the
    budget.
    """
    rng, zero = np.random.default_rng(0), np.zeros(1)
    shares = 0.1, laplace_rho(0.5)
    for budget in (ZCDP(rho=1.0), ApproxDP(epsilon=5.0, delta=1e-6)):
        ledger = Ledger(budget)
        ledger.release(GaussianNoise(l2_sensitivity=1.0, rho=0.1), zero, rng)
        ledger.release(LaplaceNoise(l1_sensitivity=1.0, epsilon=0.5), zero, rng)
        rows = spendings(ledger.entries, budget)
        assert [r.share for r in rows] == pytest.approx([s / sum(shares) for s in shares])
    pure = Ledger(ApproxDP(epsilon=5.0, delta=1e-6))
    for epsilon in (1.0, 3.0):
        pure.release(LaplaceNoise(l1_sensitivity=1.0, epsilon=epsilon), zero, rng)
    assert [r.share for r in spendings(pure.entries, pure.budget)] == [0.25, 0.75]
