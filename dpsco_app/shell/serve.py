"""The dashboard's server, warm before its first visitor comes."""

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
from dpsco_app.runs.stored import ENVIRONMENT, served
from dpsco_app.shell.main import PACKAGE
from dpsco_core.results.tables import frame, summary
from dpsco_core.runs.cost import cost
from dpsco_core.runs.study import cells, run_cell

# How long a thread computes before it hands Python's lock on: among many runs, the thread that
# reads and sends messages waits for all of them, many times a page. Python's own value is 5 ms.
SWITCH_SECONDS = 0.0005


def serve(options: list[str]) -> None:
    """Warm up, and run Streamlit with its options."""
    warm_up()
    # What is here now stays for good, and no collection of garbage needs to look through it again:
    # 0.13 s, for which all threads wait.
    gc.collect()
    gc.freeze()
    sys.setswitchinterval(SWITCH_SECONDS)
    sys.argv = ["streamlit", "run", str(entry()), *options]
    run_module("streamlit", run_name="__main__", alter_sys=True)


def offer(study: str | None) -> None:
    """Let every visitor open the studies of a results file; raises `InvalidInput` if it is none."""
    if study is None:
        return  # a file that the environment names may be written later
    os.environ[ENVIRONMENT] = str(Path(study).absolute())
    shelf = served()
    assert shelf is not None
    shelf.contents()


def entry() -> Path:
    """Return the script that Streamlit runs: app.py in a checkout, its copy in a wheel."""
    checkout = PACKAGE.parent / "app.py"
    return checkout if checkout.exists() else PACKAGE / "entry.py"


def warm_up() -> None:
    """Run one trial of the first page's panels, and draw them, to load what loads on first use."""
    scenario = replace(DEFAULT.scenario, trials=1)
    own_study, hard = Study(scenario=scenario), hardest(scenario)
    unmeasured = (own_study,) if hard is None else (own_study, Study(scenario=hard, role="hardest"))
    for study in unmeasured:
        cost(study.scenario)
    studies = tuple(
        replace(s, outcomes=tuple(map(run_cell, cells(s.scenario)))) for s in unmeasured
    )
    front_screen(studies, View(), Theme())
    summary(frame(studies[0].outcomes))  # the tables below
