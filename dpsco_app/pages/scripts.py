"""Scripts that compute the numbers of One run, Who wins and Users with the library alone.

Each is in the percent format, which is a script and, cell by cell, a notebook. The tables that it
prints as CSV are in the order of the page's figures.
"""

from dpsco_app.pages.users.state import View as UsersView
from dpsco_app.pages.who_wins.state import ENDS, SIZES
from dpsco_core.explain.contest import Reading
from dpsco_core.plugins.extend import code_for
from dpsco_core.scenario import Scenario

HEAD = '''"""Made by DP-SCO Explorer: the numbers of the page {page}, as CSV."""

import pandas as pd

{imports}


def show(title, table):
    """Print a table."""
    print(f"# {{title}}")
    print(pd.DataFrame(table).to_csv(index=False))


'''


def _begin(page: str, point: Scenario, *imports: str) -> str:
    """Return the head of a script: its imports, the plug-ins that `point` needs, and the point."""
    plugin_code = code_for((*point.methods, point.distribution))
    library = f"from dpsco_core import Scenario{', extend' if plugin_code else ''}"
    head = HEAD.format(page=page, imports="\n".join((library, *imports)))
    return f"{head}{plugin_code}point = {point.to_code()}\n"


def anatomy_script(
    point: Scenario,
    method: str,
    trials: int,
    *,
    parts: bool,
    factor: float = 1.0,
) -> str:
    """Return the script of One run; with `parts`, also that of the error's parts over `trials`.

    `factor` is the clip radius over the chosen one.
    """
    further_imports = ("FACTORS", "error_split", "gather", "gradient_norms") if parts else ()
    listed = "".join(f"    {name},\n" for name in (*further_imports, "single_runs"))
    return (
        _begin("One run", point, f"from dpsco_core.explain.anatomy import (\n{listed})")
        + f'\n# %%\nruns = single_runs(point, "{method}", {factor!r})\n'
        + "for name, path in runs.items():\n"
        + '    show(f"path, {name}", {"step": path.steps, "risk": path.risks})\n'
        + '    show(f"answer, {name}", {"risk": [path.final]})\n'
        + (PARTS.format(trials=trials) if parts else "")
    )


PARTS = """
# %%
show("gradient norms", {{"norm": gradient_norms(point)}})
splits = [[error_split(point, f, t) for f in FACTORS] for t in range({trials})]
split = gather(point, FACTORS, splits)
names = ("radii", "optimisation", "bias", "sampling", "noise", "total")
show("parts of the error", {{name: getattr(split, name) for name in names}})
"""


def regimes_script(point: Scenario, plane: str, reading: Reading) -> str:
    """Return the script of Who wins: the best method over a plane, such as "n-epsilon"."""
    x, y = plane.split("-")
    columns, rows = SIZES[reading]
    return (
        _begin(
            "Who wins",
            point,
            "from dpsco_core.base.limits import DASHBOARD",
            "from dpsco_core.explain.contest import contest, measured_plane",
            "from dpsco_core.explain.regimes import Plane, axis_values",
        )
        + "plane = Plane(\n"
        + f'    x_axis="{x}",\n    y_axis="{y}",\n'
        + f'    x=axis_values("{x}", {ENDS[x][0]}, {ENDS[x][1]}, {columns}, included=point.{x}),\n'
        + f'    y=axis_values("{y}", {ENDS[y][0]}, {ENDS[y][1]}, {rows}, included=point.{y}),\n'
        + ")\n\n# %%\n"
        + ("plane = measured_plane(point, plane, DASHBOARD)\n" if reading == "measured" else "")
        + f'result = contest(point, plane, "{reading}")\n'
        + "names = result.methods\n"
        + 'rows = {"best": [names[i] if i >= 0 else "" for i in result.smallest.ravel()]}\n'
        + "rows |= {name: result.values[k].ravel() for k, name in enumerate(names)}\n"
        + 'show("the best over the plane, row by row", rows)\n'
    )


def users_script(view: UsersView, scenario: Scenario) -> str:
    """Return the script of the part of Users that is shown."""
    return _begin("Users", scenario) + {
        "crossing": CROSSING,
        "alike": ALIKE,
        "map": MEASURED_MAP if view.basis == "measured" else BOUNDS_MAP,
        "feasibility": FEASIBILITY,
    }[view.part].format(basis=view.basis, share=view.share)


CROSSING = """

# %%
from dpsco_core import study
from dpsco_core.explain.users.crossing import crossing_scenario, errors_of

scenario = crossing_scenario(
    n=point.n,
    d=point.d,
    p=point.p,
    epsilon=point.epsilon,
    delta=point.delta,
    trials=point.trials,
    seed=point.seed,
    methods=("user.accelerated", "user.clipped-means", "user.phased-sgd"),
)
outcomes = list(study(scenario))
for method in scenario.methods:
    errors = errors_of(outcomes, method)
    columns = {{"m": errors.items, "mean": errors.mean, "se": errors.standard_error}}
    show(f"crossover, {{method}}", columns)
"""
ALIKE = """

# %%
from dpsco_core import study
from dpsco_core.explain.users.alike import alike_scenario
from dpsco_core.explain.users.crossing import errors_of

for alike in ({share}, 0.0):
    scenario = alike_scenario(
        alike=alike,
        n=point.n,
        d=point.d,
        p=point.p,
        epsilon=point.epsilon,
        delta=point.delta,
        trials=point.trials,
        seed=point.seed,
    )
    outcomes = list(study(scenario))
    for method in scenario.methods:
        errors = errors_of(outcomes, method)
        columns = {{"m": errors.items, "mean": errors.mean, "se": errors.standard_error}}
        show(f"items with {{alike}} in common, {{method}}", columns)
"""
SHOW_MAP = """rows = [(n, m) for n in regions.plane.y for m in regions.plane.x]
map_ = pd.DataFrame(rows, columns=["n", "m"])
for k, method in enumerate(regions.methods):
    map_[method] = regions.values[k].ravel()
show("map", map_)
"""
MEASURED_MAP = (
    """

# %%
from dpsco_core import run_cell
from dpsco_core.explain.contest import contest_cells, measured_contest
from dpsco_core.explain.users.regions import MEASURED, measured_cells, measured_through

plane = measured_through(point.n, point.m)
rest = (point.d, point.p, point.epsilon, point.delta, point.seed)
outcomes = {{}}
for i, j in contest_cells(plane):
    todo = measured_cells(int(plane.y[i]), int(plane.x[j]), *rest)
    outcomes[i, j] = [run_cell(cell) for cell in todo]
regions = measured_contest(plane, MEASURED, outcomes)
"""
    + SHOW_MAP
)
BOUNDS_MAP = (
    """

# %%
from dpsco_core.explain.users.regions import bounds_map

made = bounds_map("{basis}", "smooth", point.d, point.epsilon, point.delta, 1.0)
regions = list(made)[-1]
"""
    + SHOW_MAP
)
FEASIBILITY = """

# %%
from dpsco_core.explain.users.frontier import EPSILONS, frontier
from dpsco_core.methods.user.level import UserLevel

at = UserLevel(
    n=2, m=point.m, d=point.d, epsilon=1.0, delta=point.delta, smoothness=1.0
)
show("least users", {{"epsilon": EPSILONS, **frontier(at)}})
"""
