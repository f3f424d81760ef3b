r"""How much one user can change the results of a `RobustFilter`: facts F1 to F6.

Neighbours replace one of K points by any other, including broken ones. All facts are deterministic
unless a failure probability is named (theory/lowy-liu-asi.md, 2.0). They use:

- (F2) Two points with :math:`p_j, p_k > 0` have more than :math:`aK \ge K/2` neighbours each,
  so they share one: :math:`\|q_j - q_k\| \le 2\rho_h`. A broken point has one neighbour, itself,
  and :math:`p = 0`.
- (F3, form A) If :math:`s \ge bK`, the point with most neighbours has at least s of them within
  :math:`\rho_s`, pairwise within :math:`2\rho_s \le \rho_h`; so each of these has
  :math:`h \ge s \ge bK` and p = 1.
- (F3', form B) :math:`p \ge (u-a)/(1-a)` at :math:`u = h/K \le 1`, and the mean of u is at least
  s/K; so :math:`\sum p_j \ge (s - aK)/(1-a)`.
"""

import math

from scipy.special import bdtrc

from dpsco_core.base.errors import require
from dpsco_core.privacy.filter.robust_mean import SLACK, RobustFilter

# The sensitivity of the score by F1, for every K, with a margin for the rounding of s.
SCORE_SENSITIVITY = 2.0


def inclusion_slope(keep: RobustFilter, count: int) -> float:
    r"""Return F4, the largest change of another point's p: :math:`\min(1, 1/((b-a)K))`.

    Replacing one point changes every other count by at most 1, and the inclusion has that slope.
    """
    check_size(count)
    return min(1.0, 1 / ((keep.upper - keep.lower) * count))


def weight_floor(keep: RobustFilter, count: int, score_floor: float) -> float:
    r"""Return a lower bound on :math:`\sum_j p_j` if the score is at least `score_floor`.

    In form A with :math:`s_{min} \ge bK` it is :math:`s_{min}` (F3). Otherwise it is
    :math:`(s_{min}-aK)/(1-a)` (F3'), which may be negative and then says nothing. In form A at
    least `score_floor` points have p = 1 exactly, so the bound also holds for coins.
    """
    check_size(count)
    if keep.form == "A" and score_floor >= keep.upper * count:
        return score_floor
    return (score_floor - keep.lower * count) / (1 - keep.lower)


def weights_sensitivity(keep: RobustFilter, count: int, score_floor: float) -> float:
    r"""Return F6, the l2 sensitivity of the weighted mean; infinite if none is proven.

    .. math:: \Delta_w = \frac{2\rho_h}{W_{min}}\big(2 + (K-1)s\big)
        \quad\text{provided}\quad W_{min} > 1 + \frac{(K-1)s}2,
        \quad s=\min\{1,\tfrac1{(b-a)K}\},

    between neighbours whose scores are both at least `score_floor`.

    *Proof.* Say point 1 is replaced. Let :math:`\alpha_1 = 0`, else
    :math:`\alpha_j = \min(p_j, p_j')`, :math:`A = \sum\alpha`, and W, W' the totals of p, p'. By F4
    :math:`(W-A) + (W'-A) = p_1 + p_1' + \sum_{j\ne1}|p_j-p_j'| \le 2 + (K-1)s`. With
    W, W' at least :math:`W_{min}` the proviso makes A > 0. In each world the mean is
    :math:`(A\bar q_\alpha + (W-A)\bar q_{p-\alpha})/W`, of averages over points with p > 0, which
    are pairwise within :math:`2\rho_h` (F2): it differs from :math:`\bar q_\alpha`, common to both
    worlds, by at most :math:`2\rho_h(W-A)/W`. Add the two.

    Without the proviso the formula fails: K = 3, b = 1, equal radii, points 0 and D, and a third
    that moves from 0 to D.
    """
    floor = weight_floor(keep, count, score_floor)
    total_move = (count - 1) * inclusion_slope(keep, count)
    if not floor > 1 + total_move / 2:
        return math.inf
    return diameter(keep) / floor * (2 + total_move)


def sharp_weights_sensitivity(keep: RobustFilter, count: int, score_floor: float) -> float:
    r"""Return a smaller l2 sensitivity of the weighted mean than F6; about half for large K.

    With :math:`A_{min} = W_{min} - 1 - (K-1)s/2 > 0`, F6's proviso, and its s,

    .. math:: \Delta = \frac{\rho_h}{W_{min}}\Big(
        2\max_{a\le u\le1} p(u)\big(1+\min\{1, \tfrac{(1-u)K}{A_{min}}\}\big)
        + s\big(K-1+\min\{K-1, \tfrac{K(K-s_{min})}{A_{min}}\}\big)\Big).

    At b = 1 it tends to :math:`4\rho_h/K` as :math:`s_{min}` tends to K, where F6 tends to
    :math:`8\rho_h/K`.

    *Proof.* As for F6, with a sharper distance of a point from :math:`\bar q_\alpha`. A point with
    p > 0 is within :math:`\rho_h` of its neighbours, and within :math:`2\rho_h` of all others of
    positive weight (F2). Those others number at most :math:`K - h_j`, at weights
    :math:`\alpha \le 1`, so that
    :math:`\|q_j-\bar q_\alpha\| \le \rho_h(1+\min\{1, (K-h_j)/A\})`. The replaced point adds, in
    each world, its own p times that. Any other adds at most s times that, in the
    world where it has more neighbours; there and in the other one
    :math:`\sum_{j\ne1}(K-h_j) \le K^2 - \sum_jh_j \le K(K-s) \le K(K-s_{min})`.
    """
    plain = weights_sensitivity(keep, count, score_floor)
    if math.isinf(plain):
        return plain
    floor, slope = weight_floor(keep, count, score_floor), inclusion_slope(keep, count)
    common = floor - 1 - (count - 1) * slope / 2
    other_pulls = slope * (count - 1 + min(count - 1, count * (count - score_floor) / common))
    own_pull = _largest_pull(keep, count / common)
    return min(plain, diameter(keep) / 2 / floor * (2 * own_pull + other_pulls))


def _largest_pull(keep: RobustFilter, ratio: float) -> float:
    r"""Return :math:`\max_u p(u)(1+\min\{1,(1-u)r\})` over u in [a, 1], exactly.

    With r = `ratio`, it increases below u = 1 - 1/r, is a concave parabola between there and b, and
    decreases above b.
    """
    a, b = keep.lower, keep.upper
    bend = min(max(a, 1 - 1 / ratio), b)
    vertex = (1 + ratio * (1 + a)) / (2 * ratio)
    places = (bend, min(max(vertex, bend), b), b)
    return max((u - a) / (b - a) * (1 + min(1.0, (1 - u) * ratio)) for u in places)


def changed_members(
    keep: RobustFilter,
    count: int,
    failure: float,  # :math:`\zeta_B`, the failure probability, in [1e-290, 1)
) -> int:
    r"""Return the smallest Q with :math:`P[Bin(K-1, 1/((b-a)K)) > Q] \le` `failure`.

    With common coins at most Q memberships of the other points differ between neighbours, except
    with that probability: they are independent, each of probability at most F4. The binomial
    survival function is stepped upwards, because library inverses fail below 1e-16.
    """
    check_failure(failure)
    slope = inclusion_slope(keep, count)
    changed = 0
    while changed < count - 1 and bdtrc(changed, count - 1, slope) * (1 + 1e-9) > failure:
        changed += 1
    return changed


def member_floor(
    keep: RobustFilter, count: int, score_floor: float, failure: float | None
) -> float:
    r"""Return the least number of members chosen by coins, except with probability `failure`.

    In form A with :math:`s_{min} \ge bK` it is always :math:`s_{min}`. Otherwise it is
    :math:`W_{min} - \sqrt{K\log(1/\zeta_S)/2}` (Hoeffding), and `failure` is :math:`\zeta_S`.

    Raises `InvalidInput` if it is needed and None.
    """
    floor = weight_floor(keep, count, score_floor)
    if sure_members(keep, count, score_floor):
        return floor
    require(failure is not None, "failure", "given where no member is sure", failure)
    assert failure is not None
    check_failure(failure)
    return floor - math.sqrt(-count * math.log(failure) / 2)


def sure_members(keep: RobustFilter, count: int, score_floor: float) -> bool:
    """Return whether F3 (theory/lowy-liu-asi.md, 2.0) holds.

    At least `score_floor` points are then members of the mean with probability 1.
    """
    return keep.form == "A" and score_floor >= keep.upper * count


def coins_sensitivity(
    keep: RobustFilter,
    count: int,
    score_floor: float,
    *,
    failure: float,
    size_failure: float | None = None,
) -> float:
    r"""Return F5, the l2 sensitivity of the mean by coins; infinite if none is proven.

    .. math:: \Delta = \frac{2\rho_h}{M}(2 + Q) \quad\text{provided}\quad M > 1 + Q/2

    with Q of `changed_members` and M of `member_floor`: between neighbours whose scores are both at
    least `score_floor`, under common coins, but with probability `failure` (plus `size_failure` for
    each of the two worlds, unless `sure_members` makes the number of members certain).

    *Proof.* Let S, S' be the members, and A those of both except the replaced point. Without it
    at most Q memberships differ, so :math:`|S - A| + |S' - A| \le 2 + Q`, and the proviso makes A
    non-empty. As in F6, mean(S) differs from mean(A) by at most :math:`2\rho_h|S-A|/|S|`.
    """
    floor = member_floor(keep, count, score_floor, size_failure)
    changed = changed_members(keep, count, failure)
    if not floor > 1 + changed / 2:
        return math.inf
    return diameter(keep) / floor * (2 + changed)


def diameter(keep: RobustFilter) -> float:
    r"""Return F2, the largest distance of two points with positive inclusion, :math:`2\rho_h`.

    It has room for the slack of the radius and for rounding.
    """
    return 2 * keep.filter_radius * (1 + 2 * SLACK)


def check_size(count: int) -> None:
    """Raise `InvalidInput` unless the number of points is an integer of at least 2."""
    require(isinstance(count, int) and count >= 2, "count", "an integer of at least 2", count)


def check_failure(failure: float) -> None:
    """Raise `InvalidInput` unless a failure probability is at least 1e-290 and below 1."""
    require(1e-290 <= failure < 1, "failure", "at least 1e-290 and below 1", failure)
