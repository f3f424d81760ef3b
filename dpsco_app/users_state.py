"""What the controls and the address of the page Users hold."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any
from urllib.parse import urlencode

import streamlit as st

from dpsco_core.errors import InvalidInput, require
from dpsco_core.limits import SEED_MAX
from dpsco_core.parsing import one_of, real, shorten, to_text, whole
from dpsco_core.problems.user_level import UserLevel
from dpsco_core.views.user_crossing import FILTERED, PLAIN
from dpsco_core.views.user_map import BASES, LOSSES

PREFIX = "users_field_"  # of the widgets' keys
OTHERS = ("user.phased-sgd", "user.accelerated-strong", "user.group-privacy")
N_OPTIONS = (500, 1000, 2000, 3000, 5000, 10_000, 20_000, 30_000, 50_000, 100_000)
M_OPTIONS = (1, 10, 100, 1000, 10_000, 100_000, 1_000_000)
D_OPTIONS = (2, 5, 10, 20)
EPSILON_OPTIONS = (0.1, 0.2, 0.5, 1, 2, 5, 10)
DELTA_OPTIONS = (1e-12, 1e-10, 1e-8, 1e-6, 1e-5, 1e-4)
CONDITION_OPTIONS = (0.01, 0.1, 1, 10, 100)
TRIALS_OPTIONS = (2, 5, 10, 20, 50)


@dataclass(frozen=True, kw_only=True)
class View:
    """What the page shows.

    Parameters
    ----------
    n, m, d : int
        Users, items a user, dimension.
    epsilon, delta : float
        The budget of one user.
    condition : float
        Smoothness in units of L/R.
    basis : str
        What the map compares: one of `dpsco_core.views.user_map.BASES`.
    loss : str
        Of the rates: one of `dpsco_core.views.user_map.LOSSES`.
    also : str
        Further methods that are measured, of `OTHERS`, separated by commas.
    trials, seed : int
        Of the measured crossover.
    """

    n: int = 10_000
    m: int = 100
    d: int = 10
    epsilon: float = 1.0
    delta: float = 1e-6
    condition: float = 1.0
    basis: str = "rates"
    loss: str = "smooth"
    also: str = ""
    trials: int = 10
    seed: int = 0

    def validate(self) -> View:
        """Return the view; raises `InvalidInput` in one sentence."""
        whole("n", self.n, N_OPTIONS[0], N_OPTIONS[-1])
        whole("m", self.m, 1, M_OPTIONS[-1])
        whole("d", self.d, 1, D_OPTIONS[-1])
        real("epsilon", self.epsilon, EPSILON_OPTIONS[0], EPSILON_OPTIONS[-1])
        real("delta", self.delta, DELTA_OPTIONS[0], DELTA_OPTIONS[-1])
        real("condition", self.condition, CONDITION_OPTIONS[0], CONDITION_OPTIONS[-1])
        one_of("basis", self.basis, BASES)
        one_of("loss", self.loss, LOSSES)
        for slug in self.others:
            one_of("also", slug, OTHERS)
        whole("trials", self.trials, TRIALS_OPTIONS[0], TRIALS_OPTIONS[-1])
        whole("seed", self.seed, 0, SEED_MAX)
        return self

    @property
    def others(self) -> tuple[str, ...]:
        """The further methods, in the order of `OTHERS` where they are known."""
        named = [slug for slug in self.also.split(",") if slug]
        return tuple(dict.fromkeys(named))

    @property
    def methods(self) -> tuple[str, ...]:
        """All methods that are measured."""
        return (FILTERED, PLAIN, *self.others)

    @property
    def level(self) -> UserLevel:
        """The chosen point, in units of L and R."""
        return UserLevel(
            n=self.n,
            m=self.m,
            d=self.d,
            epsilon=self.epsilon,
            delta=self.delta,
            smoothness=self.condition,
        )


DEFAULT = View()
NAMES = tuple(f.name for f in fields(View))
INTEGERS = tuple(name for name in NAMES if isinstance(getattr(DEFAULT, name), int))
TEXTS = tuple(name for name in NAMES if isinstance(getattr(DEFAULT, name), str))


@dataclass(frozen=True, kw_only=True)
class Scene:
    """A view worth a button."""

    name: str
    look_for: str
    changes: dict[str, Any]


SCENES = (
    Scene(
        name="Where the filter pays",
        look_for="n = 10,000 and ε = 1: clipped means do not get better with m, the filtered mean "
        "does, and they cross near a thousand items a user.",
        changes={"n": 10_000, "d": 10, "epsilon": 1.0, "delta": 1e-6, "trials": 10, "also": ""},
    ),
    Scene(
        name="More budget, earlier",
        look_for="At ε = 5 the test takes a smaller share of the users away: the crossover comes "
        "at fewer items.",
        changes={"n": 10_000, "d": 10, "epsilon": 5.0, "delta": 1e-6, "trials": 10},
    ),
    Scene(
        name="Few users",
        look_for="With 2,000 users the printed constants are out of reach, and the calibrated ones "
        "run with a noise that only many items make small.",
        changes={"n": 2000, "d": 10, "epsilon": 1.0, "delta": 1e-6},
    ),
    Scene(
        name="Proven, not hidden",
        look_for="With every constant in place, group privacy has the smallest bound nearly "
        "everywhere; the filters win at a million items a user.",
        changes={"basis": "proven"},
    ),
)


def from_query(query: Mapping[str, str]) -> tuple[View, list[str]]:
    """Return what an address says, and a sentence for every value that is not allowed."""
    view, problems = DEFAULT, []
    for name in NAMES:
        if name not in query:
            continue
        try:
            view = replace(view, **{name: _parsed(name, query[name])}).validate()
        except InvalidInput as problem:
            problems.append(str(problem))
    return view, problems


def _parsed(name: str, text: str) -> str | int | float:
    if name in TEXTS:
        return text
    kind = "an integer" if name in INTEGERS else "a number"
    try:
        value = float(text)
    except ValueError:
        raise InvalidInput(f"{name} must be {kind}, got {name}={shorten(text)}.") from None
    if name not in INTEGERS:
        return value
    whole_number = math.isfinite(value) and value == int(value)
    require(whole_number, name, "an integer", shorten(text))
    return int(value)


def to_query(view: View) -> dict[str, str]:
    """Return the view as parameters; what is at its default is left out."""
    return {
        name: to_text(getattr(view, name))
        for name in NAMES
        if getattr(view, name) != getattr(DEFAULT, name)
    }


def _held(name: str, value: Any) -> Any:
    """Return a value as its widget holds it."""
    return [slug for slug in value.split(",") if slug] if name == "also" else value


def load(view: View) -> None:
    """Put a view into the widgets' state."""
    change({name: getattr(view, name) for name in NAMES})


def change(changes: Mapping[str, Any]) -> None:
    """Change some of the widgets' state."""
    for name, value in changes.items():
        st.session_state[PREFIX + name] = _held(name, value)


def restore() -> list[str]:
    """Put the address into the widgets' state if it is new; return what is wrong with it.

    While another page is shown the state of the widgets is lost: an empty address brings the page
    back as it was left.
    """
    state = st.session_state
    here = all(PREFIX + name in state for name in NAMES)
    query = {k: v for k, v in st.query_params.to_dict().items() if k in NAMES}
    if not here and not query and "users_left" in state:
        load(state["users_left"])
        state["users_problems"] = []
    elif not here or query != state.get("users_written"):
        view, state["users_problems"] = from_query(query)
        load(view)
    for name in NAMES:  # keeps what no widget shows at the moment
        state[PREFIX + name] = state[PREFIX + name]
    return list(state["users_problems"])


def current() -> View:
    """Return what the widgets hold."""
    held = {name: st.session_state[PREFIX + name] for name in NAMES}
    held["also"] = ",".join(held["also"])
    return View(**held).validate()


def remember(view: View) -> None:
    """Write the view into the address, leaving other parameters alone, and keep it."""
    query = to_query(view)
    every = st.query_params.to_dict()
    if query != {k: v for k, v in every.items() if k in NAMES}:
        st.query_params.from_dict({**{k: v for k, v in every.items() if k not in NAMES}, **query})
    st.session_state["users_written"] = query
    st.session_state["users_left"] = view


def address(view: View) -> str:
    """Return the whole address of a view, to be copied."""
    page, query = (st.context.url or "").split("?")[0], urlencode(to_query(view))
    return f"{page}?{query}" if query else page
