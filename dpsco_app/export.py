"""Results as files: CSV, JSON and a Python script."""

from __future__ import annotations

import json

from dpsco_app.running import Result
from dpsco_core.report import run_json
from dpsco_core.tables import frame


def csv(result: Result) -> str:
    """Return the tidy frame, one row a (method, x, trial), as CSV."""
    return frame(result.outcomes).to_csv(index=False)


def json_text(result: Result) -> str:
    """Return the scenario, the results and every bound, as `dpsco run --json` prints them."""
    return json.dumps(run_json(result.scenario, result.outcomes), indent=2)


def python(result: Result) -> str:
    """Return a script that gives the same numbers."""
    return result.scenario.to_python()
