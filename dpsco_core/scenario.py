"""The one description of a run: dashboard, URL, presets, command line, scripts and tests speak it."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Literal

from dpsco_core import catalogue
from dpsco_core.errors import InvalidInput, require
from dpsco_core.mean.base import Calibration, Tuning
from dpsco_core.parsing import INTEGERS, parse_field, shorten, to_text
from dpsco_core.privacy.budget import EPSILON_MAX, RHO_MAX, ZCDP, ApproxDP, Budget, PureDP
from dpsco_core.problems import Setting

Axis = Literal["n", "d", "epsilon", "p"]
AXES: tuple[str, ...] = ("n", "d", "epsilon", "p")
SEED_MAX = 2**63 - 1


@dataclass(frozen=True, kw_only=True)
class Limits:
    """The largest sizes that a place allows.

    Parameters
    ----------
    n, d : int
        Records and dimension.
    elements : int
        n times d of one sample.
    trials, grid, cells : int
        Repetitions, points of a grid, and cells (methods times points times trials).
    seconds : float
        Predicted work in all.
    where : str
        How the place is called in a sentence.
    """

    n: int
    d: int
    elements: int
    trials: int
    grid: int
    cells: int
    seconds: float
    where: str


LIBRARY = Limits(
    n=10**9,
    d=100_000,
    elements=400_000_000,
    trials=100_000,
    grid=1000,
    cells=10**8,
    seconds=math.inf,
    where="the library",
)
DASHBOARD = Limits(
    n=1_000_000,
    d=1000,
    elements=2_000_000,
    trials=200,
    grid=12,
    cells=5000,
    seconds=120.0,
    where="the dashboard",
)


@dataclass(frozen=True, kw_only=True)
class Scenario:
    r"""A run: what is estimated, from what data, how much of it, how privately, and by whom.

    Parameters
    ----------
    problem, distribution : str
        Slugs of the catalogue.
    methods : tuple of str
        Slugs of the catalogue.
    n, d, m : int
        Records, dimension, items a user (1 at item level).
    epsilon, delta : float or None
        The budget: delta > 0 is approximate DP, delta = 0 pure DP.
    rho : float or None
        A zCDP budget; epsilon and delta are then None.
    p : float
        Tail index, at least 2: the order of the central coordinate moment that is scaled to 1.
    margin : float
        The sampling law's own tail index is p + margin.
    geometry : str
        Norm and constraint set: ``"l2"``.
    q : float or None
        Exponent of the parameters' norm for the geometry ``"lq"``; None otherwise.
    diameter : float
        Of the ball, centred at 0, that is known to hold the mean.
    offset : float
        l2 norm of the true mean, at most diameter/2; hard instances have their own.
    axis : {"n", "d", "epsilon", "p"} or None
        What the study sweeps; None is a single point.
    grid : tuple of float
        Its values, increasing; empty without an axis.
    trials, seed : int
        Repetitions, and the one seed.
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
    methods: tuple[str, ...] = ("mean.sample", "mean.clipped", "mean.cwme-cdp")
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
            distribution=self.distribution,
            n=self.n,
            d=self.d,
            budget=self.budget,
            moment_order=self.p,
            margin=self.margin,
            offset=self.offset,
            mean_bound=self.diameter / 2,
        )

    @property
    def setting(self) -> Setting:
        """What methods and bounds may know at this point."""
        instance = self.instance
        return instance.problem.setting(
            self.n, self.budget, spike_probability=instance.spike_probability
        )

    def at(self, x: float) -> Scenario:
        """Return the single point at the value `x` of the axis."""
        if self.axis is None:
            return self
        value: float = int(x) if self.axis in INTEGERS else float(x)
        changes: dict[str, Any] = {self.axis: value, "axis": None, "grid": ()}
        if self.axis == "epsilon" and self.rho is not None:
            raise InvalidInput("axis must be another one than epsilon, got axis=epsilon with rho.")
        return replace(self, **changes)

    def points(self) -> tuple[tuple[float | None, Scenario], ...]:
        """Return ``(x, point)`` for every value of the grid; ``x`` is None without an axis."""
        if self.axis is None:
            return ((None, self),)
        return tuple((x, self.at(x)) for x in self.grid)

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
        _one_of("problem", self.problem, catalogue.PROBLEM_SLUGS)
        _one_of("distribution", self.distribution, catalogue.DISTRIBUTION_SLUGS)
        for slug in self.methods:
            _one_of("method", slug, catalogue.METHOD_SLUGS)
        require(
            len(set(self.methods)) == len(self.methods), "methods", "distinct", self.methods
        )
        _one_of("geometry", self.geometry, ("l2",))
        require(self.q is None, "q", "left out for the geometry l2", self.q)
        _one_of("calibration", self.calibration, ("tight", "paper"))
        _one_of("tuning", self.tuning, ("practical", "theory"))
        _whole("m", self.m, 1, 1)
        _whole("trials", self.trials, 1, limits.trials)
        _whole("seed", self.seed, 0, SEED_MAX)
        _real("margin", self.margin, 0, 100, open_below=True)
        _real("diameter", self.diameter, 0, 1e6, open_below=True)
        _real("offset", self.offset, 0, self.diameter / 2)
        self._validate_axis(limits)
        self._validate_budget()
        for _, point in self.points():
            point._validate_point(limits, sampling)
        require(
            self.cells <= limits.cells,
            "methods times points times trials",
            f"at most {limits.cells:,} for {limits.where}",
            f"{self.cells:,}",
        )
        return self

    def _validate_axis(self, limits: Limits) -> None:
        if self.axis is None:
            require(not self.grid, "grid", "empty without an axis", list(self.grid))
            return
        _one_of("axis", self.axis, AXES)
        require(
            1 <= len(self.grid) <= limits.grid,
            "grid",
            f"a list of 1 to {limits.grid} values for {limits.where}",
            f"{len(self.grid)} values",
        )
        for x in self.grid:
            ok = isinstance(x, (int, float)) and math.isfinite(x)
            require(ok, "grid", "a list of finite numbers", x)
            if self.axis in INTEGERS:
                require(x == int(x), "grid", f"a list of integers for the axis {self.axis}", x)
        increasing = all(a < b for a, b in zip(self.grid, self.grid[1:], strict=False))
        require(increasing, "grid", "increasing", list(self.grid))
        if self.axis == "epsilon" and self.rho is not None:
            raise InvalidInput("rho must be left out for the axis epsilon, got rho=%g." % self.rho)

    def _validate_budget(self) -> None:
        if self.rho is not None:
            if self.epsilon is not None or self.delta is not None:
                raise InvalidInput(
                    "rho must be given alone, or epsilon and delta without it, got "
                    f"rho={self.rho} with epsilon={self.epsilon} and delta={self.delta}."
                )
            _real("rho", self.rho, 0, RHO_MAX, open_below=True)
            return
        if self.epsilon is None:
            raise InvalidInput("epsilon must be given, or rho, got neither.")
        _real("epsilon", self.epsilon, 0, EPSILON_MAX, open_below=True)
        require(
            self.delta is not None and _is_real(self.delta) and 0 <= self.delta < 1,
            "delta",
            "at least 0 and below 1",
            self.delta,
        )

    def _validate_point(self, limits: Limits, sampling: bool) -> None:
        _whole("n", self.n, 1, limits.n)
        _whole("d", self.d, 1, limits.d)
        _real("p", self.p, 2, 100)
        if self.epsilon is not None:
            _real("epsilon", self.epsilon, 0, EPSILON_MAX, open_below=True)
        if sampling and self.n * self.d > limits.elements:
            raise InvalidInput(
                f"n times d must be at most {limits.elements:,} for {limits.where}, "
                f"got n={self.n:,} and d={self.d:,}."
            )
        if self.distribution == "spike":
            require(self.d >= 2, "d", "at least 2 for the distribution spike", self.d)

    # -- in and out -------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """Return plain numbers, strings and lists by field; None where there is no value."""
        out = asdict(self)
        out["methods"] = list(self.methods)
        out["grid"] = list(self.grid)
        return out

    def to_json(self) -> str:
        """Return a JSON object with every field."""
        return json.dumps(self.to_dict(), indent=2)

    def to_query(self) -> dict[str, str]:
        """Return the fields that differ from the default, as text for a URL."""
        default = Scenario()
        out: dict[str, str] = {}
        for f in fields(self):
            value = getattr(self, f.name)
            if value != getattr(default, f.name):
                out[f.name] = to_text(value)
        if self.rho is not None:  # the absence of epsilon follows from rho
            out.pop("epsilon", None)
            out.pop("delta", None)
        return out

    def to_python(self) -> str:
        """Return a script that runs this scenario with the library and prints the results."""
        arguments = "".join(f"    {f.name}={getattr(self, f.name)!r},\n" for f in fields(self))
        return (
            '"""Made by DP-SCO Explorer: the same scenario gives the same numbers."""\n\n'
            "from dpsco_core import Scenario, frame, slopes, study, summary\n\n"
            f"scenario = Scenario(\n{arguments}).validate()\n\n"
            "cells = frame(study(scenario))\n"
            "print(summary(cells).to_string(index=False))\n"
            "if scenario.axis:\n"
            "    print(slopes(scenario, cells).to_string(index=False))\n"
        )

    @classmethod
    def from_json(cls, text: str) -> Scenario:
        """Return the scenario of a JSON object; raises `InvalidInput` if it is none."""
        try:
            values = json.loads(text)
        except (json.JSONDecodeError, RecursionError) as problem:
            raise InvalidInput(f"The scenario must be a JSON object, got: {problem}.") from None
        require(isinstance(values, dict), "scenario", "a JSON object", type(values).__name__)
        return cls.from_dict(values)

    @classmethod
    def from_query(cls, query: Mapping[str, str]) -> Scenario:
        """Return the scenario of a URL's parameters; others than its fields are ignored."""
        names = {f.name for f in fields(cls)}
        return cls.from_dict({k: v for k, v in query.items() if k in names})

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Scenario:
        """Return the validated scenario with the given fields, and defaults for the others.

        Numbers may be text. A `rho` without an `epsilon` makes the budget zCDP.

        Raises
        ------
        InvalidInput
            For an unknown field, a value that cannot be read, or one that is not allowed.
        """
        names = [f.name for f in fields(cls)]
        for name in values:
            require(name in names, "field", f"one of {', '.join(names)}", shorten(name))
        parsed = {name: parse_field(name, value) for name, value in values.items()}
        if parsed.get("rho") is not None and "epsilon" not in values and "delta" not in values:
            parsed |= {"epsilon": None, "delta": None}
        return cls(**parsed).validate(sampling=False)


def default_for(field: str) -> Any:
    """Return the default value of a field."""
    return getattr(Scenario(), field)


def _one_of(name: str, value: str, allowed: tuple[str, ...]) -> None:
    must = f"one of {', '.join(allowed)}" if len(allowed) > 1 else allowed[0]
    require(value in allowed, name, must, shorten(value))


def _is_real(value: object) -> bool:
    return isinstance(value, (int, float)) and math.isfinite(value)


def _whole(name: str, value: int, low: int, high: int) -> None:
    must = f"an integer between {low:,} and {high:,}" if low < high else f"{low}"
    ok = isinstance(value, int) and not isinstance(value, bool) and low <= value <= high
    require(ok, name, must, value)


def _real(name: str, value: float, low: float, high: float, *, open_below: bool = False) -> None:
    above = f"above {low:g}" if open_below else f"at least {low:g}"
    ok = _is_real(value) and (low < value if open_below else low <= value) and value <= high
    require(ok, name, f"{above} and at most {high:g}", value)
