"""How far measured errors are above the red region, on the hardest data known of each loss.

`python -m benchmarks.hardest` prints the table of docs/figure.md: for each problem, set and kind of
budget the edge of the region, the least mean error of the private methods of the figure, and the
ratio. `python -m benchmarks.hardest hinge logistic` looks at some problems only.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from dpsco_core.catalogue import PROBLEM_SLUGS, default_methods, method_card
from dpsco_core.explain.hardest import hardest_case, impossible
from dpsco_core.explain.tables.matrix import BUDGETS, scenario_of
from dpsco_core.results.measured import measured
from dpsco_core.runs.study import study
from dpsco_core.scenario import Scenario

SETS = ("l2", "l1", "linf", "simplex")
TRIALS = 20
NAMES = {"zcdp": "zCDP", "approx": "(ε, δ)", "pure": "pure"}


@dataclass(frozen=True, kw_only=True)
class Gap:
    """The edge of the red region for one scenario, and the least mean error that was measured.

    `bound` is the slug of the theorem behind the edge, and `method` the slug of the best method.
    """

    scenario: Scenario
    bound: str
    edge: float
    method: str
    error: float


def measure_gap(scenario: Scenario) -> Gap | None:
    """Return the gap on a scenario's hardest data; None without a region or a private method."""
    hard = hardest_case(replace(scenario, methods=default_methods(scenario.problem)))
    if hard is None or hard.problem != scenario.problem:
        return None
    (proven,) = impossible(hard) or (None,)
    if proven is None:
        return None
    methods = tuple(m for m in hard.methods if method_card(m).privacy != "none")
    outcomes = study(replace(hard, methods=methods, trials=TRIALS))
    rows = [row for row in measured(outcomes).values() if row.mean >= 0]
    best = min(rows, key=lambda row: row.mean, default=None)
    if best is None:
        return None
    return Gap(
        scenario=hard,
        bound=proven.bound.card.slug,
        edge=proven.value,
        method=best.method,
        error=best.mean,
    )


def cells(problems: Sequence[str]) -> Iterator[tuple[str, str, str, Gap | None]]:
    """Yield problem, set, kind of budget and gap, for every set and two kinds of budget."""
    for problem in problems:
        for geometry in SETS:
            for budget in ("zcdp", "approx"):
                assert budget in BUDGETS
                point = scenario_of(problem, geometry, budget, 1)
                if point is not None:
                    yield problem, geometry, budget, measure_gap(point)


def main(problems: Sequence[str]) -> None:
    """Print the edges, the measured errors and their ratios as a table in Markdown."""
    print("| problem | set | budget | region | measured | ratio | bound | method |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for problem, geometry, budget, risk_gap in cells(problems):
        row = [f"`{problem}`", geometry, NAMES[budget]]
        if risk_gap is None:
            row += ["none", "", "", "", ""]
        else:
            ratio = risk_gap.error / risk_gap.edge
            row += [f"{risk_gap.edge:.3g}", f"{risk_gap.error:.3g}", f"{ratio:.3g}"]
            row += [f"`{risk_gap.bound}`", f"`{risk_gap.method}`"]
        print("| " + " | ".join(row) + " |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:] or PROBLEM_SLUGS)
