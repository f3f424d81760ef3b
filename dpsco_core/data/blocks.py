r"""Samples in blocks, each with its own random stream.

A sample of n rows is cut into blocks of `stream_rows(d)` rows (768 KiB of float64). A key of 128
bits, drawn from the given generator, seeds a PCG64DXSM generator; block i begins at its state after
i jumps of `STEP` words. Jumps by a multiple of the golden section of the period keep the blocks far
apart: the blocks of a sample of up to 2^40 blocks are 2^86 words apart. A block therefore has the
same numbers whether it is drawn alone or with others, in any order and in any thread.
"""

from concurrent.futures import ThreadPoolExecutor
from typing import Protocol, cast

import numpy as np
from numpy.typing import NDArray

from dpsco_core.base.arrays import Vector
from dpsco_core.base.errors import require

Key = tuple[int, int]
Precision = type[np.float64] | type[np.float32]

# The number of entries of a block. Every sample depends on it, so it must never change.
BLOCK_ENTRIES = 3 << 15
# The number of words that the method `jumped` of PCG64DXSM skips.
STEP = 210306068529402873165736369884012333109


class Law(Protocol):
    """A law whose samples can be drawn block by block."""

    d: int

    def fill(self, out: Vector, rng: np.random.Generator) -> None:
        """Overwrite the rows of a contiguous (rows, d) array with independent records."""
        ...


def stream_rows(d: int) -> int:
    """Return the number of rows of dimension `d` in one block of a sample."""
    return max(1, BLOCK_ENTRIES // d)


def whole_blocks(n: int, d: int) -> int:
    """Return n rounded up to whole blocks, because a law fills a block at once."""
    size = stream_rows(d)
    return -(-n // size) * size


def draw_key(rng: np.random.Generator) -> Key:
    """Draw the random key, two 64-bit words, from which a sample's rows are generated."""
    high_word, low_word = rng.integers(0, 2**64, size=2, dtype=np.uint64)
    return int(high_word), int(low_word)


class BlockStreams:
    """The random generators of a sample's blocks, of which threads must not share one object."""

    def __init__(self, key: Key) -> None:
        """Make the random generator that the key of a sample seeds."""
        self._bits = np.random.PCG64DXSM(np.random.SeedSequence(key))
        self._start = self._bits.state
        self._rng = np.random.Generator(self._bits)

    def generator(self, block: int) -> np.random.Generator:
        """Return the generator of a block, at its start; it is valid until the next call."""
        self._bits.state = self._start
        self._bits.advance(block * STEP)
        return self._rng


def draw_rows(
    law: Law,
    n: int,  # the number of records, positive
    key: Key,  # the key of the sample; see `draw_key`
    *,
    # float32 gives the float64 sample, rounded once, in half the memory.
    dtype: Precision = np.float64,
    workers: int = 1,  # the number of threads that fill blocks; the sample does not depend on it
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

    def fill(worker: int) -> None:
        """Fill the blocks of one thread: those whose number is `worker` modulo `workers`."""
        streams = BlockStreams(key)
        draft = None if dtype == np.float64 else np.empty((min(size, n), law.d))
        for block in range(worker, count, workers):
            rows = x[block * size : (block + 1) * size]
            if draft is None:
                law.fill(rows, streams.generator(block))
            else:
                law.fill(draft[: len(rows)], streams.generator(block))
                rows[:] = draft[: len(rows)]

    if workers == 1:
        fill(0)
    else:
        with ThreadPoolExecutor(workers) as pool:
            list(pool.map(fill, range(workers)))
    return x


def random_words(count: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return words of 64 random bits, shape (count,).

    Raises `InvalidInput` if the generator has words of 32 bits, as numpy's MT19937 does.
    """
    bits = rng.bit_generator
    has_full_words = not isinstance(bits, np.random.MT19937)
    require(has_full_words, "rng", "a generator with words of 64 bits", type(bits).__name__)
    return bits.random_raw(count).view(np.int64)


def require_sample_size(n: int) -> int:
    """Return a number of records of any integer type as an `int`.

    Raises `InvalidInput` unless it is a positive integer.
    """
    require(isinstance(n, int | np.integer) and n >= 1, "n", "a positive integer", n)
    return int(n)  # A Python integer has no limit, while numpy's integers would wrap around.
