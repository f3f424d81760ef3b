"""Where a pointer has 32 bits, indices have 32, counts have 64, and every number is the same."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dpsco_core.data import DISTRIBUTIONS, GeneratedRows, StudentT
from dpsco_core.data.blocks import draw_key
from dpsco_core.data.hard import HardInstance
from dpsco_core.problems import Logistic
from dpsco_core.problems.samples.generated import GeneratedSample
from dpsco_core.scenario import Scenario
from tests.narrow_indices import indices_of_32_bits
from tests.trust.cases import CASES, case

CORE = Path(__file__).resolve().parents[1] / "dpsco_core"
DISTANT_ROW = 2**33  # A position that no 32-bit index reaches.
PICK = np.array([7, 0, 899, 7], dtype=np.int32)


def law_of(kind: Any, d: int) -> Any:
    """Return a law of a kind in d dimensions; a hard instance is drawn."""
    if issubclass(kind, HardInstance):
        return kind(d=d, spike_probability=0.3).draw(np.random.default_rng(5))
    return kind(d=d, offset=1.0, peak=0.5)


@pytest.mark.parametrize("kind", DISTRIBUTIONS)
def test_every_law_draws_the_same_numbers_with_indices_of_32_bits(kind: Any) -> None:
    law = law_of(kind, 3)
    expected = law.sample(70_000, np.random.default_rng(1)).x
    with indices_of_32_bits():
        law = law_of(kind, 3)
        rng = np.random.default_rng(1)
        np.testing.assert_array_equal(law.sample(70_000, rng).x, expected, strict=True)
        rows = law.stream(70_000, np.random.default_rng(1))
        places = np.arange(5, 70_000, 997)
        assert places.dtype == np.intp == np.int32
        np.testing.assert_array_equal(rows.take(places), expected[places], strict=True)


@pytest.mark.parametrize("name", CASES)
def test_every_private_method_releases_the_same_numbers_with_indices_of_32_bits(name: str) -> None:
    place = case(name)
    data = place.crowd(0)
    expected = place.play(data).result
    with indices_of_32_bits():
        result = place.play(data).result
    np.testing.assert_array_equal(result.value, expected.value, strict=True)
    if expected.iterate_steps is not None:
        assert result.iterate_steps.dtype == np.int64, "a step is a count"
        np.testing.assert_array_equal(result.iterate_steps, expected.iterate_steps)


def test_places_in_a_sample_that_is_never_held_have_64_bits() -> None:
    law, key = StudentT(d=2), draw_key(np.random.default_rng(0))
    whole = GeneratedRows.from_key(law, key, 2 * DISTANT_ROW)
    expected = np.concatenate(list(whole.blocks(DISTANT_ROW, DISTANT_ROW + 1000)))[PICK]
    problem = Scenario(problem=Logistic.card.slug, d=2).instance.problem
    sample = GeneratedSample.from_keys(problem, key, key, 2 * DISTANT_ROW)
    w = np.array([0.1, -0.2])
    gradients = sample.part(DISTANT_ROW, DISTANT_ROW + 1000).gradients(w).take(PICK)
    with indices_of_32_bits():
        part = whole.part(DISTANT_ROW, DISTANT_ROW + 1000)
        assert part.places(PICK).tolist() == (DISTANT_ROW + PICK.astype(np.int64)).tolist()
        np.testing.assert_array_equal(part.take(PICK), expected, strict=True)
        rows = sample.part(DISTANT_ROW, DISTANT_ROW + 1000).gradients(w).take(PICK)
        np.testing.assert_array_equal(rows, gradients, strict=True)


def test_the_simulated_platform_refuses_what_numpy_refuses_there() -> None:
    x = np.arange(3.0)
    with indices_of_32_bits():
        assert np.take(x, np.array([0, 2], dtype=np.intp)).tolist() == [0.0, 2.0]
        assert np.flatnonzero(x).dtype == np.int32
        for wide in (np.int64, np.uint64, np.uint32):
            with pytest.raises(TypeError, match="Cannot cast array data"):
                np.take(x, np.array([0, 2], dtype=wide))


WIDE = ("int64", "uint64", "uint32")
# Draws that have 64 bits on every platform.
DRAWS = ("choice", "integers", "geometric", "binomial")


def wide_indices(source: str) -> list[str]:
    """Return the places where an index array of another type than intp is used, in sentences."""
    faults = []
    for function in ast.walk(ast.parse(source)):
        if isinstance(function, ast.FunctionDef):
            names = {name for name, value in assigned(function) if is_wide(value)}
            faults += [
                f"line {index.lineno}: {ast.unparse(index)} is no array of intp"
                for index in indices(function)
                if (isinstance(index, ast.Call) and is_wide(index))
                or (isinstance(index, ast.Name) and index.id in names)
            ]
    return faults


def assigned(function: ast.FunctionDef) -> Iterator[tuple[str, ast.expr]]:
    """Yield the names that a function assigns, each with its value; those of its arguments too."""
    for argument in (*function.args.args, *function.args.kwonlyargs):
        if argument.annotation is not None:
            yield argument.arg, argument.annotation
    for node in ast.walk(function):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                names = target.elts if isinstance(target, ast.Tuple) else [target]
                values = [node.value] * len(names)
                if isinstance(node.value, ast.Tuple) and isinstance(target, ast.Tuple):
                    values = node.value.elts
                pairs = zip(names, values, strict=True)
                yield from ((name.id, value) for name, value in pairs if isinstance(name, ast.Name))


def is_wide(value: ast.expr) -> bool:
    """Whether an expression is an array of another integer type, or a draw of one."""
    if isinstance(value, ast.Subscript):
        return ast.unparse(value) in {f"NDArray[np.{kind}]" for kind in WIDE}
    if not isinstance(value, ast.Call) or not isinstance(value.func, ast.Attribute):
        return False
    kinds = [ast.unparse(k.value) for k in value.keywords if k.arg == "dtype"]
    if value.func.attr == "astype":
        kinds += [ast.unparse(value.args[0])]
    elif value.func.attr in DRAWS and "rng" in ast.unparse(value.func.value):
        return any(k.arg == "size" for k in value.keywords) and "np.int8" not in kinds
    return any(kind in {f"np.{wide}" for wide in WIDE} | {"int"} for kind in kinds)


def indices(function: ast.FunctionDef) -> Iterator[ast.expr]:
    """Yield the expressions with which a function indexes an array, in brackets or as an argument
    of take.
    """
    for node in ast.walk(function):
        if isinstance(node, ast.Subscript):
            yield from node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "take" and node.args:
            yield node.args[1 if ast.unparse(node.func) == "np.take" else 0]


def platform_integers(source: str) -> list[str]:
    """Return where an array has the dtype ``int``, which has 32 bits on some platforms, while
    counts need 64.
    """
    return [
        f"line {node.lineno}: {ast.unparse(node)} is neither np.intp nor np.int64"
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Call)
        and any(
            isinstance(kind, ast.Name) and kind.id == "int"
            for kind in (
                *(k.value for k in node.keywords if k.arg == "dtype"),
                *(node.args[:1] if getattr(node.func, "attr", "") == "astype" else ()),
            )
        )
    ]


def test_no_array_of_the_library_is_of_a_platforms_integers_by_accident() -> None:
    for path in sorted(CORE.rglob("*.py")):
        assert platform_integers(path.read_text()) == [], path.name
    assert len(platform_integers("k = x.astype(int); n = np.zeros(3, dtype=int)")) == 2


def test_every_index_array_of_the_library_is_of_the_platforms_own_type() -> None:
    for path in sorted(CORE.rglob("*.py")):
        assert wide_indices(path.read_text()) == [], path.name


@pytest.mark.parametrize(
    "line",
    [
        "k = np.empty(3, dtype=np.int64); np.take(x, k, out=x)",
        "k = x.astype(int); return y[k]",
        "k, s = np.empty((2, 3), dtype=np.int64); return np.take(x, k)",
        "k, s = np.empty(3, dtype=np.uint64), 1; return x[0, k]",
        "return x[rng.choice(9, size=3)]",
        "k = rng.integers(0, 9, size=3); return x.take(k)",
    ],
)
def test_the_scan_sees_an_index_array_of_another_type(line: str) -> None:
    assert len(wide_indices(f"def f(x, y, rng):\n    {line}")) == 1


def test_the_scan_sees_the_annotation_of_an_argument() -> None:
    assert wide_indices("def f(x, k: NDArray[np.int64]):\n    return x[k]")
    assert not wide_indices("def f(x, k: NDArray[np.intp]):\n    return x[k]")
