"""The one description of a run, which page, address, command line, scripts and tests speak."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, get_args

from dpsco_core import catalogue, extend
from dpsco_core.base.cards import Level
from dpsco_core.base.errors import InvalidInput, require
from dpsco_core.base.limits import EPSILON_MIN, LIBRARY, M_MAX, P_MAX, RHO_MIN, SEED_MAX, Limits
from dpsco_core.base.parsing import (
    INTEGERS,
    NUMBERS,
    among,
    is_real,
    one_of,
    parse_field,
    real,
    shorten,
    to_plain,
    to_text,
    whole,
)
from dpsco_core.base.seeds import SAME
from dpsco_core.geometry.geometries import GEOMETRIES, GROUP_SIZE, Geometry
from dpsco_core.methods.base import Calibration, Tuning
from dpsco_core.privacy.budget import EPSILON_MAX, RHO_MAX, ZCDP, ApproxDP, Budget, PureDP
from dpsco_core.problems import MeanEstimation, Setting
from dpsco_core.problems.samples.users import check_size

Axis = Literal["n", "d", "m", "epsilon", "p", "q", "diameter"]
AXES: tuple[str, ...] = get_args(Axis)
DEFAULT_GRIDS: dict[str, tuple[float, ...]] = {
    "n": (500, 1000, 2000, 5000, 10_000, 20_000, 50_000),
    "d": (2, 5, 10, 20, 50, 100),
    "m": (1, 3, 10, 30, 100),
    "epsilon": (0.1, 0.2, 0.5, 1, 2, 5),
    "p": (2, 2.5, 3, 4, 6, 10),
    "q": (1, 1.1, 1.25, 1.5, 2, 3, 4, 8),
    "diameter": (2, 4, 10, 20, 40, 100, 200),
}

DEFAULT_Q = 1.5
DELTA_MIN = 1e-100  # so that parts of it, and what it divides, are numbers


def default_grid(axis: str | None, geometry: str, offset: float = 0.0) -> tuple[float, ...]:
    """Return values of an axis: dimensions in whole groups, sets that hold the true parameter."""
    grid = DEFAULT_GRIDS.get(str(axis), ())
    if axis == "diameter":
        return tuple(x for x in grid if x >= 2 * offset) or (2 * offset,)
    whole_groups = geometry == "group-l1" and axis == "d"
    return tuple(x for x in grid if x % GROUP_SIZE == 0) if whole_groups else grid


@dataclass(frozen=True, kw_only=True)
class Scenario:
    r"""A run: what is estimated, from what data, how much of it, how privately, and by whom.

    Parameters
    ----------
    problem, distribution, methods : str, str, tuple of str
        Slugs of the catalogue.
    n, d, m : int
        Records (users, where they have several items), dimension, items per user (1 at item level).
    epsilon, delta : float or None
        The budget: delta > 0 is approximate DP, delta = 0 pure DP.
    rho : float or None
        A zCDP budget; epsilon and delta are then None.
    p : float
        Tail index, from 2 to 50: the order of the central coordinate moment that is scaled to 1.
    margin : float
        The sampling law's own tail index is p + margin.
    geometry : str
        Constraint set and norm, one of `dpsco_core.geometry.GEOMETRIES`.
    q : float or None
        Exponent of the parameters' norm for the geometry ``"lq"``, at least 1, infinity allowed;
        None otherwise.
    diameter : float
        In its own norm, of the constraint set, or of the set that is known to hold the mean.
    offset : float
        Norm in the geometry of the true mean, or of the true parameter of a linear model, at most
        diameter/2 (`dpsco_core.geometry.Geometry.point`); hard instances have a mean of their own.
    axis : {"n", "d", "m", "epsilon", "p", "q", "diameter"} or None
        What the study sweeps; None is a single point.
    grid : tuple of float
        Its values, increasing; empty without an axis.
    trials : int
        Repetitions.
    seed : int
        Data and noise follow from it, so that whoever knows it can subtract the noise: a seeded
        result is for study, never for publication of real data. See `dpsco_core.fresh_seed`.
    calibration : {"tight", "paper"}
    tuning : {"practical", "theory"}

    Examples
    --------
    >>> scenario = Scenario(n=1000, axis="n", grid=(1000, 10000))
    >>> Scenario.from_query(scenario.to_query()) == scenario
    True
    """

    problem: str = "mean"
    distribution: str = "student-t"
    methods: tuple[str, ...] = catalogue.default_methods(MeanEstimation.card.slug)
    n: int = 10_000
    d: int = 20
    m: int = 1
    epsilon: float | None = 1.0
    delta: float | None = 1e-6
    rho: float | None = None
    p: float = 3.0
    margin: float = 0.5
    geometry: str = "l2"
    q: float | None = None
    diameter: float = 4.0
    offset: float = 1.0
    axis: Axis | None = None
    grid: tuple[float, ...] = ()
    trials: int = 20
    seed: int = 0
    calibration: Calibration = "tight"
    tuning: Tuning = "practical"

    # -- what follows from the fields -------------------------------------------------------

    @property
    def budget(self) -> Budget:
        """The privacy budget."""
        if self.rho is not None:
            return ZCDP(rho=self.rho)
        assert self.epsilon is not None
        if not self.delta:
            return PureDP(epsilon=self.epsilon)
        return ApproxDP(epsilon=self.epsilon, delta=self.delta)

    @property
    def instance(self) -> catalogue.Instance:
        """The problem, with its distribution, at this point."""
        return catalogue.make_instance(
            problem=self.problem,
            distribution=self.distribution,
            n=self.n,
            d=self.d,
            budget=self.budget,
            moment_order=self.p,
            margin=self.margin,
            offset=self.offset,
            radius=self.diameter / 2,
            geometry=Geometry(kind=self.geometry, q=self.q),
        )

    @property
    def setting(self) -> Setting:
        """What methods and bounds may know at this point."""
        instance = self.instance
        problem, probability = instance.problem, instance.spike_probability
        if isinstance(problem, MeanEstimation):
            return problem.setting(self.n, self.budget, spike_probability=probability)
        return problem.setting(self.n, self.budget, m=self.m, spike_probability=probability)

    @property
    def level(self) -> Level:
        """What a neighbour replaces: a user's whole block where users have several items."""
        user = any(catalogue.method_card(slug).level == "user" for slug in self.methods)
        return "user" if user or self.m > 1 else "item"

    def at(self, x: float) -> Scenario:
        """Return the single point at the value `x` of the axis."""
        if self.axis is None:
            return self
        value: Any = int(x) if self.axis in INTEGERS else float(x)
        return replace(self, axis=None, grid=(), **{self.axis: value})

    def points(self) -> tuple[tuple[float | None, Scenario], ...]:
        """Return ``(x, point)`` for every value of the grid; ``x`` is None without an axis."""
        return ((None, self),) if self.axis is None else tuple((x, self.at(x)) for x in self.grid)

    @property
    def cells(self) -> int:
        """Number of cells: methods times points times trials."""
        return len(self.methods) * max(1, len(self.grid)) * self.trials

    # -- validation -------------------------------------------------------------------------

    def validate(self, limits: Limits = LIBRARY, *, sampling: bool = True) -> Scenario:
        """Return itself if everything is allowed, otherwise raise `InvalidInput`.

        Parameters
        ----------
        limits : Limits
            The place's largest sizes.
        sampling : bool
            False for bounds only, where n times d costs nothing.
        """
        one_of("problem", self.problem, catalogue.PROBLEM_SLUGS)
        self._validate_choices()
        whole("trials", self.trials, 1, limits.trials)
        whole("seed", self.seed, 0, SEED_MAX)
        real("margin", self.margin, 1e-6, 100)
        self._validate_axis(limits)
        self._validate_budget()
        self._validate_point(limits, sampling=False)  # the chosen point, on the axis or not
        for _, point in self.points():
            point._validate_point(limits, sampling)
        require(
            self.cells <= limits.cells,
            "methods times points times trials",
            f"at most {limits.cells:,} for {limits.where}",
            f"{self.cells:,}",
        )
        return self

    def _validate_choices(self) -> None:
        whole("m", self.m, 1, 1 if self.problem == MeanEstimation.card.slug else M_MAX)
        one_of("distribution", self.distribution, catalogue.distributions_for(self.problem))
        for name in ("methods", "grid"):
            value = getattr(self, name)
            require(isinstance(value, tuple), name, "a tuple", shorten(value))
        fitting = catalogue.methods_for(self.problem)
        several = self.m > 1 or self.axis == "m"
        for slug in self.methods:
            one_of("method", slug, catalogue.METHOD_SLUGS)
            card = catalogue.method_card(slug)
            protects = card.level == "user" or card.privacy == "none"
            must = "one at user level, or without privacy, where users have several items"
            require(protects or not several, "method", must, slug)
            if slug not in fitting:
                for_it = f"{among(fitting, slug)} for the problem {self.problem}"
                require(False, "method", for_it, slug)
        distinct = len(set(self.methods)) == len(self.methods)
        require(distinct, "methods", "distinct", shorten(to_text(self.methods)))
        one_of("geometry", self.geometry, GEOMETRIES)
        if self.geometry != "lq":
            left_out = f"left out for the geometry {self.geometry}"
            require(self.q is None, "q", left_out, shorten(self.q))
            require(self.axis != "q", "geometry", "lq for the axis q", self.geometry)
        one_of("calibration", self.calibration, ("tight", "paper"))
        one_of("tuning", self.tuning, ("practical", "theory"))

    def _validate_axis(self, limits: Limits) -> None:
        shown = shorten(to_text(self.grid))
        if self.axis is None:
            require(not self.grid, "grid", "left out without an axis", shown)
            return
        one_of("axis", self.axis, AXES)
        require(
            1 <= len(self.grid) <= limits.grid,
            "grid",
            f"a list of 1 to {limits.grid:,} values for {limits.where}",
            f"{len(self.grid):,} values",
        )
        for x in self.grid:
            require(is_real(x), "grid", "a list of finite numbers", shorten(x))
            if self.axis in INTEGERS:
                require(x == int(x), "grid", f"a list of integers for the axis {self.axis}", x)
        increasing = all(a < b for a, b in zip(self.grid, self.grid[1:], strict=False))
        require(increasing, "grid", "increasing", shown)
        fits = self.axis != "epsilon" or self.rho is None
        require(fits, "rho", "left out for the axis epsilon", to_text(self.rho))

    def _validate_budget(self) -> None:
        if self.rho is not None:
            if self.epsilon is not None or self.delta is not None:
                got = f"epsilon={to_text(self.epsilon)}, delta={to_text(self.delta)}"
                raise InvalidInput(f"epsilon and delta must be left out beside rho, got {got}.")
            real("rho", self.rho, RHO_MIN, RHO_MAX)
            return
        require(self.epsilon is not None, "epsilon", "given, or rho", "none")
        real("epsilon", self.epsilon, EPSILON_MIN, EPSILON_MAX)
        known = is_real(self.delta) and 0 <= self.delta < 1
        require(known, "delta", "at least 0 and below 1", shorten(to_text(self.delta)))
        real("delta", self.delta or 1.0, DELTA_MIN, 1)  # 0 is pure DP

    def _validate_point(self, limits: Limits, sampling: bool) -> None:
        whole("n", self.n, 1, limits.n)
        whole("d", self.d, 1, limits.d)
        whole("m", self.m, 1, 1 if self.problem == MeanEstimation.card.slug else M_MAX)
        real("p", self.p, 2, P_MAX)
        real("diameter", self.diameter, 1e-6, 1e6)
        real("offset", self.offset, 0, self.diameter / 2)
        if self.geometry == "lq":
            known = self.q is not None and self.q >= 1
            require(known, "q", "at least 1 for the geometry lq", shorten(to_text(self.q)))
        if self.epsilon is not None:
            real("epsilon", self.epsilon, EPSILON_MIN, EPSILON_MAX)
        if sampling:
            check_size(self.instance.problem, self.n, self.m, limits)
        Geometry(kind=self.geometry, q=self.q).check_dimension(self.d)
        if self.distribution == "spike":
            require(self.d >= 2, "d", "at least 2 for the distribution spike", self.d)

    # -- in and out -------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """Return plain values by field, None where there is none; equal scenarios give the same."""
        read = {"grid": parse_field("grid", self.grid)}  # whole numbers as integers
        read |= {k: x + 0.0 for k in NUMBERS if (x := getattr(self, k)) is not None}  # 0.0 for -0.0
        return {f.name: to_plain(read.get(f.name, getattr(self, f.name))) for f in fields(self)}

    def to_json(self) -> str:
        """Return a JSON object with every field."""
        return json.dumps(self.to_dict(), indent=2)

    def to_query(self, base: Scenario | None = None) -> dict[str, str]:
        """Return the fields that differ from `base` (the default scenario), as text for a URL."""
        default = Scenario() if base is None else base
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        out = {k: to_text(v) for k, v in values.items() if v != getattr(default, k)}
        if "axis" in out:  # without its grid, it would be read with a default one
            out["grid"] = to_text(self.grid)
        if self.rho is not None:  # the absence of epsilon follows from rho
            out.pop("epsilon", None)
            out.pop("delta", None)
        if self.axis is None:  # and so does that of the grid
            out.pop("grid", None)
        return out

    def to_code(self) -> str:
        """Return the Python expression that makes this scenario."""
        values = {k: tuple(v) if isinstance(v, list) else v for k, v in self.to_dict().items()}
        code = {name: "float('inf')" if v == "inf" else repr(v) for name, v in values.items()}
        arguments = "".join(f"    {name}={text},\n" for name, text in code.items())
        return f"Scenario(\n{arguments}).validate()"

    def to_python(self) -> str:
        """Return a script that runs this scenario with the library and prints the results."""
        own = extend.code_for((*self.methods, self.distribution))
        names = f"Scenario, {'extend, ' if own else ''}frame, slopes, study, summary"
        return (
            f'"""Made by DP-SCO Explorer.\n\n{SAME}\n"""\n\n'
            f"from dpsco_core import {names}\n\n{own}scenario = {self.to_code()}\n\n"
            "cells = frame(study(scenario))\nprint(summary(cells).to_string(index=False))\n"
            "if scenario.axis:\n    print(slopes(scenario, cells).to_string(index=False))\n"
        )

    @classmethod
    def from_json(cls, text: str) -> Scenario:
        """Return the scenario of a JSON object; raises `InvalidInput` if it is none."""
        try:
            values = json.loads(text)
        except (ValueError, RecursionError):  # too deep, or an integer with too many digits
            values = None
        require(isinstance(values, dict), "scenario", "a JSON object", shorten(text))
        return cls.from_dict(values)

    @classmethod
    def from_query(cls, query: Mapping[str, str], base: Scenario | None = None) -> Scenario:
        """Return the scenario of a URL's parameters; others than its fields are ignored."""
        names = {f.name for f in fields(cls)}
        return cls.from_dict({k: v for k, v in query.items() if k in names}, base)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any], base: Scenario | None = None) -> Scenario:
        """Return the validated scenario with the given fields, and those of `base` for the others.

        Numbers may be text. A `rho` without an `epsilon` makes the budget zCDP, an `epsilon`
        without a `rho` the opposite; an `axis` without a `grid` takes its default grid; the
        geometry ``"lq"`` without a `q` takes 1.5, and the axis q makes it the geometry; a `problem`
        without `methods` takes those of `base` if they are made for it, and default ones if not.
        `base` is the default scenario if it is not given.

        Raises `InvalidInput` for an unknown field, a value that cannot be read, or one that is not
        allowed.
        """
        names = [f.name for f in fields(cls)]
        for name in values:
            require(name in names, "field", f"one of {', '.join(names)}", shorten(name))
        parsed = {name: parse_field(name, value) for name, value in values.items()}
        if parsed.get("rho") is not None:
            parsed = {"epsilon": None, "delta": None} | parsed
        start = cls() if base is None else base
        if parsed.get("axis") == "q" and start.geometry != "lq":
            parsed = {"geometry": "lq"} | parsed
        geometry = parsed.get("geometry", start.geometry)
        if "q" not in parsed and (geometry == "lq") != (start.q is not None):
            parsed["q"] = DEFAULT_Q if geometry == "lq" else None
        if "axis" in parsed and "grid" not in parsed:
            offset = parsed.get("offset", start.offset)
            parsed["grid"] = default_grid(parsed["axis"], geometry, offset)
        problem = parsed.get("problem", start.problem)
        if problem in catalogue.PROBLEM_SLUGS and "methods" not in parsed:
            items = parsed.get("m", start.m)
            several = items > 1 or parsed.get("axis", start.axis) == "m"
            level: Level = "user" if several else "item"
            fitting = catalogue.methods_for(problem, level if several else None)
            if not set(start.methods) <= set(fitting):
                parsed["methods"] = catalogue.default_methods(problem, level)
        zcdp_no_more = parsed.get("rho") is None and parsed.get("epsilon") is not None
        if zcdp_no_more and start.rho is not None:
            parsed = {"delta": cls.delta} | parsed | {"rho": None}
        return replace(start, **parsed).validate(sampling=False)
