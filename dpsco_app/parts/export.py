"""Results as files: CSV, JSON, a Python script and a notebook."""

import json
from collections.abc import Callable

import pandas as pd
import streamlit as st

from dpsco_app.parts.folding import fold
from dpsco_app.parts.running import Result
from dpsco_core.results.notebook import notebook as percent_notebook
from dpsco_core.results.notebook import run_notebook, run_script
from dpsco_core.results.report import run_json
from dpsco_core.results.tables import frame, summary

RUNS = ("shown", "beside")


def csv(result: Result) -> str:
    """Return the tidy frame as CSV, one row a (method, x, trial); two runs have a column."""
    cells = frame(result.outcomes)
    if result.beside is not None:
        cells = _beside_each_other(result, [frame(part.outcomes) for part in result.parts])
    return cells.to_csv(index=False)


def summary_csv(result: Result) -> str:
    """Return the summary over the trials as CSV, one row a (method, x)."""
    table = summary(frame(result.outcomes))
    if result.beside is not None:
        tables = [summary(frame(part.outcomes)) for part in result.parts]
        table = _beside_each_other(result, tables)
    return table.to_csv(index=False)


def _beside_each_other(result: Result, tables: list[pd.DataFrame]) -> pd.DataFrame:
    named = zip(RUNS, result.parts, tables, strict=True)
    return pd.concat(
        [
            t.assign(run=run, geometry=part.scenario.geometry, p=part.scenario.p)
            for run, part, t in named
        ]
    )


def json_text(result: Result) -> str:
    """Return the scenario, the results and every bound, as `dpsco run --json` prints them.

    Those of a second run are under ``beside``.
    """
    found = run_json(result.scenario, result.outcomes)
    if result.beside is not None:
        found["beside"] = run_json(result.beside.scenario, result.beside.outcomes)
    return json.dumps(found, indent=2)


def python(result: Result) -> str:
    """Return a script that gives the same numbers."""
    return run_script([part.scenario for part in result.parts])


def notebook(result: Result) -> str:
    """Return a Jupyter notebook that gives the same numbers, with their figure."""
    return run_notebook([part.scenario for part in result.parts])


def draw_run_files(result: Result) -> None:
    """Draw the buttons that save a run."""
    files = (
        ("CSV: every cell", lambda: csv(result), "dpsco-cells.csv", "text/csv"),
        ("CSV: the summary", lambda: summary_csv(result), "dpsco-summary.csv", "text/csv"),
        (
            "JSON: results and bounds",
            lambda: json_text(result),
            "dpsco-run.json",
            "application/json",
        ),
        (
            "Python: the same run as a script",
            lambda: python(result),
            "dpsco_run.py",
            "text/x-python",
        ),
        (
            "Notebook: the same run in Jupyter",
            lambda: notebook(result),
            "dpsco_run.ipynb",
            "application/x-ipynb+json",
        ),
    )
    for label, make, name, kind in files:
        st.download_button(label, make, name, kind, on_click="ignore", width="stretch")


def draw_page_files(page: str, script: Callable[[], str]) -> None:
    """Draw the popover that saves a page's numbers as a script in the percent format."""

    def draw() -> None:
        st.markdown("The numbers of this page, made again by the library.")
        st.download_button(
            "Python: a script",
            script,
            f"dpsco_{page}.py",
            "text/x-python",
            on_click="ignore",
            width="stretch",
            key=f"{page}_python",
        )
        st.download_button(
            "Notebook: the same in Jupyter",
            lambda: percent_notebook(script()),
            f"dpsco_{page}.ipynb",
            "application/x-ipynb+json",
            on_click="ignore",
            width="stretch",
            key=f"{page}_notebook",
        )

    fold("Export", draw, f"{page}_export", kind="popover", icon=":material/download:")
