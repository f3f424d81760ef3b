"""Phases on disjoint records: the point that a phase releases is where the next one starts.

Feldman et al. (2020), Algorithm 2; Lowy (2026), Algorithm 1; Lowy, Liu and Asi (2024), Algorithm 1.
A kind of `PhasesPlan` says what a phase releases; this module runs the phases in order.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpsco_core.base.arrays import Vector
from dpsco_core.methods.base import Plan, PrivateMethod, Release
from dpsco_core.methods.run import Descended, walk_phases
from dpsco_core.privacy.ledger import Ledger

# A function of the point, the phase, the ledger of the phase's records and the phase's number, from
# 1. It returns the next point and the number of records or users seen so far; None ends the run.
PhaseRun = Callable[[Vector, Any, Ledger, int], tuple[Vector, int] | None]


@dataclass(frozen=True, kw_only=True)
class PhasesPlan(Plan):
    """Phases on disjoint records. Each subclass adds its parameters and the run of one phase."""

    phases: tuple[Any, ...]  # the phases; each knows the indices of its records or users

    def open(self, sample: Any, rng: np.random.Generator) -> tuple[Vector, PhaseRun]:
        """Return the first point and the function that runs a phase.

        Raises an error if the sample's size is not the setting's.
        """
        raise NotImplementedError

    def run(
        self, sample: Any, ledger: Ledger, rng: np.random.Generator
    ) -> tuple[Descended, Mapping[str, float], tuple[str, ...]]:
        """Run the phases one after the other; return the path, the diagnostics and the notes."""
        start, run = self.open(sample, rng)
        walked = walk_phases(start, self.phases, ledger, run)
        return walked, *self.result(len(walked.path.steps) - 1)

    def result(self, completed: int) -> tuple[Mapping[str, float], tuple[str, ...]]:
        """Return the diagnostics and the notes of a run with `completed` phases."""
        raise NotImplementedError


class PhasedMethod(PrivateMethod):
    """A method whose plan is a `PhasesPlan`, with the release that all such methods share."""

    def release(
        self, sample: Any, plan: PhasesPlan, ledger: Ledger, rng: np.random.Generator
    ) -> Release:
        """Run the phases; what is computed from released points is post-processing."""
        walked, diagnostics, notes = plan.run(sample, ledger, rng)
        return walked.released(ledger, diagnostics, notes)
