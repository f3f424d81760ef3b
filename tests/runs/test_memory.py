"""No method needs more than 1.2 times its input: what a release allocates is at most a fifth of it.

numpy reports its arrays to `tracemalloc`. The input is 40 MB: beside it a method may hold a few
blocks of 1.5 MB, a few numbers a record (1/d of the input each) and, at user level, a few vectors
a user (1/m each).
"""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from dpsco_core.catalogue import METHODS, make_method, method_card, method_class
from dpsco_core.data.users import UserRows
from dpsco_core.privacy import Ledger
from dpsco_core.problems.samples.users import sample_users
from dpsco_core.scenario import Scenario
from tests.accepted_problems import accepts

LARGEST_SHARE = 0.2  # The largest allowed memory, as a share of the input.
ITEMS = Scenario(problem="logistic", n=100_000, d=50, epsilon=2.0, trials=1, methods=())
USERS = replace(ITEMS, n=4000, m=36, d=36)
# A generalised linear model never forms gradients, while a loss of points does. For the hinge loss,
# some methods smooth with points of a ball.
PROBLEMS = ("mean", "logistic", "quadratic", "hinge")
QUICK = (
    ("mean.clipped", "mean"),
    ("mean.iterative", "mean"),
    ("mean.cwme-cdp", "mean"),
    ("mean.smoothed", "mean"),
    ("sco.clipped", "logistic"),
    ("user.clipped-means", "logistic"),
)


CASES = [(m.card.slug, p) for m in METHODS for p in PROBLEMS if p in m.card.problems]


def bytes_of(value: object) -> int:
    """Return the bytes of the arrays that an object holds."""
    if isinstance(value, np.ndarray):
        return value.nbytes
    return sum(map(bytes_of, vars(value).values())) if hasattr(value, "__dict__") else 0


def prepare_release(slug: str, problem: str) -> tuple[int, Callable[[], Any]]:
    """Return the bytes of the input, and a release whose parameters are already chosen."""
    card = method_card(slug)
    scenario = USERS if card.level == "user" else ITEMS
    scenario = replace(scenario, problem=problem, methods=(slug,))
    if card.geometry == "lq":
        scenario = replace(scenario, geometry="lq", q=method_class(slug).stage.exponent)
    scenario = scenario.validate()
    setting, rng = scenario.setting, np.random.default_rng(0)
    method: Any = make_method(slug, "tight", "practical")
    plan = method.plan(setting)
    posed: Any = scenario.instance.problem
    if card.level == "item":
        sample = posed.sample(scenario.n, rng)
    elif problem == "mean":
        rows = posed.sample(scenario.n * scenario.m, rng)
        sample = UserRows(records=rows, items=scenario.m)
    else:
        sample = sample_users(posed, scenario.n, scenario.m, rng)
    return bytes_of(sample), lambda: method.release(sample, plan, Ledger(scenario.budget), rng)


def peak_memory(release: Callable[[], Any]) -> int:
    """Return the largest number of bytes that a release held at once, besides its input."""
    tracemalloc.start()
    try:
        release()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def check(slug: str, problem: str) -> None:
    """Assert that a release needs little memory beyond its input."""
    size, release = prepare_release(slug, problem)
    assert 38e6 < size < 45e6
    memory = peak_memory(release)
    assert memory <= LARGEST_SHARE * size, f"{memory / size:.2f} of the input"


@pytest.mark.parametrize(("slug", "problem"), QUICK)
def test_a_release_holds_a_few_blocks_beside_its_input(slug: str, problem: str) -> None:
    check(slug, problem)


@pytest.mark.slow
@pytest.mark.parametrize(("slug", "problem"), CASES)
def test_every_method_holds_a_few_blocks_beside_its_input(slug: str, problem: str) -> None:
    if not accepts(slug, problem):
        pytest.skip("the method refuses such losses")
    check(slug, problem)


def test_a_copy_of_the_input_is_detected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "dpsco_core.methods.statistics.clipped_mean",
        lambda rows, radius: np.abs(rows.x).mean(axis=0),
    )
    with pytest.raises(AssertionError, match="of the input"):
        check("mean.clipped", "mean")
