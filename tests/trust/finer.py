"""Faults that only some methods can have, each with the check that finds it there.

`mutants.py` breaks every method in the same ways; these break a formula, a loop or a rule of a few.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import pytest

from dpsco_core.problems import Logistic
from tests.trust import checks, descent_faults, hostile, mean_faults, mirror_faults, run_faults
from tests.trust.cases import Case, case
from tests.trust.faults import each_draw

MEANS = ("mean.clipped", "mean.iterative", "mean.cwme-cdp", "mean.cwme-pure", "mean.smoothed")
GAUSSIAN_MEANS = tuple(slug for slug in MEANS if slug != "mean.cwme-pure")
DESCENTS = ("sco.clipped", "sco.cwme", "sco.smoothed", "sco.iterative")
STRONG = ("sco.cwme-strong",)
MIRRORS = (
    "lp.shuffled-mirror-descent",
    "lp.shuffled-mirror-descent, shuffled",
    "lp.batched-mirror-descent",
    "lp.batched-mirror-descent, shaped noise",
    "lp.euclidean-reduction",
)
DRAWS = 240  # This many degrees of freedom detect noise divided by root 2.
TINY = 6.9e-16  # At this clip level the ratio to the length of a far record is no normal double.


def noise_over_root_2(patch: pytest.MonkeyPatch) -> None:
    """Divide the scale of every draw of noise by the square root of 2, without telling
    the ledger.
    """
    each_draw(patch, lambda scale, rng: (scale / 2**0.5, rng))


def check_noise(place: Case) -> None:
    """Check the noise of a case in three dimensions, so that a fault of a third is seen."""
    with hostile.without_the_walk():
        checks.check_noise(replace(place, point=replace(place.point, d=3)), DRAWS)


def logistic(name: str) -> Case:
    """Return the case of a method with logistic losses, whose gradients are features
    times a slope.
    """
    return hostile.with_loss(name, Logistic.card.slug)


def at_a_tiny_level(name: str) -> Case:
    """Return the case of a method at the clip level TINY."""
    return hostile.at_level(hostile.wide(name), TINY)


def logistic_at_the_smallest_level(name: str) -> Case:
    """Return the case of a method with logistic losses at the smallest clip level."""
    return hostile.at_level(logistic(name), hostile.LEVELS[0])


@dataclass(frozen=True, kw_only=True)
class Finer:
    """A fault, the check that must find it out, and the cases in which it can occur."""

    make: Callable[[pytest.MonkeyPatch], None]
    check: checks.Check
    cases: tuple[str, ...]
    # The function returns the case of a name, or one at other settings.
    place: Callable[[str], Case] = case


FINER = (
    Finer(make=mean_faults.no_noise, check=checks.check_noise, cases=MEANS),
    Finer(make=noise_over_root_2, check=check_noise, cases=(*MEANS, *MIRRORS)),
    Finer(make=mean_faults.half_of_the_budget, check=checks.check_ledger, cases=GAUSSIAN_MEANS),
    Finer(make=mean_faults.mean_over_all_but_one, check=checks.check_sensitivity, cases=MEANS),
    Finer(
        make=mean_faults.nan_is_kept,
        check=hostile.check_any_record,
        cases=MEANS,
        place=hostile.wide,
    ),
    Finer(
        make=mean_faults.far_records_are_rounded_out_of_the_ball,
        check=hostile.check_any_record,
        cases=("mean.clipped", "mean.iterative"),
        place=at_a_tiny_level,
    ),
    Finer(
        make=mean_faults.bare_closed_form, check=checks.check_sensitivity, cases=("mean.smoothed",)
    ),
    Finer(
        make=mean_faults.cubic_for_every_entry,
        check=checks.check_sensitivity,
        cases=("mean.smoothed",),
    ),
    Finer(
        make=mean_faults.groups_share_records,
        check=checks.check_sensitivity,
        cases=("mean.iterative",),
    ),
    Finer(
        make=descent_faults.no_clip,
        check=hostile.check_any_record,
        cases=DESCENTS,
        place=logistic,
    ),
    Finer(
        make=descent_faults.twice_the_radius,
        check=checks.check_sensitivity,
        cases=("sco.clipped", "sco.iterative"),
    ),
    Finer(
        make=descent_faults.twice_the_radius,
        check=hostile.check_any_record,
        cases=("sco.clipped", "sco.iterative"),
        place=logistic,
    ),
    Finer(
        make=descent_faults.nan_is_kept,
        check=hostile.check_any_record,
        cases=(*DESCENTS, *STRONG),
        place=hostile.wide,
    ),
    Finer(
        make=descent_faults.nan_is_kept,
        check=hostile.check_any_record,
        cases=DESCENTS,
        place=logistic,
    ),
    Finer(
        make=descent_faults.radius_over_the_length_of_the_row,
        check=hostile.check_any_record,
        cases=("sco.clipped",),
        place=logistic_at_the_smallest_level,
    ),
    Finer(
        make=descent_faults.a_step_sees_other_records_too,
        check=checks.check_sensitivity,
        cases=(*DESCENTS, *STRONG),
    ),
    Finer(
        make=descent_faults.a_step_sees_other_records_too,
        check=hostile.check_any_record,
        cases=DESCENTS,
        place=logistic,
    ),
    Finer(make=descent_faults.blocks_overlap, check=hostile.check_every_place, cases=STRONG),
    Finer(
        make=mirror_faults.a_nan_is_kept,
        check=hostile.check_any_record,
        cases=MIRRORS,
        place=hostile.wide,
    ),
    Finer(
        make=mirror_faults.no_l2_ratio,
        check=checks.check_sensitivity,
        cases=MIRRORS[:3],  # These methods have Gaussian noise in a norm other than l2.
    ),
    Finer(
        make=mirror_faults.batches_overlap,
        check=hostile.check_every_place,
        cases=("lp.euclidean-reduction",),
    ),
    Finer(make=mirror_faults.budget_twice, check=checks.check_ledger, cases=MIRRORS),
    Finer(
        make=run_faults.noise_of_one_gradient,
        check=checks.check_sensitivity,
        cases=("sco.private-sgd",),
    ),
    Finer(
        make=run_faults.a_thousandth_of_the_filters_sensitivity,
        check=checks.check_sensitivity,
        cases=("user.phased-sgd",),
    ),
)
