"""Words find the nearest free place of a figure, as a search of every place would."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from dpsco_app.figure.place import CLEAR, STEP, Bools, Lengths, free_place, levels_at

PANEL, SIZE = (300.0, 200.0), (60.0, 18.0)


def distance(box: tuple[float, float, float, float], paths: list[list[tuple[float, float]]]) -> int:
    """Return the whole pixels between a box and the lines, of those that `free_place` draws."""
    left, bottom, right, top = box
    points = np.concatenate(
        [
            a + np.linspace(0, 1, 400)[:, None] * (np.array(b) - a)
            for path in paths
            for a, b in pairwise(path)
        ]
    )
    away = np.maximum(
        np.maximum(left - points[:, 0], points[:, 0] - right),
        np.maximum(bottom - points[:, 1], points[:, 1] - top),
    )
    return int(np.floor(away.min()))


@pytest.mark.parametrize("seed", range(5))
def test_words_keep_clear_of_lines_and_no_allowed_place_is_nearer(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x = np.linspace(0, PANEL[0], 4)
    paths = [list(zip(x, rng.uniform(20, 180, 4), strict=True)) for _ in range(2)]
    want = (float(rng.uniform(0, 240)), float(rng.uniform(0, 180)))
    asked: list[int] = []

    def left_half(left: Lengths, bottom: Lengths) -> Bools:
        asked.append(len(left))
        allowed: Bools = left + SIZE[0] <= PANEL[0] / 2
        return allowed

    corner = free_place(SIZE, PANEL, paths, want, left_half, enough=CLEAR)
    assert len(asked) == 1
    steps = [np.arange(4, PANEL[i] - SIZE[i] - 3, STEP) for i in (0, 1)]
    near = [
        (float(np.hypot(a - want[0], b - want[1])), (float(a), float(b)))
        for a in steps[0]
        if a + SIZE[0] <= PANEL[0] / 2
        for b in steps[1]
    ]
    # A line runs through pixels and not between them: a place is free for sure a pixel farther.
    free = [
        p
        for p in near
        if distance((*p[1], p[1][0] + SIZE[0], p[1][1] + SIZE[1]), paths) > CLEAR + 1
    ]
    if corner is None:
        assert not free
        return
    assert corner[0] + SIZE[0] <= PANEL[0] / 2
    box = (*corner, corner[0] + SIZE[0], corner[1] + SIZE[1])
    assert distance(box, paths) >= CLEAR - 2
    assert np.hypot(corner[0] - want[0], corner[1] - want[1]) <= min(free, default=(np.inf,))[0]


def test_where_nothing_is_allowed_there_is_no_place() -> None:
    assert free_place(SIZE, PANEL, [], (0, 0), lambda left, _: left < 0) is None


def test_a_line_goes_on_level_beyond_its_ends() -> None:
    heights = levels_at([(0, 1), (2, 5)], np.array([-1.0, 1.0, 3.0]))
    assert heights.tolist() == [1, 3, 5]
