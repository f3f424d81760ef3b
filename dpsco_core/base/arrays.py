"""The door for arrays from outside: real numbers as float64, and one sentence for the rest.

Sensitivities are proven for real numbers. Unsigned integers wrap around (minus a record of 1 is
4294967295), short floats overflow, complex numbers have a part that no noise covers, and a mask is
lost on the way: so every array of records, gradients or exact values passes `real_array` first.
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
    # whether float32 stays, for half the memory; every reader then converts what it reads
    keep_single: bool = False,
) -> Vector:
    """Return an array of real numbers as a plain array of float64: itself where it is one.

    An integer beyond 2^53 and a number of extended precision are rounded to the nearest double, an
    extended one beyond the range becomes infinite: one entry at a time, so that neighbours stay
    neighbours. What is refused depends on the type alone, never on an entry.

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
    must, kind = "a numpy array of real numbers", type(value).__name__
    if not isinstance(value, np.ndarray):
        raise InvalidInput(f"{name} must be {must}, got {name}={kind}.")
    require(not isinstance(value, np.ma.MaskedArray), name, "an array without a mask", kind)
    require(value.dtype.kind in "biuf", name, must, value.dtype)
    single = keep_single and value.dtype.type is np.float32
    # A signalling NaN becomes a quiet one, and a long double may be beyond the largest double.
    with np.errstate(invalid="ignore", over="ignore"):
        plain: Vector = np.asarray(value).astype(np.float32 if single else _DOUBLE, copy=False)
    return plain


def read_only(array: AnyArray) -> AnyArray:
    """Return a view of an array that cannot be written to; the array itself stays as it is.

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
    """Make every array that `value` holds read only, and the memory behind it.

    `value` is an array, a dataclass, or a container of them. Views of what was closed cannot be
    made writeable again. For what this program has made: an array of a caller's own would be
    closed to the caller, too.

    Examples
    --------
    >>> x = np.zeros(2)
    >>> close_arrays({"rows": (x,)})
    >>> x.flags.writeable, x.view().flags.writeable
    (False, False)
    """
    seen: set[int] = set()
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if one is None or isinstance(one, int | float | str | type) or id(one) in seen:
            continue
        seen.add(id(one))
        if isinstance(one, np.ndarray):
            one.flags.writeable = False
            waiting.append(one.base)
            if one.dtype.hasobject:
                waiting.extend(one.flat)
        elif isinstance(one, tuple | list | set | frozenset):
            waiting.extend(one)
        elif isinstance(one, dict):
            waiting.extend(one.values())
        elif is_dataclass(one):
            waiting.extend(vars(one).values() if hasattr(one, "__dict__") else ())
