"""Conditions of the papers' statements, and the settings at which an experiment evaluates them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeVar

import pytest

from dpsco_core.explain.errata import ERRATA
from dpsco_core.methods.user.level import UserLevel

T = TypeVar("T")


def experiments(paper: str) -> set[str]:
    """Return the slugs of a paper's errata that have an experiment."""
    return {e.slug for e in ERRATA if e.experiment is not None and e.slug.startswith(paper + ".")}


def recorded(
    patch: pytest.MonkeyPatch, module: object, name: str, run: Callable[[], object], kind: type[T]
) -> list[T]:
    """Return every object that the function `name` of a module returns while `run` runs, all of
    type `kind`.
    """
    make, records = getattr(module, name), []

    def record(*args: object, **kwargs: object) -> T:
        """Make an object and record it."""
        result: T = make(*args, **kwargs)
        assert isinstance(result, kind)
        records.append(result)
        return result

    patch.setattr(module, name, record)
    run()
    patch.undo()
    assert records
    return records


def decays(n: int) -> list[float]:
    """Return candidates for the free exponent q > 0 of Lowy et al.'s theorems at n users."""
    return [k / (10 * math.log(n)) for k in range(1, 40)]


def theorem_b1(level: UserLevel) -> bool:
    """Whether Lowy et al., Theorem B.1, with the epsilon of Theorem 2.1, applies at the best q."""
    has_enough = any(
        level.n ** (1 - q)
        >= 100 / (1 - 2**-q) * (math.log(level.n) + level.log_delta) / level.epsilon
        for q in decays(level.n)
    )
    return has_enough and level.epsilon <= 10


def theorem_c1(level: UserLevel) -> bool:
    """Whether Lowy et al., Theorem C.1, applies at the best q."""
    size = math.log(20) + level.log_size + level.epsilon + level.log_delta
    has_enough = any(
        level.n ** (1 - q) > 100 * size / (level.epsilon * (1 - 2**-q)) for q in decays(level.n)
    )
    return has_enough and level.epsilon <= 10


def theorem_c3(level: UserLevel) -> bool:
    """Whether Lowy et al., Theorems C.3 and D.3, apply, with Theorem C.1's condition on n."""
    return theorem_c1(level) and level.delta * level.n * level.m < 1
