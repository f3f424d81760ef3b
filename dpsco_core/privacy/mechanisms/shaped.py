r"""The generalized Gaussian mechanism: noise shaped to the dual norm of the parameters' space.

Su, Zhao and Wang (2023), Definition 4 and Lemmas 3 and 4; the constants are those of
theory/su-zhao-wang.md, 1.8 and 2.8. A `Ledger` releases a `Shaped`, and opens `ShapedSteps`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, Literal

import numpy as np
from scipy.special import gammaln

from dpsco_core.base.arrays import Vector, real_array
from dpsco_core.base.errors import require
from dpsco_core.geometry.regular_space import RegularSpace
from dpsco_core.privacy.amplification import amplify
from dpsco_core.privacy.checks import check_count, check_noise, check_positive, check_release
from dpsco_core.privacy.entries import Entry, MechanismName
from dpsco_core.privacy.mechanisms.noise import (
    add_gaussian_noise,
    gaussian_noise_std,
    generalized_gaussian_noise,
    generalized_gaussian_noise_scale,
)
from dpsco_core.privacy.mechanisms.steps import Steps
from dpsco_core.privacy.shuffled_steps import ShuffledSteps

Noise = Literal["generalized gaussian", "gaussian"]
Calibration = Literal["paper", "tight"]


@dataclass(frozen=True)
class Shaped:
    r"""A release of one vector whose sensitivity is stated in the dual norm of a space.

    Generalized Gaussian noise of density :math:`\propto e^{-\|z\|_r^2/(2\sigma^2)}` has

    .. math:: D_a(P \| P') \le a\,\frac{\kappa s^2}{2\sigma^2},

    so that it is rho-zCDP at :math:`\sigma^2 = \kappa s^2/(2\rho)`; for r > 2 it is not known to
    have the curve of a Gaussian.
    """

    label: ClassVar[str] = "value"

    norm: RegularSpace  # the space of the parameters, with d, the smooth exponent r and kappa
    # The largest change s of the value between neighbours, in the dual norm of `norm`.
    sensitivity: float
    rho: float  # the share of the budget
    # ``"gaussian"`` uses :math:`N(0, \sigma^2 I)` instead, calibrated to the l2 sensitivity
    # :math:`d^{1/2-1/q'}s`: its proven expected squared dual norm is no larger at equal rho.
    noise: Noise = "generalized gaussian"
    # ``"paper"`` uses the printed kappa, which is up to e times too small in the logarithmic
    # branch; the release is then marked as flawed.
    calibration: Calibration = "tight"

    def __post_init__(self) -> None:
        """Refuse parameters that are not positive, and an unknown noise or calibration."""
        check_positive("sensitivity", self.sensitivity)
        check_positive("rho", self.rho)
        is_known = self.noise in ("generalized gaussian", "gaussian")
        require(is_known, "noise", "'generalized gaussian' or 'gaussian'", self.noise)
        allowed = ("tight",) if self.noise == "gaussian" else ("tight", "paper")
        require(
            self.calibration in allowed,
            "calibration",
            f"one of {', '.join(allowed)} with {self.noise} noise",
            self.calibration,
        )

    @cached_property  # One mechanism serves all steps of a run, so this is computed once.
    def noise_scale(self) -> float:
        """The scale sigma; the standard deviation per coordinate of Gaussian noise."""
        if self.noise == "gaussian":
            return gaussian_noise_std(self.norm.l2_ratio * self.sensitivity, self.rho)
        kappa = self.norm.kappa if self.calibration == "tight" else self.norm.printed_kappa
        return generalized_gaussian_noise_scale(self.sensitivity, kappa, self.rho)

    @property
    def dual_square_bound(self) -> float:
        r"""Bound on the expected squared dual norm of the noise.

        Generalized Gaussian: :math:`d\sigma^2`, an equality for the smooth norm (Lemma 4).
        Gaussian: :math:`d\sigma^2 \min\{m_{q'}^{2/q'}d^{2/q'-1}, c^2 m_r^{2/r} d^{2/q'-1}\}` with
        :math:`m_k = E|\xi|^k` and c^2 the distortion.
        """
        d, space = self.norm.d, self.norm
        if self.noise == "generalized gaussian":
            return d * self.noise_scale**2
        through_smooth = space.distortion * _moment_root(space.smooth_exponent) ** 2
        dual = space.dual
        direct = math.inf if math.isinf(dual) else _moment_root(dual) ** 2
        unit = d * self.sensitivity**2 / (2 * self.rho)
        return unit * min(direct, through_smooth)

    def proven(
        self,
        allowed: float,  # the rho that the release may spend
    ) -> Shaped:
        r"""Return the same noise with its proven rho, if that is at most `allowed`.

        With the printed kappa it is :math:`\rho\kappa/\kappa_{printed}`. A paper's calibration may
        leave room for the ratio; where it does not, the release stays as it is, and is flawed.

        Examples
        --------
        >>> space = RegularSpace(d=100, exponent=1.05)
        >>> printed = Shaped(space, 1.0, lemma_3_rho(0.1, 1e-6), calibration="paper")
        >>> proven = printed.proven(allowed=3.2e-4)
        >>> proven.calibration, round(proven.rho / printed.rho, 4)
        ('tight', 1.5896)
        >>> math.isclose(proven.noise_scale, printed.noise_scale)
        True
        """
        if self.calibration == "tight":
            return self
        rho = self.rho * (self.norm.kappa / self.norm.printed_kappa)
        return replace(self, rho=rho, calibration="tight") if rho <= allowed else self

    def entry(self, value: Vector, label: str) -> Entry:
        """Return the ledger's entry for the release of `value`.

        Raises `InvalidInput` unless `value` is finite and of shape (d,).
        """
        check_release(value, self.noise_scale)
        require(value.shape == (self.norm.d,), "value", f"of shape ({self.norm.d},)", value.shape)
        return self.unchecked_entry(label)

    def unchecked_entry(self, label: str) -> Entry:
        """Return the ledger's entry of one release whose value is checked elsewhere."""
        if self.noise == "gaussian":
            sensitivity = proven = self.norm.l2_ratio * self.sensitivity
        else:
            sensitivity = self.sensitivity
            factor = 1.0
            if self.calibration == "paper":
                factor = max(1.0, self.norm.kappa / self.norm.printed_kappa)
            proven = math.sqrt(factor) * sensitivity
        return Entry(
            mechanism=self.noise,
            label=label,
            sensitivity=sensitivity,
            proven_sensitivity=proven,
            noise=self.noise_scale,
            size=self.norm.d,
            rho=self.rho,
        )

    @property
    def noise_exponent(self) -> float:
        """The exponent r of the noise's density; 2 is Gaussian noise."""
        return 2.0 if self.noise == "gaussian" else self.norm.smooth_exponent

    def draw(self, value: Vector, rng: np.random.Generator) -> Vector:
        """Return `value` plus noise, shape (d,)."""
        if self.noise == "gaussian":
            return add_gaussian_noise(value, self.noise_scale, rng)
        shape, exponent = (1, value.size), self.norm.smooth_exponent
        noisy: Vector = (
            real_array("value", value)
            + generalized_gaussian_noise(shape, exponent, self.noise_scale, rng)[0]
        )
        return noisy


@dataclass(frozen=True, kw_only=True)
class ShapedSteps:
    """Steps on one record or batch each, every one with the noise of `release`.

    Without a certificate that amplifies they are accounted for like `GaussianSteps`: by the
    release's rho in all. With one they are accounted for like `ShuffledGaussianSteps`, by its
    epsilon and delta.
    """

    label: ClassVar[str] = "steps on disjoint records"

    release: Shaped
    steps: int
    # The certificate of steps on one record each, in secret random order. It must be for as many
    # steps and, unless the noise is Gaussian, for the curve ``"zcdp"``; its rho per step must be
    # at least that of the release.
    certificate: ShuffledSteps | None = None

    def entries(self, label: str) -> tuple[Entry, ...]:
        """Return the ledger's entries: one for all steps.

        Raises `InvalidInput` if the certificate does not cover these steps and this noise.
        """
        release, certificate = self.release, self.certificate
        check_count("steps", self.steps)
        check_noise(release.noise_scale)
        entry = replace(release.unchecked_entry(label), disjoint_blocks=self.steps)
        if certificate is None or not certificate.amplified:
            return (entry,)
        fits = self.steps == certificate.steps and release.rho <= certificate.rho_step
        covered = release.noise == "gaussian" or certificate.curve == "zcdp"
        require(fits and covered, "certificate", "that of these steps and this noise", certificate)
        shuffled: MechanismName = (
            "shuffled gaussian" if release.noise == "gaussian" else "shuffled generalized gaussian"
        )
        return (
            replace(
                entry,
                mechanism=shuffled,
                rho=0.0,
                epsilon=certificate.epsilon,
                delta=certificate.delta,
            ),
        )

    def open(self) -> Steps:
        """Return the object that draws the noise of the steps."""
        return Steps(
            steps=self.steps,
            size=self.release.norm.d,
            noise_std=self.release.noise_scale,
            exponent=self.release.noise_exponent,
        )


def lemma_3_rho(epsilon: float, delta: float) -> float:
    r"""Return :math:`\varepsilon^2/(4\ln(1/\delta))`, the rho for which Lemma 3 calibrates noise.

    :math:`\sigma^2 = 2\kappa\ln(1/\delta)s^2/\varepsilon^2`. It is (epsilon, delta)-DP for
    epsilon <= 1 and delta <= 0.9, and not for every larger epsilon (theory/su-zhao-wang.md, 1.8).

    Raises `InvalidInput` for other values.

    Examples
    --------
    >>> round(lemma_3_rho(1.0, 1e-5), 6)
    0.021715
    """
    require(0 < epsilon <= 1, "epsilon", "above 0 and at most 1 for Lemma 3", epsilon)
    require(0 < delta <= 0.9, "delta", "above 0 and at most 0.9 for Lemma 3", delta)
    return epsilon**2 / (-4 * math.log(delta))


def lemma_3_steps(steps: int, epsilon: float, delta: float) -> ShuffledSteps | None:
    r"""Return the guarantee that Lemma 3, shuffled as in Theorem 9, gives each of `steps` steps.

    The closed form of Feldman, McMillan and Talwar gives :math:`(\varepsilon_0, \delta_0)`, and
    Lemma 3 the noise: the theorem's :math:`\sigma_1^2` with its constant made explicit
    (theory/su-zhao-wang.md, 2.5). None where nothing is amplified, and where Lemma 3 does not hold.

    Examples
    --------
    >>> shuffled = lemma_3_steps(10_000, 0.1, 1e-6)
    >>> round(2 / shuffled.rho_step)  # sigma_1^2 over kappa (beta M + lambda)^2
    736
    """
    shuffled = amplify(steps, epsilon, delta, "closed")
    if shuffled is None or shuffled.epsilon_group > 1:
        return None
    return ShuffledSteps(
        steps=steps,
        rho_step=lemma_3_rho(shuffled.epsilon_group, shuffled.delta_group),
        epsilon=epsilon,
        delta=delta,
        epsilon_step=shuffled.epsilon_group,
        delta_step=shuffled.delta_group,
        amplified=True,
        curve="zcdp",
    )


def _moment_root(exponent: float) -> float:
    r"""Return :math:`(E|\xi|^k)^{1/k}` for a standard normal variable and an exponent k."""
    k = exponent
    log_moment = k / 2 * math.log(2) + float(gammaln((k + 1) / 2)) - math.log(math.pi) / 2
    return math.exp(log_moment / k)
