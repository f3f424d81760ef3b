"""No noise without a ledger: every private release, with its sensitivity and its share.

A `Ledger` is opened with a budget and hands out noisy values. It refuses a release that would
overspend *before* any noise is drawn, and it records every release that it makes. Neighbours differ
by replacing one record.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from dpsco_core.base.cards import Privacy
from dpsco_core.base.errors import require
from dpsco_core.geometry.regular_space import RegularSpace
from dpsco_core.privacy.amplification import ShuffleAmplification
from dpsco_core.privacy.budget import Budget
from dpsco_core.privacy.checks import check_count, check_noise, check_positive, check_release
from dpsco_core.privacy.choices import Chosen, Selection
from dpsco_core.privacy.composition import Tally, binding, compose, fits, snap
from dpsco_core.privacy.correlated import CorrelatedSteps, Encoding
from dpsco_core.privacy.entries import (
    Entry,
    approximate_entry,
    gaussian_entry,
    laplace_entry,
    over_budget,
)
from dpsco_core.privacy.filter.noisy_test import TestedGaussian, TestedSteps
from dpsco_core.privacy.generalized_gaussian import Calibration, Noise, Shaped
from dpsco_core.privacy.mechanisms import (
    add_gaussian_noise,
    add_laplace_noise,
    add_spherical_laplace_noise,
    gaussian_noise,
    gaussian_noise_std,
    objective_noise_std,
)
from dpsco_core.privacy.shuffled_steps import ShuffledSteps
from dpsco_core.privacy.steps import BudgetExceeded, Steps


@dataclass
class Ledger:
    """Accounts for every private release of one run.

    Examples
    --------
    >>> import numpy as np
    >>> from dpsco_core.privacy import ZCDP
    >>> ledger = Ledger(ZCDP(rho=0.5))
    >>> x = ledger.gaussian(np.zeros(3), l2_sensitivity=0.1, rho=0.5, rng=np.random.default_rng(0))
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

    def gaussian(
        self,
        value: NDArray[np.float64],
        *,
        l2_sensitivity: float,
        rho: float,
        rng: np.random.Generator,
        label: str = "value",
        disjoint_blocks: int = 1,
        proven_l2_sensitivity: float | None = None,
    ) -> NDArray[np.float64]:
        r"""Release `value` with Gaussian noise that makes it rho-zCDP.

        Raises `BudgetExceeded` if the share does not fit.

        Parameters
        ----------
        value : array of any shape
            The exact statistic.
        l2_sensitivity : float
            Largest change of `value` in l2 norm between neighbours. With `disjoint_blocks`, that
            of a single block, which is that of the whole value.
        rho : float
            The share of the budget.
        proven_l2_sensitivity : float, optional
            Given only by ``calibration="paper"`` where a paper's noise is too small.
        """
        check_positive("l2_sensitivity", l2_sensitivity)
        check_positive("rho", rho)
        if proven_l2_sensitivity is not None:
            check_positive("proven_l2_sensitivity", proven_l2_sensitivity)
        noise_std = gaussian_noise_std(l2_sensitivity, rho)
        check_release(value, noise_std)
        size, proven = value.size, proven_l2_sensitivity
        self._record(gaussian_entry(label, l2_sensitivity, rho, size, disjoint_blocks, proven))
        return add_gaussian_noise(value, noise_std, rng)

    def shuffled_gaussian(
        self,
        value: NDArray[np.float64],
        *,
        l2_sensitivity: float,
        amplification: ShuffleAmplification,
        rng: np.random.Generator,
        label: str = "group means",
    ) -> NDArray[np.float64]:
        r"""Release one statistic a group, where the groups are a fresh, secret, uniform split.

        Each of the ``len(value)`` rows is ``amplification.rho_group``-zCDP for its own group, and
        the whole is (epsilon, delta)-DP by shuffling. The guarantee is void if the split is
        released, reused, or depends on the data. It is no zCDP guarantee at the budget's rho, so
        it cannot be made under a zCDP budget.
        """
        check_positive("l2_sensitivity", l2_sensitivity)
        groups, rows = amplification.groups, len(value)
        require(rows == groups, "value", f"one row for each of the {groups} groups", rows)
        noise_std = gaussian_noise_std(l2_sensitivity, amplification.rho_group)
        check_release(value, noise_std)
        cost = (amplification.epsilon, amplification.delta)
        values = (label, l2_sensitivity, noise_std, value.size, cost)
        entry = approximate_entry("shuffled gaussian", *values)
        self._record(replace(entry, disjoint_blocks=groups))
        return add_gaussian_noise(value, noise_std, rng)

    def laplace(
        self,
        value: NDArray[np.float64],
        *,
        l1_sensitivity: float,
        epsilon: float,
        rng: np.random.Generator,
        label: str = "value",
    ) -> NDArray[np.float64]:
        """Release `value` with Laplace noise that makes it epsilon-DP.

        Raises `BudgetExceeded` if the share does not fit.
        """
        entry = laplace_entry("laplace", label, l1_sensitivity, epsilon, np.size(value))
        check_release(value, entry.noise)
        self._record(entry)
        return add_laplace_noise(value, entry.noise, rng)

    def spherical_laplace(
        self,
        value: NDArray[np.float64],
        *,
        l2_sensitivity: float,
        epsilon: float,
        rng: np.random.Generator,
        label: str = "value",
    ) -> NDArray[np.float64]:
        """Release `value`, shape (d,), epsilon-DP; density e^(-epsilon |z|_2 / sensitivity)."""
        entry = laplace_entry("spherical laplace", label, l2_sensitivity, epsilon, np.size(value))
        check_release(value, entry.noise)
        self._record(entry)
        return add_spherical_laplace_noise(value, entry.noise, rng)

    def select(
        self, release: Selection[Chosen], *, rng: np.random.Generator, label: str = "choice"
    ) -> Chosen:
        """Release what an exponential mechanism chooses, such as an `ExponentialChoice`."""
        self._record(release.entry(label))
        return release.draw(rng)

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
        label: str = "value",
    ) -> NDArray[np.float64]:
        """Release `value`, shape (d,), with noise shaped to a norm; rho-zCDP. See `Shaped`."""
        release = Shaped(norm, sensitivity, rho, noise, calibration)
        self._record(release.entry(value, label))
        return release.add_noise(value, rng)

    def gaussian_steps(
        self,
        *,
        steps: int,
        size: int,
        l2_sensitivity: float,
        rho: float,
        label: str = "steps on disjoint records",
    ) -> Steps:
        """Open a sequence of Gaussian steps on disjoint records: one entry, rho in all.

        Every step is rho-zCDP and may depend on all earlier outputs. A record enters one step,
        which and when must not depend on the data (parallel composition).

        Parameters
        ----------
        steps, size : int
            Number of steps, and of noisy coordinates in each.
        l2_sensitivity : float
            Of one step.
        """
        check_positive("l2_sensitivity", l2_sensitivity)
        check_positive("rho", rho)
        check_count("steps", steps)
        check_count("size", size)
        noise_std = gaussian_noise_std(l2_sensitivity, rho)
        check_noise(noise_std)
        self._record(gaussian_entry(label, l2_sensitivity, rho, size, steps))
        return Steps(steps=steps, size=size, noise_std=noise_std)

    def correlated_steps(
        self, encoding: Encoding, *, label: str = "steps on disjoint records, encoded together"
    ) -> CorrelatedSteps:
        """Open a sequence of steps on disjoint records with noise that cancels: one entry."""
        self._record(encoding.entry(label))
        return CorrelatedSteps(encoding=encoding)

    def shuffled_steps(
        self,
        certificate: ShuffledSteps,
        *,
        size: int,
        l2_sensitivity: float,
        label: str = "steps on shuffled records",
    ) -> Steps:
        """Open a sequence of Gaussian steps over records in fresh, secret, uniform order.

        As `gaussian_steps`, with the guarantee of `shuffle_steps`. Without amplification it is
        that of a single step. Under a zCDP budget only that one is possible.
        """
        if not certificate.amplified:
            return self.gaussian_steps(
                steps=certificate.steps,
                size=size,
                l2_sensitivity=l2_sensitivity,
                rho=certificate.rho_step,
                label=label,
            )
        check_count("size", size)
        entry = certificate.entry(size=size, l2_sensitivity=l2_sensitivity, label=label)
        self._record(entry)
        return Steps(steps=certificate.steps, size=size, noise_std=entry.noise)

    def shaped_steps(
        self,
        release: Shaped,
        *,
        steps: int,
        certificate: ShuffledSteps | None = None,
        label: str = "steps on disjoint records",
    ) -> Steps:
        """Open a sequence of steps with noise shaped to a norm, as `release` has it in each.

        Without a certificate as `gaussian_steps`: its rho in all. With one as `shuffled_steps`, one
        step a record, and the release's rho is that of the certificate.
        """
        entry = release.steps_entry(label, steps, certificate)
        self._record(entry)
        return Steps(
            steps=steps, size=entry.size, noise_std=entry.noise, exponent=release.noise_exponent
        )

    def tested_gaussian(
        self, release: TestedGaussian, *, size: int, rng: np.random.Generator, label: str
    ) -> TestedSteps:
        """Open Gaussian releases of `size` coordinates, each behind a noisy test: two entries."""
        check_count("size", size)
        self._record(*release.entries(size, label))
        return TestedSteps(release=release, size=size, rng=rng)

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
        label: str = "linear term of the objective",
    ) -> NDArray[np.float64]:
        r"""Draw the linear term G of objective perturbation, shape (size,).

        The exact minimiser of the perturbed objective is then
        (epsilon + jacobian_epsilon, delta)-DP, for generalised linear losses and for half the
        squared distance (theory/su-zhao-wang.md, 2.1).

        Raises `BudgetExceeded` if the share does not fit.

        Parameters
        ----------
        l2_sensitivity : float
            Largest change of n times the gradient of the empirical risk between neighbours: 2L.
        epsilon : float
            What the noise may cost.
        jacobian_epsilon : float
            What the change of variables costs, at least 0; the caller's regulariser ensures it.
        noise_std : float, optional
            A paper's own, at least the one of `objective_noise_std`.
        """
        check_positive("l2_sensitivity", l2_sensitivity)
        check_positive("epsilon", epsilon)
        require(jacobian_epsilon >= 0, "jacobian_epsilon", "at least 0", jacobian_epsilon)
        require(0 < delta < 1, "delta", "above 0 and below 1", delta)
        needed = objective_noise_std(l2_sensitivity, epsilon, delta)
        std = needed if noise_std is None else noise_std
        require(std >= needed * (1 - 1e-12), "noise_std", f"at least {needed:.6g}", std)
        check_count("size", size)
        check_noise(std)
        values = (label, l2_sensitivity, std, size, (epsilon + jacobian_epsilon, delta))
        self._record(approximate_entry("objective perturbation", *values))
        return gaussian_noise(size, std, rng)

    def objective_laplace(
        self,
        *,
        size: int,
        l2_sensitivity: float,
        epsilon: float,
        jacobian_epsilon: float,
        rng: np.random.Generator,
        label: str = "linear term of the objective",
    ) -> NDArray[np.float64]:
        """Draw the linear term of objective perturbation under pure DP; see `objective_noise`.

        The minimiser is (epsilon + jacobian_epsilon)-DP (theory/pure-optimisers.md, 2.1).
        """
        require(jacobian_epsilon >= 0, "jacobian_epsilon", "at least 0", jacobian_epsilon)
        entry = laplace_entry("pure objective perturbation", label, l2_sensitivity, epsilon, size)
        check_noise(entry.noise)
        self._record(replace(entry, epsilon=epsilon + jacobian_epsilon))
        return add_spherical_laplace_noise(np.zeros(size), entry.noise, rng)

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
