"""A recipe as code of other libraries, where they have the mechanism.

A snippet stands for the mechanism alone: one noisy mean, or the noisy clipped gradients of a
descent. It says where the library counts privacy in another way than the ledger does.
"""

from collections.abc import Callable, Mapping

from dpsco_core.base.parsing import one_of
from dpsco_core.explain.recipe.recipe import NoisyRelease, Recipe
from dpsco_core.methods.statistics import ClippedMean

SHRINKS = {"feature_bound"}  # what says that records are shrunk, and their gradients not clipped
Snippet = Callable[[Recipe, NoisyRelease], str]


def snippet(recipe: Recipe, library: str) -> str:
    """Return the code of a library for a recipe; empty where it has not the mechanism.

    Raises `InvalidInput` if the library is none of `LIBRARIES`.

    Examples
    --------
    >>> from dpsco_core.explain.recipe.recipe import recipe
    >>> from dpsco_core.scenario import Scenario
    >>> code = snippet(recipe(Scenario(n=2000, d=3), "mean.clipped"), "opendp")
    >>> code.splitlines()[-1]
    'print(np.array(release(total.tolist())) / n)'
    """
    one_of("library", library, tuple(LIBRARIES))
    write = LIBRARIES[library]
    release = _only_release(recipe)
    return "" if release is None else write(recipe, release)


def snippets(recipe: Recipe) -> dict[str, str]:
    """Return the code of every library that has the mechanism of a recipe."""
    codes = {library: snippet(recipe, library) for library in LIBRARIES}
    return {library: code for library, code in codes.items() if code}


def _only_release(recipe: Recipe) -> NoisyRelease | None:
    """Return the releases of a run that makes no others: equal noisy sums of clipped records."""
    if len(recipe.releases) != 1 or "clip_radius" not in recipe.clips:
        return None
    [release] = recipe.releases
    is_gaussian = release.mechanism == "gaussian" and release.label == ClippedMean.label
    is_gaussian |= release.mechanism == "poisson gaussian"
    is_whole = release.batch == recipe.batch  # not the batch of one of several groups
    is_clipped = release.length == recipe.clips["clip_radius"] and not recipe.clips.keys() & SHRINKS
    return release if is_gaussian and is_whole and is_clipped else None


def _head(recipe: Recipe, tested: str) -> str:
    """Return the first comments: what the code is, at which setting, and what was tested."""
    point = recipe.point
    return (
        f"# {recipe.card.name} at n = {point.n}, d = {point.d}, {recipe.budget}.\n"
        f"# {tested}\n"
        f"# Neighbours: one {recipe.unit} is replaced. Noise over sensitivity of a release: "
        f"{_single_release(recipe).over_sensitivity:.6g}.\n"
    )


def _single_release(recipe: Recipe) -> NoisyRelease:
    [release] = recipe.releases
    return release


def _opendp(recipe: Recipe, release: NoisyRelease) -> str:
    if recipe.steps is not None or recipe.unit == "user":
        return ""
    return (
        _head(recipe, "Run with OpenDP 0.16.")
        + f"""import numpy as np
import opendp.prelude as dp

dp.enable_features("contrib")
clip_radius = {release.length!r}
n = {release.batch}  # public
norms = np.linalg.norm(x, axis=1, keepdims=True)  # x: your records, an array of shape (n, d)
total = (x * np.minimum(1.0, clip_radius / np.maximum(norms, 1e-300))).sum(axis=0)
space = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.l2_distance(T=float)
release = space >> dp.m.then_gaussian(scale={release.on_sum!r})  # noise on the sum
print(release.map(d_in=2 * clip_radius))  # rho of replacing a record: {_rho(release):.6g}
print(np.array(release(total.tolist())) / n)
"""
    ).rstrip("\n")


def _rho(release: NoisyRelease) -> float:
    return release.count / (2 * release.over_sensitivity**2)


def _opacus(recipe: Recipe, release: NoisyRelease) -> str:
    is_sampled = release.mechanism == "poisson gaussian"
    if not is_sampled and not _is_full_descent(recipe, release):
        return ""
    if is_sampled:
        setup = f""" of
# which Opacus takes the sampling rate alone. {recipe.steps} steps in all. Project the weights
# after each; the answer is the average of the last {recipe.averaged} points."""
        notice = f"""
# The epsilon that Opacus prints is for a record that is added or removed, and is smaller. For the
# same budget under these neighbours, noise_multiplier={release.add_remove_multiplier!r}."""
    else:
        setup = f"""
# so that each of the {recipe.steps} steps sees all records. Project the weights after each step;
# the answer is the average of the last {recipe.averaged} points."""
        notice = f"""
# Opacus counts neighbours that add or remove a record: for the same budget under these,
# noise_multiplier={release.add_remove_multiplier!r}, the half."""
    return (
        _head(recipe, "Written from the source of Opacus 1.6, not run.")
        + f"""from opacus import PrivacyEngine

# optimizer: SGD with lr = {recipe.step_size:.6g}; data_loader: batch_size = {release.batch},{setup}
model, optimizer, data_loader = PrivacyEngine().make_private(
    module=model,
    optimizer=optimizer,
    data_loader=data_loader,
    noise_multiplier={release.noise_multiplier!r},
    max_grad_norm={release.length!r},
    poisson_sampling={is_sampled},
){notice}"""
    )


def _jax_privacy(recipe: Recipe, release: NoisyRelease) -> str:
    if not _is_full_descent(recipe, release):
        return ""
    return (
        _head(recipe, "Written from the source of jax_privacy 2.0, not run.")
        + f"""import dp_accounting
import jax
import jax_privacy

# loss(params, batch): its gradient is clipped record by record.
gradient = jax_privacy.clipped_grad(loss, l2_clip_norm={release.length!r})
replaced = dp_accounting.NeighboringRelation.REPLACE_ONE
noise = {release.over_sensitivity!r}  # over the sensitivity
privatizer = jax_privacy.noise_addition.gaussian_privatizer(
    stddev=noise * gradient.sensitivity(replaced), prng_key=jax.random.key(seed)
)
size, state = {recipe.step_size!r}, privatizer.init(params)
for _ in range({recipe.steps}):  # steps on all {release.batch} records
    total, state = privatizer.update(gradient(params, batch), state)
    params = project(jax.tree.map(lambda w, g: w - size * g / {release.batch}, params, total))
# The answer is the average of the last {recipe.averaged} points."""
    )


def _is_full_descent(recipe: Recipe, release: NoisyRelease) -> bool:
    """Whether a recipe is steps on all records, with equal noise on clipped gradients."""
    return (
        recipe.steps is not None
        and recipe.step_size is not None
        and recipe.unit == "record"
        and release.count == recipe.steps
        and release.records == "all records"
        and release.batch == recipe.batch
    )


LIBRARIES: Mapping[str, Snippet] = {
    "opacus": _opacus,
    "opendp": _opendp,
    "jax_privacy": _jax_privacy,
}
