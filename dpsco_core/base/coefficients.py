"""Coefficients of a running time that grows with rows, columns and elements."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Coefficients:
    """Nanoseconds on the reference machine: fixed, and per row, column and element.

    `benchmarks/cost.py` fits them; `dpsco_core.runs.cost` scales them to the machine at hand.
    """

    fixed: float
    per_row: float
    per_element: float
    per_column: float = 0.0

    def seconds(self, n: int, d: int) -> float:
        """Return the predicted seconds for n rows of d columns on the reference machine."""
        fixed = self.fixed + self.per_row * n + self.per_column * d
        return 1e-9 * (fixed + self.per_element * n * d)
