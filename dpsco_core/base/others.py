"""Code that somebody added: what it raises, and what it wrongly returns, is one sentence."""

import math
import re
import traceback
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

from dpsco_core.base.errors import CodeFailed
from dpsco_core.base.interrupt import is_ended
from dpsco_core.base.parsing import shorten

# What numpy says of an array that may not be written to.
CLOSED = re.compile(r"read-only|set WRITEABLE flag")
Check = Callable[..., str]  # takes what came back and what was given; says what is wrong, or ""


def nothing_wrong(*_: Any) -> str:
    """Find no fault in any result."""
    return ""


def guarded(
    call: Callable[..., Any],
    what: str,  # the kind and the slug, as "bound=upper.mean.mine"
    path: str,  # the file that it is in
    check: Check = nothing_wrong,
    passes: tuple[type[Exception], ...] = (),  # what it may raise: a refusal of its own
) -> Callable[..., Any]:
    """Return `call`, which raises `CodeFailed` and nothing else but `passes`."""

    @wraps(call)
    def safe(*given: Any, **named: Any) -> Any:
        try:
            result = call(*given, **named)
            wrong = check(result, *given)
        except KeyboardInterrupt:  # from whoever started the process
            raise
        except BaseException as problem:
            if isinstance(problem, (CodeFailed, *passes)) or is_ended():
                raise
            raise failure(what, path, reason(problem, path)) from problem
        if wrong:
            raise failure(what, path, wrong)
        return result

    return safe


def failure(what: str, path: str, why: str) -> CodeFailed:
    """Return the error that says which row of the catalogue failed, where it is, and how."""
    kind = what.partition("=")[0]
    why = shorten(" ".join(why.split()).rstrip("."))
    return CodeFailed(f"{kind} must be one that works, got {what} of {Path(path).name} ({why}).")


def reason(problem: BaseException, path: str) -> str:
    """Return what went wrong in a file, with the last of its lines that took part."""
    frames = traceback.extract_tb(problem.__traceback__)
    lines = [f.lineno for f in frames if f.filename == path]
    if isinstance(problem, SyntaxError) and problem.filename == path:
        lines.append(problem.lineno)
    where = f" in line {lines[-1]}" if lines else ""
    if isinstance(problem, SyntaxError):
        told = problem.msg
    else:  # an error whose own text raises is told, too
        told = traceback.format_exception_only(problem)[0].partition(": ")[2]
    if isinstance(problem, ValueError) and CLOSED.search(told):
        return f"it writes{where} into shared data: copy it first"
    return f"{type(problem).__name__}{where}" + (f": {told}" if told else "")


def real(value: Any, low: float = -math.inf, high: float = math.inf) -> bool:
    """Whether a value is a real number, infinity allowed, between two others."""
    try:
        return not isinstance(value, str | bool) and low <= float(value) <= high
    except (TypeError, ValueError, OverflowError):
        return False
