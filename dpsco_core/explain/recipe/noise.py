"""The noise that a budget asks for, and the budget that a noise is worth: solved in either way.

The noise is the standard deviation of Gaussian noise on a sum. It is told over the sensitivity of
the neighbours, and over the largest norm of a record, as Opacus counts it.
"""

import math
from dataclasses import asdict, dataclass
from typing import Any, Literal

from dpsco_core.base.errors import InvalidInput, require
from dpsco_core.base.parsing import one_of, real, whole
from dpsco_core.base.root import find_root
from dpsco_core.explain.budgets import MOST_RECORDS, MOST_RELEASES
from dpsco_core.privacy.budget import EPSILON_MAX, gaussian_epsilon, gaussian_rho
from dpsco_core.privacy.poisson import (
    DIRECTIONS,
    Neighbours,
    poisson_epsilon,
    poisson_noise_multiplier,
)
from dpsco_core.privacy.subsampling import batched_gaussian_epsilon

Sampling = Literal["none", "fixed", "poisson"]
SAMPLINGS: dict[Sampling, str] = {
    "none": "every release sees all records",
    "fixed": "a secret batch of fixed size for each release, without replacement",
    "poisson": "a Poisson batch for each release",
}
LEAST_NOISE, MOST_NOISE = 1e-2, 1e6


@dataclass(frozen=True, kw_only=True)
class Priced:
    """Equal Gaussian releases: their noise, and their total privacy cost."""

    releases: int
    sampling: Sampling
    rate: float  # the expected share of the records in a batch
    epsilon: float
    delta: float
    # The noise over the largest norm of a record in the sum, for each kind of neighbours.
    replace_one: float | None  # None if the accountant has no proof for replaced records.
    add_remove: float | None

    @property
    def neighbours(self) -> str:
        """The relation between neighbouring data sets for which the accountant computes."""
        if self.replace_one is None:
            return "add or remove one"
        return "replace one" if self.add_remove is None else "replace one, or add or remove one"

    @property
    def accountant(self) -> str:
        """The method by which epsilon is computed, in words."""
        return {
            "none": "the exact curve of Gaussian noise",
            "fixed": "moments of Gaussian noise on batches, an upper bound",
            "poisson": "privacy loss distributions, rounded up",
        }[self.sampling]

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers and their names as a dictionary for JSON."""
        values = asdict(self) | {"neighbours": self.neighbours, "accountant": self.accountant}
        multipliers = {
            "noise_multiplier_replace_one": values.pop("replace_one"),
            "noise_multiplier_add_remove": values.pop("add_remove"),
        }
        return {k: v for k, v in (values | multipliers).items() if v is not None}


def noise_for(
    epsilon: float,
    delta: float,
    *,
    releases: int = 1,
    sampling: Sampling = "none",
    batch: int | None = None,
    records: int | None = None,
) -> Priced:
    """Return the least noise, and its price, of equal releases that cost (epsilon, delta) together.

    Raises `InvalidInput` for what is out of range, and for batches without their sizes.

    Examples
    --------
    >>> priced = noise_for(1.0, 1e-6)
    >>> round(priced.replace_one, 3), round(priced.add_remove, 3)
    (8.449, 4.225)
    """
    rate = _check_and_get_rate(delta, releases, sampling, batch, records)
    real("epsilon", epsilon, 1e-6, EPSILON_MAX)
    if sampling == "poisson":
        replace_one, add_remove = (
            poisson_noise_multiplier(rate, releases, epsilon, delta, name) for name in DIRECTIONS
        )
        return _price_releases(epsilon, delta, releases, sampling, rate, replace_one, add_remove)
    rho = gaussian_rho(epsilon, delta) / releases
    if sampling == "none":
        over_sensitivity = 1 / math.sqrt(2 * rho)
        return _priced_from_noise_ratio(epsilon, delta, releases, sampling, rate, over_sensitivity)
    assert batch is not None and records is not None

    def excess(log_noise: float) -> float:
        """Return ln(epsilon reached / epsilon wanted) at the noise multiplier e^log_noise."""
        own_rho = math.exp(-2 * log_noise) / 2
        cost = batched_gaussian_epsilon(
            own_rho, delta, batch_size=batch, count=records, releases=releases
        )
        return math.log(max(cost, 1e-12) / epsilon)

    high = -0.5 * math.log(2 * rho)
    low = math.log(LEAST_NOISE)
    root = high
    if excess(high) < 0:  # Otherwise the accountant gives sampled batches no credit at this noise.
        root = find_root(excess, low, high, xtol=1e-9) + 1e-9
    return _priced_from_noise_ratio(epsilon, delta, releases, sampling, rate, math.exp(root))


def epsilon_of(
    noise_multiplier: float,  # the noise over the largest norm of a record
    delta: float,
    *,
    neighbours: Neighbours = "replace-one",
    releases: int = 1,
    sampling: Sampling = "none",
    batch: int | None = None,
    records: int | None = None,
) -> Priced:
    """Return the total cost of equal releases with a noise multiplier; see `noise_for`.

    Examples
    --------
    >>> round(epsilon_of(8.4494, 1e-6).epsilon, 4)
    1.0
    >>> round(epsilon_of(8.4494, 1e-6, neighbours="add-remove").epsilon, 4)
    0.4752
    """
    rate = _check_and_get_rate(delta, releases, sampling, batch, records)
    real("noise_multiplier", noise_multiplier, LEAST_NOISE, MOST_NOISE)
    one_of("neighbours", neighbours, tuple(DIRECTIONS))
    is_proven = sampling != "fixed" or neighbours == "replace-one"
    require(is_proven, "neighbours", "replace-one for fixed batches", neighbours)
    if sampling == "poisson":
        cost = poisson_epsilon(noise_multiplier, rate, releases, delta, neighbours)
        replace_one, add_remove = (
            noise_multiplier if name == neighbours else None for name in DIRECTIONS
        )
        return _price_releases(cost, delta, releases, sampling, rate, replace_one, add_remove)
    over_sensitivity = noise_multiplier / (2 if neighbours == "replace-one" else 1)
    rho = 1 / (2 * over_sensitivity**2)
    if sampling == "none":
        cost = gaussian_epsilon(releases * rho, delta)
    else:
        assert batch is not None and records is not None
        cost = batched_gaussian_epsilon(
            rho, delta, batch_size=batch, count=records, releases=releases
        )
    return _priced_from_noise_ratio(cost, delta, releases, sampling, rate, over_sensitivity)


def releases_of_epochs(
    epochs: float, sampling: Sampling | None, batch: int | None, records: int | None
) -> int:
    """Return the number of batches, rounded up, in which the records are read `epochs` times.

    Raises `InvalidInput` if the releases are not on batches, or an argument is out of range.

    Examples
    --------
    >>> releases_of_epochs(5, "poisson", batch=600, records=60_000)
    500
    """
    if batch is None or records is None:
        raise InvalidInput("batch and records must be given with epochs, got none.")
    require(sampling != "none", "sampling", "fixed or poisson with epochs", sampling)
    whole("records", records, 1, MOST_RECORDS)
    whole("batch", batch, 1, MOST_RECORDS)
    real("epochs", epochs, 1e-12, MOST_RELEASES)
    # Rounding errors may lift the quotient slightly above a whole number of batches.
    return math.ceil(epochs * records / batch * (1 - 1e-12))


def _priced_from_noise_ratio(
    epsilon: float,
    delta: float,
    releases: int,
    sampling: Sampling,
    rate: float,
    over_sensitivity: float,
) -> Priced:
    """Describe equal releases and their total privacy cost.

    `over_sensitivity` is the ratio of the noise to the sensitivity. The sensitivity is twice the
    largest norm of a record for replacement, and that norm for adding or removing a record; the
    result has the noise multiplier for each.
    """
    add_remove = over_sensitivity if sampling == "none" else None
    return _price_releases(
        epsilon, delta, releases, sampling, rate, 2 * over_sensitivity, add_remove
    )


def _price_releases(
    epsilon: float,
    delta: float,
    releases: int,
    sampling: Sampling,
    rate: float,
    replace_one: float | None,
    add_remove: float | None,
) -> Priced:
    """Return the price of releases, with the noise multiplier of each kind of neighbours."""
    return Priced(
        releases=releases,
        sampling=sampling,
        rate=rate,
        epsilon=epsilon,
        delta=delta,
        replace_one=replace_one,
        add_remove=add_remove,
    )


def _check_and_get_rate(
    delta: float, releases: int, sampling: str, batch: int | None, records: int | None
) -> float:
    """Check the arguments and return the share of the records in a batch."""
    one_of("sampling", sampling, tuple(SAMPLINGS))
    whole("releases", releases, 1, MOST_RELEASES)
    real("delta", delta, 1e-300, 0.999)
    if sampling == "none":
        return 1.0
    if batch is None or records is None:
        raise InvalidInput(f"batch and records must be given with sampling={sampling}, got none.")
    whole("records", records, 1, MOST_RECORDS)
    whole("batch", batch, 1, MOST_RECORDS)
    require(batch <= records, "batch", f"at most the {records:,} records", batch)
    is_subsample = batch < records or sampling == "fixed"
    require(is_subsample, "batch", f"below the {records:,} records, or without sampling", batch)
    return batch / records
