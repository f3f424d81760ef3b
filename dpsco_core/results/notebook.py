"""Files that reproduce a run: a Python script, and a Jupyter notebook of the same lines.

A script in the percent format, with cells that begin at ``# %%``, serves as both: editors run it
cell by cell, and `script_to_notebook` converts it to JSON.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence

from dpsco_core.base.errors import require
from dpsco_core.base.seeds import SAME
from dpsco_core.fields import is_linear
from dpsco_core.plugins.extend import code_for
from dpsco_core.scenario import Scenario

CELL = "# %%"
MARKDOWN_CELL = "# %% [markdown]"
BOUNDS = """import pandas as pd

from dpsco_core.results.report import evaluate_all

bounds = pd.DataFrame(
    {
        "slug": e.bound.card.slug,
        "bound": e.bound.card.name,
        "quantity": e.bound.card.quantity,
        "kind": e.bound.card.kind,
        "constant": e.bound.card.constant,
        "class": e.bound.card.class_text,
        "binds": f"every {e.binds}" if e.binds else "",
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
    errors = zip(rows["standard_error"], rows["trials"], strict=True)
    figure.add_scatter(
        x=rows["x"],
        y=rows["mean_error"],
        name=", ".join(name),
        mode="lines+markers",
        error_y={"array": [interval_half_width(*pair) for pair in errors]},
    )
for name, slugs in lines.items():
    mine = held[held["slug"].isin(slugs)]
    largest = mine.groupby("x")["value"].max()
    dash = "dash" if (mine["constant"] == "rate").any() else "solid"
    figure.add_scatter(x=largest.index, y=largest, name=name, mode="lines", line_dash=dash)
points = scenario.points()
start = [starting_risk(point) for _, point in points]
figure.add_scatter(
    x=[x for x, _ in points], y=start, name="Answer without data", mode="lines", line_dash="dot"
)
"""
FORMULAS = """for text in {formulas}:
    x, y = zip(*own_line(scenario, parse_formula(text)), strict=True)
    figure.add_scatter(x=x, y=y, name=text, mode="lines", line_dash="dashdot")
"""
SINGLE = """for name, rows in cells.groupby("name", sort=False):
    figure.add_box(y=rows["error"], name=name, boxmean=True, boxpoints="all")
for name, slugs in lines.items():
    for value in held[held["slug"].isin(slugs)]["value"]:
        figure.add_hline(y=value, line_width=1, annotation_text=name)
start = starting_risk(scenario)
if start > 0:
    figure.add_hline(y=start, line_dash="dot", annotation_text="Answer without data")
"""


BY_MEANS = (
    "Mean errors with their 95 % intervals, the bounds of the page's figure wherever their "
    "hypotheses hold, and the error of the answer that ignores the data."
)
BY_TRIALS = (
    "Every trial with the quartiles and the mean, the bounds of the page's figure if their "
    "hypotheses hold, and the error of the answer that ignores the data."
)


# In a script the scenarios have these names: the run that is shown, then its companions.
NAMES = ("scenario", "beside", "pinned")


def run_script(scenarios: Sequence[Scenario]) -> str:
    """Return a script that reproduces a run and its companions.

    It prints the summary, and writes every cell to the file named on its command line.
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


def run_notebook(
    scenarios: Sequence[Scenario],
    lines: Mapping[str, Sequence[str]] | None = None,
    formulas: Sequence[str] = (),
) -> str:
    """Return a notebook of a run: text, scenario, run, table, bounds and figure.

    Parameters
    ----------
    scenarios : sequence of Scenario
        The run, and up to two companions.
    lines : mapping, optional
        The bounds that its figure draws: the slugs of each line by its name. A line is the largest
        of its bounds, wherever their hypotheses hold.
    formulas : sequence of str
        The visitor's own formulas to draw over the axis: see `dpsco_core.base.formula`.
    """
    _check(scenarios)
    main = scenarios[0]
    sweep_text = f", swept over {main.axis}" if main.axis else ""
    parts = (
        (
            MARKDOWN_CELL,
            "# A run of DP-SCO Explorer\n\n"
            f"The problem `{main.problem}` on `{main.distribution}` data with {main.n:,} "
            f"records in {main.d:,} dimensions{sweep_text}, under the budget {main.budget}.\n\n"
            f"{SAME} Neighbouring data sets differ by "
            f"replacing one {'user' if main.level == 'user' else 'record'}; the data are "
            "synthetic. It needs `dpsco-explorer`, and `plotly` for the figure.",
        ),
        (CELL, _imports(scenarios)),
        (MARKDOWN_CELL, "## The scenario"),
        (CELL, _scenario(scenarios)),
        (MARKDOWN_CELL, "## The run\n\nEvery row is one trial of one method at one point."),
        (CELL, _cells(scenarios) + "cells"),
        (MARKDOWN_CELL, "## The summary over the trials, and the slopes"),
        (CELL, _table(scenarios) + "table"),
        (MARKDOWN_CELL, "## The bounds"),
        (CELL, BOUNDS),
        (MARKDOWN_CELL, f"## The figure\n\n{BY_MEANS if main.axis else BY_TRIALS}"),
        (CELL, _figure(main, lines or {}, formulas)),
    )
    return script_to_notebook(
        "\n".join(f"{mark}\n{_comment_out(mark, text)}" for mark, text in parts)
    )


def _check(scenarios: Sequence[Scenario]) -> None:
    """Raise `InvalidInput` unless there are one to three scenarios, for which `NAMES` has names."""
    condition = f"one to {len(NAMES)}"
    require(1 <= len(scenarios) <= len(NAMES), "scenarios", condition, f"{len(scenarios)} of them")


def _comment_out(mark: str, text: str) -> str:
    """Return the text of a cell for a script: code unchanged, Markdown as comments."""
    if mark == CELL:
        return text if text.endswith("\n") else text + "\n"
    return "".join(f"# {line}".rstrip() + "\n" for line in text.split("\n"))


def _imports(scenarios: Sequence[Scenario]) -> str:
    """Return the import lines of a script, and the lines that load its plugins."""
    pandas = "import pandas as pd\n\n" if len(scenarios) > 1 else ""
    plugin_code = "".join(dict.fromkeys(code_for((*s.methods, s.distribution)) for s in scenarios))
    names = f"Scenario, {'extend, ' if plugin_code else ''}frame, slopes, study, summary"
    return f"{pandas}from dpsco_core import {names}\n" + (f"\n{plugin_code}" if plugin_code else "")


def _scenario(scenarios: Sequence[Scenario]) -> str:
    """Return the code that defines the scenarios, one a line."""
    return "".join(f"{n} = {s.to_code()}\n" for n, s in zip(NAMES, scenarios, strict=False))


def _cells(scenarios: Sequence[Scenario]) -> str:
    """Return the lines of code that run the scenarios."""
    if len(scenarios) == 1:
        return "cells = frame(study(scenario))\n"
    companions = "".join(f', "{name}": {name}' for name in NAMES[1 : len(scenarios)])
    return (
        f'runs = {{"shown": scenario{companions}}}\n'
        "cells = pd.concat(\n"
        "    [\n"
        "        frame(study(s)).assign(run=name, geometry=s.geometry)\n"
        "        for name, s in runs.items()\n"
        "    ]\n"
        ")\n"
    )


def _table(scenarios: Sequence[Scenario]) -> str:
    """Return the lines that print the table of errors and the slopes."""
    if len(scenarios) == 1:
        return (
            "table = summary(cells, scenario)\n"
            "print(table.to_string(index=False))\n"
            "if scenario.axis:\n"
            "    print(slopes(scenario, cells).to_string(index=False))\n"
        )
    return (
        'parts = cells.groupby("run", sort=False)\n'
        "table = pd.concat([summary(rows, runs[name]).assign(run=name) for name, rows in parts])\n"
        "print(table.to_string(index=False))\n"
    )


def _figure(scenario: Scenario, lines: Mapping[str, Sequence[str]], formulas: Sequence[str]) -> str:
    """Return the lines of code that draw the figure of a scenario."""
    is_swept = scenario.axis is not None
    formulas = formulas if is_swept else ()
    imports = ["import plotly.graph_objects as go\n\n"]
    imports += ["from dpsco_core.base.formula import parse_formula\n"] if formulas else []
    imports += ["from dpsco_core.explain.anatomy import starting_risk\n"]
    imports += ["from dpsco_core.results.overlay import own_line\n"] if formulas else []
    imports += ["from dpsco_core.results.tables import interval_half_width\n"] if is_swept else []
    line_items = "".join(f"    {name!r}: {list(slugs)!r},\n" for name, slugs in lines.items())
    figure = SWEEP if is_swept else SINGLE
    figure += FORMULAS.format(formulas=repr(list(formulas))) if formulas else ""
    kind = "linear" if is_linear(scenario.axis) else "log"
    figure += f'figure.update_xaxes(type="{kind}", title="{scenario.axis}")\n' if is_swept else ""
    return (
        "".join(imports)
        + f"\nlines = {{\n{line_items}}}\n"
        + 'held = bounds[(bounds["fails"] == "") & bounds["applies"] & (bounds["value"] > 0)]\n'
        + f"figure = go.Figure()\n{figure}"
        + 'figure.update_yaxes(type="log", title="error")\n'
        + 'figure.update_layout(template="plotly_white")\n'
        + "figure"
    )


def script_to_notebook(script: str) -> str:
    """Return a script in the percent format as a notebook, nbformat 4.5.

    Lines before the first mark ``# %%`` form a code cell; ``# %% [markdown]`` begins a text cell,
    whose lines are comments.

    Examples
    --------
    >>> made = json.loads(script_to_notebook("# %% [markdown]\\n# Words\\n\\n# %%\\n1 + 1\\n"))
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
        kind, lines = "markdown" if line.rstrip() == MARKDOWN_CELL else "code", []
    document = {
        "cells": cells,
        "metadata": {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"
