"""One table: scenario field -> widget, options, words. The sidebars are drawn from it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from dpsco_app.parts.problem_words import has_offset, words_for
from dpsco_core.catalogue import HARD_INSTANCES
from dpsco_core.scenario import AXES, Scenario

Kind = Literal["slider", "select", "geometry", "choice", "problem", "methods", "grid", "integer"]
Text = str | Callable[[Scenario], str]


@dataclass(frozen=True, kw_only=True)
class Control:
    """How one field of a scenario is shown; words may depend on the scenario."""

    field: str
    label: Text
    help: Text
    kind: Kind = "slider"
    shown: Callable[[Scenario], bool] = lambda _: True


def text(words: Text, scenario: Scenario) -> str:
    return words if isinstance(words, str) else words(scenario)


GROUPS: tuple[tuple[str, tuple[Control, ...]], ...] = tuple(
    {
        "Problem": (
            Control(
                field="problem",
                kind="problem",
                label="Problem",
                help="What is estimated: a mean, or the parameter with the least expected loss "
                "(stochastic convex optimisation). The algorithms follow the problem.",
            ),
        ),
        "Data": (
            Control(
                field="distribution",
                kind="select",
                label=lambda s: words_for(s.problem).distribution,
                help=lambda s: words_for(s.problem).distribution_help,
            ),
            Control(
                field="p",
                label="Tail index p",
                help=r"The largest moment that is known to exist: $E|X_j-\mu_j|^p = 1$. "
                "Small p means heavy tails; p = 2 is only a finite variance.",
            ),
            Control(
                field="offset",
                label=lambda s: words_for(s.problem).offset,
                help=lambda s: words_for(s.problem).offset_help,
                shown=lambda s: has_offset(s.problem, s.distribution),
            ),
        ),
        "Size": (
            Control(
                field="n",
                label=lambda s: "Users n" if s.m > 1 or s.axis == "m" else "Records n",
                help="Number of people.",
            ),
            Control(
                field="m",
                label="Items per user m",
                help="At 1 every record is a person. Beyond, a person has m records, and privacy "
                "hides all of them at once: neighbours replace a whole user.",
                shown=lambda s: s.problem != "mean",
            ),
            Control(
                field="d",
                label="Dimension d",
                help="Number of coordinates of a record.",
            ),
        ),
        "Geometry": (
            Control(
                field="geometry",
                kind="geometry",
                label=lambda s: words_for(s.problem).geometry,
                help="A convex set and its norm. A small Gaussian width (a small mean of the "
                "farthest point in a random direction) lets noise be projected away; the page "
                "Geometry shows it.",
            ),
            Control(
                field="q",
                label="Exponent q of the norm",
                help=r"$\|w\|_q = (\sum_j |w_j|^q)^{1/q}$: q = 1 favours few large entries, "
                "q = 2 is the Euclidean norm, q = ∞ bounds the largest entry.",
                shown=lambda s: s.geometry == "lq",
            ),
            Control(
                field="diameter",
                label=lambda s: words_for(s.problem).diameter,
                help=lambda s: words_for(s.problem).diameter_help,
            ),
        ),
        "Privacy": (
            Control(
                field="epsilon",
                label="Privacy budget ε (epsilon)",
                help="Smaller is more private. Neighbours differ by replacing one record.",
                shown=lambda s: s.rho is None,
            ),
            Control(
                field="delta",
                label="Failure probability δ (delta)",
                help=r"The slack in $(\varepsilon,\delta)$-DP; well below $1/n$.",
                shown=lambda s: s.rho is None and bool(s.delta),
            ),
            Control(
                field="rho",
                label="zCDP budget ρ (rho)",
                help=r"Zero-concentrated DP: $D_\alpha \le \rho\alpha$ for every order. "
                r"$\rho = \varepsilon^2/2$ is what $\varepsilon$-DP implies.",
                shown=lambda s: s.rho is not None,
            ),
        ),
        "Algorithms": (
            Control(
                field="methods",
                kind="methods",
                label=lambda s: words_for(s.problem).method.capitalize() + "s",
                help="Each runs on the same data in every trial. Grey ones are not private.",
            ),
        ),
        "Study": (
            Control(
                field="axis",
                kind="choice",
                label="Sweep",
                help="What the figure's horizontal axis shows.",
            ),
            Control(
                field="grid",
                kind="grid",
                label="Values on the axis",
                help="Choose which values are run.",
                shown=lambda s: s.axis is not None,
            ),
            Control(
                field="trials",
                label="Trials",
                help="Repetitions of every point, with fresh data and fresh noise.",
            ),
            Control(
                field="seed",
                kind="integer",
                label="Seed",
                help="The same scenario and seed give the same numbers: to the last bit on one "
                "machine, while another processor may change the last digits. Whoever knows the "
                "seed can subtract the noise: a seeded result is for study, never for publication "
                "of real data.",
            ),
        ),
    }.items()
)
DETAILS: tuple[Control, ...] = (
    Control(
        field="tuning",
        kind="choice",
        label="Tuning",
        help="practical: radii and block numbers that work at these sizes; theory: the theorem's "
        "own. Both ignore the data, and both are private.",
    ),
    Control(
        field="calibration",
        kind="choice",
        label="Calibration",
        help="tight: the least noise that is proven private; paper: the printed constants.",
    ),
    Control(
        field="margin",
        label="Margin of the tail",
        help="Samples have tail index p + margin, so that the p-th moment exists.",
        shown=lambda s: s.distribution not in (*HARD_INSTANCES, "gaussian", "log-normal"),
    ),
)
CHOICES: dict[str, tuple[Any, ...]] = {
    "axis": (*AXES, None),
    "tuning": ("practical", "theory"),
    "calibration": ("tight", "paper"),
}

ALL_CONTROLS = tuple(c for _, group in GROUPS for c in group) + DETAILS
