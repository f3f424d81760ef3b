"""Every method in the real engine: WebAssembly's numbers are the native ones."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Iterator
from dataclasses import replace
from functools import cache

import pytest
from playwright.sync_api import Page

from deploy.live.library import PACKAGES
from dpsco_core.catalogue import METHOD_SLUGS, method_card
from dpsco_core.runs.study import Outcome, cells, run_cell
from dpsco_core.scenario import Scenario

RUN = """async ([queries, packages]) => {
  const { loadPyodide } = await import("/engine/pyodide.mjs")
  const python = await loadPyodide({ indexURL: "/engine/" })
  const bytes = async (file) => (await fetch(`/engine/${file}`)).arrayBuffer()
  for (const name of packages) python.unpackArchive(await bytes(`${name}.whl`), "wheel")
  python.unpackArchive(await bytes("dpsco.zip"), "zip", { extractDir: "/home/pyodide" })
  const modules = python.runPython(`
import sys
import dpsco_app.site.visit
" ".join(sys.modules)
`)
  python.globals.set("queries", queries)
  const errors = python.runPython(`
import json
from dpsco_core.runs.study import cells, run_cell
from dpsco_core.scenario import Scenario
made = [run_cell(next(cells(Scenario.from_json(q)))) for q in json.loads(queries)]
json.dumps([o.error for o in made])
`)
  return [modules, errors]
}"""
# What takes memory and is needed by few methods, or by none.
NOT_AT_ONCE = ("scipy.spatial", "scipy.interpolate", "scipy.optimize._highspy", "scipy.stats")
SETS = ({}, {"geometry": "l1"}, {"geometry": "lq", "q": 1.5}, {"geometry": "lq", "q": 3.0})
BUDGETS = ({}, {"delta": 0.0}, {"epsilon": None, "delta": None, "rho": 0.5})
ITEMS = (1, 50)


def candidates(slug: str) -> Iterator[Scenario]:
    base = Scenario(methods=(slug,), n=2000, d=5, trials=1, seed=3)
    problems = method_card(slug).problems
    for problem, more, budget, m in itertools.product(problems, SETS, BUDGETS, ITEMS):
        yield replace(base, problem=problem, m=m, **more, **budget)


@cache
def native(slug: str) -> tuple[Scenario, Outcome]:
    """Return a small scenario that a method runs in, and what it gives here."""
    for scenario in candidates(slug):
        try:
            outcome = run_cell(next(cells(scenario.validate())))
        except ValueError:  # not a scenario: another set, budget or number of items
            continue
        if math.isfinite(outcome.error):
            return scenario, outcome
    pytest.fail(f"{slug} ran in none of the scenarios")


def test_every_method_gives_the_native_numbers_in_the_engine(tab: Page, live: str) -> None:
    asked = [native(slug) for slug in METHOD_SLUGS]
    tab.goto(f"{live}/icon.png")
    queries = json.dumps([scenario.to_json() for scenario, _ in asked])
    modules, answer = tab.evaluate(RUN, [queries, list(PACKAGES)])
    assert "scipy.optimize._zeros_py" in modules.split()
    assert not set(NOT_AT_ONCE) & set(modules.split())
    errors = json.loads(answer)
    wrong = {
        slug: (error, outcome.error)
        for slug, error, (_, outcome) in zip(METHOD_SLUGS, errors, asked, strict=True)
        if error != pytest.approx(outcome.error, rel=1e-10, abs=1e-14)
    }
    assert len(errors) >= 35 and wrong == {}
