"""A platform whose indices have 32 bits, as WebAssembly's and 32-bit ARM's, played on this one.

There numpy hands out indices of 32 bits, and refuses indices of 64 bits where they would have to be
cast: ``Cannot cast array data from dtype('int64') to dtype('int32') according to the rule 'safe'``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

# The functions that return numpy's own index type, and those with an argument that must be castable
# to that type, with its place.
GIVES_INDICES = ("flatnonzero", "nonzero", "argsort", "lexsort", "searchsorted", "triu_indices")
TAKES_INDICES = {"take": 1, "put": 1, "repeat": 1, "bincount": 0}


def narrowed(value: Any) -> Any:
    """Return indices of 64 bits as 32-bit numbers, and any other value unchanged."""
    if isinstance(value, tuple):
        return tuple(narrowed(part) for part in value)
    if isinstance(value, np.ndarray) and value.dtype == np.int64:
        return value.astype(np.int32)
    return np.int32(value) if isinstance(value, np.int64) else value


@contextmanager
def indices_of_32_bits() -> Iterator[None]:
    """Let numpy give and take indices of 32 bits, as on a platform with 32-bit pointers."""
    with pytest.MonkeyPatch.context() as patch:
        for name in GIVES_INDICES:
            patch.setattr(np, name, _giving(getattr(np, name)))
        for name, place in TAKES_INDICES.items():
            patch.setattr(np, name, _taking(getattr(np, name), place))
        unique, arange = np.unique, np.arange

        def parts(x: Any, *args: Any, **keywords: Any) -> Any:
            """Return the unique values, and their indices as 32-bit numbers."""
            result = unique(x, *args, **keywords)
            return (result[0], *narrowed(result[1:])) if isinstance(result, tuple) else result

        def counted(*args: Any, **keywords: Any) -> Any:
            """Return a range as 32-bit numbers, unless its dtype is given."""
            result = arange(*args, **keywords)
            return result if "dtype" in keywords else narrowed(result)

        patch.setattr(np, "unique", parts)
        patch.setattr(np, "arange", counted)
        patch.setattr(np, "intp", np.int32)
        yield


def _giving(honest: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function with its result narrowed to 32-bit indices."""
    return lambda *args, **keywords: narrowed(honest(*args, **keywords))


def _taking(honest: Callable[..., Any], place: int) -> Callable[..., Any]:
    """Return the function, made to refuse an argument at `place` that does not fit in 32-bit
    indices.
    """

    def taking(*args: Any, **keywords: Any) -> Any:
        """Call the function, or refuse an argument that does not fit."""
        kind = np.asarray(args[place]).dtype if np.ndim(args[place]) else np.dtype(np.int32)
        if not np.can_cast(kind, np.int32, "safe"):
            raise TypeError(f"Cannot cast array data from {kind} to int32 according to 'safe'")
        return honest(*args, **keywords)

    return taking
