"""Generated rows are the rows of the sample, whatever is asked of them, and small to send."""

from __future__ import annotations

import pickle
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from threadpoolctl import threadpool_info, threadpool_limits

from dpsco_core.base.errors import InvalidInput
from dpsco_core.data import DISTRIBUTIONS, DenseRows, GeneratedRows, Pareto, Rows, StudentT
from dpsco_core.data import generated as module
from dpsco_core.data.blocks import stream_rows
from dpsco_core.data.hard import HardInstance
from dpsco_core.data.rows import MappedRows, ScaledRows
from dpsco_core.scenario import Scenario

Vector = NDArray[np.float64]
N, D = 70_001, 5  # The rows fill three blocks and part of a fourth.
SIZE = stream_rows(D)


def law_of(kind: Any) -> Any:
    """Return a law of a kind; a hard instance is drawn."""
    if issubclass(kind, HardInstance):
        return kind(d=D, spike_probability=0.3).draw(np.random.default_rng(5))
    return kind(d=D, offset=1.0, peak=0.5)


def sample_and_stream(law: Any = None) -> tuple[Vector, GeneratedRows]:
    """Return a sample in memory, and the same records as generated rows."""
    law = StudentT(d=D) if law is None else law
    in_memory, generated = (np.random.default_rng(1) for _ in range(2))
    return law.sample(N, in_memory).x, law.stream(N, generated)


@pytest.mark.parametrize("kind", DISTRIBUTIONS)
def test_every_pass_over_generated_rows_gives_the_rows_of_the_sample(kind: Any) -> None:
    x, rows = sample_and_stream(law_of(kind))
    assert (rows.n, rows.d) == x.shape
    for _ in range(2):
        assert np.array_equal(np.concatenate(list(rows.blocks())), x)
    assert np.array_equal(np.concatenate([f.base for f in rows.factors()]), x)


def test_the_generator_is_left_as_a_sample_leaves_it() -> None:
    in_memory, generated = (np.random.default_rng(2) for _ in range(2))
    StudentT(d=3).sample(9, in_memory)
    StudentT(d=3).stream(9, generated)
    assert in_memory.random() == generated.random()


@pytest.mark.parametrize(
    ("start", "stop"),
    [(0, 1), (SIZE - 1, SIZE + 1), (SIZE, 2 * SIZE), (7, N - 7), (N - 1, N), (5, 5)],
)
def test_every_range_of_generated_rows_agrees_with_the_sample(start: int, stop: int) -> None:
    x, rows = sample_and_stream()
    blocks = list(rows.blocks(start, stop))
    assert sum(map(len, blocks)) == stop - start
    if stop > start:
        assert np.array_equal(np.concatenate(blocks), x[start:stop])
        part = rows.part(start, stop)
        assert part.n == stop - start
        assert np.array_equal(np.concatenate(list(part.blocks())), x[start:stop])
        assert np.array_equal(part.take(np.array([part.n - 1, 0])), x[[stop - 1, start]])


def test_rows_are_taken_in_any_order() -> None:
    x, rows = sample_and_stream()
    indices = np.random.default_rng(3).integers(0, N, size=500)
    assert np.array_equal(rows.take(indices), x[indices])
    assert rows.take(indices[:0]).shape == (0, D)
    short = np.array([100, 3], dtype=np.int8)
    assert np.array_equal(rows.part(100, N).take(short), x[[200, 103]])


def test_reading_in_order_draws_every_block_once(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn_blocks: list[int] = []
    fill = StudentT.fill
    monkeypatch.setattr(
        StudentT, "fill", lambda s, x, r: (drawn_blocks.append(len(x)), fill(s, x, r))
    )
    rows = StudentT(d=D).stream(N, np.random.default_rng(1))
    cuts = [*range(0, N, 777), N]
    for low, high in pairwise(cuts):
        for _ in rows.blocks(low, high):
            pass
    assert drawn_blocks == [min(SIZE, N - low) for low in range(0, N, SIZE)]


def sum_and_squares(rows: Rows, centre: float) -> Vector:
    """Return the sum of the rows, and of their squared distances from a centre, by coordinate."""
    total = np.zeros((2, rows.d))
    for block in rows.blocks():
        total += block.sum(axis=0), ((block - centre) ** 2).sum(axis=0)
    return total


def test_a_total_is_the_sum_over_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PIECE_BLOCKS", 2)
    x, rows = sample_and_stream()
    pieces = list(rows.pieces())
    assert [p.n for p in pieces] == [2 * SIZE, N - 2 * SIZE]
    part = partial(sum_and_squares, centre=0.5)
    whole = part(DenseRows(x))
    np.testing.assert_allclose(rows.total(part), whole, rtol=1e-10)
    inner = rows.part(10, N - 10)
    np.testing.assert_allclose(inner.total(part), part(DenseRows(x[10:-10])), rtol=1e-10)


def blas_threads(_: Rows) -> Vector:
    """Return an array of the number of different thread counts among BLAS libraries, and the
    largest count.
    """
    counts = {int(x["num_threads"]) for x in threadpool_info() if x["user_api"] == "blas"}
    return np.array([len(counts), max(counts)])


def test_a_total_is_formed_with_one_blas_thread_as_workers_form_it() -> None:
    _, rows = sample_and_stream()
    sample = Scenario(problem="logistic", n=9, d=D).instance.problem.stream(
        9, np.random.default_rng(1)
    )
    with threadpool_limits(3, user_api="blas"):
        assert rows.total(blas_threads).tolist() == [1, 1]
        assert sample.gradients(np.zeros(D)).total(blas_threads).tolist() == [1, 1]


def test_rows_in_memory_are_one_piece() -> None:
    x, _ = sample_and_stream()
    dense = DenseRows(x)
    scaled = ScaledRows(dense, lambda block, _: 2 * np.ones(len(block)))
    for rows, factor in ((dense, 1), (scaled, 2), (MappedRows(dense, np.negative), -1)):
        assert rows.total(lambda piece, rows=rows: np.array([piece is rows])).all()
        total = rows.total(partial(sum_and_squares, centre=0.0))
        np.testing.assert_allclose(total[0], factor * x.sum(axis=0), rtol=1e-9)


def test_a_piece_is_small_when_pickled_and_complete() -> None:
    x, rows = sample_and_stream()
    for _ in rows.blocks():  # Reading the blocks first must not make the pieces larger.
        pass
    for piece in rows.pieces():
        sent = pickle.dumps(piece)
        assert len(sent) < 1000
        received = pickle.loads(sent)
        assert np.array_equal(np.concatenate(list(received.blocks())), x[piece.start : piece.stop])


def test_threads_may_read_the_same_rows() -> None:
    x, rows = sample_and_stream()
    ready = threading.Barrier(2)

    def read(order: list[int]) -> bool:
        """Return whether rows that are read in this order are right every time."""
        ready.wait()
        return all(
            np.array_equal(rows.take(np.array([i])), x[[i]]) for i in order for _ in range(5)
        )

    places = [0, 2 * SIZE, SIZE, 3 * SIZE]
    with ThreadPoolExecutor(2) as pool:
        assert all(pool.map(read, [places, places[::-1]]))


def test_generated_rows_cannot_be_written_to() -> None:
    _, rows = sample_and_stream()
    with pytest.raises(ValueError, match="read-only"):
        next(rows.blocks())[0, 0] = 1.0


def test_values_out_of_range_are_named() -> None:
    _, rows = sample_and_stream()
    with pytest.raises(InvalidInput, match=r"^start must be before stop"):
        rows.part(3, 3)
    with pytest.raises(InvalidInput, match=r"^n must be a positive integer, got n=0\.$"):
        StudentT().stream(0, np.random.default_rng(0))


def test_single_precision_is_read_as_double() -> None:
    rows = StudentT(d=D).sample(N, np.random.default_rng(1), dtype=np.float32)
    exact = rows.x.astype(np.float64)
    assert all(b.dtype == np.float64 for b in rows.blocks())
    assert np.array_equal(np.concatenate(list(rows.blocks())), exact)
    assert np.array_equal(rows.take(np.array([3, 1])), exact[[3, 1]])
    assert rows.take(np.array([3, 1])).dtype == np.float64
    np.testing.assert_array_equal(rows.norms(), DenseRows(exact).norms())


def test_a_total_holds_few_sums_at_a_time() -> None:
    alive: list[weakref.ref[Vector]] = []

    def part(piece: Any) -> Vector:
        """Return a sum over a piece, and check that at most two sums are alive."""
        total = np.full(3, float(piece))
        alive.append(weakref.ref(total))
        assert sum(ref() is not None for ref in alive) <= 2
        return total

    class Fifty(GeneratedRows):
        def pieces(self) -> Any:
            """Yield fifty pieces."""
            return iter(range(50))

    rows = StudentT(d=D).stream(N, np.random.default_rng(1))
    assert Fifty(rows.source, 0, N).total(part).tolist() == [1225.0] * 3


@pytest.mark.parametrize("kind", [np.uint64, np.uint32, np.int16, np.uint8])
def test_a_size_may_have_any_integer_type(kind: type[np.integer]) -> None:
    law = StudentT(d=3)
    x = law.sample(5, np.random.default_rng(1)).x
    assert np.array_equal(law.sample(kind(5), np.random.default_rng(1)).x, x)
    (block,) = law.stream(kind(5), np.random.default_rng(1)).blocks()
    assert np.array_equal(block, x)


@pytest.mark.parametrize("kind", [StudentT, Pareto])
def test_generators_of_short_words_are_refused(kind: Any) -> None:
    rng = np.random.Generator(np.random.MT19937(1))
    with pytest.raises(InvalidInput, match="words of 64 bits.*MT19937"):
        kind(d=2).fill(np.empty((3, 2)), rng)
    assert np.isfinite(kind(d=2).sample(5, rng).x).all()  # Blocks have generators of their own.
