"""What a budget is worth, and what a noise costs, in one call: the numbers of `dpsco budget`."""

from dataclasses import dataclass

from dpsco_core.base.errors import InvalidInput, require
from dpsco_core.explain.budgets import (
    READ_AT,
    Composed,
    Conversion,
    composed,
    equal_share,
    every_conversion,
    point_of,
)
from dpsco_core.explain.recipe.noise import (
    Priced,
    Sampling,
    epsilon_of,
    noise_for,
    releases_of_epochs,
)
from dpsco_core.privacy.budget import Budget
from dpsco_core.privacy.poisson import Neighbours


@dataclass(frozen=True, kw_only=True)
class BudgetAnswer:
    """What a budget is worth; or, where a noise is given, what it costs."""

    # The budget in its notion; None where a noise is given, from which epsilon follows.
    budget: Budget | None
    delta: float  # the delta at which epsilons are read
    # The conversions of one release on all records, one for each argument that proves one.
    conversions: tuple[Conversion, ...]
    # Releases that each spend the whole budget on all records; None for one, and for batches,
    # whose releases have the budget together.
    composition: Composed | None
    # What each of those releases may spend, if all of them together cost the budget.
    share: Budget | None
    # The noise of equal Gaussian releases that have the (epsilon, delta) budget together, over the
    # largest norm of a record, or their cost; None for other budgets.
    noise: Priced | None


def budget(
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    rho: float | None = None,
    noise_multiplier: float | None = None,
    releases: int | None = None,
    epochs: float | None = None,
    sampling: Sampling | None = None,
    batch: int | None = None,
    records: int | None = None,
    neighbours: Neighbours = "replace-one",
) -> BudgetAnswer:
    """Return what a budget is worth: its conversions, releases that add up, and their noise.

    The numbers are those of ``dpsco budget`` with the same flags. That command amplifies budgets by
    shuffling and random allocation too.

    Parameters
    ----------
    epsilon : float, optional
        The budget, from 1e-6 to 1e6, by default 1.
    delta : float, optional
        From 0, which is pure DP, to below 1; by default 1e-6, at which other budgets are read too.
    rho : float, optional
        A zCDP budget, from 1e-12 to 1e12, in place of `epsilon`.
    noise_multiplier : float, optional
        In place of a budget: the standard deviation of Gaussian noise on a sum over the largest
        norm of a record, from 0.01 to 1e6. The answer is then the epsilon of ``noise``.
    releases : int, optional
        The number of equal releases, from 1 to 1,000,000.
    epochs : float, optional
        In place of `releases`: how often the batches of all releases together read the records.
    sampling : str, optional
        ``"none"``, or ``"fixed"`` or ``"poisson"`` for a secret batch of each release. By default
        ``"poisson"`` beside `epochs`, and else ``"none"``.
    batch, records : int, optional
        Beside `sampling` or `epochs`: the (expected) records of a batch, of how many.
    neighbours : str
        Beside `noise_multiplier`: ``"replace-one"`` or ``"add-remove"``.

    Raises
    ------
    InvalidInput
        If an argument is out of range, or does not go with another one.

    Examples
    --------
    >>> round(budget(epsilon=1.0, delta=1e-6).noise.replace_one, 3)
    8.449
    >>> trained = {"releases": 1000, "sampling": "poisson", "batch": 600, "records": 60_000}
    >>> round(budget(noise_multiplier=2.0, **trained).noise.epsilon, 1)
    1.4
    >>> of_epochs = {"epochs": 10, "batch": 600, "records": 60_000}
    >>> budget(noise_multiplier=2.0, **of_epochs) == budget(noise_multiplier=2.0, **trained)
    True
    """
    _refuse_pairs(epsilon, rho, noise_multiplier, delta)
    if epochs is not None:
        require(releases is None, "releases", "left out beside epochs, which set them", releases)
        releases = releases_of_epochs(epochs, sampling, batch, records)
    sampling = sampling or ("none" if epochs is None else "poisson")
    has_batches = sampling != "none"
    if not has_batches and (batch is not None or records is not None):
        raise InvalidInput("sampling must be fixed or poisson with batch or records, got none.")
    if noise_multiplier is None and neighbours != "replace-one":
        raise InvalidInput(
            "neighbours must be left out without noise_multiplier: the noise is for both, "
            f"got neighbours={neighbours}."
        )
    count = 1 if releases is None else releases
    if noise_multiplier is not None:
        read_at = READ_AT if delta is None else delta
        priced = epsilon_of(
            noise_multiplier,
            read_at,
            neighbours=neighbours,
            releases=count,
            sampling=sampling,
            batch=batch,
            records=records,
        )
        return BudgetAnswer(
            budget=None, delta=read_at, conversions=(), composition=None, share=None, noise=priced
        )
    point = point_of(epsilon, delta, rho)
    if has_batches and point.kind != "approx":
        name, value = ("sampling", sampling) if epochs is None else ("epochs", epochs)
        raise InvalidInput(f"{name} must be left out of a {point.kind} budget, got {name}={value}.")
    noise = None
    if point.kind == "approx":
        noise = noise_for(
            point.epsilon,
            point.delta,
            releases=count,
            sampling=sampling,
            batch=batch,
            records=records,
        )
    is_composed = releases is not None and not has_batches
    return BudgetAnswer(
        budget=point.budget,
        delta=point.delta,
        conversions=every_conversion(point),
        composition=composed(point, count) if is_composed else None,
        share=equal_share(point, count) if is_composed else None,
        noise=noise,
    )


def _refuse_pairs(
    epsilon: float | None, rho: float | None, noise: float | None, delta: float | None
) -> None:
    """Raise `InvalidInput` if two of epsilon, rho and noise are given, or noise at delta 0."""
    by_name = {"epsilon": epsilon, "rho": rho, "noise_multiplier": noise}
    names = [name for name, value in by_name.items() if value is not None]
    if len(names) > 1:
        wanted, extra = names[0], names[-1]
        raise InvalidInput(
            f"{wanted} must be left out beside {extra}, got {wanted}={by_name[wanted]}."
        )
    if noise is not None and delta is not None and delta == 0:
        raise InvalidInput("delta must be above 0 beside noise_multiplier, got delta=0.")
