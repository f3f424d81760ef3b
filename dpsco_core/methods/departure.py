"""Where a method runs in another form than its paper prints."""

from dataclasses import dataclass
from typing import Literal

# The origin of a method: an algorithm that its paper prints; an algorithm that the paper describes
# without printing it; or a simple algorithm that serves for comparison.
Source = Literal["printed", "reconstructed", "baseline"]


@dataclass(frozen=True, kw_only=True)
class Departure:
    """A difference between a method and the printed algorithm, besides noise and tuning."""

    tag: str  # a few words for a legend, such as "one block"
    text: str  # the departure in one sentence
    practical: bool = False  # whether only the practical tuning departs from the paper


ONE_BLOCK = Departure(
    tag="one block",
    text="A single block stands in for the median of several: it is a mean of clipped entries.",
    practical=True,
)
FULL_BATCH = Departure(
    tag="full batch",
    text="Every step takes all records, where the paper samples some.",
)
WHOLE_PHASES = Departure(
    tag="full batch",
    text="Every step takes all users of a phase, or with few steps a half or a quarter; the "
    "printed batches hold more users than a phase has.",
)
