"""The evaluation sample: records for averaging population risks, drawn once."""

import math
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from dpsco_core.base.arrays import close_arrays
from dpsco_core.data.base import Distribution
from dpsco_core.data.rows import DenseRows
from dpsco_core.problems.base import ExcessRisk

# The seed of the evaluation sample; no method draws records with it.
EVALUATION_SEED = 20_221_104
EVALUATION_ELEMENTS = 4_000_000  # the number of entries of an evaluation sample: 32 MB
EVALUATION_ROWS = 1 << 17  # the largest number of records of an evaluation sample
# The cache may hold this many bytes, because sweeps of d or p return to each sample in turn.
KEPT_BYTES = 1 << 27

_cached_samples: dict[Distribution, DenseRows] = {}  # the most recently used sample is last
_lock = Lock()


def evaluation_rows(law: Distribution) -> DenseRows:
    """Return the evaluation sample of a distribution, at most 32 MB, shared by all its problems."""
    with _lock:
        sample = _cached_samples.pop(law, None) or _draw_evaluation_rows(law)
        _cached_samples[law] = sample
        while sum(rows.x.nbytes for rows in _cached_samples.values()) > KEPT_BYTES:
            _cached_samples.pop(next(iter(_cached_samples)))
    return sample


def _draw_evaluation_rows(law: Distribution) -> DenseRows:
    """Draw the evaluation sample of a distribution, from the seed that never changes."""
    rows = max(1, min(EVALUATION_ROWS, EVALUATION_ELEMENTS // law.d))
    sample = law.sample(rows, np.random.default_rng(EVALUATION_SEED))
    close_arrays(sample)
    return sample


def average(excess: NDArray[np.float64]) -> ExcessRisk:
    """Return the mean of independent terms, shape (rows,), with its standard error."""
    spread = float(excess.std(ddof=1)) if len(excess) > 1 else math.inf
    return ExcessRisk(value=float(excess.mean()), standard_error=spread / math.sqrt(len(excess)))
