r"""The proof by tracing, number by number, and a simulation of the adversary in it.

Can a spy tell whether your record was used? She knows the hidden biases, sees the output, and asks
of a record how well its signs agree with the direction in which the output errs. See
theory/approx-lower-bounds.md, 1 to 3.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr, ndtri

from dpsco_core.base.arrays import Vector
from dpsco_core.base.errors import InvalidInput, NotApplicable, require
from dpsco_core.bounds.instances.tracing import (
    TracingBounds,
    largest_tracing_probability,
    mean_scale,
)
from dpsco_core.bounds.mean.lower_priors import Notion, leakage_at
from dpsco_core.catalogue import make_method
from dpsco_core.data.tracing import Tracing
from dpsco_core.methods.base import released
from dpsco_core.privacy.budget import ZCDP, ApproxDP, Budget, PureDP
from dpsco_core.privacy.ledger import Ledger
from dpsco_core.problems import MeanEstimation, Setting
from dpsco_core.runs.study import stream
from dpsco_core.scenario import Scenario

ELEMENTS = 4_000_000  # The adversary is simulated on data sets of up to this many elements.
# The number of trials is chosen so that their data sets together have at most this many elements.
_WORK = 24_000_000
_PER_TRIAL = 60  # the number of records whose scores are computed in one data set


@dataclass(frozen=True, kw_only=True)
class TracingProof:
    """The numbers of the proof of (T1), at one spike probability."""

    bounds: TracingBounds
    q: float  # the spike probability
    shape: float  # the parameter u of the prior of the biases

    @property
    def spikes(self) -> float:
        """The expected number of records that are spikes."""
        return self.bounds.n * self.q

    @property
    def scale(self) -> float:
        """:math:`q^{1-1/p}`, shrunk for p below 2: the mean is that times the biases."""
        return mean_scale(self.q, self.bounds.moment_order)

    @property
    def mean_norm(self) -> float:
        """The root mean square norm of the mean, which is the error of the answer 0."""
        spread, d = self.bounds.leakage.spread, self.bounds.d
        return self.scale * spread * math.sqrt(d / (1 + self.shape))

    @property
    def kappa(self) -> float:
        """The largest mean score that privacy allows a record in the data."""
        return self.bounds.leakage.kappa(self.bounds.d)

    @property
    def allowed(self) -> float:
        """The largest mean sum of the scores of all spikes that privacy allows."""
        return self.spikes * self.kappa

    @property
    def bound(self) -> float:
        """The lower bound on the mean error at this spike probability and this prior."""
        return self.bounds.value_at("l2", self.q, self.shape)

    def needed(self, error: float) -> float:
        r"""Return the least sum of the scores of an answer with this mean l2 error, above 0.

        It is :math:`G/\alpha-u\alpha` for an error of :math:`\alpha` times `scale`.
        """
        alpha = error / self.scale
        gain = float(self.bounds.gain(np.array([self.shape]))[0])
        return gain / alpha - self.shape * alpha


def tracing_proof(setting: Setting, notion: Notion, shift: float = 1.0) -> TracingProof:
    """Return the proof at the best prior, with `shift` times its spike probability.

    The probability is capped so that means stay within the bound R.

    Raises `InvalidInput` in dimension 1, and if the budget says nothing of the notion.
    """
    require(setting.d >= 2, "d", "at least 2", setting.d)
    leakage = leakage_at(setting, notion)
    if leakage is None:
        raise InvalidInput(f"notion must be zcdp under a zCDP budget, got notion={notion}.")
    d, order = setting.d, setting.moment_order
    bounds = TracingBounds(n=setting.n, d=d, moment_order=order, leakage=leakage)
    largest = largest_tracing_probability(
        d, order, setting.constants.mean_gradient_bound, leakage.spread
    )
    q, shape = bounds.best_l2(largest)
    return TracingProof(bounds=bounds, q=min(largest, q * shift), shape=shape)


CHANCE = 0.05  # A measured rate exceeds the true rate with at most this probability.


@dataclass(frozen=True, eq=False, kw_only=True)
class Spied:
    """The scores that the adversary computes from the outputs of one method."""

    method: str
    # the scores of records in the data, and of other records of the same law
    used: Vector
    fresh: Vector
    refused: str  # the reason why the method cannot run, or ""

    def rates(self) -> tuple[Vector, Vector]:
        """Return false and true positive rates over all thresholds, both rising from 0 to 1."""
        thresholds = np.unique(np.concatenate([self.used, self.fresh]))[::-1]
        shares = [
            np.searchsorted(np.sort(-scores), -thresholds, side="right") / max(1, len(scores))
            for scores in (self.fresh, self.used)
        ]
        return np.append(0.0, shares[0]), np.append(0.0, shares[1])

    @property
    def caught(self) -> float:
        """The share of used records that the adversary finds at a false alarm rate of 5 %."""
        false, true = self.rates()
        return float(np.interp(0.05, false, true)) if len(self.used) else math.nan

    def beats(self, budget: Budget) -> bool:
        """Whether the spy does better at some threshold than privacy allows, and not by chance."""
        false, true = self.rates()
        return bool((true - most_caught(budget, false)).max() > CHANCE)


def tracing_law(point: Scenario) -> Tracing:
    """Return the law of a point of mean estimation on the instance `tracing`."""
    problem = point.instance.problem
    law = problem.distribution if isinstance(problem, MeanEstimation) else None
    if isinstance(law, Tracing):
        return law
    raise InvalidInput(f"distribution must be tracing, got distribution={point.distribution}.")


def spied(point: Scenario, methods: Sequence[str]) -> tuple[Spied, ...]:
    """Run methods on the instance `tracing`, and the adversary on their outputs.

    Raises `InvalidInput` if the point is another problem, or larger than `ELEMENTS`.
    """
    tracing_law(point)
    size = point.n * point.d
    require(size <= ELEMENTS, "n times d", f"at most {ELEMENTS:,}", size)
    trials = int(np.clip(_WORK / size, 3, 200))
    return tuple(_score_records(point, method, trials) for method in methods)


def _score_records(point: Scenario, slug: str, trials: int) -> Spied:
    """Return the scores by which an adversary who knows the biases attacks a method's outputs.

    They are those of records in the data, and of fresh records, over `trials` data sets.
    """
    method = make_method(slug, point.calibration, point.tuning)
    empty = np.empty(0)
    try:
        plan = method.plan(point.setting)
    except NotApplicable as refusal:
        return Spied(method=slug, used=empty, fresh=empty, refused=str(refusal))
    used_scores, fresh = [], []
    for trial in range(trials):
        rng = stream(point.seed, "spy", trial)
        hidden = point.instance.problem
        assert isinstance(hidden, MeanEstimation)
        problem = hidden.draw(rng)
        rows = problem.sample(point.n, rng)
        noise = stream(point.seed, f"spy noise {slug}", trial)
        output = released(method, rows, plan, Ledger(point.budget), noise).value
        law = problem.distribution
        assert isinstance(law, Tracing)
        signs = np.sign(rows.x)
        spikes = signs[signs[:, 0] != 0][:_PER_TRIAL]
        biases = law.mean / mean_scale(law.spike_probability, law.moment_order)
        other_records = np.where(rng.random(spikes.shape) < (1 + biases) / 2, 1.0, -1.0)
        deviation = output - law.mean
        weight = (
            (law.spread**2 - biases**2)
            / (1 - biases**2)
            / max(float(np.linalg.norm(deviation)), 1e-300)
        )
        used_scores.append((spikes - biases) @ (weight * deviation))
        fresh.append((other_records - biases) @ (weight * deviation))
    return Spied(
        method=slug, used=np.concatenate(used_scores), fresh=np.concatenate(fresh), refused=""
    )


def most_caught(budget: Budget, false: Vector) -> Vector:
    r"""Return the largest true positive rate that privacy allows at false positive rates.

    Under (epsilon, delta) it is :math:`\min(e^\varepsilon
    x+\delta,\,1-e^{-\varepsilon}(1-\delta-x))`. Under zCDP it is that of one Gaussian release,
    :math:`\Phi(\Phi^{-1}(x)+\sqrt{2\rho})`.

    Examples
    --------
    >>> most_caught(PureDP(epsilon=1.0), np.array([0.0, 0.05, 1.0])).round(4).tolist()
    [0.0, 0.1359, 1.0]
    """
    match budget:
        case ZCDP(rho=rho):
            caught = ndtr(ndtri(false) + math.sqrt(2 * rho))
        case PureDP(epsilon=epsilon) | ApproxDP(epsilon=epsilon):
            delta = budget.delta if isinstance(budget, ApproxDP) else 0.0
            grown = np.exp(min(epsilon, 700.0)) * false + delta
            caught = np.minimum(grown, 1 - np.exp(-epsilon) * (1 - delta - false))
    return np.asarray(np.clip(caught, 0.0, 1.0))
