"""The library's own code of a method as text: its steps, its plan and its parts."""

import inspect
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

from dpsco_core.catalogue import method_class
from dpsco_core.methods.access import Access
from dpsco_core.methods.phases import PhasesPlan
from dpsco_core.methods.records.base import into_ball
from dpsco_core.methods.statistics import Statistic
from dpsco_core.methods.steps import Moves

METHODS = "dpsco_core.methods."
PARTS = (Statistic, Access, Moves, PhasesPlan)
# These methods of the base classes only say which method is missing, and are not shown.
OPEN = (
    Statistic.value,
    Access.open,
    Moves.run,
    PhasesPlan.open,
    PhasesPlan.run,
)
# The methods of a plan's parts that a run calls: for means, and for other problems.
DOES_ONCE = ("value", "estimate", "take")
DOES = ("look", "value", "measuring", "take", "open", "run")


@dataclass(frozen=True, kw_only=True)
class Source:
    """A piece of the library's code: its title, its file in the repository, and its text."""

    title: str
    path: str
    text: str


def release_source(slug: str) -> tuple[Source, ...]:
    """Return the source code that a run of a method executes, function by function.

    The method's `release` comes first, then the functions and the parts of a plan that it uses.
    """
    kind = method_class(slug)
    release = inspect.unwrap(kind.release)  # The release of a plugin may be wrapped.
    source = _source_of(release.__qualname__, release)
    handed = handed_on(release)
    does = DOES_ONCE if "estimate" in _names_in_code(release.__code__) else DOES
    parts = (part for part in parts_of(kind.plan, kind, does=does) if part not in handed)
    return (
        source,
        *(_source_of(part.__name__, part) for part in handed),
        *(_source_of(part.__qualname__, part) for part in parts),
    )


def parts_of(
    function: Any,
    # the method that has the function as its `plan`, or whose attributes the plan uses
    owner: type | None = None,
    visited: set[Any] | None = None,
    does: tuple[str, ...] = DOES,
) -> tuple[FunctionType, ...]:
    """Return the methods of a plan's parts that run, with the functions that they call."""
    function, visited = inspect.unwrap(function), set() if visited is None else visited
    functions = dict[FunctionType, None]()
    for name in dict.fromkeys(_names_in_code(function.__code__)):
        thing = function.__globals__.get(name, getattr(owner, name, None))
        thing = getattr(thing, "__wrapped__", thing)  # A cached function wraps the original one.
        module = str(getattr(thing, "__module__", ""))
        if not (module.startswith(METHODS) and inspect.isroutine(thing) | inspect.isclass(thing)):
            continue
        if thing in visited:
            continue
        visited.add(thing)
        if isinstance(thing, FunctionType):
            functions |= dict.fromkeys(parts_of(thing, owner, visited, does))
        elif isinstance(thing, type) and callable(plan := getattr(thing, "plan", None)):
            # The plan belongs to another method.
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
    return _source_of(kind.plan.__qualname__, inspect.unwrap(kind.plan))


def handed_on(function: Any) -> tuple[FunctionType, ...]:
    """Return the method functions that a function names; for a single one, also its own.

    Checks are left out: they take no step. The projection of the answer is not followed further.
    """
    parts = tuple(_named_functions(function))
    steps = [part for part in parts if part is not into_ball]
    if len(steps) != 1:
        return parts
    return (steps[0], *handed_on(steps[0]), *(part for part in parts if part is into_ball))


def _named_functions(function: FunctionType) -> Iterator[FunctionType]:
    """Yield the functions of this library that a function names."""
    modules = ("dpsco_core.methods.", function.__module__)
    for name in dict.fromkeys(_names_in_code(function.__code__)):
        part = function.__globals__.get(name)
        is_check = name.startswith("check_")
        if isinstance(part, FunctionType) and part.__module__.startswith(modules) and not is_check:
            yield part


def _names_in_code(code: CodeType) -> Iterator[str]:
    """Yield the names that code uses, including those in nested functions."""
    yield from code.co_names
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _names_in_code(inner)


def _source_of(title: str, function: Any) -> Source:
    """Return the source code of a function under a title, with the path of its file."""
    assert isinstance(function, FunctionType)
    path = function.__module__.replace(".", "/") + ".py"
    if not path.startswith("dpsco_core/"):  # The author of a plugin knows where its code is.
        path = Path(inspect.getfile(function)).name
    return Source(title=title, path=path, text=textwrap.dedent(inspect.getsource(function)))
