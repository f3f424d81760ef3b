"""A guard around plugin code, which turns its errors and invalid results into one sentence."""

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

# This pattern finds numpy's messages about writing to a read-only array.
READ_ONLY_MESSAGE = re.compile(r"read-only|set WRITEABLE flag")
# A check takes the result and the arguments, and returns the fault in words, or "".
Check = Callable[..., str]


def accept_any(*_: Any) -> str:
    """Return an empty text, by which every result of a plug-in is accepted."""
    return ""


def guarded(
    call: Callable[..., Any],
    row: str,  # the kind and the slug of the plugin's entry, such as "bound=upper.mean.mine"
    path: str,  # the file of the plugin
    check: Check = accept_any,
    # the errors that the plugin may raise, such as refusals
    passes: tuple[type[Exception], ...] = (),
) -> Callable[..., Any]:
    """Return a wrapper of `call` that raises nothing but `CodeFailed` and the errors in `passes`.

    Ctrl-C, and the caller's wish to end a cell, pass through as well.
    """

    @wraps(call)
    def safe(*arguments: Any, **keywords: Any) -> Any:
        """Call the plug-in's code, and return its result after checking it."""
        try:
            result = call(*arguments, **keywords)
            fault = check(result, *arguments)
        except KeyboardInterrupt:  # The user has pressed Ctrl-C.
            raise
        except BaseException as problem:
            if isinstance(problem, (CodeFailed, *passes)) or is_ended():
                raise
            raise code_failure(row, path, describe_error(problem, path)) from problem
        if fault:
            raise code_failure(row, path, fault)
        return result

    return safe


def code_failure(row: str, path: str, explanation: str) -> CodeFailed:
    """Return the error that names the failed row of the catalogue, its file and the fault."""
    kind = row.partition("=")[0]
    explanation = shorten(" ".join(explanation.split()).rstrip("."))
    return CodeFailed(
        f"{kind} must be one that works, got {row} of {Path(path).name} ({explanation})."
    )


def describe_error(problem: BaseException, path: str) -> str:
    """Return an error in words, with the number of the line of the file `path` that raised it."""
    frames = traceback.extract_tb(problem.__traceback__)
    lines = [f.lineno for f in frames if f.filename == path]
    if isinstance(problem, SyntaxError) and problem.filename == path:
        lines.append(problem.lineno)
    line_text = f" in line {lines[-1]}" if lines else ""
    if isinstance(problem, SyntaxError):
        message = problem.msg
    else:  # Unlike str(problem), this call never raises.
        message = traceback.format_exception_only(problem)[0].partition(": ")[2]
    if isinstance(problem, ValueError) and READ_ONLY_MESSAGE.search(message):
        return f"it writes{line_text} into shared data: copy it first"
    return f"{type(problem).__name__}{line_text}" + (f": {message}" if message else "")


def is_real_between(value: Any, low: float = -math.inf, high: float = math.inf) -> bool:
    """Return whether a value is a real number between two others, infinity allowed."""
    try:
        return not isinstance(value, str | bool) and low <= float(value) <= high
    except (TypeError, ValueError, OverflowError):
        return False
