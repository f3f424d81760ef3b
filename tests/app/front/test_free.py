"""The front page's words and figure work without a server, a drawing library or pandas."""

from __future__ import annotations

import subprocess
import sys

SCRIPT = """
import sys
from dpsco_app.figure.theme import WIDE, Theme
from dpsco_app.front.screen import front_screen
from dpsco_app.front.study import Study
from dpsco_app.front.view import View
from dpsco_core.runs.study import study
from dpsco_core.scenario import Scenario
methods = ("mean.sample", "mean.clipped")
scenario = Scenario(methods=methods, axis="n", grid=(500, 1000), trials=2, n=1000)
one = Study(scenario=scenario, outcomes=tuple(study(scenario)))
screen = front_screen((one,), View(), Theme(dark=False, size=WIDE))
assert screen.answer.headline[0] and len(screen.charts["data"]) > 5
print(*sorted({"streamlit", "plotly", "pandas"} & set(sys.modules)))
"""


def test_the_front_page_needs_neither_streamlit_nor_plotly_nor_pandas() -> None:
    process = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, timeout=120, check=False
    )
    assert process.returncode == 0, process.stderr
    assert process.stdout.split() == []
