"""Results as files: CSV, JSON and a Python script."""

from __future__ import annotations

import json

import pandas as pd

from dpsco_app.running import Result
from dpsco_core.report import run_json
from dpsco_core.tables import frame


def csv(result: Result) -> str:
    """Return the tidy frame, one row a (method, x, trial), as CSV; two sets have a column."""
    if result.beside is None:
        return frame(result.outcomes).to_csv(index=False)
    parts = [
        frame(part.outcomes).assign(geometry=part.scenario.geometry)
        for part in (result, result.beside)
    ]
    return pd.concat(parts).to_csv(index=False)


def json_text(result: Result) -> str:
    """Return the scenario, the results and every bound, as `dpsco run --json` prints them.

    Those of a second set are under ``beside``.
    """
    found = run_json(result.scenario, result.outcomes)
    if result.beside is not None:
        found["beside"] = run_json(result.beside.scenario, result.beside.outcomes)
    return json.dumps(found, indent=2)


def python(result: Result) -> str:
    """Return a script that gives the same numbers."""
    beside = "" if result.beside is None else "\n\n" + result.beside.scenario.to_python()
    return result.scenario.to_python() + beside
