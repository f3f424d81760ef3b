"""The library's own code behind a method, as text: its steps, its plan, and what it hands on to."""

import inspect
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

from dpsco_core.catalogue import method_class
from dpsco_core.methods.mean.base import answer


@dataclass(frozen=True, kw_only=True)
class Source:
    """A piece of the library: what it is, its file from the repository's root, and its text."""

    title: str
    path: str
    text: str


def release_source(slug: str) -> tuple[Source, ...]:
    """Return the code that runs: the method's `release`, and the functions that it hands on to."""
    kind = method_class(slug)
    release = inspect.unwrap(kind.release)  # one that was added may be wrapped
    source = _source(release.__qualname__, release)
    return (source, *(_source(part.__name__, part) for part in handed_on(release)))


def plan_source(slug: str) -> Source:
    """Return the code that chooses the parameters, without the data."""
    kind = method_class(slug)
    return _source(kind.plan.__qualname__, inspect.unwrap(kind.plan))


def handed_on(function: Any) -> tuple[FunctionType, ...]:
    """Return the functions of methods that one names, and where that is one, what it names too.

    Checks are left out: they take no step. The projection of the answer is not followed further.
    """
    parts = tuple(_named_functions(function))
    steps = [part for part in parts if part is not answer]
    if len(steps) != 1:
        return parts
    return (steps[0], *handed_on(steps[0]), *(part for part in parts if part is answer))


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
