r"""Bounds on the moments of a direction, from the moments of independent coordinates."""

import math


def symmetric_direction_bound(d: int, order: float) -> float:
    r"""Bound the p-th moment, as a root, of a direction of d independent symmetric coordinates.

    .. math:: \sup_{\|u\|_2=1} \Big(E\big|\textstyle\sum_j u_j X_j\big|^p\Big)^{1/p}
        \le \min\Big(\sqrt d,\ \sqrt2\,\big(\Gamma(\tfrac{p+1}2)/\sqrt\pi\big)^{1/p}\Big),
        \qquad E|X_j|^p \le 1,\ p \ge 2.

    The second value is :math:`\|Z\|_p` of a standard normal Z; it is 1 at p = 2.

    For 1 < p < 2 it is :math:`d^{1/p-1/2}`.

    Examples
    --------
    >>> symmetric_direction_bound(20, 2.0)
    1.0
    >>> round(symmetric_direction_bound(16, 1.5) ** 6, 12)  # 16^(1/6) to the sixth
    16.0
    >>> round(symmetric_direction_bound(20, 4.0) ** 4, 12)
    3.0
    """
    # The bound sqrt(d) follows from Minkowski's inequality, since the l1 norm of a unit vector is
    # at most sqrt(d).
    #
    # The other bound: X_j has the law of e_j |X_j| with independent signs e_j. Given the |X_j|,
    # Khintchine's inequality with its sharp constant (Haagerup 1981, p >= 2) gives
    #     E_e |sum_j e_j u_j |X_j||^p <= ||Z||_p^p (sum_j u_j^2 X_j^2)^(p/2),
    # and since the u_j^2 are weights that sum to 1 and t -> t^(p/2) is convex,
    #     (sum_j u_j^2 X_j^2)^(p/2) <= sum_j u_j^2 |X_j|^p,
    # whose expectation is at most 1.
    #
    # Below 2, Clarkson's inequality |x+y|^p + |x-y|^p <= 2|x|^p + 2|y|^p and the symmetry of each
    # new term give E|sum_j u_j X_j|^p <= sum_j |u_j|^p <= d^(1-p/2).
    if order < 2:
        return math.pow(d, 1 / order - 0.5)
    return 1.0 if order == 2 else min(math.sqrt(d), normal_norm(order))


def centred_direction_bound(d: int, order: float) -> float:
    r"""Bound the p-th moment, as a root, of a direction of d independent centred coordinates.

    .. math:: \sup_{\|u\|_2=1} \Big(E\big|\textstyle\sum_j u_j X_j\big|^p\Big)^{1/p}
        \le \min\big(\sqrt d,\ \sqrt{p-1}\big), \qquad E X_j = 0,\ E|X_j|^p \le 1,\ p \ge 2.

    The second value is Rio's inequality (2009, Theorem 2.1). Symmetrisation would give
    :math:`2\|Z\|_p`, which is larger for every p. For 1 < p < 2 it is :math:`\sqrt d` or
    :math:`2^{2/p-1}d^{1/p-1/2}`, whichever is less.

    Examples
    --------
    >>> centred_direction_bound(20, 2.0), centred_direction_bound(20, 5.0)
    (1.0, 2.0)
    """
    # Let A and B have E[B | A] = 0, and g(t) = E|A + tB|^p, f = g^(2/p) = ||A + tB||_p^2. Then
    # f'(0) = 0, and since 2/p - 1 <= 0, Hoelder's inequality gives
    #     f'' <= (2/p) g^(2/p-1) p(p-1) E|A + tB|^(p-2) B^2 <= 2 (p-1) ||B||_p^2,
    # hence ||A + B||_p^2 <= ||A||_p^2 + (p-1) ||B||_p^2. Add the u_j X_j one at a time:
    #     ||sum_j u_j X_j||_p^2 <= u_1^2 + (p-1) sum_{j>1} u_j^2 <= p-1.
    #
    # Below 2, |x+y|^p <= |x|^p + f'(x) y + 2^(2-p) |y|^p for f = |x|^p (von Bahr and Esseen), so
    # that E|sum_j u_j X_j|^p <= 2^(2-p) sum_j |u_j|^p <= 2^(2-p) d^(1-p/2).
    if order < 2:
        return min(math.sqrt(d), math.pow(2.0, 2 / order - 1) * math.pow(d, 1 / order - 0.5))
    return min(math.sqrt(d), math.sqrt(order - 1))


def normal_norm(order: float) -> float:
    r"""Return :math:`\|Z\|_k = (E|Z|^k)^{1/k}` of a standard normal Z, for k > 0."""
    return math.exp(log_normal_moment(order) / order)


def log_normal_moment(k: float) -> float:
    r"""Return :math:`\log E|Z|^k = \log(2^{k/2}\,\Gamma(\frac{k+1}2)/\sqrt\pi)`, Z normal."""
    return 0.5 * k * math.log(2) + math.lgamma(0.5 * (k + 1)) - math.lgamma(0.5)
