"""Runs as files to run again: a script, and a Jupyter notebook made of the same lines.

A script in the percent format, whose cells begin at ``# %%``, is both: editors run it cell by cell,
and `notebook` writes it as JSON.
"""

import hashlib
import json
from collections.abc import Sequence

from dpsco_core.base.errors import require
from dpsco_core.base.seeds import SAME
from dpsco_core.extend import code_for
from dpsco_core.scenario import Scenario

CELL = "# %%"
WORDS = "# %% [markdown]"
BOUNDS = """import pandas as pd

from dpsco_core.results.report import evaluate_all

bounds = pd.DataFrame(
    {
        "bound": e.bound.card.name,
        "kind": e.bound.card.kind,
        "constant": e.bound.card.constant,
        "losses": str(e.bound.card.loss_class),
        "applies": e.applies,
        "statement": f"{e.bound.card.paper}, {e.bound.card.statement}",
        "x": e.x,
        "value": e.value,
        "fails": " ".join(e.failures),
    }
    for e in evaluate_all(scenario)
)
bounds"""
SWEEP = """names = ["name", "run"] if "run" in table else ["name"]
for name, rows in table.groupby(names, sort=False):
    figure.add_scatter(
        x=rows["x"],
        y=rows["median_error"],
        name=", ".join(name),
        error_y={
            "array": rows["q90"] - rows["median_error"],
            "arrayminus": rows["median_error"] - rows["q10"],
        },
    )
lower = (bounds["kind"] == "lower") & bounds["applies"]
proven = bounds[lower & (bounds["constant"] == "explicit")]
for name, rows in proven.groupby("bound", sort=False):
    figure.add_scatter(x=rows["x"], y=rows["value"], name=name, line_dash="dot")
"""


def run_script(scenarios: Sequence[Scenario]) -> str:
    """Return a script that gives the numbers of one run, or of one and another beside it.

    It prints the summary, and writes every cell to the file that is named on its command line.
    """
    _check(scenarios)
    return (
        '"""Made by DP-SCO Explorer.\n\n'
        f"{SAME}\n\n"
        "`python dpsco_run.py cells.csv` also writes every trial to a file.\n"
        '"""\n\n'
        "import sys\n\n"
        + _imports(scenarios)
        + "\n"
        + _scenario(scenarios)
        + "\n"
        + _cells(scenarios)
        + _table(scenarios)
        + "if len(sys.argv) > 1:\n    cells.to_csv(sys.argv[1], index=False)\n"
    )


def run_notebook(scenarios: Sequence[Scenario]) -> str:
    """Return the same run as a notebook: words, scenario, run, table, bounds and figure."""
    _check(scenarios)
    first = scenarios[0]
    swept = f", swept over {first.axis}" if first.axis else ""
    parts = (
        (
            WORDS,
            "# A run of DP-SCO Explorer\n\n"
            f"The problem `{first.problem}` on `{first.distribution}` data with {first.n:,} "
            f"records in {first.d:,} dimensions{swept}, under the budget {first.budget}.\n\n"
            f"{SAME} Neighbouring data sets differ by "
            f"replacing one {'user' if first.level == 'user' else 'record'}; the data are "
            "synthetic. It needs `dpsco-explorer`, and `plotly` for the figure.",
        ),
        (CELL, _imports(scenarios)),
        (WORDS, "## The scenario"),
        (CELL, _scenario(scenarios)),
        (WORDS, "## The run\n\nEvery row is one trial of one method at one point."),
        (CELL, _cells(scenarios) + "cells"),
        (WORDS, "## The summary over the trials, and the slopes"),
        (CELL, _table(scenarios) + "table"),
        (WORDS, "## The bounds"),
        (CELL, BOUNDS),
        (WORDS, "## The figure\n\nMedians with 10 % and 90 % of the trials."),
        (CELL, _figure(first)),
    )
    return notebook("\n".join(f"{mark}\n{_written(mark, text)}" for mark, text in parts))


def _check(scenarios: Sequence[Scenario]) -> None:
    require(len(scenarios) in (1, 2), "scenarios", "one or two", f"{len(scenarios)} of them")


def _written(mark: str, text: str) -> str:
    if mark == CELL:
        return text if text.endswith("\n") else text + "\n"
    return "".join(f"# {line}".rstrip() + "\n" for line in text.split("\n"))


def _imports(scenarios: Sequence[Scenario]) -> str:
    pandas = "import pandas as pd\n\n" if len(scenarios) > 1 else ""
    own = "".join(dict.fromkeys(code_for((*s.methods, s.distribution)) for s in scenarios))
    names = f"Scenario, {'extend, ' if own else ''}frame, slopes, study, summary"
    return f"{pandas}from dpsco_core import {names}\n" + (f"\n{own}" if own else "")


def _scenario(scenarios: Sequence[Scenario]) -> str:
    names = ("scenario", "beside")
    return "".join(f"{n} = {s.to_code()}\n" for n, s in zip(names, scenarios, strict=False))


def _cells(scenarios: Sequence[Scenario]) -> str:
    if len(scenarios) == 1:
        return "cells = frame(study(scenario))\n"
    return (
        'runs = {"shown": scenario, "beside": beside}\n'
        "cells = pd.concat(\n"
        "    [\n"
        "        frame(study(s)).assign(run=name, geometry=s.geometry)\n"
        "        for name, s in runs.items()\n"
        "    ]\n"
        ")\n"
    )


def _table(scenarios: Sequence[Scenario]) -> str:
    if len(scenarios) == 1:
        return (
            "table = summary(cells)\n"
            "print(table.to_string(index=False))\n"
            "if scenario.axis:\n"
            "    print(slopes(scenario, cells).to_string(index=False))\n"
        )
    return (
        'parts = cells.groupby("run", sort=False)\n'
        "table = pd.concat([summary(rows).assign(run=name) for name, rows in parts])\n"
        "print(table.to_string(index=False))\n"
    )


def _figure(scenario: Scenario) -> str:
    if scenario.axis is None:
        drawn = (
            'for name, rows in cells.groupby("name", sort=False):\n'
            '    figure.add_box(y=rows["error"], name=name)\n'
        )
    else:
        drawn = f'{SWEEP}figure.update_xaxes(type="log", title="{scenario.axis}")\n'
    return (
        f"import plotly.graph_objects as go\n\nfigure = go.Figure()\n{drawn}"
        'figure.update_yaxes(type="log", title="error")\n'
        'figure.update_layout(template="plotly_white")\n'
        "figure"
    )


def notebook(script: str) -> str:
    """Return a script in the percent format as a notebook, nbformat 4.5.

    Lines before the first mark ``# %%`` are a cell of code; ``# %% [markdown]`` begins words, whose
    lines are comments.

    Examples
    --------
    >>> made = json.loads(notebook("# %% [markdown]\\n# Words\\n\\n# %%\\n1 + 1\\n"))
    >>> [(cell["cell_type"], cell["source"]) for cell in made["cells"]]
    [('markdown', ['Words']), ('code', ['1 + 1'])]
    """
    cells: list[dict[str, object]] = []
    kind, lines = "code", list[str]()
    for line in [*script.split("\n"), CELL]:
        if not line.startswith(CELL):
            lines.append(line)
            continue
        if kind == "markdown":
            lines = [line.removeprefix("#").removeprefix(" ") for line in lines]
        if text := "\n".join(lines).strip("\n"):
            cell: dict[str, object] = {
                "cell_type": kind,
                "id": hashlib.sha256(f"{len(cells)} {text}".encode()).hexdigest()[:8],
                "metadata": {},
                "source": text.splitlines(keepends=True),
            }
            cells.append(
                cell | ({} if kind == "markdown" else {"execution_count": None, "outputs": []})
            )
        kind, lines = "markdown" if line.rstrip() == WORDS else "code", []
    made = {
        "cells": cells,
        "metadata": {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(made, indent=1, ensure_ascii=False) + "\n"
