"""Deliberate faults: each patches the library, and a check of the other tests must catch it."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from dpsco_core.privacy.filter import plan as filter_plan
from dpsco_core.privacy.filter import robust_mean as filter_module
from dpsco_core.privacy.filter.robust_mean import RobustFilter
from dpsco_core.privacy.filter.sensitivity import weights_sensitivity
from dpsco_core.privacy.mechanisms import tested as filtered
from dpsco_core.privacy.mechanisms.tested import TestedSteps
from tests.methods.user.checks import (
    check_audit,
    check_halting_law,
    check_noise,
    check_sensitivity,
    check_threshold_noise,
)

Patch = pytest.MonkeyPatch


def gaussian_times(patch: Patch, factor: float) -> None:
    """Multiply the Gaussian noise of the filtered mean by a factor."""

    def draw(value: np.ndarray, std: float, rng: np.random.Generator) -> np.ndarray:
        """Add Gaussian noise times the factor."""
        return value + factor * rng.normal(scale=std, size=value.shape)

    patch.setattr(filtered, "add_gaussian_noise", draw)


def laplace_times(patch: Patch, factor: float) -> None:
    """Multiply the Laplace noise of the test by a factor."""

    def draw(value: np.ndarray, scale: float, rng: np.random.Generator) -> np.ndarray:
        """Add Laplace noise times the factor."""
        return value + factor * rng.laplace(scale=scale, size=value.shape)

    patch.setattr(filtered, "add_laplace_noise", draw)


def noise_over_root_2(patch: Patch) -> None:
    """Divide the Gaussian noise by the square root of 2."""
    gaussian_times(patch, 1 / math.sqrt(2))


def noise_5_percent_too_small(patch: Patch) -> None:
    """Make the Gaussian noise 5 % too small."""
    gaussian_times(patch, 0.95)


def no_noise(patch: Patch) -> None:
    """Take the Gaussian noise away."""
    gaussian_times(patch, 0.0)


def half_the_sensitivity(patch: Patch) -> None:
    """Halve the sensitivity of the filtered mean."""
    patch.setattr(filter_plan, "weights_sensitivity", lambda *a: weights_sensitivity(*a) / 2)


def half_the_sensitivity_of_the_score(patch: Patch) -> None:
    """Halve the sensitivity of the score of the test."""
    patch.setattr(filtered, "laplace_noise_scale", lambda s, epsilon: s / 2 / epsilon)


def no_noise_in_the_test(patch: Patch) -> None:
    """Take the Laplace noise of the test away."""
    laplace_times(patch, 0.0)


def threshold_noise_of_each_step(patch: Patch) -> None:
    """Draw the noise of the threshold anew in each step."""
    plain = TestedSteps.passes

    def passes(self: TestedSteps, score: float) -> bool:
        """Draw the threshold anew, and test a score."""
        self.__post_init__()
        return plain(self, score)

    patch.setattr(TestedSteps, "passes", passes)


def no_threshold_noise(patch: Patch) -> None:
    """Compare scores with the threshold itself."""

    def start(self: TestedSteps) -> None:
        """Begin with the threshold itself, without noise."""
        self._threshold = self.release.test.threshold

    patch.setattr(TestedSteps, "__post_init__", start)


def no_test(patch: Patch) -> None:
    """Let every score pass."""

    def passes(self: TestedSteps, score: float) -> bool:
        """Let the score pass."""
        self._passed = True
        return True

    patch.setattr(TestedSteps, "passes", passes)


def hard_inclusion(patch: Patch) -> None:
    """Include a user entirely or not at all."""
    patch.setattr(
        RobustFilter,
        "inclusion_of",
        lambda self, counts: (counts > self.lower * len(counts)).astype(float),
    )


def no_filter(patch: Patch) -> None:
    """Include every user in the filtered mean."""
    patch.setattr(RobustFilter, "inclusion_of", lambda self, counts: np.ones(len(counts)))


def filter_at_twenty_times_its_radius(patch: Patch) -> None:
    """Count neighbours within twenty times the radius."""
    patch.setattr(filter_module, "SLACK", 19.0)


def score_as_a_sum(patch: Patch) -> None:
    """Make the score of a set of points the sum of their scores, and not the mean."""
    plain = RobustFilter.examine

    def examine(self: RobustFilter, points: np.ndarray) -> filter_module.Examination:
        """Examine points, with the sum of their scores in the place of the mean."""
        examined = plain(self, points)
        return filter_module.Examination(
            score=examined.score * len(points), counts=examined.counts, inclusion=examined.inclusion
        )

    patch.setattr(RobustFilter, "examine", examine)


def shortcut_taken_too_soon(patch: Patch) -> None:
    """Call points concentrated when they are within 9 of their mean."""
    patch.setattr(
        RobustFilter,
        "_are_concentrated",
        lambda self, points: bool(np.abs(points - points.mean(axis=0)).max() <= 9),
    )


def audit_of_two_camps() -> None:
    """Assert that the audit of two camps of users refutes nothing."""
    check_audit(runs=1000, telling=(1,))


def audit_of_a_flipped_point() -> None:
    """Assert that the audit of a flipped point refutes nothing."""
    check_audit(runs=1000, telling=(0,))


def sequence_of_tests(check: Callable[[str], None]) -> Callable[[], None]:
    """Return a test that makes a check for a sequence of tests."""
    return lambda: check("sequence")


FAULTS: list[tuple[Callable[[Patch], None], Callable[[], None]]] = [
    (noise_over_root_2, check_noise),
    (noise_5_percent_too_small, check_noise),
    (no_noise, check_noise),
    (no_noise, audit_of_a_flipped_point),
    (half_the_sensitivity, check_noise),
    (half_the_sensitivity_of_the_score, sequence_of_tests(check_halting_law)),
    (no_noise_in_the_test, lambda: check_halting_law("single")),
    (threshold_noise_of_each_step, check_threshold_noise),
    (no_threshold_noise, check_threshold_noise),
    (no_test, audit_of_two_camps),
    (hard_inclusion, check_sensitivity),
    (no_filter, check_sensitivity),
    (filter_at_twenty_times_its_radius, check_sensitivity),
    (score_as_a_sum, check_sensitivity),
    (shortcut_taken_too_soon, check_sensitivity),
]
# Another check above catches these faults too, and each takes seconds.
CAUGHT_AGAIN: list[tuple[Callable[[Patch], None], Callable[[], None]]] = [
    (half_the_sensitivity_of_the_score, lambda: check_halting_law("single")),
    (threshold_noise_of_each_step, sequence_of_tests(check_halting_law)),
    (no_threshold_noise, sequence_of_tests(check_halting_law)),
]
CASES = [*FAULTS, *(pytest.param(*case, marks=pytest.mark.slow) for case in CAUGHT_AGAIN)]


@pytest.mark.parametrize(
    ("fault", "check"), CASES, ids=lambda f: getattr(f, "__name__", "").strip("<>")
)
def test_the_check_catches_the_fault(
    fault: Callable[[Patch], None], check: Callable[[], None], monkeypatch: Patch
) -> None:
    fault(monkeypatch)
    with pytest.raises((AssertionError, ValueError)):
        check()
