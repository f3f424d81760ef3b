r"""Deterministic minimisers over a convex set, each with a certificate of what it reached.

A certificate is an upper bound on :math:`J(w) - \min_W J` that follows from (sub)gradients alone.
Objective perturbation is private only if its minimiser keeps a promised accuracy for *every* data
set, so that `minimise_strongly_convex` returns nothing that is not certified.

The proofs suppose exact projections. A caller that relies on `residual_bound` must allow for the
errors of projections itself (`objective_plan.open_distance`). `certificate` needs only that points
lie in the set, which they do up to `ROUNDING`.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dpsco_core.base.arrays import Vector
from dpsco_core.base.coefficients import Coefficients
from dpsco_core.base.errors import require
from dpsco_core.base.interrupt import between_steps
from dpsco_core.geometry.ball import Ball
from dpsco_core.geometry.base import ConstraintSet

Gradient = Callable[[Vector], Vector]

ROUNDING = 1e-14  # A point at a smaller relative distance from the sphere counts as on the sphere.
CAUTION = 20  # If this many gradients do not halve the certificate, later steps are checked.
PATIENCE = 80  # the number of steps after which a heuristic gives up
CHECK_EVERY = 8  # the number of accelerated steps between two checks
# The typical number of gradients for smooth losses; on random scenarios it was 12 to 90.
USUAL_GRADIENTS = 40
# The number of gradients if the Hessian is a multiple of the identity: the first long step is
# exact.
FEW_GRADIENTS = 3
# The cost of a run without the solver: every Hessian is the same multiple of the identity.
CLOSED_FORM = Coefficients(fixed=1e5, per_row=9, per_element=0.7)


@dataclass(frozen=True, eq=False, kw_only=True)
class Certified:
    """A point with a bound on its distance from the optimal value."""

    value: Vector  # shape (d,): a point of the set
    accuracy: float  # an upper bound on J(value) - min J
    gradient_calls: int  # the number of full (sub)gradients that were computed


def certificate(constraint: ConstraintSet, w: Vector, g: Vector, modulus: float = 0.0) -> float:
    r"""Return a bound on :math:`J(w) - \min_W J` from the gradient g at a point w of the set.

    It is the Frank-Wolfe gap :math:`\langle g, w\rangle + h_W(-g)`, with :math:`h_W` the support
    function, plus its rounding. On a ball, and with strong convexity, it is `ball_certificate`
    where that is smaller.

    Examples
    --------
    >>> ball = Ball(d=2, radius=1.0)
    >>> certificate(ball, np.array([0.5, 0.0]), np.array([0.0, 0.1]), modulus=1.0)  # 0.1^2/2
    0.005000000000000001
    """
    # The second term is the rounding error of an inner product of d terms.
    rounding = ROUNDING + constraint.d * 2.0**-53
    size, norm = constraint.l2_radius, math.sqrt(float(g @ g))
    gap = max(0.0, float(g @ w) + constraint.support(-g)) + rounding * size * norm
    if modulus > 0 and isinstance(constraint, Ball):
        return min(gap, ball_certificate(constraint, w, g, modulus))
    return gap


def ball_certificate(ball: Ball, w: Vector, g: Vector, modulus: float) -> float:
    r"""Return a bound on :math:`J(w) - \min_W J` on a ball of radius r, for `modulus` mu > 0.

    It is the smaller one of the values at t = 0 and at the t >= 0 that makes :math:`g + tw`
    smallest of

    .. math:: t\|w\|(r - \|w\|) + \frac{\|g + tw\|^2}{2\mu},

    because :math:`\langle g, w-u\rangle \le t\langle w, u-w\rangle + \|g+tw\|\|u-w\|` and strong
    convexity subtracts :math:`\frac\mu2\|u-w\|^2`. It resolves much smaller errors than the gap,
    which loses digits to rounding on the sphere and is only of first order inside the ball. It is
    as exact as g is. A point within 1e-14 of the sphere counts as on it; a caller that relies on
    the distance to the minimiser must allow for that (`objective_plan.open_distance`).
    """
    inner = float(g @ w)
    bound = float(g @ g) / (2 * modulus)
    size = math.sqrt(float(w @ w))
    if inner < 0 and size > 0:
        t = -inner / size**2
        slack = ball.radius - size
        slack = 0.0 if slack < ROUNDING * ball.radius else slack
        rest = g + t * w
        bound = min(bound, t * size * slack + float(rest @ rest) / (2 * modulus))
    return bound


def residual_bound(u: Vector, g: Vector, v: Vector, step: float, modulus: float) -> float:
    r"""Return a bound on :math:`J(u) - \min_W J` from the gradient g at :math:`u = \Pi_W(v)`.

    :math:`(v - u)/s` is a normal of W at u for every s > 0 (`step`), so that with
    :math:`\rho = g + (v-u)/s` every z of W has :math:`\langle g, z-u\rangle \ge
    \langle\rho, z-u\rangle`. By strong convexity, :math:`\mu` = `modulus` > 0,

    .. math:: J(u) - \min_W J \le \frac{\|\rho\|^2}{2\mu},\qquad
        \|u - \arg\min_W J\| \le \frac{\|\rho\|}{\mu}.

    After a gradient step, v = w - s g(w), it is second order on every set, and free. An error
    of tau in the projection hides at most :math:`(M + 1/s)\tau` in :math:`\|\rho\|`, M the
    smoothness, and tau in the distance.
    """
    rest = g + (v - u) / step
    return float(rest @ rest) / (2 * modulus)


def minimise_strongly_convex(
    gradient: Gradient,
    constraint: ConstraintSet,
    *,
    smoothness: float,  # M, the smoothness of J on all of R^d, for every data set
    modulus: float,  # mu > 0, the strong convexity of J on all of R^d, for every data set
    accuracy: float,  # positive, and large enough to be certified by gradients with twelve digits
) -> Certified:
    r"""Minimise a strongly convex function to a certified accuracy, for every data set.

    It first takes spectral projected gradients, which adapt to the actual curvature. If they stall,
    it takes accelerated projected gradients with the certified constants, whose suboptimality h
    falls by a factor :math:`1-\sqrt{\mu/M}` a step. On a ball, a gap of at most `accuracy` follows
    from :math:`h \le \text{accuracy}^2/(2M(2r)^2)`; on other sets, where `certify_settled`
    certifies, it is enough that :math:`h \le \text{accuracy}\,\mu/M`. The loop ends for every
    accuracy that is well above rounding (theory/su-zhao-wang.md, 2.0).

    The result is within :math:`\sqrt{2\,\text{accuracy}/\mu}` of the minimiser.
    """
    require(0 < modulus <= smoothness, "modulus", f"in (0, {smoothness}]", modulus)
    require(accuracy > 0, "accuracy", "positive", accuracy)
    ball = isinstance(constraint, Ball)
    start = spectral_descent(
        gradient,
        constraint,
        accuracy=accuracy if ball else accuracy / 2,
        modulus=modulus,
        smallest_step=1 / smoothness,
        largest_step=1 / modulus,
    )
    if ball and start.accuracy <= accuracy:
        return start
    root = math.sqrt(modulus / smoothness)
    momentum = (1 - root) / (1 + root)
    x = y = start.value
    calls = start.gradient_calls
    while True:
        checked = certify_settled(gradient, constraint, x, smoothness, modulus)
        calls += checked.gradient_calls
        if checked.accuracy <= accuracy:
            return Certified(value=checked.value, accuracy=checked.accuracy, gradient_calls=calls)
        for _ in range(CHECK_EVERY):
            between_steps()
            new = constraint.project(y - gradient(y) / smoothness)
            x, y = new, new + momentum * (new - x)
        calls += CHECK_EVERY


def certify_settled(
    gradient: Gradient, constraint: ConstraintSet, w: Vector, smoothness: float, modulus: float
) -> Certified:
    r"""Return w or the point after one gradient step of length 1/M, whichever is certified better.

    M is `smoothness`. Among steps for which an error tau of the projection hides at most
    :math:`2M\tau` in `residual_bound`, this one is the shortest. It does not undo what
    a longer step has reached: :math:`\rho = (\bar H - M)(u - w)` with a mean Hessian
    :math:`0 \le \bar H \le M`, and :math:`M\|u - w\|` is at most the norm of every subgradient of
    J plus the indicator of W at w. A ball has its own certificate, and needs no step.
    """
    g = gradient(w)
    bound = certificate(constraint, w, g, modulus)
    if isinstance(constraint, Ball):
        return Certified(value=w, accuracy=bound, gradient_calls=1)
    v = w - g / smoothness
    u = constraint.project(v)
    residual = residual_bound(u, gradient(u), v, 1 / smoothness, modulus)
    if residual <= bound:
        return Certified(value=u, accuracy=residual, gradient_calls=2)
    return Certified(value=w, accuracy=bound, gradient_calls=2)


def spectral_descent(
    gradient: Gradient,
    constraint: ConstraintSet,
    *,
    accuracy: float = 0.0,
    # The accuracy as a share of the certificate at the start; the larger of both accuracies counts.
    relative_accuracy: float = 0.0,
    modulus: float = 0.0,
    smallest_step: float = 0.0,
    largest_step: float = math.inf,
    limit: int = 1000,
) -> Certified:
    """Minimise by projected gradients with Barzilai and Borwein's (1988) two step sizes in turn.

    It is fast on smooth losses of any curvature and takes one gradient a step, but has no
    guarantee: it stops at the accuracy, at the limit, or where the certificate has stalled, and
    returns the best point. Where slopes saturate (Huber's loss, a logistic one far out) the step
    sizes can cycle for ever: once the certificate has not halved for a while, the steps go on from
    the best point and are shortened to where the loss stops falling (`shorten_step`).
    """
    w, size = constraint.centre, constraint.l2_radius
    steps_certify = modulus > 0 and not isinstance(constraint, Ball)
    g = gradient(w)
    best = Certified(value=w, accuracy=certificate(constraint, w, g, modulus), gradient_calls=1)
    target = max(accuracy, relative_accuracy * best.accuracy)
    best_g, halved, halved_at, cautious = g, best.accuracy, 1, False
    norm = math.sqrt(float(g @ g))
    step = max(smallest_step, min(largest_step, size / norm if norm > 0 else 1.0))
    calls = 1
    while best.accuracy > target and calls < limit and calls - halved_at < PATIENCE:
        between_steps()
        if not cautious and calls - halved_at >= CAUTION:
            cautious, w, g = True, best.value, best_g
        v = w - step * g
        new = constraint.project(v)
        g_new = gradient(new)
        calls, extra_calls = calls + 1, 0
        if cautious:
            new, g_new, extra_calls = shorten_step(gradient, w, g, new, g_new, limit - calls)
            calls += extra_calls
        s, y = new - w, g_new - g
        w, g = new, g_new
        bound = certificate(constraint, w, g, modulus)
        if steps_certify and extra_calls == 0:
            bound = min(bound, residual_bound(w, g, v, step, modulus))
        if bound < best.accuracy:
            best, best_g = Certified(value=w, accuracy=bound, gradient_calls=calls), g
            if bound < halved / 2:
                halved, halved_at = bound, calls
        square, inner = float(s @ s), float(s @ y)
        if square == 0:
            break
        if inner > 1e-16 * square * max(smallest_step, 1e-300):
            step = square / inner if calls % 2 else inner / float(y @ y)
        else:
            step *= 100  # The loss has no curvature along s: it is linear there.
        step = max(smallest_step, min(largest_step, step, 1e12 * size))
    return Certified(value=best.value, accuracy=best.accuracy, gradient_calls=calls)


def shorten_step(
    gradient: Gradient, w: Vector, g: Vector, new: Vector, g_new: Vector, call_limit: int
) -> tuple[Vector, Vector, int]:
    r"""Return a point on the way from w to `new`, its gradient, and the number of gradients taken.

    At that point the loss still falls, or hardly rises.

    The step along s = new - w is shortened by the secant of the slope, which is exact on a
    quadratic. Where the slope at the end is at most 0, a convex loss has fallen along the whole
    step. A slope of at most a hundredth of the one at the start is accepted too.
    """
    s, calls, fraction = new - w, 0, 1.0
    falls = -float(g @ s)
    while calls < call_limit and (rises := float(g_new @ s)) > 0.01 * falls > 0:
        fraction *= falls / (falls + rises)
        new = w + fraction * s
        g_new = gradient(new)
        calls += 1
    return new, g_new, calls


def staged_subgradients(
    gradient: Gradient,
    constraint: ConstraintSet,
    *,
    step_size: float,  # the step size of the first stage
    relative_accuracy: float,  # the accuracy as a share of the certificate at the start
    limit: int,  # the largest number of subgradients
) -> Certified:
    r"""Minimise a convex loss with kinks by stages of projected subgradients with shrinking steps.

    A stage starts from the last one's average with half its step size. With subgradients
    :math:`g_t` at :math:`w_t`, the average :math:`\bar w` of a stage's second half is certified by

    .. math:: J(\bar w) - \min_W J \le \frac1m\sum_t\langle g_t, w_t\rangle
        + h_W\Big(-\frac1m\sum_t g_t\Big),

    since J(u) is at least the average of :math:`J(w_t) + \langle g_t, u - w_t\rangle`, and
    :math:`J(\bar w)` at most that of :math:`J(w_t)`.
    """
    w = constraint.centre
    g = gradient(w)
    start_accuracy = certificate(constraint, w, g)
    best = Certified(value=w, accuracy=start_accuracy, gradient_calls=1)
    calls, length = 1, 16
    while best.accuracy > relative_accuracy * start_accuracy and calls + length <= limit:
        averaged = length // 2
        total, slope, products = np.zeros(constraint.d), np.zeros(constraint.d), 0.0
        for t in range(length):
            between_steps()
            g = gradient(w)
            if t >= length - averaged:
                total += w
                slope += g
                products += float(g @ w)
            w = constraint.project(w - step_size * g)
        calls += length
        w, slope = total / averaged, slope / averaged
        bound = max(0.0, products / averaged + constraint.support(-slope))
        if bound < best.accuracy:
            best = Certified(value=w, accuracy=bound, gradient_calls=calls)
        step_size, length = step_size / 2, math.ceil(1.2 * length)
    return Certified(value=best.value, accuracy=best.accuracy, gradient_calls=calls)
