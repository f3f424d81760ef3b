"""How large a scenario may be: in the library, and on the dashboard."""

import math
import os
from dataclasses import dataclass, fields, replace
from typing import Any

from dpsco_core.base.errors import InvalidInput, require

SEED_MAX = 2**63 - 1
EPSILON_MIN = 1e-6
RHO_MIN = EPSILON_MIN**2
M_MAX = 10_000_000
ITEM_BLOCKS = 5  # times `elements`: what all items of all users may hold
P_MAX = 50.0  # beyond, powers of a radius leave the range of a float


@dataclass(frozen=True, kw_only=True)
class Limits:
    """The largest sizes that a place allows."""

    # records and dimension
    n: int
    d: int
    elements: int  # n times d of one sample
    # repetitions, points of a grid, and cells (methods times points times trials)
    trials: int
    grid: int
    cells: int
    seconds: float  # predicted work in all
    where: str  # how the place is called in a sentence
    # n times d of one sample that is drawn as it is read, and never held; see `streamed`. Not above
    # `elements` where that is not done.
    streamed: int = 0
    cell_seconds: float = math.inf  # predicted work of a single cell: nobody waits for longer

    @property
    def most_elements(self) -> int:
        """The largest n times d of one sample, held or not."""
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
ENVIRONMENT = "DPSCO_LIMITS"  # changes the dashboard's: "n=200000,seconds=30"


def changed(limits: Limits, text: str) -> Limits:
    """Return `limits` with the largest sizes that a text names; raises `InvalidInput`."""
    known = [f.name for f in fields(Limits) if f.name not in ("where", "streamed")]
    must = f"sizes such as n=200000,seconds=30, each one of {', '.join(known)} and in its range"
    values: dict[str, Any] = {}
    for part in filter(None, map(str.strip, text.split(","))):
        name, _, value = part.partition("=")
        sound = name in known and value.isascii() and value.isdecimal() and len(value) <= 9
        sound = sound and 1 <= int(value) <= getattr(LIBRARY, name)
        require(sound, ENVIRONMENT, must, part[:60])
        values[name] = int(value)
    return replace(limits, **values)


_OWN = Limits(
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
    """Raise `InvalidInput` if the environment's limits are wrong: a server must not start so."""
    changed(_OWN, os.environ.get(ENVIRONMENT, ""))


try:
    DASHBOARD = changed(_OWN, os.environ.get(ENVIRONMENT, ""))
except InvalidInput:  # a server says so and does not start; nobody else needs these limits
    DASHBOARD = _OWN


def streamed(n: int, m: int, d: int) -> bool:
    """Whether a sample of n records (or users with m items) is drawn as it is read, never held."""
    return m == 1 and n * d > LIBRARY.elements
