"""Studies: the same numbers everywhere, paired data, and independent random streams."""

from __future__ import annotations

import itertools
import math
import sys
from collections.abc import Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dpsco_core import study as public_study
from dpsco_core.base.dispatch import CALLS_PER_WORKER, workers_of
from dpsco_core.base.errors import InvalidInput
from dpsco_core.catalogue import PROBLEM_SLUGS, make_method, method_card, methods_for
from dpsco_core.data import DenseRows
from dpsco_core.methods.mean import SampleMean
from dpsco_core.privacy import ZCDP, ApproxDP, PureDP
from dpsco_core.problems import Sample
from dpsco_core.problems.samples.users import ItemSample
from dpsco_core.runs.study import (
    Cell,
    Outcome,
    _cached_dataset,
    canonical,
    cells,
    data_point,
    run_cell,
    stream,
    study,
)
from dpsco_core.scenario import Scenario
from tests.folded import crossed

MEAN_METHODS = methods_for("mean")
MODULE = sys.modules[Cell.__module__]  # The attribute dpsco_core.runs.study is the function.
SMALL = Scenario(n=300, d=4, trials=3, methods=MEAN_METHODS, seed=5)
# All optimisers except the slow one.
QUICK = tuple(m for m in methods_for("logistic") if m != "sco.iterative")
SMALL_RISK = Scenario(
    problem="logistic", p=2, margin=1, n=120, d=3, trials=2, methods=QUICK, seed=5
)
RISKS = tuple(p for p in PROBLEM_SLUGS if p != "mean")


def key(outcome: Outcome) -> tuple[Any, ...]:
    """Return what identifies an outcome: its method, its place on the axis and its trial."""
    return outcome.method, outcome.x, outcome.trial


def numbers(outcomes: Iterator[Outcome]) -> dict[tuple[Any, ...], str]:
    """Return outcomes by cell without their seconds, as text, so that NaN equals NaN."""
    return {key(o): repr(replace(o, seconds=0.0)) for o in outcomes}


def records(point: Scenario, trial: int = 0) -> np.ndarray:
    """Return the records of a trial of a point."""
    return _cached_dataset(data_point(canonical(point)), trial)[1].x


def fingerprint(sample: Sample) -> tuple[float, ...]:
    """Return the empirical risk of the records and its gradient, at a point other than 0."""
    w = np.linspace(-0.4, 0.7, sample.d)
    return (sample.n, sample.risk(w), *sample.mean_gradient(w), *sample.gradient(w, sample.n - 1))


def summarise_data(point: Scenario, trial: int = 0) -> tuple[float, ...]:
    """Return the fingerprint of the sample that the optimisers get at `point`."""
    return fingerprint(_cached_dataset(data_point(canonical(point)), trial)[1])


def test_cells_come_trial_by_trial_so_that_every_curve_is_complete_early() -> None:
    scenario = replace(SMALL, axis="n", grid=(50, 100), trials=2, methods=MEAN_METHODS[:2])
    order = [(c.trial, c.x, c.method) for c in cells(scenario)]
    assert order == list(itertools.product((0, 1), (50, 100), MEAN_METHODS[:2]))
    assert len(order) == scenario.cells


def test_serial_outcomes_come_in_the_order_of_the_cells() -> None:
    expected = [(c.method, c.x, c.trial) for c in cells(SMALL)]
    assert [key(o) for o in study(SMALL)] == expected


@pytest.mark.parametrize("pool", [ThreadPoolExecutor, ProcessPoolExecutor])
def test_many_workers_give_the_numbers_of_one(pool: type[Executor]) -> None:
    # The study has more cells than an executor gets at once, on points that share no data.
    scenario = replace(SMALL, axis="n", grid=(60, 120), trials=6)
    assert scenario.cells > 3 * CALLS_PER_WORKER
    with pool(3) as executor:  # type: ignore[call-arg]
        parallel = numbers(study(scenario, executor))
    assert parallel == numbers(study(scenario))


def test_many_processes_give_the_risks_of_one() -> None:
    scenario = replace(SMALL_RISK, axis="n", grid=(60, 120), distribution="hypercube")
    with ProcessPoolExecutor(2) as executor:
        parallel = numbers(study(scenario, executor))
    assert len(parallel) == scenario.cells
    assert parallel == numbers(study(scenario))


def test_the_order_of_work_does_not_change_a_number() -> None:
    backwards = {key(o): o.error for o in map(run_cell, reversed(list(cells(SMALL))))}
    assert backwards == pytest.approx({key(o): o.error for o in study(SMALL)}, rel=0, nan_ok=True)


def test_a_reader_who_stops_cancels_the_waiting_cells() -> None:
    class HeldExecutor(Executor):
        """An executor that finishes one cell and holds back the rest."""

        def __init__(self) -> None:
            """Begin without any call."""
            self.futures: list[Future[Any]] = []

        def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
            """Do the first call at once, and let the others wait."""
            future: Future[Any] = Future()
            if not self.futures:
                future.set_result(fn(*args, **kwargs))
            self.futures.append(future)
            return future

    executor = HeldExecutor()
    outcomes = study(replace(SMALL, trials=20), executor)
    next(outcomes)
    outcomes.close()
    assert len(executor.futures) == CALLS_PER_WORKER * workers_of(executor)
    assert all(f.cancelled() for f in executor.futures[1:])


def test_an_error_in_a_worker_reaches_the_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        """Raise a RuntimeError, whatever the arguments are."""
        raise RuntimeError("a fault")

    monkeypatch.setattr(SampleMean, "release", broken)
    scenario = replace(SMALL, methods=("mean.sample",))
    with ThreadPoolExecutor(2) as executor, pytest.raises(RuntimeError, match="a fault"):
        list(study(scenario, executor))


def test_a_study_checks_its_scenario_first() -> None:
    with pytest.raises(InvalidInput, match="n must be an integer"):
        next(study(Scenario(n=0)))
    assert list(study(Scenario(methods=()))) == []
    assert public_study is study


def test_streams_are_equal_only_for_equal_seed_label_and_trial() -> None:
    seeds = (0, 1, 2**32, 2**63 - 1)
    labels = ("data n=1", "data n=2", "noise n=1", "")
    datasets = {
        stream(seed, label, trial).bytes(16)
        for seed, label, trial in itertools.product(seeds, labels, (0, 1, 2**20))
    }
    assert len(datasets) == len(seeds) * len(labels) * 3
    assert stream(3, "a", 1).bytes(16) == stream(3, "a", 1).bytes(16)


def test_no_two_cells_of_a_study_share_a_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    first_words: dict[tuple[int, str, int], bytes] = {}

    def recorded(seed: int, label: str, trial: int) -> np.random.Generator:
        """Record the first bytes of a stream, and return the stream."""
        first_words[seed, label, trial] = stream(seed, label, trial).bytes(16)
        return stream(seed, label, trial)

    monkeypatch.setattr(MODULE, "stream", recorded)
    scenario = replace(SMALL, axis="n", grid=(50, 60), trials=2)
    cell_count = len(list(study(scenario)))
    noise = [label for _, label, _ in first_words if label.startswith("noise")]
    data = [label for _, label, _ in first_words if label.startswith("data")]
    refused = 4 * sum(o.not_applicable is not None for o in study(replace(SMALL, trials=1)))
    assert len(noise) == cell_count - refused
    assert len(data) == 4  # Two points with two trials each.
    assert len(set(first_words.values())) == len(first_words)


@pytest.mark.parametrize("distribution", ["student-t", "hypercube", "spike"])
def test_all_methods_of_a_trial_see_the_same_records(
    monkeypatch: pytest.MonkeyPatch, distribution: str
) -> None:
    data_by_method: dict[str, np.ndarray] = {}
    for slug in MEAN_METHODS:
        _cached_dataset.cache_clear()  # The data are drawn again, and not remembered.
        cell = Cell(
            point=canonical(replace(SMALL, distribution=distribution)), method=slug, x=None, trial=1
        )
        original = DenseRows.blocks

        def spy(self: DenseRows, *args: Any, slug: str = slug, original: Any = original) -> Any:
            """Record the records that a method reads, and read them."""
            data_by_method.setdefault(slug, self.x)
            return original(self, *args)

        with monkeypatch.context() as patch:
            patch.setattr(DenseRows, "blocks", spy)
            run_cell(cell)
    assert len(data_by_method) >= 5
    reference = data_by_method["mean.sample"]
    assert all(np.array_equal(reference, x) for x in data_by_method.values())
    assert all(x is not reference for slug, x in data_by_method.items() if slug != "mean.sample")


@pytest.mark.parametrize(("problem", "distribution"), crossed(2, RISKS, ["student-t", "hypercube"]))
def test_all_optimisers_of_a_trial_see_the_same_records(
    monkeypatch: pytest.MonkeyPatch, problem: str, distribution: str
) -> None:
    data_by_method: dict[str, tuple[float, ...]] = {}

    class Watched:
        def __init__(self, slug: str, *tuned: Any) -> None:
            """Keep the method with a slug, whose calls are watched."""
            self.slug = slug
            self.optimiser = make_method(slug, *tuned)
            self.card = self.optimiser.card

        def plan(self, *arguments: Any) -> Any:
            """Return the plan of the optimiser."""
            return self.optimiser.plan(*arguments)

        def release(self, sample: Sample | ItemSample, *arguments: Any) -> Any:
            """Record a fingerprint of the records, and release them by the optimiser."""
            records = sample.records if isinstance(sample, ItemSample) else sample
            data_by_method[self.slug] = fingerprint(records)
            return self.optimiser.release(sample, *arguments)

    monkeypatch.setattr(MODULE, "make_method", Watched)
    # At so small a budget hard instances have many spikes.
    scenario = replace(SMALL_RISK, problem=problem, distribution=distribution, epsilon=0.3)
    for cell in cells(replace(scenario, trials=1)):
        _cached_dataset.cache_clear()  # The data are drawn again, and not remembered.
        run_cell(cell)
    assert len(data_by_method) >= 5
    assert len(set(data_by_method.values())) == 1
    assert summarise_data(scenario) in data_by_method.values()
    assert summarise_data(scenario, trial=1) not in data_by_method.values()


def test_methods_draw_noise_of_their_own() -> None:
    scenario = replace(SMALL, methods=("mean.clipped", "mean.smoothed"), trials=1)
    labels = {c.method: c for c in cells(scenario)}
    point = labels["mean.clipped"].point
    streams = [stream(point.seed, f"noise {slug}", 0).standard_normal() for slug in MEAN_METHODS]
    assert len(set(streams)) == len(MEAN_METHODS)


@pytest.mark.parametrize(
    "change",
    [
        {"epsilon": 3.0},
        {"delta": 0.0},
        {"epsilon": None, "delta": None, "rho": 0.4},
        {"calibration": "paper"},
        {"tuning": "theory"},
        {"methods": ("mean.sample",)},
        {"trials": 17},
    ],
)
def test_a_change_that_keeps_the_law_keeps_the_records(change: dict[str, Any]) -> None:
    assert np.array_equal(records(SMALL), records(replace(SMALL, **change)))
    if "methods" not in change:
        assert summarise_data(SMALL_RISK) == summarise_data(replace(SMALL_RISK, **change))


@pytest.mark.parametrize("change", [{"seed": 6}, {"n": 301}, {"p": 2.5}, {"offset": 0.5}])
def test_a_change_of_the_law_or_the_seed_draws_new_records(change: dict[str, Any]) -> None:
    records_before, records_after = records(SMALL), records(replace(SMALL, **change))
    assert not np.isclose(records_before[:300], records_after[:300]).any(axis=0).all()
    assert summarise_data(SMALL_RISK) != summarise_data(replace(SMALL_RISK, **change))


def test_a_trial_draws_new_records() -> None:
    assert not np.array_equal(records(SMALL, 0), records(SMALL, 1))
    assert summarise_data(SMALL_RISK, 0) != summarise_data(SMALL_RISK, 1)


def test_data_are_paired_across_an_epsilon_axis() -> None:
    swept = replace(SMALL, axis="epsilon", grid=(0.5, 2), methods=("mean.sample",))
    errors: dict[int, set[float]] = {}
    for outcome in study(swept):
        errors.setdefault(outcome.trial, set()).add(outcome.error)
    assert [len(e) for e in errors.values()] == [1, 1, 1]
    assert len(set.union(*errors.values())) == 3


@pytest.mark.parametrize("distribution", ["spike", "hypercube"])
def test_a_hard_instance_draws_a_new_pattern_in_every_trial(distribution: str) -> None:
    point = data_point(canonical(replace(SMALL, d=40, distribution=distribution)))
    means = [_cached_dataset(point, trial)[0].distribution.mean for trial in range(5)]
    assert len({mean.tobytes() for mean in means}) == 5
    assert np.ptp([np.linalg.norm(mean) for mean in means]) < 1e-12


def test_a_hard_instance_follows_the_budget() -> None:
    hard = replace(SMALL, distribution="hypercube")
    low_budget, high_budget = (data_point(canonical(replace(hard, epsilon=e))) for e in (0.1, 10.0))
    assert low_budget.instance.spike_probability != high_budget.instance.spike_probability


@pytest.mark.parametrize("small", [SMALL, SMALL_RISK], ids=lambda s: s.problem)
def test_a_longer_study_repeats_the_trials_of_a_shorter_one(small: Scenario) -> None:
    short = numbers(study(small))
    long = numbers(study(replace(small, trials=small.trials + 1)))
    assert short.items() <= long.items()
    assert len(long) > len(short)


@pytest.mark.parametrize(
    ("small", "slug"), [(SMALL, "mean.smoothed"), (SMALL_RISK, "sco.private-sgd")]
)
def test_a_study_of_fewer_methods_repeats_the_numbers_of_a_larger_one(
    small: Scenario, slug: str
) -> None:
    single_method = numbers(study(replace(small, methods=(slug,))))
    assert len(single_method) == small.trials
    assert single_method.items() <= numbers(study(small)).items()


def test_another_seed_gives_other_numbers() -> None:
    errors = [o.error for o in study(replace(SMALL, methods=("mean.sample",)))]
    other_errors = [o.error for o in study(replace(SMALL, methods=("mean.sample",), seed=6))]
    assert not set(errors) & set(other_errors)


def test_canonical_points_of_different_studies_are_equal() -> None:
    grid_cell = next(
        cells(replace(SMALL, axis="n", grid=(300,), trials=9, methods=("mean.sample",)))
    )
    single_cell = next(cells(replace(SMALL, trials=1)))
    assert grid_cell.point == single_cell.point
    assert hash(grid_cell.point) == hash(single_cell.point)


def test_the_error_is_the_distance_to_the_true_mean() -> None:
    scenario = replace(SMALL, methods=("mean.sample",), trials=1)
    (outcome,) = study(scenario)
    mean = np.full(4, scenario.offset / 2)
    expected = np.linalg.norm(records(scenario).mean(axis=0) - mean)
    assert outcome.error == pytest.approx(expected, rel=1e-12)
    assert outcome.error_uncertainty == 0


def test_the_error_of_an_optimiser_is_its_excess_risk() -> None:
    scenario = replace(SMALL_RISK, problem="quadratic", methods=("sco.erm",), trials=1)
    (outcome,) = study(scenario)
    sample = _cached_dataset(data_point(canonical(scenario)), 0)[1]
    # The expected answer is the average of the records, which lies inside the ball.
    average = -sample.mean_gradient(np.zeros(scenario.d))
    mean = np.full(scenario.d, scenario.offset / math.sqrt(scenario.d))
    assert np.linalg.norm(average) < scenario.diameter / 2
    assert outcome.error == pytest.approx(np.linalg.norm(average - mean) ** 2 / 2, rel=1e-3)
    assert outcome.error_uncertainty == 0


def test_an_averaged_risk_has_a_standard_error_and_an_exact_one_has_none() -> None:
    for problem, distribution, exact in (
        ("logistic", "student-t", False),
        ("huber", "log-normal", False),
        ("logistic", "hypercube", True),
        ("linear", "student-t", True),
    ):
        scenario = replace(SMALL_RISK, problem=problem, distribution=distribution, trials=1)
        for outcome in study(replace(scenario, methods=("sco.sgd", "sco.clipped"))):
            assert (outcome.error_uncertainty == 0) == exact
            assert outcome.error_uncertainty < 0.05 * outcome.error


@pytest.mark.parametrize(
    ("changes", "budget"),
    [
        ({}, ApproxDP(epsilon=1.0, delta=1e-6)),
        ({"delta": 0.0}, PureDP(epsilon=1.0)),
        ({"epsilon": None, "delta": None, "rho": 0.3}, ZCDP(rho=0.3)),
    ],
)
@pytest.mark.parametrize("calibration", ["tight", "paper"])
@pytest.mark.parametrize("tuning", ["practical", "theory"])
def test_private_methods_spend_within_the_budget_and_name_the_bounds_that_apply(
    changes: dict[str, Any], budget: object, calibration: Any, tuning: Any
) -> None:
    scenario = replace(SMALL, n=3000, trials=1, calibration=calibration, tuning=tuning, **changes)
    risk = replace(scenario, problem="logistic", n=300, methods=QUICK)
    for outcome in (*study(scenario), *study(risk)):
        private = method_card(outcome.method).privacy != "none"
        if outcome.not_applicable or not private:
            assert outcome.spent is None
            assert outcome.bound_by == ()
        else:
            pure = method_card(outcome.method).privacy == "pure"
            leaves_delta = pure and isinstance(budget, ApproxDP)
            assert type(outcome.spent) is (PureDP if leaves_delta else type(budget))
            for name, value in vars(outcome.spent).items():
                assert 0 < value <= getattr(budget, name) * (1 + 1e-9)
            assert outcome.seconds > 0
        if calibration == "tight":
            assert outcome.flaws == ()


def test_a_refused_method_gives_its_reason_and_a_change_that_helps() -> None:
    outcomes = {o.method: o for o in study(replace(SMALL, delta=0.0, trials=1))}
    refused = outcomes["mean.clipped"]
    assert refused.not_applicable is not None
    assert "Gaussian noise cannot give pure DP" in refused.not_applicable
    assert math.isnan(refused.error)
    assert refused.spent is None
    assert refused.seconds == 0
    assert refused.changes == (("method", "mean.cwme-pure"),), "never another budget"
    assert outcomes["mean.cwme-pure"].not_applicable is None


def test_a_refusal_draws_no_records(monkeypatch: pytest.MonkeyPatch) -> None:
    def forbidden(*_: object) -> None:
        """Fail, since no records may be drawn."""
        raise AssertionError("records were drawn")

    monkeypatch.setattr(MODULE, "_cached_dataset", forbidden)
    scenario = replace(SMALL, delta=0.0, trials=1, methods=("mean.clipped",))
    assert next(study(scenario)).not_applicable
    scenario = replace(SMALL_RISK, trials=1, methods=("sco.cwme-strong",))
    assert next(study(scenario)).not_applicable


# Published numbers depend on the errors below. To renew them after an intended change of the
# streams or of a method, print {o.method: f"{o.error:.12g}" for o in study(GOLDEN)}, and state in
# CHANGELOG.md that results change.
GOLDEN = Scenario(n=400, d=3, trials=1, seed=11, methods=MEAN_METHODS)
GOLDEN_ERRORS = {
    "mean.sample": 0.0354134797709,
    "mean.median-of-means": 0.0453078423464,
    "mean.clipped": 0.223414377635,
    "mean.iterative": 0.355720677331,
    "mean.iterative-allocated": 0.102638937818,
    "mean.cwme-cdp": 0.192059783621,
    "mean.cwme-pure": 0.112763512864,
    "mean.smoothed": 0.182374707779,
    "mean.adaptive": 0.0504791402368,
    "mean.instance-optimal": 0.0893979467875,
    "mean.coinpress": 0.120408907486,
    "mean.plan": 0.0811457603115,
    "user.mean-group": 0.289040634985,
    "user.mean-clipped": 0.109041271852,
    "user.mean-adaptive": 0.102816810232,
}


def test_every_published_estimator_has_its_recorded_number() -> None:
    lines = Path(__file__).parents[1].joinpath("slugs.txt").read_text(encoding="utf-8").splitlines()
    published = {line.removeprefix("method ") for line in lines if line.startswith("method ")}
    assert set(GOLDEN_ERRORS) == published.intersection(MEAN_METHODS)


@pytest.mark.parametrize("slug", GOLDEN_ERRORS)
def test_the_numbers_of_a_tiny_scenario_do_not_change(slug: str) -> None:
    (outcome,) = study(replace(GOLDEN, methods=(slug,)))
    # Twelve digits are compared, since sums may differ in the last bits between linear-algebra
    # libraries.
    assert outcome.error == pytest.approx(GOLDEN_ERRORS[slug], rel=5e-12)


@pytest.mark.parametrize(
    "changes",
    [
        {"problem": "linear", "distribution": "spike", "methods": ("sco.sgd",)},
        {
            "problem": "logistic",
            "distribution": "hypercube",
            "methods": ("user.accelerated",),
            "m": 3,
            "delta": 1e-9,
            "calibration": "paper",
            "tuning": "theory",
        },
    ],
)
def test_a_single_record_gives_an_answer_or_a_refusal(changes: dict[str, Any]) -> None:
    (outcome,) = study(Scenario(n=1, d=3, trials=1, **changes))
    assert outcome.not_applicable or math.isfinite(outcome.error)


def test_a_pure_budget_names_every_optimiser_that_can_run_there() -> None:
    """The named optimisers all run, and all that run are named."""
    point = Scenario(
        problem="logistic", methods=methods_for("logistic"), n=200, d=2, epsilon=1.0, delta=0.0
    )
    outcomes = {o.method: o for o in study(replace(point, trials=1).validate())}
    applicable = {m for m, o in outcomes.items() if o.not_applicable is None}
    able = {m for m in applicable if method_card(m).privacy != "none"}
    assert able
    for slug, outcome in outcomes.items():
        card = method_card(slug)
        if outcome.not_applicable and card.level == "item" and "delta" in dict(outcome.changes):
            nearest = outcome.not_applicable.split("Nearest: ")[1]
            assert "set delta=1e-06" in nearest
            suggested = {m for m in outcomes if m in nearest}
            assert suggested == able, (slug, nearest)
