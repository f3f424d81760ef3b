"""The dashboard's server, which is warmed up before the first visitor comes."""

import gc
import os
import sys
from dataclasses import replace
from pathlib import Path
from runpy import run_module

from dpsco_app.figure.theme import Theme
from dpsco_app.front.screen import front_screen
from dpsco_app.front.study import Study
from dpsco_app.front.view import View
from dpsco_app.parts.evaluations import hardest
from dpsco_app.parts.presets import DEFAULT
from dpsco_app.runs.stored import ENVIRONMENT, served_shelf
from dpsco_app.shell.main import PACKAGE
from dpsco_core.results.tables import frame, summary
from dpsco_core.runs.cost import cost
from dpsco_core.runs.study import cells, run_cell

# The time after which a thread releases Python's global lock. While many runs compute, the thread
# that reads and sends messages waits for all of them many times per page. The default is 5 ms.
SWITCH_SECONDS = 0.0005


def serve(options: list[str]) -> None:
    """Warm up the server, then run Streamlit with the given options."""
    warm_up()
    # The objects loaded so far stay for good, so the garbage collector need not scan them again; a
    # scan takes 0.13 s, during which all threads wait.
    gc.collect()
    gc.freeze()
    sys.setswitchinterval(SWITCH_SECONDS)
    sys.argv = ["streamlit", "run", str(entry_script()), *options]
    run_module("streamlit", run_name="__main__", alter_sys=True)


def offer_study(study: str | None) -> None:
    """Offer the studies of a results file, given by its path, to every visitor.

    Raises `InvalidInput` if it is no results file; None offers nothing.
    """
    if study is None:
        return  # A file named by the environment variable may be written later.
    os.environ[ENVIRONMENT] = str(Path(study).absolute())
    shelf = served_shelf()
    assert shelf is not None
    shelf.contents()


def entry_script() -> Path:
    """Return the script that Streamlit runs: app.py in a checkout, its copy in a wheel."""
    checkout = PACKAGE.parent / "app.py"
    return checkout if checkout.exists() else PACKAGE / "entry.py"


def warm_up() -> None:
    """Run and draw one trial of the first page's panels, to import what loads on first use."""
    scenario = replace(DEFAULT.scenario, trials=1)
    own_study, hard = Study(scenario=scenario), hardest(scenario)
    unmeasured = (own_study,) if hard is None else (own_study, Study(scenario=hard, role="hardest"))
    for study in unmeasured:
        cost(study.scenario)
    studies = tuple(
        replace(s, outcomes=tuple(map(run_cell, cells(s.scenario)))) for s in unmeasured
    )
    front_screen(studies, View(), Theme())
    summary(frame(studies[0].outcomes))  # This loads what the tables need.
