"""The fields of a scenario: the one place with their defaults, ranges, texts and controls.

A new field is added to this table; the code that uses it gives it its effect.
"""

import math
from dataclasses import dataclass

from dpsco_core import catalogue
from dpsco_core.base.limits import EPSILON_MIN, M_MAX, P_MAX, P_MIN, RHO_MIN, SEED_MAX
from dpsco_core.base.seeds import COST, FRESH
from dpsco_core.data.base import Unit
from dpsco_core.data.scales import DECAY_MAX
from dpsco_core.fields.field import Sign, field, series
from dpsco_core.fields.words import (
    ALIKE_ITEMS,
    ALIKE_SIGN,
    BUDGET_SIGN,
    D_SIGN,
    DECAY_SIGN,
    DELTA_SIGN,
    FALLING,
    FEATURES,
    FIXED,
    IN_COMMON,
    M_SIGN,
    NORM_OF_TRUTH,
    PRACTICAL,
    Q_SIGN,
    RECORD,
    SAME_SEED,
    SET,
    SET_OF_MEAN,
    SET_OF_PARAMETER,
    SEVERAL_ITEMS,
    TAIL,
    UNEQUAL_SCALES,
    UNITS,
    WHERE_TRUTH_IS,
    has_alike_items,
    has_offset,
    tail_in_short,
    words,
)
from dpsco_core.geometry.geometries import GEOMETRIES
from dpsco_core.methods.base import Calibration, Tuning
from dpsco_core.privacy.budget import EPSILON_MAX, RHO_MAX
from dpsco_core.problems import MeanEstimation

MEAN = MeanEstimation.card.slug
# Controls are in these groups, in their order on the page; the last group is folded away.
GROUPS = ("Problem", "Data", "Size", "Geometry", "Privacy", "Algorithms", "Study", "Fine print")
AXES: list[str] = []  # the names of the fields with a grid, which a study can sweep


@dataclass(frozen=True, kw_only=True)
class Fields:
    """The fields of a scenario with their defaults; see `dpsco_core.Scenario`."""

    problem: str = field(
        MEAN,
        kind="slug",
        choices=catalogue.PROBLEM_SLUGS,
        meaning="what is estimated: a slug of the catalogue",
        group="Problem",
        front=1,
        name="Problem",
        label="Estimate",
        help="What is estimated: a mean, or the parameter with the least expected loss "
        "(stochastic convex optimisation). The algorithms follow the problem.",
    )
    distribution: str = field(
        "student-t",
        kind="slug",
        choices=catalogue.DISTRIBUTION_SLUGS,
        meaning="what the data are drawn from: a slug of the catalogue",
        flag_meaning="what the data are drawn from: a slug of the catalogue, or hardest, for the "
        "hardest data known at the other settings",
        group="Data",
        front=2,
        name="Data",
        label=words("Data", "Data", "Features"),
        help=words(RECORD, RECORD, FEATURES),
    )
    methods: tuple[str, ...] = field(
        catalogue.default_methods(MEAN),
        kind="slugs",
        meaning="slugs of the catalogue, all for the same problem; `--method`, repeatable, on the "
        "command line",
        scope="study",
        neutral=(),
        group="Algorithms",
        front=12,
        name="Algorithms",
        label="Algorithms",
        help="Each runs on the same data in every trial. Grey ones are not private.",
    )
    n: int = field(
        10_000,
        kind="whole",
        low=1,
        meaning="number of records; of users, where users have several items",
        group="Size",
        front=6,
        symbol="n",
        label=lambda s: "Users n" if s.m > 1 or s.axis == "m" else "Records n",
        plain="how many people are in the data",
        ends=("few", "many"),
        help="Number of people.",
        offered=series(2, 6),
        grid=(500, 1000, 2000, 5000, 10_000, 20_000, 50_000),
        sign=Sign("n", "number of records", "How many people are in the data."),
    )
    d: int = field(
        20,
        kind="whole",
        low=1,
        meaning="dimension",
        group="Size",
        front=8,
        symbol="d",
        label="Dimension d",
        plain="how many numbers per person",
        ends=("few", "many"),
        help="Number of coordinates of a record.",
        offered=series(0, 3),
        grid=(2, 5, 10, 20, 50, 100),
        sign=Sign("d", "dimension", "How many numbers a record or a parameter has."),
    )
    m: int = field(
        1,
        kind="whole",
        low=1,
        high=M_MAX,
        meaning="items per user; 1 is item-level privacy",
        group="Size",
        front=7,
        symbol="m",
        label="Items per user m",
        ends=("few", "many"),
        help=SEVERAL_ITEMS,
        offered=(1, 3, 10, 30, 100, 300, 1000, 10_000, 100_000, 1_000_000),
        grid=(1, 3, 10, 30, 100),
        sign=Sign("m", "items per user", M_SIGN),
    )
    epsilon: float | None = field(
        1.0,
        kind="real",
        optional=True,
        low=EPSILON_MIN,
        high=EPSILON_MAX,
        meaning="the privacy budget, together with `delta`",
        group="Privacy",
        front=9,
        flags=("--target-epsilon",),
        symbol="ε",
        label="Privacy budget ε",
        plain="how much one answer may reveal",
        ends=("more private", "less private"),
        help="Smaller is more private. Neighbours differ by replacing one record.",
        is_shown=lambda s: s.rho is None,
        offered=(*series(-2, 1), 20),
        grid=(0.1, 0.2, 0.5, 1, 2, 5),
        sign=Sign(r"\varepsilon", "privacy budget", BUDGET_SIGN),
    )
    delta: float | None = field(
        1e-6,
        kind="real",
        optional=True,
        meaning="the privacy budget: approximate DP, or pure DP if it is 0",
        group="Privacy",
        front=10,
        symbol="δ",
        label="Failure probability δ",
        plain="the chance that more than ε leaks",
        help="The chance that an answer reveals more of a person than ε allows. Keep it well below "
        "1/n.",
        is_shown=lambda s: s.rho is None and bool(s.delta),
        offered=(1e-12, 1e-10, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3),
        sign=Sign(r"\delta", "failure probability", DELTA_SIGN),
    )
    rho: float | None = field(
        None,
        kind="real",
        optional=True,
        low=RHO_MIN,
        high=RHO_MAX,
        meaning="the budget in zero-concentrated DP (zCDP), instead of `epsilon` and `delta`",
        group="Privacy",
        front=11,
        symbol="ρ",
        label="zCDP budget ρ",
        plain="how much one answer may reveal",
        ends=("more private", "less private"),
        help=r"Zero-concentrated DP: $D_\alpha \le \rho\alpha$ for every order. "
        r"$\rho = \varepsilon\tanh(\varepsilon/2)$ is what $\varepsilon$-DP implies.",
        is_shown=lambda s: s.rho is not None,
        offered=series(-4, 1),
        sign=Sign(
            r"\rho",
            "budget of zCDP",
            "The budget of zero-concentrated differential privacy, which adds up over releases.",
        ),
    )
    p: float = field(
        3.0,
        kind="real",
        low=P_MIN,
        high=P_MAX,
        meaning="tail index: the order of the central coordinate moment that is scaled to 1; from "
        f"{P_MIN:g} to {P_MAX:g}; below 2 the variance may be infinite; also `--tail`",
        flags=("--tail",),
        group="Data",
        front=5,
        symbol="p",
        label="Tail index p",
        plain=tail_in_short,
        ends=("heavier", "lighter"),
        help=TAIL,
        offered=(1.1, 1.2, 1.35, 1.5, 1.65, 1.8, 2, 2.2, 2.5, 3, 3.5, 4, 5, 6, 8, 10, 20),
        grid=(2, 2.5, 3, 4, 6, 10),
        linear=True,
        sign=Sign(
            "p",
            "tail index",
            "The order of the largest moment that is known to be bounded; small means heavy tails.",
        ),
    )
    margin: float = field(
        0.5,
        kind="real",
        low=1e-6,
        high=100,
        meaning="the sampling distribution's own tail index is `p` + `margin`, so that its `p`-th "
        "moment exists",
        group="Fine print",
        label="Margin of the tail",
        help="Records have tail index p + margin: with p itself their p-th moment is infinite.",
        is_shown=lambda s: catalogue.distribution_class(s.distribution).has_margin,
        offered=(0.1, 0.2, 0.5, 1, 2, 5),
    )
    geometry: str = field(
        "l2",
        kind="slug",
        choices=GEOMETRIES,
        meaning="constraint set and norm: {choices}",
        group="Geometry",
        front=3,
        name="Set",
        label="Geometry",
        help=SET,
    )
    q: float | None = field(
        None,
        kind="real",
        optional=True,
        meaning="exponent of the parameters' norm for the geometry `lq`: at least 1, `inf` allowed",
        group="Geometry",
        front=4,
        symbol="q",
        label="Exponent q of the norm",
        help=r"$\|w\|_q = (\sum_j |w_j|^q)^{1/q}$: q = 1 favours few large entries, q = 2 is the "
        "Euclidean norm, q = ∞ bounds the largest entry.",
        is_shown=lambda s: s.geometry == "lq",
        offered=(1, 1.1, 1.25, 1.5, 1.75, 2, 3, 4, 8, math.inf),
        grid=(1, 1.1, 1.25, 1.5, 2, 3, 4, 8),
        sign=Sign("q", "exponent of the norm", Q_SIGN),
    )
    diameter: float = field(
        4.0,
        kind="real",
        low=1e-6,
        high=1e6,
        meaning="of the constraint set, or of the set that is known to hold the mean, in its norm",
        flag_meaning="of the constraint set, or of the set that is known to hold the mean, in its "
        "norm and in multiples of the unit: 2 * bound / unit of `dpsco release`",
        group="Geometry",
        symbol="D",
        label=words("Diameter of the public set", "Diameter of the constraint set"),
        help=words(SET_OF_MEAN, SET_OF_PARAMETER),
        offered=(1, 2, 4, 10, 20, 40, 100, 200),
        grid=(2, 4, 10, 20, 40, 100, 200),
        sign=Sign("D", "diameter", D_SIGN),
    )
    offset: float = field(
        1.0,
        kind="real",
        low=0,
        high=lambda s: s.diameter / 2,
        meaning="norm of the true mean or of the true parameter, at most half the diameter; hard "
        "instances have a mean of their own",
        group="Data",
        name="Norm of the truth",
        label=NORM_OF_TRUTH,
        help=WHERE_TRUTH_IS,
        is_shown=has_offset,
        offered=(0, 0.2, 0.5, 1, 2, 5, 10),
    )
    axis: str | None = field(
        None,
        kind="choice",
        optional=True,
        choices=AXES,
        meaning="what a study sweeps: {choices}; without it, a study is a single point",
        scope="study",
        group="Study",
        label="Sweep",
        help="What the figure's horizontal axis shows.",
    )
    grid: tuple[float, ...] = field(
        (),
        kind="numbers",
        meaning="the values on the axis, increasing; without it, a default for the axis",
        scope="study",
        neutral=(),
        group="Study",
        label="Values on the axis",
        help="Choose which values are run.",
        is_shown=lambda s: s.axis is not None,
    )
    trials: int = field(
        20,
        kind="whole",
        low=1,
        meaning="repetitions",
        scope="study",
        neutral=1,
        group="Study",
        label="Trials",
        help="Repetitions of every point, with fresh data and fresh noise.",
        offered=(5, 10, 20, 50, 100, 200),
    )
    seed: int = field(
        0,
        kind="whole",
        low=0,
        high=SEED_MAX,
        meaning=FIXED,
        flag_meaning=f"the one seed, or {FRESH} for one from the operating system, which is "
        f"printed; {COST}",
        group="Study",
        label="Seed",
        help=SAME_SEED,
    )
    calibration: Calibration = field(
        "tight",
        kind="choice",
        choices=("tight", "paper"),
        meaning="`tight`, the least noise that is proven private, or `paper`, the noise as printed",
        scope="run",
        group="Fine print",
        label="Calibration",
        help="tight: the least noise that is proven private; paper: the printed constants.",
    )
    tuning: Tuning = field(
        "practical",
        kind="choice",
        choices=("practical", "theory"),
        meaning="`practical`, parameters that work at these sizes, or `theory`, those of the "
        "theorem; neither looks at the data",
        scope="run",
        group="Fine print",
        label="Tuning",
        help=PRACTICAL,
    )
    scale: Unit = field(
        "moment",
        kind="choice",
        choices=("moment", "variance"),
        is_late=True,
        meaning="what of a coordinate is 1: `moment`, the central `p`-th moment, so that the "
        "variance falls as `p` grows, or `variance`, to compare tails at equal variance",
        group="Data",
        label="What is scaled to 1",
        help=UNITS,
        is_shown=lambda s: not catalogue.distribution_class(s.distribution).has_prior,
    )
    decay: float = field(
        0.0,
        kind="real",
        low=0,
        high=DECAY_MAX,
        is_late=True,
        meaning=FALLING,
        group="Data",
        symbol="a",
        label="Decay of the scales a",
        help=UNEQUAL_SCALES,
        is_shown=lambda s: catalogue.law_can_decay(s.distribution, s.problem),
        offered=(0, 0.25, 0.5, 0.75, 1, 1.25, 1.5, 2, 3),
        grid=(0, 0.25, 0.5, 0.75, 1, 1.5),
        linear=True,
        sign=Sign("a", "decay of the scales", DECAY_SIGN),
    )
    alike: float = field(
        0.0,
        kind="real",
        low=0,
        high=1,
        is_late=True,
        meaning=IN_COMMON,
        group="Size",
        front=7,
        symbol="γ",
        label="Items alike γ",
        plain="0: unrelated items, 1: all the same",
        help=ALIKE_ITEMS,
        is_shown=has_alike_items,
        offered=(0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1),
        sign=Sign(r"\gamma", "share in common", ALIKE_SIGN),
    )
