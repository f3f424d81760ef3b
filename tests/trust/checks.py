"""Privacy checks of a `Case`, for any method.

Each check raises AssertionError on a fault. Statistical ones have a false-alarm rate of 1e-6 and
fixed seeds.
"""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.stats import chi2

from dpsco_core.base.errors import InvalidInput
from dpsco_core.methods.user.accelerated.batches import SeparateTests
from dpsco_core.privacy import Budget, BudgetExceeded
from dpsco_core.privacy.entries import Entry
from dpsco_core.privacy.filter.robust_mean import RobustFilter
from tests.trust.cases import Case
from tests.trust.plain import plain_shares, spends
from tests.trust.tape import Statistic, Tape

FALSE_ALARM = 1e-6
# The seeds of the runs on each pair of neighbours, since some methods draw the records that they
# use.
SEEDS = range(3)
ROUNDING = 1e-9  # The relative rounding error of sums of records.
# This number of degrees of freedom is enough, since half of the scale has a quarter of the energy.
DRAWS = 80


def check_sensitivity(case: Case) -> float:
    """Return the largest move of a statistic over its claim on worst-case neighbours; fail if a
    move exceeds its claim.

    Both runs have the same sequence of releases. Of disjoint blocks, steps or groups at most one
    moves. The claim is attained to a half at least (for filters, it is at least that of the
    theorem), so that half of it would fail.
    """
    reached = 0.0
    for pair in case.pairs():
        for seed in SEEDS:
            reached = max(reached, compare(case, pair.data, pair.neighbour_data, seed))
    return reached


def compare(case: Case, data: Any, neighbour_data: Any, seed: int = 0) -> float:
    """Return the largest move of a statistic over its claim; it is at most 1."""
    tape = sound(case, data, seed)
    neighbour_tape = sound(case, neighbour_data, seed, tape)
    assert booked(tape) == booked(neighbour_tape), "the same releases on neighbours"
    check_filters(tape)
    check_filters(neighbour_tape)
    return largest_move(tape.statistics, neighbour_tape.statistics)


def sound(case: Case, data: Any, seed: int, replay: Tape | None = None) -> Tape:
    """Run a case; fail if the ledger or a test refuses the exact value of a release, which means
    that a record was not clipped.
    """
    try:
        return case.play(data, seed, replay)
    except (InvalidInput, BudgetExceeded) as refusal:
        raise AssertionError(f"refused because of a record: {refusal}") from refusal


def booked(tape: Tape) -> tuple[Entry, ...]:
    """Return the entries that the ledger of a run has recorded."""
    entries: tuple[Entry, ...] = tape.result.ledger.entries
    return entries


def largest_move(statistics: list[Statistic], neighbour_statistics: list[Statistic]) -> float:
    """Return the largest move of a statistic over its claim; fail if more than one block of a
    partition moves.
    """
    assert len(statistics) == len(neighbour_statistics), "as many releases on neighbours"
    reached, places = 0.0, defaultdict(set)
    for a, b in zip(statistics, neighbour_statistics, strict=True):
        gap = a.value - b.value
        assert np.isfinite(gap).all(), "a broken record has been let through"
        if not gap.any():
            continue
        allowed = a.entry.sensitivity
        if min(a.score, b.score) >= a.floor:  # Below the floor there is no claim.
            size = length(gap, a.norm)
            assert size <= allowed * (1 + ROUNDING), f"moved by {size}, and claims {allowed}"
            reached = max(reached, size / allowed)
        if isinstance(a.block, tuple):
            places[a.block[0]].add(a.block)
        elif a.block is not None:
            places["steps"].add(a.block)
        if a.entry.disjoint_blocks > 1 and gap.ndim == 2:
            assert np.count_nonzero(gap.any(axis=1)) <= 1, "a record is in one group"
    for partition, blocks in places.items():
        assert len(blocks) <= 1, f"a record is in blocks {sorted(blocks)} of {partition}"
    return reached


def length(gap: np.ndarray, exponent: float) -> float:
    """Return the l_exponent norm of all entries of an array, without overflow."""
    size = float(np.abs(gap).max())
    return size * float(np.linalg.norm((gap / size).ravel(), exponent))


def check_attained(case: Case) -> None:
    """Check that worst-case neighbours attain at least half of the sensitivity."""
    reached = check_sensitivity(case)
    data = next(case.pairs()).data
    if not sound(case, data, 0).filters:
        assert reached > 0.5 * (1 + ROUNDING), (
            f"only {reached:.3g} of the sensitivity in the ledger is reached on worst-case "
            "neighbours. If it is right, let the method's Stage show it: `place` says where the "
            "worst record lies, `small` sets a run in which it counts"
        )


def check_filters(tape: Tape) -> None:
    """Check that the claim of each filtered mean is at least what is proven at the floor of its
    test.
    """
    for keep, count, test, entry in tape.filters:
        floor = test.threshold - slack(test) - 2.0
        proven = proven_sensitivity(keep, count, floor)
        assert entry.sensitivity >= proven * (1 - ROUNDING), f"{entry.sensitivity} below {proven}"


def slack(test: Any) -> float:
    """Return how far noise can carry a score over the threshold, except with the test's failure
    probability.
    """
    if test.kind == "single":
        return 2 / test.epsilon * math.log(1 / (2 * test.failure))
    # Each of several separate tests has an equal share of the failure probability.
    if isinstance(test, SeparateTests):
        return 2 / test.epsilon * math.log(test.steps / (2 * test.failure))
    # The test AboveThreshold adds Lap(4 D/eps) to T scores and Lap(2 D/eps) to the threshold; each
    # may use half of the failure probability.
    spread = 4 * 2 / test.epsilon
    return spread * math.log(test.steps / test.failure) + spread / 2 * math.log(1 / test.failure)


def proven_sensitivity(keep: RobustFilter, count: int, floor: float) -> float:
    """Return the sharp sensitivity of the weighted mean of `count` points at a score of `floor`,
    written out again and maximised by search.
    """
    a, b = keep.lower, keep.upper
    weight = (floor - a * count) / (1 - a)
    if keep.filter_radius >= 2 * keep.score_radius and floor >= b * count:
        weight = floor
    slope = min(1.0, 1 / ((b - a) * count))
    common = weight - 1 - (count - 1) * slope / 2
    assert common > 0, "a sensitivity is proven at the floor"
    u = np.linspace(a, 1, 20_001)
    weights = np.clip((u - a) / (b - a), 0, 1)
    own_share = float(np.max(weights * (1 + np.minimum(1, (1 - u) * count / common))))
    rest = slope * (count - 1 + min(count - 1, count * (count - floor) / common))
    plain = 2 * keep.filter_radius / weight * (2 + (count - 1) * slope)
    return min(plain, keep.filter_radius / weight * (2 * own_share + rest))


def check_noise(case: Case, draws: int = DRAWS) -> None:
    """Check by chi-square that all noise of some runs has the scale that the ledger records.

    Laplace noise is tested apart, since its energy is linear in the scale and more draws are
    needed. For choices the score is tested: half of the noise makes the score larger by about its
    variance.
    """
    energy, freedom, total = {True: 0.0, False: 0.0}, {True: 0, False: 0}, 0.0
    excess, spread = 0.0, 0.0
    data = case.crowd(0)
    for seed in itertools.count():
        tape = sound(case, data, seed)
        check_scales(booked(tape))
        assert tape.draws, "no noise at all"
        for d in tape.draws:
            energy[d.law == 1] += d.energy
            freedom[d.law == 1] += d.freedom
            total += float(d.noise.sum()) if d.law == 2 else 0.0
            if d.score is not None:
                excess, spread = excess + d.score[0], spread + d.score[1]
        if not any(freedom.values()) and spread >= 3 * draws:
            break
        if freedom[False] >= draws or (not freedom[False] and freedom[True] >= 4 * draws):
            break
    for kind in filter(freedom.get, (False, True)):
        energy_of_kind, free = energy[kind], freedom[kind]
        chance = 2 * min(chi2.cdf(energy_of_kind, free), chi2.sf(energy_of_kind, free))
        ratio = energy_of_kind / free if kind else math.sqrt(energy_of_kind / free)
        assert chance > FALSE_ALARM, f"noise {ratio:.4f} times the ledger's"
    # A false alarm has probability 6e-7.
    assert abs(total) <= 5 * math.sqrt(freedom[False]), "the noise is centred"
    # The false-alarm rate is 6e-7 in the normal approximation of the sum, and the noise is 1/(1 +
    # excess/spread) of the claim.
    is_off = abs(excess) > 5 * math.sqrt(spread)
    assert not is_off, f"noise {1 / (1 + excess / spread):.4f} times the ledger's"


def check_scales(entries: tuple[Entry, ...]) -> None:
    """Check that each entry with its own share has at least the noise of its sensitivity."""
    for entry in entries:
        if entry.mechanism == "gaussian":
            least_noise = entry.sensitivity / math.sqrt(2 * entry.rho)
        elif entry.mechanism in ("laplace", "spherical laplace"):
            least_noise = entry.sensitivity / entry.epsilon
        elif entry.mechanism == "exponential":
            least_noise = 2 * entry.sensitivity * entry.size / entry.epsilon
        else:
            continue
        assert math.isclose(entry.noise, least_noise, rel_tol=1e-12), (
            f"{entry.noise}, not {least_noise}"
        )


def check_ledger(case: Case) -> None:
    """Check that the budget is spent, never exceeded, and that every release is in the ledger."""
    tape = sound(case, case.crowd(0), 0)
    check_spent(booked(tape), case.point.budget)
    check_books(tape)


def check_spent(entries: tuple[Entry, ...], budget: Budget, *, whole: bool = True) -> None:
    """Check that the shares of entries add up to the budget to 1e-12, or, if not `whole`, to at
    most the budget.
    """
    assert entries
    assert spends(plain_shares(entries), budget, whole=whole), f"{plain_shares(entries)}"


def check_books(tape: Tape) -> None:
    """Check that every noisy number belongs to an entry of the run's own
    ledger, and fits into it.
    """
    entries = {id(entry): entry for entry in booked(tape)}
    noise_counts: dict[int, int] = defaultdict(int)
    steps, tests = set(), 0
    for d in tape.draws:
        if d.entry is None:
            tests += 1
        elif not d.idle:
            assert id(d.entry) in entries, "drawn, and not booked"
            noise_counts[id(d.entry)] += d.noise.size
            if d.steps:
                steps.add(id(d.entry))
    for key, numbers in noise_counts.items():
        releases = entries[key].disjoint_blocks * entries[key].releases
        room = entries[key].size * (releases if key in steps else 1)
        assert numbers <= room, f"{numbers} numbers, and {room} are booked"
    # A test has a noise for each score, and one for its threshold.
    assert tests <= sum(e.size + 1 for e in booked(tape) if e.mechanism == "noisy test")


def check_plan_is_fixed(case: Case) -> None:
    """Check that nothing of a run moves with the data if the releases say nothing.

    Radii, steps, entries, diagnostics, notes, the whole path and the number of draws must be the
    same for data of quite another size, and for broken ones. So no radius, step count or seed is
    taken from the data past the ledger.
    """
    plan_text = repr(case.plan())
    data = (case.crowd(7), case.crowd(7, 1e3), case.broken(7))
    tape = case.play(data[0], 4, blind=True)
    for x in data[1:]:
        other_tape = case.play(x, 4, blind=True)
        result, other_result = tape.result, other_tape.result
        assert booked(tape) == booked(other_tape), "the ledger reads the data"
        assert result.diagnostics == other_result.diagnostics, "the diagnostics read the data"
        assert result.notes == other_result.notes, "the notes read the data"
        for name in ("value", "iterates", "iterate_steps"):
            same = np.array_equal(getattr(result, name), getattr(other_result, name))
            assert same, f"the {name} read the data past the ledger"
        assert tape.state == other_tape.state, "how many numbers are drawn depends on the data"
    assert repr(case.plan()) == plan_text, "the plan reads the data"


def check_noise_is_fresh(case: Case) -> None:
    """Check that a generator adds the same noise whatever the data are, and that no two draws or
    generators add equal noise.
    """
    noise, repeated_noise, fresh_noise = (
        sound(case, case.crowd(data), seed).noise() for data, seed in ((0, 1), (1, 1), (0, 2))
    )
    np.testing.assert_allclose(noise, repeated_noise, atol=1e-6)
    assert not np.any(np.abs(noise - fresh_noise) < 1e-9), "fresh noise for every generator"
    assert np.diff(np.sort(noise)).min(initial=1.0) > 1e-12, "fresh noise for every draw"


Check = Callable[[Case], object]
CHECKS: tuple[Check, ...] = (
    check_attained,
    check_noise,
    check_noise_is_fresh,
    check_plan_is_fixed,
    check_ledger,
)
