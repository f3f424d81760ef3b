"""A generated sample is the problem's sample: records, targets, gradients, bounds and parts."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

from dpsco_core.base.errors import InvalidInput
from dpsco_core.data.blocks import stream_rows
from dpsco_core.problems.samples import generated as module
from dpsco_core.problems.samples.generated import GeneratedSample
from dpsco_core.scenario import Scenario

PROBLEMS = (
    "quadratic",
    "linear",
    "least-squares",
    "logistic",
    "huber",
    "hinge",
    "absolute",
    "geometric-median",
)
D = 4
SIZE = stream_rows(D)
N = 2 * SIZE + 17


def sample_and_stream(problem: str, distribution: str = "student-t") -> tuple[Any, Any]:
    """Return a sample in memory, and the same records as a stream."""
    example = Scenario(problem=problem, distribution=distribution, n=N, d=D).instance.problem
    instance = example.draw(np.random.default_rng(0))
    in_memory, generated = (np.random.default_rng(1) for _ in range(2))
    return instance.sample(N, in_memory), instance.stream(N, generated)


@pytest.mark.parametrize(
    ("problem", "bound"),
    [
        *((problem, None) for problem in PROBLEMS),
        ("logistic", (1.5, 2.0)),
        ("hinge", (1.5, 3.0)),
        ("geometric-median", (1.5, 2.0)),
        ("linear", (1.5, 3.0)),
    ],
)
def test_a_generated_sample_is_that_in_memory(
    problem: str, bound: tuple[float, float] | None
) -> None:
    in_memory, generated = sample_and_stream(problem)
    if bound is not None:
        in_memory, generated = in_memory.bounded(*bound), generated.bounded(*bound)
    w = np.array([0.3, -0.2, 0.1, 0.5])
    assert (generated.n, generated.d) == (in_memory.n, in_memory.d)
    assert generated.constraint == in_memory.constraint
    expected = np.concatenate(list(in_memory.gradients(w).blocks()))
    rows = generated.gradients(w)
    # Margins are sums of d terms, whose order depends on the block they are taken from.
    close = {"rtol": 1e-11, "atol": 1e-13}
    np.testing.assert_allclose(np.concatenate(list(rows.blocks())), expected, **close)
    ranged = np.concatenate(list(rows.blocks(SIZE - 5, SIZE + 5)))
    np.testing.assert_allclose(ranged, expected[SIZE - 5 : SIZE + 5], **close)
    indices = np.array([N - 1, 3, SIZE, SIZE - 1])
    np.testing.assert_allclose(rows.take(indices), expected[indices], **close)
    for i in (0, SIZE - 1, SIZE, N - 1):
        np.testing.assert_allclose(generated.gradient(w, i), in_memory.gradient(w, i), **close)
    np.testing.assert_allclose(generated.mean_gradient(w), in_memory.mean_gradient(w), rtol=1e-9)
    assert generated.risk(w) == pytest.approx(in_memory.risk(w), rel=1e-11)
    low, high = SIZE - 40, SIZE + 3
    part = generated.part(low, high)
    np.testing.assert_allclose(part.gradient(w, 5), in_memory.gradient(w, low + 5), **close)
    expected_mean = in_memory.part(low, high).mean_gradient(w)
    np.testing.assert_allclose(part.mean_gradient(w), expected_mean, rtol=1e-9)
    for index in (-1, high - low):
        with pytest.raises(InvalidInput, match=r"^stop must be from start to 43"):
            part.gradient(w, index)


def test_factors_are_those_of_the_records() -> None:
    in_memory, generated = sample_and_stream("logistic")
    w = np.full(D, 0.2)
    for rows in (in_memory.gradients(w), generated.gradients(w)):
        parts = list(rows.factors())
        formed = np.concatenate([p.coefficients[:, None] * p.base for p in parts])
        np.testing.assert_allclose(formed, rows.take(np.arange(N)), rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("problem", ["quadratic", "logistic"])
@pytest.mark.parametrize("distribution", ["spike", "hypercube"])
def test_hard_instances_are_generated_too(problem: str, distribution: str) -> None:
    in_memory, generated = sample_and_stream(problem, distribution)
    w = np.full(D, 0.2)
    expected = np.concatenate(list(in_memory.gradients(w).blocks()))
    gradients = np.concatenate(list(generated.gradients(w).blocks()))
    np.testing.assert_allclose(gradients, expected, rtol=1e-11, atol=1e-13)


def column_sums(rows: Any) -> Any:
    """Return the sum of the rows."""
    return np.sum([block.sum(axis=0) for block in rows.blocks()], axis=0)


@pytest.mark.parametrize("problem", ["least-squares", "geometric-median"])
def test_gradients_are_totalled_in_pieces_that_are_small_to_send(
    problem: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_memory, generated = sample_and_stream(problem)
    generated = generated.bounded(2.0)
    w = np.full(D, 0.2)
    expected = column_sums(in_memory.bounded(2.0).gradients(w))
    rows = generated.gradients(w)
    np.testing.assert_allclose(rows.total(column_sums), expected, rtol=1e-9)
    monkeypatch.setattr("dpsco_core.data.generated.PIECE_BLOCKS", 1)
    pieces = list(rows.pieces())
    assert len(pieces) == 3
    sent = [pickle.dumps(piece) for piece in pieces]
    assert max(map(len, sent)) < 3000
    total = sum(column_sums(pickle.loads(s)) for s in sent)
    np.testing.assert_allclose(total, expected, rtol=1e-9)


def test_reading_in_order_draws_every_block_once(monkeypatch: pytest.MonkeyPatch) -> None:
    _, generated = sample_and_stream("logistic")
    drawn_blocks: list[int] = []
    draw = module.SampleSource._draw
    monkeypatch.setattr(
        module.SampleSource, "_draw", lambda s, i, k: (drawn_blocks.append(i), draw(s, i, k))[1]
    )
    assert isinstance(generated, GeneratedSample)
    for low in range(0, N, 1000):
        generated.part(low, min(low + 1000, N)).mean_gradient(np.zeros(D))
    assert drawn_blocks == [0, 1, 2]
