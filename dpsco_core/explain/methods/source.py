"""The library's own code behind a method, as text: its steps, its plan, its parts."""

import inspect
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

from dpsco_core.catalogue import method_class
from dpsco_core.methods.access import Access
from dpsco_core.methods.mean.base import into_ball
from dpsco_core.methods.phases import PhasesPlan
from dpsco_core.methods.statistics import Statistic
from dpsco_core.methods.steps import Moves

METHODS = "dpsco_core.methods."
PARTS = (Statistic, Access, Moves, PhasesPlan)
# what a kind has to say itself, if it says anything else
OPEN = (
    Statistic.value,
    Access.open,
    Moves.run,
    PhasesPlan.open,
    PhasesPlan.run,
)
# what a part of a plan does in a run: of a mean, and of any other
DOES_ONCE = ("value", "estimate", "take")
DOES = ("value", "measuring", "take", "open", "run")


@dataclass(frozen=True, kw_only=True)
class Source:
    """A piece of the library: what it is, its file from the repository's root, and its text."""

    title: str
    path: str
    text: str


def release_source(slug: str) -> tuple[Source, ...]:
    """Return the code that runs: the method's `release`, its parts, and what they hand on to."""
    kind = method_class(slug)
    release = inspect.unwrap(kind.release)  # one that was added may be wrapped
    source = _source(release.__qualname__, release)
    handed = handed_on(release)
    does = DOES_ONCE if "estimate" in _names(release.__code__) else DOES
    parts = (part for part in parts_of(kind.plan, kind, does=does) if part not in handed)
    return (
        source,
        *(_source(part.__name__, part) for part in handed),
        *(_source(part.__qualname__, part) for part in parts),
    )


def parts_of(
    function: Any,
    owner: type | None = None,  # the method whose `plan` it is, or is asked by
    visited: set[Any] | None = None,
    does: tuple[str, ...] = DOES,
) -> tuple[FunctionType, ...]:
    """Return what the parts do that a plan is made of, and the functions that they hand on to."""
    function, visited = inspect.unwrap(function), set() if visited is None else visited
    functions = dict[FunctionType, None]()
    for name in dict.fromkeys(_names(function.__code__)):
        thing = function.__globals__.get(name, getattr(owner, name, None))
        thing = getattr(thing, "__wrapped__", thing)  # one that keeps its results
        module = str(getattr(thing, "__module__", ""))
        if not (module.startswith(METHODS) and inspect.isroutine(thing) | inspect.isclass(thing)):
            continue
        if thing in visited:
            continue
        visited.add(thing)
        if isinstance(thing, FunctionType):
            functions |= dict.fromkeys(parts_of(thing, owner, visited, does))
        elif isinstance(thing, type) and callable(plan := getattr(thing, "plan", None)):
            # Another method plans it.
            functions |= dict.fromkeys(parts_of(plan, thing, visited, does))
        elif isinstance(thing, type) and (issubclass(thing, PARTS) or hasattr(thing, "take")):
            members = (getattr(thing, name, None) for name in does)
            for part in (f for f in members if isinstance(f, FunctionType) and f not in OPEN):
                called_parts = (*parts_of(part, None, visited, does), *handed_on(part))
                functions |= dict.fromkeys((part, *called_parts))
    return tuple(functions)


def plan_source(slug: str) -> Source:
    """Return the code that chooses the parameters, without the data."""
    kind = method_class(slug)
    return _source(kind.plan.__qualname__, inspect.unwrap(kind.plan))


def handed_on(function: Any) -> tuple[FunctionType, ...]:
    """Return the functions of methods that one names, and where that is one, what it names too.

    Checks are left out: they take no step. The projection of the answer is not followed further.
    """
    parts = tuple(_named_functions(function))
    steps = [part for part in parts if part is not into_ball]
    if len(steps) != 1:
        return parts
    return (steps[0], *handed_on(steps[0]), *(part for part in parts if part is into_ball))


def _named_functions(function: FunctionType) -> Iterator[FunctionType]:
    modules = ("dpsco_core.methods.", function.__module__)
    for name in dict.fromkeys(_names(function.__code__)):
        part = function.__globals__.get(name)
        is_check = name.startswith("check_")
        if isinstance(part, FunctionType) and part.__module__.startswith(modules) and not is_check:
            yield part


def _names(code: CodeType) -> Iterator[str]:
    """Yield the names that code uses, that of functions inside it included."""
    yield from code.co_names
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _names(inner)


def _source(title: str, function: Any) -> Source:
    assert isinstance(function, FunctionType)
    path = function.__module__.replace(".", "/") + ".py"
    if not path.startswith("dpsco_core/"):  # whoever added it knows where
        path = Path(inspect.getfile(function)).name
    return Source(title=title, path=path, text=textwrap.dedent(inspect.getsource(function)))
