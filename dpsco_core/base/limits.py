"""The largest scenarios that the library and the dashboard allow."""

import math
import os
from dataclasses import dataclass, fields, replace
from typing import Any

from dpsco_core.base.errors import InvalidInput, require

SEED_MAX = 2**63 - 1
EPSILON_MIN = 1e-6
RHO_MIN = EPSILON_MIN**2
M_MAX = 10_000_000
# With several items per user, n m d may be up to this multiple of `Limits.elements`.
ITEM_BLOCKS = 5
P_MIN = 1.1  # For p closer to 1 the law of large numbers needs more records than are allowed.
P_MAX = 50.0  # For larger p the powers of a radius overflow.


@dataclass(frozen=True, kw_only=True)
class Limits:
    """The largest sizes that a place allows."""

    # the largest numbers of records and of dimensions
    n: int
    d: int
    elements: int  # the largest n times d of one sample
    # the largest numbers of repetitions, of points of a grid, and of cells (methods times points
    # times trials)
    trials: int
    grid: int
    cells: int
    seconds: float  # the largest predicted time of all work together
    where: str  # the name of the place with these limits, in a sentence
    # The largest n times d of a sample that is drawn while it is read and never held in memory (see
    # `streamed`); it is at most `elements` if the place does not stream samples.
    streamed: int = 0
    cell_seconds: float = math.inf  # the largest predicted time of a single cell

    @property
    def most_elements(self) -> int:
        """The largest n times d of one sample, held or streamed."""
        return max(self.elements, self.streamed)


LIBRARY = Limits(
    n=10**9,
    d=100_000,
    elements=400_000_000,
    streamed=10**11,
    trials=100_000,
    grid=1000,
    cells=10**8,
    seconds=math.inf,
    where="the library",
)
# The environment variable that changes the dashboard's limits, as in "n=200000,seconds=30".
ENVIRONMENT = "DPSCO_LIMITS"


def changed(limits: Limits, text: str) -> Limits:
    """Return `limits` with the sizes that a text such as ``"n=200000,seconds=30"`` sets.

    Raises `InvalidInput` for a name, or a number, that is not allowed.
    """
    field_names = [f.name for f in fields(Limits) if f.name not in ("where", "streamed")]
    condition = (
        f"sizes such as n=200000,seconds=30, each one of {', '.join(field_names)} and in its range"
    )
    values: dict[str, Any] = {}
    for part in filter(None, map(str.strip, text.split(","))):
        name, _, value = part.partition("=")
        is_valid = name in field_names and value.isascii() and value.isdecimal() and len(value) <= 9
        is_valid = is_valid and 1 <= int(value) <= getattr(LIBRARY, name)
        require(is_valid, ENVIRONMENT, condition, part[:60])
        values[name] = int(value)
    return replace(limits, **values)


_DASHBOARD_DEFAULTS = Limits(
    n=1_000_000,
    d=1000,
    elements=2_000_000,
    trials=200,
    grid=12,
    cells=5000,
    seconds=120.0,
    cell_seconds=10.0,
    where="the dashboard",
)


def require_environment() -> None:
    """Raise `InvalidInput` if the environment's limits are wrong; a server then does not start."""
    changed(_DASHBOARD_DEFAULTS, os.environ.get(ENVIRONMENT, ""))


try:
    DASHBOARD = changed(_DASHBOARD_DEFAULTS, os.environ.get(ENVIRONMENT, ""))
# `require_environment` stops a server whose limits are wrong; nothing else needs these limits.
except InvalidInput:
    DASHBOARD = _DASHBOARD_DEFAULTS


def streamed(n: int, m: int, d: int) -> bool:
    """Return whether a sample of n users with m items in d dimensions is too large to be held.

    Such a sample is drawn while it is read.
    """
    return m == 1 and n * d > LIBRARY.elements
