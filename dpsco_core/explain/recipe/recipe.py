"""What to set so that a private method runs as it runs here: read from its ledger and its run.

Nothing is derived a second time. Radii, steps and step sizes are those that a run reports; noise,
sensitivities and shares are the entries of its ledger. Noise on a sum stands only where the ledger
itself says that a release is a sum or a mean of records of a known length: where its sensitivity is
twice that length, over the number of records.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from dpsco_core.base.cards import MethodCard
from dpsco_core.catalogue import method_card, methods_for
from dpsco_core.explain.recipe.ledgers import Account, Spending, account
from dpsco_core.explain.recipe.setting import unit_fields
from dpsco_core.privacy.budget import ApproxDP, Budget
from dpsco_core.privacy.entries import MechanismName
from dpsco_core.privacy.poisson import poisson_noise_multiplier
from dpsco_core.runs.store import budget_fields
from dpsco_core.scenario import Scenario

CLOSE = 1e-9  # Two sensitivities with this relative difference are equal up to rounding.
# The diagnostics that report the length to which a run shortens a record, in words.
CLIPS = {
    "clip_radius": "clip radius (max_grad_norm)",
    "feature_bound": "largest norm of a record: longer ones are shrunk to it",
    "clip_limit": "clip limit of a coordinate",
    "truncation_level": "clip radius in the dual norm",
    "tau": "truncation level of a coordinate",
}
# The words for `clip_radius` where a run also reports `feature_bound`.
SHRUNK = "bound on a gradient, which follows from shrunk records"
# The mechanisms whose ledger entries state an l2 sensitivity.
EUCLIDEAN = (
    "gaussian",
    "shuffled gaussian",
    "allocated gaussian",
    "poisson gaussian",
    "tested gaussian",
)
SHUFFLED = ("shuffled gaussian", "allocated gaussian", "shuffled generalized gaussian")
# For these mechanisms the privacy cost depends only on the ratio of noise and sensitivity.
SCALED = ("gaussian", "laplace", "spherical laplace", "generalized gaussian")
ACCOUNTANTS: Mapping[MechanismName, str] = {
    "gaussian": "rho of Gaussian noise adds up",
    "generalized gaussian": "rho of generalized Gaussian noise adds up",
    "laplace": "epsilon of Laplace noise adds up",
    "spherical laplace": "epsilon of spherical Laplace noise adds up",
    "exponential": "choices by exponential mechanisms count with their dominating pairs",
    "shuffled gaussian": "amplification by shuffling, of all steps together",
    "allocated gaussian": "random allocation, of all steps together",
    "poisson gaussian": "Poisson sampling, of all steps together",
    "shuffled generalized gaussian": "amplification by shuffling, of all steps together",
    "objective perturbation": "epsilon and delta of the noisy objective",
    "pure objective perturbation": "epsilon of the noisy objective",
    "noisy test": "epsilon and delta of tests and noise add up",
    "tested gaussian": "epsilon and delta of tests and noise add up",
}


@dataclass(frozen=True, kw_only=True)
class NoisyRelease:
    """Releases that are alike: one of the noisy values, or all steps of a descent."""

    label: str  # the released quantity in words
    mechanism: MechanismName
    count: int
    records: str  # the records that each of these releases uses
    # how far the replacement of a record moves the released value, in the mechanism's norm
    sensitivity: float
    noise: float  # the standard deviation of the noise, or its scale, per coordinate
    share: float  # the share of the budget that all these releases take
    # The largest length of a record, if the release is a sum or a mean of records; else None.
    length: float | None = None
    batch: int | None = None  # the number of records in the sum or the mean
    is_mean: bool = False  # whether the release is a mean rather than a sum
    # If sampling hides records, the noise multiplier that its accountant needs under add/remove.
    sampled_add_remove: float | None = None

    @property
    def over_sensitivity(self) -> float:
        """The noise over the sensitivity to a replaced record, which determines the cost."""
        return self.noise / self.sensitivity

    @property
    def on_sum(self) -> float | None:
        """The standard deviation of the noise on the sum of a batch; None without a batch."""
        if self.batch is None:
            return None
        return self.noise * self.batch if self.is_mean else self.noise

    @property
    def on_mean(self) -> float | None:
        """The standard deviation of the noise on the mean of a batch; None without a batch."""
        if self.batch is None:
            return None
        return self.noise if self.is_mean else self.noise / self.batch

    @property
    def noise_multiplier(self) -> float | None:
        """The noise on the sum of a batch over the largest length of a record, as in Opacus."""
        if self.on_sum is None or self.length is None:
            return None
        return self.on_sum / self.length

    @property
    def add_remove_multiplier(self) -> float | None:
        """The noise multiplier of the same budget under add/remove neighbours: a half of it.

        A record that is replaced moves the sum by up to twice its length, one that comes or goes by
        its length. None where the proof is of a replaced record: amplification, tests, choices.
        On Poisson samples it is no half, and has an accountant of its own.
        """
        if self.sampled_add_remove is not None:
            return self.sampled_add_remove
        full = self.noise_multiplier
        return full / 2 if full is not None and self.mechanism in SCALED else None

    def to_dict(self) -> dict[str, Any]:
        """Return the known fields for JSON; fields that do not apply are left out."""
        values = {
            "label": self.label,
            "mechanism": self.mechanism,
            "count": self.count,
            "records": self.records,
            "sensitivity": self.sensitivity,
            "noise": self.noise,
            "noise_over_sensitivity": self.over_sensitivity,
            "length": self.length,
            "batch": self.batch,
            "noise_on_sum": self.on_sum,
            "noise_on_mean": self.on_mean,
            "noise_multiplier_replace_one": self.noise_multiplier,
            "noise_multiplier_add_remove": self.add_remove_multiplier,
            "share_of_budget": self.share,
        }
        return {name: value for name, value in values.items() if value is not None}


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """The settings of one method at one point."""

    card: MethodCard
    point: Scenario  # the scenario at a single point
    refusal: str  # the reason why the method cannot run here; empty if it can
    clips: Mapping[str, float]  # the clip radii by the keys of `CLIPS`
    steps: int | None
    batch: int | None  # the number of records, or users, in a step or in the only release
    step_size: float | None
    averaged: int | None  # the number of last points whose average is the answer
    releases: tuple[NoisyRelease, ...]
    spent: Budget | None
    accountant: str
    sampling: str  # the records that a release uses, in words

    @property
    def budget(self) -> Budget:
        """The budget of the run."""
        return self.point.budget

    @property
    def epochs(self) -> float | None:
        """How often the steps read the records, in the mean; None if steps or batch are unknown."""
        if self.steps is None or self.batch is None:
            return None
        return self.steps * self.batch / self.records

    @property
    def records(self) -> int:
        """The number of records, or of users, that the method sees."""
        return _count_records(self.point, self.card)

    @property
    def unit(self) -> Literal["record", "user"]:
        """The unit that a neighbour replaces: a record or a user."""
        return "user" if self.card.level == "user" else "record"

    @property
    def main_release(self) -> NoisyRelease | None:
        """The entry of the recipe with the largest share of the budget; of equal ones the last."""
        return max(reversed(self.releases), key=lambda r: round(r.share, 9), default=None)

    @property
    def clip_words(self) -> dict[str, float]:
        """The lengths to which records are shortened, by their descriptions."""
        words = CLIPS | ({"clip_radius": SHRUNK} if "feature_bound" in self.clips else {})
        return {words[name]: value for name, value in self.clips.items()}

    @property
    def is_radius_private(self) -> bool:
        """Whether the radius is chosen in the run, by private releases."""
        return self.card.private_radius

    def to_dict(self) -> dict[str, Any]:
        """Return the recipe for JSON; fields that do not apply are left out."""
        values: dict[str, Any] = {
            "method": self.card.slug,
            "name": self.card.name,
            "not_applicable": self.refusal or None,
            **self.clips,
            "radius_is_chosen_in_the_run": True if self.is_radius_private else None,
            "unit": unit_fields(self.point),
            "steps": self.steps,
            "batch": self.batch,
            "epochs": self.epochs,
            "step_size": self.step_size,
            "averaged": self.averaged,
            "releases": [release.to_dict() for release in self.releases] or None,
            "budget": budget_fields(self.budget),
            "spent": budget_fields(self.spent),
            "neighbours": f"replace one {self.unit}",
            "sampling": self.sampling or None,
            "accountant": self.accountant or None,
        }
        return {name: value for name, value in values.items() if value is not None}


def recipe(point: Scenario, method: str) -> Recipe:
    """Return the recipe of a private method at a point, from one run of it on synthetic data.

    Raises `InvalidInput` if the point has an axis.

    Examples
    --------
    >>> clipped = recipe(Scenario(n=2000, d=3, offset=0.0), "mean.clipped")
    >>> release = clipped.main_release
    >>> print(f"{clipped.clips['clip_radius']:.3f} {release.noise_multiplier:.3f}")
    6.965 8.449
    >>> print(f"{release.add_remove_multiplier:.3f} {release.over_sensitivity:.3f}")
    4.225 4.225
    """
    run = account(replace(point, methods=(method,)))
    card, diagnostics = method_card(method), run.outcome.diagnostics
    clips = {
        name: diagnostics[name] for name in CLIPS if math.isfinite(diagnostics.get(name, math.nan))
    }
    steps = int(diagnostics["steps"]) if "steps" in diagnostics else None
    releases = tuple(_list_releases(point, card, run, clips))
    return Recipe(
        card=card,
        point=point,
        refusal=run.outcome.not_applicable or "",
        clips=clips,
        steps=steps,
        batch=_batch_of_run(point, card, diagnostics, run.spendings),
        step_size=diagnostics.get("step_size"),
        averaged=int(diagnostics["averaged"]) if "averaged" in diagnostics else None,
        releases=releases,
        spent=run.outcome.spent,
        accountant=_describe_accountant(run),
        sampling=_describe_sampling(
            run.spendings, card.level == "user", _has_disjoint_batches(point, card, diagnostics)
        ),
    )


def recipes(scenario: Scenario) -> tuple[Recipe, ...]:
    """Return the recipes of the private methods of a scenario, at one point of its axis.

    That is the scenario's own value where the grid has it, and the last of the grid elsewhere.
    """
    point = replace(scenario, axis=None, grid=())
    if scenario.axis is not None and getattr(scenario, scenario.axis) not in scenario.grid:
        point = scenario.at(scenario.grid[-1])
    allowed = methods_for(point.problem, point.level)
    private = (m for m in scenario.methods if method_card(m).privacy != "none" and m in allowed)
    return tuple(recipe(point, method) for method in private)


def _list_releases(
    point: Scenario, card: MethodCard, run: Account, clips: Mapping[str, float]
) -> Iterator[NoisyRelease]:
    """Yield the noisy releases of a run, in order."""
    diagnostics = run.outcome.diagnostics
    lengths = [clips[name] for name in ("clip_radius", "truncation_level") if name in clips]
    if "clip_limit" in clips:
        lengths.append(clips["clip_limit"] * math.sqrt(point.d))
    batches = list(_possible_batches(point, card, diagnostics))
    for spending in _merge_spendings(run.spendings):
        release = NoisyRelease(
            label=spending.label,
            mechanism=spending.mechanism,
            count=spending.count,
            records=spending.records,
            sensitivity=spending.sensitivity,
            noise=spending.noise,
            share=spending.share,
            sampled_add_remove=_sampled_add_remove(point.budget, spending, diagnostics),
        )
        yield next(_read_as_sums(release, lengths, batches), release)


def _sampled_add_remove(
    budget: Budget, spending: Spending, diagnostics: Mapping[str, float]
) -> float | None:
    """Return the noise multiplier that Poisson-sampled steps need under add/remove neighbours.

    None for releases of other mechanisms, and for a zCDP budget.
    """
    if spending.mechanism != "poisson gaussian" or not isinstance(budget, ApproxDP):
        return None
    rate, steps = diagnostics["sampling_rate"], int(diagnostics["steps"])
    return poisson_noise_multiplier(rate, steps, budget.epsilon, budget.delta, "add-remove")


def _read_as_sums(
    release: NoisyRelease, lengths: Sequence[float], batches: Sequence[int]
) -> Iterator[NoisyRelease]:
    """Yield a release as a mean or as a sum, for each length and batch that fits its entry."""
    if release.mechanism not in EUCLIDEAN:
        return
    for length in lengths:
        for batch in batches:
            for is_mean in (True, False):
                shift = 2 * length / (batch if is_mean else 1)
                if math.isclose(release.sensitivity, shift, rel_tol=CLOSE):
                    yield replace(release, length=length, batch=batch, is_mean=is_mean)


def _possible_batches(
    point: Scenario, card: MethodCard, diagnostics: Mapping[str, float]
) -> Iterator[int]:
    """Yield the numbers of records that a release may be a mean of, as the run reports them."""
    if (step := _step_batch(point, card, diagnostics)) is not None:
        yield step
    yield _count_records(point, card)
    if "groups" in diagnostics:
        yield _count_records(point, card) // int(diagnostics["groups"])


def _count_records(point: Scenario, card: MethodCard) -> int:
    """Return the number of records, or of users, that a method sees."""
    return point.n if card.level == "user" or point.m == 1 else point.n * point.m


def _step_batch(point: Scenario, card: MethodCard, diagnostics: Mapping[str, float]) -> int | None:
    """Return the number of records, or users, in a step; None if the run does not report it."""
    if "batch_size" in diagnostics:
        return int(diagnostics["batch_size"])
    if "gradient_calls" in diagnostics and diagnostics.get("steps"):
        items = point.m if card.level == "user" else 1
        batch = diagnostics["gradient_calls"] / (diagnostics["steps"] * items)
        return int(batch) if batch == int(batch) else None
    return None


def _batch_of_run(
    point: Scenario,
    card: MethodCard,
    diagnostics: Mapping[str, float],
    spendings: Sequence[Spending],
) -> int | None:
    """Return the number of records, or users, in a step or in the only release, if known."""
    step = _step_batch(point, card, diagnostics)
    if step is not None:
        return step
    on_all = bool(spendings) and all(s.part is None and s.batch is None for s in spendings)
    is_shuffled = any(s.mechanism in SHUFFLED for s in spendings)
    return _count_records(point, card) if on_all and not is_shuffled else None


def _merge_spendings(spendings: Sequence[Spending]) -> Iterator[Spending]:
    """Yield spendings, with equal spendings on the blocks of one partition as one."""
    groups: dict[tuple[object, ...], list[Spending]] = {}
    for spending in spendings:
        partition = None if spending.part is None else spending.part[0]
        sizes = (f"{spending.sensitivity:.9g}", f"{spending.noise:.9g}", spending.batch)
        groups.setdefault((spending.mechanism, partition, *sizes), []).append(spending)
    for alike in groups.values():
        count = sum(spending.count for spending in alike)
        if alike[0].part is None:
            yield replace(alike[0], count=count, share=math.fsum(s.share for s in alike))
        else:  # Disjoint blocks together cost as much as the most expensive one.
            yield replace(alike[0], count=count, share=max(s.share for s in alike))


def _describe_accountant(run: Account) -> str:
    """Return in words how the releases add up to the spent budget."""
    if not run.spendings:
        return ""
    words = list(dict.fromkeys(ACCOUNTANTS[spending.mechanism] for spending in run.spendings))
    if run.parallel:
        words.append("of disjoint blocks the dearest counts")
    mechanisms = {spending.mechanism for spending in run.spendings}
    if isinstance(run.budget, ApproxDP) and mechanisms == {"gaussian"}:
        words.append("(epsilon, delta) is on the exact curve of Gaussian noise")
    elif isinstance(run.budget, ApproxDP) and mechanisms == {"generalized gaussian"}:
        words.append("(epsilon, delta) is the best that zCDP implies")
    return "; ".join(words)


def _has_disjoint_batches(
    point: Scenario, card: MethodCard, diagnostics: Mapping[str, float]
) -> bool:
    """Return whether the records are enough for a batch of their own at every step of a run."""
    batch = _step_batch(point, card, diagnostics)
    records = _count_records(point, card)
    return batch is not None and batch < records and batch * diagnostics["steps"] <= records


def _describe_sampling(spendings: Sequence[Spending], is_of_users: bool, is_once: bool) -> str:
    """Return in words which records the releases use."""
    if not spendings:
        return ""
    people = "users" if is_of_users else "records"
    if any(spending.mechanism == "poisson gaussian" for spending in spendings):
        return f"a secret Poisson sample at every step: each of the {people} by itself"
    allocated = [s for s in spendings if s.mechanism == "allocated gaussian"]
    if any(spending.releases > 1 for spending in allocated):
        return f"at every step a group for each of the {people}, drawn by itself and kept secret"
    if allocated:
        return f"one step (or group) for each of the {people}, drawn by itself and kept secret"
    if any(spending.mechanism in SHUFFLED for spending in spendings):
        return f"{people} in a secret random order, each at one step"
    if any(spending.batch is not None for spending in spendings):
        return f"secret batches of the {people}, drawn anew"
    if all(spending.part is not None for spending in spendings) or is_once:
        return f"disjoint blocks: each of the {people} is in one"
    if any(spending.part is not None for spending in spendings):
        return f"some releases see all {people}, some a block of their own"
    return f"every release sees all {people}: no subsampling"
