"""No noise without a ledger: every private release, with its sensitivity and its share.

A `Ledger` is opened with a budget and hands out noisy values. It refuses a release that would
overspend *before* any noise is drawn, and it records every release that it makes. Neighbours differ
by replacing one record.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from dpsco_core.card import Privacy
from dpsco_core.errors import require
from dpsco_core.privacy.amplification import ShuffleAmplification
from dpsco_core.privacy.budget import (
    EPSILON_MAX,
    RHO_MAX,
    ZCDP,
    ApproxDP,
    Budget,
    PureDP,
    gaussian_allowance,
    gaussian_epsilon,
    zcdp_epsilon,
)
from dpsco_core.privacy.mechanisms import (
    add_gaussian_noise,
    add_laplace_noise,
    gaussian_noise_std,
    laplace_noise_scale,
)

# What may be lost to rounding when shares such as rho/T are summed.
ROUNDING = 1e-12


class BudgetExceeded(Exception):
    """A release would spend more than the ledger's budget; nothing was drawn."""


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One private release.

    Parameters
    ----------
    mechanism : {"gaussian", "laplace", "shuffled gaussian"}
    label : str
        What was released, in words.
    sensitivity : float
        The l2 (Gaussian) or l1 (Laplace) sensitivity that the noise was calibrated to.
    proven_sensitivity : float
        The one that is proven. Larger than `sensitivity` only where a paper's own constant is
        too small; the release is then less private than it claims.
    noise : float
        Standard deviation (Gaussian) or scale (Laplace) per coordinate.
    size : int
        Number of noisy coordinates.
    rho, epsilon, delta : float
        The share, in the notion of the mechanism; 0 where it does not apply.
    disjoint_blocks : int
        More than 1 where the value is one statistic for each of so many disjoint blocks, of
        which a neighbour changes one (parallel composition).
    """

    mechanism: Literal["gaussian", "laplace", "shuffled gaussian"]
    label: str
    sensitivity: float
    proven_sensitivity: float
    noise: float
    size: int
    rho: float = 0.0
    epsilon: float = 0.0
    delta: float = 0.0
    disjoint_blocks: int = 1

    @property
    def flawed(self) -> bool:
        """Whether the noise is too small for the share that the release claims."""
        return self.proven_sensitivity > self.sensitivity * (1 + ROUNDING)


@dataclass
class Ledger:
    """Accounts for every private release of one run.

    Parameters
    ----------
    budget : PureDP, ZCDP or ApproxDP
        What the run may spend in all.

    Examples
    --------
    >>> import numpy as np
    >>> ledger = Ledger(ZCDP(rho=0.5))
    >>> noisy = ledger.gaussian(np.zeros(3), l2_sensitivity=0.1, rho=0.5,
    ...                         rng=np.random.default_rng(0))
    >>> ledger.spent()
    ZCDP(rho=0.5)
    >>> ledger.entries[0].noise
    0.1
    """

    budget: Budget
    _entries: list[Entry] = field(default_factory=list, repr=False)

    @property
    def entries(self) -> tuple[Entry, ...]:
        """The releases so far, in order."""
        return tuple(self._entries)

    @property
    def flaws(self) -> tuple[str, ...]:
        """A sentence for every release whose noise is smaller than what is proven private."""
        return tuple(
            f"{e.label}: calibrated to sensitivity {e.sensitivity:.4g}, but "
            f"{e.proven_sensitivity:.4g} is proven, so it is "
            f"{(e.proven_sensitivity / e.sensitivity) ** 2:.3g} times less private than claimed"
            for e in self._entries
            if e.flawed
        )

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

        Raises
        ------
        BudgetExceeded
            If the share does not fit.
        """
        _check_positive("l2_sensitivity", l2_sensitivity)
        _check_positive("rho", rho)
        if proven_l2_sensitivity is not None:
            _check_positive("proven_l2_sensitivity", proven_l2_sensitivity)
        noise_std = gaussian_noise_std(l2_sensitivity, rho)
        _check_release(value, noise_std)
        self._record(
            Entry(
                mechanism="gaussian",
                label=label,
                sensitivity=l2_sensitivity,
                proven_sensitivity=(
                    l2_sensitivity if proven_l2_sensitivity is None else proven_l2_sensitivity
                ),
                noise=noise_std,
                size=value.size,
                rho=rho,
                disjoint_blocks=disjoint_blocks,
            )
        )
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
        _check_positive("l2_sensitivity", l2_sensitivity)
        require(
            len(value) == amplification.groups,
            "value",
            f"one row for each of the {amplification.groups} groups",
            len(value),
        )
        noise_std = gaussian_noise_std(l2_sensitivity, amplification.rho_group)
        _check_release(value, noise_std)
        self._record(
            Entry(
                mechanism="shuffled gaussian",
                label=label,
                sensitivity=l2_sensitivity,
                proven_sensitivity=l2_sensitivity,
                noise=noise_std,
                size=value.size,
                epsilon=amplification.epsilon,
                delta=amplification.delta,
                disjoint_blocks=amplification.groups,
            )
        )
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

        Raises
        ------
        BudgetExceeded
            If the share does not fit.
        """
        _check_positive("l1_sensitivity", l1_sensitivity)
        _check_positive("epsilon", epsilon)
        noise_scale = laplace_noise_scale(l1_sensitivity, epsilon)
        _check_release(value, noise_scale)
        self._record(
            Entry(
                mechanism="laplace",
                label=label,
                sensitivity=l1_sensitivity,
                proven_sensitivity=l1_sensitivity,
                noise=noise_scale,
                size=value.size,
                epsilon=epsilon,
            )
        )
        return add_laplace_noise(value, noise_scale, rng)

    def spent(self) -> Budget | None:
        """What the releases so far guarantee, in the notion of the budget; None before any.

        Equal to ``budget`` when the shares add up to it within rounding (a relative 1e-12).
        """
        if not self._entries:
            return None
        return _snap(compose(self.entries, self.budget), self.budget)

    def bound_by(self) -> tuple[Privacy, ...]:
        """Return the classes of lower bounds that bind this run, at the setting's own numbers.

        ``"pure"``: it is epsilon-DP at `pure_epsilon` of the budget. ``"zcdp"``: it is zCDP at
        `concentrated_rho` of the budget. A pure run under an (epsilon, delta) budget is not the
        latter, because its own rho, epsilon^2/2, is larger; nor is a shuffled one. An
        (epsilon, delta) guarantee alone is bound by neither, nor is a run with `flaws`.
        """
        if not self._entries or self.flaws:
            return ()
        used = {e.mechanism for e in self._entries}
        pure: tuple[Privacy, ...] = ("pure",) if used == {"laplace"} else ()
        concentrated = used == {"gaussian"} or not isinstance(self.budget, ApproxDP)
        return (*pure, "zcdp") if concentrated else pure

    def _record(self, entry: Entry) -> None:
        after = (*self._entries, entry)
        if not fits(after, self.budget):
            raise BudgetExceeded(
                f"{entry.label}: a share of rho={entry.rho:.6g}, epsilon={entry.epsilon:.6g}, "
                f"delta={entry.delta:.6g} does not fit into what is left of {self.budget}"
            )
        self._entries.append(entry)


@dataclass(frozen=True, kw_only=True)
class _Totals:
    """The shares of some entries, added up exactly and rounded once."""

    rho: float
    pure: float
    shuffled_epsilon: float
    shuffled_delta: float


def _totals(entries: tuple[Entry, ...]) -> _Totals:
    shuffled = [e for e in entries if e.mechanism == "shuffled gaussian"]
    return _Totals(
        rho=math.fsum(e.rho for e in entries),
        pure=math.fsum(e.epsilon for e in entries if e.mechanism == "laplace"),
        shuffled_epsilon=math.fsum(e.epsilon for e in shuffled),
        shuffled_delta=math.fsum(e.delta for e in shuffled),
    )


def fits(entries: tuple[Entry, ...], budget: Budget) -> bool:
    """Whether the composition of `entries` meets `budget`, up to rounding."""
    slack = 1 + ROUNDING
    total = _totals(entries)
    match budget:
        case PureDP(epsilon=epsilon):
            return not total.rho and not total.shuffled_epsilon and total.pure <= epsilon * slack
        case ZCDP(rho=limit):
            return not total.shuffled_epsilon and _concentrated(total) <= limit * slack
        case ApproxDP(epsilon=epsilon, delta=delta):
            if not total.pure and not total.shuffled_epsilon:
                return total.rho <= gaussian_allowance(budget) * slack
            fits_delta = total.shuffled_delta <= delta * slack
            return fits_delta and _approximate(total, delta) <= epsilon * slack


def compose(entries: tuple[Entry, ...], budget: Budget) -> Budget:
    r"""Return what `entries` guarantee together, in the notion of `budget`.

    Pure shares add in epsilon, and Gaussian shares in rho (adaptive composition, Bun and Steinke
    2016, Lemma 2.3). Mixed releases of an (epsilon, delta) budget use the better of basic
    composition and of zCDP with :math:`\varepsilon^2/2` for the pure part.

    Raises
    ------
    InvalidInput
        If an entry has no guarantee in that notion, or all of them together have none.
    """
    total = _totals(entries)
    only_pure = not total.rho and not total.shuffled_epsilon
    match budget:
        case PureDP():
            require(only_pure, "entries", "pure releases under a pure budget", str(total))
            return PureDP(epsilon=_at_most(total.pure, EPSILON_MAX))
        case ZCDP():
            concentrated = not total.shuffled_epsilon
            require(concentrated, "entries", "not shuffled under a zCDP budget", str(total))
            return ZCDP(rho=_at_most(_concentrated(total), RHO_MAX))
        case ApproxDP(delta=delta):
            epsilon = max(_at_most(_approximate(total, delta), EPSILON_MAX), 1e-300)
            only_shuffled = total.shuffled_delta and not total.rho
            return ApproxDP(epsilon=epsilon, delta=total.shuffled_delta if only_shuffled else delta)


def _concentrated(total: _Totals) -> float:
    return total.rho + total.pure**2 / 2


def _approximate(total: _Totals, delta: float) -> float:
    """Return the epsilon at `delta`; infinite where the shuffled releases leave no delta."""
    if not total.rho:
        return total.shuffled_epsilon + total.pure
    rest = delta - total.shuffled_delta
    if rest <= 0:
        return math.inf
    own = gaussian_epsilon(total.rho, rest) + total.pure
    if total.pure:
        own = min(own, zcdp_epsilon(_concentrated(total), rest))
    return total.shuffled_epsilon + own


def _at_most(value: float, largest: float) -> float:
    """Return `largest` where `value` exceeds it by rounding only."""
    return min(value, largest) if value <= largest * (1 + ROUNDING) else value


def _snap(spent: Budget, budget: Budget) -> Budget:
    """Return `budget` itself where `spent` differs from it by rounding only."""
    pairs = [(getattr(spent, name), getattr(budget, name)) for name in spent.__dataclass_fields__]
    # The exact Gaussian curve is inverted numerically: its round trip is good to 1e-9.
    tolerance = 1e-9 if isinstance(budget, ApproxDP) else 10 * ROUNDING
    same = all(math.isclose(a, b, rel_tol=tolerance) for a, b in pairs)
    return budget if same else spent


def _check_positive(name: str, value: float) -> None:
    require(value > 0 and math.isfinite(value), name, "a positive number", value)


def _check_release(value: NDArray[np.float64], noise: float) -> None:
    """Refuse what noise cannot hide: a NaN or an infinity, and noise that is no number."""
    require(bool(np.isfinite(value).all()), "value", "finite in every entry", "not finite")
    require(1e-300 < noise < 1e300, "noise", "between 1e-300 and 1e300", noise)
