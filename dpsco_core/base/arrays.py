"""Conversion of arrays from outside to float64, with one sentence for whatever is refused.

Sensitivities are proven for real numbers. Unsigned integers wrap around (minus a record of 1 is
4294967295), short floats overflow, complex numbers have a part that no noise covers, and a mask is
silently lost. So every array of records, gradients or exact values passes `real_array` first.
"""

from dataclasses import is_dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from dpsco_core.base.errors import InvalidInput, require

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]

AnyArray = TypeVar("AnyArray", bound=NDArray[Any])
_DOUBLE = np.dtype(np.float64)


def real_array(
    name: str,
    value: object,
    *,
    # Whether a float32 array is kept as it is, in half the memory; readers then convert the rows
    # that they read.
    keep_single: bool = False,
) -> Vector:
    """Return an array of real numbers as a plain float64 array: itself if it is one already.

    Integers beyond 2^53 and numbers of extended precision are rounded to the nearest double, and
    extended numbers beyond its range become infinite. Each entry is converted by itself, so that
    neighbours stay neighbours. Refusals depend on the type alone, never on an entry.

    Raises `InvalidInput` for anything else: complex numbers, objects, dates, text, fields, a list.

    Examples
    --------
    >>> real_array("x", np.array([0, 1], dtype=np.uint32)) * -1.0
    array([-0., -1.])
    >>> real_array("x", np.array([1j]))
    Traceback (most recent call last):
    ...
    dpsco_core.base.errors.InvalidInput: x must be a numpy array of real numbers, got x=complex128.
    """
    if type(value) is np.ndarray and value.dtype == _DOUBLE:
        return value
    condition, kind = "a numpy array of real numbers", type(value).__name__
    if not isinstance(value, np.ndarray):
        raise InvalidInput(f"{name} must be {condition}, got {name}={kind}.")
    require(not isinstance(value, np.ma.MaskedArray), name, "an array without a mask", kind)
    require(value.dtype.kind in "biuf", name, condition, value.dtype)
    keeps_single = keep_single and value.dtype.type is np.float32
    # A signalling NaN becomes a quiet NaN, and a long double may exceed the largest double.
    with np.errstate(invalid="ignore", over="ignore"):
        plain: Vector = np.asarray(value).astype(
            np.float32 if keeps_single else _DOUBLE, copy=False
        )
    return plain


def read_only(array: AnyArray) -> AnyArray:
    """Return a read-only view of an array; the array itself stays writeable.

    Examples
    --------
    >>> x = np.zeros(2)
    >>> read_only(x).flags.writeable, x.flags.writeable
    (False, True)
    """
    view: AnyArray = array.view()
    view.flags.writeable = False
    return view


def close_arrays(value: object) -> None:
    """Make every array inside `value`, and the memory behind it, read-only.

    `value` is an array, a dataclass, or a container of them. Views of a closed array cannot be made
    writeable again. Use it only for arrays that this program has made: a caller's own array would
    become read-only for the caller, too.

    Examples
    --------
    >>> x = np.zeros(2)
    >>> close_arrays({"rows": (x,)})
    >>> x.flags.writeable, x.view().flags.writeable
    (False, False)
    """
    visited: set[int] = set()
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if item is None or isinstance(item, int | float | str | type) or id(item) in visited:
            continue
        visited.add(id(item))
        if isinstance(item, np.ndarray):
            item.flags.writeable = False
            waiting.append(item.base)
            if item.dtype.hasobject:
                waiting.extend(item.flat)
        elif isinstance(item, tuple | list | set | frozenset):
            waiting.extend(item)
        elif isinstance(item, dict):
            waiting.extend(item.values())
        elif is_dataclass(item):
            waiting.extend(vars(item).values() if hasattr(item, "__dict__") else ())
