"""The table of the sharpest constants: the best explicit bounds of either kind, side by side."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

from dpsco_core.explain.tables.matrix import BUDGETS
from dpsco_core.explain.window import Notion, Window, window
from dpsco_core.scenario import Scenario

PROBLEMS = ("mean", "linear")
SIZES = ((1000, 8), (10_000, 20), (100_000, 100))  # the pairs of n and d in the table
ORDERS = (2.0, 3.0, 4.0)
DIAMETER = 2.0  # the diameter of the l2 ball of means and of parameters


@dataclass(frozen=True, kw_only=True)
class ConstantsRow:
    """The best explicit bounds at one setting: coordinate moments of 1, and R = 1."""

    problem: str
    notion: Notion
    n: int
    d: int
    p: float
    window: Window

    @property
    def command(self) -> str:
        """The command that evaluates both bounds again."""
        budget = " ".join(
            f"--{name} {value:g}"
            for name, value in BUDGETS[self.notion].items()
            if value is not None
        )
        return (
            f"dpsco bounds --problem {self.problem} --n {self.n} --d {self.d} --p {self.p:g} "
            f"--diameter {DIAMETER:g} {budget}"
        )


def scenario_of(problem: str, notion: Notion, n: int, d: int, p: float) -> Scenario:
    """Return the scenario, without methods, for which a row of constants is computed."""
    fields: dict[str, Any] = dict(BUDGETS[notion])
    return Scenario(problem=problem, n=n, d=d, p=p, diameter=DIAMETER, methods=(), **fields)


def constants(problem: str | None = None) -> Iterator[ConstantsRow]:
    """Yield the rows of a problem, or of both, by budget, order and size."""
    problems = PROBLEMS if problem is None else (problem,)
    for name, notion, p, (n, d) in product(problems, BUDGETS, ORDERS, SIZES):
        constants_window = window(scenario_of(name, notion, n, d, p), notion)
        yield ConstantsRow(problem=name, notion=notion, n=n, d=d, p=p, window=constants_window)
