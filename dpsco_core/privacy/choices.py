r"""What an exponential mechanism chooses: one of some candidates.

Noise is drawn when a `Ledger` has recorded the choice (`Ledger.select`).
"""

from dataclasses import dataclass
from typing import Protocol, TypeVar

import numpy as np

from dpsco_core.base.arrays import Vector
from dpsco_core.base.errors import require
from dpsco_core.privacy.checks import check_positive, check_release
from dpsco_core.privacy.entries import Entry, exponential_entry
from dpsco_core.privacy.mechanisms import exponential_choice

Chosen = TypeVar("Chosen", covariant=True)


class Selection(Protocol[Chosen]):
    """What `Ledger.select` releases."""

    def entry(self, label: str) -> Entry:
        """Return what a ledger records; raises `InvalidInput` for what cannot be chosen from."""
        ...

    def draw(self, rng: np.random.Generator) -> Chosen:
        """Return the choice."""
        ...


@dataclass(frozen=True, eq=False, kw_only=True)
class ExponentialChoice:
    r"""One candidate, j with probability :math:`\propto e^{b_j + \varepsilon s_j/(2\Delta)}`."""

    scores: Vector  # shape (candidates,): the exact scores s
    sensitivity: float  # largest change of any one of them between neighbours
    epsilon: float  # the choice is epsilon-DP, and :math:`\varepsilon^2/8`-zCDP
    # shape (candidates,): b, the logarithm of a base measure, which must not depend on the data
    log_base: Vector | None = None

    def entry(self, label: str) -> Entry:
        check_positive("sensitivity", self.sensitivity)
        check_positive("epsilon", self.epsilon)
        entry = exponential_entry(label, self.sensitivity, self.epsilon)
        check_release(self.scores, entry.noise)
        if self.log_base is not None:
            check_release(self.log_base, entry.noise)
            same = self.log_base.shape == self.scores.shape
            require(same, "log_base", f"of shape {self.scores.shape}", self.log_base.shape)
        return entry

    def draw(self, rng: np.random.Generator) -> int:
        """Return the place of the candidate."""
        weights = (self.scores - self.scores.max()) * (self.epsilon / (2 * self.sensitivity))
        return exponential_choice(
            weights if self.log_base is None else weights + self.log_base, rng
        )
