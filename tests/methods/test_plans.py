"""Kinds of plan: a mean is one release, and phases follow each other."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from dpsco_core.base.arrays import Vector
from dpsco_core.base.cards import OWN, MethodCard
from dpsco_core.base.errors import InvalidInput
from dpsco_core.data import DenseRows
from dpsco_core.data.users import UserRows
from dpsco_core.methods.average import Averaging, MeanMethod, MeanPlan
from dpsco_core.methods.base import Release
from dpsco_core.methods.mean.not_private import MeanOfRows
from dpsco_core.methods.phases import PhasedMethod, PhaseRun, PhasesPlan
from dpsco_core.methods.statistics import ClippedMean
from dpsco_core.methods.user.means.base import user_means
from dpsco_core.methods.user.means.group import user_records
from dpsco_core.privacy import ZCDP, Ledger
from dpsco_core.privacy.mechanisms import GaussianNoise
from dpsco_core.problems.base import Constants, Setting

CONSTANTS = Constants(
    coordinate_moment=1.0, directional_moment=1.0, variance_trace=2.0, mean_gradient_bound=1.0
)
SETTING = Setting(n=6, d=2, moment_order=2.0, budget=ZCDP(rho=0.5), constants=CONSTANTS)
X = np.arange(12.0).reshape(6, 2)
NOISE = GaussianNoise(l2_sensitivity=0.1, rho=0.5)
PLAN = MeanPlan(
    setting=SETTING,
    statistic=ClippedMean(radius=1e6),
    noise=NOISE,
    diagnostics={"clip_radius": 1e6},
    notes=("told",),
)
CARD = MethodCard(slug="mean.test", name="-", paper=OWN, statement="-", summary="-", privacy="zcdp")


@dataclass(frozen=True, kw_only=True)
class Estimator(MeanMethod):
    card = CARD

    def plan(self, setting: Setting) -> MeanPlan[ClippedMean, GaussianNoise]:
        """Return the plan of the module, at a setting."""
        return replace(PLAN, setting=setting)


def estimate(plan: Any, records: Any = None, rng: int = 0) -> tuple[Release, Ledger]:
    """Run a plan once, with its own ledger."""
    ledger = Ledger(SETTING.budget)
    rows = DenseRows(X) if records is None else records
    return Estimator().release(rows, plan, ledger, np.random.default_rng(rng)), ledger


def test_a_mean_is_one_release_of_its_statistic_with_the_noise_of_the_plan() -> None:
    release, ledger = estimate(PLAN)
    (entry,) = ledger.entries
    assert (entry.label, entry.sensitivity, entry.rho) == ("mean of clipped records", 0.1, 0.5)
    expected = NOISE.draw(X.mean(axis=0), np.random.default_rng(0))
    np.testing.assert_array_equal(release.value, expected)
    assert release.diagnostics == {"clip_radius": 1e6} and release.notes == ("told",)


def test_an_answer_is_projected_on_the_ball_of_the_plan() -> None:
    release, _ = estimate(replace(PLAN, answer_radius=0.5))
    assert np.linalg.norm(release.value) == pytest.approx(0.5)
    assert np.linalg.norm(estimate(PLAN)[0].value) > 1


def test_a_mean_without_noise_is_the_statistic_itself_and_books_nothing() -> None:
    ledger = Ledger(SETTING.budget)
    plan = MeanPlan(setting=SETTING, statistic=MeanOfRows(), noise=None)
    release = Averaging().release(DenseRows(X), plan, ledger, np.random.default_rng(0))
    np.testing.assert_allclose(release.value, X.mean(axis=0), rtol=1e-15)
    assert ledger.entries == ()


def test_too_little_noise_is_a_note_of_the_result() -> None:
    noise = GaussianNoise(l2_sensitivity=0.1, rho=0.5, proven_l2_sensitivity=0.2)
    release, ledger = estimate(replace(PLAN, noise=noise))
    assert len(ledger.flaws) == 1 and release.notes == ("told", *ledger.flaws)


@pytest.mark.parametrize("size", [(5, 2), (6, 3)], ids=str)
def test_rows_of_another_size_than_the_plan_are_refused(size: tuple[int, int]) -> None:
    with pytest.raises(InvalidInput, match="must be the"):
        estimate(PLAN, DenseRows(np.zeros(size)))


def test_users_are_read_as_means_or_as_all_their_records() -> None:
    users = UserRows(records=DenseRows(X), items=2)
    setting = replace(SETTING, n=3, m=2)
    pairs = X.reshape(3, 2, 2).mean(axis=1)
    np.testing.assert_array_equal(user_means(users, setting).x, pairs)
    assert user_records(users, setting) is users.records
    for read in (user_means, user_records):
        with pytest.raises(InvalidInput, match="must be the"):
            read(users, SETTING)
    release, _ = estimate(replace(PLAN, setting=setting, read=user_means), users)
    expected = NOISE.draw(pairs.mean(axis=0), np.random.default_rng(0))
    np.testing.assert_allclose(release.value, expected, rtol=1e-15)


@dataclass(frozen=True, kw_only=True)
class Halving(PhasesPlan):
    """Phases that halve the point, and end the run at a given number."""

    last_phase: float = math.inf

    def open(self, sample: Any, rng: np.random.Generator) -> tuple[Vector, PhaseRun]:
        """Return the start and the function that runs a phase."""

        def run(w: Vector, phase: int, block: Ledger, number: int) -> tuple[Vector, int] | None:
            """Run a phase that halves w, or none after the last."""
            if number > self.last_phase:
                return None
            noisy = block.release(NOISE, w / 2, rng, label=f"phase {number}")
            return noisy, phase

        return np.full(2, 8.0), run

    def result(self, completed: int) -> tuple[Mapping[str, float], tuple[str, ...]]:
        """Return the number of completed phases, and a note if not all are."""
        return {"completed": float(completed)}, ("ended",) * (completed < len(self.phases))


@pytest.mark.parametrize("last_phase", [math.inf, 1.0])
def test_phases_start_at_the_end_of_the_previous_one_and_cost_as_much_as_one(
    last_phase: float,
) -> None:
    plan, ledger = (
        Halving(setting=SETTING, phases=(3, 5, 6), last_phase=last_phase),
        Ledger(SETTING.budget),
    )
    method = type("Phased", (PhasedMethod,), {"card": CARD})()
    release = method.release(None, plan, ledger, np.random.default_rng(1))
    rng, points = np.random.default_rng(1), [np.full(2, 8.0)]
    for _ in range(int(min(last_phase, 3))):
        points.append(NOISE.draw(points[-1] / 2, rng))
    np.testing.assert_array_equal(release.iterates, np.array(points))
    np.testing.assert_array_equal(release.value, points[-1])
    assert release.iterate_steps.tolist() == [0, 3, 5, 6][: len(points)]
    assert release.diagnostics == {"completed": len(points) - 1.0}
    assert release.notes == (() if last_phase > 3 else ("ended",))
    assert ledger.spent() == SETTING.budget, "phases on records of their own cost what one does"
