"""Regular spaces: how smooth the dual of l_q^d is, which determines noise and mirror maps."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from dpsco_core.base.errors import require
from dpsco_core.geometry.norms import dual_exponent, norm_ratio


@dataclass(frozen=True, kw_only=True)
class RegularSpace:
    r"""The parameters' space :math:`\ell_q^d`, 1 <= q <= 2, and the regularity of its dual.

    The dual norm :math:`\|\cdot\|_{q'}`, q' = q/(q - 1), is approximated by the smooth norm
    :math:`\|\cdot\|_r`, r = min{q', 2 ln d + 1}, with

    .. math:: \|x+y\|_r^2 \le \|x\|_r^2 + \langle\nabla\|x\|_r^2, y\rangle + (r-1)\|y\|_r^2,
       \qquad \|x\|_{q'}^2 \le \|x\|_r^2 \le d^{2(1/r-1/q')} \|x\|_{q'}^2.

    Su, Zhao and Wang (2023), Definition 3, with the exact constant of theory/su-zhao-wang.md, 1.4.
    The printed constant, `printed_kappa`, lacks a factor of up to e in the logarithmic branch.

    Examples
    --------
    >>> space = RegularSpace(d=100, exponent=1.05)
    >>> space.branch, round(space.smooth_exponent, 4), round(space.kappa, 4)
    ('logarithmic', 10.2103, 14.6406)
    """

    d: int  # dimension, at least 1
    # The exponent q, in [1, 2]. The paper calls it p, and excludes 1, where every constant is
    # continuous.
    exponent: float

    def __post_init__(self) -> None:
        """Refuse a dimension below 1, and an exponent outside [1, 2]."""
        require(isinstance(self.d, int) and self.d >= 1, "d", "a positive integer", self.d)
        require(1 <= self.exponent <= 2, "exponent", "between 1 and 2", self.exponent)

    @cached_property
    def dual(self) -> float:
        """The exponent q' = q/(q - 1) of the gradients' norm, in [2, infinity]."""
        return dual_exponent(self.exponent)

    @cached_property
    def branch(self) -> Literal["power", "logarithmic"]:
        """Which of the two candidates for r is the smaller: q' ("power") or 2 ln d + 1."""
        return "power" if self.d == 1 or self.smooth_exponent == self.dual else "logarithmic"

    @cached_property
    def smooth_exponent(self) -> float:
        """The exponent r of the smooth dual norm; 2 in one dimension, where all norms agree."""
        return 2.0 if self.d == 1 else min(self.dual, 2 * math.log(self.d) + 1)

    @property
    def mirror_exponent(self) -> float:
        """The exponent s = r/(r - 1) of the mirror map; q itself in the branch "power"."""
        if self.d == 1:
            return 2.0
        return self.exponent if self.branch == "power" else 1 + 1 / self.kappa_plus

    @cached_property
    def kappa_plus(self) -> float:
        """The constant of smoothness of the smooth norm, r - 1."""
        if self.d == 1:
            return 1.0
        return 1 / (self.exponent - 1) if self.branch == "power" else 2 * math.log(self.d)

    @cached_property
    def distortion(self) -> float:
        r"""The largest ratio :math:`\|x\|_r^2/\|x\|_{q'}^2 = d^{2(1/r-1/q')}`; 1 if r = q'."""
        if self.branch == "power":
            return 1.0
        return norm_ratio(self.d, self.smooth_exponent, self.dual) ** 2

    @cached_property
    def kappa(self) -> float:
        """The exact constant of regularity, `kappa_plus` times `distortion`."""
        return self.kappa_plus * self.distortion

    @property
    def printed_kappa(self) -> float:
        """The constant min{1/(q - 1), 2 ln d} that the paper prints: too small if logarithmic."""
        if self.d == 1:
            return 1.0
        logarithmic = 2 * math.log(self.d)
        return logarithmic if self.exponent == 1 else min(1 / (self.exponent - 1), logarithmic)

    @property
    def l2_ratio(self) -> float:
        r"""The factor :math:`\max \|x\|_2/\|x\|_{q'} = d^{1/2-1/q'}`.

        It turns a sensitivity in the dual norm into one in l2.
        """
        return norm_ratio(self.d, 2.0, self.dual)
