"""The one description of a run, shared by pages, addresses, command line, scripts and tests."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Any

from dpsco_core import catalogue
from dpsco_core.base.cards import Level
from dpsco_core.base.errors import InvalidInput, require
from dpsco_core.base.limits import LIBRARY, Limits
from dpsco_core.base.parsing import (
    describe_choices,
    is_real,
    one_of,
    real,
    shorten,
    to_plain,
    to_text,
)
from dpsco_core.base.seeds import SAME
from dpsco_core.fields import AXES, NAMES, TABLE, Fields, is_whole, parse, with_fields
from dpsco_core.geometry.geometries import GROUP_SIZE, Geometry
from dpsco_core.plugins import extend
from dpsco_core.plugins.guards import try_law
from dpsco_core.privacy.budget import ZCDP, ApproxDP, Budget, PureDP
from dpsco_core.problems import Setting
from dpsco_core.problems.samples.users import check_size

DEFAULT_GRIDS = {name: TABLE[name].grid for name in AXES}
DEFAULT_Q = 1.5
CHOSEN = tuple(name for name, known in TABLE.items() if known.choices)
RANGED = tuple(name for name, known in TABLE.items() if known.low is not None)
REAL = tuple(name for name, known in TABLE.items() if known.kind == "real")
# The least positive delta, for which shares of delta, and ratios with it, stay finite and positive.
DELTA_MIN = 1e-100


def default_grid(axis: str | None, geometry: str, offset: float = 0.0) -> tuple[float, ...]:
    """Return the default values of an axis, without those that a scenario would refuse.

    The geometry group-l1 needs a dimension of whole groups, and a diameter must leave room for a
    true parameter of norm `offset`.
    """
    grid = DEFAULT_GRIDS.get(str(axis), ())
    if axis == "diameter":
        return tuple(x for x in grid if x >= 2 * offset) or (2 * offset,)
    whole_groups = geometry == "group-l1" and axis == "d"
    return tuple(x for x in grid if x % GROUP_SIZE == 0) if whole_groups else grid


@dataclass(frozen=True, kw_only=True)
class Scenario(Fields):
    """A run: what is estimated, from what data, how much of it, how privately, and by whom.

    Examples
    --------
    >>> scenario = Scenario(n=1000, axis="n", grid=(1000, 10000))
    >>> Scenario.from_query(scenario.to_query()) == scenario
    True
    """

    @cached_property
    def budget(self) -> Budget:
        """The privacy budget."""
        if self.rho is not None:
            return ZCDP(rho=self.rho)
        assert self.epsilon is not None
        if not self.delta:
            return PureDP(epsilon=self.epsilon)
        return ApproxDP(epsilon=self.epsilon, delta=self.delta)

    @cached_property
    def instance(self) -> catalogue.Instance:
        """The problem, with its distribution, at this point."""
        return catalogue.make_instance(
            problem=self.problem,
            distribution=self.distribution,
            # Lower bounds for losses treat all items of all users as records (`Bound.seen`), and
            # their instances are hardest for that many records; an instance for a mean is hardest
            # for the users.
            n=self.n * self.m,
            m=self.m,
            d=self.d,
            budget=self.budget,
            moment_order=self.p,
            margin=self.margin,
            offset=self.offset,
            radius=self.diameter / 2,
            geometry=Geometry(kind=self.geometry, q=self.q),
            scale=self.scale,
            decay=self.decay,
            alike=self.alike,
        )

    @cached_property
    def setting(self) -> Setting:
        """The information that methods and bounds may use at this point."""
        instance = self.instance
        probability = instance.spike_probability
        return instance.problem.setting(
            self.n, self.budget, m=self.m, spike_probability=probability
        )

    @cached_property
    def level(self) -> Level:
        """The unit that a neighbour replaces: a user's block if users have several items."""
        user = any(catalogue.method_card(slug).level == "user" for slug in self.methods)
        return "user" if user or self.m > 1 else "item"

    def at(self, x: float | None) -> Scenario:
        """Return the single point at the value `x` of the axis, which is None without an axis."""
        if self.axis is None or x is None:
            return self
        value: Any = int(x) if is_whole(self.axis) else float(x)
        return replace(self, axis=None, grid=(), **{self.axis: value})

    def points(self) -> tuple[tuple[float | None, Scenario], ...]:
        """Return ``(x, point)`` for every value of the grid; ``x`` is None without an axis."""
        return ((None, self),) if self.axis is None else self._points

    @cached_property
    def _points(self) -> tuple[tuple[float, Scenario], ...]:
        """The value of the axis and the point, for each value of the grid."""
        return tuple((x, self.at(x)) for x in self.grid)

    @property
    def cells(self) -> int:
        """The number of cells: methods times points times trials."""
        return len(self.methods) * max(1, len(self.grid)) * self.trials

    def validate(self, limits: Limits = LIBRARY, *, sampling: bool = True) -> Scenario:
        """Return the scenario itself if everything is allowed; otherwise raise `InvalidInput`.

        Parameters
        ----------
        limits : Limits
            The place's largest sizes.
        sampling : bool
            Whether samples are drawn, so that their size n times d is limited; False where only
            bounds are evaluated.
        """
        types = self._types()
        if types is None:
            self._validate(limits, sampling=sampling)
        else:
            _validate_once(self, types, limits, sampling)
        return self

    def _types(self) -> tuple[type, ...] | None:
        """Return the types of all fields, which tell equal values such as 1 and True apart.

        Return None if the scenario must be validated again each time.
        """
        try:
            hash(self)
            slugs = (self.problem, self.distribution, *self.methods)
            types = (*map(type, map(self.__getattribute__, NAMES)), *map(type, self.grid))
        except TypeError:  # A value has the wrong type for its field: validation reports the field.
            return None
        # A plugin file may change between calls.
        return None if any(map(extend.is_added, slugs)) else types

    def _validate(self, limits: Limits, *, sampling: bool) -> None:
        """Raise InvalidInput unless the scenario is allowed within these limits."""
        self._check(CHOSEN, limits)
        self._validate_choices(limits)
        self._validate_axis(limits)
        self._validate_budget()
        # With an axis, this also checks the value that the axis's own field has beside the grid.
        self._check(RANGED, limits)
        self._validate_point(limits, sampling=sampling and self.axis is None)
        if self.axis is not None:
            for _, point in self.points():
                # A set may be too small to contain the true parameter.
                point._check((self.axis, "offset"), limits)
                point._validate_point(limits, sampling=sampling)
        if self.cells > limits.cells:
            raise InvalidInput(
                f"methods times points times trials must be at most {limits.cells:,} for "
                f"{limits.where}, got methods times points times trials={self.cells:,}."
            )

    def _check(self, names: Iterable[str], limits: Limits) -> None:
        """Raise InvalidInput unless each of the named fields is allowed by itself."""
        for name in names:
            TABLE[name].check(name, getattr(self, name), self, limits)

    def _validate_choices(self, limits: Limits) -> None:
        """Raise InvalidInput unless the law and the methods fit the problem."""
        self._check(("m",), limits)
        catalogue.check_law(self.problem, self.distribution)
        for name in ("methods", "grid"):
            value = getattr(self, name)
            if not isinstance(value, tuple):
                raise InvalidInput(f"{name} must be a tuple, got {name}={shorten(value)}.")
        fitting = catalogue.methods_for(self.problem)
        has_users = self.m > 1 or self.axis == "m"
        for slug in self.methods:
            card = catalogue.method_card(slug)
            protects = card.level == "user" or card.privacy == "none"
            must = "one at user level, or without privacy, where users have several items"
            require(protects or not has_users, "method", must, slug)
            if slug not in fitting:
                for_it = f"{describe_choices(fitting, slug)} for the problem {self.problem}"
                require(False, "method", for_it, slug)
        if len(set(self.methods)) < len(self.methods):
            require(False, "methods", "distinct", shorten(to_text(self.methods)))
        if self.geometry != "lq":
            if self.q is not None:
                left_out = f"left out for the geometry {self.geometry}"
                require(False, "q", left_out, shorten(self.q))
            require(self.axis != "q", "geometry", "lq for the axis q", self.geometry)

    def _validate_axis(self, limits: Limits) -> None:
        """Raise InvalidInput unless the grid fits the axis."""
        grid = self.grid
        if self.axis is None:
            if grid:
                require(False, "grid", "left out without an axis", shorten(to_text(grid)))
            return
        if not 1 <= len(grid) <= limits.grid:
            must = f"a list of 1 to {limits.grid:,} values for {limits.where}"
            require(False, "grid", must, f"{len(grid):,} values")
        for x in grid:
            if not is_real(x):
                require(False, "grid", "a list of finite numbers", shorten(x))
            if is_whole(self.axis) and x != int(x):
                require(False, "grid", f"a list of integers for the axis {self.axis}", x)
        if not all(a < b for a, b in pairwise(grid)):
            require(False, "grid", "increasing", shorten(to_text(grid)))
        if self.axis == "epsilon" and self.rho is not None:
            require(False, "rho", "left out for the axis epsilon", to_text(self.rho))

    def _validate_budget(self) -> None:
        """Raise InvalidInput unless the budget is either rho, or epsilon with delta."""
        if self.rho is not None:
            if self.epsilon is not None or self.delta is not None:
                budget_text = f"epsilon={to_text(self.epsilon)}, delta={to_text(self.delta)}"
                raise InvalidInput(
                    f"epsilon and delta must be left out beside rho, got {budget_text}."
                )
            return
        require(self.epsilon is not None, "epsilon", "given, or rho", "none")
        if not (is_real(self.delta) and 0 <= self.delta < 1):
            require(False, "delta", "at least 0 and below 1", shorten(to_text(self.delta)))
        real("delta", self.delta or 1.0, DELTA_MIN, 1)  # a delta of 0 means pure DP

    def _validate_point(self, limits: Limits, *, sampling: bool) -> None:
        """Raise InvalidInput unless the point has a law, a set and a size that are allowed."""
        if self.geometry == "lq" and not (self.q is not None and self.q >= 1):
            require(False, "q", "at least 1 for the geometry lq", shorten(to_text(self.q)))
        if not catalogue.problem_card(self.problem).infinite_variance:
            must = f"at least 2 for the problem {self.problem}, whose gradients need a variance"
            require(self.p >= 2, "p", must, shorten(self.p))
        if self.p < 2:
            self.instance  # noqa: B018 - making the instance raises an error if no such law exists
        if sampling:
            check_size(self.instance.problem, self.n, self.m, limits)
        Geometry(kind=self.geometry, q=self.q).check_dimension(self.d)
        if self.decay > 0 or self.alike > 0:
            self.instance  # noqa: B018 - making the instance raises an error if no such law exists
        if extend.is_added(self.distribution):
            try_law(self.instance.law)
        smallest_d = catalogue.distribution_class(self.distribution).smallest_d
        if self.d < smallest_d:
            must = f"at least {smallest_d} for the distribution {self.distribution}"
            require(False, "d", must, self.d)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values by field, None if unset; equal scenarios give equal values."""
        values = {name: getattr(self, name) for name in NAMES}
        values["grid"] = parse("grid", self.grid)  # The parser turns whole numbers into integers.
        # Adding 0.0 turns -0.0 into 0.0.
        values |= {k: values[k] + 0.0 for k in REAL if values[k] is not None}
        return {name: to_plain(value) for name, value in values.items()}

    def to_json(self) -> str:
        """Return a JSON object with every field."""
        return json.dumps(self.to_dict(), indent=2)

    def to_query(self, base: Scenario | None = None) -> dict[str, str]:
        """Return the fields that differ from `base` (the default scenario), as text for a URL."""
        default = Scenario() if base is None else base
        values = {name: getattr(self, name) for name in NAMES}
        out = {k: to_text(v) for k, v in values.items() if v != getattr(default, k)}
        if "axis" in out:  # Without its grid, an axis would be read with a default grid.
            out["grid"] = to_text(self.grid)
        if self.rho is not None:  # A zCDP budget has no epsilon and no delta.
            out.pop("epsilon", None)
            out.pop("delta", None)
        if self.axis is None:  # Without an axis, the grid is empty.
            out.pop("grid", None)
        return out

    def to_code(self) -> str:
        """Return the Python expression that creates this scenario."""
        values = {k: tuple(v) if isinstance(v, list) else v for k, v in self.to_dict().items()}
        code = {name: "float('inf')" if v == "inf" else repr(v) for name, v in values.items()}
        arguments = "".join(f"    {name}={text},\n" for name, text in code.items())
        return f"Scenario(\n{arguments}).validate()"

    def to_python(self) -> str:
        """Return a script that runs this scenario with the library and prints the results."""
        loading = extend.code_for((*self.methods, self.distribution))
        names = f"Scenario, {'extend, ' if loading else ''}frame, slopes, study, summary"
        return (
            f'"""Made by DP-SCO Explorer.\n\n{SAME}\n"""\n\n'
            f"from dpsco_core import {names}\n\n{loading}scenario = {self.to_code()}\n\n"
            "cells = frame(study(scenario))\n"
            "print(summary(cells, scenario).to_string(index=False))\n"
            "if scenario.axis:\n    print(slopes(scenario, cells).to_string(index=False))\n"
        )

    @classmethod
    def from_json(cls, text: str) -> Scenario:
        """Return the scenario of a JSON object; raise `InvalidInput` for other text."""
        try:
            values = json.loads(text)
        # A text that is nested too deep, or has an integer of too many digits, raises these, too.
        except (ValueError, RecursionError):
            values = None
        require(isinstance(values, dict), "scenario", "a JSON object", shorten(text))
        return cls.from_dict(values)

    @classmethod
    def from_query(cls, query: Mapping[str, str], base: Scenario | None = None) -> Scenario:
        """Return the scenario of a URL's parameters, ignoring parameters that are not fields."""
        return cls.from_dict({k: v for k, v in query.items() if k in TABLE}, base)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any], base: Scenario | None = None) -> Scenario:
        """Return the validated scenario with the given fields, and all other fields of `base`.

        Numbers may be text. A `rho` without an `epsilon` makes the budget zCDP, an `epsilon`
        without a `rho` the opposite; an `axis` without a `grid` takes its default grid; the
        geometry ``"lq"`` without a `q` takes 1.5, and the axis q makes it the geometry; a `problem`
        without `methods` takes those of `base` if they are made for it, and default ones if not.
        `base` is the default scenario if it is not given.

        Raises `InvalidInput` for an unknown field, a value that cannot be read, or one that is not
        allowed.
        """
        for name in values:
            one_of("field", name, NAMES)
        parsed = {name: parse(name, value) for name, value in values.items()}
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
            has_users = items > 1 or parsed.get("axis", start.axis) == "m"
            level: Level = "user" if has_users else "item"
            fitting = catalogue.methods_for(problem, level if has_users else None)
            if not set(start.methods) <= set(fitting):
                parsed["methods"] = catalogue.default_methods(problem, level)
        zcdp_no_more = parsed.get("rho") is None and parsed.get("epsilon") is not None
        if zcdp_no_more and start.rho is not None:
            parsed = {"delta": cls.delta} | parsed | {"rho": None}
        return replace(start, **parsed).validate(sampling=False)


Scenario.__doc__ = with_fields(Scenario.__doc__ or "")


@lru_cache(maxsize=4096)
def _validate_once(
    scenario: Scenario, types: tuple[type, ...], limits: Limits, sampling: bool
) -> None:
    """Validate a scenario; the cache then accepts an equal one whose fields have these types."""
    scenario._validate(limits, sampling=sampling)
