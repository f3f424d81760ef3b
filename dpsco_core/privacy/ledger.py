"""No noise without a ledger: every private release, with its sensitivity and its share.

A `Ledger` is opened with a budget and hands out noisy values. It refuses a release that would
overspend *before* any noise is drawn, and it records every release that it makes. Neighbours differ
by replacing one record.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from dpsco_core.base.arrays import Vector
from dpsco_core.base.cards import Privacy
from dpsco_core.base.errors import require
from dpsco_core.geometry.regular_space import RegularSpace
from dpsco_core.privacy.amplification import ShuffleAmplification
from dpsco_core.privacy.budget import Budget
from dpsco_core.privacy.checks import check_count
from dpsco_core.privacy.composition import Tally, binding, compose, fits, snap
from dpsco_core.privacy.entries import Entry, over_budget
from dpsco_core.privacy.mechanisms.base import Mechanism, Opened, Released, Sequence
from dpsco_core.privacy.mechanisms.correlated import CorrelatedSteps, Encoding
from dpsco_core.privacy.mechanisms.gaussian import (
    Gaussian,
    GaussianSteps,
    ShuffledGaussian,
    ShuffledGaussianSteps,
)
from dpsco_core.privacy.mechanisms.laplace import Laplace, SphericalLaplace
from dpsco_core.privacy.mechanisms.objective import ObjectiveGaussian, ObjectiveLaplace
from dpsco_core.privacy.mechanisms.shaped import Calibration, Noise, Shaped, ShapedSteps
from dpsco_core.privacy.mechanisms.steps import BudgetExceeded, Steps
from dpsco_core.privacy.mechanisms.tested import TestedGaussian, TestedReleases, TestedSteps
from dpsco_core.privacy.shuffled_steps import ShuffledSteps


@dataclass
class Ledger:
    """Accounts for every private release of one run.

    Examples
    --------
    >>> import numpy as np
    >>> from dpsco_core.privacy import ZCDP, Gaussian
    >>> ledger, rng = Ledger(ZCDP(rho=0.5)), np.random.default_rng(0)
    >>> x = ledger.release(Gaussian(l2_sensitivity=0.1, rho=0.5), np.zeros(3), rng)
    >>> ledger.spent()
    ZCDP(rho=0.5)
    >>> ledger.entries[0].noise
    0.1
    """

    budget: Budget  # what the run may spend in all
    refusal: str = field(default="", init=False, repr=False, compare=False)  # why it refused, or ""
    _entries: list[Entry] = field(default_factory=list, repr=False)
    _tally: Tally = field(default_factory=Tally, repr=False, compare=False)
    _partitions: int = field(default=0, repr=False)
    _parent: Ledger | None = field(default=None, repr=False, compare=False)
    _part: tuple[int, int] | None = field(default=None, repr=False)

    @property
    def entries(self) -> tuple[Entry, ...]:
        """The releases so far, in order."""
        return tuple(self._entries)

    @property
    def flaws(self) -> tuple[str, ...]:
        """A sentence for every release whose noise is smaller than what is proven private."""
        return tuple(e.flaw for e in self._entries if e.flawed)

    def release(
        self,
        mechanism: Mechanism[Released],
        value: Vector,
        rng: np.random.Generator,
        *,
        label: str = "",
    ) -> Released:
        """Release `value`, the exact statistic, through a mechanism.

        Raises `BudgetExceeded` if the share does not fit; nothing is drawn then.

        Parameters
        ----------
        label : str
            What is released, in words; the mechanism's own if it is empty.
        """
        self._record(mechanism.entry(value, label or mechanism.label))
        return mechanism.draw(value, rng)

    def open(self, sequence: Sequence[Opened], *, label: str = "") -> Opened:
        """Account for a sequence of releases, and return what makes them one after the other.

        Raises `BudgetExceeded` if they do not fit.
        """
        self._record(*sequence.entries(label or sequence.label))
        return sequence.open()

    def disjoint(self, blocks: int) -> tuple[Ledger, ...]:
        """Return one ledger for each of `blocks` disjoint blocks of the records.

        What they spend counts once, at its largest, in this ledger: a neighbour changes one
        block. The blocks must be fixed by index, or by randomness independent of the data, and a
        release of a block may depend on the data of other blocks only through what they released.
        """
        check_count("blocks", blocks)
        nested = self._parent is None
        require(nested, "ledger", "that of all records, not of a block", "the ledger of a block")
        self._partitions += 1
        return tuple(
            Ledger(self.budget, _parent=self, _part=(self._partitions, i)) for i in range(blocks)
        )

    def spent(self) -> Budget | None:
        """What the releases so far guarantee, in the notion of the budget; None before any.

        Equal to ``budget`` when the shares add up to it within rounding (a relative 1e-12); pure DP
        where pure releases alone leave the delta of an (epsilon, delta) budget unspent.
        """
        if not self._entries:
            return None
        return snap(compose(self.entries, self.budget), self.budget)

    def bound_by(self) -> tuple[Privacy, ...]:
        """Return the classes of lower bounds that bind this run, at the setting's own numbers.

        ``"pure"``: epsilon-DP at `pure_epsilon` of the budget. ``"zcdp"``: zCDP at its
        `concentrated_rho`, which neither a pure run under an (epsilon, delta) budget need be, nor a
        shuffled one. Exponential mechanisms, which have both notions, count by their sums.
        ``"approx"``: (epsilon, delta)-DP, delta being 0 of a pure budget.
        """
        return () if not self._entries or self.flaws else binding(self.entries, self.budget)

    def _record(self, *entries: Entry) -> None:
        """Record all of `entries`, or none of them."""
        if self._parent is not None:
            entries = tuple(replace(entry, part=self._part) for entry in entries)
            self._parent._record(*entries)
        elif not fits(self._tally.totals(*entries), self.budget):
            self.refusal = over_budget(entries, self.budget)
            raise BudgetExceeded(self.refusal)
        else:
            for entry in entries:
                self._tally.add(entry)
        self._entries.extend(entries)

    # The names of each kind of release, which forward.

    def gaussian(
        self,
        value: NDArray[np.float64],
        *,
        l2_sensitivity: float,
        rho: float,
        rng: np.random.Generator,
        label: str = "",
        disjoint_blocks: int = 1,
        proven_l2_sensitivity: float | None = None,
    ) -> NDArray[np.float64]:
        """Release `value` with a `Gaussian`."""
        mechanism = Gaussian(
            l2_sensitivity=l2_sensitivity,
            rho=rho,
            proven_l2_sensitivity=proven_l2_sensitivity,
            disjoint_blocks=disjoint_blocks,
        )
        return self.release(mechanism, value, rng, label=label)

    def shuffled_gaussian(
        self,
        value: NDArray[np.float64],
        *,
        l2_sensitivity: float,
        amplification: ShuffleAmplification,
        rng: np.random.Generator,
        label: str = "",
    ) -> NDArray[np.float64]:
        """Release `value` with a `ShuffledGaussian`."""
        mechanism = ShuffledGaussian(l2_sensitivity=l2_sensitivity, amplification=amplification)
        return self.release(mechanism, value, rng, label=label)

    def laplace(
        self,
        value: NDArray[np.float64],
        *,
        l1_sensitivity: float,
        epsilon: float,
        rng: np.random.Generator,
        label: str = "",
    ) -> NDArray[np.float64]:
        """Release `value` with a `Laplace`."""
        mechanism = Laplace(l1_sensitivity=l1_sensitivity, epsilon=epsilon)
        return self.release(mechanism, value, rng, label=label)

    def spherical_laplace(
        self,
        value: NDArray[np.float64],
        *,
        l2_sensitivity: float,
        epsilon: float,
        rng: np.random.Generator,
        label: str = "",
    ) -> NDArray[np.float64]:
        """Release `value` with a `SphericalLaplace`."""
        mechanism = SphericalLaplace(l2_sensitivity=l2_sensitivity, epsilon=epsilon)
        return self.release(mechanism, value, rng, label=label)

    def generalized_gaussian(
        self,
        value: NDArray[np.float64],
        *,
        norm: RegularSpace,
        sensitivity: float,
        rho: float,
        rng: np.random.Generator,
        noise: Noise = "generalized gaussian",
        calibration: Calibration = "tight",
        label: str = "",
    ) -> NDArray[np.float64]:
        """Release `value` with a `Shaped`."""
        mechanism = Shaped(norm, sensitivity, rho, noise, calibration)
        return self.release(mechanism, value, rng, label=label)

    def gaussian_steps(
        self, *, steps: int, size: int, l2_sensitivity: float, rho: float, label: str = ""
    ) -> Steps:
        """Open `GaussianSteps`."""
        sequence = GaussianSteps(steps=steps, size=size, l2_sensitivity=l2_sensitivity, rho=rho)
        return self.open(sequence, label=label)

    def correlated_steps(self, encoding: Encoding, *, label: str = "") -> CorrelatedSteps:
        """Open an `Encoding`."""
        return self.open(encoding, label=label)

    def shuffled_steps(
        self, certificate: ShuffledSteps, *, size: int, l2_sensitivity: float, label: str = ""
    ) -> Steps:
        """Open `ShuffledGaussianSteps`."""
        sequence = ShuffledGaussianSteps(
            certificate=certificate, size=size, l2_sensitivity=l2_sensitivity
        )
        return self.open(sequence, label=label)

    def shaped_steps(
        self,
        release: Shaped,
        *,
        steps: int,
        certificate: ShuffledSteps | None = None,
        label: str = "",
    ) -> Steps:
        """Open `ShapedSteps`."""
        sequence = ShapedSteps(release=release, steps=steps, certificate=certificate)
        return self.open(sequence, label=label)

    def tested_gaussian(
        self, release: TestedGaussian, *, size: int, rng: np.random.Generator, label: str
    ) -> TestedSteps:
        """Open `TestedReleases`."""
        return self.open(TestedReleases(release=release, size=size, rng=rng), label=label)

    def objective_noise(
        self,
        *,
        size: int,
        l2_sensitivity: float,
        epsilon: float,
        jacobian_epsilon: float,
        delta: float,
        rng: np.random.Generator,
        noise_std: float | None = None,
        label: str = "",
    ) -> NDArray[np.float64]:
        """Release a linear term with an `ObjectiveGaussian`."""
        mechanism = ObjectiveGaussian(
            l2_sensitivity=l2_sensitivity,
            epsilon=epsilon,
            jacobian_epsilon=jacobian_epsilon,
            delta=delta,
            own_noise_std=noise_std,
        )
        return self.release(mechanism, np.zeros(size), rng, label=label)

    def objective_laplace(
        self,
        *,
        size: int,
        l2_sensitivity: float,
        epsilon: float,
        jacobian_epsilon: float,
        rng: np.random.Generator,
        label: str = "",
    ) -> NDArray[np.float64]:
        """Release a linear term with an `ObjectiveLaplace`."""
        mechanism = ObjectiveLaplace(
            l2_sensitivity=l2_sensitivity, epsilon=epsilon, jacobian_epsilon=jacobian_epsilon
        )
        return self.release(mechanism, np.zeros(size), rng, label=label)
