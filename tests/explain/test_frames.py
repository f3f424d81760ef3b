"""Frames of a run: its plane, the risk's contours in it, and the gradients at each of its
points.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dpsco_core.explain.anatomy import (
    clipped_plan,
    descent_path,
    draw_problem,
    gradient_norms,
    risk_path,
    single_runs,
)
from dpsco_core.explain.frames import (
    ASPECT,
    Frames,
    contours,
    frames,
    has_frames,
    level_pieces,
    plane_of,
)
from dpsco_core.problems import SCO_PROBLEMS
from dpsco_core.scenario import Scenario

POINT = Scenario(problem="linear", methods=("sco.clipped",), n=500, d=3, p=2.0)


def frames_of_run(point: Scenario, method: str = "sco.clipped") -> Frames:
    """Return the frames of a single run of a method."""
    return frames(point, single_runs(point, method))


def test_the_runs_are_that_of_the_method_and_its_steps_without_noise() -> None:
    runs = single_runs(POINT, "sco.clipped")
    descent, radius = clipped_plan(POINT)
    alone_paths = {
        "private": risk_path(POINT, "sco.clipped"),
        "clipped": descent_path(POINT, descent, radius),
        "exact": descent_path(POINT, descent, None),
    }
    assert list(runs) == list(alone_paths)
    for name, path in alone_paths.items():
        assert (runs[name].points == path.points).all() and runs[name].final == path.final
    assert list(single_runs(POINT, "sco.phased-sgd")) == ["private", "exact"]
    # Clipped gradients need a Gaussian budget, and stochastic descent has no full gradients.
    assert list(single_runs(replace(POINT, delta=0.0), "sco.sgd")) == ["private"]


def test_the_plane_holds_the_start_and_the_best_parameter() -> None:
    problem, _ = draw_problem(POINT)
    frame = frames_of_run(POINT)
    plane, (low, high) = frame.plane, frame.views[0].box
    assert plane.axes @ plane.axes.T == pytest.approx(np.eye(2), abs=1e-12)
    for point in (problem.constraint.centre, problem.minimiser):
        assert plane.point(plane.project(point)) == pytest.approx(point, abs=1e-12)
    assert frame.best == pytest.approx([np.linalg.norm(problem.minimiser), 0.0], abs=1e-12)
    assert (high - low)[0] == pytest.approx(ASPECT * (high - low)[1])
    for path in frame.runs.values():
        places = plane.project(np.vstack([path.points, path.value]))
        assert ((low < places) & (places < high)).all()


def test_the_second_direction_is_that_of_the_largest_spread() -> None:
    """If the first direction were removed wrongly, the second would turn towards it."""
    rng = np.random.default_rng(0)
    wide = rng.standard_normal((200, 4)) * [5.0, 0.1, 3.0, 0.1]
    plane = plane_of(np.zeros(4), np.array([2.0, 0.0, 0.0, 0.0]), wide)
    assert plane.axes[0] == pytest.approx([1, 0, 0, 0])
    assert plane.axes[1] == pytest.approx([0, 0, 1, 0], abs=0.05)
    shares = (wide @ plane.axes.T) ** 2
    assert plane.share_in_plane == pytest.approx(shares.sum() / (wide**2).sum())


@pytest.mark.parametrize("d", [1, 2, 5])
def test_a_run_on_a_line_or_at_a_point_still_has_a_plane(d: int) -> None:
    start, best = np.zeros(d), np.zeros(d)
    best[-1] = 2.0
    for points, target in (
        (np.outer([0.1, 0.5], best), best),
        (np.outer([0.1, 0.5], best), start),
        (np.zeros((3, d)), start),
    ):
        plane = plane_of(start, target, points)
        gram = plane.axes @ plane.axes.T
        assert gram == pytest.approx(np.diag([1.0, float(d > 1)]), abs=1e-12)
        assert plane.share_in_plane == pytest.approx(1.0)


def test_contours_of_a_quadratic_are_its_circles() -> None:
    problem, _ = draw_problem(replace(POINT, problem="quadratic"))
    best = problem.minimiser
    plane = plane_of(np.zeros(3), best, np.array([[0.0, 1.0, -1.0]]))
    box = np.array([[-1.0, -1.0], [3.0, 2.0]])
    circles = contours(problem, plane, box)
    assert len(circles) >= 4
    for contour in circles:
        radii = np.linalg.norm(contour.pieces - plane.project(best), axis=-1)
        # The excess risk is half the squared distance.
        assert radii == pytest.approx(np.sqrt(2 * contour.level), rel=0.03)


@pytest.mark.parametrize("problem", [pytest.param(p, marks=pytest.mark.slow) for p in SCO_PROBLEMS])
def test_the_risk_on_every_contour_is_its_level(problem: str) -> None:
    point = replace(POINT, problem=problem, n=2000, d=5, p=3.0)
    problem_drawn, _ = draw_problem(point)
    frame = frames_of_run(point)
    assert all(view.contours for view in frame.views)
    for contour in (contour for view in frame.views for contour in view.contours):
        for place in contour.pieces[:: max(1, len(contour.pieces) // 6), 0]:
            risk = problem_drawn.excess_risk(frame.plane.point(place)).value
            assert risk == pytest.approx(contour.level, rel=0.1)


def test_a_zoomed_view_contains_the_later_steps_and_the_best_parameter() -> None:
    frame = frames_of_run(replace(POINT, problem="least-squares", n=5000))
    (low, high), (near_low, near_high) = (view.box for view in frame.views)
    assert (near_high - near_low < 0.6 * (high - low)).all()
    private = frame.runs["private"]
    late_points = private.points[private.steps >= private.steps[-1] / 3]
    places = np.vstack([frame.plane.project(late_points), frame.best])
    assert (
        len(late_points) < len(private.points)
        and ((near_low < places) & (places < near_high)).all()
    )


def test_segments_of_a_level_lie_where_a_linear_function_attains_it() -> None:
    x, y = np.linspace(0, 2, 5), np.linspace(0, 1, 4)
    pieces = level_pieces(x, y, x[:, None] + 2 * y, 1.3)
    assert len(pieces) and pieces[..., 0] + 2 * pieces[..., 1] == pytest.approx(1.3)
    lengths = np.linalg.norm(pieces[:, 1] - pieces[:, 0], axis=1)
    # The segments lead from (0, 0.65) to (1.3, 0) without a gap.
    assert lengths.sum() == pytest.approx(np.hypot(1.3, 0.65))
    assert level_pieces(x, y, np.zeros((5, 4)), 1.0).shape == (0, 2, 2)


def test_the_edge_is_that_of_the_ball_in_the_plane() -> None:
    problem, _ = draw_problem(POINT)
    distances = np.linalg.norm(frames_of_run(POINT).edge, axis=1)
    assert distances == pytest.approx(problem.constraint.l2_radius, rel=0.02)


def test_a_frame_has_the_lengths_of_the_gradients_at_the_private_iterate() -> None:
    point = replace(POINT, problem="least-squares")
    frame = frames_of_run(point)
    private = frame.runs["private"]
    assert frame.norms.shape == (len(private.points), 400) and has_frames(private)
    for k in (0, -1):
        assert frame.norms[k] == pytest.approx(gradient_norms(point, private.points[k])[:400])
    assert frame.radius == clipped_plan(point)[1]
    low, high = frame.reach
    assert low <= frame.radius / 8 and high >= max(8 * frame.radius, frame.norms.max())


def test_a_run_of_a_single_step_or_none_has_no_frames() -> None:
    for problem, method in (("quadratic", "sco.clipped"), ("linear", "sco.objective-perturbation")):
        path = risk_path(replace(POINT, problem=problem), method)
        assert len(path.points) == 2 and not has_frames(path)
