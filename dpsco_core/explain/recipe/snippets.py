"""A recipe as a script for this library, on a reader's arrays, or for another with its mechanism.

A script runs as printed: on drawn records, in whose place a reader puts theirs, it makes one noisy
mean, or the noisy clipped gradients of a descent. It says where the library counts privacy in
another way than the ledger does.
"""

import math
from collections.abc import Callable, Mapping

from dpsco_core.base.parsing import one_of
from dpsco_core.catalogue import problem_card, problem_class
from dpsco_core.data import (
    Distribution,
    EllipticalT,
    Gaussian,
    LogNormal,
    Pareto,
    SkewedPareto,
    StudentT,
)
from dpsco_core.data.base import ScaledLaw
from dpsco_core.explain.recipe.recipe import NoisyRelease, Recipe
from dpsco_core.methods.statistics import ClippedMean
from dpsco_core.privacy.budget import gaussian_epsilon, zcdp_epsilon
from dpsco_core.problems.linear_models import LinearModelProblem
from dpsco_core.problems.points import PointProblem

# The diagnostics which show that records are shrunk, so that their gradients are not clipped.
SHRINKS = {"feature_bound"}
Snippet = Callable[[Recipe, NoisyRelease], str]
THIS_LIBRARY = "dpsco_core"


def snippet(recipe: Recipe, library: str) -> str:
    """Return a script that runs a recipe with a library; empty if it lacks the mechanism.

    Raises `InvalidInput` if the library is none of `LIBRARIES`.

    Examples
    --------
    >>> from dpsco_core.explain.recipe.recipe import recipe
    >>> from dpsco_core.scenario import Scenario
    >>> code = snippet(recipe(Scenario(n=2000, d=3), "mean.clipped"), "opendp")
    >>> code.splitlines()[-1]
    'print("mean:", np.array(release(total.tolist())) / n)'
    """
    one_of("library", library, LIBRARIES)
    if library == THIS_LIBRARY:
        return _own_code(recipe)
    release = _only_release(recipe)
    return "" if release is None else OTHER_LIBRARIES[library](recipe, release)


def snippets(recipe: Recipe) -> dict[str, str]:
    """Return the code of every library that has the mechanism of a recipe."""
    codes = {library: snippet(recipe, library) for library in LIBRARIES}
    return {library: code for library, code in codes.items() if code}


def _only_release(recipe: Recipe) -> NoisyRelease | None:
    """Return the release of a run whose releases are equal noisy sums of clipped records."""
    if len(recipe.releases) != 1 or "clip_radius" not in recipe.clips:
        return None
    [release] = recipe.releases
    is_gaussian = release.mechanism == "gaussian" and release.label == ClippedMean.label
    is_gaussian |= release.mechanism == "poisson gaussian"
    # A batch of one of several groups is smaller than the recipe's batch.
    is_whole = release.batch == recipe.batch
    is_clipped = release.length == recipe.clips["clip_radius"] and not recipe.clips.keys() & SHRINKS
    return release if is_gaussian and is_whole and is_clipped else None


def _has_ball(recipe: Recipe) -> bool:
    """Return whether the script's projection, on an l2 ball, is that of the recipe."""
    return recipe.point.geometry == "l2"


def _is_of_points(recipe: Recipe) -> bool:
    """Return whether the records are points without labels."""
    return isinstance(recipe.point.instance.problem, PointProblem)


def _loss_note(recipe: Recipe) -> str:
    """Return the comment on the loss of a script, for the kind of its records."""
    name = problem_card(recipe.point.problem).name
    return f"# {name}: put its loss here if this is another one"


def _head_comments(recipe: Recipe, tested: str) -> str:
    """Return the first comments: the purpose of the code, its setting, and its tests."""
    point = recipe.point
    return (
        f"# {recipe.card.name} at n = {point.n}, d = {point.d}, {recipe.budget}.\n"
        f"# {tested}\n"
        f"# Neighbours: one {recipe.unit} is replaced. Noise over sensitivity of a release: "
        f"{_single_release(recipe).over_sensitivity:.6g}.\n"
    )


def _single_release(recipe: Recipe) -> NoisyRelease:
    """Return the only release of a recipe."""
    [release] = recipe.releases
    return release


def _opendp_code(recipe: Recipe, release: NoisyRelease) -> str:
    """Return a script that makes the release with OpenDP; empty if the recipe has steps."""
    if recipe.steps is not None or recipe.unit == "user":
        return ""
    return (
        _head_comments(recipe, "A whole script, run with OpenDP 0.16: pip install opendp numpy")
        + f"""import numpy as np
import opendp.prelude as dp

dp.enable_features("contrib")
clip_radius = {release.length!r}
n, d = {release.batch}, {recipe.point.d}  # public
rng = np.random.default_rng()
{_drawing_code(recipe)}
norms = np.linalg.norm(x, axis=1, keepdims=True)
total = (x * np.minimum(1.0, clip_radius / np.maximum(norms, 1e-300))).sum(axis=0)
space = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.l2_distance(T=float)
release = space >> dp.m.then_gaussian(scale={release.on_sum!r})  # noise on the sum
{_conversion_comments(recipe, release)}
print("rho:", release.map(d_in=2 * clip_radius))  # of replacing a record: {_rho_of(release):.6g}
print("mean:", np.array(release(total.tolist())) / n)
"""
    ).rstrip("\n")


def _drawing_code(recipe: Recipe) -> str:
    """Return lines that draw the scenario's law at mean 0, or say that they draw a stand-in."""
    point, law = recipe.point, recipe.point.instance.law
    draw = _draw_in_numpy(law) if point.decay == 0 and point.alike == 0 else ""
    place = "put your records here, shape (n, d)"
    if draw:
        return f"# The scenario's law, {law.card.name}, at mean 0: {place}.\nx = {draw}"
    return (
        f"# Student t, a stand-in for the scenario's law, {law.card.name}: {place}.\n"
        "x = rng.standard_t(3, size=(n, d))"
    )


def _draw_in_numpy(law: Distribution) -> str:
    """Return the expression that draws n records of a law at mean 0; empty if it has no line."""
    if not isinstance(law, ScaledLaw):
        return ""
    scale, index = f"{law.scale:.8g}", f"{law.tail_index:.8g}"
    if isinstance(law, LogNormal):
        centre = math.exp(0.5 * law.sigma**2)
        normal = "rng.standard_normal((n, d))"
        return f"{scale} * (np.exp({law.sigma:.8g} * {normal}) - {centre:.8g})"
    if isinstance(law, SkewedPareto):
        centre = 1 / (law.tail_index - 1)
        return f"{scale} * (rng.pareto({index}, size=(n, d)) - {centre:.8g})"
    lines: dict[type[Distribution], str] = {
        StudentT: f"rng.standard_t({index}, size=(n, d))",
        Gaussian: "rng.standard_normal((n, d))",
        Pareto: f"rng.choice([-1, 1], (n, d)) * (1 + rng.pareto({index}, (n, d)))",
        EllipticalT: f"rng.standard_normal((n, d)) / np.sqrt(rng.chisquare({index}, (n, 1)) / "
        f"{index})",
    }
    line = lines.get(type(law))
    return f"{scale} * {line}" if line else ""


def _conversion_comments(recipe: Recipe, release: NoisyRelease) -> str:
    """Return comments on the epsilon that each accountant gives for a Gaussian release's rho."""
    rho, delta = _rho_of(release), _delta_to_state(recipe)
    exact, tight, paper = (
        f"{epsilon:.4g}"
        for epsilon in (
            gaussian_epsilon(rho, delta),
            zcdp_epsilon(rho, delta, "tight"),
            zcdp_epsilon(rho, delta, "paper"),
        )
    )
    return f"""\
# At delta = {delta:g} this rho is epsilon {paper} by rho + 2 sqrt(rho ln(1/delta)) (Bun and Steinke
# 2016), {tight} by OpenDP's conversion (Canonne, Kamath and Steinke 2020), and {exact} here:
# by the exact curve of Gaussian noise, where conversions hold for every mechanism of that rho."""


def _rho_of(release: NoisyRelease) -> float:
    """Return the rho of a Gaussian release."""
    return release.count / (2 * release.over_sensitivity**2)


def _opacus_code(recipe: Recipe, release: NoisyRelease) -> str:
    """Return a script that runs the descent with Opacus; empty if Opacus cannot."""
    is_sampled = release.mechanism == "poisson gaussian"
    if not _has_ball(recipe) or not (is_sampled or _is_full_descent(recipe, release)):
        return ""
    n, d, budget = recipe.point.n, recipe.point.d, recipe.point.budget
    if is_sampled:
        sampling = "a Poisson sample of the records, of this size in the mean"
        notice = f"""\
# Opacus counts neighbours that add or remove a record, whose epsilon is smaller, with an
# accountant of its own: that it prints another epsilon than the {budget} of replacing a
# record is expected. For the same budget under its neighbours,
# noise_multiplier={release.add_remove_multiplier!r}."""
    else:
        sampling = "all records"
        notice = f"""\
# Opacus counts neighbours that add or remove a record, with an accountant of its own: that it
# prints another epsilon than the {budget} of replacing a record is expected. For the same
# budget under its neighbours, noise_multiplier={release.add_remove_multiplier!r}, the half."""
    if _is_of_points(recipe):
        data = """records = torch.randn(n, d)  # put your records here, shape (n, d)
inputs, targets = torch.ones(n, 1), records  # the weights alone are the answer
model = torch.nn.Linear(1, d, bias=False)"""
        loss = "0.5 * ((outputs - targets) ** 2).sum(dim=1).mean()"
    else:
        data = """inputs = torch.randn(n, d)  # put your features here, shape (n, d)
targets = torch.sign(inputs[:, :1] + 0.5 * torch.randn(n, 1))  # and your labels, -1 or 1
model = torch.nn.Linear(d, 1, bias=False)"""
        loss = "torch.nn.functional.softplus(-targets * outputs).mean()"
    return (
        _head_comments(recipe, "A whole script, run with Opacus 1.6: pip install opacus")
        + f"""import torch
from opacus import PrivacyEngine
from torch.utils.data import DataLoader, TensorDataset

n, d, steps, averaged = {n}, {d}, {recipe.steps}, {recipe.averaged}
batch_size = {release.batch}  # each step sees {sampling}
epochs = steps * batch_size / n  # {_format_epochs(recipe)} passes over the records
noise_multiplier = {release.noise_multiplier!r}
max_grad_norm = {release.length!r}
radius = {recipe.point.diameter / 2!r}  # the weights lie in a ball
{data}
torch.nn.init.zeros_(model.weight)
engine = PrivacyEngine()
model, optimizer, loader = engine.make_private(
    module=model,
    optimizer=torch.optim.SGD(model.parameters(), lr={recipe.step_size!r}),
    data_loader=DataLoader(TensorDataset(inputs, targets), batch_size=batch_size),
    noise_multiplier=noise_multiplier,
    max_grad_norm=max_grad_norm,
    poisson_sampling={is_sampled},
)
weight, points = next(model.parameters()), []
while len(points) < steps:
    for features, targets in loader:
        optimizer.zero_grad()
        outputs = model(features)
        {_loss_note(recipe)}
        loss = {loss}
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            weight.mul_(min(1.0, radius / max(float(weight.norm()), 1e-12)))
        points.append(weight.detach().clone())
        if len(points) == steps:
            break
print("weights:", torch.stack(points[-averaged:]).mean(dim=0).flatten())
print("epsilon, add or remove:", engine.get_epsilon(delta={_delta_to_state(recipe)!r}))
{notice}"""
    )


def _format_epochs(recipe: Recipe) -> str:
    """Return how often the steps read the records; an Opacus recipe knows it."""
    assert recipe.epochs is not None
    return f"{recipe.epochs:.4g}"


def _delta_to_state(recipe: Recipe) -> float:
    """Return the delta at which another library states epsilon; a zCDP budget names none."""
    return recipe.point.delta or 1e-6


def _jax_privacy_code(recipe: Recipe, release: NoisyRelease) -> str:
    """Return a script that runs the descent with JAX Privacy; empty if it cannot."""
    if not _has_ball(recipe) or not _is_full_descent(recipe, release):
        return ""
    n, d = recipe.point.n, recipe.point.d
    if _is_of_points(recipe):
        data = "batch = jax.random.normal(key, (n, d))  # put your records here, shape (n, d)"
        loss = """def loss(params, record):
    return 0.5 * jnp.sum((params - record) ** 2)"""
    else:
        data = """features = jax.random.normal(key, (n, d))  # put your features here, shape (n, d)
batch = (features, jnp.sign(features[:, 0]))  # and your labels, -1 or 1"""
        loss = """def loss(params, record):
    features, label = record
    return jax.nn.softplus(-label * jnp.vdot(params, jnp.ravel(features)))"""
    return (
        _head_comments(recipe, "A whole script, run with jax_privacy 2.0: pip install jax-privacy")
        + f"""import secrets

import dp_accounting
import jax
import jax.numpy as jnp
import jax_privacy

n, d, steps, averaged = {n}, {d}, {recipe.steps}, {recipe.averaged}
size, radius = {recipe.step_size!r}, {recipe.point.diameter / 2!r}  # the ball of the parameters
key, noise_key = jax.random.split(jax.random.key(secrets.randbits(32)))
{data}


{_loss_note(recipe)}
{loss}


# The gradient is clipped record by record, and summed.
gradient = jax_privacy.clipped_grad(loss, l2_clip_norm={release.length!r}, keep_batch_dim=False)
replaced = dp_accounting.NeighboringRelation.REPLACE_ONE
noise = {release.over_sensitivity!r}  # over the sensitivity
privatizer = jax_privacy.noise_addition.gaussian_privatizer(
    stddev=noise * gradient.sensitivity(replaced), prng_key=noise_key
)
params, points = jnp.zeros(d), []
state = privatizer.init(params)
for _ in range(steps):  # each on all records
    total, state = privatizer.update(gradient(params, batch), state)
    params = params - size * total / n
    params = params * jnp.minimum(1.0, radius / jnp.maximum(jnp.linalg.norm(params), 1e-12))
    points.append(params)
print("parameters:", jnp.mean(jnp.stack(points[-averaged:]), axis=0))"""
    )


def _is_full_descent(recipe: Recipe, release: NoisyRelease) -> bool:
    """Return whether a recipe's steps use all records, with equal noise on clipped gradients."""
    return (
        recipe.steps is not None
        and recipe.step_size is not None
        and recipe.unit == "record"
        and release.count == recipe.steps
        and release.records == "all records"
        and release.batch == recipe.batch
    )


def _own_code(recipe: Recipe) -> str:
    """Return a script that runs the method on own arrays with this library; empty if it cannot."""
    point = recipe.point
    if recipe.refusal or recipe.unit == "user" or point.m > 1 or point.geometry != "l2":
        return ""
    budget = (
        f"epsilon={point.epsilon!r},\n    delta={point.delta!r},"
        if point.rho is None
        else f"epsilon=None,\n    delta=None,\n    rho={point.rho!r},"
    )
    family = problem_class(point.problem)
    target_unit = ""
    if issubclass(family, LinearModelProblem):
        if family.link.labels is None:
            target_unit = "\n    target_unit=1.0,  # the same of what the model leaves of a target"
        targets, kind = "features.sum(axis=1) + rng.standard_normal(n)", "numbers"
        if family.link.labels is not None:
            targets, kind = f"np.sign({targets})", "labels, -1 or 1"
        data = f"""\
features = 0.8 * rng.standard_normal((n, d))  # put your features here, shape (n, d)
targets = {targets}  # and your {kind}"""
        records, title = "(features, targets)", "coefficients"
        bound, unit = "the coefficients are at most this long", "a feature"
    else:
        data = "x = 0.8 * rng.standard_normal((n, d))  # put your records here, shape (n, d)"
        records, title = "x", "answer"
        bound, unit = "the answer is at most this far from 0", "a coordinate"
    return f"""\
# {recipe.card.name} at n = {point.n}, d = {point.d}, {recipe.budget}.
# A whole script, on your own arrays. For research only (SECURITY.md); one record is replaced.
import numpy as np
from dpsco_core import release

n, d, rng = {point.n}, {point.d}, np.random.default_rng()
{data}
answer = release(
    {records},
    method={recipe.card.slug!r},
    problem={point.problem!r},
    {budget}
    # Statements of yours, from public knowledge:
    p={point.p!r},
    bound={point.diameter / 2!r},  # {bound}
    unit={point.instance.law.moment_root!r},  # bounds (E|x - mean|^p)^(1/p) of {unit}{target_unit}
)
print("{title}:", answer.value)
print("interval:", answer.interval)  # None if none is proven
print(answer.ledger)
print(*answer.notes, answer.warning, sep="\\n")"""


OTHER_LIBRARIES: Mapping[str, Snippet] = {
    "opacus": _opacus_code,
    "opendp": _opendp_code,
    "jax_privacy": _jax_privacy_code,
}
LIBRARIES = (*OTHER_LIBRARIES, THIS_LIBRARY)
