"""The default methods of a scenario."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dpsco_core.base.errors import NotApplicable
from dpsco_core.catalogue import PROBLEM_SLUGS, default_methods, method_card, methods_for
from dpsco_core.explain.methods import guide
from dpsco_core.explain.methods.guide import BEGIN_SECONDS, usual_methods
from dpsco_core.runs import cost as costing
from dpsco_core.runs.cost import cost
from dpsco_core.runs.study import planned
from dpsco_core.scenario import Scenario


@pytest.fixture(autouse=True, params=[1.0, 50.0])
def speed(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> float:
    """Price every run as on a machine of this speed, which must not change the default methods."""
    usual_methods.cache_clear()
    for module in (costing, guide):
        monkeypatch.setattr(module, "machine_speed", lambda: request.param)
    return float(request.param)


@pytest.mark.parametrize("problem", PROBLEM_SLUGS)
def test_under_pure_privacy_and_in_lq_the_default_methods_are_quick_and_suitable(
    problem: str,
    speed: float,
) -> None:
    default = default_methods(problem)
    start = Scenario(problem=problem, methods=default, n=2000)
    assert usual_methods(start, "item") == default
    pure = replace(start, delta=0.0)
    fits = {m: "pure" in method_card(m).budgets for m in methods_for(problem)}
    curved = {m: method_card(m).geometry == "lq" for m in methods_for(problem)}
    for scenario, fitting in ((pure, fits), *((_in_lq(start, q), curved) for q in (1.5, 3.0))):
        usual = usual_methods(scenario, "item")
        private = [m for m in usual if method_card(m).privacy != "none"]
        quick_others = [
            m for m in fitting if fitting[m] and m not in usual and _is_quick(scenario, m, speed)
        ]
        assert usual == default or all(_is_quick(scenario, m, speed) for m in private)
        if scenario is pure:
            assert not quick_others or all(fitting[m] for m in private)
        else:
            made_for_it = [m for m in fitting if fitting[m] and _is_quick(scenario, m, speed)]
            assert sum(fitting[m] for m in private) == min(1, len(made_for_it))
        assert [fitting[m] for m in private] == sorted((fitting[m] for m in private), reverse=True)
        assert [m for m in usual if m not in private] == [
            m for m in default if method_card(m).privacy == "none"
        ]


def _in_lq(scenario: Scenario, q: float) -> Scenario:
    """Return the scenario on an lq ball."""
    return replace(scenario, geometry="lq", q=q)


def _is_quick(scenario: Scenario, method: str, speed: float) -> bool:
    """Return whether a private method runs at a scenario within the time for a first run."""
    card = method_card(method)
    try:
        fits = card.level == "item" and card.privacy != "none" and bool(planned(scenario, method))
    except NotApplicable:
        return False
    seconds = cost(replace(scenario, methods=(method,)), exact=False).seconds / speed
    return fits and seconds <= BEGIN_SECONDS
