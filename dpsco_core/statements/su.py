"""Su, Zhao and Wang (2023): see theory/su-zhao-wang.md, 2.1 and 2.2."""

import math


def algorithm_1_noise(lipschitz: float, epsilon: float, delta: float) -> float:
    r"""Return the standard deviation of the noise on the objective in Algorithms 1 and 2.

    It is :math:`\sigma_1=L\sqrt{128\ln(2.5/\delta)}/\varepsilon`, L the Lipschitz constant.
    """
    return lipschitz * math.sqrt(128 * math.log(2.5 / delta)) / epsilon


def algorithm_1_output_noise(accuracy: float, ridge: float, epsilon: float, delta: float) -> float:
    r"""Return the standard deviation of the noise on the output of Algorithm 1.

    It is :math:`\sigma_2=\sqrt{64\alpha\ln(2.5/\delta)/\lambda}/\varepsilon`, with :math:`\alpha`
    the accuracy and :math:`\lambda` the weight of the ridge.
    """
    return math.sqrt(64 * accuracy * math.log(2.5 / delta) / ridge) / epsilon


def theorem_2_ridge(n: int, lipschitz: float, diameter: float) -> float:
    r"""Return the weight of the ridge in Theorem 2, :math:`\lambda=L/(\sqrt n\,M)`.

    L is the Lipschitz constant of the loss, and M the diameter of the constraint set.
    """
    return lipschitz / (math.sqrt(n) * diameter)
