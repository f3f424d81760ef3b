"""The caller of a cell can end it between two steps."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dpsco_core.base.errors import CodeFailed
from dpsco_core.base.interrupt import asked_between_steps, between_steps
from dpsco_core.base.plugin_guard import guarded
from dpsco_core.catalogue import METHODS, method_card
from dpsco_core.runs.study import Cell, cells, run_cell
from dpsco_core.scenario import Scenario
from tests.accepted_problems import first_accepted, set_for

# This method needs a loss with a closed form, and takes no steps.
CLOSED = "sco.objective-perturbation-strong"
STEPWISE = [m.card.slug for m in METHODS if "mean" not in m.card.problems and m.card.slug != CLOSED]


class Stopped(BaseException):
    """An interruption that, like Streamlit's, is no `Exception`."""


def small_cell(slug: str) -> Cell:
    """Return a cell of a method on a loss without a closed form, if it takes one."""
    users = method_card(slug).level == "user"
    problem = first_accepted(slug, "logistic", "quadratic")
    scenario = Scenario(
        problem=problem, methods=(slug,), n=2000, d=3, m=3 if users else 1, **set_for(slug)
    )
    return next(cells(replace(scenario, trials=1)))


@pytest.mark.parametrize("slug", STEPWISE)
def test_every_optimiser_can_be_stopped_between_two_steps(slug: str) -> None:
    cell = small_cell(slug)

    def stop() -> None:
        """Stop the run."""
        raise Stopped

    with asked_between_steps(stop), pytest.raises(Stopped):
        run_cell(cell)
    between_steps()  # After the block the callback is not called.
    signals: list[int] = []
    with asked_between_steps(lambda: signals.append(1)):
        outcome = run_cell(cell)
    assert signals and outcome.error == run_cell(cell).error


def test_plugin_code_can_be_stopped_between_two_steps() -> None:
    def stop() -> None:
        """Stop the run."""
        raise Stopped

    call = guarded(between_steps, "method=mean.mine", "mine.py")
    with asked_between_steps(stop), pytest.raises(Stopped):
        call()
    with pytest.raises(CodeFailed, match=r"got method=mean.mine of mine.py \(Stopped"):
        guarded(stop, "method=mean.mine", "mine.py")()
