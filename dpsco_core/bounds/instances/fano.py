r"""Fano's method for private algorithms: Theorem 1.4 of Kamath et al. (2022) and its relatives.

All functions return a lower bound on the error averaged over a packing of N parameters at pairwise
l2 distance at least r: :math:`\frac r2 p_e` on :math:`E\|\hat\theta-\theta\|_2`, or
:math:`\frac{r^2}4p_e` on its square, where :math:`p_e` bounds the chance of decoding the wrong
word. They bind every algorithm of the named privacy class and hold for any packing.
"""

import math

from dpsco_core.base.errors import require
from dpsco_core.base.root import find_root
from dpsco_core.base.valley import lowest_between

LOG_2 = math.log(2)


def decoding_error(packing_size_log: float, information: float, *, exact: bool = False) -> float:
    r"""Return Fano's lower bound on the probability of decoding the wrong word.

    .. math:: p_e\ge\Big[1-\frac{I+\ln2}{\ln N}\Big]_+

    Parameters
    ----------
    packing_size_log : float
        :math:`\ln N\ge0`.
    information : float
        Bound I >= 0 on the mutual information in nats; may be infinite.
    exact : bool
        Solve :math:`h(p_e)+p_e\ln(N-1)=\ln N-I` instead of bounding the entropy h by ln 2.

    Examples
    --------
    >>> round(decoding_error(10.0, 3.0), 6), round(decoding_error(10.0, 3.0, exact=True), 6)
    (0.630685, 0.634342)
    """
    require(packing_size_log >= 0, "packing_size_log", "at least 0", packing_size_log)
    require(information >= 0, "information", "at least 0", information)
    if packing_size_log < LOG_2 - 1e-12 or information >= packing_size_log:
        return 0.0
    plain = max(0.0, 1 - (information + LOG_2) / packing_size_log)
    if not exact:
        return plain
    log_rest = packing_size_log + math.log(-math.expm1(-packing_size_log))
    top = -math.expm1(-packing_size_log)

    def excess(error: float) -> float:
        """Return by how much an error probability exceeds what Fano's inequality asks, in nats."""
        entropy = -error * math.log(error) - (1 - error) * math.log1p(-error) if error > 0 else 0.0
        return entropy + error * log_rest - (packing_size_log - information)

    if excess(top) <= 0:
        return top
    root = float(find_root(excess, 0.0, top, xtol=1e-15))
    return max(plain, root * (1 - 1e-12))


def fano_coupling(
    packing_size_log: float,
    separation: float,
    squared_distance: float,
    rho: float,
    *,
    squared: bool = False,
    exact: bool = False,
) -> float:
    r"""Return Fano's bound for rho-zCDP algorithms from couplings of the n-fold laws.

    .. math:: E\|\hat\theta-\theta\|_2\ge\frac r2\Big[1-\frac{\rho D_2+\ln2}{\ln N}\Big]_+

    The general form of Kamath et al. (2022), Theorem 1.4.

    Parameters
    ----------
    packing_size_log : float
        :math:`\ln N`.
    separation : float
        Least l2 distance r of two parameters.
    squared_distance : float
        :math:`D_2`: every two n-fold laws have a coupling with :math:`E d_{Ham}^2\le D_2`.
    rho : float
        Positive.
    squared : bool
        Bound the squared error, with :math:`r^2/4` for :math:`r/2`.
    exact : bool
        See `decoding_error`.
    """
    require(separation >= 0, "separation", "at least 0", separation)
    require(squared_distance >= 0, "squared_distance", "at least 0", squared_distance)
    require(rho > 0, "rho", "positive", rho)
    error = decoding_error(packing_size_log, rho * squared_distance, exact=exact)
    return _error_of_wrong_word(separation, squared) * error


def fano_cdp(
    packing_size_log: float,
    separation: float,
    total_variation: float,
    kl: float,
    n: int,
    rho: float,
    *,
    squared: bool = False,
    exact: bool = False,
) -> float:
    r"""Return Fano's inequality for concentrated DP and n independent samples.

    .. math::
        E\|\hat\theta-\theta\|_2\ge\frac r2\max\Big\{1-\frac{n\beta+\ln2}{\ln N},\
        1-\frac{\rho(n^2\alpha^2+n\alpha(1-\alpha))+\ln2}{\ln N},\ 0\Big\}

    Kamath et al. (2022), Theorem 1.4, with the divergence of the n-fold laws (n beta, where the
    paper prints the divergence of one sample) and a repaired proof.

    Raises `InvalidInput` for a value outside its range.

    Parameters
    ----------
    packing_size_log : float
        :math:`\ln N`, N the number of words.
    separation : float
        Least l2 distance r of two parameters.
    total_variation : float
        Bound alpha in [0, 1] on the total variation of two single-sample laws.
    kl : float
        Bound beta on their Kullback-Leibler divergence; infinite if there is none.
    n : int
        Samples.
    rho : float
        Positive.
    squared : bool
        Bound the squared error, with :math:`r^2/4` for :math:`r/2`.
    exact : bool
        See `decoding_error`.

    Examples
    --------
    >>> round(fano_cdp(25 * LOG_2, 1.0, 1e-3, math.inf, 1000, 0.5), 7)
    0.4511605
    """
    require(n >= 1, "n", "a positive integer", n)
    require(0 <= total_variation <= 1, "total_variation", "between 0 and 1", total_variation)
    require(kl >= 0, "kl", "at least 0", kl)
    require(rho > 0, "rho", "positive", rho)
    require(separation >= 0, "separation", "at least 0", separation)
    information = min(n * kl, rho * mean_squared_count(n, total_variation))
    error = decoding_error(packing_size_log, information, exact=exact)
    return _error_of_wrong_word(separation, squared) * error


def fano_pure(
    packing_size_log: float,
    separation: float,
    distance: float,
    epsilon: float,
    *,
    t: float | None = None,
    squared: bool = False,
) -> float:
    r"""Return Fano's bound for epsilon-DP algorithms, by Markov's inequality and group privacy.

    .. math:: p_e\ge\Big(1-\frac1t\Big)\frac{N-1}{N-1+e^{t\varepsilon D}},\qquad t>1

    See theory/kamath-liu-zhang.md, 4.2.

    Parameters
    ----------
    packing_size_log : float
        :math:`\ln N`.
    separation : float
        Least l2 distance r of two parameters.
    distance : float
        D: every two n-fold laws have a coupling with :math:`E d_{Ham}\le D`.
    epsilon : float
        Positive.
    t : float or None
        Above 1; None takes the best one.
    squared : bool
        Bound the squared error, with :math:`r^2/4` for :math:`r/2`.

    Examples
    --------
    >>> round(fano_pure(25 * LOG_2, 1.0, 1.0, 0.5, t=10.0), 6)
    0.449998
    """
    require(packing_size_log >= 0, "packing_size_log", "at least 0", packing_size_log)
    require(separation >= 0, "separation", "at least 0", separation)
    require(distance >= 0, "distance", "at least 0", distance)
    require(epsilon > 0, "epsilon", "positive", epsilon)
    require(t is None or t > 1, "t", "above 1", t)
    if packing_size_log < LOG_2 - 1e-12:
        return 0.0
    log_rest = packing_size_log + math.log(-math.expm1(-packing_size_log))
    exponent = epsilon * distance

    def error(log_excess: float) -> float:
        """Return the bound on the decoding error at t = 1 + exp(`log_excess`)."""
        excess = math.exp(log_excess)
        return excess / (1 + excess) * _sigmoid(log_rest - (1 + excess) * exponent)

    if t is not None:
        return _error_of_wrong_word(separation, squared) * error(math.log(t - 1))
    if exponent == 0:
        return _error_of_wrong_word(separation, squared) * _sigmoid(log_rest)
    # Any t gives a valid bound. The grid of values of ln(t - 1) is centred at this guess.
    guess = 0.5 * math.log(max(1.0, log_rest) / exponent)
    grid = [guess + 0.5 * i for i in range(-40, 41)]
    centre = max(grid, key=error)
    place, _ = lowest_between(lambda x: -error(x), centre - 0.5, centre + 0.5, tolerance=1e-9)
    return _error_of_wrong_word(separation, squared) * max(error(place), error(centre))


def mean_squared_count(n: int, p: float) -> float:
    """Return the mean square of a binomial count of n trials, n^2 p^2 + n p (1 - p)."""
    return (n * p) ** 2 + n * p * (1 - p)


def _error_of_wrong_word(separation: float, squared: bool) -> float:
    """Return the least error of an answer that decodes to a wrong word at this separation.

    It is half the separation, or the square of that if `squared`.
    """
    return separation**2 / 4 if squared else separation / 2


def _sigmoid(x: float) -> float:
    """Return the logistic function of x."""
    return 1 / (1 + math.exp(-x)) if x >= 0 else math.exp(x) / (1 + math.exp(x))
