r"""Samples in blocks, each from a stream of its own.

A sample of n rows is cut into blocks of `stream_rows(d)` rows (768 KiB of float64). One key of 128
bits, drawn from the generator that is given, seeds a PCG64DXSM generator; block i begins where
that generator stands after i jumps of `STEP` words. Jumps by a multiple of the golden section of
the period keep the blocks far apart: those of a sample of up to 2^40 blocks by 2^86 words. A block
is therefore the same numbers whoever draws it, alone or among others, in any order and thread.
"""

from concurrent.futures import ThreadPoolExecutor
from typing import Protocol, cast

import numpy as np
from numpy.typing import NDArray

from dpsco_core.base.arrays import Vector
from dpsco_core.base.errors import require

Key = tuple[int, int]
Precision = type[np.float64] | type[np.float32]

BLOCK_ENTRIES = 3 << 15  # part of what defines a sample: another number gives other samples
STEP = 210306068529402873165736369884012333109  # the step of PCG64DXSM.jumped


class Law(Protocol):
    """What is drawn block by block."""

    d: int

    def fill(self, out: Vector, rng: np.random.Generator) -> None:
        """Overwrite the rows of a contiguous (rows, d) array with independent records."""
        ...


def stream_rows(d: int) -> int:
    """Return the number of rows of dimension `d` in one block of a sample."""
    return max(1, BLOCK_ENTRIES // d)


def draw_key(rng: np.random.Generator) -> Key:
    """Draw the key of a sample."""
    first, second = rng.integers(0, 2**64, size=2, dtype=np.uint64)
    return int(first), int(second)


class BlockStreams:
    """The generators of the blocks of one key; not to be shared between threads."""

    def __init__(self, key: Key) -> None:
        self._bits = np.random.PCG64DXSM(np.random.SeedSequence(key))
        self._start = self._bits.state
        self._rng = np.random.Generator(self._bits)

    def at(self, block: int) -> np.random.Generator:
        """Return the generator of a block, at its beginning; it is valid until the next call."""
        self._bits.state = self._start
        self._bits.advance(block * STEP)
        return self._rng


def draw_rows(
    law: Law,
    n: int,  # positive
    key: Key,  # see `draw_key`
    *,
    # float32 gives the float64 sample, rounded once, in half the memory
    dtype: Precision = np.float64,
    workers: int = 1,  # threads that fill blocks; their number does not change the sample
) -> Vector:
    """Return n independent records, shape (n, d).

    Raises `InvalidInput` if a value is outside its range.
    """
    n = require_sample_size(n)
    require(dtype in (np.float64, np.float32), "dtype", "float64 or float32", dtype)
    require(workers >= 1, "workers", "at least 1", workers)
    x = cast(Vector, np.empty((n, law.d), dtype=dtype))
    size = stream_rows(law.d)
    count = -(-n // size)
    workers = min(workers, count)

    def fill(first: int) -> None:
        streams = BlockStreams(key)
        draft = None if dtype == np.float64 else np.empty((min(size, n), law.d))
        for block in range(first, count, workers):
            rows = x[block * size : (block + 1) * size]
            if draft is None:
                law.fill(rows, streams.at(block))
            else:
                law.fill(draft[: len(rows)], streams.at(block))
                rows[:] = draft[: len(rows)]

    if workers == 1:
        fill(0)
    else:
        with ThreadPoolExecutor(workers) as pool:
            list(pool.map(fill, range(workers)))
    return x


def random_words(count: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return words of 64 random bits, shape (count,).

    Raises `InvalidInput` if the generator's words have 32 bits, as those of numpy's MT19937 have.
    """
    bits = rng.bit_generator
    full = not isinstance(bits, np.random.MT19937)
    require(full, "rng", "a generator with words of 64 bits", type(bits).__name__)
    return bits.random_raw(count).view(np.int64)


def require_sample_size(n: int) -> int:
    """Return the number of records that is asked for, of whatever integer type, checked."""
    require(isinstance(n, int | np.integer) and n >= 1, "n", "a positive integer", n)
    return int(n)  # numpy's own types wrap around
