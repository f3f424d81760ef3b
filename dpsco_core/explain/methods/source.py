"""The library's own code behind a method, as text: its steps, its plan, and what it hands on to."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import FunctionType
from typing import Any

from dpsco_core.base.parsing import one_of
from dpsco_core.catalogue import METHOD_SLUGS, METHODS
from dpsco_core.methods.euclidean.descent import descend
from dpsco_core.methods.euclidean.framework import run_framework
from dpsco_core.methods.euclidean.objective_perturbation import (
    closed_form,
    perturbed_minimiser,
    run,
)
from dpsco_core.methods.euclidean.phased_sgd import phase_average, run_phases
from dpsco_core.methods.euclidean.private_sgd import run_steps
from dpsco_core.methods.lq.mirror import run_mirror, truncated_sum
from dpsco_core.methods.lq.regularized import run_descent
from dpsco_core.methods.mean.base import clipped_block_means, clipped_mean, clipped_sum
from dpsco_core.methods.mean.directions import walk_to_centre
from dpsco_core.methods.mean.ladder import clipped_sums, norm_counts, radius_choice
from dpsco_core.methods.mean.smoothed import smoothed_mean, smoothed_sum
from dpsco_core.methods.user.accelerated.run import run_phase
from dpsco_core.methods.user.accelerated.run import run_phases as run_accelerated
from dpsco_core.methods.user.chains import chain_averages
from dpsco_core.methods.user.clipped_means import clipped_user_mean

Function = Callable[..., Any]
_FRAMEWORK: tuple[Function, ...] = (run_framework, descend)
_MIRROR: tuple[Function, ...] = (run_mirror, truncated_sum)
_ACCELERATED: tuple[Function, ...] = (run_accelerated, run_phase)
# What `release` hands on to, in the order in which it runs.
HANDS_ON: dict[str, tuple[Function, ...]] = {
    "mean.clipped": (clipped_mean, clipped_sum),
    "mean.adaptive": (norm_counts, clipped_sums),
    "mean.instance-optimal": (norm_counts, clipped_sums),
    "mean.coinpress": (clipped_sums,),
    "mean.iterative": (walk_to_centre,),
    "mean.cwme-cdp": (clipped_block_means,),
    "mean.cwme-pure": (clipped_block_means,),
    "mean.smoothed": (smoothed_mean, smoothed_sum),
    "sco.noisy-gd": _FRAMEWORK,
    "sco.cwme": _FRAMEWORK,
    "sco.smoothed": _FRAMEWORK,
    "sco.cwme-strong": _FRAMEWORK,
    "sco.clipped": _FRAMEWORK,
    "sco.adaptive": (norm_counts, radius_choice, clipped_mean, descend),
    "sco.iterative": _FRAMEWORK,
    "sco.phased-sgd": (run_phases, phase_average),
    "sco.private-sgd": (run_steps,),
    "sco.objective-perturbation": (run, closed_form, perturbed_minimiser),
    "sco.objective-perturbation-strong": (run, closed_form),
    "lp.regularized-mirror-descent": (run_descent,),
    "lp.phased-sgd": (run_phases, phase_average),
    "lp.shuffled-mirror-descent": _MIRROR,
    "lp.batched-mirror-descent": _MIRROR,
    "lp.euclidean-reduction": _MIRROR,
    "lp.noisy-mirror-descent": (run_steps,),
    "user.phased-sgd": (chain_averages,),
    "user.accelerated": _ACCELERATED,
    "user.accelerated-strong": _ACCELERATED,
    "user.accelerated-nonsmooth": _ACCELERATED,
    "user.clipped-means": (clipped_user_mean,),
}


@dataclass(frozen=True, kw_only=True)
class Source:
    """A piece of the library: what it is, its file from the repository's root, and its text."""

    title: str
    path: str
    text: str


def method_class(slug: str) -> type[Any]:
    """Return the class of a method; raises `InvalidInput` for an unknown slug."""
    one_of("method", slug, METHOD_SLUGS)
    return METHODS[METHOD_SLUGS.index(slug)]


def release_source(slug: str) -> tuple[Source, ...]:
    """Return the code that runs: the method's `release`, and the functions that it hands on to."""
    kind = method_class(slug)
    found: list[tuple[str, Function]] = [(f"{kind.__name__}.release", kind.release)]
    found += [(function.__name__, function) for function in HANDS_ON.get(slug, ())]
    return tuple(_source(title, function) for title, function in found)


def plan_source(slug: str) -> Source:
    """Return the code that chooses the parameters, without the data."""
    kind = method_class(slug)
    return _source(f"{kind.__name__}.plan", kind.plan)


def _source(title: str, function: Function) -> Source:
    assert isinstance(function, FunctionType)
    built_in = function.__module__.startswith("dpsco_core.")
    path = function.__module__.replace(".", "/") + ".py"
    if not built_in:  # whoever added it knows where
        path = Path(inspect.getfile(function)).name
    return Source(title=title, path=path, text=textwrap.dedent(inspect.getsource(function)))
