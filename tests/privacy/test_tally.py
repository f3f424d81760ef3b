"""The running composition of releases: exact against fractions, for any number and order of
entries.

Faults that these tests would catch: a sum that loses small shares, blocks of a partition that are
added up (or whose most expensive one is forgotten), or one kind of share counted as another.
"""

from __future__ import annotations

import itertools
import math
import random
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpsco_core.privacy import ZCDP, ApproxDP, Entry, PureDP
from dpsco_core.privacy.composition import Tally, Totals, compose, fits, total_shares
from dpsco_core.privacy.concentration import laplace_rho

NAMES = ("rho", "pure", "approximate_epsilon", "approximate_delta")
Part = tuple[int, int] | None


def entry(kind: str, share: float, part: Part = None, delta: float = 0.0) -> Entry:
    """Return a ledger's entry of a kind, with this share of the budget."""
    shares: dict[str, float] = {"rho": share} if kind == "gaussian" else {"epsilon": share}
    entry: Any = Entry(
        mechanism=kind,  # type: ignore[arg-type]
        label="release",
        sensitivity=1.0,
        proven_sensitivity=1.0,
        noise=1.0,
        size=1,
        delta=delta,
        part=part,
        **shares,
    )
    return entry


def exact_totals(entries: list[Entry]) -> dict[str, Fraction]:
    """Return for each share the sum outside partitions plus that of the most expensive block of
    each partition.
    """
    kinds = {"gaussian": "rho", "laplace": "pure"}
    sums: dict[tuple[Part, str], Fraction] = {}
    for e in entries:
        name = kinds.get(e.mechanism, "approximate_epsilon")
        share = e.rho if name == "rho" else e.epsilon
        delta = e.delta if name == "approximate_epsilon" else 0.0
        for key, value in ((name, share), ("approximate_delta", delta)):
            sums[e.part, key] = sums.get((e.part, key), Fraction(0)) + Fraction(value)
    totals = {}
    for name in NAMES:
        total = sums.get((None, name), Fraction(0))
        partitions = {part[0] for part, _ in sums if part is not None}
        for number in partitions:
            blocks = [v for (p, k), v in sums.items() if p and p[0] == number and k == name]
            total += max(blocks, default=Fraction(0))
        totals[name] = total
    return totals


KINDS = st.sampled_from(["gaussian", "laplace", "shuffled gaussian", "objective perturbation"])
PARTS = st.none() | st.tuples(st.integers(1, 2), st.integers(0, 3))
TABLE = st.lists(
    st.builds(
        entry,
        KINDS,
        st.floats(1e-18, 1e3),
        PARTS,
        st.sampled_from([0.0, 1e-9, 1e-7]),
    ),
    max_size=40,
)


@settings(derandomize=True, deadline=None, max_examples=150)
@given(entries=TABLE)
def test_totals_are_those_of_exact_arithmetic(entries: list[Entry]) -> None:
    running = Tally()
    for e in entries:
        with_it = running.totals(e)
        running.add(e)
        totals_after = running.totals()
        # The totals that are asked for before an entry is added are those after it is added.
        for name in NAMES:
            assert getattr(with_it, name) == pytest.approx(getattr(totals_after, name), rel=1e-15)
    for name, value in exact_totals(entries).items():
        total = getattr(running.totals(), name)
        assert abs(Fraction(total) - value) <= value * Fraction(1, 10**14)
    assert total_shares(entries) == running.totals()


@settings(derandomize=True, deadline=None, max_examples=60)
@given(entries=TABLE, seed=st.integers(0, 9))
def test_the_order_of_the_entries_does_not_matter(entries: list[Entry], seed: int) -> None:
    shuffled = random.Random(seed).sample(entries, len(entries))
    totals, shuffled_totals = total_shares(entries), total_shares(shuffled)
    for name in NAMES:
        assert getattr(totals, name) == pytest.approx(getattr(shuffled_totals, name), rel=1e-14)


def test_reading_the_totals_does_not_change_the_tally() -> None:
    running = Tally()
    for part in (None, (1, 0)):
        running.add(entry("gaussian", 0.1, part))
        totals_before = running.totals()
        for _ in range(3):
            running.totals(entry("gaussian", 5.0, part))
        assert running.totals() == totals_before


@pytest.mark.parametrize(("part", "rho"), [(None, 0.1), ((1, 0), 1 / 3)])
def test_a_hundred_thousand_shares_add_up_to_the_last_bit(rho: float, part: Part) -> None:
    count = 100_000
    block_entry = entry("gaussian", rho / count, part)
    running = Tally()
    for _ in range(count):
        running.add(block_entry)
    total = running.totals().rho
    assert abs(Fraction(total) - count * Fraction(block_entry.rho)) <= Fraction(math.ulp(rho))
    naive = 0.0
    for _ in range(count):
        naive += block_entry.rho
    assert abs(naive - rho) > 100 * abs(total - rho), "a plain sum would have drifted"


def test_many_shares_far_below_the_last_bit_still_count() -> None:
    running = Tally()
    running.add(entry("gaussian", 1.0))
    small = entry("gaussian", 1e-17)
    for _ in range(50_000):
        running.add(small)
    assert running.totals().rho - 1 == pytest.approx(5e-13, rel=1e-3)
    assert fits(running.totals(), ZCDP(rho=1.0))
    for _ in range(60_000):
        running.add(small)
    assert not fits(running.totals(), ZCDP(rho=1.0)), "beyond the slack of 1e-12"


def test_a_partition_costs_its_most_expensive_block_share_by_share() -> None:
    running = Tally()
    running.add(entry("gaussian", 0.3, (1, 0)))
    running.add(entry("laplace", 0.7, (1, 1)))
    running.add(entry("objective perturbation", 0.2, (1, 2), delta=1e-7))
    running.add(entry("shuffled gaussian", 0.1, (1, 3), delta=1e-6))
    running.add(entry("gaussian", 0.2, (1, 1)))
    assert running.totals() == Totals(
        rho=0.3,
        pure=0.7,
        pure_rho=laplace_rho(0.7),
        approximate_epsilon=0.2,
        approximate_delta=1e-6,
    )
    running.add(entry("gaussian", 0.2, (1, 1)))  # Block 1 is now the most expensive one in rho.
    assert running.totals().rho == pytest.approx(0.4, rel=1e-15)


def test_partitions_add_to_each_other_and_to_releases_of_all_records() -> None:
    entries = [entry("gaussian", 0.5, (number, block)) for number in (1, 2) for block in range(4)]
    assert total_shares(entries).rho == 1.0
    assert total_shares([*entries, entry("gaussian", 0.25)]).rho == 1.25


@settings(derandomize=True, deadline=None, max_examples=60)
@given(
    entries=st.lists(
        st.builds(entry, st.sampled_from(["gaussian", "laplace"]), st.floats(1e-6, 0.3), PARTS),
        min_size=1,
        max_size=25,
    )
)
@pytest.mark.parametrize(
    "budget", [ZCDP(rho=0.5), PureDP(epsilon=1.0), ApproxDP(epsilon=2.0, delta=1e-6)], ids=str
)
def test_a_fitting_release_covers_every_block_that_a_neighbour_may_change(
    budget: Any, entries: list[Entry]
) -> None:
    """A neighbour changes releases of all records, and those of one block of each partition."""
    if not fits(total_shares(entries), budget):
        return
    for blocks in itertools.product(range(4), repeat=2):
        visible = tuple(e for e in entries if e.part is None or e.part[1] == blocks[e.part[0] - 1])
        if visible:
            block_guarantee = compose(visible, budget)
            for name in ("rho", "epsilon"):
                if hasattr(budget, name):
                    assert getattr(block_guarantee, name) <= getattr(budget, name) * (1 + 1e-9)


def test_a_broken_share_fits_no_budget() -> None:
    for share in (math.inf, math.nan):
        for kind in ("gaussian", "laplace", "objective perturbation"):
            total = Tally().totals(entry(kind, share))
            for budget in (ZCDP(rho=1e12), PureDP(epsilon=1e6), ApproxDP(epsilon=1e6, delta=0.5)):
                assert not fits(total, budget), (kind, share, budget)
