"""The estimated time left of a run, tested on recorded times."""

from __future__ import annotations

import pytest

from dpsco_core.runs.time_left import Kind, TimeLeft

# Each method has, for each point of the axis, the predicted seconds, those of trial 1, and those of
# later trials.
LOGISTIC = {
    "erm": [
        *((0.0086, 0.083, 0.013), (0.0089, 0.015, 0.013), (0.0094, 0.015, 0.013)),
        *((0.011, 0.018, 0.015), (0.013, 0.02, 0.017), (0.018, 0.026, 0.023)),
        (0.033, 0.053, 0.043),
    ],
    "clipped": [
        *((0.0085, 0.013, 0.012), (0.0087, 0.014, 0.012), (0.0095, 0.014, 0.013)),
        *((0.012, 0.016, 0.014), (0.015, 0.019, 0.016), (0.018, 0.022, 0.018)),
        (0.036, 0.04, 0.036),
    ],
}
# The first cell of mirror descent computes what all cells need; phased SGD refuses every point.
MIRROR = {
    "mirror": [
        *((0.0082, 0.33, 0.021), (0.014, 0.04, 0.045), (0.025, 0.084, 0.14)),
        *((0.058, 0.15, 0.14), (0.11, 0.29, 0.3), (0.22, 0.52, 0.48), (0.55, 0.35, 0.34)),
    ],
    "refused": [(w, 2e-4, 3e-4) for w in (0.0034, 0.0065, 0.013, 0.031, 0.062, 0.12, 0.31)],
    "phased": [
        *((0.0031, 0.006, 0.0042), (0.0056, 0.012, 0.016), (0.011, 0.027, 0.026)),
        *((0.026, 0.11, 0.082), (0.052, 0.19, 0.22), (0.1, 0.4, 0.38), (0.26, 0.58, 0.58)),
    ],
}


def replay(recorded: dict[str, list[tuple[float, float, float]]], trials: int) -> list[list[float]]:
    """Return after every cell the seconds so far, the seconds left, and the estimate of the seconds
    left.
    """
    points = len(next(iter(recorded.values())))
    order = [
        (Kind(method=name, key=x, predicted=row[x][0]), row[x][1 if trial == 0 else 2])
        for trial in range(trials)
        for x in range(points)
        for name, row in recorded.items()
    ]
    time_left = TimeLeft(kind for kind, _ in order)
    whole, spent, stages = sum(seconds for _, seconds in order), 0.0, []
    for kind, seconds in order:
        time_left.record(kind, seconds)
        spent += seconds
        stages.append([spent, whole - spent, time_left.seconds])
    return stages


@pytest.mark.parametrize(
    ("recorded", "trials", "warm_up", "factor"),
    [(LOGISTIC, 20, 1.0, 1.2), (MIRROR, 10, 3.0, 1.5), (MIRROR, 10, 6.0, 1.1)],
)
def test_the_time_left_is_within_a_factor_soon_after_the_start(
    recorded: dict[str, list[tuple[float, float, float]]],
    trials: int,
    warm_up: float,
    factor: float,
) -> None:
    """The cases are a machine half as fast as predicted, one-off work at the start, and a method
    that refuses.
    """
    predictions = [
        (left, said) for spent, left, said in replay(recorded, trials) if spent > warm_up
    ]
    assert len(predictions) > 20
    for remaining, predicted in predictions:
        assert remaining / factor - 0.05 <= predicted <= remaining * factor + 0.05


def test_before_anything_has_run_the_time_left_is_the_prediction() -> None:
    kinds = [Kind(method="a", key=x, predicted=1.0 + x) for x in range(3)]
    assert TimeLeft(kinds).seconds == pytest.approx(6.0)
    assert TimeLeft([]).seconds == 0.0


def test_known_cells_do_not_count_as_quick_ones() -> None:
    """Cached cells say nothing about the time of new cells of the same method."""
    stored_cells = [Kind(method="a", key=("known", x), predicted=3e-4) for x in range(50)]
    new = Kind(method="a", key="new", predicted=1.0)
    time_left = TimeLeft([*stored_cells, new, new])
    for kind in stored_cells:
        time_left.record(kind, 1e-5)
    assert time_left.seconds == pytest.approx(2.0, rel=0.01)
    time_left.record(new, 3.0)
    assert time_left.seconds == pytest.approx(3.0)
