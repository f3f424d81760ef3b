"""One cell over many workers: sums equal to the last bit, and noise drawn once."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from dpsco_core import study
from dpsco_core.base import limits
from dpsco_core.catalogue import make_method
from dpsco_core.data import Rows, generated
from dpsco_core.data import spread as spread_module
from dpsco_core.data.spread import SpreadRows
from dpsco_core.methods.records.base import clipped_mean
from dpsco_core.privacy import Ledger
from dpsco_core.scenario import Scenario

N, D = 60_000, 20


@pytest.fixture(scope="module")
def threads() -> Iterator[Executor]:
    """Yield an executor with three threads."""
    with ThreadPoolExecutor(3) as executor:
        yield executor


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a piece be a single block."""
    monkeypatch.setattr(generated, "PIECE_BLOCKS", 1)  # The data have 13 pieces.


@pytest.mark.parametrize("slug", ["mean.clipped", "mean.cwme-cdp", "mean.cwme-pure", "mean.sample"])
def test_a_spread_mean_equals_the_central_one_with_noise_drawn_once(
    threads: Executor, slug: str
) -> None:
    scenario = Scenario(n=N, d=D)
    problem, setting = scenario.instance.problem, scenario.setting
    rows = problem.stream(N, np.random.default_rng(1))
    assert len(list(rows.pieces())) > 9
    estimator = make_method(slug, "tight", "practical")
    releases = []
    for source in (problem.sample(N, np.random.default_rng(1)), rows, SpreadRows(rows, threads)):
        ledger = Ledger(setting.budget)
        value = estimator.release(
            source, estimator.plan(setting), ledger, np.random.default_rng(2)
        ).value
        releases.append((value, [entry.label for entry in ledger.entries]))
    np.testing.assert_allclose(releases[0][0], releases[2][0], rtol=1e-11, atol=1e-13)
    assert np.array_equal(releases[1][0], releases[2][0])
    assert releases[0][1] == releases[1][1] == releases[2][1]
    assert len(releases[2][1]) == (0 if slug == "mean.sample" else 1)


@pytest.mark.parametrize("problem", ["logistic", "quadratic", "absolute"])
def test_spread_gradients_and_descents_equal_the_central_ones(
    threads: Executor, problem: str
) -> None:
    scenario = Scenario(problem=problem, n=N, d=D)
    loss, setting = scenario.instance.problem, scenario.setting
    in_memory = loss.sample(N, np.random.default_rng(1))
    rows = loss.stream(N, np.random.default_rng(1))
    spread = replace(rows, executor=threads)
    w = np.full(D, 0.1)
    assert np.array_equal(spread.mean_gradient(w), rows.mean_gradient(w))
    assert spread.risk(w) == rows.risk(w)
    np.testing.assert_allclose(spread.mean_gradient(w), in_memory.mean_gradient(w), rtol=1e-9)
    assert spread.risk(w) == pytest.approx(in_memory.risk(w), rel=1e-11)
    part, expected = spread.part(17, N - 5).bounded(3.0), in_memory.part(17, N - 5).bounded(3.0)
    np.testing.assert_allclose(part.mean_gradient(w), expected.mean_gradient(w), rtol=1e-9)
    assert np.allclose(spread.gradient(w, 3), in_memory.gradient(w, 3), rtol=1e-12)
    optimiser = make_method("sco.clipped", "tight", "practical")
    steps = optimiser.plan(setting).descent.steps
    values, spent = [], []
    for sample in (in_memory, rows, spread):
        ledger = Ledger(setting.budget)
        release = optimiser.release(
            sample, optimiser.plan(setting), ledger, np.random.default_rng(2)
        )
        values.append(release.value)
        spent.append(len(ledger.entries))
    np.testing.assert_allclose(values[1], values[0], rtol=1e-8, atol=1e-10)
    assert np.array_equal(values[2], values[1])
    assert spent[0] == spent[1] == spent[2] == steps >= 1


class LateExecutor(Executor):
    """An executor that runs calls as late as possible, the last one first; one call ends its
    worker.
    """

    def __init__(self, deadly: int) -> None:
        """Begin without calls; the call of number `deadly` ends its worker."""
        self.workers, self.most_waiting, self.finished, self.deadly = 2, 0, 0, deadly
        self.waiting: list[tuple[Future[Any], Any, tuple[Any, ...]]] = []

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Keep a call waiting, and record how many wait."""
        future: Future[Any] = Future()
        self.waiting.append((future, fn, args))
        self.most_waiting = max(self.most_waiting, len(self.waiting))
        return future

    def check(self) -> None:
        """Do the last call that waits, or fail like a dead worker if the call's number
        is `deadly`.
        """
        future, fn, args = self.waiting.pop()
        self.finished += 1
        if self.finished == self.deadly:
            future.set_exception(BrokenExecutor())
        else:
            future.set_result(fn(*args))

    def restart(self) -> None:
        """Forget all calls that wait."""
        self.waiting.clear()


@pytest.mark.parametrize("deadly", [0, 1, 7])
def test_sums_are_ordered_few_pieces_are_in_flight_and_lost_pieces_are_repeated(
    monkeypatch: pytest.MonkeyPatch, deadly: int
) -> None:
    monkeypatch.setattr("dpsco_core.base.dispatch.CHECK_EVERY", 0.0)
    rows = Scenario(d=D).instance.problem.stream(2 * N, np.random.default_rng(1))
    pieces, executor = len(list(rows.pieces())), LateExecutor(deadly)
    assert np.array_equal(clipped_mean(SpreadRows(rows, executor), 5.0), clipped_mean(rows, 5.0))
    assert executor.most_waiting == 6 and pieces > 20


@pytest.mark.parametrize(
    ("problem", "trials", "spread", "unshared"),
    [
        ("mean", 2, ("mean.clipped", "mean.cwme-cdp"), ("mean.iterative",)),
        ("logistic", 1, ("sco.clipped",), ("sco.sgd", "sco.private-sgd")),
    ],
)
def test_a_study_spreads_sums_over_records_that_are_not_in_memory(
    threads: Executor,
    monkeypatch: pytest.MonkeyPatch,
    problem: str,
    trials: int,
    spread: tuple[str, ...],
    unshared: tuple[str, ...],
) -> None:
    scenario = Scenario(problem=problem, methods=(*spread, *unshared), n=N, d=D, trials=trials)
    outcomes = list(study(scenario))
    monkeypatch.setattr(limits, "LIBRARY", replace(limits.LIBRARY, elements=N * D - 1))
    monkeypatch.setattr(sys.modules["dpsco_core.runs.study"], "LIBRARY", limits.LIBRARY)
    sys.modules["dpsco_core.runs.study"]._cached_dataset.cache_clear()
    pieces: list[Rows] = []
    real = spread_module.piece_total
    monkeypatch.setattr(
        spread_module, "piece_total", lambda call: pieces.append(call[1]) or real(call)
    )
    serial, threaded = list(study(scenario)), list(study(scenario, threads))
    assert {o.method for o in threaded if o.not_applicable} == {"sco.private-sgd"} & set(unshared)
    assert len(pieces) >= trials * len(spread) * 12
    key = ("method", "trial", "error", "spent", "diagnostics")
    threaded.sort(key=lambda o: [(p.method, p.trial) for p in serial].index((o.method, o.trial)))
    for outcome, serial_outcome, threaded_outcome in zip(outcomes, serial, threaded, strict=True):
        assert (outcome.method, outcome.trial, outcome.x) == (
            threaded_outcome.method,
            threaded_outcome.trial,
            threaded_outcome.x,
        )
        assert str([getattr(serial_outcome, k) for k in key]) == str(
            [getattr(threaded_outcome, k) for k in key]
        )
        if threaded_outcome.not_applicable is None:
            assert threaded_outcome.error == pytest.approx(outcome.error, rel=1e-9)
            assert (
                threaded_outcome.spent == outcome.spent
                and threaded_outcome.diagnostics == outcome.diagnostics
            )
