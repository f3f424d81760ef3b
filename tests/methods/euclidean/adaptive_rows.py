"""Settings at which descent with private radii is compared with radii that ignore the data.

`TUNED` are the settings on which the private looks, the test and the average were chosen; `FRESH`
were fixed before any measurement there, `LATER` before the test was added, and `LAST` before the
average was added.
"""

from __future__ import annotations

from dpsco_core.scenario import Scenario

Row = tuple[str, str, int, int, float]

TUNED: tuple[Row, ...] = (
    ("logistic", "student-t", 2000, 20, 0.5),
    ("logistic", "skewed-pareto", 20_000, 20, 0.5),
    ("logistic", "log-normal", 100_000, 10, 0.05),
    ("logistic", "student-t", 20_000, 50, 0.2),
    ("huber", "student-t", 5000, 20, 5.0),
    ("huber", "skewed-pareto", 20_000, 20, 0.1),
    ("huber", "log-normal", 2000, 10, 1.0),
    ("least-squares", "student-t", 20_000, 10, 0.5),
    ("least-squares", "skewed-pareto", 100_000, 20, 0.05),
    ("least-squares", "log-normal", 5000, 10, 1.0),
    ("quadratic", "student-t", 5000, 50, 0.5),
    ("quadratic", "skewed-pareto", 20_000, 100, 1.0),
    ("quadratic", "log-normal", 100_000, 20, 0.05),
    ("linear", "hypercube", 10_000, 20, 0.5),
)
FRESH: tuple[Row, ...] = (
    ("logistic", "pareto", 10_000, 10, 0.1),
    ("logistic", "elliptical-t", 5000, 30, 1.0),
    ("logistic", "log-normal", 3000, 5, 0.2),
    ("huber", "student-t", 50_000, 10, 0.02),
    ("huber", "skewed-pareto", 3000, 40, 2.0),
    ("huber", "elliptical-t", 10_000, 20, 0.5),
    ("least-squares", "pareto", 30_000, 15, 0.3),
    ("least-squares", "gaussian", 4000, 8, 0.5),
    ("least-squares", "skewed-pareto", 15_000, 30, 2.0),
    ("quadratic", "skewed-pareto", 4000, 10, 0.5),
    ("quadratic", "pareto", 30_000, 40, 0.1),
    ("quadratic", "log-normal", 8000, 60, 1.0),
    ("absolute", "student-t", 10_000, 20, 0.5),
    ("geometric-median", "log-normal", 10_000, 10, 0.2),
)
LATER: tuple[Row, ...] = (
    ("logistic", "gaussian", 10_000, 20, 0.2),
    ("logistic", "skewed-pareto", 5000, 10, 1.0),
    ("logistic", "student-t", 50_000, 30, 0.05),
    ("logistic", "log-normal", 20_000, 20, 0.5),
    ("huber", "pareto", 10_000, 10, 0.5),
    ("huber", "log-normal", 20_000, 30, 0.2),
    ("huber", "student-t", 5000, 40, 1.0),
    ("least-squares", "log-normal", 20_000, 20, 0.2),
    ("least-squares", "student-t", 5000, 5, 2.0),
    ("quadratic", "skewed-pareto", 10_000, 50, 0.2),
    ("quadratic", "student-t", 20_000, 10, 0.05),
    ("quadratic", "log-normal", 3000, 20, 1.0),
    ("absolute", "log-normal", 10_000, 10, 0.2),
    ("linear", "spike", 5000, 20, 0.5),
)
LATEST: tuple[Row, ...] = (
    ("logistic", "student-t", 8000, 15, 0.3),
    ("logistic", "pareto", 3000, 30, 1.0),
    ("logistic", "skewed-pareto", 40_000, 40, 0.1),
    ("logistic", "elliptical-t", 1500, 5, 2.0),
    ("huber", "gaussian", 6000, 25, 0.3),
    ("huber", "skewed-pareto", 12_000, 8, 0.2),
    ("huber", "log-normal", 30_000, 50, 1.0),
    ("least-squares", "elliptical-t", 10_000, 12, 0.2),
    ("least-squares", "pareto", 4000, 6, 1.0),
    ("least-squares", "log-normal", 40_000, 40, 0.1),
    ("quadratic", "elliptical-t", 8000, 30, 0.3),
    ("quadratic", "skewed-pareto", 50_000, 20, 0.1),
    ("absolute", "elliptical-t", 5000, 8, 0.5),
    ("geometric-median", "student-t", 8000, 15, 0.3),
)


def scenario(row: Row) -> Scenario:
    """Return the scenario of a row of the table, under zCDP."""
    problem, distribution, n, d, rho = row
    return Scenario(
        problem=problem,
        distribution=distribution,
        methods=("sco.clipped",),
        n=n,
        d=d,
        rho=rho,
        epsilon=None,
        delta=None,
    )
