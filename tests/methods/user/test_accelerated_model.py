"""The model of the practical tuning is the descent itself, and its choice the least risk."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpsco_core.base.errors import NotApplicable
from dpsco_core.geometry.ball import Ball
from dpsco_core.methods.user.accelerated.model import (
    Landscape,
    Layout,
    choose_layout,
    step_responses,
)
from dpsco_core.methods.user.accelerated.sgd import Curvature, accelerated_descent


def test_the_model_is_acsa_on_a_quadratic() -> None:
    """The numbers b, v and o of the model are those of a descent from 1 without noise, and with one
    pulse of noise at a time.
    """

    land = Landscape(
        smallest=0.2,
        largest=1.0,
        smoothness=1.3,
        strong_convexity=0.1,
        distance=1.0,
        sampling=0.0,
        d=1,
    )
    pull, curve, steps = 0.4, 0.2, 9
    b, v, o = step_responses(land, np.array([pull]), steps)
    objective = Curvature(strong_convexity=0.5, smoothness=1.7)
    wide = Ball(d=1, radius=1e9)

    def end(start: float, errors: np.ndarray) -> float:
        """Return the end of accelerated descent from a start, with given errors in the
        gradients.
        """

        def oracle(x: np.ndarray, t: int) -> np.ndarray:
            """Return the gradient of the regularised quadratic, with the error of the step."""
            return curve * x + pull * (x - start) + errors[t]

        return float(
            accelerated_descent(np.array([start]), steps, objective, wide, oracle).value[0]
        )

    assert b[steps, 0, 0] == pytest.approx(end(1.0, np.zeros(steps)))
    pulses = [end(0.0, np.eye(steps)[t]) for t in range(steps)]
    assert v[steps, 0, 0] == pytest.approx(np.square(pulses).sum())
    assert o[steps, 0, 0] ** 2 == pytest.approx(np.sum(pulses) ** 2)


def test_the_choice_is_the_least_modelled_risk() -> None:
    land = Landscape(
        smallest=0.3,
        largest=1.0,
        smoothness=1.0,
        strong_convexity=0.0,
        distance=1.0,
        sampling=1.0,
        d=4,
    )
    layouts = [Layout(users=(1000,), exponents=(0,)), Layout(users=(500, 500), exponents=(0, 3))]
    quiet = choose_layout(land, layouts, lambda users, steps: 1e-3 * math.sqrt(steps))
    loud = choose_layout(land, layouts, lambda users, steps: 1.0 * math.sqrt(steps))
    assert quiet is not None and loud is not None
    start = land.largest / 2 * land.distance**2
    assert quiet.risk < 0.05 * start < loud.risk <= start
    assert quiet.steps >= loud.steps
    with pytest.raises(NotApplicable, match="no schedule with a finite predicted error"):
        choose_layout(land, layouts, lambda users, steps: math.inf)
