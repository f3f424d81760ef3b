"""The dashboard's server, warm before its first visitor comes."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

from streamlit.web import cli

import dpsco_app.main
from dpsco_app.charts import error_figure
from dpsco_app.look import Look
from dpsco_app.presets import DEFAULT
from dpsco_app.running import evaluations
from dpsco_core.catalogue import BOUND_SLUGS
from dpsco_core.costing import cost
from dpsco_core.study import cells, run_cell
from dpsco_core.tables import frame, summary

HERE = Path(dpsco_app.main.__file__).resolve().parent


def serve() -> None:
    """Warm up, and run Streamlit with the options of the command line."""
    warm_up()
    sys.argv = ["streamlit", "run", str(entry()), *sys.argv[1:]]
    sys.exit(cli.main())


def entry() -> Path:
    """Return the script that Streamlit runs: app.py in a checkout, its copy in a wheel."""
    checkout = HERE.parent / "app.py"
    return checkout if checkout.exists() else HERE / "entry.py"


def warm_up() -> None:
    """Run one trial of the first page's scenario, and draw it, to load what loads on first use."""
    scenario = replace(DEFAULT.scenario, trials=1)
    cost(scenario)
    table = summary(frame([run_cell(cell) for cell in cells(scenario)]))
    error_figure(scenario, table, evaluations(scenario, BOUND_SLUGS), Look())
