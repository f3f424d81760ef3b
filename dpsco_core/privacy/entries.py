"""The record of one private release in a ledger."""

from dataclasses import dataclass
from typing import Literal

from dpsco_core.privacy.budget import Budget
from dpsco_core.privacy.concentration import laplace_rho, pure_rho

# The relative rounding error allowed in sums of shares such as rho/T.
ROUNDING = 1e-12

MechanismName = Literal[
    "gaussian",
    "laplace",
    "spherical laplace",
    "exponential",
    "shuffled gaussian",
    "allocated gaussian",
    "poisson gaussian",
    "objective perturbation",
    "pure objective perturbation",
    "generalized gaussian",
    "shuffled generalized gaussian",
    "noisy test",
    "tested gaussian",
]


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One private release."""

    mechanism: MechanismName
    label: str  # a name of the released quantity, in words
    # The sensitivity for which the noise was calibrated, in the l2 (Gaussian), l1 (Laplace) or dual
    # norm (generalized Gaussian); for an exponential mechanism the sensitivity of each candidate's
    # score.
    sensitivity: float
    # The proven sensitivity. It exceeds `sensitivity` only if the paper's constant is too small;
    # the release is then less private than it claims.
    proven_sensitivity: float
    # The scale of the noise per coordinate: the standard deviation (Gaussian) or the scale
    # (Laplace); the scale sigma of a generalized Gaussian, whose norm is sigma times a chi
    # variable; or the scale of the Gumbel noise on a score.
    noise: float
    size: int  # the number of noisy coordinates, or of choices by exponential mechanisms
    # The rho that the release spends, 0 for (epsilon, delta)-DP releases. Pure releases, including
    # exponential mechanisms, have both an epsilon and a rho, each of which they satisfy on its own.
    rho: float = 0.0
    epsilon: float = 0.0
    delta: float = 0.0
    # The number of disjoint blocks, if the value has one statistic per block: a neighbour changes
    # one block (parallel composition). Otherwise 1.
    disjoint_blocks: int = 1
    # The number of a partition of the records and the number of the block that the release reads;
    # see `Ledger.disjoint`.
    part: tuple[int, int] | None = None
    # The number of releases in the entry. It exceeds 1 only if the releases are (epsilon, delta)-DP
    # together and a record may be in several of them.
    releases: int = 1
    # The batch size K and the number n of records in the part, if the release reads fresh secret
    # batches; otherwise None.
    batch: tuple[int, int] | None = None

    @property
    def flawed(self) -> bool:
        """Whether the noise is too small for the budget share that the release claims."""
        return self.proven_sensitivity > self.sensitivity * (1 + ROUNDING)

    @property
    def flaw(self) -> str:
        """The sentence of a `flawed` entry: by how much its noise is too small."""
        return (
            f"{self.label}: calibrated to sensitivity {self.sensitivity:.4g}, but "
            f"{self.proven_sensitivity:.4g} is proven, so it is "
            f"{(self.proven_sensitivity / self.sensitivity) ** 2:.3g} times less private than "
            "claimed"
        )


PURE = ("laplace", "spherical laplace", "pure objective perturbation")
# Mechanisms that are (epsilon, delta)-DP as a whole. A noisy test is pure by itself but belongs
# here: disjoint users may divide epsilon freely between tests and noise, and the most expensive
# user counts.
APPROXIMATE = (
    "shuffled gaussian",
    "allocated gaussian",
    "poisson gaussian",
    "shuffled generalized gaussian",
    "objective perturbation",
    "noisy test",
    "tested gaussian",
)
# The mechanisms whose cost is a rho alone; pure mechanisms, which also have a rho, are not listed:
# see `Ledger.bound_by`.
CONCENTRATED = {"gaussian", "generalized gaussian"}


def pure_share(mechanism: MechanismName, epsilon: float) -> float:
    """Return the rho of a pure release by its mechanism (theory/pure-releases.md, 4).

    Independent Laplace noise on every entry costs `laplace_rho`. For other releases only the cost
    of every pure release is proven.
    """
    return laplace_rho(epsilon) if mechanism == "laplace" else pure_rho(epsilon)


def approximate_entry(
    mechanism: MechanismName,
    label: str,
    sensitivity: float,
    noise: float,
    size: int,
    cost: tuple[float, float],
) -> Entry:
    """Return the entry of noise whose whole `cost` is one pair (epsilon, delta)."""
    return Entry(
        mechanism=mechanism,
        label=label,
        sensitivity=sensitivity,
        proven_sensitivity=sensitivity,
        noise=noise,
        size=size,
        epsilon=cost[0],
        delta=cost[1],
    )


def describe_overspending(entries: tuple[Entry, ...], budget: Budget) -> str:
    """Return a sentence saying that `entries` do not fit into what is left of `budget`."""
    rho, epsilon, delta = (
        sum(getattr(entry, share) for entry in entries) for share in ("rho", "epsilon", "delta")
    )
    return (
        f"{entries[0].label}: a share of rho={rho:.6g}, epsilon={epsilon:.6g}, "
        f"delta={delta:.6g} does not fit into what is left of {budget}"
    )
