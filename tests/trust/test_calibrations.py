"""Every calibration and tuning of a private method passes the checks that its default passes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest

from dpsco_core.audit.stages import neighbours
from dpsco_core.base.errors import InvalidInput, NotApplicable
from dpsco_core.catalogue import make_method
from dpsco_core.privacy import Ledger
from tests.trust import checks, descent_faults, mean_faults
from tests.trust.cases import PRIVATE, Case, case
from tests.trust.tape import Tape

COMBINATIONS = tuple(product(("tight", "paper"), ("practical", "theory")))
# These two combinations have each calibration and each tuning once.
OPPOSITE = (COMBINATIONS[0], COMBINATIONS[-1])
DIMENSIONS = 3  # In this many dimensions a single draw for all coordinates would be detected.
DRAWS = 240  # This many degrees of freedom also detect noise divided by root 2.
MOST_CHANGES = 3  # The largest number of changes of a setting that refusals may ask for.


def combinations(slug: str, pairs: Iterable[tuple[str, str]] = COMBINATIONS) -> Iterator[Case]:
    """Yield the small run of a method in every calibration and tuning in which it runs.

    A refusal may ask for other sizes, which it gets, or say that the combination does not exist.
    """
    place = case(slug)
    for calibration, tuning in pairs:
        method: Any = make_method(slug, calibration, tuning)  # type: ignore[arg-type]
        fields = type(place.method).stage.small.fields
        planned = follow(replace(place, method=replace(method, **fields)))
        if planned is not None:
            yield planned


def follow(place: Case) -> Case | None:
    """Return the case with the changes that refusals suggest until its method has a plan, or None
    if it gets none.
    """
    for _ in range(MOST_CHANGES):
        try:
            place.plan()
        except NotApplicable as refusal:
            changes = dict(refusal.changes)
            if not changes or {"calibration", "tuning"} & changes.keys():
                return None
            place = replace(place, point=replace(place.point, **changes))
        else:
            return place
    return None


def check(place: Case) -> None:
    """Check that sensitivity, noise and ledger of a case are as claimed, and that nothing is read
    past the ledger.

    Printed noise may be more than is needed, and the papers' conversions are loose.
    """
    wide = replace(place, point=replace(place.point, d=DIMENSIONS))
    checks.check_sensitivity(place)
    checks.check_noise(wide, DRAWS)
    checks.check_noise_is_fresh(place)
    checks.check_plan_is_fixed(place)
    noise = wide.play(wide.crowd(0)).noise()
    assert np.diff(np.sort(noise)).min(initial=1.0) > 1e-12, "fresh noise for every coordinate"
    tape: Tape = place.play(place.crowd(0))
    is_tight = place.method.calibration == "tight"
    checks.check_spent(checks.booked(tape), place.point.budget, whole=is_tight)
    checks.check_books(tape)
    if is_tight:
        assert tape.result.ledger.flaws == (), "the tight calibration is proven private"


@pytest.mark.parametrize("slug", PRIVATE)
def test_the_default_and_its_opposite_pass_the_checks(slug: str) -> None:
    check_combinations(slug, OPPOSITE)


@pytest.mark.slow
@pytest.mark.parametrize("slug", PRIVATE)
def test_every_calibration_and_tuning_that_runs_passes_the_checks(slug: str) -> None:
    check_combinations(slug, COMBINATIONS)


def check_combinations(slug: str, pairs: Iterable[tuple[str, str]]) -> None:
    """Check a method's small run in each calibration and tuning in which it runs, and that there is
    at least one.
    """
    runs = 0
    for place in combinations(slug, pairs):
        check(place)
        runs += 1
    assert runs > 0


# Every fault is tried in one calibration each, even those that `mutants.py` leaves to larger runs.
FINER = (
    ("mean.clipped", mean_faults.half_the_sensitivity),
    ("mean.clipped", mean_faults.noise_over_root_2),
    ("mean.clipped", mean_faults.noise_depends_on_the_data),
    ("mean.clipped", mean_faults.one_draw_for_all_coordinates),
    ("mean.clipped", mean_faults.level_from_the_data),
    ("sco.clipped", descent_faults.level_from_the_data),
    ("sco.clipped", descent_faults.start_from_the_data),
    ("sco.clipped", descent_faults.step_size_from_the_data),
    ("sco.clipped", descent_faults.last_step_without_noise),
)


@pytest.mark.parametrize(
    ("slug", "fault"), FINER, ids=[f"{slug}-{fault.__name__}" for slug, fault in FINER]
)
def test_a_fault_of_the_printed_calibration_alone_is_caught(
    slug: str, fault: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    family = next(c for c in type(case(slug).method).__mro__ if "release" in vars(c))
    honest: Any = family.release  # type: ignore[attr-defined]

    def release(method: Any, *args: Any) -> Any:
        """Release honestly in the tight calibration, and with the fault in the printed one."""
        if method.calibration == "tight":
            return honest(method, *args)
        with pytest.MonkeyPatch.context() as inner:
            inner.setattr(family, "release", honest)
            fault(inner)
            return method.release(*args)

    monkeypatch.setattr(family, "release", release)
    for place in combinations(slug):
        if place.method.calibration == "tight":
            check(place)
            continue
        with pytest.raises(AssertionError):
            check(place)


@pytest.mark.parametrize("slug", PRIVATE)
def test_data_of_another_size_than_the_plan_are_refused_before_anything_is_released(
    slug: str,
) -> None:
    """The noise for n = 1000 would not hide a record among 100."""
    place = case(slug)
    point, plan = place.point, place.plan()
    for size in ({"n": 2 * point.n}, {"n": point.n + 1}, {"d": point.d + 1}):
        data = neighbours(replace(point, **size)).data  # type: ignore[arg-type]
        ledger = Ledger(point.setting.budget)
        with pytest.raises(InvalidInput, match=rf"\b{next(iter(size))} must be the "):
            place.method.release(data, plan, ledger, np.random.default_rng(0))
        assert ledger.entries == ()
