r"""The exponential mechanism: it chooses one of some candidates by their scores."""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from dpsco_core.base.arrays import Vector
from dpsco_core.base.errors import require
from dpsco_core.privacy.checks import check_positive, check_release
from dpsco_core.privacy.concentration import choice_rho
from dpsco_core.privacy.entries import Entry
from dpsco_core.privacy.mechanisms.noise import exponential_choice, gumbel_noise_scale


@dataclass(frozen=True, eq=False, kw_only=True)
class Exponential:
    r"""A choice of j with probability :math:`\propto e^{b_j + \varepsilon s_j/(2\Delta)}`.

    The value is s, the exact scores, shape (candidates,); what is released is the place j.
    """

    label: ClassVar[str] = "choice"

    sensitivity: float  # the largest change of any one score between neighbours
    epsilon: float  # the choice is epsilon-DP, and zCDP with the rho of `choice_rho`
    # Shape (candidates,): b, the logarithm of a base measure; it must not depend on the data.
    log_base: Vector | None = None

    def __post_init__(self) -> None:
        """Refuse a sensitivity or an epsilon that is not positive."""
        check_positive("sensitivity", self.sensitivity)
        check_positive("epsilon", self.epsilon)

    def entry(self, value: Vector, label: str) -> Entry:
        r"""Return the ledger's entry of a choice by the scores `value`.

        Its rho is that of `choice_rho`: its log-ratios span at most epsilon, the base measure
        cancels (theory/adaptive-methods.md, 1.2). Raises `InvalidInput` unless the scores, and the
        base measure if there is one, are finite and of the same shape.
        """
        noise = gumbel_noise_scale(self.sensitivity, self.epsilon)
        check_release(value, noise)
        if self.log_base is not None:
            check_release(self.log_base, noise)
            same = self.log_base.shape == value.shape
            require(same, "log_base", f"of shape {value.shape}", self.log_base.shape)
        return Entry(
            mechanism="exponential",
            label=label,
            sensitivity=self.sensitivity,
            proven_sensitivity=self.sensitivity,
            noise=noise,
            size=1,
            rho=choice_rho(self.epsilon),
            epsilon=self.epsilon,
        )

    def draw(self, value: Vector, rng: np.random.Generator) -> int:
        """Return the index of the chosen candidate."""
        weights = (value - value.max()) * (self.epsilon / (2 * self.sensitivity))
        return exponential_choice(
            weights if self.log_base is None else weights + self.log_base, rng
        )


class PrivateChoice(NamedTuple):
    """A mechanism with the scores that it chooses by: ``ledger.release(*choice, rng)``."""

    mechanism: Exponential
    scores: Vector
