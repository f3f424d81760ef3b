"""The record of one private release in a ledger."""

from dataclasses import dataclass
from typing import Literal

from dpsco_core.privacy.budget import Budget
from dpsco_core.privacy.concentration import laplace_rho, pure_rho

# The relative rounding that sums of shares such as rho/T may have.
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
    label: str  # what was released, in words
    # the l2 (Gaussian), l1 (Laplace) or dual-norm (generalized Gaussian) sensitivity for which the
    # noise was calibrated; for an exponential mechanism that of every candidate's score
    sensitivity: float
    # The proven sensitivity. It exceeds `sensitivity` only if a paper's own constant is too small;
    # the release is then less private than it claims.
    proven_sensitivity: float
    # standard deviation (Gaussian) or scale (Laplace) per coordinate; the scale sigma of a
    # generalized Gaussian, whose norm is sigma times a chi variable; the scale of the Gumbel noise
    # on a score
    noise: float
    size: int  # number of noisy coordinates, or of choices that exponential mechanisms made
    # The share in the notion of the mechanism, otherwise 0. Pure releases, exponential mechanisms
    # among them, have both an epsilon and the rho that each of them satisfies by itself.
    rho: float = 0.0
    epsilon: float = 0.0
    delta: float = 0.0
    # more than 1 if the value has one statistic for each of so many disjoint blocks, of which a
    # neighbour changes one (parallel composition)
    disjoint_blocks: int = 1
    # the number of a partition of the records and of the block that the release reads; see
    # `Ledger.disjoint`
    part: tuple[int, int] | None = None
    # How many releases it accounts for. It is more than 1 only where they are (epsilon, delta)-DP
    # together, and a record may be in several of them.
    releases: int = 1
    # K and n if the release reads fresh secret batches of K of the n records of its part
    batch: tuple[int, int] | None = None

    @property
    def flawed(self) -> bool:
        """Whether the noise is too small for the share that the release claims."""
        return self.proven_sensitivity > self.sensitivity * (1 + ROUNDING)

    @property
    def flaw(self) -> str:
        """A sentence that says how much too small the noise is; for an entry that is `flawed`."""
        return (
            f"{self.label}: calibrated to sensitivity {self.sensitivity:.4g}, but "
            f"{self.proven_sensitivity:.4g} is proven, so it is "
            f"{(self.proven_sensitivity / self.sensitivity) ** 2:.3g} times less private than "
            "claimed"
        )


PURE = ("laplace", "spherical laplace", "pure objective perturbation")
# (epsilon, delta)-DP as a whole. A noisy test, itself pure, is a part of such a whole: disjoint
# users may divide epsilon between tests and noise as they like, and the most expensive one counts.
APPROXIMATE = (
    "shuffled gaussian",
    "allocated gaussian",
    "poisson gaussian",
    "shuffled generalized gaussian",
    "objective perturbation",
    "noisy test",
    "tested gaussian",
)
# The mechanisms whose share is a rho; pure ones, which have one too, are omitted: see
# `Ledger.bound_by`.
CONCENTRATED = {"gaussian", "generalized gaussian"}


def pure_share(mechanism: MechanismName, epsilon: float) -> float:
    """Return the rho that a pure release costs, by its mechanism (theory/pure-releases.md, 4).

    Independent Laplace noise on every entry costs `laplace_rho`. Of the others only what every pure
    release costs is proven.
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
    """Return the entry of noise whose whole `cost` is one (epsilon, delta)."""
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


def over_budget(entries: tuple[Entry, ...], budget: Budget) -> str:
    """Return a sentence that says that `entries` do not fit into `budget`."""
    rho, epsilon, delta = (
        sum(getattr(entry, share) for entry in entries) for share in ("rho", "epsilon", "delta")
    )
    return (
        f"{entries[0].label}: a share of rho={rho:.6g}, epsilon={epsilon:.6g}, "
        f"delta={delta:.6g} does not fit into what is left of {budget}"
    )
