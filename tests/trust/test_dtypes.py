"""Records of every dtype move what a private method releases no further than its ledger says."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.folded import crossed
from tests.kinds import DTYPES, extremes
from tests.trust import checks
from tests.trust.cases import CASES, PRIVATE, case, rows_of, with_rows

# For these dtypes negation of integers wraps around, or a product of floats rounds outward.
TELLING = ("uint32", "float32")
# The list has one method for each way of reading data: gradients one by one, in blocks, by index,
# entries, users, chains of users.
READERS = (
    "mean.clipped",
    "mean.cwme-cdp",
    "mean.smoothed",
    "sco.clipped",
    "sco.phased-sgd",
    "sco.private-sgd",
    "lp.shuffled-mirror-descent",
    "user.clipped-means",
    "user.group-privacy",
)


# The set is so wide that a record of 1 is inside the clip radius of gradients.
WIDE = {"offset": 1.0, "diameter": 4.0}


def neighbours_of(name: str, dtype: str, seed: int) -> float:
    """Return the largest move over its claim when a record is replaced and all entries are extreme
    values of a dtype.
    """
    place, rng = case(name), np.random.default_rng(seed)
    place = replace(place, point=replace(place.point, **WIDE))
    base, ends = place.crowd(0), extremes(dtype)
    rows = rng.choice(ends[:3] if seed % 2 else ends, rows_of(base).shape)
    neighbour_rows = rows.copy()
    neighbour_rows[: place.point.m] = rng.choice(ends)
    rows[: place.point.m] = ends[1]
    return checks.compare(place, with_rows(base, rows), with_rows(base, neighbour_rows), seed)


@pytest.mark.parametrize(("slug", "dtype"), crossed(2, PRIVATE, TELLING))
def test_records_of_any_dtype_move_no_statistic_by_more_than_the_ledger_records(
    slug: str, dtype: str
) -> None:
    for seed in range(4):
        neighbours_of(slug, dtype, seed)


@pytest.mark.parametrize(("slug", "dtype"), crossed(3, READERS, DTYPES))
def test_no_method_that_reads_records_exceeds_its_sensitivity_for_any_dtype(
    slug: str, dtype: str
) -> None:
    # The slow suite tries eight further seeds below.
    assert max(neighbours_of(slug, dtype, seed) for seed in range(4)) > 0


@pytest.mark.slow
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", CASES)
def test_no_method_exceeds_its_sensitivity_for_any_dtype(name: str, dtype: str) -> None:
    for seed in range(8):
        neighbours_of(name, dtype, seed)
